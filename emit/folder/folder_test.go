package folder

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
)

func fakeEmitter(name string, paths ...string) emitter {
	return emitter{name, func(*ir.Platform) ([]emit.File, error) {
		var files []emit.File
		for _, p := range paths {
			files = append(files, emit.File{Path: p, Content: []byte(name)})
		}
		return files, nil
	}}
}

// TestUnknownScheduler checks that a plan with an unknown scheduler gives an error,
// and no folder.
func TestUnknownScheduler(t *testing.T) {
	for _, scheduler := range []ir.Scheduler{"", "slurm"} {
		tree, err := Build(&ir.Platform{Name: "p", Scheduler: scheduler})
		if tree != nil || err == nil || err.Error() != fmt.Sprintf("unknown scheduler %q", scheduler) {
			t.Errorf("scheduler %q: %d files, error %v", scheduler, len(tree), err)
		}
	}
}

func TestBuild(t *testing.T) {
	tree, err := runEmitters(nil, []emitter{fakeEmitter("x", "c", "a/b"), fakeEmitter("y", "b"), fakeEmitter("none")})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range tree {
		paths = append(paths, f.Path)
	}
	if diff := cmp.Diff([]string{emit.ManifestPath, "a/b", "b", "c"}, paths); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestOwns(t *testing.T) {
	for _, path := range []string{"README.md", "terraform/main.tf", "kubernetes/teams/a.yaml", emit.ManifestPath} {
		if !Owns(path) {
			t.Errorf("does not own %s", path)
		}
	}
	for _, path := range []string{
		".git/config", ".GIT/config", "terraform/.git/config", "terraform/.terraform/x", "src/main.go", "readme.md",
		".bashrc",
	} {
		if Owns(path) {
			t.Errorf("owns %s", path)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	tests := map[string][]emitter{
		"a path twice":               {fakeEmitter("x", "a"), fakeEmitter("y", "a")},
		"a file that is a directory": {fakeEmitter("x", "a"), fakeEmitter("y", "a/b")},
		"a path out of the folder":   {fakeEmitter("x", "../a")},
		"an absolute path":           {fakeEmitter("x", "/a")},
		"a manifest of their own":    {fakeEmitter("x", emit.ManifestPath)},
		"a failure": {
			fakeEmitter("x", "a"), {"y", func(*ir.Platform) ([]emit.File, error) { return nil, errors.New("y") }},
		},
	}
	for name, emitters := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := runEmitters(nil, emitters); err == nil {
				t.Error("built")
			}
		})
	}
}
