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
			Code: "W0419", Severity: diag.Warning, Title: "tier starts nodes before it uses nodes that stand",
			check: standingTriedLate, whole: true, resolved: true, except: schedulers{ir.KAI},
		},
	}
}

// unreachedNodes reports nodes that exist even if no job runs, and that all quotas
// together never use. It counts whole nodes, and the GPUs of a fixed number of nodes.
// If a guarantee leaves a remainder, only quotaRemainders reports these GPUs. Without any guarantee on a capacity,
// reportUnused, deadQueues or nothingToBorrow report it.
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

// standingTriedLate reports a tier that starts nodes while equal nodes stand: Kueue
// tries the capacities of a tier in their order. It reports nothing if some queue or
// workload tries the standing nodes first, because the order can then keep them free
// for it. Capacities of different hardware are no alternatives to each other.
func standingTriedLate(r *report) {
	t := triedOrder{standing: map[string]ir.Capacity{}, started: map[string]ir.Capacity{}, first: map[string]bool{}}
	for i, n := range r.Plan.CountNodes() {
		c := r.Plan.Capacities[i]
		switch {
		case n.Standing > 0 && (c.Static || c.OwnsReservation()):
			t.standing[c.Name] = c
		case !c.Static && c.MaxNodes > 0 && !c.Option.Facts().TakesReservations():
			t.started[c.Name] = c
		}
	}
	late := map[string]map[string]string{} // by tier and standing capacity, the one that is tried before
	for q := range r.Plan.ClusterQueues() {
		for name, before := range t.lateOf(usableFlavors(q)) {
			if late[q.Tier] == nil {
				late[q.Tier] = map[string]string{}
			}
			late[q.Tier][name] = before
		}
	}
	for _, w := range r.Plan.Workloads {
		t.lateOf(w.Capacities)
	}
	for _, tier := range sortedKeys(late) {
		for i, name := range r.Blueprint.Tiers[tier].Capacity {
			before, found := late[tier][name]
			if !found || t.first[name] {
				continue
			}
			path := at("tiers", tier, "capacity", diag.Index(i))
			field, _ := standingField(t.standing[name])
			r.add(path, fmt.Sprintf("tier %q starts nodes of %q before it uses %q, for which you pay anyway", tier,
				before, name), withRelated(field, "you pay for these nodes in any case"),
				withHelp("list %q before %q; if this is intended, add %s", name, before,
					acceptSource(r.rule.Code, path)))
		}
	}
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
	standing map[string]ir.Capacity // capacities whose nodes stand
	started  map[string]ir.Capacity // capacities whose nodes start when jobs need them
	first    map[string]bool        // standing capacities that something tries first
}

// lateOf returns the standing capacities of an order that come after a capacity of
// equal nodes which start when jobs need them, with this other capacity.
func (t triedOrder) lateOf(order []string) map[string]string {
	late := map[string]string{}
	for i, name := range order {
		c, stands := t.standing[name]
		if !stands {
			continue
		}
		before := slices.IndexFunc(order[:i], func(other string) bool {
			o, starts := t.started[other]
			return starts && alikeNodes(c, o)
		})
		if before < 0 {
			t.first[name] = true
			continue
		}
		late[name] = order[before]
	}
	return late
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
