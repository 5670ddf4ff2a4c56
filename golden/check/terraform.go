package check

import (
	"bytes"
	"cmp"
	"encoding/binary"
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

	"github.com/batchwright/batchwright/golden/fixture"
)

// tfSchema returns the provider's schema, which every check reads and none changes.
var tfSchema = sync.OnceValues(func() (*tfProvider, error) {
	return loadTFSchema(fixture.Path("golden/testdata/provider/google-schema.json"))
})

// Terraform checks terraform/*.tf and *.tfvars of a deploy folder, and the
// modules that they call, like terraform validate and terraform plan without a
// cloud. It parses the files and evaluates them twice: with unknown variables and
// with the values of the tfvars. Resources, data sources and the provider's block
// must fit the provider's schema.
func Terraform(folder fs.FS) []error {
	schema, err := tfSchema()
	if err != nil {
		return []error{err}
	}
	errs := (&tfRoot{folder: folder, schema: schema}).checkRoot()
	if _, err := fs.Stat(folder, NetworkTeamDir); err == nil {
		errs = append(errs, (&tfRoot{folder: folder, schema: schema}).checkNetworkTeam()...)
	}
	return append(errs, checkLetGo(folder)...)
}

// NetworkTeamDir is the folder of the root for the owners of an existing network.
const NetworkTeamDir = "network-team"

// checkNetworkTeam checks the root for the owners of an existing network. They give its
// variables, so it has no tfvars.
func (r *tfRoot) checkNetworkTeam() []error {
	r.dir, r.noValues = NetworkTeamDir, true
	r.loadRoot()
	if len(r.errs) == 0 {
		r.evaluateRoot(func(_ string, v *tfVariable) cty.Value { return cty.UnknownVal(v.kind) })
	}
	return r.errs
}

// tfRoot is a Terraform root that is checked, or a module that it calls.
type tfRoot struct {
	folder    fs.FS
	dir       string
	caller    *tfRoot // nil for the root
	schema    *tfProvider
	bodies    []*hclsyntax.Body
	variables map[string]*tfVariable
	locals    map[string]*hclsyntax.Attribute
	resources map[string]*tfResource // by address
	outputs   map[string]*hclsyntax.Block
	calls     map[string]*tfCall
	asserts   []*hclsyntax.Block
	noValues  bool    // the root has no tfvars
	errs      []error // errors of the root and its modules
}

type tfVariable struct {
	block    *hclsyntax.Block
	kind     cty.Type
	defaults *typeexpr.Defaults
	value    cty.Value // cty.NilVal if it has none
}

type tfResource struct {
	address string // "google_x.name" or "data.google_x.name"
	kind    string
	body    *hclsyntax.Body
	schema  *tfBlock // nil if the provider does not have the kind
}

func (r *tfRoot) checkRoot() []error {
	r.dir = tfDir
	values := r.loadRoot()
	if len(r.errs) > 0 {
		return r.errs
	}
	r.assignVariables(values)
	r.checkInfraManager()
	if len(r.errs) > 0 {
		return r.errs
	}
	r.evaluateRoot(func(_ string, v *tfVariable) cty.Value { return cty.UnknownVal(v.kind) })
	r.evaluateRoot(func(_ string, v *tfVariable) cty.Value { return v.value })
	seen := map[string]bool{}
	return slices.DeleteFunc(r.errs, func(err error) bool {
		again := seen[err.Error()]
		seen[err.Error()] = true
		return again
	})
}

// loadRoot reads the root or module, and the modules that it calls, and returns the
// attributes of the root's tfvars.
func (r *tfRoot) loadRoot() map[string]*hclsyntax.Attribute {
	r.variables, r.locals = map[string]*tfVariable{}, map[string]*hclsyntax.Attribute{}
	r.resources, r.outputs, r.calls = map[string]*tfResource{}, map[string]*hclsyntax.Block{}, map[string]*tfCall{}
	values := r.parseRoot()
	for _, body := range r.bodies {
		r.recordDeclarations(body)
	}
	r.checkUnused()
	r.checkCycles()
	return values
}

func (r *tfRoot) fail(err error) {
	for r.caller != nil {
		r = r.caller
	}
	r.errs = append(r.errs, err)
}

func (r *tfRoot) errorf(at hcl.Range, format string, args ...any) {
	r.fail(fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...)))
}

