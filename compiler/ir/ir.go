// Package ir is the plan: a platform with every default filled in, every
// reference resolved and every derived name decided.
//
// The compiler lowers a checked blueprint into one Platform; each emitter
// reads it and renders its own format. The plan knows nothing of CUE, HCL or
// YAML. Amounts are Kubernetes quantities, because those have one canonical
// form.
//
// Every slice is in the order in which it is to be written: by name, unless
// its comment says otherwise. Emitters never sort, and never change a plan.
package ir

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Platform is one cluster with everything around it.
type Platform struct {
	Name    string   // deploy folder, cluster, and prefix of derived names
	Project string   // project ID
	Region  string   // of the control plane
	Zones   []string // of the nodes, sorted

	Versions   Versions
	Scheduler  Scheduler
	Network    Network
	Cluster    Cluster
	Security   Security
	SystemPool SystemPool

	// NodeAccount is the service account of every node.
	NodeAccount ServiceAccount
	// JobRoles are the project roles that every pod of the cluster has as its
	// Kubernetes service account, sorted.
	JobRoles []string

	// Capacities are all of the platform's, also the auto-provisioned ones.
	Capacities []Capacity
	// AutoProvisioning bounds what GKE may create by itself.
	AutoProvisioning AutoProvisioning

	PriorityClasses []PriorityClass // by rising value
	AdmissionChecks []AdmissionCheck
	Cohorts         []Cohort      // parents before children
	SharedQueues    []SharedQueue // by tier
	Teams           []Team
	Workloads       []Workload // by team, then name, then copy

	Monitoring Monitoring
	Delivery   Delivery
	Demand     Demand

	// Notes are what the administrator wants to be known besides: paragraphs, in
	// their order.
	Notes []string
}

// Scheduler is what starts the teams' jobs.
type Scheduler string

// The schedulers. What sets them apart is in the plan already: how a workload
// names its queue (Workload.Queueing), and which capacities need an admission
// check. Beyond that each has an emitter of its own for its queues, and the other
// emitters say what differs in their schedulerOf.
const (
	Kueue Scheduler = "kueue"
	KAI   Scheduler = "kai"
)

// Versions are release numbers without a leading v.
type Versions struct {
	Kueue, JobSet, KAI, Helm, GIB, Terraform, GoogleProvider, Gcloud string
	// SHA256 holds what the build must get at these versions.
	SHA256 Pins
}

// Pins holds SHA-256 digests in hexadecimal: of the manifests of Kueue and JobSet,
// and of the images of Helm, Terraform and the Google Cloud CLI. An unknown digest is
// "".
type Pins struct{ Kueue, JobSet, Helm, Terraform, Gcloud string }

// Network holds IPv4 ranges in CIDR notation.
type Network struct {
	Name         string // of the VPC
	Subnet       string
	Nodes        string
	Pods         string
	Services     string
	ControlPlane string

	// GPUs are the networks that GPUs of different nodes reach each other over,
	// in the order in which nodes have them: those of GPUDirect-TCPX and TCPXO,
	// then those of GPUDirect RDMA. nil without.
	GPUs []GPUNetwork
	// GPURanges are the ranges that the subnets of GPUs are cut from.
	GPURanges []NamedRange
}

// GPUNetwork is a VPC network beside the cluster's own.
type GPUNetwork struct {
	Short string // what sets it apart from the platform's others
	Name  string // of the VPC network
	// Profile is the network profile it is made with, which binds it to a zone
	// and takes no firewall rules, or "".
	Profile string
	MTU     int // bytes
	// Subnets are in the order in which nodes have them.
	Subnets []GPUSubnet
}

// GPUSubnet is a subnet that a device of a node is in.
type GPUSubnet struct {
	Name    string // of the subnet
	Range   string // in CIDR notation
	Cut     Cut    // how it comes about
	Network string // of the Network that stands for it in the cluster, and of its GKENetworkParamSet
	RDMA    bool   // the device is one of GPUDirect RDMA, which pods use past the kernel
}

// Cut is a part of a range: that of the number Index, from 0, of 1<<Bits equal
// ones.
type Cut struct {
	Of          string // name of one of Network.GPURanges
	Bits, Index int
}

// Cluster is the GKE cluster.
type Cluster struct {
	Name               string
	ReleaseChannel     string
	MinVersion         string       // that it starts with; "" leaves it to the release channel
	AuthorizedNetworks []NamedRange // none: the IP endpoint has no public address
	DNSEndpoint        bool         // reachable from outside the VPC
	SecurityGroup      string       // "" switches Google Groups for RBAC off
	DeletionProtection bool
	MultiNetworking    bool // nodes can have networks besides the cluster's own
	ImageStreaming     bool
	Filestore, GCSFuse bool // CSI drivers
	Maintenance        Maintenance
	// Metrics are the components of GKE whose metrics Cloud Monitoring collects,
	// as monitoring_config.enable_components names them.
	Metrics []string
}

