package catalog

import _ "embed"

//go:embed families.jsonl
var families string

// Family is what all machine types of a family have in common.
type Family struct {
	Family string `json:"family"`

	// SteadyGPUs reports that healthy GPUs keep above 1 GHz under any load, because
	// their base clock is higher: 1095 MHz of the A100 SXM4 and of the slowest H100,
	// whose chip the H200 has too. The base clock of an L4 is 795 MHz, and with 72 W
	// it nears that under load. Of the B200 and its kin no base clock is published.
	// Source: the cards' specifications.
	SteadyGPUs bool `json:"steadyGPUs,omitzero"`

	// LinkedNodes is how many machines NVLink joins, 0 for none. Source: Compute
	// Engine documentation, "A4X machine types".
	LinkedNodes int `json:"linkedNodes,omitzero"`

	// LinkTopology is the accelerator topology that a workload policy must name for
	// the machines to be linked with each other. LinksSlices reports that the policy
	// names the topology of the TPU slice. Source: GKE cluster autoscaler, and
	// Cluster Toolkit, examples gke-a4x and gke-tpu-7x-advanced.
	LinkTopology string `json:"linkTopology,omitzero"`
	LinksSlices  bool   `json:"linksSlices,omitzero"`

	// ClaimsNetworks reports that GKE itself attaches the networks of the
	// accelerators to the nodes, and that pods claim them by dynamic resource
	// allocation. Source: as LinkTopology.
	ClaimsNetworks bool `json:"claimsNetworks,omitzero"`

	// CountsNoSSDs reports that GKE fills in a count of local SSDs for a node pool
	// without any. Only c3 and c4 are reported to do so; the others are of the same
	// or a later generation. Source: GKE documentation, "Provision ephemeral storage
	// with local SSDs"; terraform-google-kubernetes-engine, issue 2465.
	CountsNoSSDs bool `json:"countsNoSSDs,omitzero"`

	// TPUType begins the names that Cloud TPU has for slices, such as "v5litepod" of
	// "v5litepod-16". The number counts TensorCores, of which a chip has
	// TensorCores. Source: Cloud TPU documentation, "TPU configurations".
	TPUType     string `json:"tpuType,omitzero"`
	TensorCores int    `json:"tensorCores,omitzero"`
}

// FamilyOf returns the family of that name, without facts if the catalogue has
// none.
func FamilyOf(name string) Family {
	if row := rows(families, "family", name); row != "" {
		return decode[Family](row)
	}
	return Family{Family: name}
}
