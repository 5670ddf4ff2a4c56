package gitops_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

// sums are the checksums of the modules whose files the tests read, as in a go.sum. The
// tests use no code of these modules, so go.mod does not list them: it would also list
// everything that they import.
var sums = map[string]string{
	"github.com/argoproj/argo-cd/v3@v3.5.7":         "h1:Xm1BF+I5OgDKUG3SDK49vn2/Y5AMyaNVko+/JT08gj0=",
	"github.com/fluxcd/kustomize-controller@v1.9.6": "h1:XB+G3A0mky0j5uVHZWv4oSlS2RvZBoNIUhstIvY0JKE=",
	"github.com/fluxcd/source-controller@v1.9.6":    "h1:nG534/bI6nVpyHra7ONAk6xDB3xPsVT+EOLHZHXPrrc=",
	"sigs.k8s.io/jobset@v0.12.0":                    "h1:YYPuV0px8Ongq/RXmJg6V0w2UC67aiR+rCMD06vhQQQ=",
	"sigs.k8s.io/kueue@v0.19.2":                     "h1:mPNzr37u0nwI7ikST5QQl5gg6EgtYOAvC9ZbTgywdN8=",
}

// moduleDir returns the directory of a module's files.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	c.Dir, c.Stderr = t.TempDir(), os.Stderr
	out, err := c.Output()
	var found struct{ Dir, Sum, Error string }
	if json.Unmarshal(out, &found) != nil || err != nil || found.Error != "" {
		t.Fatalf("%s: %v %s", module, err, found.Error)
	}
	if found.Sum != sums[module] {
		t.Fatalf("%s has the checksum %q, want %q", module, found.Sum, sums[module])
	}
	return found.Dir
}

// readFile decodes a YAML file of a module.
func readFile(t *testing.T, dir, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
