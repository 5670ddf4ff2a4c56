package ir_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestOptions checks that each row of the consumption options has the columns that
// every option needs, and that the others do not contradict each other.
func TestOptions(t *testing.T) {
	seen := map[ir.Option]bool{}
	for _, f := range ir.Options() {
		if seen[f.Option] || f.Option.Facts().Name != f.Name {
			t.Errorf("%s has two rows", f.Option)
		}
		seen[f.Option] = true
		for _, column := range []string{
			"Field", "Name", "How", "Nodes", "Summary", "Note", "ResourceType", "Taint",
			"ReservationAffinity", "Price", "Column", "Pages",
		} {
			if reflect.ValueOf(f).FieldByName(column).Len() == 0 {
				t.Errorf("%s has no %s", f.Option, column)
			}
		}
		for _, wrong := range []struct {
			what string
			is   bool
		}{
			{"is preempted without time to stop", f.Preempted != (f.GraceSeconds > 0)},
			{"counts against preemptible quota of vCPUs only", f.PreemptibleCPUs && !f.PreemptibleQuota},
			{"consumes reservations without an affinity",
				f.TakesReservations() != (f.ReservationAffinity != "NO_RESERVATION")},
			{"has a taint of auto-provisioning without auto-provisioning", f.AutoTaint && !f.HasAutoProvisioning()},
			{"is queued with standing nodes", f.Queued && !f.OnRequest},
		} {
			if wrong.is {
				t.Errorf("%s %s", f.Option, wrong.what)
			}
		}
	}
}

func TestUnknownOption(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an option without a row passes as another one")
		}
	}()
	ir.Option("preemptible").Facts()
}

// TestOptionsAreConstant checks that a caller cannot change the table.
func TestOptionsAreConstant(t *testing.T) {
	before := slices.Clone(ir.Options())
	ir.Options()[0].Name = "changed"
	if diff := cmp.Diff(before, ir.Options()); diff != "" {
		t.Error(diff)
	}
}

func TestNodesByQuota(t *testing.T) {
	for preemptible, want := range map[bool][]string{
		false: {"on demand", "reserved"}, true: {"Spot", "flex-start"},
	} {
		if diff := cmp.Diff(want, ir.NodesByQuota(preemptible)); diff != "" {
			t.Errorf("preemptible %v (-want +got):\n%s", preemptible, diff)
		}
	}
}
