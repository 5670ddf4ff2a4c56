package check

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/dynblock"
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/batchwright/batchwright/emit/review/objects"
	"github.com/batchwright/batchwright/golden/fixture"
)

// tfSchema returns the provider's schema, which every check reads and none changes.
var tfSchema = sync.OnceValues(func() (*tfProvider, error) {
	return loadTFSchema(fixture.Path("golden/testdata/provider/google-schema.json"))
})

// tfDir is the folder of the root module, and NetworkTeamDir that of the root for the owners of
// an existing network. letGoFile holds the blocks for the former owners of what a platform
// takes over.
const (
	tfDir          = "terraform"
	NetworkTeamDir = "network-team"
	letGoFile      = "takeover/removed.tf"
)

// Terraform checks the Terraform of a deploy folder without Terraform: the files parse and are
// formatted, every name is declared and used, resources, data sources and the provider's block
// fit the provider's schema, and the variables accept the values of the tfvars. In expressions,
// variables have these values, and everything else that is declared has an unknown value of its
// type. What follows from the values of locals, resources and modules is for Terraform to check,
// in conformance/terraform.
func Terraform(folder fs.FS) []error {
	schema, err := tfSchema()
	if err != nil {
		return []error{err}
	}
	c := &tfCheck{folder: folder, schema: schema}
	root := c.checkModule(tfDir)
	if values := c.parseFiles(tfDir + "/*.tfvars"); len(c.errs) == 0 {
		root.checkValues(values)
	}
	if _, err := fs.Stat(folder, NetworkTeamDir); err == nil {
		c.checkModule(NetworkTeamDir) // its owners give the values of its variables
	}
	if _, err := fs.Stat(folder, letGoFile); err == nil {
		c.parseFiles(letGoFile)
	}
	return c.errs
}

// tfCheck checks the Terraform of a folder.
type tfCheck struct {
	folder fs.FS
	schema *tfProvider
	errs   []error
}

// tfRoot is a root, or a module that it calls.
type tfRoot struct {
	*tfCheck
	dir       string
	blocks    []*hclsyntax.Block
	variables map[string]*tfVariable
	calls     map[string]*tfRoot
	outputs   map[string]cty.Value
	scope     tfScope
}

type tfVariable struct {
	block    *hclsyntax.Block
	kind     cty.Type
	defaults *typeexpr.Defaults
}

func (c *tfCheck) errorf(at hcl.Range, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...)))
}

func (c *tfCheck) addDiagnostics(diags hcl.Diagnostics) {
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			c.errs = append(c.errs, d)
		}
	}
}

// parseFiles parses the files of a pattern, of which there must be some.
func (c *tfCheck) parseFiles(pattern string) (bodies []*hclsyntax.Body) {
	names, err := fs.Glob(c.folder, pattern)
	if err != nil || len(names) == 0 {
		c.errs = append(c.errs, cmp.Or(err, fmt.Errorf("there is no %s", pattern)))
	}
	for _, name := range names {
		source, err := fs.ReadFile(c.folder, name)
		if err != nil {
			c.errs = append(c.errs, err)
			continue
		}
		file, diags := hclsyntax.ParseConfig(source, name, hcl.InitialPos)
		c.addDiagnostics(diags)
		if diags.HasErrors() {
			continue
		}
		if !bytes.Equal(source, hclwrite.Format(source)) {
			c.errs = append(c.errs, fmt.Errorf("%s: terraform fmt would change it", name))
		}
		bodies = append(bodies, file.Body.(*hclsyntax.Body))
	}
	return bodies
}

// checkModule checks the files in a folder, and the modules that they call.
func (c *tfCheck) checkModule(dir string) *tfRoot {
	m := &tfRoot{
		tfCheck: c, dir: dir, variables: map[string]*tfVariable{}, calls: map[string]*tfRoot{},
		outputs: map[string]cty.Value{}, scope: tfScope{},
	}
	m.declare(hcl.Range{}, cty.StringVal(path.Join(".", strings.TrimPrefix(dir, tfDir))), "path", "module")
	for _, body := range c.parseFiles(dir + "/*.tf") {
		for _, a := range body.Attributes {
			m.errorf(a.SrcRange, "an argument outside any block")
		}
		m.blocks = append(m.blocks, body.Blocks...)
	}
	m.blocks = slices.DeleteFunc(m.blocks, func(b *hclsyntax.Block) bool { return !m.recordBlock(b) })
	ctx := &hcl.EvalContext{Functions: tfFunctions(c.folder), Variables: m.scope.value().AsValueMap()}
	for _, b := range m.blocks {
		m.checkBlock(b, ctx)
	}
	m.checkUnused()
	return m
}

