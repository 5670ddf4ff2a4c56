package objects

import (
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/batchwright/batchwright/emit"
)

// module is the root module, or a module that another module calls. It holds the
// meaning of the names in its files.
type module struct {
	root *root
	// prefix is the start of the addresses in the module: "" or, for example,
	// "module.network.".
	prefix string
	// path is the value of path.module in the module's expressions.
	path      string
	variables map[string]*input
	locals    map[string]*named
	outputs   map[string]*named
	calls     map[string]*module
}

// named is a local value or an output.
type named struct {
	expression hclsyntax.Expression
	file       string
	visited    bool
	value      cty.Value // NilVal while it is being evaluated
}

// input is a variable.
type input struct {
	body *hclsyntax.Body
	// given is the expression that a call, or a file of values, assigns to the
	// variable; nil for none.
	given hclsyntax.Expression
	// caller is the module with the call. It is nil for a file of values, whose path
	// is in file.
	caller  *module
	file    string
	visited bool
	value   cty.Value // NilVal while it is being evaluated
}

// opener opens the modules of a root.
type opener struct {
	root *root
	tree emit.Tree
	dirs map[string]*moduleDir
}

// moduleDir holds the parsed files of a module. Several calls can share it.
type moduleDir struct {
	files []moduleFile
	bytes int
}

type moduleFile struct {
	path string
	body *hclsyntax.Body
}

// readModule parses the files of a module, once for all calls. It returns nil if
// Terraform cannot read them.
func (o *opener) readModule(dir string) *moduleDir {
	if d, ok := o.dirs[dir]; ok {
		return d
	}
	o.dirs[dir] = nil
	d := &moduleDir{}
	for _, f := range o.tree {
		if path.Dir(f.Path) != dir || path.Ext(f.Path) != ".tf" {
			continue
		}
		body := o.parseFile(f)
		if body == nil {
			return nil
		}
		d.files = append(d.files, moduleFile{f.Path, body})
		d.bytes += len(f.Content)
		for _, b := range body.Blocks {
			if slices.Contains([]string{"locals", "resource", "module", "output"}, b.Type) {
				o.root.names = append(o.root.names, attributesUsed(b.Body)...)
				o.root.chargeBody(b.Body)
			}
		}
	}
	o.dirs[dir] = d
	return d
}

// parseFile parses a file, whose size adds to the root's budget. It returns nil if the
// file cannot be parsed.
func (o *opener) parseFile(f emit.File) *hclsyntax.Body {
	body, err := parseTerraform(f)
	if err != nil {
		return nil
	}
	o.root.sources[f.Path] = f.Content
	o.root.budget += workPerByte * len(f.Content)
	return body
}

// openModule returns the module in a folder, which is the last of dirs; the folders
// before it belong to its callers. Every call of a module is charged to the
// budget. open returns nil if Terraform cannot read the module.
func (o *opener) openModule(prefix string, dirs []string) *module {
	dir := dirs[len(dirs)-1]
	read := o.readModule(dir)
	callers := dirs[:len(dirs)-1]
	if read == nil || slices.Contains(callers, dir) || len(read.files) == 0 && len(callers) > 0 {
		return nil
	}
	if o.root.budget -= read.bytes; o.root.budget < 0 {
		return nil
	}
	m := &module{
		root: o.root, prefix: prefix, path: modulePath(dir), variables: map[string]*input{},
		locals: map[string]*named{}, outputs: map[string]*named{}, calls: map[string]*module{},
	}
	for _, f := range read.files {
		for _, b := range f.body.Blocks {
			if !m.addDeclarations(f.path, b) {
				return nil
			}
			if b.Type == "module" && !o.openCall(m, f.path, b, dirs) {
				return nil
			}
		}
	}
	return m
}

// addDeclarations adds the declarations of a block, and reports whether their names
// are new.
func (m *module) addDeclarations(file string, b *hclsyntax.Block) bool {
	switch {
	case b.Type == "locals":
		for name, a := range b.Body.Attributes {
			m.locals[name] = &named{expression: a.Expr, file: file}
		}
	case b.Type == "variable" && len(b.Labels) == 1:
		m.variables[b.Labels[0]] = &input{body: b.Body, file: file}
	case b.Type == "output" && len(b.Labels) == 1:
		if a := b.Body.Attributes["value"]; a != nil {
			m.outputs[b.Labels[0]] = &named{expression: a.Expr, file: file}
		}
	case b.Type == "resource" && len(b.Labels) == 2:
		address := m.prefix + b.Labels[0] + "." + b.Labels[1]
		if m.root.resources[address] != nil {
			return false
		}
		m.root.resources[address] = &managed{
			module: m, address: address, kind: b.Labels[0], file: file, line: b.DefRange().Start.Line, body: b.Body,
		}
	case b.Type == "data" && len(b.Labels) == 2:
		m.root.data[m.prefix+"data."+b.Labels[0]+"."+b.Labels[1]] = true
	}
	return true
}

// openCall opens the module that a block of m calls, and reports whether Terraform can
// read it. It does not open a module that is missing in the folder, or that is
// called with for_each or count: expressions that refer to such a module cannot be
// evaluated.
func (o *opener) openCall(m *module, file string, b *hclsyntax.Block, dirs []string) bool {
	from := b.Body.Attributes["source"]
	if len(b.Labels) != 1 || from == nil || b.Body.Attributes["for_each"] != nil || b.Body.Attributes["count"] != nil {
		return true
	}
	v, diags := from.Expr.Value(nil)
	if diags.HasErrors() || v.IsNull() || v.Type() != cty.String {
		return true
	}
	source := v.AsString()
	if !strings.HasPrefix(source, "./") && !strings.HasPrefix(source, "../") {
		return true
	}
	name := b.Labels[0]
	if m.calls[name] != nil {
		return false
	}
	called := o.openModule(m.prefix+"module."+name+".",
		append(slices.Clone(dirs), path.Join(dirs[len(dirs)-1], source)))
	if called == nil {
		return false
	}
	m.calls[name] = called
	for argument, a := range b.Body.Attributes {
		if v := called.variables[argument]; v != nil {
			v.given, v.caller, v.file = a.Expr, m, file
		}
	}
	return true
}

