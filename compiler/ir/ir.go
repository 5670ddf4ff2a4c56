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

import "k8s.io/apimachinery/pkg/api/resource"

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
	SystemPool SystemPool

	// NodeAccount is the service account of every node.
	NodeAccount ServiceAccount

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
}

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
	MinVersion         string       // "" leaves it to the release channel
	AuthorizedNetworks []NamedRange // none: the IP endpoint has no public address
	DNSEndpoint        bool         // reachable from outside the VPC
	SecurityGroup      string       // "" switches Google Groups for RBAC off
	DeletionProtection bool
	MultiNetworking    bool // nodes can have networks besides the cluster's own
	ImageStreaming     bool
	Filestore, GCSFuse bool // CSI drivers
	Maintenance        Maintenance
}

// NamedRange is a CIDR range with the name an administrator gave it.
type NamedRange struct{ Name, CIDR string }

// Maintenance is a weekly window.
type Maintenance struct {
	Days  []string // MO..SU, as in the blueprint
	Start string   // hh:mm, UTC
	Hours int      // length
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
	RDMA  GPUDirect = "RDMA"  // of a3-ultragpu-8g and A4: nine networks, eight of them RDMA; of A4X by AcceleratorNetworks
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

// PriorityClass is a Kubernetes PriorityClass.
type PriorityClass struct {
	Name     string
	Value    int32
	Default  bool // of the whole cluster
	Preempts bool
	Tier     string
	Note     string // description
	// BuiltIn classes come with the scheduler.
	BuiltIn bool
}

// AdmissionCheck makes a workload wait for a ProvisioningRequest.
type AdmissionCheck struct {
	Name      string   // also of its ProvisioningRequestConfig
	Class     string   // provisioning class
	Resources []string // resources that need the request, nil for all
	Topology  string   // of the TPU slice that is asked for, "" without
}

// Cohort groups queues and cohorts that lend to each other.
type Cohort struct {
	Name, Parent string
	Priority     int // of the queue it is, with KAI
}

// SharedQueue is the queue of a tier that teams share.
type SharedQueue struct {
	Queue // its LocalQueue is ""
	// Teams are those that share it, each by a Queue of its own with Shared set.
	Teams []SharingTeam
}

// SharingTeam is a team that shares a queue.
type SharingTeam struct{ Name, Namespace string }

// Team is a tenant.
type Team struct {
	Name        string
	Namespace   string
	Cohort      string         // "" for none
	Priority    int            // of its queue, with KAI
	Group       string         // Google group of its members, "" for none
	KubeAccount string         // Kubernetes service account of its jobs
	Account     ServiceAccount // Google service account behind it
	Bucket      string         // Cloud Storage bucket, "" for none
	// NodesListBucket lets the nodes' account list the bucket, too.
	NodesListBucket bool
	Queues          []Queue // by tier
}

// Queue is a team's share of one tier: a ClusterQueue, and the LocalQueue
// through which the team's namespace uses it. With KAI it is one queue, of which
// both are the name.
type Queue struct {
	Tier string
	// Classes are the PriorityClasses its jobs can have, by rising value.
	Classes      []string
	ClusterQueue string
	LocalQueue   string
	// Shared tells that the ClusterQueue is that of a SharedQueue, and what
	// follows is of all its teams.
	Shared    bool
	Cohort    string // it lends to and borrows from, "" for none
	Strategy  string // StrictFIFO or BestEffortFIFO
	Preempts  bool
	Resources []string      // covered resources, in the order of every FlavorQuota
	Flavors   []FlavorQuota // in the order in which they are tried
}

// FlavorQuota is a queue's quota of one capacity.
type FlavorQuota struct {
	Flavor         string // name of the capacity
	AdmissionCheck string // "" for none
	// Waiting quotas are for a capacity whose reservation has not begun: until
	// then the queue has nothing of them.
	Waiting bool
	Quotas  []ResourceQuota
}

// ResourceQuota is a queue's quota of one resource of a capacity.
type ResourceQuota struct {
	Resource string
	Nominal  resource.Quantity
	// Borrowing is the most that may be borrowed; nil where there is no cohort
	// to borrow from, and with BorrowsAll.
	Borrowing *resource.Quantity
	// BorrowsAll tells that all that is idle in the cohort may be borrowed.
	BorrowsAll bool
	// Lending is the most that may be lent; nil means all.
	Lending *resource.Quantity
}

// Kind is the kind of a workload's object.
type Kind string

// Kinds of workload.
const (
	Job    Kind = "Job"
	JobSet Kind = "JobSet"
)

// Workload is one object a team submits.
type Workload struct {
	Template      string // the blueprint's name of it
	Name          string // of the object
	Kind          Kind
	Team          string
	Namespace     string
	KubeAccount   string
	Queue         string // LocalQueue
	PriorityClass string
	// Capacities are those of the queue it can run on, in the queue's order.
	Capacities []string
	// Queueing is what the queued object bears for its scheduler.
	Queueing Queueing
	Pods     int
	// Slices are the TPU slices a copy runs on, each with an equal share of
	// Pods, one for each host; 0 without multi-host TPUs.
	Slices    int
	Requests  []Amount // of each pod; but for cpu also its limits
	Image     string
	Command   []string    // nil leaves it to the image
	Env       []KeyValue  // by name
	SecretEnv []SecretEnv // by name
	// Bucket is the team's Cloud Storage bucket, "" without.
	Bucket string
	// TensorBoard tells that the pods get the name of the platform's TensorBoard.
	TensorBoard  bool
	Files        []KeyValue // name and content, by name
	ConfigMap    string     // that holds Files, "" without
	Port         int        // of the rendezvous, 0 without
	Retries      int
	NodeSelector []KeyValue // by key
	Tolerations  []Taint    // by key
	// PlacementGroup is the group in which auto-provisioning places the nodes,
	// one of NodeSelector's values, or "".
	PlacementGroup string
	// Networks tells that each pod, which has a node to itself, claims the
	// networks of the node's accelerators.
	Networks bool
	// GPUDirect is how pods, each with a node to itself, reach the GPUs of others,
	// "" for not.
	GPUDirect GPUDirect
	// Interfaces are those that each pod has besides its first, by their number:
	// of the networks of its node, in the same order.
	Interfaces []Interface
	// HostNetwork gives pods the network of their node.
	HostNetwork bool
	// Auxiliaries are pods beside those of a JobSet, by name.
	Auxiliaries []Auxiliary
	// MaxRunSeconds bounds the run: what the workload asks for, and what its
	// flex-start nodes last. 0 for no bound.
	MaxRunSeconds int
	// GraceSeconds is how long a pod may take to stop; 0 leaves the default.
	GraceSeconds int
}

// Queueing is how a job is known to its scheduler.
type Queueing struct {
	Labels, Annotations []KeyValue // of the object that is queued, by key
	PodLabels           []KeyValue // of its pods, by key
	SchedulerName       string     // of its pods, "" for the cluster's own
}

// SecretEnv is an environment variable whose value is in a Secret.
type SecretEnv struct{ Name, Secret, Key string }

// Interface is a network interface of a pod.
type Interface struct{ Name, Network string }

// Auxiliary is a pod beside a workload's. It has the workload's files, and no
// part in its rendezvous.
type Auxiliary struct {
	Name         string   // also of its replicated job
	Capacity     string   // it runs on, of the workload's queue
	Requests     []Amount // but for cpu also its limits
	Image        string
	Command      []string   // nil leaves it to the image
	Env          []KeyValue // by name
	NodeSelector []KeyValue // by key
	Tolerations  []Taint    // by key
	GraceSeconds int        // as the workload's
}

// Monitoring says what is watched.
type Monitoring struct {
	NotificationChannels []string // full resource names
	Grafana              bool
	GrafanaNamespace     string
	// TensorBoard is the region of the Vertex AI TensorBoard, "" without.
	TensorBoard string
	Alerts      []Alert // by group, then name
}

// Alert is a condition somebody should know of.
type Alert struct {
	Name  string // such as KueueQueueStuck
	Group string // rule group
	// Expr is PromQL as Google Managed Prometheus understands it.
	Expr     string
	For      int    // seconds the condition must hold
	Severity string // "warning" or "critical"
	Summary  string // one line: what happened
	// Action says what to do. "{{label}}" stands for the value of a label.
	Action string
	// CloudOnly marks an alert on Cloud Monitoring's own metrics, which a
	// Prometheus server does not have.
	CloudOnly bool
}

// Delivery says how the platform is built.
type Delivery struct {
	// Region of the builds, the bucket and the repository.
	Region      string
	StateBucket string
	StatePrefix string
	// InfrastructureManager runs Terraform and keeps its state, instead of the
	// build, and StateBucket has none.
	InfrastructureManager bool
	// Account runs the build.
	Account ServiceAccount
	// Permissions are what the build needs beside the roles of Account, because
	// only far wider predefined roles hold them, sorted; nil for none.
	Permissions []string
	// GrantableRoles are the roles the build may give to the accounts it
	// creates, sorted.
	GrantableRoles []string
	// Repository is the Artifact Registry repository of the teams' images.
	Repository string
	// APIs are the services the project needs, sorted.
	APIs []string
}

// Demand is the Google Cloud quota the platform needs in its region.
type Demand struct {
	Rows []DemandRow
	// VCPUs and MemoryGiB are of all nodes the teams' quotas can ever admit,
	// and of the system pool. The limits of node auto-provisioning are held
	// against them: those bound the whole cluster.
	VCPUs, MemoryGiB int
}

// DemandRow is one quota metric.
type DemandRow struct {
	Metric string // name of the quota metric, "" where none is verified
	What   string // in words
	// Standing is in use as soon as the platform is built, Admitted is what the
	// teams' quotas can ever admit, Ceiling what all pools at their maximum would
	// take. Standing <= Admitted <= Ceiling. Counted in Unit.
	Standing, Admitted, Ceiling int
	Unit                        string
	Note                        string // caveat, or ""
}