// tfScope holds values, and other scopes, by name.
type tfScope map[string]any

// value returns the scope as an object.
func (s tfScope) value() cty.Value {
	out := map[string]cty.Value{}
	for name, v := range s {
		if inner, ok := v.(tfScope); ok {
			out[name] = inner.value()
		} else {
			out[name] = v.(cty.Value)
		}
	}
	return cty.ObjectVal(out)
}

// declare gives an address its value in expressions.
func (m *tfRoot) declare(at hcl.Range, v cty.Value, steps ...string) {
	s, last := m.scope, len(steps)-1
	for _, step := range steps[:last] {
		if s[step] == nil {
			s[step] = tfScope{}
		}
		s = s[step].(tfScope)
	}
	if s[steps[last]] != nil {
		m.errorf(at, "%s is declared twice", strings.Join(steps, "."))
	}
	s[steps[last]] = v
}

// recordBlock records the declarations of a block, and reports whether Terraform has such a
// block.
func (m *tfRoot) recordBlock(b *hclsyntax.Block) bool {
	want := map[string]int{
		"terraform": 0, "locals": 0, "provider": 1, "variable": 1, "output": 1, "resource": 2, "data": 2,
		"module": 1, "check": 1, "import": 0, "removed": 0,
	}
	if n, ok := want[b.Type]; !ok || len(b.Labels) != n {
		m.errorf(b.Range(), "no such block: %s with %d labels", b.Type, len(b.Labels))
		return false
	}
	for _, label := range b.Labels {
		if !hclsyntax.ValidIdentifier(label) {
			m.errorf(b.Range(), "%q is not a name", label)
		}
	}
	switch b.Type {
	case "module":
		m.recordCall(b)
	case "provider":
		if strings.Contains(m.dir, "/") {
			m.errorf(b.Range(), "a module that is called has no provider of its own")
		}
	case "variable":
		v := m.readVariable(b)
		m.variables[b.Labels[0]] = v
		m.declare(b.Range(), cty.UnknownVal(v.kind), "var", b.Labels[0])
	case "locals":
		for name, a := range b.Body.Attributes {
			m.declare(a.SrcRange, cty.DynamicVal, "local", name)
		}
	case "output":
		if _, again := m.outputs[b.Labels[0]]; again {
			m.errorf(b.Range(), "output %s is declared twice", b.Labels[0])
		}
		m.outputs[b.Labels[0]] = cty.DynamicVal
	case "check":
		for _, inner := range b.Body.Blocks {
			if inner.Type == "data" && len(inner.Labels) == 2 {
				m.recordResource(inner)
			} else if inner.Type != "assert" {
				m.errorf(inner.Range(), "a check has no block %s", inner.Type)
			}
		}
	case "resource", "data":
		m.recordResource(b)
	}
	return true
}

// recordResource declares a resource or a data source.
func (m *tfRoot) recordResource(b *hclsyntax.Block) {
	schema := m.schemaOf(b)
	v := cty.DynamicVal
	if schema == nil {
		m.errorf(b.Range(), "the provider has no %s %s", b.Type, b.Labels[0])
	} else if v = cty.UnknownVal(schema.objectType()); b.Body.Attributes["for_each"] != nil {
		v = cty.UnknownVal(cty.Map(v.Type()))
	}
	steps := b.Labels
	if b.Type == "data" {
		steps = slices.Insert(slices.Clone(steps), 0, "data")
	}
	m.declare(b.Range(), v, steps...)
}

// schemaOf returns the schema of a resource or a data source; nil if the provider has none.
func (m *tfRoot) schemaOf(b *hclsyntax.Block) *tfBlock {
	switch {
	case b.Type == "data":
		return m.schema.data[b.Labels[0]]
	case b.Labels[0] == "terraform_data":
		return tfData
	}
	return m.schema.resources[b.Labels[0]]
}

// recordCall checks the module that a block calls, and declares its outputs.
func (m *tfRoot) recordCall(b *hclsyntax.Block) {
	name := b.Labels[0]
	source := m.evaluateArgument(b.Body, "source", nil, cty.String)
	if !source.IsKnown() || source.IsNull() || !strings.HasPrefix(source.AsString(), "./") {
		m.errorf(b.Range(), "module %s is not in the folder", name)
		return
	}
	dir := path.Join(m.dir, source.AsString())
	if !strings.HasPrefix(dir, m.dir+"/") {
		m.errorf(b.Range(), "module %s is not below its caller", name)
		return
	}
	m.calls[name] = m.checkModule(dir)
	m.declare(b.Range(), cty.ObjectVal(m.calls[name].outputs), "module", name)
}

