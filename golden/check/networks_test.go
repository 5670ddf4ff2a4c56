package check

import (
	"testing"
)

// TestCheckNetworks breaks platforms in ways that a check of Terraform or of the
// manifests alone would accept.
func TestCheckNetworks(t *testing.T) {
	const (
		made, pools, cluster = "terraform/gpu_networks.tf", "terraform/node_pools.tf", "terraform/cluster.tf"
		known, installers    = "kubernetes/networks.yaml", "kubernetes/system/gpu-installers.yaml"
		pods, team           = "workloads/vision/train.yaml", "kubernetes/teams/vision.yaml"
	)
	breaks{
		{"subnets that meet", "RDMA", made, "cidrsubnet(var.rdma_range, 3, 1)", "cidrsubnet(var.rdma_range, 3, 0)"},
		{"subnets of one range", "RDMA", made, "var.gvnic_range", "var.rdma_range"},
		{
			"name of a subnet", "RDMA", made, "name          = \"${module.network.name}-${each.key}\"",
			"name          = \"${module.network.name}-sub-${each.key}\"",
		},
		{"network of a subnet", "RDMA", made, `rdma-3  = { network = "rdma"`, `rdma-3  = { network = "gvnic-1"`},
		{"RDMA in another zone", "RDMA", made, "us-central1-b-vpc-roce", "us-central1-a-vpc-roce"},
		{"no RDMA", "RDMA", made, `"us-central1-b-vpc-roce"`, "null"},
		{"unknown subnet", "RDMA", known, "name: rdma-7", "name: rdma-8"},
		{"mode of a device", "RDMA", known, "deviceMode: RDMA", "deviceMode: NetDevice"},
		{
			"parameters of another", "RDMA", known, "kind: GKENetworkParamSet\n    name: rdma-7",
			"kind: GKENetworkParamSet\n    name: rdma-6",
		},
		{"order of devices", "RDMA", pools, `"gvnic-1", "rdma-0"`, `"rdma-0", "gvnic-1"`},
		{"a device without a network", "RDMA", pools, `, "rdma-7"]`, `]`},
		{"one network for the cluster", "RDMA", cluster, "enable_multi_networking ", "enable_l4_ilb_subsetting "},
		{"order of interfaces", "TCPX", pods, `"network":"vpc2"`, `"network":"vpc1"`},
		{"name of an interface", "TCPX", pods, `"interfaceName":"eth2"`, `"interfaceName":"eth5"`},
		{"interface that is none", "TCPXO", pods, `"network":"vpc8"`, `"network":"vpc9"`},
		{"order of KAI's interfaces", "KAI, TCPX", pods, `"network":"vpc2"`, `"network":"vpc1"`},
		{"no plugin", "TCPXO", installers, "- some-0", "- some-1"},
		{"folders of the node", "RDMA", team, "enforce: privileged", "enforce: baseline"},
	}.checkEdits(t, checkNetworks)
}
