package fit

import (
	"math"
	"slices"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
)

// Limit is a limit of the whole cluster on what its machines have. The autoscaler starts
// no node beyond it, in any node pool. Source: GKE documentation, "About node pool
// auto-creation", resource limits.
type Limit struct {
	Resource string // CPU or memory
	Most     float64
	standing float64 // of the nodes that always exist
}

// perNode returns what a machine has: vCPUs, or GiB of memory.
func (l Limit) perNode(m ir.Machine) float64 {
	if l.Resource == ir.CPU {
		return float64(m.VCPUs)
	}
	return m.MemoryGiB
}

// Limits returns the limits of the cluster on vCPUs and memory, none if GKE creates no
// node pools.
func (p *Platform) Limits() []Limit {
	if !p.AutoProvisioning.Create {
		return nil
	}
	var out []Limit
	for _, l := range p.AutoProvisioning.Limits {
		if l.Type == ir.CPU || l.Type == ir.Memory {
			limit := Limit{Resource: l.Type, Most: float64(l.Max)}
			limit.standing = p.standing(limit)
			out = append(out, limit)
		}
	}
	return out
}

// standing returns what the nodes that always exist have together: the nodes of the
// system pool, and the least nodes of every capacity.
func (p *Platform) standing(l Limit) float64 {
	pool := p.SystemPool
	sum := l.perNode(ir.Machine{VCPUs: pool.VCPUs, MemoryGiB: pool.MemoryGiB}) * float64(pool.NodesPerZone*len(p.Zones))
	for _, c := range p.Capacities {
		sum += l.perNode(c.Machine) * float64(c.MinNodes)
	}
	return sum
}

// LimitNeed is the lowest limit with which every capacity can start.
type LimitNeed struct {
	First  string // capacity that needs it
	Amount float64
}

// SmallestLimit returns the lowest limit of cpu or memory with which each capacity that
// scales can start its first nodes while no other capacity scales. It is 0 if the system
// pool has accelerators, which is a mistake.
func (p *Platform) SmallestLimit(resourceName string) LimitNeed {
	if p.wrongSystemPool() {
		return LimitNeed{}
	}
	l := Limit{Resource: resourceName}
	standing := p.standing(l)
	var need LimitNeed
	for _, c := range p.Capacities {
		if !Scales(c) || c.MinNodes > 0 {
			continue
		}
		if amount := standing + l.perNode(c.Machine)*float64(hosts(c)); amount > need.Amount {
			need = LimitNeed{c.Name, amount}
		}
	}
	return need
}

// wrongSystemPool reports whether the system pool has accelerators.
func (p *Platform) wrongSystemPool() bool {
	m, _ := catalog.Usable(p.SystemPool.Machine)
	return m.Accelerator != ""
}

// hosts returns how many nodes start together: all nodes in a TPU slice, otherwise 1.
func hosts(c ir.Capacity) int {
	if c.Sliced() {
		return c.Machine.Slice.Hosts
	}
	return 1
}

func (p *Platform) bindingLimits() []Limit {
	if p.wrongSystemPool() {
		return nil
	}
	return slices.DeleteFunc(p.Limits(), func(l Limit) bool { return p.SmallestLimit(l.Resource).Amount > l.Most })
}

// Limited returns nodes with the number that each capacity can have within the binding
// limits, while no other capacity scales.
func (p *Platform) Limited(on []Nodes) []Nodes {
	out, limits := slices.Clone(on), p.BindingLimits()
	for i, n := range out {
		for _, l := range limits {
			one := l.perNode(n.Capacity.Machine)
			if !Scales(n.Capacity) || one <= 0 {
				continue
			}
			unit := hosts(n.Capacity)
			nodes := n.Capacity.MinNodes + max(0, int((l.Most-l.standing)/one)/unit*unit)
			if nodes < out[i].Most {
				out[i].Most, out[i].Limit = nodes, &l
			}
		}
	}
	return out
}

// Need returns the least limit with which a capacity can have the nodes that a copy needs.
func (l Limit) Need(n Nodes) float64 {
	return math.Ceil(l.standing + l.perNode(n.Capacity.Machine)*float64(n.Needed-n.Capacity.MinNodes))
}

// Together returns what all nodes have at least if a copy runs on one of the capacities
// that it fits, and its auxiliary pods on theirs. It is infinite if the copy fits none.
func (l Limit) Together(on, auxiliary []Nodes) float64 {
	least := math.Inf(1)
	for _, n := range on {
		if n.Fits() {
			least = min(least, l.standing+l.scaled(append([]Nodes{n}, auxiliary...)))
		}
	}
	return least
}

// scaled returns what the nodes that the autoscaler must start have together. Pods of
// two elements that use the same capacity share its nodes, so only the larger number
// counts.
func (l Limit) scaled(on []Nodes) float64 {
	most := map[string]float64{}
	for _, n := range on {
		if name := n.Capacity.Name; Scales(n.Capacity) {
			more := float64(max(0, n.Needed-n.Capacity.MinNodes))
			most[name] = max(most[name], more*l.perNode(n.Capacity.Machine))
		}
	}
	sum := 0.0
	for _, name := range sortedKeys(most) { // in one order: the sum of floats depends on it
		sum += most[name]
	}
	return sum
}
