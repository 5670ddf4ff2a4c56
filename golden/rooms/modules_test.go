package rooms_test

import (
	"os"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/batchwright/batchwright/golden/fixture"
)

// TestEveryModuleHasAReason checks that go.mod gives a reason for every dependency.
func TestEveryModuleHasAReason(t *testing.T) {
	for _, name := range []string{
		"go.mod", "conformance/go.mod", "conformance/cluster/go.mod", "conformance/page/go.mod",
		"conformance/pictures/go.mod", "conformance/repository/go.mod", "conformance/terraform/go.mod",
		"conformance/workflows/go.mod",
	} {
		text, err := os.ReadFile(fixture.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		file, err := modfile.Parse(name, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range file.Require {
			if !r.Indirect && len(r.Syntax.Suffix) == 0 {
				t.Errorf("%s does not say what %s is for", name, r.Mod.Path)
			}
		}
	}
}
