package rules

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/compiler/words"
)

// Rules on nodes that must start: the limits of the cluster and the priorities of
// jobs must let the cluster autoscaler start them, and the system pool must hold
// the pods that everything else needs.

func scalingRules() []Rule {
	return []Rule{
		{
			Code: "W0535", Severity: diag.Warning, Title: "no node starts for jobs of this priority",
			check: expendablePriorities, resolved: true,
		},
		{
			Code: "E0715", Severity: diag.Error, Title: "auto-provisioning limit leaves no room for a node",
			check: noRoomForNodes, whole: true,
		},
		{
			Code: "E0716", Severity: diag.Error, Title: "system pool is too small for the platform's software",
			Acceptable: true, check: systemPoolTooSmall, newCluster: true,
		},
		{
			Code: "W0829", Severity: diag.Warning, Title: "system pool is too small for GKE's own pods",
			check: systemPoolTight, newCluster: true,
		},
	}
}

// expendable is the priority below which the cluster autoscaler adds no node for a
// pod, and removes nodes as if the pod did not exist. Source: cluster autoscaler,
// flag --expendable-pods-priority-cutoff. Whether GKE changes the default is not
// verified.
const expendable = -10

// scales reports whether the autoscaler changes a capacity's number of nodes,
// whatever creates its pools.
func scales(c ir.Capacity) bool { return !c.Static && c.MaxNodes > c.MinNodes }

func expendablePriorities(r *report) {
	capacities := capacitiesByName(r.Plan)
	for _, name := range sortedKeys(r.Blueprint.Tiers) {
		t := r.Blueprint.Tiers[name]
		i := slices.IndexFunc(t.Capacity, func(c string) bool { return scales(capacities[c]) })
		if i < 0 {
			continue
		}
		for _, class := range t.PriorityClasses(name) {
			if class.Value >= expendable {
				continue
			}
			path := at("tiers", name, "priorities", class.Name)
			if t.Priority != nil {
				path = at("tiers", name, "priority")
			}
			r.add(path,
				fmt.Sprintf("the priority is below %d, so no node of %q starts for jobs of tier %q", expendable,
					t.Capacity[i], name),
				withLabel("want %d or more", expendable),
				withRelated(at("capacity", t.Capacity[i]), "its nodes start when jobs need them"),
				withHelp("raise the priority: the cluster autoscaler ignores pods with a lower one"))
		}
	}
}

// noRoomForNodes reports limits of the cluster that are so low that a capacity never
// has a node. The limits count all nodes, and the nodes of the system pool and of
// fixed capacities always exist.
func noRoomForNodes(r *report) {
	for _, l := range r.autoscalingLimits() {
		if need := r.smallestLimit(l.perNode); l.written && need.amount > l.most {
			r.add(r.limitPath(l.field),
				fmt.Sprintf("capacity %q can never start a node: one node and the nodes that always exist need %g %s, "+
					"but the limit of the cluster is %g", need.first, need.amount, l.what, l.most),
				withLabel("want at least %g", need.amount),
				withHelp("%s", r.raiseLimit()))
		}
	}
}

// autoscalingLimit is a limit of the whole cluster on what its machines have. The
// autoscaler starts no node beyond it, in any node pool. Source: GKE documentation,
// "About node pool auto-creation", resource limits.
type autoscalingLimit struct {
	field, what string
	most        float64
	written     bool // the blueprint gives the limit
	perNode     func(ir.Machine) float64
	standing    float64 // of the nodes that always exist
}

// autoscalingLimits returns the limits of the cluster on vCPUs and memory, none if GKE
// creates no node pools.
func (r *report) autoscalingLimits() []autoscalingLimit {
	if !r.Plan.AutoProvisioning.Create {
		return nil
	}
	maxCPU, maxMemoryGiB := r.writtenLimits()
	var out []autoscalingLimit
	for _, l := range r.Plan.AutoProvisioning.Limits {
		switch most := float64(l.Max); l.Type {
		case ir.CPU:
			out = append(out, autoscalingLimit{"maxCPU", "vCPUs", most, maxCPU != nil, machineCPUs,
				r.standingAmount(machineCPUs)})
		case ir.Memory:
			out = append(out, autoscalingLimit{"maxMemoryGiB", "GiB of memory", most, maxMemoryGiB != nil,
				machineMemory, r.standingAmount(machineMemory)})
		}
	}
	return out
}

// bindingLimits returns the limits of the cluster with which every capacity can start a
// node. noRoomForNodes reports the others. It returns none if another rule rejects the
// machine of the system pool.
func (r *report) bindingLimits() []autoscalingLimit {
	if m, _ := catalog.Usable(r.Plan.SystemPool.Machine); m.Accelerator != "" {
		return nil
	}
	return slices.DeleteFunc(r.autoscalingLimits(), func(l autoscalingLimit) bool {
		return r.smallestLimit(l.perNode).amount > l.most
	})
}