func (r *tfRoot) addDiagnostics(diags hcl.Diagnostics) {
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			r.fail(d)
		}
	}
}

// checkInfraManager checks a root for Infrastructure Manager, which has Terraform
// 1.5 and keeps the state itself. The root must have no backend, and no condition of
// a variable that refers to another variable, because that requires Terraform 1.9.
func (r *tfRoot) checkInfraManager() {
	var backend *hclsyntax.Block
	for _, body := range r.bodies {
		for _, block := range body.Blocks {
			if block.Type != "terraform" {
				continue
			}
			for _, b := range block.Body.Blocks {
				if b.Type == "backend" {
					backend = b
				}
			}
		}
	}
	if !r.isOld() {
		return
	}
	if backend != nil {
		r.errorf(backend.Range(), "Infrastructure Manager takes no backend")
	}
	for name, v := range r.variables {
		for _, validation := range v.block.Body.Blocks {
			for _, traversal := range hclsyntax.Variables(validation.Body.Attributes["condition"].Expr) {
				if at, ok := traversal[1].(hcl.TraverseAttr); traversal.RootName() == "var" && ok && at.Name != name {
					r.errorf(validation.Range(), "variable %s looks at %s, which Terraform 1.5 does not allow", name,
						at.Name)
				}
			}
		}
	}
}

// isOld reports whether the root is for the Terraform of Infrastructure Manager.
func (r *tfRoot) isOld() bool {
	for _, body := range r.bodies {
		for _, block := range body.Blocks {
			if a := block.Body.Attributes["required_version"]; block.Type == "terraform" && a != nil {
				v, _ := a.Expr.Value(nil)
				return v.Type() == cty.String && v.AsString() == "~> 1.5.0"
			}
		}
	}
	return false
}

// parseRoot parses the root and returns the attributes of its tfvars.
func (r *tfRoot) parseRoot() map[string]*hclsyntax.Attribute {
	values := map[string]*hclsyntax.Attribute{}
	patterns := []string{"*.tf"}
	if r.caller == nil && !r.noValues {
		patterns = append(patterns, "*.tfvars")
	}
	for _, pattern := range patterns {
		pattern = path.Join(r.dir, pattern)
		names, err := fs.Glob(r.folder, pattern)
		if err != nil || len(names) == 0 {
			r.fail(cmp.Or(err, fmt.Errorf("there is no %s", pattern)))
		}
		for _, name := range names {
			source, err := fs.ReadFile(r.folder, name)
			if err != nil {
				r.fail(err)
				continue
			}
			file, diags := hclsyntax.ParseConfig(source, name, hcl.InitialPos)
			r.addDiagnostics(diags)
			if diags.HasErrors() {
				continue
			}
			if !bytes.Equal(source, hclwrite.Format(source)) {
				r.fail(fmt.Errorf("%s: terraform fmt would change it", name))
			}
			body := file.Body.(*hclsyntax.Body)
			if path.Ext(name) == ".tf" {
				r.bodies = append(r.bodies, body)
				continue
			}
			for _, block := range body.Blocks {
				r.errorf(block.Range(), "a tfvars file has no blocks")
			}
			maps.Copy(values, body.Attributes)
		}
	}
	return values
}

// recordDeclarations records the declarations in a file.
func (r *tfRoot) recordDeclarations(body *hclsyntax.Body) {
	for _, a := range body.Attributes {
		r.errorf(a.SrcRange, "an argument outside any block")
	}
	for _, block := range body.Blocks {
		want := map[string]int{
			"terraform": 0, "locals": 0, "provider": 1, "variable": 1, "output": 1, "resource": 2, "data": 2,
			"module": 1, "check": 1, "import": 0, "removed": 0,
		}
		if n, ok := want[block.Type]; !ok || len(block.Labels) != n {
			r.errorf(block.Range(), "no such block: %s with %d labels", block.Type, len(block.Labels))
			continue
		}
		for _, label := range block.Labels {
			if !hclsyntax.ValidIdentifier(label) {
				r.errorf(block.Range(), "%q is not a name", label)
			}
		}
		switch block.Type {
		case "module":
			r.readCall(block)
		case "provider":
			if r.caller != nil {
				r.errorf(block.Range(), "a module that is called has no provider of its own")
			}
		case "variable":
			if r.variables[block.Labels[0]] != nil {
				r.errorf(block.Range(), "variable %s is declared twice", block.Labels[0])
			}
			r.variables[block.Labels[0]] = r.readVariable(block)
		case "locals":
			for name, a := range block.Body.Attributes {
				if r.locals[name] != nil {
					r.errorf(a.SrcRange, "local %s is declared twice", name)
				}
				r.locals[name] = a
			}
		case "output":
			if r.outputs[block.Labels[0]] != nil {
				r.errorf(block.Range(), "output %s is declared twice", block.Labels[0])
			}
			r.outputs[block.Labels[0]] = block
		case "check":
			r.recordCheck(block)
		case "resource", "data":
			r.recordResource(block)
		}
	}
}

