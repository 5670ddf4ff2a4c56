package catalog

import (
	"slices"
	"strings"
	"testing"
)

// TestConstraints checks that the rows are sorted and complete, that each is found by
// its name, and that both landing zones have rows.
func TestConstraints(t *testing.T) {
	all := Constraints()
	if !slices.IsSortedFunc(all, func(a, b Constraint) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the rows are not sorted")
	}
	for _, c := range all {
		if found, ok := LookupConstraint(c.Name); !ok || found.Demands != c.Demands {
			t.Errorf("%s is not found", c.Name)
		}
		if c.Of != "" && (c.Of != OfCluster || c.Check == "") {
			t.Errorf("%s is of %q, with the check %q", c.Name, c.Of, c.Check)
		}
		if c.Demands == "" || !strings.HasPrefix(c.Source, "https://") || (c.Check == "") != (c.Set == "") {
			t.Errorf("%s lacks a field", c.Name)
		}
	}
	for _, zone := range []string{"fast-classic", "fast-hardened"} {
		if n := len(LandingZone(zone)); n < 10 {
			t.Errorf("%s has %d constraints", zone, n)
		}
	}
	if got := LandingZone("fast"); len(got) > 0 {
		t.Errorf("fast has %d constraints", len(got))
	}
}
