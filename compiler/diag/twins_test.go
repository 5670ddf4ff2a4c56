package diag_test

import (
	"testing"

	"github.com/batchwright/batchwright/compiler/diag"
)

func TestTwins(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"vison", "vision", true},
		{"visoin", "vision", true},
		{"l4-spto", "l4-spot", true},
		{"l4spot", "l4-spot", true},
		{"reserch", "research", true},
		{"l4-ondemnad", "l4-ondemand", true},
		{"vision", "vision", false},
		{"vision", "speech", false},
		{"team-a", "team-b", false},
		{"project-a", "project-d", false},
		{"team-a", "team-a-b", false},
		{"team-a-b", "team-c-d", false},
		{"l4-spot", "l4-spot2", false},
		{"l4-spot", "l40-spot", false},
		{"vision-eu", "vision-us", false},
		{"vision2", "vision", false},
		{"a100", "h100", false},
		{"lp", "hp", false},
		{"east", "west", false},
	} {
		for _, swapped := range []bool{false, true} {
			a, b := c.a, c.b
			if swapped {
				a, b = b, a
			}
			if got := diag.Twins(a, b); got != c.want {
				t.Errorf("Twins(%q, %q) = %v, want %v", a, b, got, c.want)
			}
		}
	}
}
