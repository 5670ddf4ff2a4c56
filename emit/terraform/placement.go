package terraform

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// writePlacements writes the workload policies that link nodes with each other, one
// for each topology: pools of several capacities can share a policy. Compute Engine
// changes no policy in place, and deletes no policy that is in use. Therefore the
// topology is part of the policy's name: with another topology the pool moves to
// another policy. The rest of the name is the cluster's name, and a policy is
// replaced together with its cluster: otherwise the provider would ask for an update
// of a policy with the new name, which does not exist.
//
// Source: GoogleCloudPlatform/magic-modules, products/compute/ResourcePolicy.yaml.
func writePlacements(b *body, p *ir.Platform) {
	var written []string
	for _, c := range p.Capacities {
		topology := c.Machine.PlacementTopology
		if topology == "" || !c.OwnsPools() || c.Keeps(ir.KeepPlacementPolicy) || slices.Contains(written, topology) {
			continue
		}
		written = append(written, topology)
		policy := b.resource("google_compute_resource_policy", policyLabel(topology))
		policy.setString("name", p.Name+"-"+topology)
		policy.setExpr("region", "var.region")
		workload := policy.block("workload_policy")
		workload.setString("type", "HIGH_THROUGHPUT")
		workload.setString("accelerator_topology", topology)
		if !p.OwnsCluster() {
			continue
		}
		lifecycle := policy.block("lifecycle")
		lifecycle.note("The provider cannot rename a policy, so a renamed cluster needs a new policy.")
		lifecycle.setExpr("replace_triggered_by", "[google_container_cluster.main.name]")
	}
}

// policyLabel returns the Terraform label of the workload policy for a topology,
// such as topology_1x72.
func policyLabel(topology string) string { return "topology_" + topology }

// placementTrigger writes a resource with the topology of a capacity's slices, so
// that Terraform notices a change of it. It returns the trigger of the pool, if it needs
// one. The provider neither sends a new
// tpu_topology to an existing pool nor replaces the pool: at every apply Terraform
// would report an update that changes nothing.
//
// Source: hashicorp/terraform-provider-google, resource_container_node_pool.go: the
// schema of placement_policy, and nodePoolUpdate.
func placementTrigger(b *body, c ir.Capacity) []trigger {
	if !c.Sliced() || c.Machine.PlacementTopology != "" {
		return nil
	}
	name := resourceLabel(c.Name) + "_topology"
	b.note("The provider cannot change the topology of a node pool. This resource makes Terraform",
		"replace the pools when the topology changes.")
	b.resource("terraform_data", name).setString("input", c.Machine.Slice.Topology)
	return []trigger{{name: constant("terraform_data." + name + ".input")}}
}

// writePlacement writes how close together a pool's nodes must be.
func writePlacement(np *body, c ir.Capacity) {
	switch topology := c.Machine.PlacementTopology; {
	case c.Keeps(ir.KeepPlacementPolicy):
	case topology != "":
		np.note("The nodes are linked with each other in the topology that the policy names.")
		policy := np.block("placement_policy")
		policy.setString("type", "COMPACT")
		policy.setTokens("policy_name",
			traversalTokens("google_compute_resource_policy", policyLabel(topology), "name"))
	case c.Sliced():
		np.note("The chips of the slice are linked with each other in this topology.")
		policy := np.block("placement_policy")
		policy.setString("type", "COMPACT")
		policy.setString("tpu_topology", c.Machine.Slice.Topology)
	case c.Compact:
		np.note("GKE places the nodes close together, in one zone.")
		np.block("placement_policy").setString("type", "COMPACT")
	}
}
