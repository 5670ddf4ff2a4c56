package rules

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Rules on pods and nodes. Kueue compares a workload with quota, and quota is the
// sum over all nodes. A pod needs its requests on one node, so a workload can fit
// its quota and never fit the nodes.

func packingRules() []Rule {
	return []Rule{
		rule("E0816", "nodes never hold all pods of a workload", copyFitsNodes, whole, resolved),
		rule("E0817", "workload can be admitted to too few nodes",
			onEach(submissions, strandedCopies), whole, resolved, acceptable, except(ir.KAI)),
		rule("W0823", "part of each node is always idle", idleParts, whole, resolved),
		rule("W0824", "workload without accelerators runs on accelerator nodes",
			cpuOnAccelerators, whole, resolved, except(ir.KAI)),
		rule("E0843", "workload without accelerators names accelerator nodes",
			onEach(submissions, namedAccelerators), resolved, except(ir.KAI)),
		rule("E0844", "job requests too little of its own nodes",
			onEach(submissions, smallJobs), whole, resolved, except(ir.KAI)),
		rule("W0825", "pod leaves no room for GKE's own pods", roomForSystemPods, whole, resolved),
	}
}

// copyFitsNodes reports workloads that are admitted and never run: their pods fit
// the nodes one by one, but not all at once.
func copyFitsNodes(r *report) {
	for name, submissions := range r.fit.Submissions().Sorted() {
		for _, s := range submissions {
			on := r.fit.Nodes(s, fit.Nothing)
			if len(on) == 0 || !r.fit.WithinTotals(s) { // copyFitsQuota reports the totals
				continue
			}
			if r.fit.CanRun(s, on) {
				if !r.reportAuxiliaries(s, on, fit.Nothing) {
					r.reportLimited(s, r.fit.Limited(on))
				}
				continue
			}
			r.addKey(at("workloads", name),
				say("workload %q can never run: its %s run at once, and no capacity has room for all of them", name,
					words.Count(s.Workload.Pods, "pod")), label("room: %s", describeNodes(on)),
				see(at("workloads", name, "perPod"), "the requests of each pod"),
				help("%s; or %s", r.moreNodes(on[0]), fewerPods(on[0])))
			break
		}
	}
}

// describeNodes describes the nodes of capacities in a label.
func describeNodes(on []fit.Nodes) string {
	var out []string
	for _, n := range on {
		within := ""
		if n.Limit != nil {
			_, what := limitOn(n.Limit.Resource)
			within = fmt.Sprintf(" within the cluster's limit of %g %s", n.Limit.Most, what)
		}
		out = append(out, fmt.Sprintf("%s: %s%s, %s per node", n.Capacity.Name, words.Count(n.Most, "node"), within,
			words.Count(n.PerNode, "pod")))
	}
	return strings.Join(out, "; ")
}

// reportAuxiliaries reports a workload whose own pods have room, but not together with
// its auxiliary pods. It reports whether it did.
func (r *report) reportAuxiliaries(s fit.Submission, on []fit.Nodes, taken fit.Taken) bool {
	crowded, found := r.fit.Crowded(s, on, taken)
	if !found {
		return false
	}
	name, c := s.Workload.Template, crowded.Capacity
	path := at("workloads", name, "auxiliary")
	if gke := taken(c); gke != nil {
		cure := help("request at most %s for each pod, because GKE's pods start first",
			printAmounts(fit.ShareBeside(c, gke, 1)))
		if crowded.Needed > 0 {
			cure = help("%s; or request less, because GKE's pods start first", r.moreNodes(crowded))
		}
		r.addKey(path, say("the auxiliary pods of workload %q leave no room for GKE's own pods on the nodes "+
			"of %q", name, c.Name),
			label("each node has %s; GKE's pods request %s", printAmounts(c.PerNode), printAmounts(gke)), cure)
		return true
	}
	r.addKey(path, say("workload %q can never run: its pods must run at once, but %q has no room for its "+
		"auxiliary pods", name, c.Name),
		label("need %s, have %d", words.Count(crowded.Needed, "node"), c.MaxNodes),
		help("%s; or request less, so that more pods fit a node", r.moreNodes(crowded)))
	return true
}

