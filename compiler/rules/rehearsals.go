package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on rehearsals: the times must be possible, and the expectations must be about
// jobs that arrive.

// Patterns of fields of rehearsals.
const (
	arrivals   = "rehearsals.*.arrivals.[]"
	nodeLimits = "rehearsals.*.nodes.*.[]"
	holds      = "rehearsals.*.holds.[]"
)

func rehearsalRules() []Rule {
	return []Rule{
		rule("E0880", "name of a rehearsal is reserved", rehearsalNames),
		rule("E0881", "duration of a rehearsal is too long", longDurations),
		rule("E0882", "times of a rehearsal are in the wrong order", timeOrder),
		rule("E0883", "periods of a rehearsal overlap on one capacity", overlappingLimits),
		rule("E0884", "random arrivals without a mean time between them", randomArrivals),
		rule("E0885", "team of an arrival does not submit the workload", arrivingTeams, whole, resolved),
		rule("E0886", "rehearsal has too many jobs", rehearsalSizes, whole, resolved),
		rule("E0887", "expectation of a rehearsal cannot be checked", incompleteExpectations),
		rule("W0888", "expectation of a rehearsal is about no job", idleExpectations, whole, resolved),
		rule("W0889", "jobs arrive after the end of the rehearsal", lateArrivals),
		rule("W0890", "period has no effect in the rehearsal", idlePeriods, whole, resolved),
	}
}

// rehearsalNames reports a rehearsal with the name of the demonstration.
func rehearsalNames(r *report) {
	if _, used := r.Blueprint.Rehearsals[ir.DemonstrationRehearsal]; used {
		r.addKey(at("rehearsals", ir.DemonstrationRehearsal),
			say("the name %q is reserved: batchwright plays the demonstration under it",
				ir.DemonstrationRehearsal), help("rename the rehearsal"))
	}
}

// longDurations reports durations that are longer than a rehearsal can be.
func longDurations(r *report) {
	for _, pattern := range []string{
		"until", "arrivals.[].at", "arrivals.[].every", "arrivals.[].checkpointEvery", "arrivals.[].trace.from",
		"arrivals.[].runs.fixed", "arrivals.[].runs.uniform.from", "arrivals.[].runs.uniform.to",
		"arrivals.[].runs.logNormal.median", "arrivals.[].runs.logNormal.p95", "nodes.*.[].from", "nodes.*.[].to",
		"holds.[].from", "holds.[].to", "expect.[].startsWithin",
	} {
		for path, duration := range every[string](r, "rehearsals.*."+pattern) {
			if schema.Seconds(duration) > schema.MaxDuration {
				r.add(path, say("%s is longer than %s", duration, words.FormatSeconds(schema.MaxDuration)),
					help("write at most %q", words.FormatSeconds(schema.MaxDuration)))
			}
		}
	}
}

// timeOrder reports a later time that is before an earlier one, and a larger length that
// is below a smaller one.
func timeOrder(r *report) {
	for field, a := range every[schema.Arrival](r, arrivals) {
		if a.Runs == nil {
			continue
		}
		if u := a.Runs.Uniform; u != nil && schema.Seconds(u.From) > schema.Seconds(u.To) {
			r.add(field.at("runs", "uniform", "to"), say("the longest time %s is shorter than from, %s", u.To, u.From),
				see(field.at("runs", "uniform", "from"), "the shortest time"),
				help("write from: %q, to: %q", u.To, u.From))
		}
		if l := a.Runs.LogNormal; l != nil && schema.Seconds(l.Median) > schema.Seconds(l.P95) {
			r.add(field.at("runs", "logNormal", "p95"), say("p95 %s is shorter than the median, %s", l.P95, l.Median),
				see(field.at("runs", "logNormal", "median"), "the median"),
				help("write median: %q, p95: %q", l.P95, l.Median))
		}
	}
	period := func(from string, to *string, field fieldPath) {
		if to != nil && schema.Seconds(*to) <= schema.Seconds(from) {
			r.add(field.at("to"), say("the period ends at %s, and starts at %s", *to, from),
				help("write a to after %q: from and to both count from the start of the rehearsal", from))
		}
	}
	for field, limit := range every[schema.NodeLimit](r, nodeLimits) {
		period(limit.From, limit.To, field)
	}
	for field, hold := range every[schema.QueueHold](r, holds) {
		period(hold.From, hold.To, field)
	}
}

