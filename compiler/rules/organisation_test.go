package rules

import (
	"slices"
	"testing"

	"github.com/batchwright/batchwright/compiler/catalog"
)

// TestChecksOfConstraints checks that the rules know every check of the catalogue, and
// that some constraint makes each demand.
func TestChecksOfConstraints(t *testing.T) {
	known := []string{
		"", needsExemption, needsRepair, closesPorts, needsGoogle, needsFlowLogs, dependsOnList, sharesMachines,
		sharesSubnets, ownsNAT,
	}
	made := map[string]bool{}
	for _, d := range demands() {
		known = append(known, d.check)
	}
	for _, c := range catalog.Constraints() {
		made[c.Check] = true
		if !slices.Contains(known, c.Check) {
			t.Errorf("no rule knows the check %q of %s", c.Check, c.Name)
		}
	}
	for _, check := range known {
		if !made[check] {
			t.Errorf("no constraint has the check %q", check)
		}
	}
}
