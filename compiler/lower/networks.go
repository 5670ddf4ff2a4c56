package lower

import (
	"encoding/binary"
	"fmt"
	"net/netip"

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

// partBits says how many parts a range is cut into, eight, whatever number of
// them the machines have: a further machine must not move those of others.
const partBits = 3

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
// the cluster's own, and the ranges that these take. Those of RDMA are bound to
// a zone, the first that one of them is in: the rules refuse another.
func lowerGPUNetworks(b *schema.Blueprint,
	capacities []ir.Capacity) (networks []ir.GPUNetwork, ranges []ir.NamedRange) {
	most := map[ir.GPUDirect][]string{} // names of the networks
	zone := ""
	for _, c := range capacities {
		if len(c.Networks) > len(most[c.GPUDirect]) {
			most[c.GPUDirect] = c.Networks
		}
		if c.GPUDirect == ir.RDMA && c.Networks != nil && len(c.Zones) > 0 && (zone == "" || c.Zones[0] < zone) {
			zone = c.Zones[0]
		}
	}
	take := func(name, cidr string) { ranges = append(ranges, ir.NamedRange{Name: name, CIDR: cidr}) }
	subnet := func(network, cidr string, cut ir.Cut) ir.GPUSubnet {
		return ir.GPUSubnet{
			Name: b.Name + "-" + network, Range: partOfRange(cidr, cut), Cut: cut, Network: network,
			RDMA: cut.Of == "rdma",
		}
	}
	tcpx := most[ir.TCPX] // which begin as those of TCPXO
	if len(most[ir.TCPXO]) > len(tcpx) {
		tcpx = most[ir.TCPXO]
	}
	if tcpx != nil {
		take("tcpx", b.Network.TCPX)
		for i, name := range tcpx {
			s := subnet(name, b.Network.TCPX, ir.Cut{Of: "tcpx", Bits: partBits, Index: i})
			networks = append(networks,
				ir.GPUNetwork{Short: s.Network, Name: s.Name, MTU: tcpxMTU, Subnets: []ir.GPUSubnet{s}})
		}
	}
	if names := most[ir.RDMA]; names != nil { // the first is the kernel's
		take("gvnic", b.Network.GVNIC)
		take("rdma", b.Network.RDMA)
		gvnic := subnet(names[0], b.Network.GVNIC, ir.Cut{Of: "gvnic"})
		rdma := ir.GPUNetwork{Short: "rdma", Name: b.Name + "-rdma", MTU: rdmaMTU, Profile: zone + "-vpc-roce"}
		for i, name := range names[1:] {
			rdma.Subnets = append(rdma.Subnets,
				subnet(name, b.Network.RDMA, ir.Cut{Of: "rdma", Bits: partBits, Index: i}))
		}
		networks = append(networks,
			ir.GPUNetwork{Short: gvnic.Network, Name: gvnic.Name, MTU: rdmaMTU, Subnets: []ir.GPUSubnet{gvnic}}, rdma)
	}
	return networks, ranges
}

// partOfRange returns a part of an IPv4 range; all of it if it is none, or too small,
// which the rules refuse.
func partOfRange(cidr string, cut ir.Cut) string {
	whole, err := netip.ParsePrefix(cidr)
	length := whole.Bits() + cut.Bits
	if err != nil || !whole.Addr().Is4() || length > 32 {
		return cidr
	}
	a := whole.Masked().Addr().As4()
	first := binary.BigEndian.Uint32(a[:]) + uint32(cut.Index)<<(32-length)
	binary.BigEndian.PutUint32(a[:], first)
	return netip.PrefixFrom(netip.AddrFrom4(a), length).String()
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

// sameGPUDirect returns how the nodes of all capacities, of which there is one at
// least, reach each other's GPUs, "" if they differ.
func sameGPUDirect(capacities []*ir.Capacity) ir.GPUDirect {
	for _, c := range capacities {
		if c.GPUDirect != capacities[0].GPUDirect {
			return ""
		}
	}
	return capacities[0].GPUDirect
}
