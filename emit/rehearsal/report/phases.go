package report

import (
	"cmp"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
)

// Phase is the state after a phase of the demonstration, beside what the phase expects.
type Phase struct {
	Name    string `json:"name"`
	Shows   string `json:"shows"` // "" if the blueprint does not say it
	Reached bool   `json:"reached"`
	At      int64  `json:"at"` // time of the state; if Reached is false, all counts are absent
	// Queues are the ClusterQueues with jobs or with an expectation: the queues that
	// teams share, then the queues of each team. Tiers of higher priority come first.
	Queues []PhaseQueue `json:"queues"`
	// Evicted are the workloads with jobs that exist and were evicted for other jobs, or
	// with an expectation of such jobs.
	Evicted []PhaseEvicted `json:"evicted"`
	Pods    []PhasePods    `json:"pods"`    // by capacity
	Pending Count          `json:"pending"` // pods that wait for nodes
	// Differences are those of rehearsal.Differences.
	Differences []rehearsal.Difference `json:"differences"`
}

// Count is a number, and the number that was expected. Want is nil if any is.
type Count struct {
	Got  int  `json:"got"`
	Want *int `json:"want"`
}

// PhaseQueue counts the jobs of a ClusterQueue.
type PhaseQueue struct {
	ClusterQueue string `json:"queue"`
	Team         string `json:"team"` // "" for a queue that teams share
	Tier         string `json:"tier"`
	Pending      Count  `json:"pending"`  // without quota
	Admitted     Count  `json:"admitted"` // with quota and all admission checks
}

// PhaseEvicted counts the jobs of a workload of a team that were evicted for other jobs.
type PhaseEvicted struct {
	Workload string `json:"workload"`
	Team     string `json:"team"`
	Jobs     Count  `json:"jobs"`
}

// PhasePods counts the running pods of a capacity.
type PhasePods struct {
	Capacity string `json:"capacity"`
	Pods     Count  `json:"pods"`
}

// phases returns the phases of the demonstration.
func (a *analysis) phases() []Phase {
	differences := rehearsal.Differences(a.plan, a.scenario, a.history)
	out := []Phase{}
	for i, phase := range a.plan.Demonstration {
		p := Phase{
			Name: phase.Name, Shows: phase.Shows, Queues: []PhaseQueue{}, Evicted: []PhaseEvicted{},
			Pods: []PhasePods{}, Differences: []rehearsal.Difference{},
		}
		for _, d := range differences {
			if d.Phase == phase.Name {
				p.Differences = append(p.Differences, d)
			}
		}
		if state, ok := a.stateAt(i); ok {
			p.Reached, p.At = true, state.At
			p.Queues = a.phaseQueues(phase, state)
			p.Evicted = a.phaseEvicted(phase, state.At)
			p.Pods = a.phasePods(phase, state)
			p.Pending = Count{state.Pending, phase.Pending}
		}
		out = append(out, p)
	}
	return out
}

// stateAt returns the state at a look of the scenario.
func (a *analysis) stateAt(look int) (rehearsal.State, bool) {
	if look < len(a.scenario.Looks) {
		for _, s := range a.history.States {
			if s.At == a.scenario.Looks[look] {
				return s, true
			}
		}
	}
	return rehearsal.State{}, false
}

func (a *analysis) phaseQueues(phase ir.Phase, state rehearsal.State) []PhaseQueue {
	expected := map[string]ir.QueueCount{}
	for _, e := range phase.Queues {
		for _, name := range a.plan.QueuesOf(phase, e.Tier) {
			expected[name] = e
		}
	}
	states := map[string]rehearsal.QueueState{}
	for _, q := range state.Queues {
		states[q.ClusterQueue] = q
	}
	teams, tiers := map[string]int{}, map[string]int{} // their numbers in the order of the rows
	for i, t := range a.plan.Teams {
		teams[t.Name] = i + 1 // after the queues that teams share
	}
	for i, tier := range tiersOf(a.plan) {
		tiers[tier] = i
	}
	out := []PhaseQueue{}
	for q, owners := range a.plan.ClusterQueues() {
		got := states[q.ClusterQueue]
		row := PhaseQueue{
			ClusterQueue: q.ClusterQueue, Tier: q.Tier, Pending: Count{Got: got.Pending},
			Admitted: Count{Got: got.Admitted},
		}
		if q.LocalQueue != "" {
			row.Team = owners[0].Name
		}
		e, ok := expected[q.ClusterQueue]
		if ok {
			row.Pending.Want, row.Admitted.Want = &e.Pending, &e.Admitted
		}
		if ok || got.Pending+got.Admitted > 0 {
			out = append(out, row)
		}
	}
	slices.SortStableFunc(out, func(a, b PhaseQueue) int {
		return cmp.Or(cmp.Compare(teams[a.Team], teams[b.Team]), cmp.Compare(tiers[a.Tier], tiers[b.Tier]))
	})
	return out
}

func (a *analysis) phaseEvicted(phase ir.Phase, at int64) []PhaseEvicted {
	out := []PhaseEvicted{}
	for t, template := range a.scenario.Templates {
		jobs, evicted, known := rehearsal.CountEvicted(a.scenario, a.history, t, at)
		row := PhaseEvicted{Workload: template.Name, Team: template.Team, Jobs: Count{Got: evicted}}
		i := slices.IndexFunc(phase.Evicted, func(c ir.JobCount) bool { return c.Template == template.Name })
		if i >= 0 && phase.TakesPart(template.Team) {
			row.Jobs.Want = &phase.Evicted[i].Count
		}
		if known && jobs > 0 && (evicted > 0 || row.Jobs.Want != nil) {
			out = append(out, row)
		}
	}
	return out
}

func (a *analysis) phasePods(phase ir.Phase, state rehearsal.State) []PhasePods {
	out := []PhasePods{}
	for _, pool := range a.scenario.Pools {
		row := PhasePods{Capacity: pool.Name, Pods: Count{Got: state.Pods[pool.Name]}}
		for _, e := range phase.Pods {
			if e.Capacity == pool.Name {
				row.Pods.Want = &e.Count
			}
		}
		out = append(out, row)
	}
	return out
}
