package objects

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// A few handwritten lines can ask for more memory than there is, with nested loops
// or texts that are built from texts. Therefore the expressions of a root share a
// budget of work, plus workPerByte for each byte of the root's files, in units of
// weight. The budget is many times the work for a platform with ten thousand teams.
const (
	work        = 1 << 20
	workPerByte = 4
)

// valueWeight returns the size of a value: one unit for each value in it, and more for
// long texts. It stops counting at limit.
func valueWeight(v cty.Value, limit int) int {
	switch {
	case v == cty.NilVal || v.IsNull() || !v.IsKnown():
		return 1
	case v.Type() == cty.String:
		return 1 + len(v.AsString())/16
	case !v.CanIterateElements():
		return 1
	}
	n := 1
	for it := v.ElementIterator(); it.Next() && n <= limit; {
		_, e := it.Element()
		n += valueWeight(e, limit-n)
	}
	return n
}

// counted is an expression whose results are charged to the budget of a root.
type counted struct {
	hclsyntax.Expression
	root *root
}

// Value evaluates the expression if the budget is not used up. Otherwise it returns
// an error diagnostic.
func (c counted) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if c.root.budget >= 0 {
		v, diags := c.Expression.Value(ctx)
		if c.root.budget -= valueWeight(v, c.root.budget); c.root.budget >= 0 {
			return v, diags
		}
	}
	return cty.DynamicVal, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "too much to evaluate"}}
}

// chargeBody charges expressions that repeat, join or convert values to the budget, and
// records the names of the attributes to which expressions refer.
func (r *root) chargeBody(body *hclsyntax.Body) {
	wrap := func(e *hclsyntax.Expression) {
		if *e != nil {
			// The parentheses let a walk through the expression visit the
			// expressions inside it.
			*e = counted{&hclsyntax.ParenthesesExpr{Expression: *e, SrcRange: (*e).Range()}, r}
		}
	}
	hclsyntax.VisitAll(body, func(n hclsyntax.Node) hcl.Diagnostics {
		var steps hcl.Traversal
		switch n := n.(type) {
		case *hclsyntax.ScopeTraversalExpr:
			steps = n.Traversal
		case *hclsyntax.RelativeTraversalExpr:
			steps = n.Traversal
		case *hclsyntax.ForExpr:
			wrap(&n.CollExpr)
			wrap(&n.KeyExpr)
			wrap(&n.ValExpr)
			wrap(&n.CondExpr)
		case *hclsyntax.SplatExpr:
			wrap(&n.Each)
		case *hclsyntax.TemplateExpr:
			for i := range n.Parts {
				wrap(&n.Parts[i])
			}
		case *hclsyntax.FunctionCallExpr:
			for i := range n.Args {
				wrap(&n.Args[i])
			}
		case *hclsyntax.ConditionalExpr:
			wrap(&n.TrueResult)
			wrap(&n.FalseResult)
		}
		for _, s := range steps {
			if a, ok := s.(hcl.TraverseAttr); ok {
				r.names[a.Name] = true
			}
		}
		return nil
	})
}