// recordCheck records the data source and the assertions of a check.
func (r *tfRoot) recordCheck(check *hclsyntax.Block) {
	for _, inner := range check.Body.Blocks {
		switch {
		case inner.Type == "data" && len(inner.Labels) == 2:
			r.recordResource(inner)
		case inner.Type == "assert" && len(inner.Labels) == 0:
			r.asserts = append(r.asserts, inner)
		default:
			r.errorf(inner.Range(), "a check has no block %s", inner.Type)
		}
	}
}

// recordResource records a resource or a data source.
func (r *tfRoot) recordResource(block *hclsyntax.Block) {
	resource := &tfResource{kind: block.Labels[0], body: block.Body, address: strings.Join(block.Labels, ".")}
	if block.Type == "data" {
		resource.address = "data." + resource.address
	}
	if r.resources[resource.address] != nil {
		r.errorf(block.Range(), "%s is declared twice", resource.address)
	}
	if resource.schema = r.schema.blockTypes(block.Type)[resource.kind]; block.Type == "resource" &&
		resource.kind == "terraform_data" {
		resource.schema = tfData
	}
	if resource.schema == nil {
		r.errorf(block.Range(), "the provider has no %s %s", block.Type, resource.kind)
	}
	r.resources[resource.address] = resource
}

func (r *tfRoot) readVariable(block *hclsyntax.Block) *tfVariable {
	v := &tfVariable{block: block, kind: cty.DynamicPseudoType, value: cty.NilVal}
	for name := range block.Body.Attributes {
		if !slices.Contains([]string{"type", "description", "default", "nullable", "sensitive"}, name) {
			r.errorf(block.Range(), "a variable has no argument %s", name)
		}
	}
	if a := block.Body.Attributes["type"]; a != nil {
		var diags hcl.Diagnostics
		v.kind, v.defaults, diags = typeexpr.TypeConstraintWithDefaults(a.Expr)
		r.addDiagnostics(diags)
	} else {
		r.errorf(block.Range(), "variable %s has no type", block.Labels[0])
	}
	if block.Body.Attributes["description"] == nil {
		r.errorf(block.Range(), "variable %s has no description", block.Labels[0])
	}
	return v
}

// assignVariables gives every variable its value.
func (r *tfRoot) assignVariables(values map[string]*hclsyntax.Attribute) {
	for name, a := range values {
		if r.variables[name] == nil {
			r.errorf(a.SrcRange, "there is no variable %s", name)
		}
	}
	for name, v := range r.variables {
		a := cmp.Or(values[name], v.block.Body.Attributes["default"])
		if a == nil {
			r.errorf(v.block.Range(), "variable %s has no value", name)
			continue
		}
		value, diags := a.Expr.Value(nil)
		r.addDiagnostics(diags)
		if v.defaults != nil && !value.IsNull() {
			value = v.defaults.Apply(value)
		}
		value, err := convert.Convert(value, v.kind)
		if err != nil {
			r.errorf(a.Expr.Range(), "variable %s: %v", name, err)
			continue
		}
		v.value = value
	}
}

// nodeReferences returns the addresses to which a node refers: "var.x", "local.x",
// "google_x.y", "data.google_x.y", "module.x" and "module.x.y".
func nodeReferences(node hclsyntax.Node) map[string]hcl.Range {
	out := map[string]hcl.Range{}
	hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		if e, ok := n.(*hclsyntax.ScopeTraversalExpr); ok {
			steps := []string{e.Traversal.RootName()}
			for _, step := range e.Traversal[1:] {
				a, ok := step.(hcl.TraverseAttr)
				if !ok {
					break
				}
				steps = append(steps, a.Name)
			}
			if len(steps) >= 2 && steps[0] != "data" {
				out[strings.Join(steps[:2], ".")] = e.Range()
			}
			if len(steps) >= 3 && (steps[0] == "data" || steps[0] == "module") {
				out[strings.Join(steps[:3], ".")] = e.Range()
			}
		}
		return nil
	})
	return out
}