func (m *tfRoot) readVariable(b *hclsyntax.Block) *tfVariable {
	v := &tfVariable{block: b, kind: cty.DynamicPseudoType}
	for name := range b.Body.Attributes {
		if !slices.Contains([]string{"type", "description", "default", "nullable", "sensitive"}, name) {
			m.errorf(b.Range(), "a variable has no argument %s", name)
		}
	}
	if a := b.Body.Attributes["type"]; a != nil {
		var diags hcl.Diagnostics
		v.kind, v.defaults, diags = typeexpr.TypeConstraintWithDefaults(a.Expr)
		m.addDiagnostics(diags)
	} else {
		m.errorf(b.Range(), "variable %s has no type", b.Labels[0])
	}
	if b.Body.Attributes["description"] == nil {
		m.errorf(b.Range(), "variable %s has no description", b.Labels[0])
	}
	return v
}

// checkValues gives every variable its value, which its conditions must accept, and checks all
// blocks with these values.
func (m *tfRoot) checkValues(files []*hclsyntax.Body) {
	given, values := map[string]*hclsyntax.Attribute{}, map[string]cty.Value{}
	for _, body := range files {
		for _, b := range body.Blocks {
			m.errorf(b.Range(), "a tfvars file has no blocks")
		}
		maps.Copy(given, body.Attributes)
	}
	for name, a := range given {
		if m.variables[name] == nil {
			m.errorf(a.SrcRange, "there is no variable %s", name)
		}
	}
	for name, v := range m.variables {
		a := cmp.Or(given[name], v.block.Body.Attributes["default"])
		if a == nil {
			m.errorf(v.block.Range(), "variable %s has no value", name)
			continue
		}
		value, diags := a.Expr.Value(nil)
		m.addDiagnostics(diags)
		if v.defaults != nil && !value.IsNull() {
			value = v.defaults.Apply(value)
		}
		var err error
		if values[name], err = convert.Convert(value, v.kind); err != nil {
			m.errorf(a.Expr.Range(), "variable %s: %v", name, err)
		}
	}
	if len(m.errs) > 0 {
		return
	}
	ctx := &hcl.EvalContext{Functions: tfFunctions(m.folder), Variables: m.scope.value().AsValueMap()}
	ctx.Variables["var"] = cty.ObjectVal(values)
	for _, b := range m.blocks {
		m.checkBlock(b, ctx)
	}
	for name, v := range m.variables {
		for _, validation := range v.block.Body.Blocks {
			if !m.evaluateArgument(validation.Body, "condition", ctx, cty.Bool).RawEquals(cty.True) {
				m.errorf(validation.Range(), "variable %s is not valid", name)
			}
		}
	}
}

// checkUnused reports variables, locals and outputs of called modules to which nothing refers.
func (m *tfRoot) checkUnused() {
	used := map[string]bool{}
	for _, b := range m.blocks {
		if b.Type == "variable" {
			continue
		}
		hclsyntax.VisitAll(b.Body, func(n hclsyntax.Node) hcl.Diagnostics {
			if e, ok := n.(*hclsyntax.ScopeTraversalExpr); ok {
				address := e.Traversal.RootName()
				for _, step := range e.Traversal[1:] {
					if a, ok := step.(hcl.TraverseAttr); ok {
						address += "." + a.Name
						used[address] = true
					}
				}
			}
			return nil
		})
	}
	report := func(at hcl.Range, address string) {
		if !used[address] {
			m.errorf(at, "%s is not used", address)
		}
	}
	for name, v := range m.variables {
		report(v.block.Range(), "var."+name)
	}
	for _, b := range m.blocks {
		if b.Type == "locals" {
			for name, a := range b.Body.Attributes {
				report(a.SrcRange, "local."+name)
			}
		}
		if b.Type == "module" && m.calls[b.Labels[0]] != nil {
			for output := range m.calls[b.Labels[0]].outputs {
				report(b.Range(), "module."+b.Labels[0]+"."+output)
			}
		}
	}
}

