package plane

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReleases builds the release manifests of Kueue and JobSet from the modules
// that go.sum pins, as their Makefiles do. Their SHA-256 must be the one that the
// builds demand of their downloads.
func TestReleases(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	programs, err := build(t.Context(), root, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(programs.close)
	build, err := os.ReadFile(filepath.Join(root, "../../golden/batch-platform/cloudbuild/provision.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []controller{kueue, jobset} {
		t.Run(c.name, func(t *testing.T) {
			module, err := source(t.Context(), root, c.module)
			if err != nil {
				t.Fatal(err)
			}
			config := filepath.Join(t.TempDir(), "config")
			if err := os.CopyFS(config, os.DirFS(filepath.Join(module, "config"))); err != nil {
				t.Fatal(err)
			}
			// The target artifacts sets the image of the release.
			_, version, _ := strings.Cut(filepath.Base(module), "@")
			name := filepath.Join(config, "components/manager/kustomization.yaml")
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			image := fmt.Sprintf("newName: registry.k8s.io/%[1]s/%[1]s\n  newTag: %[2]s", c.name, version)
			text = regexp.MustCompile(`newName: .*\n +newTag: .*`).ReplaceAll(text, []byte(image))
			if err := os.WriteFile(name, text, 0o666); err != nil {
				t.Fatal(err)
			}
			manifest, err := exec.CommandContext(t.Context(), filepath.Join(programs.bin(), "kubectl"),
				"kustomize", filepath.Join(config, "default")).Output()
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("MANIFEST_SHA256=%x\n", sha256.Sum256(manifest))
			address := fmt.Sprintf("/%s/releases/download/%s/manifests.yaml\n", c.name, version)
			_, after, found := strings.Cut(string(build), address)
			if line, _, _ := strings.Cut(strings.TrimLeft(after, " -"), "\n"); !found || line+"\n" != want {
				t.Errorf("after %q stands %q, want %q", address, line, want)
			}
		})
	}
}