// checkUnused reports variables, locals and outputs of modules to which nothing
// refers.
func (r *tfRoot) checkUnused() {
	used := map[string]bool{}
	for _, body := range r.bodies {
		for _, block := range body.Blocks {
			if block.Type == "variable" {
				continue
			}
			for address := range nodeReferences(block.Body) {
				used[address] = true
			}
		}
	}
	for name, v := range r.variables {
		if !used["var."+name] {
			r.errorf(v.block.Range(), "variable %s is not used", name)
		}
	}
	for name, a := range r.locals {
		if !used["local."+name] {
			r.errorf(a.SrcRange, "local %s is not used", name)
		}
	}
	r.outputsUsed(used)
}

// checkCycles reports cycles of references.
func (r *tfRoot) checkCycles() {
	nodes := map[string]hclsyntax.Node{}
	for name, a := range r.locals {
		nodes["local."+name] = a.Expr
	}
	for address, resource := range r.resources {
		nodes[address] = resource.body
	}
	for name, c := range r.calls {
		nodes["module."+name] = c.block.Body
	}
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(address string)
	visit = func(address string) {
		state[address] = open
		to := nodeReferences(nodes[address])
		for _, next := range slices.Sorted(maps.Keys(to)) {
			switch {
			case nodes[next] == nil:
			case state[next] == open:
				r.errorf(to[next], "%s and %s depend on each other", address, next)
			case state[next] == 0:
				visit(next)
			}
		}
		state[address] = done
	}
	for _, address := range slices.Sorted(maps.Keys(nodes)) {
		if state[address] == 0 {
			visit(address)
		}
	}
}

// evaluateRoot checks every expression with the given values of variables, and returns
// the outputs.
func (r *tfRoot) evaluateRoot(value func(name string, v *tfVariable) cty.Value) cty.Value {
	vars, outputs := map[string]cty.Value{}, map[string]cty.Value{}
	for name, v := range r.variables {
		vars[name] = value(name, v)
	}
	s := &tfScope{root: r, vars: vars, values: map[string]cty.Value{}}
	for _, resource := range r.resources {
		s.addressValue(resource.address)
	}
	for name := range r.locals {
		s.addressValue("local." + name)
	}
	for name := range r.calls {
		s.addressValue("module." + name)
	}
	ctx := s.evalContext()

	for name, v := range r.variables {
		for _, validation := range v.block.Body.Blocks {
			ok := r.evaluateArgument(validation.Body, "condition", ctx, cty.Bool)
			r.evaluateArgument(validation.Body, "error_message", ctx, cty.String)
			if ok.IsKnown() && ok.False() {
				r.errorf(validation.Range(), "variable %s is not valid", name)
			}
		}
	}
	for _, body := range r.bodies {
		for _, block := range body.Blocks {
			switch block.Type {
			case "provider":
				r.checkBlock(block.Body, r.schema.provider, ctx)
				r.evaluateBody(block.Body, ctx)
			case "terraform":
				r.evaluateBody(block.Body, nil) // accepts only literals
			case "import":
				r.checkImport(block, ctx)
			case "removed":
				r.checkRemoved(block)
			case "output":
				r.evaluateArgument(block.Body, "description", ctx, cty.String)
				outputs[block.Labels[0]] = r.evaluateArgument(block.Body, "value", ctx, cty.DynamicPseudoType)
			}
		}
	}
	for _, assert := range r.asserts {
		r.evaluateArgument(assert.Body, "condition", ctx, cty.Bool)
		r.evaluateArgument(assert.Body, "error_message", ctx, cty.String)
	}
	for _, address := range slices.Sorted(maps.Keys(r.resources)) {
		r.checkInstances(r.resources[address], ctx)
	}
	return cty.ObjectVal(outputs)
}

