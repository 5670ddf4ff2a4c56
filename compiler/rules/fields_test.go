package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/schema"
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
					followPattern(t, file, p)
				}
			}
			return true
		})
	}
	if found < 50 {
		t.Errorf("%d patterns are found, want at least 50: do the rules still have them as texts?", found)
	}
}

// followPattern follows a pattern through the types of the schema.
func followPattern(t *testing.T, file, pattern string) {
	t.Helper()
	at := reflect.TypeFor[schema.Blueprint]()
	for step := range strings.SplitSeq(pattern, ".") {
		if at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
		switch {
		case step == "*" && at.Kind() == reflect.Map, step == "[]" && at.Kind() == reflect.Slice:
			at = at.Elem()
		case at.Kind() != reflect.Struct:
			t.Errorf("%s: %s: a %s has no %s", file, pattern, at, step)
			return
		default:
			i := 0
			for i < at.NumField() && at.Field(i).Tag.Get("json") != step {
				i++
			}
			if i == at.NumField() {
				t.Errorf("%s: %s: a %s has no field %s", file, pattern, at, step)
				return
			}
			at = at.Field(i).Type
		}
	}
}
