package golden_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/folder"
)

// TestBlueprints compiles every blueprint, runs all checks on its folder, and
// compares the folder with the golden one.
func TestBlueprints(t *testing.T) {
	for _, name := range blueprintNames(t) {
		t.Run(name, func(t *testing.T) {
			tree := compileFolder(t, blueprintDirs(filepath.Join(root, "blueprints"), name)...)
			files := treeFS(tree)
			checkFolder(t, files)
			if *update && !t.Failed() {
				runConformance(t, tree)
			}
			if t.Failed() {
				return
			}
			compareTree(t, name, tree)
		})
	}
}

// checkFolder runs all checks of this module on a folder.
func checkFolder(t *testing.T, files fs.FS) {
	t.Helper()
	for _, err := range slices.Concat(checkTerraform(files), checkKubernetes(files), checkNodes(files),
		checkPools(files), checkNetworks(files), checkGhpc(files), checkGuide(files)) {
		t.Error(err)
	}
}

// TestEveryGoldenHasAProducer fails for folders whose blueprint no longer exists.
func TestEveryGoldenHasAProducer(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	producers := append(blueprintNames(t), "cli", "diag", "review", "scale", "testdata")
	for _, e := range entries {
		if e.IsDir() && !slices.Contains(producers, e.Name()) {
			t.Errorf("golden/%s has no blueprint", e.Name())
		}
	}
}

// TestDeterminism checks that a blueprint gives the same bytes in another directory,
// with its files in another order, and in another time zone and locale.
func TestDeterminism(t *testing.T) {
	for _, name := range blueprintNames(t) {
		here := blueprintDirs(filepath.Join(root, "blueprints"), name)
		want := compileFolder(t, here...)
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "another place")
			var files []string
			for i, there := range blueprintDirs(dir, name) {
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
			got := compileFolder(t, files...)
			if len(got) != len(want) {
				t.Fatalf("%d files, want %d", len(got), len(want))
			}
			for i, f := range got {
				if f.Path != want[i].Path || f.Mode != want[i].Mode || !bytes.Equal(f.Content, want[i].Content) {
					t.Fatalf("%s differs:\n%s", f.Path, diffTexts(string(want[i].Content), string(f.Content)))
				}
			}
		})
	}
}

// TestFromFileSystem checks that a blueprint compiled from a file system gives the
// same folder as from the disk.
func TestFromFileSystem(t *testing.T) {
	for _, name := range blueprintNames(t) {
		t.Run(name, func(t *testing.T) {
			want, wantFindings := compileBlueprint(t, blueprintDirs(filepath.Join(root, "blueprints"), name)...)
			got, gotFindings := compileInput(t,
				compiler.Input{Files: os.DirFS(root), Paths: blueprintDirs("blueprints", name)})
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("the folders differ:\n%s", d)
			}
			describe := func(findings []diag.Finding) (out []string) {
				for _, f := range findings {
					file := strings.TrimPrefix(f.Span.Source.Name, root+"/")
					out = append(out,
						fmt.Sprintf("%s:%d-%d: %s: %s", file, f.Span.Start, f.Span.End, f.Code, f.Message))
				}
				return out
			}
			if d := cmp.Diff(describe(wantFindings), describe(gotFindings)); d != "" {
				t.Errorf("the findings differ:\n%s", d)
			}
		})
	}
}

// blueprintNames returns the names of the repository's blueprints.
func blueprintNames(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, "blueprints"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// bases maps each overlay to the blueprints that it is laid over.
var bases = map[string][]string{
	"batch-platform-argocd": {"batch-platform"},
	"batch-platform-dws":    {"batch-platform"},
}

// blueprintDirs returns the directories, below folder, from which a blueprint is
// compiled: those of the blueprints that it is laid over, and its own.
func blueprintDirs(folder, name string) []string {
	var out []string
	for _, n := range append(slices.Clone(bases[name]), name) {
		out = append(out, filepath.Join(folder, n))
	}
	return out
}

// compileFolder compiles a blueprint that must have no errors or warnings.
func compileFolder(t *testing.T, paths ...string) emit.Tree {
	t.Helper()
	tree, findings := compileBlueprint(t, paths...)
	for _, f := range findings {
		if f.Severity != diag.Note {
			t.Errorf("%s[%s]: %s", f.Severity, f.Code, f.Message)
		}
	}
	return tree
}

// compileBlueprint compiles a blueprint that must have no errors.
func compileBlueprint(t *testing.T, paths ...string) (emit.Tree, []diag.Finding) {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return compileInput(t, compiler.Input{Dir: dir, Paths: paths})
}

func compileInput(t *testing.T, in compiler.Input) (emit.Tree, []diag.Finding) {
	t.Helper()
	tree, res := compileResult(t, in)
	return tree, res.Findings.Sorted()
}

// compileResult compiles a blueprint that must have no errors, and renders its
// folder.
func compileResult(t *testing.T, in compiler.Input) (emit.Tree, *compiler.Result) {
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

func treeFS(tree emit.Tree) fs.FS {
	files := fstest.MapFS{}
	for _, f := range tree {
		files[f.Path] = &fstest.MapFile{Data: f.Content, Mode: f.Mode}
	}
	return files
}

// runConformance runs the checks whose libraries are too heavy for this module. The
// conformance module's own test also runs them on the goldens.
func runConformance(t *testing.T, tree emit.Tree) {
	t.Helper()
	dir := t.TempDir()
	if _, err := emit.Write(dir, tree, emit.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "./cmd/check", dir)
	cmd.Dir = filepath.Join(root, "conformance")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("conformance: %v\n%s", err, out)
	}
}

// compareTree compares a folder with its golden folder, or replaces the golden
// folder with -update.
func compareTree(t *testing.T, golden string, tree emit.Tree) {
	t.Helper()
	stale := map[string]bool{}
	err := filepath.WalkDir(golden, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			stale[path] = true
		}
		return err
	})
	if err != nil && !*update {
		t.Fatal(err)
	}
	for _, f := range tree {
		name := filepath.Join(golden, filepath.FromSlash(f.Path))
		compareFile(t, name, f.Content)
		delete(stale, name)
		mode := f.Mode
		if mode == 0 {
			mode = 0o644
		}
		if info, err := os.Stat(name); *update && err == nil {
			err = os.Chmod(name, mode)
			if err != nil {
				t.Fatal(err)
			}
		} else if err == nil && info.Mode().Perm()&0o100 != mode&0o100 {
			t.Errorf("%s: mode %v, want %v", name, info.Mode().Perm(), mode)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(stale)) {
		if !*update {
			t.Errorf("%s is not generated any more; run with -update", name)
			continue
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		for dir := filepath.Dir(name); strings.HasPrefix(dir, golden); dir = filepath.Dir(dir) {
			if os.Remove(dir) != nil {
				break // not empty
			}
		}
	}
}
