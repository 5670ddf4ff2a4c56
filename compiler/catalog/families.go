package catalog

import _ "embed"

//go:embed families.jsonl
var families string

// Family holds the facts that all machine types of a family have in common.
type Family struct {
	Family string `json:"family"`

	// SteadyGPUs reports whether healthy GPUs stay above 1 GHz under any load,
	// because their base clock is higher: 1095 MHz for the A100 SXM4 and for the
	// slowest H100, whose chip the H200 has too. The base clock of an L4 is 795 MHz,
	// and its limit of 72 W brings it near that clock under load. The base clock of
	// the B200 and its relatives is not published. Source: the cards'
	// specifications.
	SteadyGPUs bool `json:"steadyGPUs,omitzero"`

	// LinkedNodes is the number of machines that NVLink joins, 0 for none. Source:
	// Compute Engine documentation, "A4X machine types".
	LinkedNodes int `json:"linkedNodes,omitzero"`

	// LinkTopology is the accelerator topology that a workload policy must name so
	// that the machines are linked with each other. LinksSlices reports whether the
	// policy names the topology of the TPU slice. Source: GKE cluster autoscaler,
	// and Cluster Toolkit, examples gke-a4x and gke-tpu-7x-advanced.
	LinkTopology string `json:"linkTopology,omitzero"`
	LinksSlices  bool   `json:"linksSlices,omitzero"`

	// ClaimsNetworks reports whether GKE itself attaches the accelerators' networks
	// to the nodes, so that pods claim them by dynamic resource allocation. Source:
	// as LinkTopology.
	ClaimsNetworks bool `json:"claimsNetworks,omitzero"`

	// CountsNoSSDs reports whether GKE fills in a count of local SSDs for a node
	// pool without any. This is reported only for c3 and c4; the other families are
	// of the same or a later generation. Source: GKE documentation, "Provision
	// ephemeral storage with local SSDs"; terraform-google-kubernetes-engine, issue
	// 2465.
	CountsNoSSDs bool `json:"countsNoSSDs,omitzero"`

	// TPUType is the prefix of Cloud TPU's names for slices, such as "v5litepod" of
	// "v5litepod-16". The number in such a name counts TensorCores; TensorCores is
	// how many of them a chip has. Source: Cloud TPU documentation, "TPU
	// configurations".
	TPUType     string `json:"tpuType,omitzero"`
	TensorCores int    `json:"tensorCores,omitzero"`
}

// FamilyOf returns the family of the given name. If the catalogue has no such
// family, every fact is zero.
func FamilyOf(name string) Family {
	if row := findRows(families, "family", name); row != "" {
		return decodeRow[Family](row)
	}
	return Family{Family: name}
}
