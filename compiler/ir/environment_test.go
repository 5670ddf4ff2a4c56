package ir

import (
	"slices"
	"testing"
)

func TestOrderVariables(t *testing.T) {
	for name, test := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"by name":      {map[string]string{"B": "1", "A": "2"}, []string{"A", "B"}},
		"a reference":  {map[string]string{"A": "x$(C)", "B": "1", "C": "2"}, []string{"C", "A", "B"}},
		"a chain":      {map[string]string{"A": "$(B)", "B": "$(C)", "C": "2"}, []string{"C", "B", "A"}},
		"two":          {map[string]string{"A": "$(C)$(B)", "B": "1", "C": "2"}, []string{"C", "B", "A"}},
		"no reference": {map[string]string{"A": "$$(B) $B $(B", "B": "1"}, []string{"A", "B"}},
		"another":      {map[string]string{"A": "$(BUCKET)", "B": "1"}, []string{"A", "B"}},
		"a circle":     {map[string]string{"A": "$(B)", "B": "$(A)"}, []string{"B", "A"}},
		"itself":       {map[string]string{"A": "$(A)"}, []string{"A"}},
	} {
		var got []string
		for _, v := range OrderVariables(test.env) {
			got = append(got, v.Key)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