// checkBlock checks the expressions of a block, and its arguments and blocks.
func (m *tfRoot) checkBlock(b *hclsyntax.Block, ctx *hcl.EvalContext) {
	switch b.Type {
	case "variable":
		for _, validation := range b.Body.Blocks {
			m.evaluateArgument(validation.Body, "condition", ctx, cty.Bool)
			m.evaluateArgument(validation.Body, "error_message", ctx, cty.String)
		}
	case "terraform":
		m.evaluateBody(b.Body, nil) // accepts only literals
	case "provider":
		m.checkSchema(b.Body, m.schema.provider, ctx)
	case "output":
		m.evaluateArgument(b.Body, "description", ctx, cty.String)
		m.evaluateArgument(b.Body, "value", ctx, cty.DynamicPseudoType)
	case "locals":
		m.evaluateBody(b.Body, ctx)
	case "module":
		m.checkCall(b, ctx)
	case "check":
		for _, inner := range b.Body.Blocks {
			if inner.Type == "data" {
				m.checkResource(inner, ctx)
			} else {
				m.evaluateArgument(inner.Body, "condition", ctx, cty.Bool)
				m.evaluateArgument(inner.Body, "error_message", ctx, cty.String)
			}
		}
	case "import":
		m.evaluateArgument(b.Body, "id", m.eachContext(b.Body, ctx), cty.String)
	case "resource", "data":
		m.checkResource(b, ctx)
	}
}

// checkCall checks the arguments of a call against the module's variables.
func (m *tfRoot) checkCall(b *hclsyntax.Block, ctx *hcl.EvalContext) {
	name := b.Labels[0]
	called := m.calls[name]
	if called == nil {
		return
	}
	for _, inner := range b.Body.Blocks {
		m.errorf(inner.Range(), "a call of a module has no block %s", inner.Type)
	}
	for argument, a := range b.Body.Attributes {
		if v := called.variables[argument]; v != nil {
			m.evaluateArgument(b.Body, argument, ctx, v.kind)
		} else if argument != "source" {
			m.errorf(a.SrcRange, "module %s has no variable %s", name, argument)
		}
	}
	for variable, v := range called.variables {
		if b.Body.Attributes[variable] == nil && v.block.Body.Attributes["default"] == nil {
			m.errorf(b.Range(), "module %s: variable %s has no value", name, variable)
		}
	}
}

// evaluateArgument evaluates a required argument.
func (c *tfCheck) evaluateArgument(body *hclsyntax.Body, name string, ctx *hcl.EvalContext, kind cty.Type) cty.Value {
	a := body.Attributes[name]
	if a == nil {
		c.errorf(body.Range(), "%s is missing", name)
		return cty.UnknownVal(kind)
	}
	v, diags := a.Expr.Value(ctx)
	c.addDiagnostics(diags)
	v, err := convert.Convert(v, kind)
	if err != nil {
		c.errorf(a.Expr.Range(), "%s: %v", name, err)
		return cty.UnknownVal(kind)
	}
	return v
}

// evaluateBody evaluates every expression of a body, whatever its schema.
func (c *tfCheck) evaluateBody(body *hclsyntax.Body, ctx *hcl.EvalContext) {
	for name := range body.Attributes {
		c.evaluateArgument(body, name, ctx, cty.DynamicPseudoType)
	}
	for _, b := range body.Blocks {
		c.evaluateBody(b.Body, ctx)
	}
}

// checkSchema checks a body against its schema.
func (c *tfCheck) checkSchema(body *hclsyntax.Body, schema *tfBlock, ctx *hcl.EvalContext) {
	_, diags := hcldec.Decode(dynblock.Expand(body, ctx), schema.settableSpec(), ctx)
	c.addDiagnostics(diags)
}

// eachContext returns the context for the instances of a block.
func (c *tfCheck) eachContext(body *hclsyntax.Body, ctx *hcl.EvalContext) *hcl.EvalContext {
	if body.Attributes["for_each"] == nil {
		return ctx
	}
	v := c.evaluateArgument(body, "for_each", ctx, cty.DynamicPseudoType)
	kind := v.Type()
	if !kind.IsMapType() && !kind.IsObjectType() && !kind.IsSetType() && kind != cty.DynamicPseudoType {
		c.errorf(body.Attributes["for_each"].SrcRange, "for_each takes a map or a set of strings, not %s",
			kind.FriendlyName())
	}
	value := cty.DynamicVal
	if kind.IsMapType() || kind.IsSetType() {
		value = cty.UnknownVal(kind.ElementType())
	}
	ctx = ctx.NewChild()
	ctx.Variables = map[string]cty.Value{
		"each": cty.ObjectVal(map[string]cty.Value{"key": cty.UnknownVal(cty.String), "value": value}),
	}
	return ctx
}

