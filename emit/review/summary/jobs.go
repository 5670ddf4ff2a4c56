package summary

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/losses"
	"github.com/batchwright/batchwright/emit/review/delta"
)

// jobEffects returns what a change does to jobs that run or wait when it is built: the
// jobs on capacities that leave, lose nodes or get other nodes, in queues that leave, beyond
// a lower quota, and of PriorityClasses with another value. conformance/cluster plays
// such changes on a control plane.
func jobEffects(before, after *ir.Platform, pools []losses.Loss) []Line {
	if before.Name != after.Name || before.Project != after.Project || before.Region != after.Region {
		return nil // the other platform has no jobs yet
	}
	if was, is := before.Scheduler.Facts(), after.Scheduler.Facts(); was.Name != is.Name {
		return nil // the platform must be destroyed before
	}
	lost := map[string][]losses.Why{} // by capacity
	for _, l := range pools {
		lost[l.Capacity] = append(lost[l.Capacity], l.Why)
	}
	lines := slices.Concat(capacityEffects(before, after, lost), queueEffects(before, after, lost))
	return append(lines, priorityEffects(before, after)...)
}

// effect is what happens to jobs of several teams. The text "TEAMS" in what stands for
// their names.
type effect struct{ what, to, note string }

// effects gathers effects with the teams whose jobs they concern.
type effects struct {
	order []effect
	teams map[effect][]string
}

func (e *effects) add(team string, what effect) {
	if e.teams == nil {
		e.teams = map[effect][]string{}
	}
	if e.teams[what] == nil {
		e.order = append(e.order, what)
	}
	e.teams[what] = append(e.teams[what], team)
}

// lines returns a line for each effect, in the order in which they were added.
func (e *effects) lines() []Line {
	var lines []Line
	for _, what := range e.order {
		jobs := strings.Replace(what.what, "TEAMS", shortNames(e.teams[what]), 1)
		lines = append(lines, jobLine(jobs, what.to, what.note))
	}
	return lines
}

func jobLine(jobs, to, note string) Line {
	return Line{Topic: TopicJobs, Subject: jobs, Op: delta.Changed, From: "run", To: to, Note: note}
}

// capacityEffects returns a line for each capacity that leaves, loses nodes or gets nodes
// with other labels, and for each workload that can use no other capacity than those that
// leave. The build's step retire stops the jobs of the same capacities.
func capacityEffects(before, after *ir.Platform, lost map[string][]losses.Why) []Line {
	kept := map[string]*ir.Capacity{}
	for i := range after.Capacities {
		kept[after.Capacities[i].Name] = &after.Capacities[i]
	}
	var lines []Line
	for i := range before.Capacities {
		c := &before.Capacities[i]
		now := kept[c.Name]
		quota := guaranteedText(c)
		switch whys := lost[c.Name]; {
		case now == nil:
			lines = append(lines, lossLine(after, c.Name, []losses.Why{losses.Removed}, quota))
		case !slices.Equal(c.NodeLabels, now.NodeLabels), slices.Contains(whys, losses.Replaced):
			lines = append(lines, lossLine(after, c.Name, []losses.Why{losses.Replaced}, quota))
		case len(whys) > 0:
			lines = append(lines, lossLine(after, c.Name, []losses.Why{losses.Fewer}, deletedText(c, now)))
		}
	}
	queues := queuesByTeam(after)
	stuck := map[string]bool{} // workloads
	for _, w := range before.Workloads {
		i := slices.IndexFunc(queues[w.Team], func(q ir.Queue) bool { return q.LocalQueue == w.Queue })
		if i >= 0 && !stuck[w.Template] && !canReach(&w, &queues[w.Team][i], kept) {
			stuck[w.Template] = true
		}
	}
	if len(stuck) == 0 {
		return lines
	}
	return append(lines, Line{
		Topic: TopicJobs, Subject: "waiting jobs of " + shortNames(slices.Sorted(maps.Keys(stuck))), Op: delta.Changed,
		From: "start", To: "never start",
		Note: "they select labels that no capacity of their queue has: delete them, and submit the new jobs",
	})
}

// JobsOfCluster returns what another cluster in place of this one means for jobs.
func JobsOfCluster() Line {
	return jobLine("jobs of all teams", "are deleted with the cluster", "and so are all queues")
}

