package diag

import (
	"slices"
	"testing"
)

// TestObserve: a list reports each finding once, also if another list is made of it.
func TestObserve(t *testing.T) {
	var l List
	var seen []string
	l.Observe(func(f Finding) { seen = append(seen, f.Code) })
	l.Add(Finding{Code: "E0101"})
	l.Add(Finding{Code: "W0208"})
	l.Filter(func(Finding) bool { return true })
	l.Named(func(name string) string { return name })
	if want := []string{"E0101", "W0208"}; !slices.Equal(seen, want) {
		t.Errorf("got %v, want %v", seen, want)
	}
}
