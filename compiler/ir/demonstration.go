package ir

import "slices"

// Phase is one phase of the demonstration. Its steps are performed in the order of
// the fields.
type Phase struct {
	Name  string
	Shows string   // what the phase shows, "" if the blueprint does not say it
	Teams []string // the teams that take part, sorted; nil for all teams

	Cordon   []CapacityCount // numbers of nodes, by capacity
	Uncordon []string        // capacities, sorted
	Delete   []string        // templates of workloads, in the order of the blueprint
	Submit   []string        // templates of workloads, in the order of the blueprint
	OneByOne bool            // each job is submitted when all pods of the job before it run
	// WaitSeconds is the longest time to wait for the expected state, and for the pods of
	// each job that must run before the next one is submitted.
	WaitSeconds int

	Queues  []QueueCount // by tier
	Evicted []JobCount   // by template
	Moved   []MovedCount // by template and capacity
	// Completed lists the templates all of whose jobs have succeeded, in the order in which
	// their last jobs end.
	Completed []string
	// Pods are the numbers of running pods by capacity. They list the capacities on which
	// some phase expects pods, or on which its workloads can run; if there are none, all
	// capacities. It is nil if any number is expected.
	Pods    []CapacityCount
	Pending *int // number of pods that wait for nodes; nil for any number
	// Nodes lists the templates whose pods share a node, for each node that runs pods;
	// each list is sorted. It is nil if any placement is expected.
	Nodes [][]string
}

// CapacityCount is a number that belongs to a capacity.
type CapacityCount struct {
	Capacity string
	Count    int
}

// QueueCount holds the expected numbers of jobs in each ClusterQueue of a tier.
type QueueCount struct {
	Tier              string
	Pending, Admitted int
}

// JobCount is a number of jobs of a workload, for each team that has submitted it.
type JobCount struct {
	Template string
	Count    int
}

// MovedCount is a number of jobs of a workload that were evicted for other jobs and have
// quota on a capacity now, for each team that has submitted the workload.
type MovedCount struct {
	Template, Capacity string
	Count              int
}

// TakesPart reports whether a team deletes and submits in the phase, and whether the
// expected counts are about its queues and jobs.
func (p Phase) TakesPart(team string) bool {
	return p.Teams == nil || slices.Contains(p.Teams, team)
}

// QueuesOf returns the ClusterQueues of a tier whose counts a phase expects, sorted. A
// queue that teams share counts if one of them takes part.
func (p *Platform) QueuesOf(phase Phase, tier string) []string {
	var out []string
	for q, teams := range p.ClusterQueues() {
		if q.Tier == tier && slices.ContainsFunc(teams, func(t SharingTeam) bool { return phase.TakesPart(t.Name) }) {
			out = append(out, q.ClusterQueue)
		}
	}
	slices.Sort(out)
	return out
}

// CleanUpPhase is the argument of demonstrate.sh that removes the demonstration. No
// phase has this name.
const CleanUpPhase = "clean-up"

// CordonedKey and CordonedValue are the label of the nodes that the demonstration has
// cordoned. It distinguishes them from nodes that somebody else has cordoned.
const CordonedKey, CordonedValue = "demonstration", "cordoned"

// Demonstrated returns the workloads of the phases, each template once, in the order
// in which they are first submitted. The slice holds all copies of all teams.
func (p *Platform) Demonstrated() [][]Workload {
	var templates []string
	for _, phase := range p.Demonstration {
		for _, name := range phase.Submit {
			if !slices.Contains(templates, name) {
				templates = append(templates, name)
			}
		}
	}
	out := make([][]Workload, len(templates))
	for _, w := range p.Workloads {
		if i := slices.Index(templates, w.Template); i >= 0 {
			out[i] = append(out[i], w)
		}
	}
	return slices.DeleteFunc(out, func(copies []Workload) bool { return len(copies) == 0 })
}

// Standing returns the workloads that exist after a phase, all copies of all teams: those
// that this phase or an earlier one submits, and no later one of them deletes. The phase is
// an index.
func (p *Platform) Standing(phase int) []Workload {
	var out []Workload
	for _, w := range p.Workloads {
		stands := false
		for _, at := range p.Demonstration[:phase+1] {
			stands = at.TakesPart(w.Team) && slices.Contains(at.Submit, w.Template) ||
				stands && !(at.TakesPart(w.Team) && slices.Contains(at.Delete, w.Template))
		}
		if stands {
			out = append(out, w)
		}
	}
	return out
}

// TierOf returns the tier whose queue a workload is submitted to, "" if there is none.
func (p *Platform) TierOf(w Workload) string {
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			if t.Name == w.Team && q.LocalQueue == w.Queue {
				return q.Tier
			}
		}
	}
	return ""
}

// Chips returns the accelerators that each pod of a workload requests.
func (w Workload) Chips() int {
	for _, r := range w.Requests {
		if r.Resource == GPU || r.Resource == TPU {
			return int(r.Quantity.Value())
		}
	}
	return 0
}

// ChipsEach returns the accelerators of each pod of some workloads, and reports whether all
// have the same number.
func ChipsEach(workloads []Workload) (chips int, same bool) {
	for i, w := range workloads {
		if i > 0 && w.Chips() != chips || len(w.Auxiliaries) > 0 {
			return 0, false
		}
		chips = w.Chips()
	}
	return chips, true
}
