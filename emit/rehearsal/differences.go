package rehearsal

import (
	"maps"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// preempted is the reason of evictions for other jobs. Source: Kueue v1beta2 API,
// WorkloadEvictedByPreemption.
const preempted EvictionReason = "Preempted"

// Difference is a number that differs from what a phase of the demonstration expects.
type Difference struct {
	Phase string `json:"phase"`
	What  string `json:"what"` // such as "capacity l4-spot: running pods"
	Want  int    `json:"want"`
	Got   int    `json:"got"`
	// Missing reports whether the history does not have the number. Got is then 0.
	Missing bool `json:"missing,omitempty"`
}

// Differences compares a history with the numbers that the phases of the platform's
// demonstration expect, as demonstrate.sh compares the cluster. The scenario must be that
// of OfDemonstration, and the history that of the scenario. The result is in the order of
// the phases, and within a phase in the order of queues, evictions and pods; it is nil if
// everything is as expected.
//
// A phase whose look the rehearsal did not reach has one difference, which is missing. So
// has a phase that expects pods to share nodes, if the history does not tell it.
func Differences(p *ir.Platform, s *Scenario, h *History) []Difference {
	c := &comparison{plan: p, scenario: s, history: h}
	for i, phase := range p.Demonstration {
		state, known := StateAfter(s, h, i)
		c.phase, c.state = phase, state
		if !known {
			c.compare("state after the phase", 0, 0, false)
			continue
		}
		c.compareQueues()
		c.compareEvictions()
		c.compareMoves()
		c.compareCompleted()
		c.comparePods()
	}
	return c.differences
}

// StateAfter returns the state after a phase of the demonstration, if the rehearsal has
// reached its look.
func StateAfter(s *Scenario, h *History, phase int) (state State, known bool) {
	if phase >= len(s.Looks) {
		return State{}, false
	}
	i := slices.IndexFunc(h.States, func(state State) bool { return state.At == s.Looks[phase] })
	if i < 0 {
		return State{}, false
	}
	return h.States[i], true
}

// comparison compares the states after phases with what the phases expect.
type comparison struct {
	plan        *ir.Platform
	scenario    *Scenario
	history     *History
	phase       ir.Phase
	state       State // after the phase
	differences []Difference
}

// compare adds a difference if the numbers differ, or if the history has no number.
func (c *comparison) compare(what string, want, got int, known bool) {
	if known && want == got {
		return
	}
	d := Difference{Phase: c.phase.Name, What: what, Want: want, Missing: !known}
	if known {
		d.Got = got
	}
	c.differences = append(c.differences, d)
}

// compareQueues compares the numbers of jobs in the ClusterQueues of the teams that take
// part.
func (c *comparison) compareQueues() {
	got := map[string]QueueState{}
	for _, q := range c.state.Queues {
		got[q.ClusterQueue] = q
	}
	for _, expected := range c.phase.Queues {
		for _, name := range c.plan.QueuesOf(c.phase, expected.Tier) {
			q, known := got[name]
			c.compare("queue "+name+": pending", expected.Pending, q.Pending, known)
			c.compare("queue "+name+": admitted", expected.Admitted, q.Admitted, known)
		}
	}
}

// compareEvictions compares the numbers of jobs that were evicted for other jobs since
// they were submitted, for each team that takes part and has jobs. A job counts once,
// however often it was evicted, and only while it exists.
func (c *comparison) compareEvictions() {
	for _, expected := range c.phase.Evicted {
		for t, template := range c.scenario.Templates {
			if template.Name != expected.Template || !c.phase.TakesPart(template.Team) {
				continue
			}
			jobs, lost, known := c.countEvicted(t, "")
			if jobs > 0 {
				c.compare("jobs of "+template.Name+" that "+template.Team+" has lost", expected.Count, lost, known)
			}
		}
	}
}

// compareMoves compares the numbers of jobs that were evicted for other jobs, and that have
// quota on a capacity now, as compareEvictions does.
func (c *comparison) compareMoves() {
	for _, expected := range c.phase.Moved {
		for t, template := range c.scenario.Templates {
			if template.Name != expected.Template || !c.phase.TakesPart(template.Team) {
				continue
			}
			jobs, moved, known := c.countEvicted(t, expected.Capacity)
			if jobs > 0 {
				c.compare(
					"evicted jobs of "+template.Name+" of "+template.Team+" that have quota on "+expected.Capacity,
					expected.Count,
					moved,
					known,
				)
			}
		}
	}
}

// compareCompleted compares the numbers of jobs that have finished, and the order of the
// workloads by the ends of their last jobs.
func (c *comparison) compareCompleted() {
	before, last := "", int64(0)
	for _, name := range c.phase.Completed {
		jobs, finished, end, known := c.countFinished(name)
		c.compare("jobs of "+name+" that have succeeded", jobs, finished, known)
		if before != "" && known && finished == jobs && end < last {
			c.compare("seconds from the last end of "+before+" to the last end of "+name, 0, int(end-last), true)
		}
		before, last = name, end
	}
}

// countFinished returns the number of jobs of a workload that exist, how many of them have
// finished, and the last end. known reports whether the history has all of the jobs.
func (c *comparison) countFinished(workload string) (jobs, finished int, end int64, known bool) {
	known = true
	for i, job := range c.scenario.Jobs {
		deleted := job.Deleted > 0 && job.Deleted <= c.state.At
		template := c.scenario.Templates[job.Template]
		if template.Name != workload || job.At > c.state.At || deleted || !c.phase.TakesPart(template.Team) {
			continue
		}
		jobs++
		if i >= len(c.history.Jobs) {
			known = false
		} else if h := c.history.Jobs[i]; h.Outcome == Finished && h.End <= c.state.At {
			finished++
			end = max(end, h.End)
		}
	}
	return jobs, finished, end, known
}

// countEvicted returns the number of jobs of a template that exist, and how many of them
// were evicted for other jobs and have quota on a capacity now, "" for any or none. known
// reports whether the history has all of the jobs.
func (c *comparison) countEvicted(template int, capacity string) (jobs, evicted int, known bool) {
	known = true
	lost := func(r Run) bool { return r.Evicted == preempted && r.Ended > 0 && r.Ended <= c.state.At }
	for i, job := range c.scenario.Jobs {
		deleted := job.Deleted > 0 && job.Deleted <= c.state.At
		if job.Template != template || job.At > c.state.At || deleted {
			continue
		}
		jobs++
		if i >= len(c.history.Jobs) {
			known = false
		} else if runs := c.history.Jobs[i].Runs; slices.ContainsFunc(runs, lost) &&
			(capacity == "" || slices.ContainsFunc(runs, c.holds(capacity))) {
			evicted++
		}
	}
	return jobs, evicted, known
}

// holds returns a function that reports whether a run has quota on a capacity at the time of
// the state.
func (c *comparison) holds(capacity string) func(Run) bool {
	return func(r Run) bool {
		return r.Reserved <= c.state.At && (r.Ended == 0 || r.Ended > c.state.At) &&
			slices.ContainsFunc(r.Flavors, func(f PodSetFlavor) bool { return f.Flavor == capacity })
	}
}

// comparePods compares the numbers of pods that run and that wait for nodes, and of nodes
// that run pods of the same workloads.
func (c *comparison) comparePods() {
	for _, expected := range c.phase.Pods {
		got, known := c.state.Pods[expected.Capacity]
		inPool := func(u PoolUse) bool { return u.Name == expected.Capacity }
		known = known || slices.ContainsFunc(c.history.Pools, inPool)
		c.compare("capacity "+expected.Capacity+": running pods", expected.Count, got, known)
	}
	if c.phase.Pending != nil {
		c.compare("pods that wait for nodes", *c.phase.Pending, c.state.Pending, true)
	}
	switch {
	case c.phase.Nodes == nil:
	case c.state.Nodes == nil:
		c.compare("pods that share a node", len(c.phase.Nodes), 0, false)
	default:
		want, got := countNodes(c.phase.Nodes), countNodes(c.state.Nodes)
		both := maps.Clone(want)
		maps.Copy(both, got)
		for _, pods := range slices.Sorted(maps.Keys(both)) {
			c.compare("nodes that run "+pods, want[pods], got[pods], true)
		}
	}
}

// countNodes counts nodes by the workloads of their pods.
func countNodes(nodes [][]string) map[string]int {
	out := map[string]int{}
	for _, pods := range nodes {
		out[strings.Join(pods, ", ")]++
	}
	return out
}
