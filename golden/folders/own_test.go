package folders_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// ownOverlay has the administrator's own manifests.
const ownOverlay = "golden/testdata/own/own.cue"

// TestOwnManifests checks the folders with manifests of the administrator: the files are as they
// were written, the build applies them last, and nothing else of kubernetes/ changes.
func TestOwnManifests(t *testing.T) {
	for _, blueprint := range []string{"batch-platform", "kai-departments", "existing"} {
		t.Run(blueprint, func(t *testing.T) {
			paths := fixture.BlueprintDirs("blueprints", blueprint)
			plain, own := compile.Folder(t, paths...), compile.Folder(t, append(paths, ownOverlay)...)
			checkFolder(t, fixture.FS(own))
			before := map[string][]byte{}
			for _, f := range plain {
				before[f.Path] = f.Content
			}
			var added, changed []string
			for _, f := range own {
				switch content, known := before[f.Path]; {
				case !known:
					added = append(added, f.Path)
				case !bytes.Equal(content, f.Content):
					changed = append(changed, f.Path)
				}
			}
			wantAdded := []string{
				"kubernetes/own/class.yaml", "kubernetes/own/kustomization.yaml", "kubernetes/own/own/tuning.yaml",
				"kubernetes/own/profiles.yaml",
			}
			wantChanged := []string{
				".batchwright/manifest.json", "README.md", "REFERENCE.md", "cloudbuild/destroy.yaml",
				"cloudbuild/provision.yaml",
			}
			if blueprint == "batch-platform" { // gcluster applies them, too
				wantChanged = append(wantChanged, "kubectl-apply/manifests.tf")
			}
			if !slices.Equal(added, wantAdded) || !slices.Equal(changed, wantChanged) {
				t.Errorf("added %v, changed %v", added, changed)
			}
			if text := readText(t, own, "kubernetes/own/own/tuning.yaml"); !strings.HasPrefix(text, "# Larger") {
				t.Errorf("the manifest is not as it was written:\n%s", text)
			}
			var build struct{ Steps []struct{ ID string } }
			if err := yaml.Unmarshal([]byte(readText(t, own, "cloudbuild/provision.yaml")), &build); err != nil {
				t.Fatal(err)
			}
			if last := build.Steps[len(build.Steps)-1].ID; last != "own-manifests" {
				t.Errorf("the last step is %s", last)
			}
		})
	}
}

// readText returns a file of a folder.
func readText(t *testing.T, tree emit.Tree, name string) string {
	t.Helper()
	return string(fixture.ReadFile(t, fixture.FS(tree), name))
}

// TestOwnManifestsWithGitOps checks that a GitOps tool applies them with a part of its own.
func TestOwnManifestsWithGitOps(t *testing.T) {
	for tool, want := range map[string]string{
		"argocd": "gitops/own.yaml", "flux": "gitops/platform.yaml", "configsync": "gitops/own.yaml",
	} {
		overlay := filepath.Join("golden/testdata/gitops", tool+".cue")
		if tool == "argocd" {
			overlay = argoCDOverlay
		}
		tree := compile.Folder(t, fixture.Path("blueprints/batch-platform"), overlay, ownOverlay)
		checkFolder(t, fixture.FS(tree))
		if text := readText(t, tree, want); !strings.Contains(text, "kubernetes/own\n") {
			t.Errorf("%s: %s does not apply kubernetes/own", tool, want)
		}
		if tool == "argocd" && !strings.Contains(readText(t, tree, "gitops/project.yaml"), "kind: StorageClass") {
			t.Error("the project does not allow the kinds of the manifests")
		}
	}
}

// TestPlatformObjectsAreReserved checks that no manifest of the administrator can have an object
// of the platform: every object of every golden folder is a finding.
func TestPlatformObjectsAreReserved(t *testing.T) {
	for _, blueprint := range fixture.Blueprints(t) {
		t.Run(blueprint, func(t *testing.T) {
			paths := fixture.BlueprintDirs("blueprints", blueprint)
			dir := t.TempDir()
			var manifests strings.Builder
			want := map[string]bool{}
			for _, f := range compile.Folder(t, paths...) {
				top, _, _ := strings.Cut(f.Path, "/")
				if !slices.Contains([]string{"kubernetes", "gitops"}, top) || path.Ext(f.Path) != ".yaml" ||
					path.Base(f.Path) == "kustomization.yaml" {
					continue
				}
				writeBelow(t, dir, f.Path, f.Content)
				fmt.Fprintf(&manifests, "delivery: manifests: %[1]q: _ @embed(file=%[1]q,type=text)\n", f.Path)
				for _, object := range objectNames(t, f.Content) {
					want[object] = true
				}
			}
			writeBelow(t, dir, "own.cue", []byte("@extern(embed)\n\npackage platform\n"+manifests.String()))
			res, err := compiler.Compile(t.Context(), compiler.Input{
				Dir: fixture.Root(), Paths: append(paths, filepath.Join(dir, "own.cue")),
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range res.Findings.Sorted() {
				if f.Code == "E0942" {
					object, _, _ := strings.Cut(f.Message, " belongs to ")
					delete(want, object)
				}
			}
			for object := range want {
				t.Errorf("%s is not reserved", object)
			}
		})
	}
}

// writeBelow writes a file below a directory.
func writeBelow(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// objectNames returns the kinds and names of objects, as findings print them.
func objectNames(t *testing.T, content []byte) (out []string) {
	t.Helper()
	for d := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var o struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := d.Decode(&o); err == io.EOF {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		if o.Kind == "" { // a patch
			continue
		}
		out = append(out, fmt.Sprintf("%s %q", o.Kind, o.Metadata.Name))
	}
}
