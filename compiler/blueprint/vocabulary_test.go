package blueprint

import (
	"slices"
	"strings"
	"testing"
)

// TestSynonyms checks that each synonym leads to fields of the schema, that the schema
// does not have the word itself beside these fields, and that a word means one field of
// a struct. nominalQuota is the exception: Kueue counts every resource in it.
func TestSynonyms(t *testing.T) {
	words := newVocabulary(blueprintDefinition(newContext()))
	means := map[string]string{}
	for _, row := range readSynonyms() {
		if len(row.Words) == 0 || row.Source == "" {
			t.Errorf("%v: no words or no source", row.Fields)
		}
		for _, field := range row.Fields {
			path := strings.Split(field, ".")
			name, above := path[len(path)-1], path[:len(path)-1]
			isPath := func(own []string) bool { return slices.Equal(own, path) }
			if !slices.ContainsFunc(words.own[foldWord(name)], isPath) {
				t.Errorf("%s is not a field of the schema", field)
			}
			for _, word := range row.Words {
				for _, own := range words.own[foldWord(word)] {
					if slices.Equal(own[:len(own)-1], above) {
						t.Errorf("%s stands for %s, but is a field beside it", word, field)
					}
				}
				place := strings.Join(append(slices.Clip(above), foldWord(word)), ".")
				counts := slices.Contains(row.Words, "nominalQuota")
				if before := means[place]; before != "" && !counts {
					t.Errorf("%s stands for %s and for %s", word, before, name)
				}
				means[place] = name
			}
		}
	}
}

func TestShowPattern(t *testing.T) {
	for pattern, want := range map[string]string{
		"name":                          "name",
		"capacity.*.consumption.spot":   "capacity.NAME.consumption.spot",
		"teams.*.quota.*.*.borrow":      "teams.NAME.quota.TIER.CAPACITY.borrow",
		"tiers.*.shared.quota.*.borrow": "tiers.NAME.shared.quota.NAME.borrow",
		"hardware.*":                    "hardware.NAME",
	} {
		if got := showPattern(strings.Split(pattern, ".")); got != want {
			t.Errorf("showPattern(%s) = %s, want %s", pattern, got, want)
		}
	}
}

func TestReadSeconds(t *testing.T) {
	for text, want := range map[string]float64{
		"2h": 7200, "1h30m": 5400, "90 min": 5400, "7 days": 604800, "02:00:00": 7200, "1-00:00:30": 86430,
		"604800s": 604800, "": -1, "h": -1, "2 parsecs": -1, "10:00": -1,
	} {
		got, ok := readSeconds(text)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("readSeconds(%q) = %v, want %v", text, got, want)
		}
	}
}