// The arguments and blocks of a resource that belong to Terraform itself.
var tfMeta = []string{"for_each", "count", "depends_on", "lifecycle"}

// checkResource checks a resource or a data source.
func (m *tfRoot) checkResource(b *hclsyntax.Block, ctx *hcl.EvalContext) {
	schema := m.schemaOf(b)
	if schema == nil {
		return
	}
	ctx = m.eachContext(b.Body, ctx)
	own := *b.Body
	own.Attributes = maps.Clone(own.Attributes)
	for _, name := range tfMeta {
		if a := own.Attributes[name]; a != nil {
			m.evaluateArgument(&own, name, ctx, cty.DynamicPseudoType)
			delete(own.Attributes, name)
		}
	}
	own.Blocks = slices.DeleteFunc(slices.Clone(own.Blocks), func(inner *hclsyntax.Block) bool {
		if inner.Type == "lifecycle" {
			m.checkLifecycle(inner.Body, b.Labels[0], schema, ctx)
		}
		return slices.Contains(tfMeta, inner.Type)
	})
	m.checkSchema(&own, schema, ctx)
}

func (m *tfRoot) checkLifecycle(body *hclsyntax.Body, kind string, schema *tfBlock, ctx *hcl.EvalContext) {
	for name, a := range body.Attributes {
		switch name {
		case "ignore_changes":
			expressions, diags := hcl.ExprList(a.Expr)
			m.addDiagnostics(diags)
			for _, e := range expressions {
				traversal, diags := hcl.AbsTraversalForExpr(e)
				m.addDiagnostics(diags)
				if !diags.HasErrors() && !schema.has(traversal.RootName()) {
					m.errorf(a.SrcRange, "%s has no %s", kind, traversal.RootName())
				}
			}
		case "replace_triggered_by", "prevent_destroy", "create_before_destroy":
			m.evaluateArgument(body, name, ctx, cty.DynamicPseudoType)
		default:
			m.errorf(a.SrcRange, "lifecycle has no %s", name)
		}
	}
}

// tfFunctions returns the Terraform functions that the folders use.
func tfFunctions(folder fs.FS) map[string]function.Function {
	text := func(n int, f func(args []string) (cty.Value, error), kind cty.Type) function.Function {
		params := slices.Repeat([]function.Parameter{{Name: "s", Type: cty.String}}, n)
		return function.New(&function.Spec{Params: params, Type: function.StaticReturnType(kind),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				var in []string
				for _, a := range args {
					in = append(in, a.AsString())
				}
				return f(in)
			}})
	}
	functions := objects.Functions()
	maps.Copy(functions, map[string]function.Function{
		"can": tryfunc.CanFunc, "try": tryfunc.TryFunc,
		"concat": stdlib.ConcatFunc, "contains": stdlib.ContainsFunc, "join": stdlib.JoinFunc,
		"jsonencode": stdlib.JSONEncodeFunc, "keys": stdlib.KeysFunc,
		"max": stdlib.MaxFunc, "regex": stdlib.RegexFunc,
		"setproduct": stdlib.SetProductFunc, "split": stdlib.SplitFunc, "values": stdlib.ValuesFunc,
		"toset": stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
		"startswith": text(2, func(a []string) (cty.Value, error) {
			return cty.BoolVal(strings.HasPrefix(a[0], a[1])), nil
		}, cty.Bool),
		"endswith": text(2, func(a []string) (cty.Value, error) {
			return cty.BoolVal(strings.HasSuffix(a[0], a[1])), nil
		}, cty.Bool),
		"file": text(1, func(a []string) (cty.Value, error) {
			content, err := fs.ReadFile(folder, path.Join("terraform", a[0]))
			return cty.StringVal(string(content)), err
		}, cty.String),
		"alltrue": function.New(&function.Spec{
			Params: []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
			Type:   function.StaticReturnType(cty.Bool),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				all := cty.True
				for it := args[0].ElementIterator(); it.Next(); {
					_, v := it.Element()
					all = all.And(v)
				}
				return all, nil
			}}),
		"cidrhost": function.New(&function.Spec{
			Params: []function.Parameter{{Name: "prefix", Type: cty.String}, {Name: "number", Type: cty.Number}},
			Type:   function.StaticReturnType(cty.String),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				prefix, err := netip.ParsePrefix(args[0].AsString())
				if err != nil || !args[1].RawEquals(cty.Zero) {
					return cty.NilVal, cmp.Or(err, errors.New("only host 0 is known here"))
				}
				return cty.StringVal(prefix.Masked().Addr().String()), nil
			}}),
	})
	return functions
}

