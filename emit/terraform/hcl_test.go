package terraform

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// TestSources holds that the HCL source in this package parses, and that source on one
// line is formatted, in branches too that no plan of the tests reaches.
func TestSources(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set, checked := token.NewFileSet(), 0
	for _, name := range files {
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || strings.HasSuffix(name, "_test.go") {
				return true
			}
			called := ""
			switch f := call.Fun.(type) {
			case *ast.Ident:
				called = f.Name
			case *ast.SelectorExpr:
				called = f.Sel.Name
			}
			if called != "setExpr" && called != "sourceTokens" {
				return true
			}
			checked++
			argument := call.Args[len(call.Args)-1]
			source := hclSource(t, argument, "x")
			_, diags := hclsyntax.ParseExpression([]byte(source), "", hcl.InitialPos)
			if diags.HasErrors() { // a part can be a clause that may be missing
				source = hclSource(t, argument, "")
				_, diags = hclsyntax.ParseExpression([]byte(source), "", hcl.InitialPos)
			}
			if diags.HasErrors() {
				t.Errorf("%s: %s: %v", set.Position(call.Pos()), source, diags)
			}
			if line := "x = " + source; !strings.Contains(line, "\n") && string(hclwrite.Format([]byte(line))) != line {
				t.Errorf("%s: %s is not formatted", set.Position(call.Pos()), source)
			}
			return true
		})
	}
	if checked < 100 {
		t.Errorf("only %d calls have HCL source", checked)
	}
}

// hclSource returns the HCL source that a Go expression makes, with other for each part
// that is not a literal.
func hclSource(t *testing.T, e ast.Expr, other string) string {
	t.Helper()
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if err != nil {
			t.Fatal(err)
		}
		return text
	case *ast.BinaryExpr:
		return hclSource(t, e.X, other) + hclSource(t, e.Y, other)
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.Ident); ok && f.Name == "constant" {
			return hclSource(t, e.Args[0], other)
		}
	}
	return other
}
