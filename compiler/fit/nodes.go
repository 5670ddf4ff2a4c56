package fit

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// Nodes says how a copy of a workload fits the nodes of one capacity that can admit it.
type Nodes struct {
	Capacity ir.Capacity
	Most     int // number of nodes that the capacity can have
	PerNode  int // number of pods that a node holds
	Needed   int // number of nodes that the copy needs
	// Limit is the limit of the cluster that allows fewer nodes than the capacity, nil
	// if there is none.
	Limit *Limit
}

// Fits reports whether the capacity has enough nodes.
func (n Nodes) Fits() bool { return n.Needed <= n.Most }

// Held returns the number of pods that all nodes hold.
func (n Nodes) Held() int { return n.PerNode * n.Most }

// Nodes returns how a copy fits the nodes of each capacity that can admit it. It
// returns none if the quota has a mistake, and if a capacity has no nodes for the time
// being: the copy then waits.
func (p *Platform) Nodes(s Submission, taken Taken) []Nodes {
	if s.Spoilt {
		return nil
	}
	var out []Nodes
	for _, f := range s.Quotas() {
		c := p.Named[f.Flavor]
		perNode := c.PodsPerNode(s.Workload.Requests, taken(c)...)
		if perNode == 0 {
			continue
		}
		if waits(c) {
			return nil
		}
		if p.perCapacity() {
			_, admitted := p.Admits(s, f)
			if !admitted || c.Overcommit == "" && exceedsNodes(c, *s.Workload) {
				continue
			}
		}
		out = append(out, Nodes{
			Capacity: c, Most: c.MaxNodes, PerNode: perNode, Needed: s.Workload.NodesPerCopy(perNode),
		})
	}
	return out
}

// CanRun reports whether all pods in a copy can run on the nodes at the same time. Kueue
// assigns them to one capacity, because they are one pod set. KAI Scheduler spreads them
// over all capacities.
func (p *Platform) CanRun(s Submission, on []Nodes) bool {
	if p.perCapacity() {
		return slices.ContainsFunc(on, Nodes.Fits)
	}
	held := 0
	for _, n := range on {
		held += n.Held()
	}
	return held >= s.Workload.Pods
}

// Scales reports whether the autoscaler changes a capacity's number of nodes, whatever
// creates its pools.
func Scales(c ir.Capacity) bool { return !c.Static && c.MaxNodes > c.MinNodes }
