package rules

import (
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on the shape and the length of runs: TPU slices, and nodes with a limited
// lifetime.

// wholeSlices checks that a pod uses all chips of its host, and a copy all hosts of
// its slices.
func wholeSlices(r *report) {
	capacities := capacitiesByName(r.Plan)
	for _, name := range sortedKeys(r.Blueprint.Workloads) {
		w := r.Blueprint.Workloads[name]
		on := r.runsOn(w, capacities)
		if r.anyBroken(on) || lacksAccelerators(w, on, capacities) {
			continue
		}
		i := slices.IndexFunc(on, func(c string) bool { return capacities[c].Machine.Slice != nil })
		if i < 0 {
			if w.Slices > 1 {
				r.add(at("workloads", name, "slices"), fmt.Sprintf("tier %q has no TPU slices", w.Tier),
					withHelp("remove slices; pods is the number of pods that run at once"))
			}
			continue
		}
		if r.mixedShapes(name, w, on, capacities) {
			continue
		}
		c := capacities[on[i]]
		if r.withoutChips(name, w, c, capacities) {
			continue
		}
		perHost, hosts := c.Machine.AcceleratorCount, c.Machine.Slice.Hosts
		if w.PerPod.Accelerators != perHost {
			r.add(at("workloads", name, "perPod", "accelerators"),
				fmt.Sprintf("a host of %q has %d chips, and a pod must use all of them", c.Name, perHost),
				withLabel("want %d", perHost))
		}
		queued := slices.IndexFunc(on, func(c string) bool {
			named, known := capacities[c]
			return known && named.Queued()
		})
		switch {
		case hosts == 1 && w.Slices > 1:
			r.add(at("workloads", name, "slices"),
				fmt.Sprintf("field slices is unavailable: each slice of %q has only one host", c.Name),
				withHelp("remove slices; pods is the number of pods that run at once"))
		case hosts == 1:
		case w.Slices > 1 && queued >= 0:
			option := capacities[on[queued]].Option.Facts()
			r.add(at("workloads", name, "slices"), option.Name+" starts only one slice for a workload",
				withLabel("want 1"),
				withHelp("submit each slice as a separate copy, or use a capacity that is not queued"))
		case !kinds.Of(w.Kind).Composite:
			r.addKey(at("workloads", name),
				fmt.Sprintf("workload %q is a %s, but a workload on slices of %d hosts must be a %s", name, w.Kind,
					hosts, kinds.Composite().Name),
				withHelp("set kind: %q", kinds.Composite().Name))
		case w.Pods != nil && *w.Pods != w.Slices*hosts:
			r.add(at("workloads", name, "pods"),
				fmt.Sprintf("%s of %d hosts needs %d pods, one for each host", words.Count(w.Slices, "slice"), hosts,
					w.Slices*hosts),
				withLabel("want %d", w.Slices*hosts), withHelp("remove pods: slices determines its value"))
		}
	}
}

// withoutChips reports a workload that requests no chips and can run on slices,
// although its tier has capacities without accelerators. It returns whether there is
// such a capacity.
func (r *report) withoutChips(name string, w schema.Workload, on ir.Capacity, capacities map[string]ir.Capacity) bool {
	plain := plainCapacities(r.Blueprint.Tiers[w.Tier], capacities)
	if w.PerPod.Accelerators > 0 || plain == nil {
		return false
	}
	r.addKey(at("workloads", name),
		fmt.Sprintf("workload %q requests no chips, but can run on the hosts of %q", name, on.Name),
		withHelp("set capacity: [%q], or request all %d chips of a host", plain[0], on.Machine.AcceleratorCount))
	return true
}

// plainCapacities returns the capacities of a tier that have no accelerators.
func plainCapacities(tier schema.Tier, capacities map[string]ir.Capacity) []string {
	var plain []string
	for _, c := range tier.Capacity {
		if known, ok := capacities[c]; ok && !known.HasAccelerators() {
			plain = append(plain, c)
		}
	}
	return plain
}

// mixedShapes reports a workload that can run on TPU slices of different shapes,
// because its number of pods fits only one shape. It returns whether the shapes
// differ.
func (r *report) mixedShapes(name string, w schema.Workload, on []string, capacities map[string]ir.Capacity) bool {
	first := ""
	for _, c := range on {
		switch s := capacities[c].Machine.Slice; {
		case s == nil:
		case first == "":
			first = c
		case sliceShape(s) != sliceShape(capacities[first].Machine.Slice):
			path := at("workloads", name, "tier")
			if len(w.Capacity) > 0 {
				path = at("workloads", name, "capacity")
			}
			r.add(path,
				fmt.Sprintf("slices of %q have %s, but slices of %q have %s", c, sliceShape(s), first,
					sliceShape(capacities[first].Machine.Slice)),
				withHelp("choose capacities with the same shape of slice: capacity: [%q]", first))
			return true
		}
	}
	return false
}

// exceedsHosts reports whether a pod of a workload asks for more chips than the hosts of
// every TPU capacity have that admits it. wholeSlices reports such a workload.
func exceedsHosts(w schema.Workload, quotas []ir.FlavorQuota, capacities map[string]ir.Capacity) bool {
	return len(quotas) > 0 && !slices.ContainsFunc(quotas, func(f ir.FlavorQuota) bool {
		machine := capacities[f.Flavor].Machine
		return machine.Slice == nil || w.PerPod.Accelerators <= machine.AcceleratorCount
	})
}

func sliceShape(s *ir.Slice) string {
	return fmt.Sprintf("%d chips on %s", s.Chips, words.Count(s.Hosts, "host"))
}

// runTimes reports runs that can outlast their nodes: the lifetime of some nodes is
// bounded, and they end even if pods run on them.
func runTimes(r *report) {
	capacities := capacitiesByName(r.Plan)
	for _, name := range sortedKeys(r.Blueprint.Workloads) {
		w := r.Blueprint.Workloads[name]
		if w.MaxRunSeconds == nil {
			continue
		}
		for _, capacity := range r.runsOn(w, capacities) {
			c := capacities[capacity]
			if c.MaxRunSeconds > 0 && *w.MaxRunSeconds > c.MaxRunSeconds {
				option := c.Option.Facts()
				r.add(at("workloads", name, "maxRunSeconds"),
					fmt.Sprintf("nodes of %q run for at most %d seconds", capacity, c.MaxRunSeconds),
					withLabel("want at most %d", c.MaxRunSeconds),
					withRelated(at("capacity", capacity, "consumption", option.Field), "the nodes"),
					withHelp("reduce maxRunSeconds: %s ends a node after that time, even if a job runs on it",
						option.Nodes))
				break
			}
		}
	}
}

// shortestRun is the shortest time in seconds for which Compute Engine starts the nodes of
// a request.
const shortestRun = 600

// shortRuns reports runs that are shorter than the time for which the nodes of queued
// capacities can be requested: a request names the run's longest time.
func shortRuns(r *report) {
	capacities := capacitiesByName(r.Plan)
	for _, name := range sortedKeys(r.Blueprint.Workloads) {
		w := r.Blueprint.Workloads[name]
		if w.MaxRunSeconds == nil || *w.MaxRunSeconds >= shortestRun {
			continue
		}
		for _, capacity := range r.runsOn(w, capacities) {
			if c := capacities[capacity]; c.Queued() {
				option := c.Option.Facts()
				r.add(at("workloads", name, "maxRunSeconds"),
					fmt.Sprintf("%s does not start nodes for less than %d seconds", option.Name, shortestRun),
					withLabel("want at least %d", shortestRun),
					withRelated(at("capacity", capacity, "consumption", option.Field), "the nodes"),
					withHelp("write maxRunSeconds: %d; a copy can still end earlier", shortestRun))
				break
			}
		}
	}
}

// anyBroken reports whether the grammar of one of the capacities or of its hardware
// is wrong, so that its properties are unknown.
func (r *report) anyBroken(capacities []string) bool {
	return slices.ContainsFunc(capacities, func(c string) bool {
		return r.Broken[[2]string{"capacity", c}] || r.Broken[[2]string{"hardware", r.Blueprint.Capacity[c].Hardware}]
	})
}

// lacksAccelerators reports whether a workload asks for accelerators on capacities
// without any. podFitsNode reports such a workload.
func lacksAccelerators(w schema.Workload, on []string, capacities map[string]ir.Capacity) bool {
	return w.PerPod.Accelerators > 0 &&
		!slices.ContainsFunc(on, func(c string) bool { return capacities[c].HasAccelerators() })
}
