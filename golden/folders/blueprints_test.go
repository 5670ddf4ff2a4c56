package folders_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/disk"
	"github.com/batchwright/batchwright/golden/check"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// TestBlueprints compiles every blueprint, runs all checks on its folder, and
// compares the folder with the golden one.
func TestBlueprints(t *testing.T) {
	for _, name := range fixture.Blueprints(t) {
		t.Run(name, func(t *testing.T) {
			tree := compile.Reference(t, name)
			files := fixture.FS(tree)
			checkFolder(t, files)
			if fixture.Updating() && !t.Failed() {
				runConformance(t, tree)
			}
			if t.Failed() {
				return
			}
			var originals []fixture.Original
			for _, original := range fixture.Originals(name) {
				originals = append(originals, fixture.Original{
					Folder: fixture.Path("golden", original), Tree: compile.Reference(t, original),
				})
			}
			fixture.CompareVariant(t, fixture.Path("golden", name), tree, originals...)
		})
	}
}

// checkFolder runs all checks of this module on a folder.
func checkFolder(t *testing.T, files fs.FS) {
	t.Helper()
	for _, err := range check.Folder(files) {
		t.Error(err)
	}
}

// TestEveryGoldenHasAProducer fails for folders whose blueprint no longer exists.
func TestEveryGoldenHasAProducer(t *testing.T) {
	folders, err := filepath.Glob(fixture.Path("golden/*/README.md"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no folders: %v", err)
	}
	for _, readme := range folders {
		if name := filepath.Base(filepath.Dir(readme)); !slices.Contains(fixture.Blueprints(t), name) {
			t.Errorf("golden/%s has no blueprint", name)
		}
	}
}

// TestDeterminism checks that a blueprint gives the same bytes in another directory,
// with its files in another order, and in another time zone and locale.
func TestDeterminism(t *testing.T) {
	for _, name := range fixture.Blueprints(t) {
		here := fixture.BlueprintDirs(fixture.Path("blueprints"), name)
		want := compile.Reference(t, name)
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "another place")
			var files []string
			for i, there := range fixture.BlueprintDirs(dir, name) {
				if err := os.CopyFS(there, os.DirFS(here[i])); err != nil {
					t.Fatal(err)
				}
				found, err := filepath.Glob(filepath.Join(there, "*.cue"))
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, found...)
			}
			t.Setenv("TZ", "Pacific/Apia")
			t.Setenv("LANG", "tr_TR.UTF-8")
			t.Setenv("LC_ALL", "tr_TR.UTF-8")
			slices.Reverse(files)
			got := compile.Folder(t, files...)
			compareFolders(t, want, got)
		})
	}
}

// TestFromFileSystem checks that a blueprint compiled from a file system gives the
// same folder as from the disk.
func TestFromFileSystem(t *testing.T) {
	for _, name := range fixture.Blueprints(t) {
		t.Run(name, func(t *testing.T) {
			paths := fixture.BlueprintDirs("blueprints", name)
			want, wantFindings := compile.Blueprint(t, paths...)
			got, res := compile.Input(t, compiler.Input{Files: os.DirFS(fixture.Root()), Paths: paths})
			compareFolders(t, want, got)
			describe := func(findings []diag.Finding) (out []string) {
				for _, f := range findings {
					out = append(out, fmt.Sprintf("%s:%d-%d: %s: %s", f.Span.Source.Name, f.Span.Start, f.Span.End,
						f.Code, f.Message))
				}
				return out
			}
			if d := cmp.Diff(describe(wantFindings), describe(res.Findings.Sorted())); d != "" {
				t.Errorf("the findings differ:\n%s", d)
			}
		})
	}
}

// compareFolders checks that two compilations gave the same folder, byte for byte.
func compareFolders(t *testing.T, want, got emit.Tree) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d files, want %d", len(got), len(want))
	}
	for i, f := range got {
		if f.Path != want[i].Path || f.Mode != want[i].Mode || !bytes.Equal(f.Content, want[i].Content) {
			t.Fatalf("%s differs from %s:\n%s", f.Path, want[i].Path,
				cmp.Diff(string(want[i].Content), string(f.Content)))
		}
	}
}

// runConformance runs the checks whose libraries are too heavy for this module. The
// conformance module's own test also runs them on the goldens.
func runConformance(t *testing.T, tree emit.Tree) {
	t.Helper()
	dir := t.TempDir()
	if _, err := disk.Write(dir, tree, disk.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "./cmd/check", dir)
	cmd.Dir = fixture.Path("conformance")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("conformance: %v\n%s", err, out)
	}
}
