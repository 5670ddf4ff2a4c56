package main

import (
	"os"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/emit/review"
)

// printNewFindings writes the findings that a change brings as a SARIF log, and ends
// the command with exit code 1 unless everything is the same. A log without results is
// written too: code scanning closes the alerts of an earlier push only if it gets one.
func (d *comparison) printNewFindings(before, after *side, same bool) error {
	findings, err := compareFindings(before, after)
	if err != nil {
		return err
	}
	err = diag.WriteSARIFDelta(d.Stdout, findings, sarifOptions())
	if err != nil || same && findings.New.Len()+findings.Changed.Len() == 0 {
		return err
	}
	return errFindings
}

// compareFindings compares the findings of two sides, with names of files relative to
// the root of the repository.
func compareFindings(before, after *side) (diag.Delta, error) {
	here, err := os.Getwd()
	if err != nil {
		return diag.Delta{}, err
	}
	return diag.Compare(before.findingsFrom(here), after.findingsFrom(here)), nil
}

// findingsFrom returns the findings with names of files relative to the root of the
// repository around the directory here, without the revision.
func (s *side) findingsFrom(here string) *diag.List {
	if s.files == nil {
		return s.findings.Named(fromRepository(here))
	}
	return s.findings.Named(func(name string) string { return strings.TrimPrefix(name, s.prefix) })
}

// reviewFindings returns the findings that a change brings, changes and removes, for a review.
func reviewFindings(before, after *side) (*review.Findings, error) {
	d, err := compareFindings(before, after)
	if err != nil {
		return nil, err
	}
	return &review.Findings{
		New: decisiveFindings(d.New), Changed: decisiveFindings(d.Changed), Gone: decisiveFindings(d.Gone),
	}, nil
}

// decisiveFindings returns the findings that require a decision: all except notes that are not
// accepted findings.
func decisiveFindings(l *diag.List) []review.Finding {
	out := []review.Finding{}
	for _, f := range l.Sorted() {
		if f.Severity == diag.Note && f.Accepted == "" {
			continue
		}
		out = append(out, review.Finding{
			Code: f.Code, Severity: f.Severity.String(), Message: f.Message, Help: f.Help, Accepted: f.Accepted,
			Place: f.Span.String(),
		})
	}
	return out
}