// limitFits returns the fits with the number of nodes that each capacity can have within
// the limits, while no other capacity scales.
func limitFits(fits []nodeFit, limits []autoscalingLimit) []nodeFit {
	out := slices.Clone(fits)
	for i, f := range out {
		for _, l := range limits {
			one := l.perNode(f.capacity.Machine)
			if !scales(f.capacity) || one <= 0 {
				continue
			}
			unit := 1
			if f.capacity.Sliced() {
				unit = f.capacity.Machine.Slice.Hosts
			}
			nodes := f.capacity.MinNodes + max(0, int((l.most-l.standing)/one)/unit*unit)
			if nodes < out[i].nodes {
				out[i].nodes, out[i].limit = nodes, &l
			}
		}
	}
	return out
}

// need returns the least limit with which the capacity can have the nodes that a copy
// needs.
func (l autoscalingLimit) need(f nodeFit) float64 {
	return math.Ceil(l.standing + l.perNode(f.capacity.Machine)*float64(f.needed-f.capacity.MinNodes))
}

// reportLimited reports a workload that has room on the nodes of its capacities, but
// not on the nodes that the limits of the cluster let start.
func (r *report) reportLimited(s submission, fits []nodeFit, limits []autoscalingLimit, auxiliary []nodeFit) {
	limited := limitFits(fits, limits)
	if r.canRun(s.workload, limited) {
		r.reportLimitedAuxiliaries(s, limited, limits, auxiliary)
		return
	}
	i := slices.IndexFunc(limited, func(f nodeFit) bool { return f.limit != nil && f.needed <= f.capacity.MaxNodes })
	if i < 0 { // no capacity holds all pods alone, and the scheduler divides them
		i = slices.IndexFunc(limited, func(f nodeFit) bool { return f.limit != nil })
	}
	f := limited[i]
	message := fmt.Sprintf("workload %q can never run: its pods need %s of %q, but the limit of the cluster, %g %s, "+
		"allows only %d", s.workload.Template, words.Count(f.needed, "node"), f.capacity.Name, f.limit.most,
		f.limit.what, f.nodes)
	cure := withHelp("%s; or %s", r.moreNodes(f), fewerPods(f))
	if !f.limit.written {
		r.addKey(at("workloads", s.workload.Template), message, cure)
		return
	}
	r.add(r.limitPath(f.limit.field), message, cure,
		withLabel("want at least %g, with the nodes that always exist", f.limit.need(f)),
		withRelated(at("workloads", s.workload.Template), "the workload"))
}

// reportLimitedAuxiliaries reports a workload whose own pods have room within the limits
// of the cluster, but not together with the nodes of its auxiliary pods.
func (r *report) reportLimitedAuxiliaries(s submission, fits []nodeFit, limits []autoscalingLimit,
	auxiliary []nodeFit) {
	if len(auxiliary) == 0 || !r.Plan.Scheduler.Facts().QuotaPerCapacity {
		return
	}
	for _, l := range limits {
		least := math.Inf(1)
		for _, f := range fits {
			if f.fits() {
				least = min(least, l.standing+l.scaled(append([]nodeFit{f}, auxiliary...)))
			}
		}
		if least <= l.most {
			continue
		}
		path, add := r.limitPath(l.field), r.add
		if !l.written {
			path, add = at("workloads", s.workload.Template), r.addKey
		}
		add(path, fmt.Sprintf("workload %q can never run: the nodes for its pods and its auxiliary pods need %g %s, "+
			"but the limit of the cluster is %g", s.workload.Template, math.Ceil(least), l.what, l.most),
			withRelated(at("workloads", s.workload.Template, "auxiliary"), "the auxiliary pods"),
			withHelp("%s; or request less", r.setLimit(l.field, math.Ceil(least))))
		return
	}
}

// scaled returns what the nodes that the autoscaler must start have together. Pods of
// two elements that use the same capacity share its nodes, so only the larger number
// counts.
func (l autoscalingLimit) scaled(fits []nodeFit) float64 {
	most := map[string]float64{}
	for _, f := range fits {
		if scales(f.capacity) {
			more := float64(max(0, f.needed-f.capacity.MinNodes))
			most[f.capacity.Name] = max(most[f.capacity.Name], more*l.perNode(f.capacity.Machine))
		}
	}
	sum := 0.0
	for _, name := range sortedKeys(most) { // in one order, because the sum of floats depends on it
		sum += most[name]
	}
	return sum
}

func machineCPUs(m ir.Machine) float64 { return float64(m.VCPUs) }

func machineMemory(m ir.Machine) float64 { return m.MemoryGiB }

// limitNeed is the lowest limit with which every capacity can start.
type limitNeed struct {
	first  string // capacity that needs it
	amount float64
}

// smallestLimit returns the lowest limit of a resource with which each capacity that
// scales can start its first nodes while no other capacity scales.
func (r *report) smallestLimit(perNode func(ir.Machine) float64) limitNeed {
	if m, _ := catalog.Usable(r.Plan.SystemPool.Machine); m.Accelerator != "" { // another rule rejects the machine
		return limitNeed{}
	}
	standing := r.standingAmount(perNode)
	var need limitNeed
	for _, c := range r.Plan.Capacities {
		if !scales(c) || c.MinNodes > 0 {
			continue
		}
		nodes := 1
		if c.Sliced() {
			nodes = c.Machine.Slice.Hosts
		}
		if amount := standing + perNode(c.Machine)*float64(nodes); amount > need.amount {
			need = limitNeed{c.Name, amount}
		}
	}
	return need
}

