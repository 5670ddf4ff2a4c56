// Package compile compiles blueprints for the tests of golden, and holds that they compile.
package compile

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/golden/fixture"
)

// trees holds the folders that were compiled, by what they were compiled from.
var trees sync.Map

// sharedTree is nil until it is compiled.
type sharedTree struct {
	sync.Mutex
	tree emit.Tree
}

// compileOnce returns the tree of a key, which the first call compiles. The callers share the
// content of its files.
func compileOnce(key string, compile func() emit.Tree) emit.Tree {
	entry, _ := trees.LoadOrStore(key, &sharedTree{})
	shared := entry.(*sharedTree)
	shared.Lock()
	defer shared.Unlock()
	if shared.tree == nil {
		shared.tree = compile()
	}
	return slices.Clone(shared.tree)
}

// Reference returns the folder of a blueprint of the repository, compiled with tags. The
// blueprint must have no errors or warnings. It is compiled once for each process.
func Reference(t testing.TB, name string, tags ...string) emit.Tree {
	t.Helper()
	return compileOnce(strings.Join(append(tags, name), " "), func() emit.Tree {
		return compileClean(t, compiler.Input{
			Dir: fixture.Root(), Paths: fixture.BlueprintDirs("blueprints", name), Tags: tags,
		})
	})
}

// Folder compiles a blueprint that must have no errors or warnings. Relative paths are below
// the root of the repository.
func Folder(t testing.TB, paths ...string) emit.Tree {
	t.Helper()
	return compileClean(t, compiler.Input{Dir: fixture.Root(), Paths: paths})
}

// compileClean compiles a blueprint that must have no errors or warnings, except warnings
// with these codes.
func compileClean(t testing.TB, in compiler.Input, except ...string) emit.Tree {
	t.Helper()
	tree, res := Input(t, in)
	for _, f := range res.Findings.Sorted() {
		if f.Severity != diag.Note && !slices.Contains(except, f.Code) {
			t.Errorf("%s[%s]: %s", f.Severity, f.Code, f.Message)
		}
	}
	return tree
}

// Blueprint compiles a blueprint that must have no errors, and returns its folder and the
// other findings. Relative paths are below the root of the repository.
func Blueprint(t testing.TB, paths ...string) (emit.Tree, []diag.Finding) {
	t.Helper()
	tree, res := Input(t, compiler.Input{Dir: fixture.Root(), Paths: paths})
	return tree, res.Findings.Sorted()
}

// Text returns the folder of a blueprint in one text. It must have no errors, and no warnings
// except W0614: to show one thing, a platform need not use all its nodes. It is compiled once
// for each process.
func Text(t testing.TB, blueprint string) emit.Tree {
	t.Helper()
	return compileOnce(blueprint, func() emit.Tree {
		return compileClean(t, compiler.Input{
			Dir: fixture.Root(), Paths: []string{"-"}, Stdin: strings.NewReader(blueprint),
		}, "W0614")
	})
}

// Input compiles a blueprint that must have no errors, and renders its folder.
func Input(t testing.TB, in compiler.Input) (emit.Tree, *compiler.Result) {
	t.Helper()
	res, err := compiler.Compile(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	if res.Plan == nil {
		for _, f := range res.Findings.Sorted() {
			t.Errorf("%s[%s]: %s", f.Severity, f.Code, f.Message)
		}
		t.FailNow()
	}
	tree, err := folder.Build(res.Plan)
	if err != nil {
		t.Fatal(err)
	}
	return tree, res
}
