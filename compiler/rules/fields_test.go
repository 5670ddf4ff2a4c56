package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestPatterns checks that every pattern of fields in the rules leads to fields of the schema:
// a case of a rule need not have an entity for each of them.
func TestPatterns(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile(`^[a-z]\w*(\.(\w+|\*|\[\]))*\.(\*|\[\])(\.(\w+|\*|\[\]))*$`)
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			for p := range strings.FieldsSeq(text) {
				if pattern.MatchString(p) {
					found++
					if file == "rehearsals.go" && p != "rehearsals.*" { // has patterns below a rehearsal
						p = "rehearsals.*." + strings.TrimPrefix(p, "rehearsals.*.")
					}
					func() {
						defer func() {
							if problem := recover(); problem != nil {
								t.Errorf("%s: %s: %v", file, p, problem)
							}
						}()
						typeAt(p)
					}()
				}
			}
			return true
		})
	}
	if found < 50 {
		t.Errorf("%d patterns are found, want at least 50: do the rules still have them as texts?", found)
	}
}
