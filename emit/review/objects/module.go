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

// module is the root module, or a module that another module calls.
type module struct {
	root *root
	// dirs are the folders of the callers, from the root on, and the module's own.
	dirs []string
	// prefix is the start of the addresses in the module: "" or, for example,
	// "module.network.".
	prefix string
	// terms are what expressions of the module refer to, such as "var.region", "module.network"
	// or "google_compute_network.main".
	terms   map[string]*term
	sources map[string][]string // names of data sources by type
	outputs map[string]*term
}

// term is a value that is evaluated when something refers to it.
type term struct {
	evaluate func() cty.Value
	started  bool
	value    cty.Value
}

// get returns the value. It returns NilVal for nil, and while the value is being evaluated.
func (t *term) get() cty.Value {
	if t == nil {
		return cty.NilVal
	}
	if !t.started {
		t.started = true
		t.value = t.evaluate()
	}
	return t.value
}

// openModule opens the module in the last of dirs. given are the values of its variables by
// name. The root is broken if Terraform cannot read the module. Every call of a module is
// charged to the budget.
func (r *root) openModule(dirs []string, prefix string, given map[string]*term) *module {
	m := &module{
		root: r, dirs: dirs, prefix: prefix, terms: map[string]*term{}, sources: map[string][]string{},
		outputs: map[string]*term{},
	}
	dir, callers := dirs[len(dirs)-1], dirs[:len(dirs)-1]
	if slices.Contains(callers, dir) || len(r.files[dir]) == 0 && len(callers) > 0 {
		r.broken = true
	}
	for _, f := range r.files[dir] {
		if r.budget -= len(f.Content); r.budget < 0 || r.broken {
			r.broken = true
			return m
		}
		for _, b := range r.parseFile(f).Blocks {
			if b.Type != "variable" {
				r.chargeBody(b.Body)
			}
			m.addDeclaration(b, given)
		}
	}
	return m
}

// parseFile parses a file. The root is broken if it cannot be parsed.
func (r *root) parseFile(f emit.File) *hclsyntax.Body {
	body, err := parseTerraform(f)
	if err != nil {
		r.broken = true
		return &hclsyntax.Body{}
	}
	r.sources[f.Path] = f.Content
	return body
}

// addDeclaration adds the terms that a block declares.
func (m *module) addDeclaration(b *hclsyntax.Block, given map[string]*term) {
	labels := map[string]int{"locals": 0, "variable": 1, "output": 1, "module": 1, "data": 2, "resource": 2}
	if n, ok := labels[b.Type]; !ok || n != len(b.Labels) {
		return
	}
	name := strings.Join(b.Labels, ".")
	switch b.Type {
	case "locals":
		for name, a := range b.Body.Attributes {
			m.terms["local."+name] = m.termOf(a.Expr)
		}
	case "variable":
		m.terms["var."+name] = &term{evaluate: func() cty.Value { return m.variableValue(name, b.Body, given[name]) }}
	case "output":
		if a := b.Body.Attributes["value"]; a != nil {
			m.outputs[name] = m.termOf(a.Expr)
		}
	case "data":
		kind := b.Labels[0]
		m.sources[kind] = append(m.sources[kind], b.Labels[1])
		m.terms["data."+kind] = &term{evaluate: func() cty.Value { return m.sourceValues(kind) }}
	case "resource":
		s := &managed{
			module: m, address: m.prefix + name, kind: b.Labels[0], file: b.Range().Filename,
			line: b.DefRange().Start.Line, body: b.Body,
		}
		m.root.broken = m.root.broken || m.root.resources[s.address] != nil
		m.root.resources[s.address] = s
		m.terms[name] = &term{evaluate: s.attributeValue}
	case "module":
		m.addCall(name, b.Body)
	}
}

// addCall opens the module that a block calls, and adds its outputs. It does not open a module
// that is not in the folder, or that is called with for_each or count: expressions that refer
// to such a module cannot be evaluated.
func (m *module) addCall(name string, body *hclsyntax.Body) {
	from := body.Attributes["source"]
	if from == nil || body.Attributes["for_each"] != nil || body.Attributes["count"] != nil {
		return
	}
	source := scalarText(m.root.evaluateExpr(from.Expr, nil))
	if !strings.HasPrefix(source, "./") {
		return
	}
	given := map[string]*term{}
	for name, a := range body.Attributes {
		given[name] = m.termOf(a.Expr)
	}
	prefix := m.prefix + "module." + name + "."
	m.root.broken = m.root.broken || m.terms["module."+name] != nil
	dirs := append(slices.Clone(m.dirs), path.Join(m.dirs[len(m.dirs)-1], source))
	called := m.root.openModule(dirs, prefix, given)
	m.terms["module."+name] = &term{evaluate: func() cty.Value {
		outputs := map[string]cty.Value{}
		for output, t := range called.outputs {
			if v := t.get(); v != cty.NilVal {
				outputs[output] = v
			}
		}
		return cty.ObjectVal(outputs)
	}}
}

// sourceValues returns the data sources of a type by name. A data source has the same values
// before and after the change, because its object does not belong to the root.
func (m *module) sourceValues(kind string) cty.Value {
	out := map[string]cty.Value{}
	for _, name := range m.sources[kind] {
		origin := stays + m.prefix + "data." + kind + "." + name
		out[name] = cty.ObjectVal(m.root.completeAttributes(map[string]cty.Value{}, origin))
	}
	return cty.ObjectVal(out)
}

// variableValue returns the value of a variable, converted to the variable's type: the given
// value or else the default.
func (m *module) variableValue(name string, body *hclsyntax.Body, given *term) cty.Value {
	v := given.get()
	if a := body.Attributes["default"]; v == cty.NilVal && a != nil {
		v = m.root.evaluateExpr(a.Expr, nil)
	}
	if v == cty.NilVal { // the folder does not set it
		return cty.StringVal(mark + opaque + m.prefix + "var" + mark + name + mark)
	}
	a := body.Attributes["type"]
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

// termOf returns the term for an expression of the module.
func (m *module) termOf(e hclsyntax.Expression) *term {
	return &term{evaluate: func() cty.Value { return m.root.evaluateExpr(e, m.needTerms(e.Variables())) }}
}

// needTerms evaluates the terms to which expressions refer, and returns the context for
// evaluating the expressions.
func (m *module) needTerms(references []hcl.Traversal) *hcl.EvalContext {
	found := map[string]map[string]cty.Value{}
	for _, t := range references {
		if len(t) < 2 {
			continue
		}
		step, _ := t[1].(hcl.TraverseAttr)
		kind := t.RootName()
		if v := m.terms[kind+"."+step.Name].get(); v != cty.NilVal {
			if found[kind] == nil {
				found[kind] = map[string]cty.Value{}
			}
			found[kind][step.Name] = v
		}
	}
	ctx := &hcl.EvalContext{Functions: functions, Variables: map[string]cty.Value{}}
	for kind, values := range found {
		ctx.Variables[kind] = cty.ObjectVal(values)
	}
	return ctx
}
