package lower

import (
	"cmp"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// lowerRehearsals resolves the rehearsals, by name. A rehearsal leaves out arrivals
// of unknown workloads, teams that do not submit the workload, and limits on unknown
// capacities.
func lowerRehearsals(b *schema.Blueprint, p *ir.Platform) []ir.Rehearsal {
	submitters := map[string][]string{} // by template, sorted
	for _, w := range p.Workloads {     // by team
		if teams := submitters[w.Template]; !slices.Contains(teams, w.Team) {
			submitters[w.Template] = append(teams, w.Team)
		}
	}
	var out []ir.Rehearsal
	for name, in := range byName(b.Rehearsals) {
		rehearsal := ir.Rehearsal{
			Name: name, Shows: valueOr(in.Shows, ""), Until: schema.Seconds(in.Until), Seed: in.Seed,
			Limits: lowerNodeLimits(in.Nodes, p.Capacities), Holds: lowerHolds(in.Holds, p.Teams),
		}
		for i, a := range in.Arrivals {
			var arrival ir.Arrival
			switch {
			case a.Trace != nil:
				arrival = lowerTrace(b, p, &rehearsal, i, a)
			case a.Job != nil:
				arrival = lowerArrival(i, a, jobName("job", i, b), lowerJob(b, p, &rehearsal, i, *a.Job))
			case a.Workload != nil:
				arrival = lowerArrival(i, a, *a.Workload, submitters[*a.Workload])
			}
			if len(arrival.Teams) > 0 || len(arrival.Trace) > 0 {
				rehearsal.Arrivals = append(rehearsal.Arrivals, arrival)
			}
		}
		for i, e := range in.Expect {
			rehearsal.Expect = append(rehearsal.Expect, ir.RehearsalExpectation{
				Index: i, Template: valueOr(e.Workload, ""), Tier: valueOr(e.Tier, ""), Teams: sortedUnique(e.Teams),
				StartsWithin: optionalSeconds(e.StartsWithin), Percentile: e.Percentile, Evictions: e.Evictions,
				Utilization: valueOr(e.Utilization, 0), Capacity: valueOr(e.Capacity, ""),
			})
		}
		out = append(out, rehearsal)
	}
	return out
}

// lowerArrival resolves an arrival of jobs of a template. submitters are the teams that
// submit such jobs.
func lowerArrival(index int, in schema.Arrival, template string, submitters []string) ir.Arrival {
	teams := submitters
	if in.Teams != nil {
		teams = slices.DeleteFunc(sortedUnique(in.Teams), func(team string) bool {
			return !slices.Contains(submitters, team)
		})
	}
	return ir.Arrival{
		Index: index, Template: template, Teams: teams, At: schema.Seconds(in.At),
		Every: optionalSeconds(in.Every), Random: in.Random, Count: in.Count, Runs: lowerRunTime(in.Runs),
		IndependentPods: in.IndependentPods, Checkpoint: optionalSeconds(in.CheckpointEvery),
	}
}

func lowerRunTime(in *schema.RunTime) ir.RunTime {
	if in == nil {
		return ir.RunTime{}
	}
	out := ir.RunTime{Fixed: optionalSeconds(in.Fixed)}
	if u := in.Uniform; u != nil {
		out.From, out.To = schema.Seconds(u.From), schema.Seconds(u.To)
	}
	if l := in.LogNormal; l != nil {
		out.Median, out.P95 = schema.Seconds(l.Median), schema.Seconds(l.P95)
	}
	return out
}

// lowerNodeLimits returns the limits of the capacities that exist, by capacity, then by
// time.
func lowerNodeLimits(in map[string][]schema.NodeLimit, capacities []ir.Capacity) []ir.NodeLimit {
	var out []ir.NodeLimit
	for _, c := range capacities {
		for _, l := range in[c.Name] {
			out = append(out, ir.NodeLimit{
				Capacity: c.Name, From: schema.Seconds(l.From), To: optionalSeconds(l.To),
				Available: l.Available, Preempts: l.Preempts,
			})
		}
	}
	slices.SortStableFunc(out, func(a, b ir.NodeLimit) int {
		return cmp.Or(cmp.Compare(a.Capacity, b.Capacity), cmp.Compare(a.From, b.From))
	})
	return out
}

// lowerHolds resolves the periods in which queues are stopped.
func lowerHolds(in []schema.QueueHold, teams []ir.Team) []ir.QueueHold {
	var out []ir.QueueHold
	for _, h := range in {
		var queues []string
		for _, t := range teams {
			for _, q := range t.Queues {
				if (h.Tier == nil || q.Tier == *h.Tier) && (h.Teams == nil || slices.Contains(h.Teams, t.Name)) {
					queues = append(queues, q.ClusterQueue)
				}
			}
		}
		out = append(out, ir.QueueHold{
			ClusterQueues: sortedUnique(queues), From: schema.Seconds(h.From), To: optionalSeconds(h.To),
			Drain: h.Drain,
		})
	}
	return out
}

// optionalSeconds returns the length of a duration, 0 if the blueprint omits it.
func optionalSeconds(duration *string) int64 { return schema.Seconds(valueOr(duration, "")) }
