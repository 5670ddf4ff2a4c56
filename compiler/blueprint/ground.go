package blueprint

import (
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/blueprint/literal"
)

// checkLiteral compares a value with its shape without CUE, if the value leaves nothing
// open: it is written in one place, as a literal, or its sources together leave nothing
// open. A missing value is compared as its default. closed reports whether a definition
// is around the value, and observing whether the files of the blueprint observe defaults.
func checkLiteral(shape *literal.Shape, value cue.Value, closed bool, observing func() bool) given {
	out := given{value: func() cue.Value { return value }}
	switch {
	case !value.Exists():
		if text, ok := shape.Default(); ok {
			out.text, out.verdict = text, literal.Fits
		}
	case value.Err() == nil && !closed && !isClosed(value):
		if source := value.Source(); source != nil { // nil for a value with several sources
			out.text, out.verdict = shape.Check(source)
		}
		if out.verdict == literal.Unknown && !observing() {
			if x, ok := (&grounder{left: mostGround}).syntax(value); ok {
				out.text, out.verdict = shape.Check(x)
			}
		}
	}
	return out
}

// isClosed reports whether a value is a struct of a definition. The defaults of the
// schema would add fields to the struct, which the definition may not allow.
func isClosed(value cue.Value) bool {
	return value.IncompleteKind() == cue.StructKind && !value.Allows(cue.AnyString)
}

// mostGround bounds the values within a value that are read as a literal. References
// can share values, so that a few lines are millions of them.
const mostGround = 1000

// grounder reads an evaluated value as a literal.
type grounder struct {
	left int // values that it may still read
}

// syntax returns a literal that is equal to an evaluated value. It reports false
// if the value leaves something open, so that the schema could still decide it: a
// default, a constraint on fields, or a kind instead of a value. It does not see what
// observesDefaults finds.
func (g *grounder) syntax(v cue.Value) (ast.Expr, bool) {
	if g.left--; g.left < 0 {
		return nil, false
	}
	if _, isDefault := v.Default(); isDefault || v.Err() != nil || !v.IsConcrete() {
		return nil, false
	}
	switch v.IncompleteKind() {
	case cue.StructKind:
		return g.structSyntax(v)
	case cue.ListKind:
		if v.Allows(cue.AnyIndex) {
			return nil, false
		}
		list := &ast.ListLit{}
		for it, err := v.List(); err == nil && it.Next(); {
			x, ok := g.syntax(it.Value())
			if !ok {
				return nil, false
			}
			list.Elts = append(list.Elts, x)
		}
		return list, true
	case cue.StringKind:
		text, err := v.String()
		return ast.NewString(text), err == nil
	case cue.BoolKind:
		truth, err := v.Bool()
		return ast.NewBool(truth), err == nil
	case cue.IntKind, cue.FloatKind, cue.NumberKind:
		return numberSyntax(v)
	}
	return nil, false
}

func (g *grounder) structSyntax(v cue.Value) (ast.Expr, bool) {
	if isClosed(v) {
		return nil, false
	}
	it, err := v.Fields(cue.All(), cue.Patterns(true))
	if err != nil {
		return nil, false
	}
	out := &ast.StructLit{}
	for it.Next() {
		if sel := it.Selector(); !sel.IsString() || isConstraint(sel) {
			return nil, false
		}
		x, ok := g.syntax(it.Value())
		if !ok {
			return nil, false
		}
		label := ast.NewString(it.Selector().Unquoted())
		out.Elts = append(out.Elts, &ast.Field{Label: label, Constraint: token.ILLEGAL, Value: x})
	}
	return out, true
}

func numberSyntax(v cue.Value) (ast.Expr, bool) {
	text, err := v.MarshalJSON()
	if err != nil {
		return nil, false
	}
	kind := token.INT
	if v.Kind() != cue.IntKind {
		kind = token.FLOAT
	}
	digits, negative := strings.CutPrefix(string(text), "-")
	var x ast.Expr = &ast.BasicLit{Kind: kind, Value: digits}
	if negative {
		x = &ast.UnaryExpr{Op: token.SUB, X: x}
	}
	return x, true
}
