package rules

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
)

// Rules on KAI Scheduler: that nothing is asked of it which it does not do.
// Sources: KAI Scheduler 0.17's documentation and code, and runs of its scheduler.

func kaiRules() []Rule {
	return []Rule{
		{
			Code: "E1001", Severity: diag.Error, Title: "KAI Scheduler with more than one tier", check: oneTier,
			scheduler: ir.KAI, basic: true,
		},
		{
			Code: "E1002", Severity: diag.Error, Title: "something that KAI Scheduler does not do", check: noEquivalent,
			scheduler: ir.KAI,
		},
		{
			Code: "E1003", Severity: diag.Error, Title: "capacities that KAI Scheduler tries in no order",
			check: unordered, scheduler: ir.KAI, resolved: true, Acceptable: true,
		},
		{
			Code: "W1004", Severity: diag.Warning, Title: "GPUs of different capacities are counted together",
			check: countedTogether, scheduler: ir.KAI, resolved: true,
		},
		{
			Code: "E1005", Severity: diag.Error, Title: "quota that KAI Scheduler does not count", check: uncounted,
			scheduler: ir.KAI, resolved: true, Acceptable: true,
		},
		{
			Code: "E1006", Severity: diag.Error, Title: "a queue's priority without KAI Scheduler",
			check: queuePriorities, scheduler: ir.Kueue,
		},
		{
			Code: "E1007", Severity: diag.Error, Title: "a PriorityClass of KAI Scheduler with another value",
			check: ownClasses, scheduler: ir.KAI,
		},
		{
			Code: "E1008", Severity: diag.Error, Title: "two queues of KAI Scheduler have the same name",
			check: queueNames, scheduler: ir.KAI,
		},
		{
			Code: "W1009", Severity: diag.Warning, Title: "nodes start for jobs that wait for quota", check: idleNodes,
			scheduler: ir.KAI,
		},
	}
}

// oneTier: a team has one queue, in which jobs differ by their priority. Of more
// tiers nobody can say whose quota it has.
func oneTier(r *report) {
	if tiers := names(r.Blueprint.Tiers); len(tiers) > 1 {
		r.addKey(at("tiers", tiers[1]),
			fmt.Sprintf("with KAI Scheduler a team has one queue, and there are %d tiers", len(tiers)),
			related(at("tiers", tiers[0]), "the first"),
			help("make one tier of them, with a priority for each: priorities"))
	}
}

// noEquivalent: what is written would be without effect, or worse. Of node pools
// that GKE creates its documentation says that custom scheduling with filters of
// its own is not supported ("About node pool auto-creation").
func noEquivalent(r *report) {
	b := r.Blueprint
	for _, name := range names(b.Tiers) {
		t := b.Tiers[name]
		if t.Shared != nil {
			r.addKey(at("tiers", name, "shared"), "with KAI Scheduler every team has a queue of its own",
				help("remove shared, and give each team quota: teams"))
		}
		if t.Preempts {
			r.addKey(at("tiers", name, "preempts"), "KAI Scheduler goes by the value of a PriorityClass alone",
				help("remove preempts: in a queue jobs of a higher value evict those of a lower, "+
					"unless that is %d or more", ir.KAINonPreemptible))
		}
		if r.Written("tiers", name, "queueing") {
			r.addKey(at("tiers", name, "queueing"),
				"KAI Scheduler lets jobs that fit overtake those that do not, always", help("remove queueing"))
		}
		if classes := t.PriorityClasses(name); t.Default && len(classes) > 0 && classes[0].Name != ir.KAIDefaultClass {
			if _, own := ir.KAIClass(classes[0].Name); own {
				r.add(at("tiers", name, "default"),
					fmt.Sprintf("PriorityClass %q comes with KAI Scheduler and cannot be made the default",
						classes[0].Name),
					help("remove default: KAI Scheduler gives jobs that name no class %q", ir.KAIDefaultClass))
			}
		}
	}
	for _, name := range names(b.Cohorts) {
		if b.Cohorts[name].Parent != nil {
			r.addKey(at("cohorts", name, "parent"),
				"with KAI Scheduler there are two levels of queues: cohorts, and teams in them", help("remove parent"))
		}
	}
	for _, name := range names(b.Capacity) {
		c := b.Capacity[name]
		if flex := c.Consumption.FlexStart; flex != nil && flex.Queued {
			r.addKey(at("capacity", name, "consumption", "flexStart", "queued"),
				"KAI Scheduler does not ask for nodes before it starts a job", help("remove queued"))
		}
		for _, created := range []struct {
			field string
			set   bool
		}{{"autoProvisioned", c.AutoProvisioned}, {"computeClass", c.ComputeClass}} {
			if created.set {
				r.addKey(at("capacity", name, created.field),
					"GKE supports no pods of another scheduler where it creates node pools for them",
					help("remove %s: the capacity then has a node pool of its own", created.field))
			}
		}
	}
	for _, name := range names(b.Teams) {
		for _, tier := range names(b.Teams[name].Quota) {
			for _, c := range names(b.Teams[name].Quota[tier]) {
				if b.Teams[name].Quota[tier][c].Lend != nil {
					r.addKey(at("teams", name, "quota", tier, c, "lend"),
						"a queue of KAI Scheduler lends all that it does not use", help("remove lend"))
				}
			}
		}
	}
}

