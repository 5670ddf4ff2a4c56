package rules

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Rules on pods and nodes. Kueue compares a workload with quota, and quota is the
// sum over all nodes. A pod needs its requests on one node, so a workload can fit
// its quota and never fit the nodes.

func packingRules() []Rule {
	return []Rule{
		{
			Code: "E0816", Severity: diag.Error, Title: "nodes never hold all pods of a workload",
			check: copyFitsNodes, whole: true, resolved: true,
		},
		{
			Code: "E0817", Severity: diag.Error, Title: "workload can be admitted to too few nodes",
			check: strandedCopies, whole: true, resolved: true, Acceptable: true, except: schedulers{ir.KAI},
		},
		{
			Code: "W0823", Severity: diag.Warning, Title: "part of each node is always idle",
			check: idleParts, whole: true, resolved: true,
		},
		{
			Code: "W0824", Severity: diag.Warning, Title: "workload without accelerators runs on accelerator nodes",
			check: cpuOnAccelerators, whole: true, resolved: true, except: schedulers{ir.KAI},
		},
		{
			Code: "E0843", Severity: diag.Error, Title: "workload without accelerators names accelerator nodes",
			check: namedAccelerators, resolved: true, except: schedulers{ir.KAI},
		},
		{
			Code: "E0844", Severity: diag.Error, Title: "job requests too little of its own nodes",
			check: smallJobs, whole: true, resolved: true, except: schedulers{ir.KAI},
		},
		{
			Code: "W0825", Severity: diag.Warning, Title: "pod leaves no room for GKE's own pods",
			check: roomForSystemPods, whole: true, resolved: true,
		},
	}
}

// nodeFit says how a copy of a workload fits the nodes of one capacity that can
// admit it.
type nodeFit struct {
	capacity ir.Capacity
	nodes    int // number of nodes that the capacity can have
	perNode  int // number of pods that a node holds
	needed   int // number of nodes that the copy needs
	// limit is the limit of the cluster that allows fewer nodes than the capacity, nil
	// if there is none.
	limit *autoscalingLimit
}

// fits reports whether the capacity has enough nodes.
func (f nodeFit) fits() bool { return f.needed <= f.nodes }

// held returns the number of pods that all nodes hold.
func (f nodeFit) held() int { return f.perNode * f.nodes }

// String describes the nodes in a finding's label.
func (f nodeFit) String() string {
	within := ""
	if f.limit != nil {
		within = fmt.Sprintf(" within the cluster's limit of %g %s", f.limit.most, f.limit.what)
	}
	return fmt.Sprintf("%s: %s%s, %s per node", f.capacity.Name, words.Count(f.nodes, "node"), within,
		words.Count(f.perNode, "pod"))
}

// takenFunc returns the amounts that pods of GKE take on each node of a capacity.
type takenFunc func(ir.Capacity) []ir.Amount

// nothingTaken is the takenFunc of an empty node.
func nothingTaken(ir.Capacity) []ir.Amount { return nil }

// nodeFits returns how a copy fits the nodes of each capacity that can admit it. It
// returns none if other rules report why the copy is not admitted, and if a capacity
// has no nodes for the time being: the copy then waits.
func (r *report) nodeFits(s submission, capacities map[string]ir.Capacity, pool ir.Lent, taken takenFunc) []nodeFit {
	if r.isSpoilt(s) {
		return nil
	}
	var out []nodeFit
	for _, f := range s.usableQuotas() {
		c := capacities[f.Flavor]
		perNode := c.PodsPerNode(s.workload.Requests, taken(c)...)
		if perNode == 0 {
			continue // podFitsNode and strandedPods report it
		}
		if c.Emptied() || lacksSize(c) {
			return nil
		}
		if r.Plan.Scheduler.Facts().QuotaPerCapacity {
			_, admitted := fitsAmounts(s.workload.Requests, int64(s.workload.Pods), reachableQuota(s, f, pool))
			if !admitted || c.Overcommit == "" && exceedsNodes(c, s.workload) {
				continue // copyFitsQuota or checkOvercommit reports it
			}
		}
		out = append(out, nodeFit{
			capacity: c, nodes: c.MaxNodes, perNode: perNode, needed: s.workload.NodesPerCopy(perNode),
		})
	}
	return out
}