// overlappingLimits reports periods of a capacity that begin before an earlier one ends.
func overlappingLimits(r *report) {
	for field, rehearsal := range every[schema.Rehearsal](r, "rehearsals.*") {
		for capacity, limits := range sorted(rehearsal.Nodes) {
			order := make([]int, len(limits))
			for i := range limits {
				order[i] = i
			}
			slices.SortStableFunc(order, func(a, b int) int {
				return cmp.Compare(schema.Seconds(limits[a].From), schema.Seconds(limits[b].From))
			})
			for k := 1; k < len(order); k++ {
				before, here := limits[order[k-1]], limits[order[k]]
				if before.To != nil && schema.Seconds(*before.To) <= schema.Seconds(here.From) {
					continue
				}
				cure := "write an end of the other period: to: " + fmt.Sprintf("%q", here.From)
				if schema.Seconds(before.From) == schema.Seconds(here.From) {
					cure = "merge the periods, or let one start when the other ends"
				}
				r.add(field.at("nodes", capacity, diag.Index(order[k])),
					say("this period of %q starts at %s, before another period has ended", capacity, here.From),
					see(field.at("nodes", capacity, diag.Index(order[k-1])), "the other period"), advise(cure))
			}
		}
	}
}

// randomArrivals reports random arrivals whose mean time is not known.
func randomArrivals(r *report) {
	for field, a := range every[schema.Arrival](r, arrivals) {
		if a.Random && a.Every == nil {
			r.addKey(field.at("random"), "jobs cannot arrive at random, because every is not set",
				help(`add the mean time between two jobs of a team, such as every: "10m"`))
		}
	}
}

// arrivingTeams reports teams that do not submit the workload of an arrival.
func arrivingTeams(r *report) {
	submitters := r.fit.Submitters()
	for field, a := range every[schema.Arrival](r, arrivals) {
		if a.Job != nil {
			r.arrivingJobTeams(a, field)
		}
		if a.Workload == nil {
			continue
		}
		known := submitters[*a.Workload]
		for i, team := range a.Teams {
			if !hasName(known, team) {
				r.add(field.at("teams", diag.Index(i)), say("team %q does not submit workload %q", team, *a.Workload),
					choices(known), help("remove the team, or %s", r.lettingSubmit(team, *a.Workload)))
			}
		}
		if len(known) == 0 && a.Teams == nil {
			r.add(field.at("workload"), say("no team submits workload %q", *a.Workload),
				help("give a team quota in the tier of the workload"))
		}
	}
}

// lettingSubmit says how to let a team submit a workload that it does not submit.
func (r *report) lettingSubmit(team, workload string) string {
	w := r.Blueprint.Workloads[workload]
	var missing []string
	if len(w.Teams) > 0 && !slices.Contains(w.Teams, team) {
		missing = append(missing, "add it to teams of the workload")
	}
	if !r.fit.HasQueue(team, w.Tier) {
		missing = append(missing, fmt.Sprintf("give it quota in tier %q", w.Tier))
	}
	return words.And(missing)
}

