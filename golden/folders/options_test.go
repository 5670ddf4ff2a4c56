package folders_test

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
	"github.com/batchwright/batchwright/golden/options"
)

// TestEveryOption compiles a small platform with each way of obtaining machines, and
// runs the same checks on the folder as on the goldens.
func TestEveryOption(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a platform for each option")
	}
	for _, o := range options.All() {
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			checkFolder(t, fixture.FS(compile.Text(t, o.Blueprint())))
		})
	}
}

// TestEveryOptionIsCompiled checks that the blueprints of TestEveryOption use each row
// of the table of consumption options.
func TestEveryOptionIsCompiled(t *testing.T) {
	used := map[ir.Option]bool{}
	for _, o := range options.All() {
		res, err := compiler.Compile(t.Context(), compiler.Input{
			Dir: fixture.Root(), Paths: []string{"-"}, Stdin: strings.NewReader(o.Blueprint()),
		})
		if err != nil || res.Plan == nil {
			t.Fatalf("%s does not compile: %v", o.Name, err)
		}
		for _, c := range res.Plan.Capacities {
			used[c.Option] = true
		}
	}
	for _, o := range ir.Options() {
		if !used[o.Option] {
			t.Errorf("no blueprint uses the option %q", o.Option)
		}
	}
}
