package lower

import (
	"encoding/binary"
	"fmt"
	"math/bits"
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

// lowerNetwork resolves the cluster's network: the network that the blueprint names, or
// a new one, by default with the name of the platform. The network of a cluster that others own is
// empty if the blueprint does not name it.
func lowerNetwork(b *schema.Blueprint, gpus []ir.GPUNetwork, ranges []ir.NamedRange) ir.Network {
	in := b.Network
	if e := in.Existing; e != nil {
		return ir.Network{
			Name: e.Network, Subnet: e.Subnet, Nodes: valueOr(e.Ranges.Nodes, ""), Pods: valueOr(e.Ranges.Pods, ""),
			Services: valueOr(e.Ranges.Services, ""), ControlPlane: valueOr(e.ControlPlane, ""), GPUs: gpus,
			Existing: &ir.ExistingNetwork{
				Project: valueOr(e.Project, b.Project), PodRange: e.Pods, ServiceRange: e.Services, NAT: e.NAT,
				ControlPlaneSubnet: valueOr(e.ControlPlaneSubnet, ""),
			},
		}
	}
	if b.Cluster.Existing != nil {
		return ir.Network{}
	}
	n := ir.Network{
		Name: valueOr(
			in.Name,
			b.Name,
		), Subnet: valueOr(in.Subnet, b.Name), Nodes: in.Nodes, Pods: in.Pods, Services: in.Services,
		ControlPlane: in.ControlPlane, MTU: networkMTU(gpus), GPUs: gpus, GPURanges: ranges,
	}
	if n.ControlPlane == schema.ControlPlaneInSubnet {
		n.ControlPlane = ""
	}
	return n
}

// Sizes of address ranges. Google Cloud reserves four addresses of every subnet (VPC
// documentation, "Subnets"). GKE gives each node a /24 for its pods, and the smallest
// range of Services is a /27 (GKE documentation, "VPC-native clusters").
const (
	reservedAddresses   = 4
	nodePodPrefix       = 24
	smallestServices    = 27
	addressBits         = 32
	podAddressesPerNode = 1 << (addressBits - nodePodPrefix)
)

// withNeededRanges returns the existing network of the platform with the sizes of the
// ranges that the platform needs, nil if the platform creates its network.
func withNeededRanges(p *ir.Platform) *ir.ExistingNetwork {
	if p.Network.Existing == nil {
		return nil
	}
	e := *p.Network.Existing
	gpuNodes := 0
	for _, c := range p.Capacities {
		if len(c.Networks) > 0 {
			gpuNodes += c.MaxNodes
		}
	}
	e.NodePrefix = min(ir.SmallestSubnet, prefixFor(p.PeakNodes()+p.EndpointAddresses()+reservedAddresses))
	e.PodPrefix = prefixFor(p.PeakNodes() * podAddressesPerNode)
	e.ServicePrefix = smallestServices
	e.GPUPrefix = min(ir.SmallestSubnet, prefixFor(gpuNodes+reservedAddresses))
	return &e
}

// prefixFor returns the length of the longest IPv4 prefix with at least the number of
// addresses.
func prefixFor(addresses int) int { return max(0, addressBits-bits.Len(uint(max(addresses, 1)-1))) }

// lowerGPUNetworks returns the networks that the capacities' nodes have in addition
// to the cluster's own, and the address ranges of new networks. RDMA networks are bound
// to one zone, the zone of the first capacity that uses them: the rules reject
// capacities in other zones.
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
	tcpx := most[ir.TCPX] // the names of the TCPX networks are the first of the TCPXO networks
	if len(most[ir.TCPXO]) > len(tcpx) {
		tcpx = most[ir.TCPXO]
	}
	if b.Cluster.Existing != nil && b.Network.Existing == nil { // a rule asks for their names
		return nil, nil
	}
	if b.Network.Existing != nil {
		return existingGPUNetworks(b.Network.Existing, tcpx, most[ir.RDMA], zone), nil
	}
	take := func(name, cidr string) { ranges = append(ranges, ir.NamedRange{Name: name, CIDR: cidr}) }
	subnet := func(network, cidr string, cut ir.Cut) ir.GPUSubnet {
		return ir.GPUSubnet{
			Name: b.Name + "-" + network, Range: partOfRange(cidr, cut), Cut: cut, Network: network,
			RDMA: cut.Of == "rdma",
		}
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
		rdma := ir.GPUNetwork{Short: "rdma", Name: b.Name + "-rdma", MTU: rdmaMTU, Profile: rdmaProfile(zone)}
		for i, name := range names[1:] {
			rdma.Subnets = append(rdma.Subnets,
				subnet(name, b.Network.RDMA, ir.Cut{Of: "rdma", Bits: partBits, Index: i}))
		}
		networks = append(networks,
			ir.GPUNetwork{Short: gvnic.Network, Name: gvnic.Name, MTU: rdmaMTU, Subnets: []ir.GPUSubnet{gvnic}}, rdma)
	}
	return networks, ranges
}

// rdmaProfile returns the name of the network profile with which a network carries RDMA
// in a zone.
func rdmaProfile(zone string) string { return zone + "-vpc-roce" }

// existingGPUNetworks returns the networks of GPUs that others own: those for tcpx and
// rdma, the names of the networks in the cluster. It leaves out networks that the
// blueprint does not name, which the rules report.
func existingGPUNetworks(e *schema.ExistingNetwork, tcpx, rdma []string, zone string) (networks []ir.GPUNetwork) {
	for i, name := range tcpx {
		if i < len(e.TCPX) {
			networks = append(networks, ir.GPUNetwork{Short: name, Name: e.TCPX[i].Network, MTU: tcpxMTU,
				Subnets: []ir.GPUSubnet{{Name: e.TCPX[i].Subnet, Network: name}}})
		}
	}
	if rdma == nil {
		return networks
	}
	if e.GVNIC != nil {
		networks = append(networks, ir.GPUNetwork{Short: rdma[0], Name: e.GVNIC.Network, MTU: rdmaMTU,
			Subnets: []ir.GPUSubnet{{Name: e.GVNIC.Subnet, Network: rdma[0]}}})
	}
	if e.RDMA != nil {
		n := ir.GPUNetwork{Short: "rdma", Name: e.RDMA.Network, MTU: rdmaMTU, Profile: rdmaProfile(zone)}
		for i, name := range rdma[1:] {
			if i < len(e.RDMA.Subnets) {
				n.Subnets = append(n.Subnets, ir.GPUSubnet{Name: e.RDMA.Subnets[i], Network: name, RDMA: true})
			}
		}
		networks = append(networks, n)
	}
	return networks
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