// arrivingJobTeams reports teams without quota in the tier of a job that only the rehearsal
// has.
func (r *report) arrivingJobTeams(a schema.Arrival, field fieldPath) {
	var known []string
	for _, t := range r.Plan.Teams {
		if r.fit.HasQueue(t.Name, a.Job.Tier) {
			known = append(known, t.Name)
		}
	}
	slices.Sort(known)
	for i, team := range a.Teams {
		if !hasName(known, team) {
			r.add(field.at("teams", diag.Index(i)), say("team %q has no quota in tier %q", team, a.Job.Tier),
				choices(known), help("remove the team, or give it quota in the tier"))
		}
	}
	if len(known) == 0 && a.Teams == nil {
		r.add(field.at("job", "tier"), say("no team has quota in tier %q", a.Job.Tier),
			help("give a team quota in the tier"))
	}
}

// maxRehearsalJobs is the number of jobs that a rehearsal can have.
const maxRehearsalJobs = 1000000

// rehearsalSizes reports rehearsals with more jobs than the engine plays.
func rehearsalSizes(r *report) {
	for _, rehearsal := range r.Plan.Rehearsals {
		jobs := 0
		for _, a := range rehearsal.Arrivals { // the count of a trace is 0
			jobs += a.Count*len(a.Teams) + len(a.Trace)
		}
		if jobs > maxRehearsalJobs {
			r.addKey(at("rehearsals", rehearsal.Name, "arrivals"),
				say("rehearsal %q has %d jobs, more than %d", rehearsal.Name, jobs, maxRehearsalJobs),
				help("lower count of the arrivals: each team of an arrival submits count jobs"))
		}
	}
}

// incompleteExpectations reports expectations that nothing could contradict.
func incompleteExpectations(r *report) {
	for field, e := range every[schema.RehearsalExpectation](r, "rehearsals.*.expect.[]") {
		percentile := e.StartsWithin == nil && r.Written(field.at("percentile")...)
		switch {
		case e.Capacity != nil && e.Utilization == nil:
			r.addKey(field.at("capacity"), "capacity has no effect without utilization",
				help("add the percentage that jobs must use, such as utilization: 80, or remove capacity"))
		case e.Capacity == nil && e.Utilization != nil:
			r.addKey(field.at("utilization"), "utilization needs a capacity",
				help("add the name of the capacity: capacity: \"NAME\""))
		case !percentile && e.StartsWithin == nil && e.Evictions == nil && e.Utilization == nil:
			r.add(field, "the expectation does not say what is expected",
				help("add startsWithin, evictions, or capacity and utilization"))
		}
		if percentile {
			r.addKey(field.at("percentile"), "percentile has no effect without startsWithin",
				help("add the time within which the jobs must start, such as startsWithin: \"10m\""))
		}
	}
}

// selectedBy returns the workloads, one copy of each for each team, that an expectation
// of a rehearsal selects.
func (r *report) selectedBy(rehearsal ir.Rehearsal, e ir.RehearsalExpectation) []ir.Workload {
	var out []ir.Workload
	queues := r.fit.LocalQueues()
	selects := func(w ir.Workload) bool {
		return (e.Template == "" || e.Template == w.Template) &&
			(e.Tier == "" || e.Tier == queues[[2]string{w.Team, w.Queue}].Tier) &&
			(len(e.Teams) == 0 || slices.Contains(e.Teams, w.Team))
	}
	for _, w := range slices.Concat(r.Plan.Workloads, rehearsal.Workloads) {
		arrives := slices.ContainsFunc(rehearsal.Arrivals, func(a ir.Arrival) bool {
			return a.Template == w.Template && slices.Contains(a.Teams, w.Team)
		})
		if arrives && selects(w) {
			out = append(out, w)
		}
	}
	for _, a := range rehearsal.Arrivals {
		traced := make([]bool, len(rehearsal.Workloads))
		for _, job := range a.Trace {
			if job.Workload >= 0 && !traced[job.Workload] && selects(rehearsal.Workloads[job.Workload]) {
				traced[job.Workload] = true
				out = append(out, rehearsal.Workloads[job.Workload])
			}
		}
	}
	return out
}

