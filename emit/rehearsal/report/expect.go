package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Verdict reports whether an expectation is met.
type Verdict struct {
	Index int  `json:"index"` // of the expectation in the blueprint
	Met   bool `json:"met"`
	// Undecided reports whether the rehearsal cannot tell. Met is then false.
	Undecided bool `json:"undecided"`
	// Message has the numbers that were seen and expected, such as "95% of 40 jobs
	// started within 12m, expected 5m". It has no full stop.
	Message string `json:"message"`
}

// label returns "met", "not met" or "undecided".
func (v Verdict) label() string {
	switch {
	case v.Met:
		return labelMet
	case v.Undecided:
		return labelUndecided
	}
	return labelUnmet
}

// name returns the place of the expectation in the rehearsal.
func (v Verdict) name() string { return fmt.Sprintf("expect[%d]", v.Index) }

// finding is what the rehearsal shows about one limit of an expectation.
type finding struct {
	state   state
	message string
}

type state int

const (
	met state = iota
	unmet
	undecided
)

// decide compares the rehearsal with an expectation. If a limit is broken, the message is
// about the broken limits only; otherwise, if a limit is undecided, it is about those.
func (a *analysis) decide(e ir.RehearsalExpectation) Verdict {
	found := a.compare(e)
	verdict := Verdict{Index: e.Index}
	told := met
	for _, s := range []state{undecided, unmet} {
		if slices.ContainsFunc(found, func(f finding) bool { return f.state == s }) {
			told = s
		}
	}
	var messages []string
	for _, f := range found {
		if f.state == told {
			messages = append(messages, f.message)
		}
	}
	verdict.Met, verdict.Undecided = told == met, told == undecided
	verdict.Message = strings.Join(messages, "; ")
	return verdict
}

// compare returns a finding for each limit of an expectation, or one for all of them.
func (a *analysis) compare(e ir.RehearsalExpectation) []finding {
	if a.history.Interrupted {
		return []finding{{undecided, "the rehearsal was interrupted at " + words.FormatSeconds(a.end) + " of " +
			words.FormatSeconds(a.scenario.Until)}}
	}
	selects := func(j *job) bool {
		return (e.Template == "" || e.Template == j.Name) && (e.Tier == "" || e.Tier == j.Tier) &&
			(e.Teams == nil || slices.Contains(e.Teams, j.Team))
	}
	var jobs []*job
	for i := range a.jobs {
		if selects(&a.jobs[i]) {
			jobs = append(jobs, &a.jobs[i])
		}
	}
	if len(jobs) == 0 {
		return []finding{{undecided, "0 jobs match the expectation"}}
	}
	var out []finding
	if e.StartsWithin > 0 {
		out = append(out, compareStarts(jobs, e.StartsWithin, e.Percentile))
	}
	if e.Evictions != nil {
		out = append(out, compareEvictions(jobs, *e.Evictions))
	}
	if e.Utilization > 0 {
		out = append(out, a.compareUtilization(e.Capacity, selects, e.Utilization))
	}
	return out
}

// compareStarts compares the waits of jobs with the longest wait that a percentage of
// them may have. A job that has not started yet, and has waited for less, decides
// nothing.
func compareStarts(jobs []*job, limit int64, percent int) finding {
	waits := make([]Length, len(jobs))
	started, inTime, late := 0, 0, 0
	for i, j := range jobs {
		waits[i] = j.wait
		switch {
		case j.started && j.wait.Seconds <= limit:
			inTime++
		case j.started || j.wait.Seconds >= limit:
			late++
		}
		if j.started {
			started++
		}
	}
	times := timesOf(waits) // sorts them
	seen, rank := percentile(waits, percent), rankOf(len(jobs), percent)
	f := finding{state: undecided}
	switch {
	case inTime >= rank:
		f.state = met
	case late > len(jobs)-rank:
		f.state = unmet
	}
	share := strconv.Itoa(percent) + "% of " + words.Count(len(jobs), "job")
	if percent == 100 {
		share = words.Plural(len(jobs), "job", "jobs")
	}
	longest := words.FormatSeconds(times.Max.Seconds)
	switch {
	case !seen.AtLeast:
		f.message = share + " started within " + words.FormatSeconds(seen.Seconds)
	case started == 0:
		f.message = "none of " + words.Count(len(jobs), "job") + " started"
	default:
		f.message = strconv.Itoa(started) + " of " + words.Count(len(jobs), "job") + " started"
	}
	f.message += ", expected "
	if seen.AtLeast {
		f.message += strconv.Itoa(percent) + "% within "
	}
	f.message += words.FormatSeconds(limit)
	switch {
	case times.Max.AtLeast:
		f.message += "; the slowest has waited for at least " + longest
	case times.Max != seen:
		f.message += "; the slowest waited " + longest
	}
	return f
}

// compareEvictions compares the number of evictions of jobs with the most that is
// expected.
func compareEvictions(jobs []*job, most int) finding {
	evictions := 0
	for _, j := range jobs {
		for _, r := range j.history.Runs {
			if r.Evicted != "" {
				evictions++
			}
		}
	}
	f := finding{message: fmt.Sprintf("%s among %s, expected at most %d", words.Count(evictions, "eviction"),
		words.Count(len(jobs), "job"), most)}
	if evictions > most {
		f.state = unmet
	}
	return f
}

// compareUtilization compares the share of a capacity's accelerator time that jobs used
// with the lowest percentage that is expected.
func (a *analysis) compareUtilization(capacity string, selects func(*job) bool, percent int) finding {
	i := slices.IndexFunc(a.uses, func(c Capacity) bool { return c.Name == capacity })
	if i < 0 || a.uses[i].Available == 0 {
		return finding{undecided, fmt.Sprintf("%s had 0 accelerator hours, expected a use of %d%%", capacity, percent)}
	}
	used, available := a.usedBy(selects)[capacity], a.uses[i].Available
	f := finding{message: fmt.Sprintf("the jobs used %s of the %s accelerator hours of %s, expected %d%%",
		percentText(used, available), hoursText(available), capacity, percent)}
	if used*100 < available*int64(percent) {
		f.state = unmet
	}
	return f
}
