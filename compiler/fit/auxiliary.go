package fit

import (
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// Auxiliaries returns the auxiliary pods of a workload on capacities of its tier without
// accelerators. Other capacities are a mistake.
func (p *Platform) Auxiliaries(s Submission) []ir.Auxiliary {
	return slices.DeleteFunc(slices.Clone(s.Workload.Auxiliaries), func(a ir.Auxiliary) bool {
		return p.Named[a.Capacity].HasAccelerators() || !slices.Contains(s.Tier, a.Capacity)
	})
}

// AuxiliariesAdmitted reports whether the auxiliary pods of a workload fit the quota of
// a capacity, together with its own pods if these need the same quota. If not, lack
// names the resource that is too scarce.
func (p *Platform) AuxiliariesAdmitted(s Submission, capacity string) (lack string, ok bool) {
	quota, found := s.QuotaOn(capacity)
	switch {
	case !found:
		return "", false
	case !p.Scheduler.Facts().CountsCPU:
		return "", true
	}
	requests := p.sharedRequests(s, capacity)
	for _, a := range s.Workload.Auxiliaries {
		if a.Capacity == capacity {
			requests = ir.SumAmounts(requests, a.Requests)
		}
	}
	return within(requests, 1, p.reachable(s, quota))
}

// sharedRequests returns the sum of what a workload's own pods request of a capacity, if
// no other capacity can admit them. The sum is empty if this one cannot either.
func (p *Platform) sharedRequests(s Submission, capacity string) []ir.Amount {
	here := false
	for _, f := range s.Quotas() {
		c := p.Named[f.Flavor]
		_, fitsNode := OnNode(s.Workload.Requests, c)
		_, admitted := p.Admits(s, f)
		if (fitsNode && admitted || waits(c)) && f.Flavor != capacity {
			return nil
		}
		here = here || fitsNode && admitted && f.Flavor == capacity
	}
	if !here {
		return nil
	}
	return multiply(s.Workload.Requests, s.Workload.Pods)
}

// auxiliaryRequests returns the requests of a workload's auxiliary pods by capacity. It
// omits pods that fit no node or no quota, and capacities without nodes for the time
// being.
func (p *Platform) auxiliaryRequests(s Submission) map[string][][]ir.Amount {
	out := map[string][][]ir.Amount{}
	for _, a := range p.Auxiliaries(s) {
		c := p.Named[a.Capacity]
		if waits(c) {
			continue
		}
		_, fits := OnNode(a.Requests, c)
		_, admitted := p.AuxiliariesAdmitted(s, a.Capacity)
		if fits && admitted {
			out[a.Capacity] = append(out[a.Capacity], a.Requests)
		}
	}
	return out
}

// AuxiliaryNodes returns the number of nodes that the auxiliary pods of a workload need
// of each capacity, without its own pods.
func (p *Platform) AuxiliaryNodes(s Submission) []Nodes {
	var out []Nodes
	auxiliaries := p.auxiliaryRequests(s)
	for _, name := range sortedKeys(auxiliaries) {
		c := p.Named[name]
		out = append(out, Nodes{
			Capacity: c, Most: c.MaxNodes, Needed: p.nodesTogether(c, 0, nil, auxiliaries[name]),
		})
	}
	return out
}

// nodesTogether returns the same as Capacity.NodesTogether, which tries many divisions.
// It computes the number once for all teams that submit equal pods.
func (p *Platform) nodesTogether(c ir.Capacity, pods int, requests []ir.Amount, singles [][]ir.Amount,
	taken ...ir.Amount) int {
	key := fmt.Appendf(nil, "%s\x00%d", c.Name, pods)
	for _, amounts := range append([][]ir.Amount{taken, requests}, singles...) {
		key = append(key, 0)
		for _, a := range amounts {
			key = fmt.Appendf(key, "%s=%s ", a.Resource, a.Quantity.String())
		}
	}
	n, known := p.together[string(key)]
	if !known {
		n = c.NodesTogether(pods, requests, singles, taken...)
		p.together[string(key)] = n
	}
	return n
}

// Crowded returns the first capacity that has no room for the auxiliary pods of a
// workload, with the number of nodes that they need; 0 if a pod fits no node. The
// workload's own pods fit the given nodes without auxiliary pods. If they can only run on
// the same nodes, they count too.
func (p *Platform) Crowded(s Submission, on []Nodes, taken Taken) (crowded Nodes, found bool) {
	auxiliaries := p.auxiliaryRequests(s)
	for _, name := range sortedKeys(auxiliaries) {
		c := p.Named[name]
		pods := s.Workload.Pods
		if slices.ContainsFunc(on, func(n Nodes) bool { return n.Fits() && n.Capacity.Name != name }) ||
			!p.perCapacity() && len(on) > 1 {
			pods = 0 // the workload's own pods have other nodes
		}
		needed := p.nodesTogether(c, pods, s.Workload.Requests, auxiliaries[name], taken(c)...)
		if needed == 0 || needed > c.MaxNodes {
			return Nodes{Capacity: c, Most: c.MaxNodes, Needed: needed}, true
		}
	}
	return Nodes{}, false
}

// CrowdedTogether returns the first capacity that can admit all pods of a workload, and
// whose nodes hold its own pods, but not together with its auxiliary pods. It needs nodes
// for all of them.
func (p *Platform) CrowdedTogether(s Submission, on []Nodes) (crowded Nodes, found bool) {
	auxiliaries := p.auxiliaryRequests(s)
	for _, n := range on {
		singles := auxiliaries[n.Capacity.Name]
		if singles == nil || !n.Fits() {
			continue
		}
		all := multiply(s.Workload.Requests, s.Workload.Pods)
		for _, single := range singles {
			all = ir.SumAmounts(all, single)
		}
		quota, _ := s.QuotaOn(n.Capacity.Name) // it admits the workload's own pods
		if _, admitted := within(all, 1, p.reachable(s, quota)); !admitted {
			continue
		}
		n.Needed = p.nodesTogether(n.Capacity, s.Workload.Pods, s.Workload.Requests, singles)
		if !n.Fits() {
			return n, true
		}
	}
	return Nodes{}, false
}

// isCrowded reports whether the nodes of a capacity have no room for a workload together
// with its auxiliary pods.
func (p *Platform) isCrowded(s Submission, on []Nodes, taken Taken) bool {
	_, never := p.Crowded(s, on, taken)
	_, first := p.CrowdedTogether(s, on)
	return never || first
}