// exceedsNodes reports whether a copy of a workload requests more of a resource than
// all nodes of a capacity have together. The quota then also exceeds the nodes,
// which checkOvercommit reports.
func exceedsNodes(c ir.Capacity, w ir.Workload) bool {
	if _, over := firstExcess(c); !over {
		return false
	}
	_, ok := fitsAmounts(w.Requests, int64(w.Pods), func(res string) (resource.Quantity, bool) {
		held := ir.AmountOf(c.PerNode, res)
		held.Mul(int64(c.MaxNodes))
		return held, true
	})
	return !ok
}

// canRun reports whether the nodes hold all pods of a copy at once. Kueue assigns
// all pods of a copy to one capacity, because they are one pod set. KAI Scheduler
// places them on all capacities together.
func (r *report) canRun(w ir.Workload, fits []nodeFit) bool {
	if r.Plan.Scheduler.Facts().QuotaPerCapacity {
		return slices.ContainsFunc(fits, nodeFit.fits)
	}
	held := 0
	for _, f := range fits {
		held += f.held()
	}
	return held >= w.Pods
}

// copyFitsNodes reports workloads that are admitted and never run: their pods fit
// the nodes one by one, but not all at once.
func copyFitsNodes(r *report) {
	capacities, pool, limits := capacitiesByName(r.Plan), r.lent(), r.bindingLimits()
	all := r.firstCopies()
	for _, name := range sortedKeys(all) {
		for _, s := range all[name] {
			fits := r.nodeFits(s, capacities, pool, nothingTaken)
			if len(fits) == 0 || !r.withinTotals(s, capacities) {
				continue
			}
			if r.canRun(s.workload, fits) {
				if !r.reportAuxiliaries(s, fits, capacities, pool, nothingTaken) {
					r.reportLimited(s, fits, limits, r.auxiliaryFits(s, capacities, pool))
				}
				continue
			}
			r.addKey(at("workloads", name),
				fmt.Sprintf("workload %q can never run: its %s run at once, and no capacity has room for all of them",
					name, words.Count(s.workload.Pods, "pod")),
				withLabel("room: %s", joinFits(fits)),
				withRelated(at("workloads", name, "perPod"), "the requests of each pod"),
				withHelp("%s; or %s", r.moreNodes(fits[0]), fewerPods(fits[0])))
			break
		}
	}
}

// withinTotals reports whether a scheduler that counts GPUs in total finds enough of
// them. If not, copyFitsQuota reports the workload.
func (r *report) withinTotals(s submission, capacities map[string]ir.Capacity) bool {
	if r.Plan.Scheduler.Facts().QuotaPerCapacity {
		return true
	}
	_, ok := canStart(r.Plan, s, capacities)
	return ok
}

// joinFits describes capacities in a label.
func joinFits(fits []nodeFit) string {
	var out []string
	for _, f := range fits {
		out = append(out, f.String())
	}
	return strings.Join(out, "; ")
}

// moreNodes returns the help that gives a capacity enough nodes for a copy.
func (r *report) moreNodes(f nodeFit) string {
	if f.limit != nil {
		return r.setLimit(f.limit.field, f.limit.need(f))
	}
	field, most, n := "nodes", "maxNodes", f.needed
	if slice := f.capacity.Machine.Slice; slice != nil {
		field, most, n = "slices", "maxSlices", (n+slice.Hosts-1)/slice.Hosts
	}
	if !f.capacity.Static {
		field = most
	}
	return fmt.Sprintf("set capacity: %q: %s: %d", f.capacity.Name, field, n)
}

// fewerPods returns the help that makes a copy fit the nodes of a capacity.
func fewerPods(f nodeFit) string {
	if f.capacity.Sliced() {
		return "use fewer slices"
	}
	return "use fewer pods, or request less, so that more pods fit a node"
}