// modulePath returns the value of path.module for a module's folder. It is relative
// to the root's folder, in which Terraform runs.
func modulePath(dir string) string {
	if dir == terraformDir {
		return "."
	}
	if inside, ok := strings.CutPrefix(dir, terraformDir+"/"); ok {
		return inside
	}
	return path.Join("..", dir)
}

// needValues evaluates the values to which expressions refer, and returns the
// context for evaluating the expressions.
func (m *module) needValues(references []hcl.Traversal) *hcl.EvalContext {
	found := map[string]map[string]cty.Value{"var": {}, "local": {}}
	put := func(kind, name string, v cty.Value) {
		if v == cty.NilVal {
			return
		}
		if found[kind] == nil {
			found[kind] = map[string]cty.Value{}
		}
		found[kind][name] = v
	}
	outputs := map[string]map[string]cty.Value{} // by call
	sources := map[string]map[string]cty.Value{} // by type of data source
	for _, t := range references {
		if len(t) < 2 {
			continue
		}
		step, ok := t[1].(hcl.TraverseAttr)
		if !ok {
			continue
		}
		switch kind, name := t.RootName(), step.Name; kind {
		case "var":
			put(kind, name, m.variableValue(name))
		case "local":
			put(kind, name, m.namedValue(m.locals[name]))
		case "module":
			called := m.calls[name]
			if called == nil || len(t) < 3 {
				continue
			}
			if output, ok := t[2].(hcl.TraverseAttr); ok {
				if v := called.namedValue(called.outputs[output.Name]); v != cty.NilVal {
					if outputs[name] == nil {
						outputs[name] = map[string]cty.Value{}
					}
					outputs[name][output.Name] = v
				}
			}
		case "data":
			m.readSource(t, sources)
		default:
			put(kind, name, m.root.resourceValue(m.prefix+kind+"."+name))
		}
	}
	for name, values := range outputs {
		put("module", name, cty.ObjectVal(values))
	}
	for kind, named := range sources {
		put("data", kind, cty.ObjectVal(named))
	}
	ctx := &hcl.EvalContext{Functions: m.root.functions, Variables: map[string]cty.Value{
		"path": cty.ObjectVal(map[string]cty.Value{"module": cty.StringVal(m.path), "root": cty.StringVal(".")}),
	}}
	for kind, values := range found {
		ctx.Variables[kind] = cty.ObjectVal(values)
	}
	return ctx
}

// readSource adds the data source to which a traversal refers to sources, by type
// and name. A data source has the same values before and after the change, because
// its object does not belong to the root.
func (m *module) readSource(t hcl.Traversal, sources map[string]map[string]cty.Value) {
	if len(t) < 4 {
		return
	}
	kind, ok := t[1].(hcl.TraverseAttr)
	name, also := t[2].(hcl.TraverseAttr)
	if !ok || !also {
		return
	}
	address := m.prefix + "data." + kind.Name + "." + name.Name
	if !m.root.data[address] {
		return
	}
	attributes := map[string]cty.Value{}
	for _, a := range m.root.names {
		attributes[a] = cty.StringVal(mark + stays + address + mark + a + mark)
	}
	if sources[kind.Name] == nil {
		sources[kind.Name] = map[string]cty.Value{}
	}
	sources[kind.Name][name.Name] = cty.ObjectVal(attributes)
}

// namedValue returns the value of a local value or an output. It returns NilVal for
// nil, or while n is being evaluated.
func (m *module) namedValue(n *named) cty.Value {
	if n == nil {
		return cty.NilVal
	}
	if !n.visited {
		n.visited = true
		n.value = m.root.evaluateExpr(n.expression, n.file, m.needValues(n.expression.Variables()))
	}
	return n.value
}

// variableValue returns the value of a variable, converted to the variable's type: the
// given value or else the default. It returns NilVal for an undeclared variable, or
// while the variable is being evaluated.
func (m *module) variableValue(name string) cty.Value {
	in := m.variables[name]
	if in == nil {
		return cty.NilVal
	}
	if !in.visited {
		in.visited = true
		in.value = m.typedValue(name, in)
	}
	return in.value
}

func (m *module) typedValue(name string, in *input) cty.Value {
	var v cty.Value
	switch a := in.body.Attributes["default"]; {
	case in.given != nil && in.caller != nil:
		v = m.root.evaluateExpr(in.given, in.file, in.caller.needValues(in.given.Variables()))
	case in.given == nil && a == nil:
		return m.unknown(name)
	default:
		given := in.given
		if given == nil {
			given = a.Expr
		}
		var diags hcl.Diagnostics
		if v, diags = given.Value(nil); diags.HasErrors() {
			return m.unknown(name)
		}
	}
	a := in.body.Attributes["type"]
	if a == nil {
		return v
	}
	kind, defaults, diags := typeexpr.TypeConstraintWithDefaults(a.Expr)
	if diags.HasErrors() {
		return v
	}
	if defaults != nil && !v.IsNull() {
		v = defaults.Apply(v)
	}
	if typed, err := convert.Convert(v, kind); err == nil {
		v = typed
	}
	return v
}

// unknown returns the value of a variable that the folder does not set.
func (m *module) unknown(name string) cty.Value {
	return cty.StringVal(mark + opaque + m.prefix + "var" + mark + name + mark)
}