// tfProvider is a provider's schema, in the format of terraform providers schema
// -json.
type tfProvider struct {
	provider        *tfBlock
	resources, data map[string]*tfBlock
}

// tfData is the schema of terraform_data, a resource of Terraform itself.
//
// Source: Terraform documentation, "The terraform_data managed resource type".
var tfData = &tfBlock{Attributes: map[string]*tfAttribute{
	"id":               {kind: cty.String},
	"input":            {Optional: true, kind: cty.DynamicPseudoType},
	"output":           {kind: cty.DynamicPseudoType},
	"triggers_replace": {Optional: true, kind: cty.DynamicPseudoType},
}}

type tfBlock struct {
	Attributes map[string]*tfAttribute `json:"attributes"`
	BlockTypes map[string]*tfNested    `json:"block_types"`
}

type tfAttribute struct {
	Type     json.RawMessage `json:"type"`
	Required bool            `json:"required"`
	Optional bool            `json:"optional"`

	kind cty.Type
}

type tfNested struct {
	Nesting  string   `json:"nesting_mode"`
	MinItems int      `json:"min_items"`
	MaxItems int      `json:"max_items"`
	Block    *tfBlock `json:"block"`
}

func loadTFSchema(name string) (*tfProvider, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	type entry struct {
		Block *tfBlock `json:"block"`
	}
	var doc struct {
		Providers map[string]struct {
			Provider  entry            `json:"provider"`
			Resources map[string]entry `json:"resource_schemas"`
			Data      map[string]entry `json:"data_source_schemas"`
		} `json:"provider_schemas"`
	}
	if err := json.Unmarshal(content, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	google, ok := doc.Providers["registry.terraform.io/hashicorp/google"]
	if !ok {
		return nil, fmt.Errorf("%s: no schema of hashicorp/google", name)
	}
	blocks := func(entries map[string]entry) map[string]*tfBlock {
		out := map[string]*tfBlock{}
		for kind, e := range entries {
			err = errors.Join(err, e.Block.resolveTypes())
			out[kind] = e.Block
		}
		return out
	}
	p := &tfProvider{provider: google.Provider.Block, resources: blocks(google.Resources), data: blocks(google.Data)}
	return p, errors.Join(err, p.provider.resolveTypes())
}

// resolveTypes decodes the types of a block's attributes.
func (b *tfBlock) resolveTypes() (err error) {
	for _, a := range b.Attributes {
		err = errors.Join(err, json.Unmarshal(a.Type, &a.kind))
	}
	for _, nested := range b.BlockTypes {
		err = errors.Join(err, nested.Block.resolveTypes())
	}
	return err
}

func (b *tfBlock) has(name string) bool {
	return b.Attributes[name] != nil || b.BlockTypes[name] != nil
}

// settableSpec returns the arguments that may be set in a block. It omits attributes
// that only the provider computes.
func (b *tfBlock) settableSpec() hcldec.ObjectSpec {
	return b.spec(func(a *tfAttribute) bool { return a.Required || a.Optional })
}

// objectType returns the type of a block in expressions.
func (b *tfBlock) objectType() cty.Type {
	return hcldec.ImpliedType(b.spec(func(*tfAttribute) bool { return true }))
}

// spec returns the blocks, and the attributes that are wanted.
func (b *tfBlock) spec(wanted func(*tfAttribute) bool) hcldec.ObjectSpec {
	out := hcldec.ObjectSpec{}
	for name, a := range b.Attributes {
		if wanted(a) {
			out[name] = &hcldec.AttrSpec{Name: name, Type: a.kind, Required: a.Required}
		}
	}
	for name, n := range b.BlockTypes {
		nested := n.Block.spec(wanted)
		switch n.Nesting {
		case "single":
			out[name] = &hcldec.BlockSpec{TypeName: name, Nested: nested}
		case "set":
			out[name] = &hcldec.BlockSetSpec{TypeName: name, Nested: nested, MinItems: n.MinItems, MaxItems: n.MaxItems}
		default:
			out[name] = &hcldec.BlockListSpec{
				TypeName: name, Nested: nested, MinItems: n.MinItems, MaxItems: n.MaxItems,
			}
		}
	}
	return out
}
