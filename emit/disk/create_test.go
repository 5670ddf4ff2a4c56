package disk

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/batchwright/batchwright/emit"
)

// newTree makes a tree of paths and contents, without a manifest.
func newTree(pairs ...string) emit.Tree {
	var out emit.Tree
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, emit.File{Path: pairs[i], Content: []byte(pairs[i+1])})
	}
	return out
}

func TestCreate(t *testing.T) {
	tests := []struct {
		name      string
		there     []string // paths and contents
		report    Report
		want      []string // what listFolder returns after it
		wantError error
	}{
		{
			name:   "nothing is there",
			report: Report{Written: []string{"a", "own/new", "x/b"}},
			want:   []string{"a=A", "own/", "own/new=N", "x/", "x/b=B"},
		}, {
			name:  "what is right stays, own files are replaced and removed, others are left alone",
			there: []string{"a", "A", "own/new", "older", "own/stale", "", "own/below/kept", "", "x/other", ""},
			report: Report{
				Written: []string{"own/new", "x/b"}, Unchanged: []string{"a"}, Removed: []string{"own/stale"},
			},
			want: []string{"a=A", "own/", "own/below/", "own/below/kept=", "own/new=N", "x/", "x/b=B", "x/other="},
		}, {
			name:  "all that is in the way",
			there: []string{"a", "mine", "x", "a file", "own/stale", ""},
			report: Report{Written: []string{"own/new"}, Removed: []string{"own/stale"},
				Conflicts: []Conflict{{"a", Foreign}, {"x/b", Obstacle}}},
			want:      []string{"a=mine", "own/", "own/stale=", "x=a file"},
			wantError: ErrConflict,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "made")
			for i := 0; i < len(test.there); i += 2 {
				putContent(t, dir, test.there[i], test.there[i+1])
			}
			report, err := Create(dir, newTree("a", "A", "own/new", "N", "x/b", "B"), "own")
			if !errors.Is(err, test.wantError) {
				t.Fatal(err)
			}
			checkEqual(t, "report", test.report, report)
			checkEqual(t, "files", test.want, listFolder(t, dir))
			if test.wantError != nil {
				return
			}
			again, err := Create(dir, newTree("a", "A", "own/new", "N", "x/b", "B"), "own")
			if err != nil || again.Changed() {
				t.Errorf("again: %v, %v", again, err)
			}
		})
	}
}

// TestCreateRollsBack lets each rename fail in turn: the directory is then as it
// was, and gone where it was not there.
func TestCreateRollsBack(t *testing.T) {
	for _, fresh := range []bool{true, false} {
		failures := 0
		for n := 1; ; n++ {
			dir := filepath.Join(t.TempDir(), "made")
			var before []string
			if !fresh {
				putContent(t, dir, "own/new", "older")
				putContent(t, dir, "own/stale", "s")
				before = listFolder(t, dir)
			}
			calls := 0
			rename := func(root *os.Root, from, to string) error {
				if calls++; calls == n {
					return errors.New("no rename")
				}
				return root.Rename(from, to)
			}
			failing := osDisk()
			failing.rename = rename
			_, err := layTree(dir, newTree("a", "A", "own/new", "N", "x/b", "B"), "own", failing)
			if err == nil {
				break
			}
			failures++
			if fresh {
				if _, err := os.Stat(dir); !os.IsNotExist(err) {
					t.Errorf("rename %d: the directory is still there: %v", n, err)
				}
				continue
			}
			checkEqual(t, "files", before, listFolder(t, dir))
		}
		if failures < 3 {
			t.Errorf("only %d renames failed", failures)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "x")); err != nil {
		t.Skip(err)
	}
	report, err := Create(dir, newTree("x/b", "B"), "")
	if !errors.Is(err, ErrConflict) || !slices.Equal(report.Conflicts, []Conflict{{"x/b", Linked}}) {
		t.Errorf("through a link: %v, %v", report, err)
	}
	if _, err := Create(dir, newTree("../b", "B"), ""); err == nil {
		t.Error("a path leads out")
	}
}
