package rules

import (
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// Rules on the capacities and the priority that a workload chooses from its tier.

func capacityOutsideTier(r *report, workload fieldPath, w schema.Workload) {
	known, ok := r.capacitiesOf(w.Tier)
	if !ok {
		return
	}
	r.resolveNames(workload.at("capacity"), "capacity of tier "+w.Tier, w.Capacity, known)
}

func priorityOutsideTier(r *report, workload fieldPath, w schema.Workload) {
	var known []string
	for _, class := range r.Blueprint.Tiers[w.Tier].PriorityClasses(w.Tier) {
		known = append(known, class.Name)
	}
	known = append(known, sortedKeys(r.Blueprint.Tiers[w.Tier].WorkloadPriorities)...)
	if w.Priority != nil && known != nil {
		slices.Sort(known)
		r.resolveName(workload.at("priority"), "priority of tier "+w.Tier, *w.Priority, known)
	}
}

// negativePriority reports a workload with a negative priority of a kind whose controller
// gives no pods to such jobs.
func negativePriority(r *report) {
	values := map[string]int32{}
	for _, c := range r.Plan.PriorityClasses {
		values[c.Name] = c.Value
	}
	for s := range submissions(r) {
		kind, class, of := s.Workload.Kind, s.Workload.PriorityClass, s.Workload.Kind.Facts()
		if of.Priorities == "" || !r.Plan.HasDefect(of.Priorities) || values[class] >= 0 {
			continue
		}
		name, controller := s.Workload.Template, r.Plan.ControllerOf(kind)
		r.addKey(at("workloads", name),
			say("workload %q is a %s with priority %d, but %s %s supports no negative priorities", name, kind,
				values[class], controller.Name, controller.Version),
			see(r.priorityPath(s.Queue.Tier, class), "the priority"), help("choose a priority of 0 or more"))
	}
}

// chosenQuota reports a chosen capacity of which the team has no quota: the workload
// would wait forever.
func chosenQuota(r *report) {
	for name, submissions := range r.fit.Submissions().Sorted() {
		chosen := r.Blueprint.Workloads[name].Capacity
		has := func(s fit.Submission, c string) bool {
			return slices.ContainsFunc(s.Queue.Flavors, func(f ir.FlavorQuota) bool { return f.Flavor == c })
		}
		used := 0
		for i, c := range chosen {
			if slices.ContainsFunc(submissions, func(s fit.Submission) bool { return has(s, c) }) {
				used++
				continue
			}
			r.add(at("workloads", name, "capacity", diag.Index(i)),
				say("no team that submits workload %q has quota on %q", name, c),
				help("give quota on it to one of the teams, or remove the capacity"))
		}
		for _, s := range submissions {
			if used > 0 && !slices.ContainsFunc(chosen, func(c string) bool { return has(s, c) }) {
				r.addKey(at("workloads", name, "capacity"),
					say("team %q has no quota on %s", s.Team.Name, quoteNames(chosen)),
					see(r.quotaPath(s, ""), "the team's quota"),
					help("give quota on one of them to the team, or remove the team from the workload's teams"))
			}
		}
	}
}

// chosenApart reports pods that could start on a capacity that the workload did not
// choose. Pods select the node labels that all chosen capacities have in common;
// auxiliary pods select the labels of their one capacity.
func chosenApart(r *report) {
	for s := range submissions(r) {
		name := s.Workload.Template
		chosen := r.Blueprint.Workloads[name].Capacity
		// otherwise the team has no quota of the chosen capacities, or none is chosen
		if slices.Contains(chosen, s.Workload.Capacities[0]) {
			r.reportApart(s, at("workloads", name, "capacity"), chosen, s.Workload.Requests, s.Workload.NodeSelector)
		}
	}
	r.eachAuxiliary(func(s fit.Submission, a ir.Auxiliary, c ir.Capacity) {
		r.reportApart(s, at("workloads", s.Workload.Template, "auxiliary", a.Name, "capacity"), []string{c.Name},
			a.Requests, a.NodeSelector)
	})
}

// reportApart reports the queue's other capacities to which pods for the chosen ones
// could be sent. Kueue compares a pod's node selector only with those labels that
// the flavor has, and ignores the other labels, although the nodes then lack them.
// KAI Scheduler places pods on nodes that have all labels. Source: Kueue 0.19,
// pkg/scheduler/flavorassigner.
func (r *report) reportApart(s fit.Submission, path fieldPath, chosen []string, requests []ir.Amount,
	selector []ir.KeyValue) {
	facts := r.Plan.Scheduler.Facts()
	for _, f := range s.Queue.Flavors {
		c := r.fit.Named[f.Flavor]
		if slices.Contains(chosen, f.Flavor) || !offersAccelerators(c, requests) {
			continue
		}
		told := slices.ContainsFunc(selector, func(l ir.KeyValue) bool {
			i := slices.IndexFunc(c.NodeLabels, func(has ir.KeyValue) bool { return has.Key == l.Key })
			return i < 0 && facts.MatchesAllLabels || i >= 0 && c.NodeLabels[i] != l
		})
		if told {
			continue
		}
		cure := "choose one capacity, or define a tier of the capacities that the workload can run on"
		if len(chosen) == 1 { // node pools always have different labels
			cure = fmt.Sprintf("remove autoProvisioned and computeClass from %q and %q: each of them then has its own "+
				"node pool", chosen[0], f.Flavor)
		}
		r.addKey(path, say("no label distinguishes the nodes of %s from the nodes of %q, so pods could run there",
			quoteNames(chosen), f.Flavor), advise(cure))
	}
}

// offersAccelerators reports whether a capacity's nodes have the accelerators that
// pods request. If they have none, there is no quota of them either.
func offersAccelerators(c ir.Capacity, requests []ir.Amount) bool {
	return !slices.ContainsFunc(requests, func(a ir.Amount) bool {
		return (a.Resource == ir.GPU || a.Resource == ir.TPU) && a.Resource != c.Machine.Resource
	})
}
