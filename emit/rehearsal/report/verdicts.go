package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Verdict says whether an expectation is met.
type Verdict struct {
	Index   int    `json:"index"`   // of the expectation in the blueprint
	Expects string `json:"expects"` // what the expectation says, such as "all jobs start within 15m"
	// Met and Undecided are never both true. An expectation is undecided if it is about
	// no job, if it depends on jobs that had not started at the end, or if the rest of an
	// interrupted rehearsal could decide it otherwise.
	Met       bool   `json:"met"`
	Undecided bool   `json:"undecided"`
	Message   string `json:"message"` // what was expected and what was seen
	// Longest is the longest wait of the jobs that an expectation of StartsWithin is about.
	// It is nil if the expectation is met, or if it has no StartsWithin.
	Longest *Wait `json:"longest,omitempty"`
}

// judge compares an expectation with what happened. An expectation with several parts is
// met if all are, and not met if one is not.
func (m *measures) judge(e ir.RehearsalExpectation) Verdict {
	selected := m.selected(e)
	var parts []Verdict
	if e.StartsWithin > 0 {
		parts = append(parts, m.judgeStarts(e, selected))
	}
	if e.Evictions != nil {
		parts = append(parts, m.judgeEvictions(e, selected))
	}
	if e.Utilization > 0 {
		parts = append(parts, m.judgeUtilization(e, selected))
	}
	out := Verdict{Index: e.Index, Expects: expectation(e), Met: true}
	for i, part := range parts {
		if i > 0 {
			out.Message += "; "
		}
		out.Message += part.Message
		out.Met = out.Met && part.Met
		out.Undecided = out.Undecided || part.Undecided
		out.Longest = cmp.Or(out.Longest, part.Longest)
	}
	if slices.ContainsFunc(parts, func(v Verdict) bool { return !v.Met && !v.Undecided }) {
		out.Undecided = false
	}
	return out
}

// selected returns the jobs that an expectation is about.
func (m *measures) selected(e ir.RehearsalExpectation) []*measured {
	var out []*measured
	for _, j := range m.jobs {
		t := j.template
		if (e.Template == "" || e.Template == t.Name) && (e.Tier == "" || e.Tier == t.Tier) &&
			(e.Teams == nil || slices.Contains(e.Teams, t.Team)) {
			out = append(out, j)
		}
	}
	return out
}

// subject names the jobs of an expectation, such as `36 jobs of workload "fix"`.
func subject(e ir.RehearsalExpectation, jobs int) string {
	return words.Count(jobs, "job") + selection(e)
}

// selection says which jobs an expectation is about, such as ` of workload "fix"`. It is ""
// for all jobs.
func selection(e ir.RehearsalExpectation) string {
	out := ""
	if e.Template != "" {
		out += fmt.Sprintf(" of workload %q", e.Template)
	}
	if e.Tier != "" {
		out += fmt.Sprintf(" of tier %q", e.Tier)
	}
	if e.Teams != nil {
		out += " of " + words.Quoted(e.Teams, 3)
	}
	return out
}

// expectation returns what an expectation says.
func expectation(e ir.RehearsalExpectation) string {
	var parts []string
	jobs := "jobs" + selection(e)
	switch {
	case e.StartsWithin == 0:
	case e.Percentile < 100:
		parts = append(parts, fmt.Sprintf("%d%% of %s start within %s", e.Percentile, jobs, words.Span(e.StartsWithin)))
	default:
		parts = append(parts, fmt.Sprintf("all %s start within %s", jobs, words.Span(e.StartsWithin)))
	}
	if e.Evictions != nil {
		parts = append(parts, fmt.Sprintf("%s have at most %s", jobs, words.Count(*e.Evictions, "eviction")))
	}
	if e.Utilization > 0 {
		parts = append(parts, fmt.Sprintf("%s use at least %d%% of capacity %q", jobs, e.Utilization, e.Capacity))
	}
	return strings.Join(parts, "; ")
}

// judgeStarts compares the waits with StartsWithin.
func (m *measures) judgeStarts(e ir.RehearsalExpectation, jobs []*measured) Verdict {
	if len(jobs) == 0 {
		return Verdict{Undecided: true, Message: "no such job was submitted"}
	}
	soon, late, slowest := 0, 0, jobs[0]
	for _, j := range jobs {
		switch {
		case j.wait > e.StartsWithin, !j.started && j.wait == e.StartsWithin:
			late++
		case j.started:
			soon++
		}
		if j.wait > slowest.wait {
			slowest = j
		}
	}
	needed := nearestRank(e.Percentile, len(jobs))
	v := Verdict{Met: soon >= needed, Undecided: soon < needed && late <= len(jobs)-needed}
	if m.history.Interrupted {
		// More jobs would arrive, and change the percentage.
		v = Verdict{Undecided: late == 0 || e.Percentile < 100}
	}
	v.Message = fmt.Sprintf("%d of %s started within %s", soon, subject(e, len(jobs)), words.Span(e.StartsWithin))
	if e.Percentile < 100 {
		v.Message += fmt.Sprintf(" (%d%%, expected %d%%)", 100*soon/len(jobs), e.Percentile)
	}
	v.Message += "; the longest wait was " + words.Span(slowest.wait)
	if waiting := len(jobs) - soon - late; v.Undecided && waiting > 0 {
		v.Message += fmt.Sprintf("; %s still waited at the end", words.Count(waiting, "job"))
	}
	if !v.Met {
		longest := m.waitOf(slowest)
		v.Longest = &longest
	}
	return v
}

// judgeEvictions compares the number of evictions.
func (m *measures) judgeEvictions(e ir.RehearsalExpectation, jobs []*measured) Verdict {
	n := 0
	for _, j := range jobs {
		n += j.evicted
	}
	v := Verdict{Met: n <= *e.Evictions}
	if len(jobs) == 0 {
		return Verdict{Undecided: true, Message: "no such job was submitted"}
	}
	if v.Met && m.history.Interrupted {
		v = Verdict{Undecided: true}
	}
	v.Message = fmt.Sprintf("%s had %s, expected at most %d", subject(e, len(jobs)), words.Count(n, "eviction"),
		*e.Evictions)
	return v
}

// judgeUtilization compares the part of a capacity's accelerator time, or vCPU time, that the
// jobs used.
func (m *measures) judgeUtilization(e ir.RehearsalExpectation, jobs []*measured) Verdict {
	used := int64(0)
	for _, j := range jobs {
		used += j.used[e.Capacity]
	}
	for _, c := range m.capacities() {
		percent, known := percentOf(used/1000, c.times().Paid)
		if c.Name != e.Capacity || !known {
			continue
		}
		return Verdict{
			Met: percent >= float64(e.Utilization) && !m.history.Interrupted, Undecided: m.history.Interrupted,
			Message: fmt.Sprintf("%s used %.1f%% of capacity %q, expected at least %d%%",
				subject(e, len(jobs)), percent, e.Capacity, e.Utilization),
		}
	}
	return Verdict{Undecided: true, Message: fmt.Sprintf("capacity %q had no nodes", e.Capacity)}
}