// checkRemoved checks a block with which Terraform forgets a resource. It must name a
// resource of the provider that the root no longer has, and must not destroy it. Source:
// Terraform documentation, "removed block"; the block came with version 1.7.
func (r *tfRoot) checkRemoved(block *hclsyntax.Block) {
	if r.isOld() {
		r.errorf(block.Range(), "Terraform 1.5 has no block removed")
	}
	from := block.Body.Attributes["from"]
	if from == nil || len(block.Body.Attributes) != 1 || len(block.Body.Blocks) != 1 ||
		block.Body.Blocks[0].Type != "lifecycle" {
		r.errorf(block.Range(), "a block removed has from and lifecycle, and nothing else")
		return
	}
	traversal, diags := hcl.AbsTraversalForExpr(from.Expr)
	if r.addDiagnostics(diags); diags.HasErrors() {
		return
	}
	if label, ok := traversal[len(traversal)-1].(hcl.TraverseAttr); len(traversal) != 2 || !ok ||
		r.schema.resources[traversal.RootName()] == nil {
		r.errorf(from.SrcRange, "no resource of the root")
	} else if address := traversal.RootName() + "." + label.Name; r.resources[address] != nil {
		r.errorf(from.SrcRange, "%s is declared", address)
	}
	destroy := block.Body.Blocks[0].Body.Attributes["destroy"]
	if destroy == nil {
		r.errorf(block.Range(), "destroy is missing")
		return
	}
	if v, diags := destroy.Expr.Value(nil); diags.HasErrors() || !v.RawEquals(cty.False) {
		r.errorf(destroy.SrcRange, "destroy is not false")
	}
}

// evaluateArgument evaluates a required argument.
func (r *tfRoot) evaluateArgument(body *hclsyntax.Body, name string, ctx *hcl.EvalContext, kind cty.Type) cty.Value {
	a := body.Attributes[name]
	if a == nil {
		r.errorf(body.Range(), "%s is missing", name)
		return cty.UnknownVal(kind)
	}
	v, diags := a.Expr.Value(ctx)
	r.addDiagnostics(diags)
	v, err := convert.Convert(v, kind)
	if err != nil {
		r.errorf(a.Expr.Range(), "%s: %v", name, err)
		return cty.UnknownVal(kind)
	}
	return v
}

// checkInstances checks a resource once for each key of its for_each.
func (r *tfRoot) checkInstances(resource *tfResource, ctx *hcl.EvalContext) {
	r.checkMeta(resource)
	if resource.schema != nil {
		r.checkLiterals(withoutMeta(resource.body), resource.schema)
	}
	check := func(ctx *hcl.EvalContext) {
		body := withoutMeta(resource.body)
		if resource.schema != nil {
			r.checkBlock(body, resource.schema, ctx)
		}
		r.evaluateBody(body, ctx)
	}
	if resource.body.Attributes["count"] != nil {
		r.evaluateArgument(resource.body, "count", ctx, cty.Number)
	}
	a := resource.body.Attributes["for_each"]
	if a == nil {
		check(ctx)
		return
	}
	forEach, diags := a.Expr.Value(ctx)
	r.addDiagnostics(diags)
	each := func(key, value cty.Value) {
		child := ctx.NewChild()
		child.Variables = map[string]cty.Value{"each": cty.ObjectVal(map[string]cty.Value{"key": key, "value": value})}
		check(child)
	}
	switch kind := forEach.Type(); {
	case forEach.IsKnown() && (kind.IsObjectType() || kind.IsMapType() || kind.Equals(cty.Set(cty.String))):
		for it := forEach.ElementIterator(); it.Next(); {
			each(it.Element())
		}
	case kind.IsMapType(), kind.IsSetType():
		each(cty.UnknownVal(cty.String), cty.UnknownVal(kind.ElementType()))
	case kind == cty.DynamicPseudoType:
		each(cty.UnknownVal(cty.String), cty.DynamicVal)
	default:
		r.errorf(a.Expr.Range(), "for_each takes a map or a set of strings, not %s", kind.FriendlyName())
	}
}

// The arguments and blocks of a resource that belong to Terraform itself.
var tfMeta = []string{"for_each", "count", "depends_on", "lifecycle"}

func withoutMeta(body *hclsyntax.Body) *hclsyntax.Body {
	out := *body
	out.Attributes = maps.Clone(body.Attributes)
	for _, name := range tfMeta {
		delete(out.Attributes, name)
	}
	out.Blocks = slices.DeleteFunc(slices.Clone(body.Blocks), func(b *hclsyntax.Block) bool {
		return slices.Contains(tfMeta, b.Type)
	})
	return &out
}