// standingAmount returns what the nodes that always exist have together: the nodes of
// the system pool, and the least nodes of every capacity.
func (r *report) standingAmount(perNode func(ir.Machine) float64) float64 {
	pool := r.Plan.SystemPool
	standing := perNode(ir.Machine{VCPUs: pool.VCPUs, MemoryGiB: pool.MemoryGiB}) *
		float64(pool.NodesPerZone*len(r.Plan.Zones))
	for _, c := range r.Plan.Capacities {
		standing += perNode(c.Machine) * float64(c.MinNodes)
	}
	return standing
}

// poolRoom is the room on each node of the system pool.
type poolRoom struct {
	nodes               int
	milliCPU, memoryMiB int64 // of one node
}

// systemPoolRoom returns the room of the system pool beside pods that run on every
// node. It reports false if the machine or the zones are unknown.
func (r *report) systemPoolRoom(every []catalog.SystemPod) (poolRoom, bool) {
	machine, known := catalog.Usable(r.Plan.SystemPool.Machine)
	milli, mib := machine.Allocatable()
	takenMilli, takenMiB := catalog.SumRequests(every)
	nodes := r.Plan.SystemPool.NodesPerZone * len(r.Plan.Zones)
	return poolRoom{nodes, milli - takenMilli, mib - takenMiB}, known && nodes > 0
}

// holds reports whether the nodes have room for pods. It places large pods first,
// each on the first node with room.
func (p poolRoom) holds(pods []catalog.SystemPod) bool {
	free := slices.Repeat([]poolRoom{p}, p.nodes)
	for _, pod := range largestFirst(pods) {
		i := slices.IndexFunc(free, func(node poolRoom) bool {
			return node.milliCPU >= pod.MilliCPU && node.memoryMiB >= pod.MemoryMiB
		})
		if i < 0 {
			return false
		}
		free[i].milliCPU -= pod.MilliCPU
		free[i].memoryMiB -= pod.MemoryMiB
	}
	return true
}

// largestFirst returns pods sorted by falling requests.
func largestFirst(pods []catalog.SystemPod) []catalog.SystemPod {
	return slices.SortedStableFunc(slices.Values(pods), func(a, b catalog.SystemPod) int {
		return cmp.Or(cmp.Compare(b.MilliCPU, a.MilliCPU), cmp.Compare(b.MemoryMiB, a.MemoryMiB))
	})
}

// installedPods returns the pods that the platform installs.
func (r *report) installedPods() []catalog.SystemPod {
	return catalog.SystemPods(catalog.OnCluster, string(r.Plan.Scheduler))
}

// reportSystemPool reports a system pool without room for pods.
func (r *report) reportSystemPool(room poolRoom, message string, pods []catalog.SystemPod) {
	path := at("cluster", "systemPool", "machine")
	if !r.Written(path...) {
		path = at("cluster", "systemPool", "nodesPerZone")
	}
	nodes := "1 node"
	if room.nodes > 1 {
		nodes = fmt.Sprintf("each of %d nodes", room.nodes)
	}
	requests := func(pods []catalog.SystemPod) []ir.Amount { return amountsOf(catalog.SumRequests(pods)) }
	printed := printAlike(amountsOf(max(0, room.milliCPU), max(0, room.memoryMiB)), requests(pods),
		requests(largestFirst(pods)[:1]))
	r.add(path, message,
		withLabel("%s has %s free; the pods request %s together, the largest pod requests %s", nodes,
			printed[0], printed[1], printed[2]),
		withHelp("choose a larger machine, such as e2-standard-4, or raise nodesPerZone"))
}

// systemPoolTooSmall reports a system pool that has no room even without GKE's own
// pods.
func systemPoolTooSmall(r *report) {
	room, known := r.systemPoolRoom(nil)
	if pods := r.installedPods(); known && !room.holds(pods) {
		r.reportSystemPool(room,
			"the system pool has no room for "+words.And(kinds.WithControllers(r.Plan.Scheduler.Facts().Name)), pods)
	}
}

// systemPoolTight reports a system pool that has no room beside GKE's own pods, whose
// requests are not published.
func systemPoolTight(r *report) {
	empty, known := r.systemPoolRoom(nil)
	installed := r.installedPods()
	if !known || !empty.holds(installed) { // systemPoolTooSmall reports it
		return
	}
	places := catalog.NodePlaces("", r.Plan.Cluster.Filestore, r.Plan.Cluster.GCSFuse)
	room, _ := r.systemPoolRoom(catalog.SystemPods(places...))
	if pods := slices.Concat(installed, catalog.SystemPods(catalog.OnSystemPool)); !room.holds(pods) {
		r.reportSystemPool(room, fmt.Sprintf("the system pool has no room for %s beside GKE's own pods",
			words.And(kinds.WithControllers(r.Plan.Scheduler.Facts().Name))), pods)
	}
}
