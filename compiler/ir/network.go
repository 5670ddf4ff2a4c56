package ir

import "slices"

// Network is the cluster's VPC network. Its ranges are IPv4 ranges in CIDR notation. A
// range of an existing network is "" if the blueprint does not give it.
type Network struct {
	Name     string // name of the VPC
	Subnet   string // name of the subnet of the nodes
	Nodes    string
	Pods     string
	Services string
	// ControlPlane is the range of the control plane, a /28. It is "" if the control
	// plane has its private address in a subnet.
	ControlPlane string
	MTU          int // of the VPC in bytes; 0 is Google Cloud's default of 1460

	// Existing describes a network that others own, which the platform does not change.
	// It is nil if the platform creates the network.
	Existing *ExistingNetwork

	// GPUs are the networks that connect GPUs of different nodes, in the order of
	// the nodes' interfaces: first the networks of GPUDirect-TCPX and TCPXO, then the
	// networks of GPUDirect RDMA. It is nil if there are none.
	GPUs []GPUNetwork
	// GPURanges are the ranges from which the subnets of GPUs are cut.
	GPURanges []NamedRange
}

// ExistingNetwork describes a network that others own. All subnets are in Project and
// in the platform's region.
type ExistingNetwork struct {
	Project      string // project that owns the network
	PodRange     string // name of the subnet's secondary range for pods
	ServiceRange string // name of the subnet's secondary range for Services
	// NAT reports whether the subnet's nodes and pods can reach the internet.
	NAT bool
	// ControlPlaneSubnet is the name of the subnet in which the control plane has its
	// private address, "" for the subnet of the nodes.
	ControlPlaneSubnet string
	// NodePrefix, PodPrefix and ServicePrefix are the lengths of the longest prefixes,
	// and so of the smallest ranges, that have room for the platform's nodes, for their
	// pods, and for its Services. GPUPrefix is that of a subnet of GPUs.
	NodePrefix, PodPrefix, ServicePrefix, GPUPrefix int
}

// GPUNetwork is a VPC network in addition to the cluster's own.
type GPUNetwork struct {
	Short string // distinguishes it from the platform's other networks
	Name  string // name of the VPC network
	// Profile is the network profile of the network, or "". A profile binds the
	// network to a zone and excludes firewall rules.
	Profile string
	MTU     int // bytes
	// Subnets are in the order of the nodes' interfaces.
	Subnets []GPUSubnet
}

// GPUSubnet is a subnet for one device of each node.
type GPUSubnet struct {
	Name    string // name of the subnet
	Range   string // in CIDR notation, "" in an existing network
	Cut     Cut    // how Range is cut from a larger range
	Network string // name of its Network object in the cluster, and of its GKENetworkParamSet
	RDMA    bool   // the device belongs to GPUDirect RDMA, and pods use it without the kernel
}

// Cut is one part of a range that is divided into 1<<Bits equal parts. Index is the
// number of the part, from 0.
type Cut struct {
	Of          string // name of one of Network.GPURanges
	Bits, Index int
}

// SmallestSubnet is the length of the longest prefix of a subnet. Source: VPC
// documentation, "Subnets".
const SmallestSubnet = 29

// networkProject returns the project that owns the cluster's network.
func (p *Platform) networkProject() string {
	if e := p.Network.Existing; e != nil {
		return e.Project
	}
	return p.Project
}

// SharesVPC reports whether the cluster's network belongs to another project, the host
// project of a Shared VPC.
func (p *Platform) SharesVPC() bool { return p.networkProject() != p.Project }

// NetworkID returns the ID of the cluster's network.
func (p *Platform) NetworkID() string { return p.NetworkPath(p.Network.Name) }

// NetworkPath returns the ID of a network in the project of the cluster's network.
func (p *Platform) NetworkPath(name string) string {
	return "projects/" + p.networkProject() + "/global/networks/" + name
}

// UsedSubnets returns the names of all subnets of an existing network that the platform
// uses, as far as the blueprint names them, each once: the subnet of the nodes, the subnet
// of the control plane, and the subnets of GPUs.
func (p *Platform) UsedSubnets() []string {
	var subnets []string
	if p.Network.Subnet != "" {
		subnets = append(subnets, p.Network.Subnet)
	}
	if e := p.Network.Existing; e != nil && e.ControlPlaneSubnet != "" {
		subnets = append(subnets, e.ControlPlaneSubnet)
	}
	for _, n := range p.Network.GPUs {
		for _, s := range n.Subnets {
			subnets = append(subnets, s.Name)
		}
	}
	var once []string
	for _, name := range subnets {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once
}

// MaxNodes returns the largest number of nodes that the platform can have between
// upgrades.
func (p *Platform) MaxNodes() int {
	nodes := p.SystemPool.MostPerZone() * len(p.Zones)
	for _, c := range p.Capacities {
		nodes += c.MaxNodes
	}
	return nodes
}

// SystemSurge is the number of nodes that GKE adds to the system pool while it upgrades
// the pool. Other node pools are upgraded without further nodes.
const SystemSurge = 1

// SurgeNodes returns the number of nodes that upgrades add: the surge of the system pool,
// and one for each ComputeClass, whose node pools have the upgrade settings of GKE. GKE
// upgrades the zones of a node pool one after the other. Source: GKE documentation, "Node
// pool upgrade strategies" and "Configure node pool auto-creation".
func (p *Platform) SurgeNodes() int {
	nodes := 0
	if p.OwnsCluster() {
		nodes = SystemSurge
	}
	for _, c := range p.Capacities {
		if c.ComputeClass {
			nodes++
		}
	}
	return nodes
}

// PeakNodes returns the largest number of nodes that the platform has at a time, also
// during upgrades.
func (p *Platform) PeakNodes() int { return p.MaxNodes() + p.SurgeNodes() }

// EndpointAddresses returns the number of addresses that the control plane takes from the
// range of the nodes: one if it has no range or subnet of its own.
func (p *Platform) EndpointAddresses() int {
	e := p.Network.Existing
	if p.Network.ControlPlane == "" && (e == nil || e.ControlPlaneSubnet == "") {
		return 1
	}
	return 0
}