// checkMeta checks depends_on and lifecycle.
func (r *tfRoot) checkMeta(resource *tfResource) {
	list := func(a *hclsyntax.Attribute) []hcl.Traversal {
		if a == nil {
			return nil
		}
		expressions, diags := hcl.ExprList(a.Expr)
		r.addDiagnostics(diags)
		var out []hcl.Traversal
		for _, e := range expressions {
			traversal, diags := hcl.AbsTraversalForExpr(e)
			r.addDiagnostics(diags)
			if !diags.HasErrors() {
				out = append(out, traversal)
			}
		}
		return out
	}
	if a := resource.body.Attributes["depends_on"]; a != nil {
		list(a)
		for address, at := range nodeReferences(a.Expr) {
			if r.resources[address] == nil && r.calls[strings.TrimPrefix(address, "module.")] == nil {
				r.errorf(at, "there is no %s", address)
			}
		}
	}
	for _, block := range resource.body.Blocks {
		if block.Type != "lifecycle" {
			continue
		}
		for name, a := range block.Body.Attributes {
			switch name {
			case "ignore_changes":
				for _, traversal := range list(a) {
					if resource.schema != nil && !resource.schema.has(traversal.RootName()) {
						r.errorf(a.SrcRange, "%s has no %s", resource.kind, traversal.RootName())
					}
				}
			case "replace_triggered_by":
				for _, traversal := range list(a) {
					name, _ := traversal[min(1, len(traversal)-1)].(hcl.TraverseAttr)
					if address := traversal.RootName() + "." + name.Name; r.resources[address] == nil {
						r.errorf(a.SrcRange, "there is no %s", address)
					}
				}
			case "prevent_destroy", "create_before_destroy":
				r.evaluateArgument(block.Body, name, nil, cty.Bool)
			default:
				r.errorf(a.SrcRange, "lifecycle has no %s", name)
			}
		}
	}
}

// checkBlock checks a body against its schema.
func (r *tfRoot) checkBlock(body *hclsyntax.Body, schema *tfBlock, ctx *hcl.EvalContext) {
	_, diags := hcldec.Decode(dynblock.Expand(body, ctx), schema.settableSpec(), ctx)
	r.addDiagnostics(diags)
}

// evaluateBody evaluates every expression of a body, whatever its schema, including
// dynamic blocks that are never generated.
func (r *tfRoot) evaluateBody(body *hclsyntax.Body, ctx *hcl.EvalContext) {
	for _, a := range body.Attributes {
		_, diags := a.Expr.Value(ctx)
		r.addDiagnostics(diags)
	}
	for _, block := range body.Blocks {
		if block.Type != "dynamic" {
			r.evaluateBody(block.Body, ctx)
			continue
		}
		r.evaluateArgument(block.Body, "for_each", ctx, cty.DynamicPseudoType)
		child := ctx.NewChild()
		child.Variables = map[string]cty.Value{block.Labels[0]: cty.ObjectVal(map[string]cty.Value{
			"key": cty.DynamicVal, "value": cty.DynamicVal,
		})}
		for _, content := range block.Body.Blocks {
			r.evaluateBody(content.Body, child)
		}
	}
}

// checkLiterals reports mistakes that evaluation would accept: unknown arguments in
// dynamic blocks, deprecated arguments, and literals whose type differs from the
// argument's.
func (r *tfRoot) checkLiterals(body *hclsyntax.Body, schema *tfBlock) {
	for name, a := range body.Attributes {
		argument := schema.Attributes[name]
		if argument == nil {
			// This includes dynamic blocks that are never generated.
			r.errorf(a.SrcRange, "there is no argument %s", name)
			continue
		}
		if argument.Deprecated {
			r.errorf(a.SrcRange, "%s is deprecated", name)
		}
		v, diags := a.Expr.Value(nil)
		if diags.HasErrors() || v.IsNull() {
			continue // not a literal
		}
		if argument.kind.IsPrimitiveType() && !v.Type().Equals(argument.kind) {
			r.errorf(a.Expr.Range(), "%s takes a %s, not a %s", name, argument.kind.FriendlyName(),
				v.Type().FriendlyName())
		}
	}
	for _, block := range body.Blocks {
		name, content := block.Type, block.Body
		if name == "dynamic" && len(content.Blocks) == 1 {
			name, content = block.Labels[0], content.Blocks[0].Body
		}
		if nested := schema.BlockTypes[name]; nested != nil {
			r.checkLiterals(content, nested.Block)
		}
	}
}

