package terraform

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// placements writes the workload policies by which nodes are linked with each
// other, one for each topology: pools of several capacities can share it.
// Compute Engine changes no policy in place, and deletes none in use, so the
// topology is part of its name: with another topology the pool moves to another
// policy.
func placements(b *body, p *ir.Platform) {
	var written []string
	for _, c := range p.Capacities {
		topology := c.Machine.PlacementTopology
		if topology == "" || !c.OwnsPools() || slices.Contains(written, topology) {
			continue
		}
		written = append(written, topology)
		policy := b.resource("google_compute_resource_policy", policyLabel(topology))
		policy.text("name", p.Name+"-"+topology)
		policy.expr("region", "var.region")
		workload := policy.block("workload_policy")
		workload.text("type", "HIGH_THROUGHPUT")
		workload.text("accelerator_topology", topology)
	}
}

// policyLabel is the label of the workload policy of a topology, such as
// topology_1x72.
func policyLabel(topology string) string { return "topology_" + topology }

// placement says how a pool's nodes stand to each other.
func placement(np *body, c ir.Capacity) {
	switch topology := c.Machine.PlacementTopology; {
	case topology != "":
		np.note("Linked with each other, by the topology that the policy names.")
		policy := np.block("placement_policy")
		policy.text("type", "COMPACT")
		policy.raw("policy_name", reference("google_compute_resource_policy", policyLabel(topology), "name"))
	case c.Sliced():
		np.note("Linked with each other: the chips of the slice form this topology.")
		policy := np.block("placement_policy")
		policy.text("type", "COMPACT")
		policy.text("tpu_topology", c.Machine.Slice.Topology)
	case c.Compact:
		np.note("Close together, in one zone.")
		np.block("placement_policy").text("type", "COMPACT")
	}
}
