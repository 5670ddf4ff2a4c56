package fit

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// Paid is a capacity whose nodes or machines are paid without jobs.
type Paid struct {
	ir.Capacity
	// Any reports whether the nodes come from any reservation that matches. Only nodes at
	// the list price are then known to be the worse choice: the blueprint does not say
	// whether a reservation exists, or who pays for it.
	Any bool
}

// Late is a capacity that is paid without jobs, and that jobs try after another one with
// equal nodes, which start and cost when jobs need them.
type Late struct {
	Paid
	Tier, Before string
	Index        int // in the tier's capacities
}

// TriedLate returns the capacities that are tried late in a tier. Kueue tries the
// capacities of a tier in their order, which tiers holds. It returns no capacity that some
// queue or workload tries first, because the order can then keep it free for this one.
// Capacities of different hardware are not alternatives to each other, unless a workload
// runs on the GPUs of both.
func (p *Platform) TriedLate(tiers map[string][]string) []Late {
	t := p.newTriedOrder()
	late := map[string]map[string]string{} // by tier and paid capacity, the first one that is tried before
	record := func(tier string, found map[string]string) {
		if late[tier] == nil {
			late[tier] = map[string]string{}
		}
		for name, before := range found {
			known, ok := late[tier][name]
			if !ok || slices.Index(tiers[tier], before) < slices.Index(tiers[tier], known) {
				late[tier][name] = before
			}
		}
	}
	for q := range p.ClusterQueues() {
		record(q.Tier, t.lateOf(usableFlavors(q), false))
	}
	for _, w := range p.Workloads {
		t.lateOf(w.Capacities, false)
	}
	for s := range p.Submissions().Each() {
		var order []string // the capacities on which the copy can run
		for _, n := range p.Nodes(s, Nothing) {
			if n.Fits() {
				order = append(order, n.Capacity.Name)
			}
		}
		record(s.Queue.Tier, t.lateOf(order, true))
	}
	var out []Late
	for _, tier := range sortedKeys(late) {
		for i, name := range tiers[tier] {
			if before, found := late[tier][name]; found && !t.first[name] {
				out = append(out, Late{t.paid[name], tier, before, i})
			}
		}
	}
	return out
}

// triedOrder compares the orders in which capacities are tried.
type triedOrder struct {
	paid    map[string]Paid
	started map[string]ir.Capacity // capacities whose nodes start, and cost, when jobs need them
	first   map[string]bool        // paid capacities that something tries first
}

func (p *Platform) newTriedOrder() triedOrder {
	t := triedOrder{paid: map[string]Paid{}, started: map[string]ir.Capacity{}, first: map[string]bool{}}
	for i, n := range p.CountNodes() {
		c := p.Capacities[i]
		switch {
		case n.Standing > 0 && (c.Static || c.OwnsReservation()):
			t.paid[c.Name] = Paid{c, false}
		case c.Static, c.MaxNodes == 0, c.Waiting:
		case c.Option.Facts().TakesReservations():
			t.paid[c.Name] = Paid{c, true}
		default:
			t.started[c.Name] = c
		}
	}
	return t
}

// lateOf returns the paid capacities of an order that come after a capacity of equal
// nodes which start when jobs need them, with this other capacity. fits reports
// whether the order is of one workload and holds only capacities on which the workload
// can run: machines of another size then count as well.
func (t triedOrder) lateOf(order []string, fits bool) map[string]string {
	late := map[string]string{}
	for i, name := range order {
		c, isPaid := t.paid[name]
		if !isPaid {
			continue
		}
		precedes := func(alike func(a, b ir.Capacity) bool) int {
			return slices.IndexFunc(order[:i], func(other string) bool {
				o, starts := t.started[other]
				return starts && alike(c.Capacity, o) && (!c.Any || o.Option.Facts().HasListPrice())
			})
		}
		equal, alike := precedes(alikeNodes), precedes(alikeFamilies)
		switch {
		case equal >= 0:
			late[name] = order[equal]
		case alike < 0:
			t.first[name] = true
		case fits:
			late[name] = order[alike]
		}
	}
	return late
}

// alikeFamilies reports whether the nodes of either capacity have the same GPUs, in any
// number, or are machines of one family without accelerators, so that a job whose pods
// fit both can run on either.
func alikeFamilies(a, b ir.Capacity) bool {
	m, n := a.Machine, b.Machine
	family := a.HasGPUs() || !a.HasAccelerators() && m.Family == n.Family
	return family && m.Accelerator == n.Accelerator && m.Arm == n.Arm && a.Compact == b.Compact &&
		a.GPUDirect == b.GPUDirect
}

// alikeNodes reports whether jobs can run on the nodes of either capacity alike.
func alikeNodes(a, b ir.Capacity) bool {
	m, n := a.Machine, b.Machine
	return m.Type == n.Type && m.Accelerator == n.Accelerator && m.AcceleratorCount == n.AcceleratorCount &&
		a.LocalSSDs == b.LocalSSDs && a.Compact == b.Compact && a.GPUDirect == b.GPUDirect && sameTopology(m, n)
}

// sameTopology reports whether two machines belong to TPU slices of the same shape, or
// to none.
func sameTopology(a, b ir.Machine) bool {
	if a.Slice == nil || b.Slice == nil {
		return a.Slice == b.Slice
	}
	return a.Slice.Topology == b.Slice.Topology
}

// usableFlavors returns the capacities on which a queue has quota or can borrow some, in
// the order in which Kueue tries them.
func usableFlavors(q *ir.Queue) []string {
	var names []string
	for _, f := range q.Flavors {
		if slices.ContainsFunc(f.Quotas, ir.ResourceQuota.Usable) {
			names = append(names, f.Flavor)
		}
	}
	return names
}