// reportLimited reports a workload that has room on the nodes of its capacities, but
// not on the nodes that the limits of the cluster let start.
func (r *report) reportLimited(s fit.Submission, limited []fit.Nodes) {
	if r.fit.CanRun(s, limited) {
		r.reportLimitedAuxiliaries(s, limited)
		return
	}
	isLimited := func(n fit.Nodes) bool { return n.Limit != nil }
	i := slices.IndexFunc(limited, func(n fit.Nodes) bool { return isLimited(n) && n.Needed <= n.Capacity.MaxNodes })
	if i < 0 { // no capacity holds all pods alone, and the scheduler divides them
		i = slices.IndexFunc(limited, isLimited)
	}
	n := limited[i]
	field, what := limitOn(n.Limit.Resource)
	message := say("workload %q can never run: its pods need %s of %q, but the limit of the cluster, %g %s, "+
		"allows only %d", s.Workload.Template, words.Count(n.Needed, "node"), n.Capacity.Name, n.Limit.Most, what,
		n.Most)
	cure := help("%s; or %s", r.moreNodes(n), fewerPods(n))
	if r.writtenLimit(n.Limit.Resource) == nil {
		r.addKey(at("workloads", s.Workload.Template), message, cure)
		return
	}
	r.add(r.limitPath(field), message, cure,
		label("want at least %g, with the nodes that always exist", n.Limit.Need(n)),
		see(at("workloads", s.Workload.Template), "the workload"))
}

// reportLimitedAuxiliaries reports a workload whose own pods have room within the limits
// of the cluster, but not together with the nodes of its auxiliary pods.
func (r *report) reportLimitedAuxiliaries(s fit.Submission, limited []fit.Nodes) {
	auxiliary := r.fit.AuxiliaryNodes(s)
	if len(auxiliary) == 0 || !r.Plan.Scheduler.Facts().QuotaPerCapacity {
		return
	}
	for _, l := range r.fit.BindingLimits() {
		least := l.Together(limited, auxiliary)
		if least <= l.Most {
			continue
		}
		field, what := limitOn(l.Resource)
		path, add := r.limitPath(field), r.add
		if r.writtenLimit(l.Resource) == nil {
			path, add = at("workloads", s.Workload.Template), r.addKey
		}
		add(path, say("workload %q can never run: the nodes for its pods and its auxiliary pods need %g %s, "+
			"but the limit of the cluster is %g", s.Workload.Template, math.Ceil(least), what, l.Most),
			see(at("workloads", s.Workload.Template, "auxiliary"), "the auxiliary pods"),
			help("%s; or request less", r.setLimit(l.Resource, math.Ceil(least))))
		return
	}
}

// strandedCopies reports workloads that Kueue can admit to a capacity with too few
// nodes, although another capacity of the tier has enough. Kueue takes the first
// capacity with free quota.
func strandedCopies(r *report, s fit.Submission) {
	name := s.Workload.Template
	on := r.fit.Limited(r.fit.Nodes(s, fit.Nothing))
	if !r.fit.CanRun(s, on) {
		return // copyFitsNodes reports workloads that never run
	}
	i := slices.IndexFunc(on, func(n fit.Nodes) bool { return !n.Fits() })
	if i < 0 {
		r.strandedTogether(s, on)
		return
	}
	r.addKey(at("workloads", name), say("workload %q can be admitted to %q, whose nodes hold %d of its %d pods", name,
		on[i].Capacity.Name, on[i].Held(), s.Workload.Pods), label("room: %s", describeNodes(on)),
		see(r.quotaPath(s, on[i].Capacity.Name), "the quota that admits it"),
		help("choose the capacities that have room: capacity: [%s]; or %s", roomyCapacities(on), r.moreNodes(on[i])))
}

