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
	Cohorts         []Cohort // parents before children
	Teams           []Team
	Workloads       []Workload // by team, then name, then copy

	Monitoring Monitoring
	Delivery   Delivery
	Demand     Demand
}

// Versions are release numbers without a leading v.
type Versions struct {
	Kueue, JobSet, Terraform, GoogleProvider, Gcloud string
}

// Network holds IPv4 ranges in CIDR notation.
type Network struct {
	Name         string // of the VPC
	Subnet       string
	Nodes        string
	Pods         string
	Services     string
	ControlPlane string
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
	DiskSizeGiB  int
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
	Note     string // description
}

// AdmissionCheck makes a workload wait for a ProvisioningRequest.
type AdmissionCheck struct {
	Name      string   // also of its ProvisioningRequestConfig
	Class     string   // provisioning class
	Resources []string // resources that need the request, nil for all
	Topology  string   // of the TPU slice that is asked for, "" without
}

// Cohort groups ClusterQueues and cohorts that lend to each other.
type Cohort struct{ Name, Parent string }

// Team is a tenant.
type Team struct {
	Name        string
	Namespace   string
	Cohort      string         // "" for none
	Group       string         // Google group of its members, "" for none
	KubeAccount string         // Kubernetes service account of its jobs
	Account     ServiceAccount // Google service account behind it
	Bucket      string         // Cloud Storage bucket, "" for none
	Queues      []Queue        // by tier
}

// Queue is a team's share of one tier: a ClusterQueue, and the LocalQueue
// through which the team's namespace uses it.
type Queue struct {
	Tier         string
	ClusterQueue string
	LocalQueue   string
	Strategy     string // StrictFIFO or BestEffortFIFO
	Preempts     bool
	Resources    []string      // covered resources, in the order of every FlavorQuota
	Flavors      []FlavorQuota // in the order in which they are tried
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
	// to borrow from.
	Borrowing *resource.Quantity
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
	Pods          int
	// Slices are the TPU slices a copy runs on, each with an equal share of
	// Pods, one for each host; 0 without multi-host TPUs.
	Slices       int
	Requests     []Amount // of each pod; but for cpu also its limits
	Image        string
	Command      []string   // nil leaves it to the image
	Env          []KeyValue // by name
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
	// MaxRunSeconds bounds the run: what the workload asks for, and what its
	// flex-start nodes last. 0 for no bound.
	MaxRunSeconds int
	// Queued tells that some capacity of the queue starts nodes on request, for
	// MaxRunSeconds.
	Queued bool
	// GraceSeconds is how long a pod may take to stop; 0 leaves the default.
	GraceSeconds int
}

// Monitoring says what is watched.
type Monitoring struct {
	NotificationChannels []string // full resource names
	Grafana              bool
	GrafanaNamespace     string
	Alerts               []Alert // by group, then name
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
	StateBucket string
	StatePrefix string
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
