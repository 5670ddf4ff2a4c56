package compiler

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnsavedFiles compiles a package of which one file differs from the disk, one
// exists only in the editor, and one is imported.
func TestUnsavedFiles(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"cue.mod/module.cue": "module: \"example.com/platform@v0\"\nlanguage: version: \"v0.17.0\"\n",
		"platform.cue":       "package platform\n\nname: 1\n",
		"shared/shared.cue":  "package shared\n\nregion: 1\n",
	}
	for name, content := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	unsaved := map[string][]byte{
		filepath.Join(dir, "platform.cue"): []byte(`package platform

import "example.com/platform/shared"

name:    "small"
project: "my-project"
region:  shared.region
zones: ["us-central1-a"]
`),
		filepath.Join(dir, "more.cue"): []byte(`package platform

hardware: l4: machine: "g2-standard-24"
capacity: "l4-spot": {hardware: "l4", consumption: spot: {}, maxNodes: 4}
tiers: batch: {priority: 10, default: true, capacity: ["l4-spot"]}
teams: vision: quota: batch: "l4-spot": accelerators: 8
`),
		filepath.Join(dir, "shared", "shared.cue"): []byte("package shared\n\nregion: \"us-central1\"\n"),
	}
	res, err := Compile(t.Context(), Input{Dir: dir, Unsaved: unsaved})
	if err != nil {
		t.Fatal(err)
	}
	if res.Plan == nil || res.Findings.Len() > 0 {
		t.Fatalf("unsaved files: %+v", res.Findings.Sorted())
	}
	more := filepath.Join(dir, "more.cue")
	unsaved[more] = []byte(strings.Replace(string(unsaved[more]), `"l4"`, `"l40"`, 1))
	if res, err = Compile(t.Context(), Input{Dir: dir, Unsaved: unsaved}); err != nil {
		t.Fatal(err)
	}
	if found := res.Findings.Sorted(); len(found) != 1 || found[0].Span.String() != "more.cue:4:33" {
		t.Errorf("a mistake in an unsaved file: %+v", found)
	}
	if res, err = Compile(t.Context(), Input{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if res.Plan != nil {
		t.Error("without the unsaved files, the files on the disk compile")
	}
}