// strandedTogether reports a workload that has room on the nodes of a capacity only
// without its auxiliary pods, although another capacity has room for it.
func (r *report) strandedTogether(s fit.Submission, on []fit.Nodes) {
	crowded, found := r.fit.CrowdedTogether(s, on)
	if _, never := r.fit.Crowded(s, on, fit.Nothing); !found || never {
		return // copyFitsNodes reports workloads that never run
	}
	name, here := s.Workload.Template, crowded.Capacity.Name
	others := slices.DeleteFunc(slices.Clone(on), func(n fit.Nodes) bool { return n.Capacity.Name == here })
	r.addKey(at("workloads", name),
		say("workload %q can be admitted to %q, whose nodes cannot hold its pods and its auxiliary pods at once", name,
			here), label("need %s, have %d", words.Count(crowded.Needed, "node"), crowded.Most),
		see(r.quotaPath(s, here), "the quota that admits it"),
		help("choose the capacities that have room: capacity: [%s]; or %s", roomyCapacities(others),
			r.moreNodes(crowded)))
}

// roomyCapacities returns the capacities that hold all pods, as the elements of a
// CUE list.
func roomyCapacities(on []fit.Nodes) string {
	var out []string
	for _, n := range on {
		if n.Fits() {
			out = append(out, fmt.Sprintf("%q", n.Capacity.Name))
		}
	}
	return strings.Join(out, ", ")
}

// cpuOnAccelerators reports workloads without accelerators that Kueue admits to nodes with
// accelerators: first, because no label distinguishes the other nodes, or only, although no
// workload of the blueprint uses these GPUs.
func cpuOnAccelerators(r *report) {
	used := r.fit.RequestedGPUs()
	for name, submissions := range r.fit.Submissions().Sorted() {
		if in := r.Blueprint.Workloads[name]; in.PerPod.Accelerators > 0 || in.Capacity != nil {
			continue
		}
		for _, s := range submissions {
			on := r.fit.Nodes(s, fit.Nothing)
			if r.reportUnusedGPUs(name, on, used) {
				break
			}
			// ir.Apart leaves nodes with accelerators to others if labels can.
			plain := slices.IndexFunc(on, func(n fit.Nodes) bool { return !n.Capacity.HasAccelerators() && n.Fits() })
			if plain < 0 || !on[0].Capacity.HasGPUs() { // wholeSlices reports pods without chips on slices
				continue
			}
			r.addKey(at("workloads", name),
				say("workload %q requests no accelerators, but runs on the nodes of %q first", name,
					on[0].Capacity.Name),
				see(at("tiers", s.Queue.Tier, "capacity"), "the order in which capacities are tried"),
				help("no label distinguishes the nodes of %q: define a tier for each, or remove autoProvisioned "+
					"from one of them, which then has its own node pool", on[plain].Capacity.Name))
			break
		}
	}
}

// reportUnusedGPUs reports a workload without accelerators if every capacity that can
// run it has GPUs, and no workload of the blueprint requests a GPU of them. It reports
// whether it did.
func (r *report) reportUnusedGPUs(name string, on []fit.Nodes, used map[string]bool) bool {
	first := slices.IndexFunc(on, fit.Nodes.Fits)
	if first < 0 || slices.ContainsFunc(on, func(n fit.Nodes) bool {
		// smallJobs reports nodes that start for the workload.
		return n.Fits() && !n.Capacity.HasGPUs() || used[n.Capacity.Name] || n.Capacity.NodesPerJob()
	}) {
		return false
	}
	path := at("workloads", name, "perPod")
	r.addKey(path,
		say("workload %q requests no accelerators, but runs on the GPU nodes of %q, and no workload uses "+
			"their GPUs", name, on[first].Capacity.Name),
		helpOrAccept("if the pods need none", "set accelerators to the number of GPUs that each pod uses"))
	return true
}