// strandedCopies reports workloads that Kueue can admit to a capacity with too few
// nodes, although another capacity of the tier has enough. Kueue takes the first
// capacity with free quota.
func strandedCopies(r *report) {
	capacities, pool, limits := capacitiesByName(r.Plan), r.lent(), r.bindingLimits()
	all := r.firstCopies()
	for _, name := range sortedKeys(all) {
		for _, s := range all[name] {
			fits := limitFits(r.nodeFits(s, capacities, pool, nothingTaken), limits)
			if !r.canRun(s.workload, fits) {
				continue // copyFitsNodes reports workloads that never run
			}
			i := slices.IndexFunc(fits, func(f nodeFit) bool { return !f.fits() })
			if i < 0 {
				if r.strandedTogether(s, fits, capacities, pool) {
					break
				}
				continue
			}
			r.addKey(at("workloads", name),
				fmt.Sprintf("workload %q can be admitted to %q, whose nodes hold %d of its %d pods", name,
					fits[i].capacity.Name, fits[i].held(), s.workload.Pods),
				withLabel("room: %s", joinFits(fits)),
				withRelated(r.quotaPath(s, fits[i].capacity.Name), "the quota that admits it"),
				withHelp("choose the capacities that have room: capacity: [%s]; or %s",
					roomyCapacities(fits), r.moreNodes(fits[i])))
			break
		}
	}
}

// strandedTogether reports a workload that has room on the nodes of a capacity only
// without its auxiliary pods, although another capacity has room for it. It reports
// whether it did.
func (r *report) strandedTogether(s submission, fits []nodeFit, capacities map[string]ir.Capacity, pool ir.Lent) bool {
	crowded, found := r.crowdedByAuxiliaries(s, fits, capacities, pool)
	if _, _, never := r.crowdedCapacity(s, fits, capacities, pool, nothingTaken); !found || never {
		return false // copyFitsNodes reports workloads that never run
	}
	name := s.workload.Template
	others := slices.DeleteFunc(slices.Clone(fits), func(f nodeFit) bool {
		return f.capacity.Name == crowded.capacity.Name
	})
	r.addKey(at("workloads", name),
		fmt.Sprintf("workload %q can be admitted to %q, whose nodes cannot hold its pods and its auxiliary pods "+
			"at once", name, crowded.capacity.Name),
		withLabel("need %s, have %d", words.Count(crowded.needed, "node"), crowded.nodes),
		withRelated(r.quotaPath(s, crowded.capacity.Name), "the quota that admits it"),
		withHelp("choose the capacities that have room: capacity: [%s]; or %s", roomyCapacities(others),
			r.moreNodes(crowded)))
	return true
}

// roomyCapacities returns the capacities that hold all pods, as the elements of a
// CUE list.
func roomyCapacities(fits []nodeFit) string {
	var out []string
	for _, f := range fits {
		if f.fits() {
			out = append(out, fmt.Sprintf("%q", f.capacity.Name))
		}
	}
	return strings.Join(out, ", ")
}

// gpuUse holds what the workloads of the blueprint request of a capacity with GPUs.
type gpuUse struct {
	// least holds, by the number of GPUs of a pod, the lowest requests of cpu (in
	// thousandths) and of memory (in bytes) among pods with that number.
	least     map[int][2]int64
	tiers     map[string]bool // tiers with such a workload
	workloads []string        // sorted
	copies    []submission    // of these workloads
}

// add records the pods of a workload.
func (u *gpuUse) add(s submission, gpus int) {
	name, requests := s.workload.Template, s.workload.Requests
	cpu, memory := ir.AmountOf(requests, ir.CPU), ir.AmountOf(requests, ir.Memory)
	now := [2]int64{cpu.MilliValue(), memory.Value()}
	if old, known := u.least[gpus]; known {
		now = [2]int64{min(old[0], now[0]), min(old[1], now[1])}
	}
	u.least[gpus] = now
	u.tiers[s.queue.Tier] = true
	u.copies = append(u.copies, s)
	if !slices.Contains(u.workloads, name) && len(u.workloads) < 3 {
		u.workloads = append(u.workloads, name)
	}
}