// tfScope evaluates locals, resources and modules on demand.
type tfScope struct {
	root   *tfRoot
	vars   map[string]cty.Value
	values map[string]cty.Value // by address
}

// addressValue returns the value of an address in expressions. References must be
// acyclic.
func (s *tfScope) addressValue(address string) cty.Value {
	if v, ok := s.values[address]; ok {
		return v
	}
	if name, ok := strings.CutPrefix(address, "module."); ok {
		c := s.root.calls[name]
		s.followReferences(c.block.Body)
		s.values[address] = c.evaluateCall(s.root, s.evalContext())
		return s.values[address]
	}
	resource := s.root.resources[address]
	var e hclsyntax.Expression
	instance := cty.DynamicVal
	if resource == nil {
		e = s.root.locals[strings.TrimPrefix(address, "local.")].Expr
	} else {
		if resource.schema != nil {
			instance = cty.UnknownVal(resource.schema.objectType())
		}
		if a := resource.body.Attributes["for_each"]; a != nil {
			e = a.Expr
		}
	}
	v := instance
	if e != nil {
		s.followReferences(e)
		var diags hcl.Diagnostics
		v, diags = e.Value(s.evalContext())
		s.root.addDiagnostics(diags)
		if resource != nil {
			v = instancesValue(v, instance)
		}
	}
	s.values[address] = v
	return v
}

// followReferences evaluates the values to which a node refers.
func (s *tfScope) followReferences(node hclsyntax.Node) {
	for next := range nodeReferences(node) {
		kind, name, _ := strings.Cut(next, ".")
		if s.root.resources[next] != nil || kind == "local" && s.root.locals[name] != nil ||
			kind == "module" && s.root.calls[name] != nil {
			s.addressValue(next)
		}
	}
}

// instancesValue returns the value of a resource with for_each in expressions.
func instancesValue(forEach, instance cty.Value) cty.Value {
	if !forEach.IsKnown() || !forEach.CanIterateElements() {
		if instance == cty.DynamicVal {
			return cty.DynamicVal
		}
		return cty.UnknownVal(cty.Map(instance.Type()))
	}
	out := map[string]cty.Value{}
	for it := forEach.ElementIterator(); it.Next(); {
		if key, _ := it.Element(); key.Type() == cty.String && key.IsKnown() {
			out[key.AsString()] = instance
		}
	}
	return cty.ObjectVal(out)
}

