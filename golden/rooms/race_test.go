package rooms_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/golden/fixture"
)

// TestConcurrentPackages checks that the race detector of the Makefile runs over every
// package that starts a goroutine, or that shares values by sync.
func TestConcurrentPackages(t *testing.T) {
	makefile := strings.ReplaceAll(fixture.ReadText(t, fixture.Path("Makefile")), "\\\n", "")
	list := regexp.MustCompile(`(?m)^CONCURRENT = (.*)$`).FindStringSubmatch(makefile)
	if list == nil {
		t.Fatal("the Makefile has no CONCURRENT")
	}
	listed := func(dir string) bool {
		return slices.ContainsFunc(strings.Fields(list[1]), func(pattern string) bool {
			below, all := strings.CutSuffix(strings.TrimPrefix(pattern, "./"), "/...")
			return dir == below || all && strings.HasPrefix(dir, below+"/")
		})
	}
	concurrent := map[string]string{}
	for _, name := range sourceFiles(t) {
		file, err := parser.ParseFile(token.NewFileSet(), fixture.Path(name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				concurrent[path.Dir(name)] = name
			case *ast.ImportSpec:
				if slices.Contains([]string{`"sync"`, `"sync/atomic"`, `"golang.org/x/sync/errgroup"`}, n.Path.Value) {
					concurrent[path.Dir(name)] = name
				}
			}
			return true
		})
	}
	if len(concurrent) < 5 {
		t.Errorf("only %d packages are concurrent", len(concurrent))
	}
	for _, dir := range slices.Sorted(maps.Keys(concurrent)) {
		if !listed(dir) {
			t.Errorf("%s is concurrent, and its package is not in CONCURRENT of the Makefile", concurrent[dir])
		}
	}
}
