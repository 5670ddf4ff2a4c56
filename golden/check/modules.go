package check

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// tfDir is the folder of the root module.
const tfDir = "terraform"

// tfCall is a call of a module whose folder is below its caller's.
type tfCall struct {
	block  *hclsyntax.Block
	module *tfRoot
}

// readCall reads the module that a block calls, and checks the block against the
// module's variables.
func (r *tfRoot) readCall(block *hclsyntax.Block) {
	name := block.Labels[0]
	if r.calls[name] != nil {
		r.errorf(block.Range(), "module %s is called twice", name)
		return
	}
	source := r.evaluateArgument(block.Body, "source", nil, cty.String)
	if !source.IsKnown() || source.IsNull() || !strings.HasPrefix(source.AsString(), "./") {
		r.errorf(block.Range(), "module %s is not in the folder", name)
		return
	}
	dir := path.Join(r.dir, source.AsString())
	if !strings.HasPrefix(dir, r.dir+"/") {
		r.errorf(block.Range(), "module %s is not below its caller", name)
		return
	}
	m := &tfRoot{folder: r.folder, schema: r.schema, dir: dir, caller: r}
	m.loadRoot()
	r.calls[name] = &tfCall{block, m}
	for _, inner := range block.Body.Blocks {
		r.errorf(inner.Range(), "a call of a module has no block %s", inner.Type)
	}
	for argument, a := range block.Body.Attributes {
		if argument != "source" && m.variables[argument] == nil {
			r.errorf(a.SrcRange, "module %s has no variable %s", name, argument)
		}
	}
	for _, variable := range slices.Sorted(maps.Keys(m.variables)) {
		if block.Body.Attributes[variable] == nil && m.variables[variable].block.Body.Attributes["default"] == nil {
			r.errorf(block.Range(), "module %s: variable %s has no value", name, variable)
		}
	}
}

// evaluateCall checks every expression of the module with the arguments of the call,
// and returns the module's outputs.
func (c *tfCall) evaluateCall(caller *tfRoot, ctx *hcl.EvalContext) cty.Value {
	return c.module.evaluateRoot(func(name string, v *tfVariable) cty.Value {
		a, ctx := c.block.Body.Attributes[name], ctx
		if a == nil {
			a, ctx = v.block.Body.Attributes["default"], nil
		}
		if a == nil {
			return cty.UnknownVal(v.kind) // already reported
		}
		value, diags := a.Expr.Value(ctx)
		caller.addDiagnostics(diags)
		if v.defaults != nil && value.IsKnown() && !value.IsNull() {
			value = v.defaults.Apply(value)
		}
		value, err := convert.Convert(value, v.kind)
		if err != nil {
			caller.errorf(a.Expr.Range(), "%s: %v", name, err)
			return cty.UnknownVal(v.kind)
		}
		return value
	})
}

// outputsUsed reports outputs of called modules to which nothing refers.
func (r *tfRoot) outputsUsed(used map[string]bool) {
	for name, c := range r.calls {
		for output, block := range c.module.outputs {
			if !used["module."+name+"."+output] {
				r.errorf(block.Range(), "output %s of module %s is not used", output, name)
			}
		}
	}
}