// unordered: of the nodes that a pod can run on KAI Scheduler takes the fullest.
func unordered(r *report) {
	for _, w := range r.Plan.Workloads {
		if len(w.Capacities) > 1 {
			r.addKey(at("workloads", w.Template),
				fmt.Sprintf("workload %q can run on %s, which KAI Scheduler tries in no order", w.Template,
					quoted(w.Capacities)),
				help("name one of them: capacity: [%q]", w.Capacities[0]))
		}
	}
}

// gpuCapacities are those of a tier that have GPUs, in its order.
func (r *report) gpuCapacities(tier string) []string {
	capacities := capacitiesByName(r.Plan)
	return slices.DeleteFunc(slices.Clone(r.Blueprint.Tiers[tier].Capacity), func(name string) bool {
		return !capacities[name].HasGPUs()
	})
}

func countedTogether(r *report) {
	for _, name := range names(r.Blueprint.Tiers) {
		if together := r.gpuCapacities(name); len(together) > 1 {
			r.addKey(at("tiers", name, "capacity"),
				fmt.Sprintf("a queue of KAI Scheduler counts the GPUs of %s together", quoted(together)),
				help("a team can use all of its quota on either: its jobs choose the nodes by their labels"))
		}
	}
}

// uncounted: the queues bound GPUs, and leave everything else free.
func uncounted(r *report) {
	capacities := capacitiesByName(r.Plan)
	reported := map[string]bool{} // one mistake, however many teams
	for _, name := range names(r.Blueprint.Teams) {
		for _, tier := range names(r.Blueprint.Teams[name].Quota) {
			for _, c := range names(r.Blueprint.Teams[name].Quota[tier]) {
				if capacity, known := capacities[c]; !known || capacity.Machine.VCPUs == 0 || capacity.HasGPUs() ||
					reported[c] {
					continue
				}
				reported[c] = true
				r.addKey(at("capacity", c), fmt.Sprintf("KAI Scheduler counts GPUs, and the nodes of %q have none", c),
					related(at("teams", name, "quota", tier, c), "the quota"),
					help("take it out, or accept that everybody can use all of it: accept: E1005: \"...\""))
			}
		}
	}
}

// queuePriorities: however many queues have one, it is one mistake, and most
// likely that of the scheduler.
func queuePriorities(r *report) {
	var paths [][]string
	for _, name := range names(r.Blueprint.Cohorts) {
		if r.Blueprint.Cohorts[name].Priority != nil {
			paths = append(paths, at("cohorts", name, "priority"))
		}
	}
	for _, name := range names(r.Blueprint.Teams) {
		if r.Blueprint.Teams[name].Priority != nil {
			paths = append(paths, at("teams", name, "priority"))
		}
	}
	if len(paths) == 0 {
		return
	}
	options := []option{help(`remove it, or set scheduler: "kai"`)}
	for _, path := range paths[1:] {
		if r.Place(true, path...) != r.Place(true, paths[0]...) {
			options = append(options, related(path, "another"))
		}
	}
	r.addKey(paths[0], "queues of Kueue have no priority", options...)
}

