package compiler

import (
	"fmt"
	"math/bits"
	"net/netip"
	"slices"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// Sizes of packets in bytes. Source: Google's Cluster Toolkit, examples
// gke-a3-megagpu and gke-a3-ultragpu.
const (
	tcpxMTU = 8244
	rdmaMTU = 8896
)

// rdmaSubnets and tcpxSubnets are how many a range is cut into, whatever number
// of them the machines have: a further machine must not move those of others.
const (
	rdmaSubnets = 8
	tcpxSubnets = 8
)

// networksOf returns the networks, by the names they have in the cluster, of a
// machine's nodes in the order of its devices.
func networksOf(n catalog.Networks) []string {
	prefix := "vpc"
	if n.RDMA > 0 {
		prefix = "gvnic-"
	}
	var out []string
	for i := range n.GVNIC {
		out = append(out, fmt.Sprintf("%s%d", prefix, i+1))
	}
	for i := range n.RDMA {
		out = append(out, fmt.Sprintf("rdma-%d", i))
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
	subnets := divide(b.Network.TCPX, tcpxSubnets)
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
	for i, r := range divide(b.Network.RDMA, rdmaSubnets) {
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

// sameGPUDirect returns how the nodes of all capacities, one at least, reach each other's GPUs,
// "" if they differ.
func sameGPUDirect(capacities []*ir.Capacity) ir.GPUDirect {
	for _, c := range capacities {
		if c.GPUDirect != capacities[0].GPUDirect {
			return ""
		}
	}
	return capacities[0].GPUDirect
}
