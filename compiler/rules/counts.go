package rules

import (
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/compiler/words"
)

// Rules on numbers of nodes and of TPU slices.

func countRules() []Rule {
	return []Rule{
		{Code: "E0411", Title: "size of a capacity is missing, given twice, or in the wrong unit", check: oneCount},
		{Code: "E0412", Title: "minNodes is greater than maxNodes", check: minAboveMax},
		{Code: "E0413", Title: "nodes cannot be divided evenly over the zones", check: evenNodes},
		{Code: "E0417", Title: "linked nodes are in more than one zone", check: linkedZone},
		{Code: "E0418", Title: "more nodes than one link domain holds", check: linkedNodes},
	}
}

// oneCount checks that a capacity has one valid count: TPUs are counted in slices
// and all other machines in nodes, and the count is either a fixed number or a
// maximum.
func oneCount(r *report) {
	for name, c := range sorted(r.Blueprint.Capacity) {
		machine, known := findMachine(r.Blueprint.Hardware[c.Hardware])
		if !known {
			continue
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
			r.addKey(at("capacity", name, others[wrong].field),
				fmt.Sprintf("capacity %q is counted in %s: %s", name, unit, way),
				withLabel("want %s or %s", fixed.field, most.field))
		case !fixed.given && !most.given:
			r.addKey(at("capacity", name), fmt.Sprintf("capacity %q has no size", name),
				withHelp("add %s for a fixed number, or %s for a number that scales", fixed.field, most.field))
		case fixed.given && most.given:
			r.addKey(at("capacity", name, most.field),
				fmt.Sprintf("capacity %q has both a fixed and a scaling number of %s", name, unit),
				withRelated(at("capacity", name, fixed.field), "the fixed number"),
				withHelp("remove %s or %s", fixed.field, most.field))
		case c.Nodes != nil && c.MinNodes > 0:
			r.addKey(at("capacity", name, "minNodes"),
				fmt.Sprintf("capacity %q has both a fixed number of nodes and a minimum", name),
				withRelated(at("capacity", name, "nodes"), "the fixed number"),
				withHelp("remove minNodes, or set maxNodes instead of nodes"))
		}
	}
}

func minAboveMax(r *report) {
	for name, c := range sorted(r.Blueprint.Capacity) {
		if c.MaxNodes != nil && c.MinNodes > *c.MaxNodes {
			r.add(at("capacity", name, "minNodes"),
				fmt.Sprintf("minNodes is %d, but maxNodes is %d", c.MinNodes, *c.MaxNodes),
				withLabel("want at most %d", *c.MaxNodes), withRelated(at("capacity", name, "maxNodes"),
					"maxNodes is set here"))
		}
	}
}

func evenNodes(r *report) {
	for _, c := range r.Plan.Capacities {
		field, _ := countFields(c)
		if c.Reservation != nil && len(r.Blueprint.Capacity[c.Name].Zones) == 0 {
			continue // reservationZones reports it
		}
		if n := len(c.Zones); c.Static && !c.Option.Facts().OnRequest && !c.Sliced() && n > 0 && c.MaxNodes%n != 0 {
			r.add(at("capacity", c.Name, field),
				fmt.Sprintf("%s cannot be divided evenly over %s", words.Count(c.MaxNodes, "node"),
					words.Count(n, "zone")),
				withLabel("want a multiple of %d", n),
				withHelp("change %s, or the capacity's zones: GKE creates the same number of nodes in each zone",
					field))
		}
	}
}

// linkedZone reports linked nodes in several zones: they must be in one zone.
func linkedZone(r *report) {
	for _, c := range r.Plan.Capacities {
		if !nodesLinked(c) || len(c.Zones) < 2 {
			continue
		}
		path := at("capacity", c.Name, "zones")
		if len(r.Blueprint.Capacity[c.Name].Zones) == 0 {
			path = at("capacity", c.Name)
		}
		r.addKey(path,
			fmt.Sprintf("%s machines are linked only within one zone, but capacity %q has %d zones", c.Machine.Type,
				c.Name, len(c.Zones)),
			withHelp("write zones: [%q], and define another capacity for another zone", c.Zones[0]))
	}
}

// linkedNodes reports a capacity of linked machines whose number of nodes is not
// fixed or exceeds one NVLink domain. A domain has at most LinkedNodes machines, and
// a pool is one domain. Source: Compute Engine documentation, "A4X", and Google's
// Cluster Toolkit, example gke-a4x.
func linkedNodes(r *report) {
	for _, c := range r.Plan.Capacities {
		switch {
		case c.Machine.LinkedNodes == 0 || c.ComputeClass || c.Option.Facts().OnRequest: // other rules report these
		case !c.Static:
			r.addKey(at("capacity", c.Name),
				fmt.Sprintf("%s machines are linked with each other, so their number must be fixed", c.Machine.Type),
				withHelp("set nodes instead of maxNodes"))
		case c.MaxNodes > c.Machine.LinkedNodes:
			r.add(at("capacity", c.Name, "nodes"),
				fmt.Sprintf("capacity %q has %d %s machines, but at most %d can be linked with each other", c.Name,
					c.MaxNodes, c.Machine.Type, c.Machine.LinkedNodes),
				withLabel("want at most %d", c.Machine.LinkedNodes),
				withHelp("reduce nodes, and define another capacity for the other machines"))
		}
	}
}