// Security is what the cluster has besides the safe defaults.
type Security struct {
	KMSKey              string // of boot disks and etcd, "" for keys that Google manages
	BinaryAuthorization bool   // the project's policy admits images
	FlowLogs            bool   // of the cluster's subnet
	Posture             bool   // GKE reports insecure settings of workloads
	DataAccessLogs      bool   // of GKE and Cloud Storage in the whole project
}

// NamedRange is a CIDR range with the name an administrator gave it.
type NamedRange struct{ Name, CIDR string }

// Maintenance is a weekly window.
type Maintenance struct {
	Days  []string // MO..SU, as in the blueprint
	Start string   // hh:mm, UTC
	Hours int      // length

	Exclusions []Exclusion
}

// Exclusion is a time in which GKE holds upgrades back.
type Exclusion struct {
	Name       string
	Start, End string // days, from 00:00 UTC to 00:00 UTC
	Scope      string // as GKE's API spells it
}

// SystemPool is the pool of everything which is not a team's job.
type SystemPool struct {
	Name         string
	Machine      string  // machine type
	Family       string  // machine family
	VCPUs        int     // of one node
	MemoryGiB    float64 // of one node
	DiskType     string
	DiskSizeGiB  int // GiB
	NodesPerZone int
	CountsNoSSDs bool // see Machine.CountsNoSSDs
}

// HasGroups reports whether the members of some team are a Google group that the
// cluster knows.
func (p *Platform) HasGroups() bool {
	return p.Cluster.SecurityGroup != "" && slices.ContainsFunc(p.Teams, func(t Team) bool { return t.Group != "" })
}

// HasBuckets reports whether some team has a bucket.
func (p *Platform) HasBuckets() bool {
	return slices.ContainsFunc(p.Teams, func(t Team) bool { return t.Bucket != "" })
}

// TeamsWithAccount returns the teams whose jobs act as a Google service account.
func (p *Platform) TeamsWithAccount() []Team {
	return slices.DeleteFunc(slices.Clone(p.Teams), func(t Team) bool { return t.Account == nil })
}

// ServiceAccount is a Google service account.
type ServiceAccount struct {
	ID      string   // account_id: the part before the @
	Display string   // what it is for
	Roles   []string // roles on the project
}

// Email returns the account's address in a project.
func (a ServiceAccount) Email(project string) string {
	return a.ID + "@" + project + ".iam.gserviceaccount.com"
}

// Option is how machines are obtained.
type Option string

// The consumption options. The value is also the node label resource-type.
const (
	OnDemand       Option = "ondemand"
	Spot           Option = "spot"
	Reservation    Option = "reservation"
	AnyReservation Option = "any-reservation"
	FlexStart      Option = "flex-start"
)

// Capacity is some hardware obtained through one option: a node pool, or one
// for each TPU slice, or what GKE may create by itself, and the ResourceFlavor
// that stands for it.
type Capacity struct {
	Name     string // of the ResourceFlavor, and of the node pool or ComputeClass
	Hardware string // the blueprint's name of the class
	Machine  Machine
	Option   Option
	Zones    []string // sorted

	// Static is true for a fixed number of nodes (MaxNodes), false for a pool
	// that scales between MinNodes and MaxNodes. Counts are totals over all
	// zones.
	Static             bool
	MinNodes, MaxNodes int

	// Slices are the TPU slices of a capacity of multi-host TPUs, all alike,
	// each a node pool of its own: all of them stand if it is Static, else each
	// has all its nodes or none. 0 without multi-host TPUs.
	Slices int

	// AutoProvisioned capacities have no node pool of their own: GKE creates
	// pools for pods that ask for such nodes by their labels.
	AutoProvisioned bool
	// ComputeClass capacities have none either: GKE creates pools for pods that
	// select the ComputeClass of the capacity's name.
	ComputeClass bool
	// KeepsVersion capacities have pools that GKE upgrades only when the support
	// of their version ends.
	KeepsVersion bool
	// Compact puts the nodes close together, in one zone. Multi-host TPU slices
	// are always together, and not Compact.
	Compact bool

	Reservation    *ReservationUse    // with Option Reservation
	AnyReservation *AnyReservationUse // with Option AnyReservation
	Flex           *FlexUse           // with Option FlexStart
	// Waiting capacities have a reservation that has not begun: their pool has
	// no nodes yet, and does not scale. All else is as it will be.
	Waiting bool

	DiskType    string
	DiskSizeGiB int
	LocalSSDs   int    // asked for as ephemeral storage, besides Machine.BundledSSDs
	GPUDriver   string // DEFAULT, LATEST or DISABLED; "" without GPUs

	// GPUDirect is how the GPUs of different nodes reach each other past the
	// CPUs, "" for not.
	GPUDirect GPUDirect
	// Networks are those that the nodes have besides the cluster's own, as
	// GPUSubnet.Network names them, in the order of their devices.
	Networks []string

	// PoolLabels are the node labels the pool sets itself, beside those that
	// GKE adds.
	PoolLabels []KeyValue
	// NodeLabels tell the nodes of this capacity from all others: the
	// ResourceFlavor's labels. GKE sets some of them, PoolLabels the others.
	NodeLabels []KeyValue
	// PoolTaints are the taints the pool sets itself.
	PoolTaints []Taint
	// NodeTaints are all taints the nodes carry: the ResourceFlavor's taints.
	NodeTaints []Taint

	// AdmissionCheck names the check a workload must pass before it starts on
	// this capacity, or is "".
	AdmissionCheck string

	// PerNode is what one node offers to pods, less what GKE reserves: cpu,
	// memory, then accelerators where there are any.
	PerNode []Amount
	// Guaranteed is the nominal quota of all teams together, in the resources
	// and order of PerNode.
	Guaranteed []Amount
	// Overcommit is the administrator's reason why Guaranteed exceeds the
	// nodes, or "".
	Overcommit string
}