// usedGPUs returns the largest number of GPUs of one node, at most count, that pods
// use together within free thousandths of a vCPU and bytes of memory. It combines
// the lowest requests of cpu and of memory, even of different pods, so it never
// returns too few.
func (u *gpuUse) usedGPUs(count int, free [2]int64) int {
	type need struct {
		possible bool
		amounts  [2]int64
	}
	needs, most := make([]need, count+1), 0
	needs[0].possible = true
	for total := 1; total <= count; total++ {
		for gpus, least := range u.least {
			if gpus > total || !needs[total-gpus].possible {
				continue
			}
			before, n := needs[total-gpus].amounts, &needs[total]
			for i := range least {
				if sum := before[i] + least[i]; !n.possible || sum < n.amounts[i] {
					n.amounts[i] = sum
				}
			}
			n.possible = true
		}
		if n := needs[total]; n.possible && n.amounts[0] <= free[0] && n.amounts[1] <= free[1] {
			most = total
		}
	}
	return most
}

// gpuUses returns the use of each capacity with GPUs. It returns nothing about the
// capacities of a workload that cannot run, because another rule reports the workload
// and its requests must change.
func (r *report) gpuUses(capacities map[string]ir.Capacity, taken takenFunc) map[string]*gpuUse {
	out, unclear, pool := map[string]*gpuUse{}, map[string]bool{}, r.lent()
	limits := r.bindingLimits()
	all := r.firstCopies()
	for _, name := range sortedKeys(all) {
		gpus := r.Blueprint.Workloads[name].PerPod.Accelerators
		for _, s := range all[name] {
			runs := r.canRun(s.workload, limitFits(r.nodeFits(s, capacities, pool, taken), limits))
			for _, capacity := range s.workload.Capacities {
				switch c := capacities[capacity]; {
				case gpus == 0 || !c.HasGPUs():
				case !runs:
					unclear[capacity] = true
				case c.PodsPerNode(s.workload.Requests, taken(c)...) > 0:
					if out[capacity] == nil {
						out[capacity] = &gpuUse{least: map[int][2]int64{}, tiers: map[string]bool{}}
					}
					out[capacity].add(s, gpus)
				}
			}
		}
	}
	for capacity := range unclear {
		delete(out, capacity)
	}
	return out
}

// idleAccelerators reports capacities of which each node has GPUs that no pod of any
// workload can use. It reports none if a tier of the capacity has no workload with
// GPUs in the blueprint, because the jobs of this tier are unknown.
func idleAccelerators(r *report) {
	capacities, room := capacitiesByName(r.Plan), r.newPodRoom()
	uses := r.gpuUses(capacities, room.taken)
	for _, tier := range sortedKeys(r.Blueprint.Tiers) {
		for _, c := range r.Blueprint.Tiers[tier].Capacity {
			if use := uses[c]; use != nil && !use.tiers[tier] {
				delete(uses, c)
			}
		}
	}
	for _, name := range sortedKeys(uses) {
		c, use := capacities[name], uses[name]
		count := c.Machine.AcceleratorCount
		cpu, memory := ir.AmountOf(c.PerNode, ir.CPU), ir.AmountOf(c.PerNode, ir.Memory)
		cpu.Sub(ir.AmountOf(room.taken(c), ir.CPU))
		memory.Sub(ir.AmountOf(room.taken(c), ir.Memory))
		used := use.usedGPUs(count, [2]int64{cpu.MilliValue(), memory.Value()})
		if used == 0 || used == count {
			continue
		}
		cure := fmt.Sprintf("request at most %s for each GPU", printAmounts(room.ofGPUs(use.copies, c)))
		if use.usedGPUs(count, [2]int64{math.MaxInt64, math.MaxInt64}) != count {
			numbers, enough := room.evenGPUs(use.copies, c)
			if enough {
				cure = fmt.Sprintf("request %s for each pod", numbers)
			} else {
				cure = fmt.Sprintf("request %s for each pod, and a%s", numbers, strings.TrimPrefix(cure, "request a"))
			}
			cure += ", or choose a machine type with another number of GPUs"
		}
		options := []option{withHelp("%s; if jobs outside the blueprint use the other GPUs, add %s", cure,
			acceptSource(r.rule.Code, at("capacity", name)))}
		for _, w := range use.workloads {
			options = append(options, withRelated(at("workloads", w, "perPod"), "the requests of each pod"))
		}
		r.addKey(at("capacity", name),
			fmt.Sprintf("each node of %q has %d GPUs, but the pods of its workloads use at most %d of them", name,
				count, used), options...)
	}
}

