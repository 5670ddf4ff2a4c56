package lower

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// Packet sizes (MTU) in bytes. Source: Google's Cluster Toolkit, examples
// gke-a3-megagpu and gke-a3-ultragpu, and the default of its modules/network/vpc.
const (
	tcpxMTU = 8244
	rdmaMTU = 8896
	// mainMTU is the MTU of the cluster's network beside networks of GPUs.
	mainMTU = 8896
)

// networkMTU returns the MTU of the cluster's network.
func networkMTU(gpus []ir.GPUNetwork) int {
	if len(gpus) == 0 {
		return 0
	}
	return mainMTU
}

// partBits says that a range is cut into 1<<partBits parts. The number of parts does
// not depend on the machines' number of networks, so that a new machine never moves
// the parts of other machines.
const partBits = 3

// networksOf returns the networks of a machine's nodes, by their names in the
// cluster, in the order of the nodes' devices.
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

// lowerGPUNetworks returns the networks that the capacities' nodes have in addition
// to the cluster's own, and their address ranges. RDMA networks are bound to one
// zone, the zone of the first capacity that uses them: the rules reject capacities
// in other zones.
func lowerGPUNetworks(b *schema.Blueprint,
	capacities []ir.Capacity) (networks []ir.GPUNetwork, ranges []ir.NamedRange) {
	most := map[ir.GPUDirect][]string{} // names of the networks, for the machine with the most of them
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
	tcpx := most[ir.TCPX] // the names of the TCPX networks are the first of the TCPXO networks
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
	if names := most[ir.RDMA]; names != nil { // the first network is for the kernel's interface
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

// partOfRange returns a part of an IPv4 range. If the text is no range, or the range
// is too small, it returns the text unchanged; the rules reject it.
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

// podInterfaces returns the interfaces of a pod that uses all networks of its node.
// The first additional interface has number 1, because the pod's first interface is
// in the cluster's own network.
func podInterfaces(networks []string) []ir.Interface {
	var out []ir.Interface
	for i, n := range networks {
		out = append(out, ir.Interface{Name: fmt.Sprintf("eth%d", i+1), Network: n})
	}
	return out
}

// sameGPUDirect returns the GPUDirect transport that all capacities use, "" if they
// differ. There must be at least one capacity.
func sameGPUDirect(capacities []*ir.Capacity) ir.GPUDirect {
	for _, c := range capacities {
		if c.GPUDirect != capacities[0].GPUDirect {
			return ""
		}
	}
	return capacities[0].GPUDirect
}
