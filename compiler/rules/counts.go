package rules

import (
	"fmt"

	"github.com/batchwright/batchwright/compiler/diag"
)

// Rules on numbers of nodes.

func countRules() []Rule {
	return []Rule{
		{Code: "E0411", Severity: diag.Error, Title: "a capacity needs either nodes or maxNodes", check: oneCount},
		{Code: "E0412", Severity: diag.Error, Title: "fewest nodes above most nodes", check: minAboveMax},
		{Code: "E0413", Severity: diag.Error, Title: "nodes do not divide evenly over the zones", check: evenNodes},
	}
}

func oneCount(r *report) {
	for _, name := range names(r.Blueprint.Capacity) {
		c := r.Blueprint.Capacity[name]
		switch {
		case c.Nodes == nil && c.MaxNodes == nil:
			r.addKey(at("capacity", name), fmt.Sprintf("capacity %q has no size", name),
				help("add nodes for a fixed number, or maxNodes for a pool that scales"))
		case c.Nodes != nil && c.MaxNodes != nil:
			r.addKey(at("capacity", name, "maxNodes"), fmt.Sprintf("capacity %q has a fixed number of nodes and scales", name),
				related(at("capacity", name, "nodes"), "the fixed number"), help("keep one of nodes and maxNodes"))
		case c.Nodes != nil && c.MinNodes > 0:
			r.addKey(at("capacity", name, "minNodes"), fmt.Sprintf("capacity %q has a fixed number of nodes and a fewest", name),
				related(at("capacity", name, "nodes"), "the fixed number"), help("remove minNodes, or set maxNodes instead of nodes"))
		}
	}
}

func minAboveMax(r *report) {
	for _, name := range names(r.Blueprint.Capacity) {
		c := r.Blueprint.Capacity[name]
		if c.MaxNodes != nil && c.MinNodes > *c.MaxNodes {
			r.add(at("capacity", name, "minNodes"), fmt.Sprintf("at least %d nodes and at most %d", c.MinNodes, *c.MaxNodes),
				label("want at most %d", *c.MaxNodes), related(at("capacity", name, "maxNodes"), "the most"))
		}
	}
}

func evenNodes(r *report) {
	for _, c := range r.Plan.Capacities {
		if n := len(c.Zones); c.Static && c.Flex == nil && n > 0 && c.MaxNodes%n != 0 {
			r.add(at("capacity", c.Name, "nodes"), fmt.Sprintf("%s in %s: GKE puts the same number into each zone", plural(c.MaxNodes, "node"), plural(n, "zone")),
				label("want a multiple of %d", n), help("change nodes, or the capacity's zones"))
		}
	}
}