// cpuOnAccelerators reports workloads without accelerators that Kueue admits to nodes with
// accelerators: first, because no label distinguishes the other nodes, or only, although no
// workload of the blueprint uses these GPUs.
func cpuOnAccelerators(r *report) {
	capacities, pool := capacitiesByName(r.Plan), r.lent()
	all := r.firstCopies()
	used := r.requestedGPUs(all)
	for _, name := range sortedKeys(all) {
		if in := r.Blueprint.Workloads[name]; in.PerPod.Accelerators > 0 || in.Capacity != nil {
			continue
		}
		for _, s := range all[name] {
			fits := r.nodeFits(s, capacities, pool, nothingTaken)
			if r.reportUnusedGPUs(name, fits, used) {
				break
			}
			// usableCapacities leaves nodes with accelerators to others if labels can.
			plain := slices.IndexFunc(fits, func(f nodeFit) bool { return !f.capacity.HasAccelerators() && f.fits() })
			if plain < 0 || !fits[0].capacity.HasGPUs() { // wholeSlices reports pods without chips on slices
				continue
			}
			r.addKey(at("workloads", name),
				fmt.Sprintf("workload %q requests no accelerators, but runs on the nodes of %q first", name,
					fits[0].capacity.Name),
				withRelated(at("tiers", s.queue.Tier, "capacity"), "the order in which capacities are tried"),
				withHelp("no label distinguishes the nodes of %q: define a tier for each, or remove autoProvisioned "+
					"from one of them, which then has its own node pool", fits[plain].capacity.Name))
			break
		}
	}
}

// namedAccelerators reports workloads without accelerators that name a capacity with
// GPUs, although another capacity of their tier holds their pods. The policies of the
// platform refuse such jobs.
func namedAccelerators(r *report) {
	capacities := capacitiesByName(r.Plan)
	all := r.firstCopies()
	for _, name := range sortedKeys(all) {
		w := r.Blueprint.Workloads[name]
		if w.PerPod.Accelerators > 0 {
			continue
		}
		for _, s := range all[name] {
			var offered []string
			for _, f := range s.queue.Flavors {
				offered = append(offered, f.Flavor)
			}
			apart := r.apart(w, offered, capacities)
			// wholeSlices reports TPUs
			i := slices.IndexFunc(w.Capacity, func(c string) bool { return capacities[c].HasGPUs() })
			if len(apart) > 0 && i >= 0 {
				r.add(at("workloads", name, "capacity", diag.Index(i)),
					fmt.Sprintf("workload %q requests no accelerators, but can run on %q, whose nodes have some", name,
						w.Capacity[i]),
					withHelp("name only capacities without accelerators: %s", quoteNames(apart)))
				break
			}
		}
	}
}

// smallJobs reports jobs that request too little of the nodes that GKE starts for them. The
// policies of the platform refuse such jobs, because quota counts what pods request.
func smallJobs(r *report) {
	capacities := capacitiesByName(r.Plan)
	all := r.firstCopies()
	for _, name := range sortedKeys(all) {
		for _, s := range all[name] {
			i := slices.IndexFunc(s.workload.Capacities, func(name string) bool {
				c := capacities[name]
				requested, least := ir.AmountOf(s.workload.Requests, c.CountedIn()), c.LeastPerJob()
				requested.Mul(int64(s.workload.Pods))
				return requested.Cmp(least) < 0 && c.PodsPerNode(s.workload.Requests) > 0
			})
			if i < 0 {
				continue
			}
			c := capacities[s.workload.Capacities[i]]
			least := c.LeastPerJob()
			r.addKey(at("workloads", name, "perPod"),
				fmt.Sprintf("workload %q requests too little of the nodes of %q, which GKE starts for each job", name,
					c.Name),
				withLabel("want at least %s of %s in all pods of a job", least.String(), c.CountedIn()),
				withRelated(at("capacity", c.Name), "the nodes"),
				withHelp("request more, or name other capacities in the field capacity"))
			break
		}
	}
}

