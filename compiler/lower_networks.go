package compiler

import (
	"cmp"
	"fmt"
	"math/bits"
	"net/netip"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// gpuDirects are the ways of GPUs to those of other nodes, by machine type.
// Source: GKE documentation, "Maximize GPU network bandwidth in Standard mode
// clusters"; Google's Cluster Toolkit, examples gke-a3-ultragpu, gke-a4 and
// gke-a4x.
var gpuDirects = map[string]ir.GPUDirect{
	"a3-highgpu-8g":  ir.TCPX,
	"a3-megagpu-8g":  ir.TCPXO,
	"a3-ultragpu-8g": ir.RDMA,
	"a4-highgpu-8g":  ir.RDMA,
	"a4x-highgpu-4g": ir.RDMA,
}

// Sizes of packets in bytes. Source: Google's Cluster Toolkit, examples
// gke-a3-megagpu and gke-a3-ultragpu.
const (
	tcpxMTU = 8244
	rdmaMTU = 8896
)

// How many networks a node has besides the cluster's own.
const (
	tcpxNetworks  = 4
	tcpxoNetworks = 8
	rdmaNetworks  = 8 // beside the one of gVNIC
)

// networksOf returns the networks, by the names they have in the cluster, of a
// node in the order of its devices.
func networksOf(d ir.GPUDirect) []string {
	var out []string
	switch d {
	case ir.TCPX, ir.TCPXO:
		n := tcpxNetworks
		if d == ir.TCPXO {
			n = tcpxoNetworks
		}
		for i := range n {
			out = append(out, fmt.Sprintf("vpc%d", i+1))
		}
	case ir.RDMA:
		out = append(out, "gvnic-1")
		for i := range rdmaNetworks {
			out = append(out, fmt.Sprintf("rdma-%d", i))
		}
	}
	return out
}

// lowerGPUNetworks returns the networks that the capacities' nodes have besides
// the cluster's own. Those of RDMA are bound to a zone, the first that one of
// them is in: the rules refuse another.
func lowerGPUNetworks(b *schema.Blueprint, capacities []ir.Capacity) []ir.GPUNetwork {
	most := map[ir.GPUDirect]int{} // how many networks
	zone := ""
	for _, c := range capacities {
		most[c.GPUDirect] = max(most[c.GPUDirect], len(c.Networks))
		if c.GPUDirect == ir.RDMA && c.Networks != nil && len(c.Zones) > 0 && (zone == "" || c.Zones[0] < zone) {
			zone = c.Zones[0]
		}
	}
	var out []ir.GPUNetwork
	subnets := divide(b.Network.TCPX, tcpxoNetworks)
	for i := range max(most[ir.TCPX], most[ir.TCPXO]) {
		network := fmt.Sprintf("vpc%d", i+1)
		name := b.Name + "-" + network
		out = append(out, ir.GPUNetwork{Name: name, MTU: tcpxMTU, Subnets: []ir.GPUSubnet{{Name: name, Range: subnets[i], Network: network}}})
	}
	if most[ir.RDMA] == 0 {
		return out
	}
	gvnic := b.Name + "-gvnic-1"
	out = append(out, ir.GPUNetwork{Name: gvnic, MTU: rdmaMTU, Subnets: []ir.GPUSubnet{{Name: gvnic, Range: b.Network.GVNIC, Network: "gvnic-1"}}})
	rdma := ir.GPUNetwork{Name: b.Name + "-rdma", MTU: rdmaMTU, Profile: zone + "-vpc-roce"}
	for i, r := range divide(b.Network.RDMA, rdmaNetworks) {
		network := fmt.Sprintf("rdma-%d", i)
		rdma.Subnets = append(rdma.Subnets, ir.GPUSubnet{Name: b.Name + "-" + network, Range: r, Network: network, RDMA: true})
	}
	return append(out, rdma)
}

// divide cuts an IPv4 range into n equal ones, n being a power of two. Of a
// range that is none, or too small, which the rules refuse, each part is the
// whole.
func divide(cidr string, n int) []string {
	whole, err := netip.ParsePrefix(cidr)
	length := whole.Bits() + bits.Len(uint(n-1))
	if err != nil || !whole.Addr().Is4() || length > 32 {
		return slices.Repeat([]string{cidr}, n)
	}
	out := make([]string, n)
	a := whole.Masked().Addr().As4()
	first := uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3])
	for i := range out {
		v := first + uint32(i)<<(32-length)
		out[i] = netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), length).String()
	}
	return out
}

// interfaces returns those of a pod that has all the networks of its node: the
// first is the cluster's own.
func interfaces(networks []string) []ir.Interface {
	var out []ir.Interface
	for i, n := range networks {
		out = append(out, ir.Interface{Name: fmt.Sprintf("eth%d", i+1), Network: n})
	}
	return out
}

// sameGPUDirect returns how the nodes of all capacities reach each other's GPUs,
// "" if they differ.
func sameGPUDirect(capacities []*ir.Capacity) ir.GPUDirect {
	var out ir.GPUDirect
	for i, c := range capacities {
		if i > 0 && c.GPUDirect != out {
			return ""
		}
		out = cmp.Or(c.GPUDirect, "")
	}
	return out
}
