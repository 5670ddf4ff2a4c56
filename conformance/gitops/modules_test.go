package gitops_test

import (
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/conformance/gitops"
)

// moduleDir returns the directory of a module's files.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	dir, err := gitops.ModuleDir(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	return dir
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
