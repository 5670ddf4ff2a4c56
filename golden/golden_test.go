// Package golden holds the expected output of batchwright, and the tests that show
// why it is right.
//
// golden/<blueprint> is the deploy folder of blueprints/<blueprint>, including the
// blueprints that an overlay is laid over. No output is blessed just because the
// compiler prints it: before a folder is compared or updated, it is checked against
// the parsers, schemas and API types of the tools that will read it.
//
// To update: go test ./golden -update
package golden_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the goldens anew")

// root is the path of the repository.
const root = ".."

// compareFile compares a golden file, or writes it with -update.
func compareFile(t *testing.T, name string, got []byte) {
	t.Helper()
	want, err := os.ReadFile(name)
	if err != nil && !*update {
		t.Errorf("%s: %v; run with -update", name, err)
		return
	}
	if string(want) == string(got) {
		return
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s differs; run with -update and review:\n%s", name, diffTexts(string(want), string(got)))
}