// OfLosses returns what node pools that lose nodes mean for jobs, if only the later plan is
// known.
func OfLosses(after *ir.Platform, pools []losses.Loss) []Line {
	stays := map[string]bool{}
	for i := range after.Capacities {
		stays[after.Capacities[i].Name] = true
	}
	var order []string
	lost := map[string][]losses.Why{}
	for _, l := range pools {
		if l.Capacity == after.SystemPool.Name {
			continue
		}
		if lost[l.Capacity] == nil {
			order = append(order, l.Capacity)
		}
		why := l.Why
		if why == losses.Removed && stays[l.Capacity] {
			why = losses.Fewer // one of several slices
		}
		lost[l.Capacity] = append(lost[l.Capacity], why)
	}
	var lines []Line
	for _, capacity := range order {
		lines = append(lines, lossLine(after, capacity, lost[capacity], ""))
	}
	return lines
}

// lossLine returns the line about the jobs on a capacity whose nodes are deleted or
// replaced, or of which only some are. The build stops the jobs of Kueue before Terraform
// runs. Jobs of KAI Scheduler stop with their nodes.
func lossLine(after *ir.Platform, capacity string, whys []losses.Why, note string) Line {
	to := ir.Choose(after.Scheduler, "stop before", "stop when")
	switch {
	case slices.Contains(whys, losses.Replaced):
		to += " the nodes are replaced, and wait in their queues"
	case slices.Contains(whys, losses.Removed):
		to += " the nodes are deleted, and wait in their queues"
	default:
		to = ir.Choose(after.Scheduler, "all stop before some of the nodes are deleted, and wait in their queues",
			"stop if their node is deleted, and wait for another")
	}
	return jobLine(fmt.Sprintf("jobs on capacity %q", capacity), to, note)
}

// queuesByTeam returns the queues of each team.
func queuesByTeam(p *ir.Platform) map[string][]ir.Queue {
	queues := map[string][]ir.Queue{}
	for i := range p.Teams {
		queues[p.Teams[i].Name] = p.Teams[i].Queues
	}
	return queues
}

// canReach reports whether a job that was written for an earlier plan can start on a
// capacity of the queue: the capacity has no other value of a label that the job's
// pods select, and the queue has quota there of every resource that the pods request.
func canReach(w *ir.Workload, q *ir.Queue, capacities map[string]*ir.Capacity) bool {
	return slices.ContainsFunc(q.Flavors, func(f ir.FlavorQuota) bool {
		c := capacities[f.Flavor]
		if c == nil {
			return false
		}
		excluded := slices.ContainsFunc(w.NodeSelector, func(l ir.KeyValue) bool {
			return slices.ContainsFunc(c.NodeLabels, func(has ir.KeyValue) bool {
				return has.Key == l.Key && has.Value != l.Value
			})
		})
		lacks := slices.ContainsFunc(w.Requests, func(a ir.Amount) bool {
			return !slices.ContainsFunc(f.Quotas, func(own ir.ResourceQuota) bool { return own.Resource == a.Resource })
		})
		return !excluded && !lacks
	})
}

// deletedText says which nodes of a capacity are deleted.
func deletedText(was, is *ir.Capacity) string {
	left := slices.DeleteFunc(slices.Clone(was.Zones), func(z string) bool { return slices.Contains(is.Zones, z) })
	switch {
	case len(left) > 0:
		return "the nodes in " + words.And(left) + " are deleted"
	case is.MaxNodes < was.MaxNodes && !was.Static:
		return fmt.Sprintf("up to %d of %s are deleted", was.MaxNodes-is.MaxNodes, words.Count(was.MaxNodes, "node"))
	case is.MaxNodes < was.MaxNodes:
		return fmt.Sprintf("%d of %s are deleted", was.MaxNodes-is.MaxNodes, words.Count(was.MaxNodes, "node"))
	}
	return ""
}

// guaranteedText returns the quota of a capacity that all queues are guaranteed.
func guaranteedText(c *ir.Capacity) string {
	for _, a := range c.Guaranteed {
		if a.Resource == c.CountedIn() {
			return "the queues guarantee " + ir.PrintAmount(a.Resource, a.Quantity) + " there"
		}
	}
	return ""
}