// requestedGPUs returns the capacities that workloads with accelerators can use.
func (r *report) requestedGPUs(all map[string][]submission) map[string]bool {
	used := map[string]bool{}
	for name, copies := range all {
		if r.Blueprint.Workloads[name].PerPod.Accelerators == 0 {
			continue
		}
		for _, s := range copies {
			for _, c := range s.workload.Capacities {
				used[c] = true
			}
		}
	}
	return used
}

// reportUnusedGPUs reports a workload without accelerators if every capacity that can
// run it has GPUs, and no workload of the blueprint requests a GPU of them. It reports
// whether it did.
func (r *report) reportUnusedGPUs(name string, fits []nodeFit, used map[string]bool) bool {
	first := slices.IndexFunc(fits, nodeFit.fits)
	if first < 0 || slices.ContainsFunc(fits, func(f nodeFit) bool {
		// smallJobs reports nodes that start for the workload.
		return f.fits() && !f.capacity.HasGPUs() || used[f.capacity.Name] || f.capacity.NodesPerJob()
	}) {
		return false
	}
	path := at("workloads", name, "perPod")
	r.addKey(path,
		fmt.Sprintf("workload %q requests no accelerators, but runs on the GPU nodes of %q, and no workload uses "+
			"their GPUs", name, fits[first].capacity.Name),
		withHelp("set accelerators to the number of GPUs that each pod uses; if the pods need none, add %s",
			acceptSource(r.rule.Code, path)))
	return true
}

// systemPods is the takenFunc of GKE's own pods.
func systemPods(c ir.Capacity) []ir.Amount { return c.SystemPods }

// amountsOf returns amounts of cpu and memory.
func amountsOf(milliCPU, memoryMiB int64) []ir.Amount {
	return []ir.Amount{
		{Resource: ir.CPU, Quantity: *resource.NewMilliQuantity(milliCPU, resource.DecimalSI)},
		{Resource: ir.Memory, Quantity: *resource.NewQuantity(memoryMiB<<20, resource.BinarySI)},
	}
}

// roomForSystemPods reports workloads that fit the nodes only without GKE's own
// pods, which start first and have a higher priority.
func roomForSystemPods(r *report) {
	capacities, room, limits := capacitiesByName(r.Plan), r.newPodRoom(), r.bindingLimits()
	all := r.firstCopies()
	for _, name := range sortedKeys(all) {
		for _, s := range all[name] {
			empty := limitFits(r.nodeFits(s, capacities, room.pool, nothingTaken), limits)
			if !r.canRun(s.workload, empty) || !r.withinTotals(s, capacities) {
				continue
			}
			beside := limitFits(r.nodeFits(s, capacities, room.pool, room.taken), limits)
			if r.canRun(s.workload, beside) {
				if _, _, crowded := r.crowdedCapacity(s, empty, capacities, room.pool, nothingTaken); !crowded {
					r.reportAuxiliaries(s, beside, capacities, room.pool, room.taken)
				}
				continue
			}
			fit := empty[max(0, slices.IndexFunc(empty, nodeFit.fits))]
			printed := printAlike(s.workload.Requests, room.taken(fit.capacity))
			r.addKey(at("workloads", name, "perPod"),
				fmt.Sprintf("the pods of workload %q leave no room for GKE's own pods on the nodes of %q", name,
					fit.capacity.Name),
				withLabel("%s per node, each requests %s; GKE's pods request %s", words.Count(fit.perNode, "pod"),
					printed[0], printed[1]),
				withHelp("%s", room.cureBeside(all[name], fit)))
			break
		}
	}
}
