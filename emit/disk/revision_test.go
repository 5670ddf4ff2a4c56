package disk

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/batchwright/batchwright/emit"
)

// TestReadRevision checks how a folder that version control keeps differs from a tree: what a
// person has done, and what the tree has changed since.
func TestReadRevision(t *testing.T) {
	written := treeOf(t, "same=1", "edited=2", "gone=3", "late=4", "stale=5", "stale-edited=6", "dir=7")
	manifest, err := Manifest(written)
	if err != nil {
		t.Fatal(err)
	}
	folder := fstest.MapFS{emit.ManifestPath: {Data: manifest.Content}}
	for _, f := range []string{
		"same=1", "edited=mine", "late=4", "stale=5", "stale-edited=mine", "foreign=theirs", "mine=x", "dir/x=x",
	} {
		name, content, _ := strings.Cut(f, "=")
		folder[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
	}
	now := treeOf(t, "same=1", "edited=2", "gone=3", "late=new", "foreign=8", "next=9", "dir=7")
	got, err := ReadRevision(folder, now)
	if err != nil {
		t.Fatal(err)
	}
	checkEqual(t, "differences", []Difference{
		{"dir", Missing}, {"edited", Edited}, {"foreign", Foreign}, {"gone", Missing}, {"late", Outdated},
		{"next", Outdated}, {"stale", Stale}, {"stale-edited", Edited},
	}, got.Differences)
	var held []string
	for _, f := range got.Tree {
		held = append(held, f.Path+"="+string(f.Content))
	}
	checkEqual(t, "tree",
		[]string{"edited=mine", "foreign=theirs", "late=4", "same=1", "stale=5", "stale-edited=mine"}, held)

	if _, err := ReadRevision(fstest.MapFS{}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a manifest: %v", err)
	}
	folder[emit.ManifestPath] = &fstest.MapFile{Data: []byte(`{"version": 2}`)}
	if _, err := ReadRevision(folder, nil); err == nil || !strings.Contains(err.Error(), "version 2 of the manifest") {
		t.Errorf("a manifest of a later version: %v", err)
	}
}
