package kubernetes

import (
	networkv1 "github.com/GoogleCloudPlatform/gke-networking-api/apis/network/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// gpuNetworks returns the objects that let pods name the networks between GPUs: a
// Network for each subnet, and the parameters with which GKE finds the node's device
// in the subnet.
func gpuNetworks(p *ir.Platform) []any {
	var objects []any
	version := schema.GroupVersion(networkv1.GroupVersion)
	for _, n := range p.Network.GPUs {
		for _, s := range n.Subnets {
			mode := networkv1.NetDevice
			if s.RDMA {
				mode = networkv1.RDMA
			}
			params := &networkv1.GKENetworkParamSet{
				TypeMeta:   kubeyaml.Kind(version, "GKENetworkParamSet"),
				ObjectMeta: kubeyaml.Meta(p.Name, "", s.Network),
				Spec:       networkv1.GKENetworkParamSetSpec{VPC: n.Name, VPCSubnet: s.Name, DeviceMode: mode},
			}
			objects = append(objects, params, &networkv1.Network{
				TypeMeta:   kubeyaml.Kind(version, "Network"),
				ObjectMeta: kubeyaml.Meta(p.Name, "", s.Network),
				Spec: networkv1.NetworkSpec{
					Type: networkv1.DeviceNetworkType,
					ParametersRef: &networkv1.NetworkParametersReference{
						Group: networkv1.GroupName, Kind: params.Kind, Name: params.Name,
					},
				},
			})
		}
	}
	return objects
}