// idleExpectations reports expectations about jobs that do not arrive, or that cannot use
// the capacity.
func idleExpectations(r *report) {
	for _, rehearsal := range r.Plan.Rehearsals {
		for _, e := range rehearsal.Expect {
			_, known := r.fit.Named[e.Capacity]
			path := at("rehearsals", rehearsal.Name, "expect", diag.Index(e.Index))
			selected := r.selectedBy(rehearsal, e)
			runs := slices.ContainsFunc(selected, func(w ir.Workload) bool {
				return slices.Contains(w.Capacities, e.Capacity)
			})
			switch {
			case len(selected) == 0:
				r.add(path, "no job of the rehearsal matches the expectation",
					help("choose a workload, a tier and teams of the arrivals, or add an arrival"))
			case known && !runs:
				r.add(append(path, "capacity"), say("none of the jobs of the expectation can run on %q", e.Capacity),
					help("choose a capacity of their workloads, or add an arrival"))
			}
		}
	}
}

// lateArrivals reports jobs that would arrive after the end of their rehearsal. The times
// of random arrivals are known only on average.
func lateArrivals(r *report) {
	for field, a := range every[schema.Arrival](r, arrivals) {
		rehearsal := r.Blueprint.Rehearsals[field[1]]
		if a.Trace != nil {
			continue // idleTraces
		}
		until, first := schema.Seconds(rehearsal.Until), schema.Seconds(a.At)
		if first >= until {
			r.add(field.at("at"), say("the jobs arrive at %s, and the rehearsal ends at %s", a.At, rehearsal.Until),
				help("write an earlier time, or a later until of the rehearsal"))
			continue
		}
		if a.Every == nil {
			continue
		}
		every := schema.Seconds(*a.Every)
		if every == 0 {
			continue
		}
		from := first
		about := ""
		if a.Random {
			from, about = first+every, "about "
		}
		last := from + int64(a.Count-1)*every
		if last < until {
			continue
		}
		fitting := max(0, (until-1-from)/every+1)
		r.add(field.at("count"), say("the last job of a team arrives at %s%s, and the rehearsal ends at %s", about,
			words.FormatSeconds(last), rehearsal.Until),
			help("write at most %d, or a later until of the rehearsal", fitting))
	}
}

// idlePeriods reports limits above the number of nodes that the capacity can have, holds
// of no queue, and periods that begin after the end of the rehearsal.
func idlePeriods(r *report) {
	late := func(from, until string, field fieldPath) bool {
		if schema.Seconds(from) < schema.Seconds(until) {
			return false
		}
		r.add(field.at("from"), say("the period starts at %s, and the rehearsal ends at %s", from, until),
			help("write an earlier time, or a later until of the rehearsal"))
		return true
	}
	for _, plan := range r.Plan.Rehearsals {
		in := r.Blueprint.Rehearsals[plan.Name]
		for i, hold := range in.Holds {
			field := at("rehearsals", plan.Name, "holds", diag.Index(i))
			if !late(hold.From, in.Until, field) && len(plan.Holds[i].ClusterQueues) == 0 {
				r.add(field, "no team of the hold has a queue in its tier",
					help("choose teams with quota in the tier, or remove the period"))
			}
		}
	}
	for field, limit := range every[schema.NodeLimit](r, nodeLimits) {
		rehearsal, capacity := r.Blueprint.Rehearsals[field[1]], field[3]
		c := r.fit.Named[capacity]
		switch {
		case late(limit.From, rehearsal.Until, field):
		case limit.Available >= c.MaxNodes && !c.Waiting && !c.SlicesOff():
			r.add(field.at("available"), say("%q never has more than %s", capacity,
				words.Count(c.MaxNodes, "node")), help("write fewer than %d, or remove the period", c.MaxNodes))
		case limit.Available < c.IdleNodes() && c.IdleNodes() == c.MaxNodes && !limit.Preempts:
			r.add(field.at("available"), say("the nodes of %q always exist, and they stay", capacity),
				help("add preempts: true to take nodes away, or remove the period"))
		}
	}
}
