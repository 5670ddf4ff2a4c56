package rules

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on numbers of nodes and of TPU slices.

func countRules() []Rule {
	return []Rule{
		rule("E0411", "size of a capacity is missing, given twice, or in the wrong unit", on("capacity.*", oneCount)),
		rule("E0412", "minNodes is greater than maxNodes", on("capacity.*", minAboveMax)),
		rule("E0413", "nodes cannot be divided evenly over the zones", onEach(capacities, evenNodes)),
		rule("E0417", "linked nodes are in more than one zone", onEach(capacities, linkedZone)),
		rule("E0418", "more nodes than one link domain holds", onEach(capacities, linkedNodes)),
	}
}

// oneCount checks that a capacity has one valid count: TPUs are counted in slices
// and all other machines in nodes, and the count is either a fixed number or a
// maximum.
func oneCount(r *report, capacity fieldPath, c schema.Capacity) {
	machine, known := findMachine(r.Blueprint.Hardware[c.HardwareClass()])
	if !known {
		return
	}
	type count struct {
		field string
		given bool
	}
	fixed, most := count{"nodes", c.Nodes != nil}, count{"maxNodes", c.MaxNodes != nil}
	others := []count{{"slices", c.Slices != nil}, {"maxSlices", c.MaxSlices != nil}}
	unit, way := "nodes", "only TPUs are counted in slices"
	if machine.HasTPUs() {
		others = []count{fixed, most, {"minNodes", c.MinNodes > 0}}
		fixed, most = count{"slices", c.Slices != nil}, count{"maxSlices", c.MaxSlices != nil}
		unit, way = "slices", "the nodes of a TPU slice start and stop together"
	}
	wrong := slices.IndexFunc(others, func(c count) bool { return c.given })
	switch {
	case wrong >= 0:
		r.addKey(capacity.at(others[wrong].field), say("capacity %q is counted in %s: %s", capacity.name(), unit, way),
			label("want %s or %s", fixed.field, most.field))
	case !fixed.given && !most.given && c.Consumption.Existing == nil:
		r.addKey(capacity, say("capacity %q has no size", capacity.name()),
			help("add %s for a fixed number, or %s for a number that scales", fixed.field, most.field))
	case fixed.given && most.given:
		r.addKey(capacity.at(most.field),
			say("capacity %q has both a fixed and a scaling number of %s", capacity.name(), unit),
			see(capacity.at(fixed.field), "the fixed number"), help("remove %s or %s", fixed.field, most.field))
	case c.Nodes != nil && c.MinNodes > 0:
		r.addKey(capacity.at("minNodes"),
			say("capacity %q has both a fixed number of nodes and a minimum", capacity.name()),
			see(capacity.at("nodes"), "the fixed number"), help("remove minNodes, or set maxNodes instead of nodes"))
	}
}

func minAboveMax(r *report, capacity fieldPath, c schema.Capacity) {
	if c.MaxNodes != nil && c.MinNodes > *c.MaxNodes {
		r.add(capacity.at("minNodes"), say("minNodes is %d, but maxNodes is %d", c.MinNodes, *c.MaxNodes),
			label("want at most %d", *c.MaxNodes), see(capacity.at("maxNodes"), "maxNodes is set here"))
	}
}

func evenNodes(r *report, c ir.Capacity) {
	field, _ := countFields(c)
	if c.Reservation != nil && len(r.Blueprint.Capacity[c.Name].Zones) == 0 {
		return // reservationZones reports it
	}
	if n := len(c.Zones); c.Static && !c.Option.Facts().OnRequest && !c.Sliced() && n > 0 && c.MaxNodes%n != 0 {
		r.add(at("capacity", c.Name, field),
			say("%s cannot be divided evenly over %s", words.Count(c.MaxNodes, "node"), words.Count(n, "zone")),
			label("want a multiple of %d", n),
			help("change %s, or the capacity's zones: GKE creates the same number of nodes in each zone", field))
	}
}

// linkedZone reports linked nodes in several zones: they must be in one zone.
func linkedZone(r *report, c ir.Capacity) {
	if !nodesLinked(c) || len(c.Zones) < 2 {
		return
	}
	path := at("capacity", c.Name, "zones")
	if len(r.Blueprint.Capacity[c.Name].Zones) == 0 {
		path = at("capacity", c.Name)
	}
	r.addKey(path, say("%s machines are linked only within one zone, but capacity %q has %d zones", c.Machine.Type,
		c.Name, len(c.Zones)), help("write zones: [%q], and define another capacity for another zone", c.Zones[0]))
}

// linkedNodes reports a capacity of linked machines whose number of nodes is not
// fixed or exceeds one NVLink domain. A domain has at most LinkedNodes machines, and
// a pool is one domain. Source: Compute Engine documentation, "A4X", and Google's
// Cluster Toolkit, example gke-a4x.
func linkedNodes(r *report, c ir.Capacity) {
	switch {
	case c.Machine.LinkedNodes == 0 || c.ComputeClass || c.Option.Facts().OnRequest: // other rules report these
	case !c.Static:
		r.addKey(at("capacity", c.Name),
			say("%s machines are linked with each other, so their number must be fixed", c.Machine.Type),
			help("set nodes instead of maxNodes"))
	case c.MaxNodes > c.Machine.LinkedNodes:
		r.add(at("capacity", c.Name, "nodes"),
			say("capacity %q has %d %s machines, but at most %d can be linked with each other", c.Name, c.MaxNodes,
				c.Machine.Type, c.Machine.LinkedNodes), label("want at most %d", c.Machine.LinkedNodes),
			help("reduce nodes, and define another capacity for the other machines"))
	}
}
