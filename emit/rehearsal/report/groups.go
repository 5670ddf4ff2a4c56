package report

import (
	"cmp"
	"maps"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/rehearsal"
)

// Length is a length of time in seconds.
type Length struct {
	Seconds int64 `json:"seconds"`
	// AtLeast reports whether the end of the rehearsal cut the time off: it is Seconds
	// or longer.
	AtLeast bool `json:"atLeast"`
}

// String returns the length as a blueprint writes durations, with ">=" before a length
// that is a lower bound.
func (l Length) String() string {
	if l.AtLeast {
		return ">=" + words.FormatSeconds(l.Seconds)
	}
	return words.FormatSeconds(l.Seconds)
}

// Times are the percentiles of the times of some jobs, by nearest rank: P95 is the
// shortest of the times that 95% of the jobs do not exceed. If the times of some jobs are
// lower bounds, a percentile is one too, unless enough of the other jobs have shorter times.
type Times struct {
	Jobs int    `json:"jobs"` // if 0, all times are 0
	P50  Length `json:"p50"`
	P95  Length `json:"p95"`
	Max  Length `json:"max"`
}

// timesOf returns the percentiles of some times. It sorts the times.
func timesOf(lengths []Length) Times {
	if len(lengths) == 0 {
		return Times{}
	}
	slices.SortFunc(lengths, func(a, b Length) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return Times{
		Jobs: len(lengths), P50: percentile(lengths, 50), P95: percentile(lengths, 95), Max: percentile(lengths, 100),
	}
}

// rankOf returns the number of jobs that are at least a percentage of n jobs.
func rankOf(n, percent int) int { return max(1, (n*percent+99)/100) }

// percentile returns a percentile of sorted times. No length is shorter than its bound, so
// the percentile of the bounds is a bound of the percentile. The bound is exact if enough
// exact times reach it.
func percentile(sorted []Length, percent int) Length {
	rank := rankOf(len(sorted), percent)
	bound := sorted[rank-1].Seconds
	exact := 0
	for _, l := range sorted {
		if l.Seconds <= bound && !l.AtLeast {
			exact++
		}
	}
	return Length{bound, exact < rank}
}

// tally counts the jobs of a group.
type tally struct {
	Group
	waits, completions []Length
}

// add counts a job.
func (t *tally) add(j *job) {
	t.Submitted++
	if j.started {
		t.Started++
	}
	t.waits = append(t.waits, j.wait)
	if j.submitted.Runs > 0 && j.history.Outcome != rehearsal.Deleted {
		t.completions = append(t.completions, j.completion)
	}
	switch j.history.Outcome {
	case rehearsal.Finished:
		t.Finished++
	case rehearsal.Deleted:
		t.Deleted++
	case rehearsal.Running:
		t.Running++
	case rehearsal.Waiting:
		t.Waiting++
	}
	for i, r := range j.runs {
		if j.history.Runs[i].Evicted != "" {
			t.Evictions++
		}
		t.Used += (r.ended - r.started) * int64(j.Accelerators)
		t.Lost += r.lost * int64(j.Accelerators)
	}
}

// group returns the counts.
func (t *tally) group() Group {
	t.Wait, t.Completion = timesOf(t.waits), timesOf(t.completions)
	return t.Group
}

// addGroups adds the groups that have jobs.
func (a *analysis) addGroups(r *Report) {
	type key struct{ team, tier string }
	tallies := map[key]*tally{}
	for i := range a.jobs {
		j := &a.jobs[i]
		for _, k := range []key{{}, {j.Team, ""}, {"", j.Tier}, {j.Team, j.Tier}} {
			if tallies[k] == nil {
				tallies[k] = &tally{Group: Group{Team: k.team, Tier: k.tier}}
			}
			tallies[k].add(j)
		}
	}
	list := func(keys ...key) []Group {
		out := []Group{}
		for _, k := range keys {
			if t := tallies[k]; t != nil {
				out = append(out, t.group())
			}
		}
		return out
	}
	var groups, teams, tiers []key
	names := tiersOf(a.plan)
	for _, t := range a.plan.Teams {
		teams = append(teams, key{team: t.Name})
		for _, tier := range names {
			groups = append(groups, key{t.Name, tier})
		}
	}
	for _, tier := range names {
		tiers = append(tiers, key{tier: tier})
	}
	r.Groups, r.Teams, r.Tiers = list(groups...), list(teams...), list(tiers...)
	if t := tallies[key{}]; t != nil {
		r.Total = t.group()
	}
}

// tiersOf returns the tiers of a platform by the priority of their jobs, the highest
// first, then by name.
func tiersOf(p *ir.Platform) []string {
	ranks := map[string]int{} // index of the highest class
	for q := range p.ClusterQueues() {
		ranks[q.Tier] = slices.IndexFunc(p.PriorityClasses, func(c ir.PriorityClass) bool {
			return len(q.Classes) > 0 && c.Name == q.Classes[len(q.Classes)-1]
		})
	}
	return slices.SortedFunc(maps.Keys(ranks), func(a, b string) int {
		return cmp.Or(cmp.Compare(ranks[b], ranks[a]), cmp.Compare(a, b))
	})
}