// queueEffects returns the effects on the jobs of teams whose ClusterQueues leave, or
// have less quota.
func queueEffects(before, after *ir.Platform, lost map[string][]losses.Why) []Line {
	now := map[[2]string]*ir.Queue{} // by team and tier
	stays := map[string]bool{}       // teams
	for i := range after.Teams {
		stays[after.Teams[i].Name] = true
		for j := range after.Teams[i].Queues {
			q := &after.Teams[i].Queues[j]
			now[[2]string{after.Teams[i].Name, q.Tier}] = q
		}
	}
	queues := newTally(before)
	left := ir.Choose(after.Scheduler, "stop, and do not start again", "still run, but no further job starts")
	var all effects
	lowered := map[string]bool{} // shared queues that are told
	for i := range before.Teams {
		team := before.Teams[i].Name
		if !stays[team] {
			all.add(team, effect{"jobs of TEAMS", left, "the team leaves"})
			continue
		}
		for j := range before.Teams[i].Queues {
			q := &before.Teams[i].Queues[j]
			is := now[[2]string{team, q.Tier}]
			jobs := "jobs of TEAMS in tier " + q.Tier
			switch {
			case is == nil:
				all.add(team, effect{jobs, left, "the team has no queue in the tier any more"})
			case is.ClusterQueue != q.ClusterQueue:
				all.add(team, effect{
					jobs, "stop, and wait in the new queue",
					"otherwise the old and the new queue would both give quota",
				})
			case q.Shared:
				if !lowered[q.ClusterQueue] {
					lowered[q.ClusterQueue] = true
					all.addLowered("", "jobs in tier "+q.Tier, q, is, queues, lost)
				}
			default:
				all.addLowered(team, jobs, q, is, queues, lost)
			}
		}
	}
	return all.lines()
}

// addLowered adds the effect of each nominal quota that is lower than before, except on
// the capacities that lose nodes. It looks only at the resources in which quota is counted.
func (e *effects) addLowered(
	team, jobs string, was, is *ir.Queue, queues tally, lost map[string][]losses.Why,
) {
	nominal := map[[2]string]*ir.ResourceQuota{}
	for i := range is.Flavors {
		for j := range is.Flavors[i].Quotas {
			q := &is.Flavors[i].Quotas[j]
			nominal[[2]string{is.Flavors[i].Flavor, q.Resource}] = q
		}
	}
	for _, f := range was.Flavors {
		for _, old := range f.Quotas {
			q := nominal[[2]string{f.Flavor, old.Resource}]
			if q == nil || lost[f.Flavor] != nil || q.Nominal.Cmp(old.Nominal) >= 0 ||
				old.Resource != queues.countedIn(f.Flavor) {
				continue
			}
			note := "no new job starts there until the use is below the quota"
			if is.Cohort != "" {
				note += "; other queues of the cohort may evict these jobs to get their guarantee back"
			}
			e.add(team, effect{
				fmt.Sprintf("%s beyond %s of %s", jobs, ir.PrintAmount(q.Resource, q.Nominal), f.Flavor),
				"still run", note,
			})
		}
	}
}

// priorityEffects returns a line for each PriorityClass with another value. Pods and
// Workloads keep the value with which they were created (Kubernetes documentation,
// "Pod Priority and Preemption").
func priorityEffects(before, after *ir.Platform) []Line {
	was := map[string]int32{}
	for _, c := range before.PriorityClasses {
		was[c.Name] = c.Value
	}
	var lines []Line
	for _, c := range after.PriorityClasses {
		old, known := was[c.Name]
		if !known || old == c.Value {
			continue
		}
		note := fmt.Sprintf("new jobs of the class have %d and start first", c.Value)
		switch {
		case old > c.Value:
			note = fmt.Sprintf("new jobs of the class have %d and start after them", c.Value)
		case c.Preempts:
			note += ", and may evict them"
		}
		lines = append(lines, Line{
			Topic: TopicJobs, Subject: fmt.Sprintf("existing jobs of PriorityClass %q", c.Name), Op: delta.Changed,
			From: fmt.Sprint("value ", old), To: fmt.Sprint("still value ", old), Note: note,
		})
	}
	return lines
}
