package rehearsal

import (
	"cmp"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// The times in which new nodes start, in seconds. They are assumptions: Google documents
// no such times. The first time covers the decision of the cluster autoscaler, the
// machine, and the installation of drivers. Nodes that exist only on request must be
// obtained first, which can take hours on some days.
const (
	scaleUpSeconds   = 180
	onRequestSeconds = 600
)

// idleSeconds is the time after which the cluster autoscaler deletes a node that nobody
// needs. Source: Kubernetes cluster autoscaler, FAQ, the default of
// --scale-down-unneeded-time. GKE's profile OPTIMIZE_UTILIZATION is faster by an amount
// that Google does not document.
const idleSeconds = 600

// poolsOf returns the pools of the platform, one for each capacity, by name. Every
// capacity must have PerNode.
//
// PerNode is the allocatable amount of a node, without what GKE's own pods request.
func poolsOf(p *ir.Platform) []Pool {
	out := []Pool{}
	for _, c := range p.AllCapacities() {
		pool := Pool{
			Name: c.Name, PerNode: make(map[string]string, len(c.PerNode)), Min: c.IdleNodes(), Max: c.MaxNodes,
			Together: 1, Startup: startupOf(c), Idle: idleSeconds, Labels: make(map[string]string),
		}
		for _, l := range slices.Concat(c.NodeLabels, c.PoolLabels) {
			pool.Labels[l.Key] = l.Value
		}
		for _, t := range c.NodeTaints {
			pool.Taints = append(pool.Taints, Taint(t))
		}
		if c.Waiting {
			pool.Max = 0
		}
		if c.Sliced() {
			pool.Together = c.Machine.Slice.Hosts
		}
		for _, a := range c.PerNode {
			free := a.Quantity.DeepCopy()
			free.Sub(ir.AmountOf(c.SystemPods, a.Resource))
			pool.PerNode[a.Resource] = free.String()
		}
		out = append(out, pool)
	}
	slices.SortFunc(out, func(a, b Pool) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// limitNodes adds the limits of node auto-provisioning that the pools could exceed together.
// The limits on accelerators are never exceeded: each is at least what all capacities have.
func limitNodes(p *ir.Platform, s *Scenario) {
	if !p.AutoProvisioning.Create {
		return
	}
	amounts := map[string]func(m ir.Machine) float64{
		ir.CPU:    func(m ir.Machine) float64 { return float64(m.VCPUs) },
		ir.Memory: func(m ir.Machine) float64 { return m.MemoryGiB },
	}
	machines := map[string]ir.Machine{}
	for _, c := range p.Capacities {
		machines[c.Name] = c.Machine
	}
	system := ir.Machine{VCPUs: p.SystemPool.VCPUs, MemoryGiB: p.SystemPool.MemoryGiB}
	for _, l := range p.AutoProvisioning.Limits {
		amount := amounts[l.Type]
		if amount == nil {
			continue
		}
		room := float64(l.Max) - amount(system)*float64(p.SystemPool.NodesPerZone*len(p.Zones))
		most := 0.0
		for _, pool := range s.Pools {
			most += amount(machines[pool.Name]) * float64(pool.Max)
		}
		if most <= room {
			continue
		}
		s.Limits = append(s.Limits, Limit{Resource: l.Type, Most: room})
		for i, pool := range s.Pools {
			if s.Pools[i].Machine == nil {
				s.Pools[i].Machine = map[string]float64{}
			}
			s.Pools[i].Machine[l.Type] = amount(machines[pool.Name])
		}
	}
}

// startupOf returns the time in which a new node of a capacity starts, in seconds. It is 0
// if the number of nodes is fixed, because no node is new.
func startupOf(c ir.Capacity) int64 {
	switch {
	case c.Static:
		return 0
	case c.Option.Facts().OnRequest:
		return onRequestSeconds
	}
	return scaleUpSeconds
}
