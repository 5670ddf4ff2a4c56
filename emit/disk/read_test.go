package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/emit"
)

func mustRead(t *testing.T, dir string, tree emit.Tree) Folder {
	t.Helper()
	folder, err := Read(dir, tree)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, dir, treeOf(t, "a=1", "b/c=2", "edited=3", "gone=4", "late=5", "stale=6", "stale-edited=7"),
		WriteOptions{})
	want := treeOf(t, "a=1", "b/c=2", "edited=3", "foreign=8", "gone=4", "late=new", "obstacle=9")
	putContent(t, dir, "edited", "mine")
	putContent(t, dir, "foreign", "theirs")
	putContent(t, dir, "stale-edited", "mine")
	putContent(t, dir, "obstacle/x", "x")
	putContent(t, dir, "extra", "x")
	if err := os.Remove(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	before := listFolder(t, dir)

	folder := mustRead(t, dir, want)
	checkEqual(t, "differences", []Difference{
		{"edited", Edited}, {"foreign", Foreign}, {"gone", Missing}, {"late", Outdated}, {"obstacle", Obstacle},
		{"stale", Stale}, {"stale-edited", Edited},
	}, folder.Differences)
	var held []string
	for _, f := range folder.Tree {
		held = append(held, f.Path+"="+string(f.Content))
	}
	checkEqual(t, "tree",
		[]string{"a=1", "b/c=2", "edited=mine", "foreign=theirs", "late=5", "stale=6", "stale-edited=mine"}, held)
	checkEqual(t, "folder", before, listFolder(t, dir))
}

func TestReadFresh(t *testing.T) {
	dir := t.TempDir()
	want := treeOf(t, "a=1", "run.sh=2")
	mustWrite(t, dir, want, WriteOptions{})
	folder := mustRead(t, dir, want)
	checkEqual(t, "differences", nil, folder.Differences)
	checkEqual(t, "files", 2, len(folder.Tree))

	// The mode is part of it; the manifest is only where nothing else is.
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o644); err != nil {
		t.Fatal(err)
	}
	checkEqual(t, "with another mode", []Difference{{"run.sh", Outdated}}, mustRead(t, dir, want).Differences)
	mustWrite(t, dir, want, WriteOptions{})
	putContent(t, dir, m, `{"version": 1, "files": {}}`)
	checkEqual(t, "with an empty manifest", []Difference{{m, Outdated}}, mustRead(t, dir, want).Differences)
}

func TestReadUnreadable(t *testing.T) {
	dir := t.TempDir()
	want := treeOf(t, "a=1", "b=2")
	mustWrite(t, dir, want, WriteOptions{})
	putContent(t, dir, m, "{")
	putContent(t, dir, "b", "other")
	checkEqual(t, "with a damaged manifest", []Difference{{m, Damaged}, {"b", Outdated}},
		mustRead(t, dir, want).Differences)

	if _, err := Read(filepath.Join(dir, "nowhere"), want); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "a"), want); !errors.Is(err, ErrNotFolder) {
		t.Errorf("a file: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(dir, emit.OwnDir)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, emit.OwnDir)); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir, want); err == nil {
		t.Error("a manifest behind a link was read")
	}
}

// TestReadLarge: a file that cannot be a generated one is told of, and not read.
func TestReadLarge(t *testing.T) {
	dir := t.TempDir()
	files := treeOf(t, "a=1", "b=2")
	mustWrite(t, dir, files, WriteOptions{})
	putContent(t, dir, "b", strings.Repeat("x", 2<<20))
	got := mustRead(t, dir, files)
	if want := []Difference{{"b", Large}}; !slices.Equal(got.Differences, want) || len(got.Tree) != 1 {
		t.Errorf("%v and %d files, want %v and a", got.Differences, len(got.Tree), want)
	}
}
