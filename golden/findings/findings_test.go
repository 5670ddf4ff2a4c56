package findings

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/rules"
	"github.com/batchwright/batchwright/golden/fixture"
	"github.com/batchwright/batchwright/schema"
)

// packages are the packages whose source files are families.
var packages = []string{"compiler/rules", "compiler/blueprint", "compiler/blueprint/load"}

// TestFamiliesAreRun checks that each family is a source file of one package, and that the
// tests of this package run it.
func TestFamiliesAreRun(t *testing.T) {
	for _, family := range Families(t) {
		var runs []string
		for _, p := range packages {
			_, err := os.Stat(fixture.Path(p, family+".go"))
			if err == nil && strings.Contains(fixture.ReadText(t, fixture.Path(p, "findings_test.go")),
				strconv.Quote(family)) {
				runs = append(runs, p)
			}
		}
		if len(runs) != 1 {
			t.Errorf("family %s is run by %q", family, runs)
		}
	}
}

// TestCasesLieWithTheirCode checks that each case is in the family of its code.
func TestCasesLieWithTheirCode(t *testing.T) {
	familyOf := ruleFamilies(t)
	for _, code := range load.Codes() {
		familyOf[code.ID] = "load"
	}
	for family, codes := range map[string][]string{
		"grammar":    {"E0101", "E0102", "E0103", "E0104", "E0105"},
		"indefinite": {"E0106"},
		"evaluate":   {"E0107"},
		"forms":      {"W0117", "W0118"},
	} {
		for _, code := range codes {
			familyOf[code] = family
		}
	}
	for _, c := range Cases(t, Families(t)...) {
		if want := familyOf[c.Code]; c.Code != "none" && c.Family != want {
			t.Errorf("%s is in %s, and %s belongs to family %q", c.Name, c.Family, c.Code, want)
		}
	}
}

// ruleFamilies returns the family of each rule's code: the source file with the rule's row.
func ruleFamilies(t *testing.T) map[string]string {
	t.Helper()
	sources, err := filepath.Glob(fixture.Path("compiler/rules/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		family := strings.TrimSuffix(filepath.Base(name), ".go")
		ast.Inspect(file, func(n ast.Node) bool {
			var value ast.Expr
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "code" {
					value = n.Value
				}
			case *ast.CallExpr:
				if call, ok := n.Fun.(*ast.Ident); ok && call.Name == "rule" {
					value = n.Args[0]
				}
			}
			if code, ok := codeOf(value); ok {
				out[code] = family
			}
			return true
		})
	}
	for _, r := range rules.All() {
		if out[r.Code] == "" {
			t.Errorf("no file of compiler/rules has a row for %s", r.Code)
		}
	}
	return out
}

// codeOf returns the code that a row of a rule gives: a literal, or the one code that the
// schema knows by name.
func codeOf(value ast.Expr) (string, bool) {
	switch v := value.(type) {
	case *ast.BasicLit:
		code, err := strconv.Unquote(v.Value)
		return code, err == nil
	case *ast.SelectorExpr:
		return schema.Overcommitted, v.Sel.Name == "Overcommitted"
	}
	return "", false
}

// TestEveryRuleHasACase checks that every rule has a case. Without a case, nobody has seen the
// rule work.
func TestEveryRuleHasACase(t *testing.T) {
	covered := map[string]bool{}
	for _, c := range Cases(t, Families(t)...) {
		covered[c.Code] = true
	}
	seen := map[string]bool{}
	for _, r := range rules.All() {
		if !covered[r.Code] {
			t.Errorf("no case in golden/findings for %s: %s", r.Code, r.Title)
		}
		if seen[r.Code] {
			t.Errorf("two rules have the code %s", r.Code)
		}
		seen[r.Code] = true
	}
}

// TestNamesOfCases checks that no two families have a case of the same name.
func TestNamesOfCases(t *testing.T) {
	families := map[string]string{}
	for _, c := range Cases(t, Families(t)...) {
		if other := families[c.Name]; other != "" {
			t.Errorf("%s is in %s and in %s", c.Name, other, c.Family)
		}
		families[c.Name] = c.Family
	}
}

// TestEditsAreTried checks that an edit which leaves its finding, or breaks the file, is a
// mistake, and that the file is then as before.
func TestEditsAreTried(t *testing.T) {
	if testing.Short() {
		t.Skip("with -short, edits are not tried")
	}
	cases := Cases(t, "grammar")
	c := cases[slices.IndexFunc(cases, func(c *Case) bool { return c.Name == "address-without-range" })]
	in := c.Lay(t)
	find := func() []diag.Finding { return compile(t, in).Findings.Sorted() }
	edit := find()[0].Edits[0]
	for text, want := range map[string]string{edit.Text: "", `"203.0.113.7"`: "E0103", "{": "E0003"} {
		all := find()
		all[0].Edits = []diag.Edit{{Span: edit.Span, Text: text}}
		_, mistakes := applyEdits(t, in, all)
		if got := fmt.Sprint(mistakes); (len(mistakes) == 0) != (want == "") || !strings.Contains(got, want) {
			t.Errorf("edit %q: %s, want %q", text, got, want)
		}
	}
}
