package objects_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/emit"
)

// goldens returns the golden folders by name.
func goldens(t testing.TB) map[string]emit.Tree {
	t.Helper()
	dirs, err := filepath.Glob("../../golden/*/.batchwright")
	if err != nil || len(dirs) == 0 {
		t.Fatal(err, "no golden folders")
	}
	out := map[string]emit.Tree{}
	for _, d := range dirs {
		root := filepath.Dir(d)
		var tree emit.Tree
		err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			content, err := os.ReadFile(filepath.Join(root, p))
			info, _ := d.Info()
			tree = append(tree, emit.File{Path: p, Content: content, Mode: info.Mode().Perm()})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(tree, func(a, b emit.File) int { return strings.Compare(a.Path, b.Path) })
		out[filepath.Base(root)] = tree
	}
	return out
}