// namedAccelerators reports workloads without accelerators that name a capacity with
// GPUs, although another capacity of their tier holds their pods. The policies of the
// platform refuse such jobs.
func namedAccelerators(r *report, s fit.Submission) {
	name := s.Workload.Template
	w := r.Blueprint.Workloads[name]
	if w.PerPod.Accelerators > 0 {
		return
	}
	var offered []string
	for _, f := range s.Queue.Flavors {
		offered = append(offered, f.Flavor)
	}
	apart := r.apart(w, offered)
	// wholeSlices reports TPUs
	i := slices.IndexFunc(w.Capacity, func(c string) bool { return r.fit.Named[c].HasGPUs() })
	if len(apart) > 0 && i >= 0 {
		r.add(at("workloads", name, "capacity", diag.Index(i)),
			say("workload %q requests no accelerators, but can run on %q, whose nodes have some", name,
				w.Capacity[i]), help("name only capacities without accelerators: %s", quoteNames(apart)))
	}
}

// smallJobs reports jobs that request too little of the nodes that GKE starts for them. The
// policies of the platform refuse such jobs, because quota counts what pods request.
func smallJobs(r *report, s fit.Submission) {
	name := s.Workload.Template
	i := slices.IndexFunc(s.Workload.Capacities, func(name string) bool {
		c := r.fit.Named[name]
		requested, least := ir.AmountOf(s.Workload.Requests, c.CountedIn()), c.LeastPerJob()
		requested.Mul(int64(s.Workload.Pods))
		return requested.Cmp(least) < 0 && c.PodsPerNode(s.Workload.Requests) > 0
	})
	if i < 0 {
		return
	}
	c := r.fit.Named[s.Workload.Capacities[i]]
	least := c.LeastPerJob()
	r.addKey(at("workloads", name, "perPod"),
		say("workload %q requests too little of the nodes of %q, which GKE starts for each job", name, c.Name),
		label("want at least %s of %s in all pods of a job", least.String(), c.CountedIn()),
		see(at("capacity", c.Name), "the nodes"), help("request more, or name other capacities in the field capacity"))
}

// roomForSystemPods reports workloads that fit the nodes only without GKE's own
// pods, which start first and have a higher priority.
func roomForSystemPods(r *report) {
	for name, submissions := range r.fit.Submissions().Sorted() {
		for _, s := range submissions {
			empty := r.fit.Limited(r.fit.Nodes(s, fit.Nothing))
			if !r.fit.CanRun(s, empty) || !r.fit.WithinTotals(s) {
				continue
			}
			beside := r.fit.Limited(r.fit.Nodes(s, fit.SystemPods))
			if r.fit.CanRun(s, beside) {
				if _, crowded := r.fit.Crowded(s, empty, fit.Nothing); !crowded {
					r.reportAuxiliaries(s, beside, fit.SystemPods)
				}
				continue
			}
			on := empty[max(0, slices.IndexFunc(empty, fit.Nodes.Fits))]
			c := on.Capacity
			most := r.fit.PerPod(submissions, c, on.PerNode)
			cure := fmt.Sprintf("request at most %s for each pod, because GKE's pods start first", printAmounts(most))
			if fit.Exceeds(fit.ShareBeside(c, c.SystemPods, on.PerNode), most) {
				cure += ", and the quota has no more"
			}
			printed := printAlike(s.Workload.Requests, c.SystemPods)
			r.addKey(at("workloads", name, "perPod"),
				say("the pods of workload %q leave no room for GKE's own pods on the nodes of %q", name, c.Name),
				label("%s per node, each requests %s; GKE's pods request %s", words.Count(on.PerNode, "pod"),
					printed[0], printed[1]), advise(cure))
			break
		}
	}
}
