package guide

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

func TestGPUNetworks(t *testing.T) {
	rdma := func(p *ir.Platform) {
		p.Capacities[1].GPUDirect, p.Capacities[1].Networks = ir.RDMA, []string{"gvnic-1", "rdma-0"}
		p.Network.MTU = 8896
		p.Network.GPUs = []ir.GPUNetwork{
			{Short: "gvnic-1", Name: "gke-batch-gvnic-1", MTU: 8896,
				Subnets: []ir.GPUSubnet{{Name: "gke-batch-gvnic-1",
					Network: "gvnic-1", Range: "192.168.64.0/18"}}},
			{Short: "rdma", Name: "gke-batch-rdma", MTU: 8896, Profile: "us-central1-a-vpc-roce",
				Subnets: []ir.GPUSubnet{{Name: "gke-batch-rdma-0",
					Network: "rdma-0", Range: "192.168.128.0/21", RDMA: true}}},
		}
	}
	for _, test := range []struct {
		name string
		edit func(*ir.Platform)
		want []string
		not  []string
	}{
		{"none", func(*ir.Platform) {}, nil, []string{"Networks between GPUs", "pods-keep-off-the-node"}},
		{"RDMA", rdma, []string{
			"## Networks between GPUs", "`l4-spot` nodes have a network for each",
			"| `gvnic-1` | `gke-batch-gvnic-1` | `gke-batch-gvnic-1` | `192.168.64.0/18` | gVNIC | 8896 |",
			"| `rdma-0` | `gke-batch-rdma` | `gke-batch-rdma-0` | `192.168.128.0/21` | RDMA, bound to " +
				"`us-central1-a-vpc-roce` | 8896 |",
			"Terraform does not change an existing network's MTU",
			"set_nccl_env.sh", "the GPUDirect libraries, read-only. ", "pods-keep-off-the-node",
		}, []string{"TCPX", "the node's network"}},
		{"TCPXO",
			func(p *ir.Platform) {
				p.Capacities[0].GPUDirect, p.Capacities[0].Networks = ir.TCPXO, []string{"vpc1"}
			},
			[]string{"nccl-env-profile.sh", "could take over the node"}, []string{"set_nccl_env.sh"}},
		{"claimed", func(p *ir.Platform) { p.Capacities[0].GPUDirect = ir.RDMA },
			[]string{"GKE attaches such networks to `l4-reserved` nodes"}, []string{"gpu_networks.tf"}},
		{"network of the node alone",
			func(p *ir.Platform) { p.Workloads = []ir.Workload{{Team: "team-a", HostNetwork: true}} },
			[]string{"that the baseline standard forbids: the node's network. "},
			[]string{"Networks between GPUs"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPlatform(2)
			test.edit(p)
			got := renderReference(t, p)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q", want)
				}
			}
			for _, not := range test.not {
				if strings.Contains(got, not) {
					t.Errorf("%q must not be in REFERENCE.md", not)
				}
			}
		})
	}
}
