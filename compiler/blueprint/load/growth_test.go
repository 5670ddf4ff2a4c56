package load

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLongFunctions fails when a version of CUE has other functions in the packages that have
// functions of both kinds: read whether a new one can return a text much longer than its
// arguments. Then longFunctions must name it.
func TestLongFunctions(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "cuelang.org/go").Output()
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`(?m)^\t+Name: +"\w+",$`)
	for pkg, want := range map[string]int{"list": 23, "regexp": 11, "strings": 34} {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "pkg", pkg, "pkg.go"))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(name.FindAll(text, -1)); got != want {
			t.Errorf("CUE's package %s has %d functions, want %d", pkg, got, want)
		}
	}
}
