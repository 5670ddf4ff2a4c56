package rules

import (
	"fmt"

	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
)

// The limits of the cluster, and the advice to change them: in a cluster that others own,
// the blueprint only describes them.

// limitPath returns the path of a limit of node auto-provisioning in the blueprint.
func (r *report) limitPath(field string) fieldPath {
	if r.Plan.OwnsCluster() {
		return at("cluster", "autoProvisioning", field)
	}
	return at("cluster", "existing", "has", "autoProvisioning", field)
}

// limitOn returns the field of a limit of node auto-provisioning on CPU or memory, and
// what the limit counts.
func limitOn(resourceName string) (field, what string) {
	if resourceName == ir.CPU {
		return "maxCPU", "vCPUs"
	}
	return "maxMemoryGiB", "GiB of memory"
}

// writtenLimit returns the limit of node auto-provisioning on vCPUs or on GiB of memory as
// the blueprint gives it, nil if it gives none.
func (r *report) writtenLimit(resourceName string) *int {
	c := r.Blueprint.Cluster
	cpu, memory := c.AutoProvisioning.MaxCPU, c.AutoProvisioning.MaxMemoryGiB
	if c.Existing != nil {
		cpu, memory = nil, nil
		if limits := c.Existing.Has.AutoProvisioning; limits != nil {
			cpu, memory = &limits.MaxCPU, &limits.MaxMemoryGiB
		}
	}
	if resourceName == ir.CPU {
		return cpu
	}
	return memory
}

// raiseLimit returns the advice for a limit of node auto-provisioning that is too low.
func (r *report) raiseLimit() string {
	if r.Plan.OwnsCluster() {
		return "raise the limit; or remove it: batchwright then computes it from the guarantees"
	}
	return "ask the owners of the cluster to raise the limit, and write the new one"
}

// setLimit returns the advice to set a limit of node auto-provisioning on CPU or memory.
func (r *report) setLimit(resourceName string, amount float64) string {
	field, _ := limitOn(resourceName)
	if r.Plan.OwnsCluster() {
		return fmt.Sprintf("set cluster: autoProvisioning: %s: %g", field, amount)
	}
	return fmt.Sprintf("ask the owners of the cluster to raise the limit, and write cluster: existing: has: "+
		"autoProvisioning: %s: %g", field, amount)
}

// moreNodes returns the help that gives a capacity enough nodes for a copy.
func (r *report) moreNodes(n fit.Nodes) string {
	if n.Limit != nil {
		return r.setLimit(n.Limit.Resource, n.Limit.Need(n))
	}
	field, most, needed := "nodes", "maxNodes", n.Needed
	if slice := n.Capacity.Machine.Slice; slice != nil {
		field, most, needed = "slices", "maxSlices", (needed+slice.Hosts-1)/slice.Hosts
	}
	if !n.Capacity.Static {
		field = most
	}
	return fmt.Sprintf("set capacity: %q: %s: %d", n.Capacity.Name, field, needed)
}

// fewerPods returns the help that makes a copy fit the nodes of a capacity.
func fewerPods(n fit.Nodes) string {
	if n.Capacity.Sliced() {
		return "use fewer slices"
	}
	return "use fewer pods, or request less, so that more pods fit a node"
}

// controllersOfOthers returns the versions of the controllers that others run in the
// cluster, by the field of the controller in versions and in cluster.existing.
func (r *report) controllersOfOthers() map[string]string {
	out := map[string]string{}
	if e := r.Plan.Cluster.Existing; e != nil && e.Kueue != nil {
		out["kueue"] = e.Kueue.Version
	}
	for _, c := range r.Plan.Controllers() {
		if !c.Installed {
			out[c.Field] = c.Version
		}
	}
	return out
}