// evalContext returns a context with everything that was evaluated so far.
func (s *tfScope) evalContext() *hcl.EvalContext {
	locals, modules, data := map[string]cty.Value{}, map[string]cty.Value{}, map[string]map[string]cty.Value{}
	resources := map[string]map[string]cty.Value{}
	put := func(m map[string]map[string]cty.Value, kind, name string, v cty.Value) {
		if m[kind] == nil {
			m[kind] = map[string]cty.Value{}
		}
		m[kind][name] = v
	}
	for address, v := range s.values {
		switch steps := strings.Split(address, "."); steps[0] {
		case "local":
			locals[steps[1]] = v
		case "module":
			modules[steps[1]] = v
		case "data":
			put(data, steps[1], steps[2], v)
		default:
			put(resources, steps[0], steps[1], v)
		}
	}
	ctx := &hcl.EvalContext{Functions: tfFunctions(s.root.folder), Variables: map[string]cty.Value{
		"var":    cty.ObjectVal(s.vars),
		"local":  cty.ObjectVal(locals),
		"module": cty.ObjectVal(modules),
		"path": cty.ObjectVal(map[string]cty.Value{
			"module": cty.StringVal(path.Join(".", strings.TrimPrefix(s.root.dir, tfDir))),
		}),
	}}
	for kind, named := range resources {
		ctx.Variables[kind] = cty.ObjectVal(named)
	}
	kinds := map[string]cty.Value{}
	for kind, named := range data {
		kinds[kind] = cty.ObjectVal(named)
	}
	ctx.Variables["data"] = cty.ObjectVal(kinds)
	return ctx
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
	return map[string]function.Function{
		"can": tryfunc.CanFunc, "try": tryfunc.TryFunc,
		"concat": stdlib.ConcatFunc, "contains": stdlib.ContainsFunc,
		"distinct": stdlib.DistinctFunc, "flatten": stdlib.FlattenFunc,
		"format": stdlib.FormatFunc,
		"join":   stdlib.JoinFunc, "jsondecode": stdlib.JSONDecodeFunc, "jsonencode": stdlib.JSONEncodeFunc,
		"keys":   stdlib.KeysFunc,
		"length": stdlib.LengthFunc, "lower": stdlib.LowerFunc, "max": stdlib.MaxFunc, "merge": stdlib.MergeFunc,
		"min":   stdlib.MinFunc,
		"range": stdlib.RangeFunc, "regex": stdlib.RegexFunc, "replace": stdlib.ReplaceFunc,
		"setproduct": stdlib.SetProductFunc, "split": stdlib.SplitFunc, "upper": stdlib.UpperFunc,
		"values":   stdlib.ValuesFunc,
		"tonumber": stdlib.MakeToFunc(cty.Number),
		"tolist":   stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
		"tomap":    stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)),
		"toset":    stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
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
		"cidrsubnet": function.New(&function.Spec{
			Params: []function.Parameter{
				{Name: "prefix", Type: cty.String}, {Name: "newbits", Type: cty.Number},
				{Name: "netnum", Type: cty.Number},
			},
			Type: function.StaticReturnType(cty.String),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				prefix, err := netip.ParsePrefix(args[0].AsString())
				if err != nil {
					return cty.NilVal, err
				}
				bits, _ := args[1].AsBigFloat().Int64()
				number, _ := args[2].AsBigFloat().Int64()
				length := prefix.Bits() + int(bits)
				if !prefix.Addr().Is4() || length > 32 || number >= 1<<bits {
					return cty.NilVal, fmt.Errorf("%s has no part %d of %d", prefix, number, 1<<bits)
				}
				a := prefix.Masked().Addr().As4()
				binary.BigEndian.PutUint32(a[:], binary.BigEndian.Uint32(a[:])+uint32(number)<<(32-length))
				return cty.StringVal(netip.PrefixFrom(netip.AddrFrom4(a), length).String()), nil
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
	}
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

func (p *tfProvider) blockTypes(kind string) map[string]*tfBlock {
	if kind == "data" {
		return p.data
	}
	return p.resources
}

type tfBlock struct {
	Attributes map[string]*tfAttribute `json:"attributes"`
	BlockTypes map[string]*tfNested    `json:"block_types"`
}

type tfAttribute struct {
	Type       json.RawMessage `json:"type"`
	Required   bool            `json:"required"`
	Optional   bool            `json:"optional"`
	Deprecated bool            `json:"deprecated"`

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
	out := hcldec.ObjectSpec{}
	for name, a := range b.Attributes {
		if a.Required || a.Optional {
			out[name] = &hcldec.AttrSpec{Name: name, Type: a.kind, Required: a.Required}
		}
	}
	for name, n := range b.BlockTypes {
		switch n.Nesting {
		case "single":
			out[name] = &hcldec.BlockSpec{TypeName: name, Nested: n.Block.settableSpec()}
		case "set":
			out[name] = &hcldec.BlockSetSpec{
				TypeName: name, Nested: n.Block.settableSpec(), MinItems: n.MinItems, MaxItems: n.MaxItems,
			}
		default:
			out[name] = &hcldec.BlockListSpec{
				TypeName: name, Nested: n.Block.settableSpec(), MinItems: n.MinItems, MaxItems: n.MaxItems,
			}
		}
	}
	return out
}

// objectType returns the type of a block in expressions.
func (b *tfBlock) objectType() cty.Type {
	out := map[string]cty.Type{}
	for name, a := range b.Attributes {
		out[name] = a.kind
	}
	for name, n := range b.BlockTypes {
		switch n.Nesting {
		case "single":
			out[name] = n.Block.objectType()
		case "set":
			out[name] = cty.Set(n.Block.objectType())
		default:
			out[name] = cty.List(n.Block.objectType())
		}
	}
	return cty.Object(out)
}