// GPUDirect is a way of GPUs to those of other nodes.
type GPUDirect string

// The ways. Source: GKE documentation, "Maximize GPU network bandwidth in
// Standard mode clusters".
const (
	TCPX  GPUDirect = "TCPX"  // of a3-highgpu-8g: four networks
	TCPXO GPUDirect = "TCPXO" // of a3-megagpu-8g: eight networks
	// of a3-ultragpu-8g and A4: nine networks, eight of them RDMA; of A4X by AcceleratorNetworks
	RDMA GPUDirect = "RDMA"
)

// Machine is what the catalogue knows of a machine type, with what the
// hardware class adds to it.
type Machine struct {
	Type             string
	Family           string
	VCPUs            int
	MemoryGiB        float64
	Arm              bool   // takes images for arm64, and pods that tolerate it
	Accelerator      string // GKE accelerator type, "" without
	AcceleratorCount int
	Resource         string // Kubernetes resource of the accelerator, "" without
	Slice            *Slice // with TPUs
	BundledSSDs      int    // local SSDs that come with every machine
	SSDSizeGB        int    // of each local SSD
	// PlacementTopology is the accelerator topology that a workload policy must
	// name for the nodes to be linked with each other, or "".
	PlacementTopology string
	// AcceleratorNetworks tells that GKE itself attaches the accelerators'
	// networks to the nodes, and pods claim them by dynamic resource allocation.
	AcceleratorNetworks bool
	// LinkedNodes is how many machines NVLink joins, 0 for none.
	LinkedNodes int
	// SteadyGPUs reports that healthy GPUs keep above 1 GHz under any load.
	SteadyGPUs bool
	// CountsNoSSDs reports that GKE fills in a count of local SSDs for a node pool
	// that has none.
	CountsNoSSDs bool
	// TPUType is how Cloud TPU calls the slices, such as "v5litepod-16", "" without
	// TPUs.
	TPUType string
}

// Slice is the shape of a TPU slice.
type Slice struct {
	Topology string // such as "4x4"
	Chips    int
	Hosts    int // nodes; above 1 the slice is one node pool, which has all of them or none
}

// ReservationUse says which reservation a capacity consumes.
type ReservationUse struct {
	Name            string
	Create          bool   // the platform creates it
	Owner           string // project that owns it, "" for the platform's own project
	Block, SubBlock string // part of it, "" for all
	Kind            string // standard, future or CalendarReservation
	Days            int    // of a calendar reservation, 0 where not given
}

// AnyReservationUse says how a capacity consumes whichever reservation matches.
type AnyReservationUse struct {
	// OnDemand tells that nodes are started on demand where no reservation has
	// machines left.
	OnDemand bool
}

// FlexUse says how flex-start nodes are started.
type FlexUse struct {
	Queued        bool
	MaxRunSeconds int
}

// KeyValue is a label.
type KeyValue struct{ Key, Value string }

// Taint is a node taint; Effect is spelt as Kubernetes does ("NoSchedule").
type Taint struct{ Key, Value, Effect string }

// Amount is some of a resource.
type Amount struct {
	Resource string // "cpu", "memory", "nvidia.com/gpu"
	Quantity resource.Quantity
}

// AutoProvisioning bounds node auto-provisioning.
type AutoProvisioning struct {
	Profile string // OPTIMIZE_UTILIZATION or BALANCED
	// Create is true when GKE makes the pools of some capacity, or limits are
	// given: otherwise only the profile applies and GKE makes none.
	Create bool
	Limits []ResourceLimit // cpu, memory, then accelerator types by name
}

// ResourceLimit bounds a resource over the whole cluster.
type ResourceLimit struct {
	Type     string // "cpu", "memory" (GiB), or a GKE accelerator type
	Min, Max int
}
