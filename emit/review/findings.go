package review

import (
	"fmt"
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
)

// Findings is what a change does to the findings of a blueprint. Notes that nobody accepted are
// left out, because they need no action. Each list is sorted by place.
type Findings struct {
	// New are the warnings that only the later blueprint has, and the findings that it accepts
	// and the earlier one did not, or for another reason.
	New []Finding `json:"new"`
	// Changed are the later warnings whose mistake both have, for example with other numbers.
	Changed []Finding `json:"changed"`
	// Gone are the warnings that only the earlier blueprint has.
	Gone []Finding `json:"gone"`
}

// Finding is a finding of a blueprint.
type Finding struct {
	Code     string `json:"code"`
	Severity string `json:"severity"` // "error", "warning" or "note"
	Message  string `json:"message"`
	Help     string `json:"help"`
	// Accepted is the reason with which the blueprint accepts the finding, "" if it does not.
	Accepted string `json:"accepted"`
	Place    string `json:"place"` // FILE:LINE:COLUMN
}

// String returns the finding in a sentence, with the reason why it is accepted.
func (f Finding) String() string {
	s := f.Severity
	if f.Accepted != "" {
		s = "accepted"
	}
	s += " " + f.Code + ": " + f.Message
	if f.Accepted != "" {
		s += fmt.Sprintf(" (reason: %s)", strings.TrimSuffix(f.Accepted, "."))
	}
	return s
}

// same reports whether the change neither brings nor removes a finding.
func (f *Findings) same() bool { return f == nil || len(f.New)+len(f.Changed)+len(f.Gone) == 0 }

// headline returns the numbers of findings by what happened to them.
func (f *Findings) headline() (parts []string) {
	if f == nil {
		return nil
	}
	count := func(list []Finding, accepted bool) (n int) {
		for _, x := range list {
			if (x.Accepted != "") == accepted {
				n++
			}
		}
		return n
	}
	if n := count(f.New, false); n > 0 {
		parts = append(parts, words.Count(n, "new warning"))
	}
	if n := count(f.Changed, false); n > 0 {
		parts = append(parts, words.Count(n, "changed warning"))
	}
	if n := count(f.New, true); n > 0 {
		parts = append(parts, words.Count(n, "newly accepted finding"))
	}
	if n := count(f.Gone, false); n > 0 {
		parts = append(parts, words.Count(n, "warning")+" gone")
	}
	if n := count(f.Changed, true) + count(f.Gone, true); n > 0 {
		parts = append(parts, words.Count(n, "accepted finding")+" changed or gone")
	}
	return parts
}