func ownClasses(r *report) {
	for _, tier := range names(r.Blueprint.Tiers) {
		t := r.Blueprint.Tiers[tier]
		for _, class := range t.PriorityClasses(tier) {
			value, own := ir.KAIClass(class.Name)
			if !own || value == class.Value {
				continue
			}
			path := at("tiers", tier, "priorities", class.Name)
			if t.Priority != nil {
				path = at("tiers", tier, "priority")
			}
			r.add(path, fmt.Sprintf("PriorityClass %q comes with KAI Scheduler and has another value", class.Name),
				label("want %d", value), help("give it this value, or another name"))
		}
	}
}

// queueNames: the queues of cohorts and of teams are objects of one kind.
func queueNames(r *report) {
	for _, kind := range []struct {
		field string
		names []string
	}{{"cohorts", names(r.Blueprint.Cohorts)}, {"teams", names(r.Blueprint.Teams)}} {
		for _, name := range kind.names {
			_, cohort := r.Blueprint.Cohorts[name]
			switch {
			case ir.KAIDefaultQueue(name):
				r.addKey(at(kind.field, name), fmt.Sprintf("queue %q is KAI Scheduler's own", name), help("rename it"))
			case kind.field == "teams" && cohort:
				r.addKey(at("teams", name),
					fmt.Sprintf("queue %q would stand for the cohort of that name as well", name),
					related(at("cohorts", name), "the cohort"), help("rename one of them"))
			}
		}
	}
}

// idleNodes: KAI Scheduler marks every pod that waits as unschedulable, and the
// cluster autoscaler starts nodes for those that are. Source: issue 9828 of
// kubernetes/autoscaler.
func idleNodes(r *report) {
	for _, c := range r.Plan.Capacities {
		if in := r.Blueprint.Capacity[c.Name]; in.MaxNodes != nil && c.OwnsPools() {
			r.addKey(at("capacity", c.Name, "maxNodes"),
				fmt.Sprintf("nodes of %q start for jobs that wait for quota, too", c.Name),
				help("set nodes for a fixed number, or accept that some nodes start for nothing: "+
					"accept: W1009: \"...\""))
		}
	}
}

// startable tells whether a copy of a workload can ever start: its GPUs, side by
// side, within what KAI Scheduler gives its queue, and within all that there are.
func startable(p *ir.Platform, s submission, capacities map[string]ir.Capacity) (short []string, ok bool) {
	var most, all resource.Quantity
	unlimited := false
	for _, f := range s.queue.Flavors {
		for _, q := range f.Quotas {
			if q.Resource != ir.GPU {
				continue
			}
			most.Add(q.Nominal)
			if p.NonPreemptible(s.workload.PriorityClass) {
				continue // never more than what is guaranteed
			}
			unlimited = unlimited || q.BorrowsAll
			if q.Borrowing != nil {
				most.Add(*q.Borrowing)
			}
		}
	}
	for _, name := range s.workload.Capacities {
		c := capacities[name]
		if emptied(c) || unsized(c) {
			return nil, true
		}
		all.Add(*resource.NewQuantity(int64(c.MaxNodes*c.Machine.AcceleratorCount), resource.DecimalSI))
	}
	if unlimited || all.Cmp(most) < 0 {
		most = all
	}
	gpus := slices.DeleteFunc(slices.Clone(s.workload.Requests), func(a ir.Amount) bool { return a.Resource != ir.GPU })
	lack, ok := fits(gpus, int64(s.workload.Pods), func(string) (resource.Quantity, bool) { return most, true })
	return []string{lack}, ok
}
