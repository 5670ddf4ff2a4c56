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
	used, dir := map[ir.Option]bool{}, t.TempDir()
	for _, o := range options.All() {
		_, res := compile.Input(t, compiler.Input{
			Dir: dir, Paths: []string{"-"}, Stdin: strings.NewReader(o.Blueprint()),
		})
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
