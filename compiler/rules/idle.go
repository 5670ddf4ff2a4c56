package rules

import (
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on machines that stand idle: they are paid, and no job can use them, or jobs
// start other machines first.

func idleRules() []Rule {
	return []Rule{
		{
			Code: "W0614", Severity: diag.Warning, Title: "standing nodes that no quota reaches",
			check: unreachedNodes, whole: true, resolved: true,
		},
		{
			Code: "W0615", Severity: diag.Warning, Title: "part of the quota can never be used",
			check: unusableQuota, whole: true, resolved: true, except: schedulers{ir.KAI},
		},
		{
			Code: "W0419", Severity: diag.Warning, Title: "tier starts nodes before it uses nodes that are paid anyway",
			check: standingTriedLate, whole: true, resolved: true, except: schedulers{ir.KAI},
		},
	}
}

// unreachedNodes reports nodes that exist even if no job runs, and that all quotas
// together never use. It counts whole nodes, and the GPUs of a fixed number of nodes.
// If a guarantee leaves a remainder, only quotaRemainders reports these GPUs. Without
// any guarantee on a capacity, reportUnused, deadQueues or nothingToBorrow report it.
func unreachedNodes(r *report) {
	counts := r.Plan.CountNodes()
	guarantees := r.guaranteesOf()
	remainders := r.remainderCapacities()
	for i, c := range r.Plan.Capacities {
		guaranteed := ir.AmountOf(c.Guaranteed, c.CountedIn())
		if guaranteed.IsZero() || !hasValidSize(c, r.Blueprint.Capacity[c.Name]) {
			continue
		}
		path, paid := standingField(c)
		if n := counts[i]; n.Reached >= n.Standing {
			rest := unreachedGPUs(c, n, guaranteed.Value())
			if rest > 0 && !remainders[c.Name] && r.Plan.Scheduler.Facts().QuotaPerCapacity {
				r.add(path, fmt.Sprintf("capacity %q %s %d GPUs, but all quotas together use at most %d of them",
					c.Name, paid, guaranteed.Value()+rest, guaranteed.Value()), append(guarantees[c.Name],
					withLabel("paid whether jobs run or not"),
					withHelp("give a queue quota for %s; if this is intended, add %s",
						words.Count(int(rest), "more GPU"), acceptSource(r.rule.Code, path)))...)
			}
			continue
		}
		if paid == reservedMachines && r.Plan.SharesReservation(c) {
			continue
		}
		standing, unit := countedUnits(c, counts[i].Standing)
		reached, _ := countedUnits(c, counts[i].Reached)
		r.add(path, fmt.Sprintf("capacity %q %s %s, but all quotas together use at most %d of them", c.Name, paid,
			words.Count(standing, unit), reached), append(guarantees[c.Name],
			withLabel("paid whether jobs run or not"),
			withHelp("lower the number to %d, or give a queue quota for %s; if this is intended, add %s", reached,
				words.Count(standing-reached, "more "+unit), acceptSource(r.rule.Code, path)))...)
	}
}

// unreachedGPUs returns the number of GPUs of a fixed number of nodes that no quota
// reaches, although every node is reached.
func unreachedGPUs(c ir.Capacity, n ir.NodeCount, guaranteed int64) int64 {
	if !c.HasGPUs() || !c.Static || n.Standing < c.MaxNodes {
		return 0
	}
	return max(0, int64(c.Machine.AcceleratorCount)*int64(c.MaxNodes)-guaranteed)
}

// hasValidSize reports whether no other rule reports the capacity's number of nodes.
func hasValidSize(c ir.Capacity, in schema.Capacity) bool {
	twice := in.Nodes != nil && in.MaxNodes != nil || in.Slices != nil && in.MaxSlices != nil
	scales := c.Reservation != nil && c.Reservation.Create && !c.Static
	return hasSize(c, in) && !twice && !scales && c.MinNodes <= c.MaxNodes && c.OwnsPools() &&
		!c.Option.Facts().OnRequest
}

// reservedMachines is the verb for machines that a reservation holds while no node
// uses them.
const reservedMachines = "reserves up to"

// standingField returns the field that makes nodes of a capacity stand, and the verb
// for them in a sentence.
func standingField(c ir.Capacity) (path []string, verb string) {
	fixed, most := "nodes", "maxNodes"
	if c.HasTPUs() {
		fixed, most = "slices", "maxSlices"
	}
	switch {
	case c.Static:
		return at("capacity", c.Name, fixed), "always has"
	case c.OwnsReservation():
		return at("capacity", c.Name, most), reservedMachines
	}
	return at("capacity", c.Name, "minNodes"), "always has at least"
}

// standingTriedLate reports a tier that starts nodes while equal nodes are paid: nodes
// that stand, or machines of a reservation. Kueue tries the capacities of a tier in
// their order. It reports nothing if some queue or workload tries the paid nodes
// first, because the order can then keep them free for it. Capacities of different
// hardware are not alternatives to each other, unless a workload runs on the GPUs of
// both.
func standingTriedLate(r *report) {
	t := r.newTriedOrder()
	late := map[string]map[string]string{} // by tier and paid capacity, the first one that is tried before
	record := func(tier string, found map[string]string) {
		if late[tier] == nil {
			late[tier] = map[string]string{}
		}
		order := r.Blueprint.Tiers[tier].Capacity
		for name, before := range found {
			known, ok := late[tier][name]
			if !ok || slices.Index(order, before) < slices.Index(order, known) {
				late[tier][name] = before
			}
		}
	}
	for q := range r.Plan.ClusterQueues() {
		record(q.Tier, t.lateOf(usableFlavors(q), false))
	}
	for _, w := range r.Plan.Workloads {
		t.lateOf(w.Capacities, false)
	}
	capacities, pool := capacitiesByName(r.Plan), r.lent()
	for _, copies := range r.firstCopies() {
		for _, s := range copies {
			var order []string // the capacities on which the copy can run
			for _, f := range r.nodeFits(s, capacities, pool, nothingTaken) {
				if f.fits() {
					order = append(order, f.capacity.Name)
				}
			}
			record(s.queue.Tier, t.lateOf(order, true))
		}
	}
	for _, tier := range sortedKeys(late) {
		for i, name := range r.Blueprint.Tiers[tier].Capacity {
			before, found := late[tier][name]
			if !found || t.first[name] {
				continue
			}
			path, paid := at("tiers", tier, "capacity", diag.Index(i)), t.paid[name]
			r.add(path, fmt.Sprintf("tier %q starts nodes of %q before it uses %q, %s", tier, before, name, paid.why),
				withRelated(paid.path, "%s", paid.note),
				withHelp("list %q before %q; if this is intended, add %s", name, before,
					acceptSource(r.rule.Code, path)))
		}
	}
}

// newTriedOrder returns a triedOrder of the platform's capacities.
func (r *report) newTriedOrder() triedOrder {
	t := triedOrder{paid: map[string]paidNodes{}, started: map[string]ir.Capacity{}, first: map[string]bool{}}
	for i, n := range r.Plan.CountNodes() {
		c := r.Plan.Capacities[i]
		option := c.Option.Facts()
		switch {
		case n.Standing > 0 && (c.Static || c.OwnsReservation()):
			field, _ := standingField(c)
			t.paid[c.Name] = paidNodes{
				c, false, field, "for which you pay anyway", "you pay for these nodes in any case",
			}
		case c.Static, c.MaxNodes == 0, c.Waiting:
		case option.TakesReservations():
			t.paid[c.Name] = paidNodes{
				c, true, at("capacity", c.Name, "consumption", option.Field),
				"whose nodes can come from a reservation that is paid anyway",
				"these nodes come from a reservation if one has machines left",
			}
		default:
			t.started[c.Name] = c
		}
	}
	return t
}

// usableFlavors returns the capacities on which a queue has quota or can borrow some,
// in the order in which Kueue tries them.
func usableFlavors(q *ir.Queue) []string {
	var names []string
	for _, f := range q.Flavors {
		if slices.ContainsFunc(f.Quotas, func(r ir.ResourceQuota) bool { return !r.Nominal.IsZero() || r.Borrows() }) {
			names = append(names, f.Flavor)
		}
	}
	return names
}

// triedOrder compares the orders in which capacities are tried.
type triedOrder struct {
	paid    map[string]paidNodes   // capacities of nodes or machines that are paid without jobs
	started map[string]ir.Capacity // capacities whose nodes start, and cost, when jobs need them
	first   map[string]bool        // paid capacities that something tries first
}

// paidNodes is a capacity whose nodes or machines are paid without jobs.
type paidNodes struct {
	ir.Capacity
	// ifListed reports whether only nodes at the list price are known to be the worse
	// choice: nobody knows whether a reservation exists, or who pays for it.
	ifListed  bool
	path      []string // field that makes them paid
	why, note string   // for the message, and for the field
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
				return starts && alike(c.Capacity, o) && (!c.ifListed || o.Option.Facts().HasListPrice())
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
