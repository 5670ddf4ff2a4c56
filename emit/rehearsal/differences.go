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
	var out []Difference
	for i, phase := range p.Demonstration {
		c := &comparison{plan: p, scenario: s, history: h, phase: phase}
		if j := c.stateAt(i); j < 0 {
			c.add(Difference{What: "state after the phase", Missing: true})
		} else {
			c.state = h.States[j]
			c.compareQueues()
			c.compareEvictions()
			c.comparePods()
		}
		out = append(out, c.differences...)
	}
	return out
}

// comparison compares the state after a phase with what the phase expects.
type comparison struct {
	plan        *ir.Platform
	scenario    *Scenario
	history     *History
	phase       ir.Phase
	state       State
	differences []Difference
}

// stateAt returns the index of the state at a look of the scenario, or -1 if there is no
// such look or no such state.
func (c *comparison) stateAt(look int) int {
	if look >= len(c.scenario.Looks) {
		return -1
	}
	return slices.IndexFunc(c.history.States, func(s State) bool { return s.At == c.scenario.Looks[look] })
}

// add adds a difference of the phase.
func (c *comparison) add(d Difference) {
	d.Phase = c.phase.Name
	c.differences = append(c.differences, d)
}

// compare adds a difference if the numbers differ, or if the history has no number.
func (c *comparison) compare(what string, want, got int, known bool) {
	switch {
	case !known:
		c.add(Difference{What: what, Want: want, Missing: true})
	case want != got:
		c.add(Difference{What: what, Want: want, Got: got})
	}
}

// compareQueues compares the numbers of jobs in the ClusterQueues of the teams that take
// part.
func (c *comparison) compareQueues() {
	for _, expected := range c.phase.Queues {
		for _, name := range c.plan.QueuesOf(c.phase, expected.Tier) {
			i := slices.IndexFunc(c.state.Queues, func(q QueueState) bool { return q.ClusterQueue == name })
			var got QueueState
			if i >= 0 {
				got = c.state.Queues[i]
			}
			c.compare("queue "+name+": pending", expected.Pending, got.Pending, i >= 0)
			c.compare("queue "+name+": admitted", expected.Admitted, got.Admitted, i >= 0)
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
			jobs, lost, known := c.countEvicted(t)
			if jobs > 0 {
				c.compare("jobs of "+template.Name+" that "+template.Team+" has lost", expected.Count, lost, known)
			}
		}
	}
}

// countEvicted returns the number of jobs of a template that exist, and how many of them
// were evicted for other jobs. known reports whether the history has all of the jobs.
func (c *comparison) countEvicted(template int) (jobs, evicted int, known bool) {
	known = true
	for i, job := range c.scenario.Jobs {
		deleted := job.Deleted > 0 && job.Deleted <= c.state.At
		if job.Template != template || job.At > c.state.At || deleted {
			continue
		}
		jobs++
		if i >= len(c.history.Jobs) {
			known = false
			continue
		}
		if slices.ContainsFunc(c.history.Jobs[i].Runs, c.lost) {
			evicted++
		}
	}
	return jobs, evicted, known
}

// lost reports whether a run has ended, by the time of the state, because another job
// needed its quota.
func (c *comparison) lost(r Run) bool {
	return r.Evicted == preempted && r.Ended > 0 && r.Ended <= c.state.At
}

// comparePods compares the numbers of pods that run and that wait for nodes.
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
	c.compareNodes()
}

// compareNodes compares the numbers of nodes that run pods of the same workloads.
func (c *comparison) compareNodes() {
	if c.phase.Nodes == nil {
		return
	}
	if c.state.Nodes == nil {
		c.compare("pods that share a node", len(c.phase.Nodes), 0, false)
		return
	}
	want, got := map[string]int{}, map[string]int{}
	for _, node := range c.phase.Nodes {
		want[strings.Join(node, ", ")]++
	}
	for _, node := range c.state.Nodes {
		got[strings.Join(node, ", ")]++
	}
	both := maps.Clone(want)
	maps.Copy(both, got)
	for _, pods := range slices.Sorted(maps.Keys(both)) {
		c.compare("nodes that run "+pods, want[pods], got[pods], true)
	}
}
