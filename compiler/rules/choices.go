package rules

import (
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// Rules on what a workload chooses of its tier: capacities and a priority.

// runsOn returns the capacities that a workload names, else those of its tier
// that have accelerators if it asks for some, else all.
func (r *report) runsOn(w schema.Workload, capacities map[string]ir.Capacity) []string {
	if w.Capacity != nil {
		return w.Capacity
	}
	tier := r.Blueprint.Tiers[w.Tier].Capacity
	if w.PerPod.Accelerators == 0 {
		return tier
	}
	if accelerated := slices.DeleteFunc(slices.Clone(tier), func(c string) bool { return !capacities[c].HasAccelerators() }); len(accelerated) > 0 {
		return accelerated
	}
	return tier
}

func capacityOutsideTier(r *report) {
	for _, name := range names(r.Blueprint.Workloads) {
		w := r.Blueprint.Workloads[name]
		known, ok := r.capacitiesOf(w.Tier)
		if !ok {
			continue
		}
		for i, c := range w.Capacity {
			r.resolve(at("workloads", name, "capacity", diag.Index(i)), "capacity of tier "+w.Tier, c, known)
		}
	}
}

func priorityOutsideTier(r *report) {
	for _, name := range names(r.Blueprint.Workloads) {
		w := r.Blueprint.Workloads[name]
		var known []string
		for _, class := range r.Blueprint.Tiers[w.Tier].PriorityClasses(w.Tier) {
			known = append(known, class.Name)
		}
		if w.Priority != nil && known != nil {
			slices.Sort(known)
			r.resolve(at("workloads", name, "priority"), "priority of tier "+w.Tier, *w.Priority, known)
		}
	}
}

// chosenQuota: a workload would wait for ever for what its team has nothing of.
func chosenQuota(r *report) {
	all := r.submissions()
	for _, name := range names(all) {
		chosen := r.Blueprint.Workloads[name].Capacity
		has := func(s submission, c string) bool {
			return slices.ContainsFunc(s.queue.Flavors, func(f ir.FlavorQuota) bool { return f.Flavor == c })
		}
		used := 0
		for i, c := range chosen {
			if slices.ContainsFunc(all[name], func(s submission) bool { return has(s, c) }) {
				used++
				continue
			}
			r.add(at("workloads", name, "capacity", diag.Index(i)), fmt.Sprintf("no team that submits workload %q has quota on %q", name, c),
				help("give one quota there, or leave the capacity out"))
		}
		for _, s := range all[name] {
			if used > 0 && !slices.ContainsFunc(chosen, func(c string) bool { return has(s, c) }) {
				r.addKey(at("workloads", name, "capacity"), fmt.Sprintf("team %q has no quota on %s", s.team.Name, quoted(chosen)),
					related(r.quotaPath(s, ""), "its quota"), help("give it quota there, or leave it out of the workload's teams"))
			}
		}
	}
}

// chosenApart: pods select the node labels that all chosen capacities have. Kueue
// leaves out the flavors that have others, and only those. Source: Kueue,
// pkg/scheduler/flavorassigner.
func chosenApart(r *report) {
	capacities := capacitiesByName(r.Plan)
	all := r.submissions()
	for _, name := range names(all) {
		chosen := r.Blueprint.Workloads[name].Capacity
		for _, s := range all[name] {
			if !slices.Contains(chosen, s.workload.Capacities[0]) {
				continue // chosen are none, or such as its team has nothing of
			}
			for _, f := range s.queue.Flavors {
				if slices.Contains(chosen, f.Flavor) {
					continue
				}
				labels := capacities[f.Flavor].NodeLabels
				if slices.ContainsFunc(s.workload.NodeSelector, func(l ir.KeyValue) bool { return !slices.Contains(labels, l) }) {
					continue
				}
				r.addKey(at("workloads", name, "capacity"), fmt.Sprintf("what the nodes of %s have in common, those of %q have as well: a job could be sent there", quoted(chosen), f.Flavor),
					help("choose one capacity, or make a tier of those it can run on"))
			}
		}
	}
}
