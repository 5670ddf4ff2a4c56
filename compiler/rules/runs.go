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
func wholeSlices(r *report, workload fieldPath, w schema.Workload) {
	on := r.runsOn(w)
	if r.anyBroken(on) || r.lacksAccelerators(w, on) {
		return
	}
	i := slices.IndexFunc(on, func(c string) bool { return r.fit.Named[c].Machine.Slice != nil })
	if i < 0 {
		if w.Slices > 1 {
			r.add(workload.at("slices"), say("tier %q has no TPU slices", w.Tier),
				help("remove slices; pods is the number of pods that run at once"))
		}
		return
	}
	if r.mixedShapes(workload.name(), w, on) {
		return
	}
	c := r.fit.Named[on[i]]
	if r.withoutChips(workload.name(), w, c) {
		return
	}
	perHost, hosts := c.Machine.AcceleratorCount, c.Machine.Slice.Hosts
	if w.PerPod.Accelerators != perHost {
		r.add(workload.at("perPod", "accelerators"),
			say("a host of %q has %d chips, and a pod must use all of them", c.Name, perHost),
			label("want %d", perHost))
	}
	queued := slices.IndexFunc(on, func(c string) bool {
		named, known := r.fit.Named[c]
		return known && named.Queued()
	})
	switch {
	case hosts == 1 && w.Slices > 1:
		r.add(workload.at("slices"), say("field slices is unavailable: each slice of %q has only one host", c.Name),
			help("remove slices; pods is the number of pods that run at once"))
	case hosts == 1:
	case w.Slices > 1 && queued >= 0:
		option := r.fit.Named[on[queued]].Option.Facts()
		r.add(workload.at("slices"), option.Name+" starts only one slice for a workload", label("want 1"),
			help("submit each slice as a separate copy, or use a capacity that is not queued"))
	case !kinds.Of(w.Kind).Composite:
		r.addKey(workload, say("workload %q is a %s, but a workload on slices of %d hosts must be a %s",
			workload.name(), w.Kind, hosts, kinds.Composite().Name), help("set kind: %q", kinds.Composite().Name))
	case w.Pods != nil && *w.Pods != w.Slices*hosts:
		r.add(workload.at("pods"), say("%s of %d hosts needs %d pods, one for each host",
			words.Count(w.Slices, "slice"), hosts, w.Slices*hosts), label("want %d", w.Slices*hosts),
			help("remove pods: slices determines its value"))
	}
}

// withoutChips reports a workload that requests no chips and can run on slices,
// although its tier has capacities without accelerators. It returns whether there is
// such a capacity.
func (r *report) withoutChips(name string, w schema.Workload, on ir.Capacity) bool {
	plain := r.plainCapacities(w.Tier)
	if w.PerPod.Accelerators > 0 || plain == nil {
		return false
	}
	r.addKey(at("workloads", name), say("workload %q requests no chips, but can run on the hosts of %q", name, on.Name),
		help("set capacity: [%q], or request all %d chips of a host", plain[0], on.Machine.AcceleratorCount))
	return true
}

// mixedShapes reports a workload that can run on TPU slices of different shapes,
// because its number of pods fits only one shape. It returns whether the shapes
// differ.
func (r *report) mixedShapes(name string, w schema.Workload, on []string) bool {
	first := ""
	for _, c := range on {
		switch s := r.fit.Named[c].Machine.Slice; {
		case s == nil:
		case first == "":
			first = c
		case sliceShape(s) != sliceShape(r.fit.Named[first].Machine.Slice):
			path := at("workloads", name, "tier")
			if len(w.Capacity) > 0 {
				path = at("workloads", name, "capacity")
			}
			r.add(path, say("slices of %q have %s, but slices of %q have %s", c, sliceShape(s), first,
				sliceShape(r.fit.Named[first].Machine.Slice)),
				help("choose capacities with the same shape of slice: capacity: [%q]", first))
			return true
		}
	}
	return false
}

func sliceShape(s *ir.Slice) string {
	return fmt.Sprintf("%d chips on %s", s.Chips, words.Count(s.Hosts, "host"))
}

// runTimes reports runs that can outlast their nodes: the lifetime of some nodes is
// bounded, and they end even if pods run on them.
func runTimes(r *report, workload fieldPath, w schema.Workload) {
	if w.MaxRunSeconds == nil {
		return
	}
	for _, capacity := range r.runsOn(w) {
		c := r.fit.Named[capacity]
		if c.MaxRunSeconds > 0 && *w.MaxRunSeconds > c.MaxRunSeconds {
			option := c.Option.Facts()
			r.add(workload.at("maxRunSeconds"),
				say("nodes of %q run for at most %d seconds", capacity, c.MaxRunSeconds),
				label("want at most %d", c.MaxRunSeconds),
				see(at("capacity", capacity, "consumption", option.Field), "the nodes"),
				help("reduce maxRunSeconds: %s ends a node after that time, even if a job runs on it", option.Nodes))
			break
		}
	}
}

// shortestRun is the shortest time in seconds for which Compute Engine starts the nodes of
// a request.
const shortestRun = 600

// shortRuns reports runs that are shorter than the time for which the nodes of queued
// capacities can be requested: a request names the run's longest time.
func shortRuns(r *report, workload fieldPath, w schema.Workload) {
	if w.MaxRunSeconds == nil || *w.MaxRunSeconds >= shortestRun {
		return
	}
	for _, capacity := range r.runsOn(w) {
		if c := r.fit.Named[capacity]; c.Queued() {
			option := c.Option.Facts()
			r.add(workload.at("maxRunSeconds"),
				say("%s does not start nodes for less than %d seconds", option.Name, shortestRun),
				label("want at least %d", shortestRun),
				see(at("capacity", capacity, "consumption", option.Field), "the nodes"),
				help("write maxRunSeconds: %d; a copy can still end earlier", shortestRun))
			break
		}
	}
}
