package main

import (
	"fmt"
	"strings"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
)

// The codes of findings about what happens in a rehearsal.
const (
	notExpected = "E0891"
	otherPhase  = "E0892"
)

// rehearsalCodes returns the codes of findings about what happens in a rehearsal, sorted by
// number.
func rehearsalCodes() []diag.Code {
	return []diag.Code{
		{ID: notExpected, Severity: diag.Error, Title: "expectation of a rehearsal is not met"},
		{ID: otherPhase, Severity: diag.Error, Title: "phase of the demonstration ends otherwise than expected"},
	}
}

// addUnexpected adds a finding for each expectation that a rehearsal does not meet.
func addUnexpected(findings *diag.List, res *compiler.Result, name string, r *report.Report) {
	for _, verdict := range r.Verdicts {
		if !verdict.Met && !verdict.Undecided {
			findings.Add(diag.Finding{
				Code: notExpected, Severity: diag.Error, Message: "rehearsal " + name + ": " + verdict.Message,
				Help: "change the platform, the jobs, or what is expected: the report shows who held the quota",
				Span: res.Place(false, "rehearsals", name, "expect", diag.Index(verdict.Index)),
			})
		}
	}
	for i, phase := range res.Plan.Demonstration {
		var lines []string
		for _, d := range r.Differences {
			if d.Phase == phase.Name {
				lines = append(lines, fmt.Sprintf("%s: %s", d.What, differenceText(d.Want, d.Got, d.Missing)))
			}
		}
		if len(lines) > 0 && name == ir.DemonstrationRehearsal {
			findings.Add(diag.Finding{
				Code: otherPhase, Severity: diag.Error,
				Message: "phase " + phase.Name + " ends otherwise: " + joinFirst(lines),
				Help:    "change the platform, or what the phase expects",
				Span:    res.Place(true, "demonstration", diag.Index(i), "expect"),
			})
		}
	}
}

// mostDifferences is the number of differing numbers that a finding names.
const mostDifferences = 4

// joinFirst joins the first lines, and counts the others.
func joinFirst(lines []string) string {
	if hidden := len(lines) - mostDifferences; hidden > 0 {
		lines = append(lines[:mostDifferences:mostDifferences], fmt.Sprintf("and %d more", hidden))
	}
	return strings.Join(lines, "; ")
}

// differenceText says how a number differs from what is expected.
func differenceText(want, got int, missing bool) string {
	if missing {
		return fmt.Sprintf("unknown, want %d", want)
	}
	return fmt.Sprintf("%d, want %d", got, want)
}
