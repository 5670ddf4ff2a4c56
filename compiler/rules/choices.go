package rules

import (
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// Rules on the capacities and the priority that a workload chooses from its tier.

// runsOn returns the capacities that a workload names. If it names none, runsOn
// returns the capacities of its tier: those with accelerators if the workload asks
// for some, otherwise those without, otherwise all.
func (r *report) runsOn(w schema.Workload, capacities map[string]ir.Capacity) []string {
	if w.Capacity != nil {
		return w.Capacity
	}
	tier := r.Blueprint.Tiers[w.Tier].Capacity
	if w.PerPod.Accelerators == 0 {
		if apart := r.apart(w, tier, capacities); len(apart) > 0 {
			return apart
		}
		return tier
	}
	if accelerated := slices.DeleteFunc(slices.Clone(tier), func(c string) bool {
		return !capacities[c].HasAccelerators()
	}); len(accelerated) > 0 {
		return accelerated
	}
	return tier
}

// apart returns which of some capacities have no accelerators and hold a pod of a workload, if
// labels direct its pods there. The result is nil with KAI Scheduler: its pods can share GPUs
// without requesting any.
func (r *report) apart(w schema.Workload, names []string, capacities map[string]ir.Capacity) []string {
	memory, err := resource.ParseQuantity(w.PerPod.Memory)
	if err != nil || !r.Plan.Scheduler.Facts().QuotaPerCapacity {
		return nil // the schema reports the memory
	}
	cpu := *resource.NewMilliQuantity(int64(math.Round(w.PerPod.CPU*1000)), resource.DecimalSI)
	requests := []ir.Amount{{Resource: ir.CPU, Quantity: cpu}, {Resource: ir.Memory, Quantity: memory}}
	var tier []ir.Capacity
	for _, name := range names {
		tier = append(tier, capacities[name])
	}
	var out []string
	for _, c := range tier {
		if c.IsApart(tier) && c.PodsPerNode(requests) > 0 {
			out = append(out, c.Name)
		}
	}
	return out
}

func capacityOutsideTier(r *report) {
	for _, name := range sortedKeys(r.Blueprint.Workloads) {
		w := r.Blueprint.Workloads[name]
		known, ok := r.capacitiesOf(w.Tier)
		if !ok {
			continue
		}
		for i, c := range w.Capacity {
			r.resolveName(at("workloads", name, "capacity", diag.Index(i)), "capacity of tier "+w.Tier, c, known)
		}
	}
}

func priorityOutsideTier(r *report) {
	for _, name := range sortedKeys(r.Blueprint.Workloads) {
		w := r.Blueprint.Workloads[name]
		var known []string
		for _, class := range r.Blueprint.Tiers[w.Tier].PriorityClasses(w.Tier) {
			known = append(known, class.Name)
		}
		if w.Priority != nil && known != nil {
			slices.Sort(known)
			r.resolveName(at("workloads", name, "priority"), "priority of tier "+w.Tier, *w.Priority, known)
		}
	}
}

// negativePriority reports a workload with a negative priority of a kind whose controller
// gives no pods to such jobs.
func negativePriority(r *report) {
	values := map[string]int32{}
	for _, c := range r.Plan.PriorityClasses {
		values[c.Name] = c.Value
	}
	all := r.firstCopies()
	for _, name := range sortedKeys(all) {
		i := slices.IndexFunc(all[name], func(s submission) bool {
			of := s.workload.Kind.Facts()
			return of.Priorities != "" && r.Plan.HasDefect(of.Priorities) && values[s.workload.PriorityClass] < 0
		})
		if i < 0 {
			continue
		}
		tier, class := r.Blueprint.Workloads[name].Tier, all[name][i].workload.PriorityClass
		path := at("tiers", tier, "priority")
		if r.Blueprint.Tiers[tier].Priority == nil {
			path = at("tiers", tier, "priorities", class)
		}
		kind := all[name][i].workload.Kind
		of := r.Plan.ControllerOf(kind)
		r.addKey(at("workloads", name),
			fmt.Sprintf("workload %q is a %s with priority %d, but %s %s supports no negative priorities",
				name, kind, values[class], of.Name, of.Version),
			withRelated(path, "the priority"), withHelp("choose a priority of 0 or more"))
	}
}

// chosenQuota reports a chosen capacity of which the team has no quota: the workload
// would wait forever.
func chosenQuota(r *report) {
	all := r.firstCopies()
	for _, name := range sortedKeys(all) {
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
			r.add(at("workloads", name, "capacity", diag.Index(i)),
				fmt.Sprintf("no team that submits workload %q has quota on %q", name, c),
				withHelp("give quota on it to one of the teams, or remove the capacity"))
		}
		for _, s := range all[name] {
			if used > 0 && !slices.ContainsFunc(chosen, func(c string) bool { return has(s, c) }) {
				r.addKey(at("workloads", name, "capacity"),
					fmt.Sprintf("team %q has no quota on %s", s.team.Name, quoteNames(chosen)),
					withRelated(r.quotaPath(s, ""), "the team's quota"),
					withHelp("give quota on one of them to the team, or remove the team from the workload's teams"))
			}
		}
	}
}

// chosenApart reports pods that could start on a capacity that the workload did not
// choose. Pods select the node labels that all chosen capacities have in common;
// auxiliary pods select the labels of their one capacity.
func chosenApart(r *report) {
	all := r.firstCopies()
	for _, name := range sortedKeys(all) {
		chosen := r.Blueprint.Workloads[name].Capacity
		for _, s := range all[name] {
			// otherwise the team has no quota of the chosen capacities, or none is
			// chosen
			if slices.Contains(chosen, s.workload.Capacities[0]) {
				r.reportApart(s, at("workloads", name, "capacity"), chosen, s.workload.Requests,
					s.workload.NodeSelector)
			}
		}
	}
	r.eachAuxiliary(func(s submission, a ir.Auxiliary, c ir.Capacity) {
		r.reportApart(s, at("workloads", s.workload.Template, "auxiliary", a.Name, "capacity"), []string{c.Name},
			a.Requests, a.NodeSelector)
	})
}

// reportApart reports the queue's other capacities to which pods for the chosen ones
// could be sent. Kueue compares a pod's node selector only with those labels that
// the flavor has, and ignores the other labels, although the nodes then lack them.
// KAI Scheduler places pods on nodes that have all labels. Source: Kueue 0.19,
// pkg/scheduler/flavorassigner.
func (r *report) reportApart(s submission, path []string, chosen []string, requests []ir.Amount,
	selector []ir.KeyValue) {
	capacities, facts := capacitiesByName(r.Plan), r.Plan.Scheduler.Facts()
	for _, f := range s.queue.Flavors {
		c := capacities[f.Flavor]
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
		r.addKey(path,
			fmt.Sprintf("no label distinguishes the nodes of %s from the nodes of %q, so pods could run there",
				quoteNames(chosen),
				f.Flavor), withHelp("%s", cure))
	}
}

// offersAccelerators reports whether a capacity's nodes have the accelerators that
// pods request. If they have none, there is no quota of them either.
func offersAccelerators(c ir.Capacity, requests []ir.Amount) bool {
	return !slices.ContainsFunc(requests, func(a ir.Amount) bool {
		return (a.Resource == ir.GPU || a.Resource == ir.TPU) && a.Resource != c.Machine.Resource
	})
}
