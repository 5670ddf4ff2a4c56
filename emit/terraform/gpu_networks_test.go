package terraform

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

// connectedPlan is a plan of nodes with a network of gVNIC and two of RDMA.
func connectedPlan() *ir.Platform {
	return editedPlan(func(p *ir.Platform) {
		p.Cluster.MultiNetworking = true
		p.Network.MTU = 8896
		p.Network.GPURanges = []ir.NamedRange{
			{Name: "gvnic", CIDR: "192.168.64.0/18"}, {Name: "rdma", CIDR: "192.168.128.0/18"},
		}
		p.Network.GPUs = []ir.GPUNetwork{
			{Short: "gvnic-1", MTU: 8896, Subnets: []ir.GPUSubnet{{Network: "gvnic-1", Cut: ir.Cut{Of: "gvnic"}}}},
			{Short: "rdma", MTU: 8896, Profile: "us-central1-a-vpc-roce", Subnets: []ir.GPUSubnet{
				{Network: "rdma-0", Cut: ir.Cut{Of: "rdma", Bits: 3}},
				{Network: "rdma-1", Cut: ir.Cut{Of: "rdma", Bits: 3, Index: 1}},
			}},
		}
		p.Capacities[1].GPUDirect, p.Capacities[1].Networks = ir.RDMA, []string{"gvnic-1", "rdma-0", "rdma-1"}
	})
}

func TestGPUNetworks(t *testing.T) {
	files := emitFiles(t, connectedPlan())
	const tables = `locals {
  # VPC networks of GPU nodes, in addition to the cluster's network. A network with a
  # profile carries RDMA within one zone and supports no firewall rules.
  gpu_networks = {
    gvnic-1 = { mtu = 8896, profile = null }
    rdma    = { mtu = 8896, profile = "us-central1-a-vpc-roce" }
  }

  # The subnets of these networks. Each name is also the name of the Kubernetes Network
  # through which pods use the subnet.
  gpu_subnets = {
    gvnic-1 = { network = "gvnic-1", range = var.gvnic_range }
    rdma-0  = { network = "rdma", range = cidrsubnet(var.rdma_range, 3, 0) }
    rdma-1  = { network = "rdma", range = cidrsubnet(var.rdma_range, 3, 1) }
  }
}
`
	if got := string(files["gpu_networks.tf"]); !strings.HasPrefix(got, tables) {
		t.Errorf("no\n%s\nat the start of\n%s", tables, got)
	}
	for _, want := range []string{
		`gvnic_range           = "192.168.64.0/18"`, `rdma_range            = "192.168.128.0/18"`,
	} {
		if !strings.Contains(string(files["terraform.tfvars"]), want+"\n") {
			t.Errorf("no %s in\n%s", want, files["terraform.tfvars"])
		}
	}
	for _, block := range []struct {
		file   string
		labels []string
		want   map[string]string
	}{
		{
			"cluster.tf", []string{"google_container_cluster", "main"},
			map[string]string{"enable_multi_networking": "true", "datapath_provider": `"ADVANCED_DATAPATH"`},
		},
		{"node_pools.tf", []string{"google_container_node_pool", resourceLabel(connectedPlan().Capacities[1].Name)},
			map[string]string{
				"network_config.dynamic.for_each": `["gvnic-1", "rdma-0", "rdma-1"]`,
				"network_config.dynamic.content.subnetwork": "google_compute_subnetwork.gpu" +
					"[additional_node_network_configs.value].name",
				"node_config.gvnic.enabled": "true",
			}},
		{"network.tf", []string{"network"}, map[string]string{"mtu": "8896"}},
		{networkModule + "/variables.tf", []string{"mtu"}, map[string]string{"type": "number"}},
		{networkModule + "/main.tf", []string{"google_compute_network", "main"}, map[string]string{
			"mtu": "var.mtu", "lifecycle.ignore_changes": "[mtu]",
		}},
		{"gpu_networks.tf", []string{"google_compute_firewall", "gpu"}, map[string]string{
			"for_each": "{ for name, network in local.gpu_networks : name => network if network.profile == null }",
		}},
	} {
		got := keepWanted(flatBlock(t, files, block.file, block.labels...), block.want)
		if diff := cmp.Diff(block.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", block.labels, diff)
		}
	}
	without := emitFiles(t, batchPlan())
	for name, content := range without {
		if strings.Contains(string(content), "mtu") {
			t.Errorf("%s sets an MTU, with no GPUs in any network", name)
		}
	}
	if without["gpu_networks.tf"] != nil || strings.Contains(string(without["cluster.tf"]), "multi_networking") ||
		strings.Contains(string(without["variables.tf"]), "rdma_range") {
		t.Error("networks between GPUs, with no GPUs in any")
	}
}
