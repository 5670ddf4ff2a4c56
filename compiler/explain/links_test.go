package explain

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// TestLinks: every public source of a text has an address, and every row is used.
func TestLinks(t *testing.T) {
	used := map[string]bool{}
	for _, code := range Codes() {
		text, _ := Lookup(code)
		for _, s := range text.Sources {
			own := strings.HasPrefix(s, "batchwright, ")
			if own == strings.Contains(s, "://") {
				t.Errorf("%s: the source %q has an address: %v", code, s, !own)
			}
			_, address, _ := strings.Cut(s, ":\n")
			used[address] = true
		}
	}
	var sources []string
	for row := range strings.Lines(linkRows) {
		var l link
		if err := json.Unmarshal([]byte(row), &l); err != nil {
			t.Fatalf("%v: %s", err, row)
		}
		if u, err := url.Parse(l.URL); err != nil || u.Scheme != "https" || l.Source == "" {
			t.Errorf("row %+v", l)
		}
		if !used[l.URL] && strings.Contains(l.Source, ", ") { // a short name catches what is added later
			t.Errorf("no source needs the row of %q", l.Source)
		}
		sources = append(sources, l.Source)
	}
	if !slices.IsSorted(sources) || len(slices.Compact(slices.Clone(sources))) != len(sources) {
		t.Error("the rows are not sorted, or one comes twice")
	}
}
