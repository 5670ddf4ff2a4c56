package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
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
			Acceptable: true, check: systemPoolTooSmall,
		},
		{
			Code: "W0829", Severity: diag.Warning, Title: "system pool is too small for GKE's own pods",
			check: systemPoolTight,
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
	if !r.Plan.AutoProvisioning.Create {
		return
	}
	limits := r.Blueprint.Cluster.AutoProvisioning
	for _, l := range []struct {
		field, what string
		most        *int
		perNode     func(ir.Machine) float64
	}{
		{"maxCPU", "vCPUs", limits.MaxCPU, machineCPUs},
		{"maxMemoryGiB", "GiB of memory", limits.MaxMemoryGiB, machineMemory},
	} {
		if l.most == nil {
			continue
		}
		if need := r.smallestLimit(l.perNode); need.amount > float64(*l.most) {
			r.add(at("cluster", "autoProvisioning", l.field),
				fmt.Sprintf("capacity %q can never start a node: one node and the nodes that always exist need %g %s, "+
					"but the limit of the cluster is %d", need.first, need.amount, l.what, *l.most),
				withLabel("want at least %g", need.amount),
				withHelp("raise the limit; or remove it: batchwright then computes it from the guarantees"))
		}
	}
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
	pool := r.Plan.SystemPool
	if m, _ := catalog.Usable(pool.Machine); m.Accelerator != "" { // another rule rejects the machine
		return limitNeed{}
	}
	standing := perNode(ir.Machine{VCPUs: pool.VCPUs, MemoryGiB: pool.MemoryGiB}) *
		float64(pool.NodesPerZone*len(r.Plan.Zones))
	for _, c := range r.Plan.Capacities {
		standing += perNode(c.Machine) * float64(c.MinNodes)
	}
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
			fmt.Sprintf("the system pool has no room for %s and JobSet", r.Plan.Scheduler.Facts().Name), pods)
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
	room, _ := r.systemPoolRoom(catalog.SystemPods(r.nodePlaces("")...))
	if pods := slices.Concat(installed, catalog.SystemPods(catalog.OnSystemPool)); !room.holds(pods) {
		r.reportSystemPool(room, fmt.Sprintf("the system pool has no room for %s and JobSet beside GKE's own pods",
			r.Plan.Scheduler.Facts().Name), pods)
	}
}
