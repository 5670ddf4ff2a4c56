package rules

import (
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on nodes that must start: the limits of the cluster and the priorities of
// jobs must let the cluster autoscaler start them, and the system pool must hold
// the pods that everything else needs.

func scalingRules() []Rule {
	return []Rule{
		rule("W0535", "no node starts for jobs of this priority", on("tiers.*", expendablePriorities), resolved),
		rule("E0715", "auto-provisioning limit leaves no room for a node", noRoomForNodes, whole),
		rule("E0716", "system pool is too small for the platform's software",
			systemPoolTooSmall, acceptable, newCluster),
		rule("W0829", "system pool is too small for GKE's own pods", systemPoolTight, newCluster),
	}
}

// expendable is the priority below which the cluster autoscaler adds no node for a
// pod, and removes nodes as if the pod did not exist. Source: cluster autoscaler,
// flag --expendable-pods-priority-cutoff. Whether GKE changes the default is not
// verified.
const expendable = -10

func expendablePriorities(r *report, tier fieldPath, t schema.Tier) {
	i := slices.IndexFunc(t.Capacity, func(c string) bool { return fit.Scales(r.fit.Named[c]) })
	if i < 0 {
		return
	}
	for _, class := range t.PriorityClasses(tier.name()) {
		if class.Value >= expendable {
			continue
		}
		r.add(r.priorityPath(tier.name(), class.Name),
			say("the priority is below %d, so no node of %q starts for jobs of tier %q", expendable, t.Capacity[i],
				tier.name()), label("want %d or more", expendable),
			see(at("capacity", t.Capacity[i]), "its nodes start when jobs need them"),
			help("raise the priority: the cluster autoscaler ignores pods with a lower one"))
	}
}

// noRoomForNodes reports limits of the cluster that are so low that a capacity never
// has a node. The limits count all nodes, and the nodes of the system pool and of
// fixed capacities always exist.
func noRoomForNodes(r *report) {
	for _, l := range r.fit.Limits() {
		need := r.fit.SmallestLimit(l.Resource)
		if r.writtenLimit(l.Resource) == nil || need.Amount <= l.Most {
			continue
		}
		field, what := limitOn(l.Resource)
		r.add(r.limitPath(field), say("capacity %q can never start a node: one node and the nodes that always exist "+
			"need %g %s, but the limit of the cluster is %g", need.First, need.Amount, what, l.Most),
			label("want at least %g", need.Amount), advise(r.raiseLimit()))
	}
}

// installedPods returns the pods that the platform installs.
func (r *report) installedPods() []catalog.SystemPod {
	return catalog.SystemPods(catalog.OnCluster, string(r.Plan.Scheduler))
}

// reportSystemPool reports a system pool without room for pods.
func (r *report) reportSystemPool(room fit.PoolRoom, message string, pods []catalog.SystemPod) {
	path := at("cluster", "systemPool", "machine")
	if !r.Written(path...) {
		path = at("cluster", "systemPool", "nodesPerZone")
	}
	nodes := "1 node"
	if room.Nodes > 1 {
		nodes = fmt.Sprintf("each of %d nodes", room.Nodes)
	}
	requests := func(pods []catalog.SystemPod) []ir.Amount { return fit.CPUAndMemory(catalog.SumRequests(pods)) }
	printed := printAlike(fit.CPUAndMemory(max(0, room.MilliCPU), max(0, room.MemoryMiB)), requests(pods),
		requests(fit.LargestFirst(pods)[:1]))
	r.add(path, message, label("%s has %s free; the pods request %s together, the largest pod requests %s", nodes,
		printed[0], printed[1], printed[2]),
		help("choose a larger machine, such as e2-standard-4, or raise nodesPerZone"))
}

// systemPoolTooSmall reports a system pool that has no room even without GKE's own
// pods.
func systemPoolTooSmall(r *report) {
	room, known := r.fit.SystemPoolRoom(nil)
	if pods := r.installedPods(); known && !room.Holds(pods) {
		r.reportSystemPool(room,
			"the system pool has no room for "+words.And(kinds.WithControllers(r.Plan.Scheduler.Facts().Name)), pods)
	}
}

// systemPoolTight reports a system pool that has no room beside GKE's own pods, whose
// requests are not published.
func systemPoolTight(r *report) {
	empty, known := r.fit.SystemPoolRoom(nil)
	installed := r.installedPods()
	if !known || !empty.Holds(installed) { // systemPoolTooSmall reports it
		return
	}
	places := catalog.NodePlaces("", r.Plan.Cluster.Filestore, r.Plan.Cluster.GCSFuse)
	room, _ := r.fit.SystemPoolRoom(catalog.SystemPods(places...))
	if pods := slices.Concat(installed, catalog.SystemPods(catalog.OnSystemPool)); !room.Holds(pods) {
		r.reportSystemPool(room, fmt.Sprintf("the system pool has no room for %s beside GKE's own pods",
			words.And(kinds.WithControllers(r.Plan.Scheduler.Facts().Name))), pods)
	}
}
