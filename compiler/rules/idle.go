package rules

import (
	"fmt"

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
	}
}

// unreachedNodes reports nodes that exist even if no job runs, and that all quotas
// together never use. It counts whole nodes. Without any guarantee on a capacity,
// reportUnused, deadQueues or nothingToBorrow report it.
func unreachedNodes(r *report) {
	counts := r.Plan.CountNodes()
	guarantees := r.guaranteesOf()
	for i, c := range r.Plan.Capacities {
		guaranteed := ir.AmountOf(c.Guaranteed, c.CountedIn())
		if n := counts[i]; n.Reached >= n.Standing || guaranteed.IsZero() ||
			!hasValidSize(c, r.Blueprint.Capacity[c.Name]) {
			continue
		}
		path, paid := standingField(c)
		if paid == reservedMachines && r.Plan.SharesReservation(c) {
			continue
		}
		standing, unit := countedUnits(c, counts[i].Standing)
		reached, _ := countedUnits(c, counts[i].Reached)
		r.add(path, fmt.Sprintf("capacity %q %s %s, but all quotas together use at most %d of them", c.Name, paid,
			words.Count(standing, unit), reached), append(guarantees[c.Name],
			withLabel("paid whether jobs run or not"),
			withHelp("lower it to %d, or give quota for %s to a queue; if this is intended, add %s", reached,
				words.Count(standing-reached, "more "+unit), acceptSource(r.rule.Code, path)))...)
	}
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
