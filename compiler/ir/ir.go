// Package ir defines the plan: a platform in which every default is filled in, every
// reference is resolved and every derived name is decided.
//
// The compiler lowers a checked blueprint into one Platform; each emitter reads the
// Platform and renders its own format. The plan knows nothing of CUE, HCL or YAML.
// Amounts are Kubernetes quantities, because a quantity has one canonical form.
//
// Every slice is in the order in which it must be written: by name, unless its
// comment says otherwise. Emitters never sort and never change a plan.
package ir

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Platform is one cluster with all that belongs to it.
type Platform struct {
	Name    string   // name of the deploy folder and the cluster, and prefix of derived names
	Project string   // project ID
	Region  string   // region of the control plane
	Zones   []string // zones of the nodes, sorted
	// Labels are the administrator's labels of all Google Cloud resources and of the
	// teams' namespaces, by key.
	Labels []KeyValue

	Versions Versions
	// Defects are the known defects of the releases of Kueue and JobSet that the platform
	// uses, by name.
	Defects    []string
	Scheduler  Scheduler
	Network    Network
	Images     Images
	Cluster    Cluster
	Security   Security
	SystemPool SystemPool

	// NodeAccount is the service account of every node.
	NodeAccount ServiceAccount
	// JobRoles are the project roles that every pod of the cluster holds through its
	// Kubernetes service account, sorted.
	JobRoles []string

	// Capacities are the capacities whose nodes the platform obtains, including the
	// auto-provisioned ones.
	Capacities []Capacity
	// ExistingCapacities are the capacities whose nodes others own: only queues, and the
	// jobs in them, know them.
	ExistingCapacities []Capacity
	Topologies         []Topology
	// AutoProvisioning bounds the nodes that GKE may create by itself.
	AutoProvisioning AutoProvisioning

	PriorityClasses []PriorityClass // by rising value
	// WorkloadPriorities are the WorkloadPriorityClasses of all tiers, sorted by name.
	WorkloadPriorities []WorkloadPriority
	AdmissionChecks    []AdmissionCheck
	Cohorts            []Cohort // parents before children
	KueueSettings      KueueSettings
	SharedQueues       []SharedQueue // by tier
	Teams              []Team
	Workloads          []Workload // by team, then name, then copy

	Monitoring Monitoring
	// Own holds the administrator's own manifests, nil if the blueprint does not have the
	// field.
	Own      *OwnManifests
	Delivery Delivery
	Demand   Demand

	// Demonstration holds the phases in which the platform is shown, in their order.
	Demonstration []Phase
	// Rehearsals are the rehearsals of the blueprint, by name.
	Rehearsals []Rehearsal

	// Notes are further remarks of the administrator: paragraphs, in the order of
	// the blueprint.
	Notes []string
}

// Versions are release numbers without a leading v.
type Versions struct {
	Kueue, JobSet, KAI, Helm, GIB, Terraform, GoogleProvider, Gcloud string
	// SHA256 holds the digests of the downloads at these versions.
	SHA256 Pins
}

// Pins holds SHA-256 digests in hexadecimal: of the manifests of Kueue and JobSet, of
// their charts, and of the images of Helm, Terraform and the Google Cloud CLI. An unknown
// digest is "".
type Pins struct {
	Kueue, JobSet, KueueChart, JobSetChart, Helm, Terraform, Gcloud string
	// GoogleProvider are the digests of the archives of the provider, each for one of the
	// platforms on which Terraform runs. It is nil if none is known.
	GoogleProvider []string
}

// Cluster is the GKE cluster. For a cluster that others own, Description, ReleaseChannel,
// MinVersion, AuthorizedNetworks, DeletionProtection, Filestore, GCSFuse, Maintenance and Metrics have
// their zero values, and so has Platform.SystemPool.
type Cluster struct {
	Name               string
	Location           string           // region or zone of the control plane
	Existing           *ExistingCluster // nil if the platform creates the cluster
	Description        string           // "" for none
	ReleaseChannel     string
	MinVersion         string       // version that a new cluster starts with; "" leaves it to the release channel
	AuthorizedNetworks []NamedRange // if empty, the IP endpoint has no public address
	DNSEndpoint        bool         // reachable from outside the VPC
	SecurityGroup      string       // "" switches Google Groups for RBAC off
	DeletionProtection bool
	TakeOver           *TakeOver // nil for a cluster that the platform creates
	MultiNetworking    bool      // nodes can have networks besides the cluster's own
	ImageStreaming     bool
	Filestore, GCSFuse bool // CSI drivers
	Maintenance        Maintenance
	// Metrics are the components of GKE whose metrics Cloud Monitoring collects,
	// as monitoring_config.enable_components names them.
	Metrics []string
}

// Security holds the cluster's security settings beyond the safe defaults.
type Security struct {
	KMSKey              string // key of boot disks and etcd, "" for keys that Google manages
	BinaryAuthorization bool   // the project's policy decides which images are admitted
	FlowLogs            bool   // flow logs of the cluster's subnet
	FirewallLogs        bool   // logs of the connections that firewall rules allow
	NoSerialPortLogs    bool   // Cloud Logging gets no output of the nodes' serial ports
	IntraNodeVisibility bool   // packets between pods of a node pass through the VPC network
	BulletinTopic       string // Pub/Sub topic of GKE's notifications, "" for none
	Posture             bool   // GKE reports insecure settings of workloads
	DataAccessLogs      bool   // audit logs of data access in GKE and Cloud Storage, for the whole project
}

// NamedRange is a CIDR range with a name.
type NamedRange struct{ Name, CIDR string }

// Maintenance is a weekly window, with exclusions.
type Maintenance struct {
	Days  []string // MO..SU, as in the blueprint
	Start string   // hh:mm, UTC
	Hours int      // length of the window

	Exclusions []Exclusion
}

// Exclusion is a period in which GKE does not upgrade.
type Exclusion struct {
	Name       string
	Start, End string // days, from 00:00 UTC to 00:00 UTC
	Scope      string // as GKE's API spells it
}

// SystemPool is the node pool for all pods except the teams' jobs.
type SystemPool struct {
	Name         string
	Machine      string  // machine type
	Family       string  // machine family
	VCPUs        int     // of one node
	MemoryGiB    float64 // of one node
	DiskType     string
	DiskSizeGiB  int // GiB
	NodesPerZone int
	// MaxNodesPerZone is the maximum if the autoscaler sizes the pool, otherwise 0.
	MaxNodesPerZone int
	CountsNoSSDs    bool // see Machine.CountsNoSSDs
}

// Scales reports whether the autoscaler sizes the pool.
func (s SystemPool) Scales() bool { return s.MaxNodesPerZone > 0 }

// MostPerZone returns the largest number of nodes in a zone.
func (s SystemPool) MostPerZone() int { return max(s.NodesPerZone, s.MaxNodesPerZone) }

// HasGroups reports whether at least one team has a Google group that the cluster
// knows.
func (p *Platform) HasGroups() bool {
	return p.Cluster.SecurityGroup != "" && slices.ContainsFunc(p.Teams, func(t Team) bool { return t.Group != "" })
}

// MemberAccounts returns the members of all teams that are not in a Google group as
// far as the platform knows, as in Team.Members, each once, sorted.
func (p *Platform) MemberAccounts() []string {
	var out []string
	for _, t := range p.Teams {
		out = append(out, t.Members...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// HasMembers reports whether somebody besides the administrators of the cluster
// submits jobs.
func (p *Platform) HasMembers() bool { return p.HasGroups() || len(p.MemberAccounts()) > 0 }

// BucketsWithData returns the buckets that Terraform deletes with their objects if deleted is
// true, otherwise those that it does not delete while they hold objects.
func (p *Platform) BucketsWithData(deleted bool) []string {
	var buckets []string
	for _, t := range p.Teams {
		if t.Bucket != "" && t.DeletesBucketData == deleted {
			buckets = append(buckets, t.Bucket)
		}
	}
	return buckets
}

// HasBuckets reports whether at least one team has a bucket.
func (p *Platform) HasBuckets() bool {
	return slices.ContainsFunc(p.Teams, func(t Team) bool { return t.Bucket != "" })
}

// HasTeamAccounts reports whether the jobs of at least one team act as a Google service
// account.
func (p *Platform) HasTeamAccounts() bool {
	return slices.ContainsFunc(p.Teams, func(t Team) bool { return t.Account != nil })
}

// TeamsWithAccount returns the teams whose jobs act as a Google service account, in
// the order of Teams.
func (p *Platform) TeamsWithAccount() []Team {
	return slices.DeleteFunc(slices.Clone(p.Teams), func(t Team) bool { return t.Account == nil })
}

// OwnAccounts returns the teams whose jobs act as a Google service account of the
// platform, in the order of Teams.
func (p *Platform) OwnAccounts() []Team {
	return slices.DeleteFunc(p.TeamsWithAccount(), func(t Team) bool { return t.Account.Address != "" })
}

// ForeignAccounts returns the teams whose jobs act as a Google service account that
// belongs to somebody else, in the order of Teams.
func (p *Platform) ForeignAccounts() []Team {
	return slices.DeleteFunc(p.TeamsWithAccount(), func(t Team) bool { return t.Account.Address == "" })
}

// ServiceAccount is a Google service account.
type ServiceAccount struct {
	ID      string   // account_id: the part before the @
	Display string   // display name
	Roles   []string // roles on the project
}

// Email returns the account's email address in a project.
func (a ServiceAccount) Email(project string) string {
	return a.ID + "@" + project + ".iam.gserviceaccount.com"
}

// RequiredNodeRoles returns the roles that the nodes' service account always has: those
// that GKE demands, and the rights to pull and to stream the teams' images (GKE
// documentation: "Configure GKE node service accounts", "Use Image streaming").
func RequiredNodeRoles() []string {
	return []string{
		"roles/artifactregistry.reader",
		"roles/container.defaultNodeServiceAccount",
		"roles/serviceusage.serviceUsageConsumer",
	}
}

// NodeRoles returns the roles of the nodes' service account that the blueprint adds to
// RequiredNodeRoles.
func (p *Platform) NodeRoles() []string {
	required := RequiredNodeRoles()
	return slices.DeleteFunc(slices.Clone(p.NodeAccount.Roles),
		func(role string) bool { return slices.Contains(required, role) })
}

// Capacity is a hardware class that is obtained through one consumption option. It
// stands for one node pool, for one pool for each TPU slice, or for the pools that
// GKE may create by itself. One ResourceFlavor represents it.
type Capacity struct {
	Name     string // name of the node pool or ComputeClass
	Hardware string // name of the hardware class in the blueprint, "" if nobody knows the nodes
	Machine  Machine
	Option   Option
	Zones    []string // sorted

	// Static reports whether the number of nodes is fixed (MaxNodes). If not, the
	// pool scales between MinNodes and MaxNodes. Counts are totals over all zones.
	Static             bool
	MinNodes, MaxNodes int

	// Slices is the number of TPU slices of a capacity with multi-host TPUs; it is 0
	// for any other capacity. The slices are alike, and each is a separate node
	// pool. If the capacity is Static, all slices always exist; otherwise each has
	// either all its nodes or none.
	Slices int

	// AutoProvisioned reports whether the capacity has no node pool of its own: GKE
	// creates pools for pods that ask for such nodes by their labels.
	AutoProvisioned bool
	// ComputeClass reports whether GKE creates the pools for pods that select the
	// ComputeClass with the capacity's name. Such a capacity has no node pool of its
	// own either.
	ComputeClass bool
	// TakeOver says that the capacity's node pools exist already; nil for pools that the
	// platform creates.
	TakeOver *TakeOver
	// Kept are the settings of nodes that stay as they are after a takeover, sorted.
	Kept []KeptSetting
	// KeepsVersion reports whether GKE upgrades the capacity's pools only when
	// support for their version ends.
	KeepsVersion bool
	// Unrepaired reports whether GKE does not repair the nodes.
	Unrepaired bool
	// Compact reports whether the nodes are placed close together, in one zone. The
	// nodes of a multi-host TPU slice are always close together, and Compact is
	// false for them.
	Compact bool

	// Reservation is the reservation that the nodes come from, or nil if the Option
	// names none.
	Reservation *ReservationUse
	// MaxRunSeconds bounds the lifetime of a node. 0 means no bound.
	MaxRunSeconds int
	// Waiting reports whether the capacity's reservation has not begun. The pool
	// then has no nodes and does not scale; everything else is already as it will be
	// when the reservation begins.
	Waiting bool

	DiskType    string
	DiskSizeGiB int
	LocalSSDs   int    // requested as ephemeral storage, in addition to Machine.BundledSSDs
	GPUDriver   string // DEFAULT, LATEST or DISABLED; "" without GPUs

	// GPUDirect is the transport between the GPUs of different nodes that bypasses
	// the CPUs, "" for none.
	GPUDirect GPUDirect
	// Networks are the nodes' networks in addition to the cluster's own, named as in
	// GPUSubnet.Network, in the order of the nodes' devices.
	Networks []string

	// OwnLabels and OwnTaints are the labels and taints of the nodes that the blueprint
	// sets. They are also in the four lists below.
	OwnLabels []KeyValue
	OwnTaints []Taint
	// PoolLabels are the node labels that the pool sets itself, in addition to those
	// that GKE adds.
	PoolLabels []KeyValue
	// NodeLabels distinguish the nodes of this capacity from all others, unless the
	// blueprint says by which labels Kueue selects them. They are the ResourceFlavor's
	// labels. GKE sets some of them; the others are PoolLabels.
	NodeLabels []KeyValue
	// GKELabels are those labels of the nodes that GKE sets and that distinguish them.
	GKELabels []KeyValue
	// PoolTaints are the taints that the pool sets itself.
	PoolTaints []Taint
	// NodeTaints are all taints of the nodes. Of nodes that others own, they are the taints
	// of the ResourceFlavor.
	NodeTaints []Taint
	// Flavor is the ResourceFlavor of the capacity, whose labels are NodeLabels.
	Flavor Flavor

	// Retries is how often a queued request for nodes that fails is repeated.
	Retries int
	// Retry are the pauses before the retries.
	Retry RetryPauses
	// AdmissionCheck is the name of the check that a workload must pass before it
	// starts on this capacity, or "".
	AdmissionCheck string

	// PerNode holds the amounts that one node offers to pods, after GKE's
	// reservations: cpu, memory, then accelerators if the machine has any.
	PerNode []Amount
	// SystemPods holds the cpu and memory that GKE's own pods request on each node, as far
	// as they are known: Google does not publish them.
	SystemPods []Amount
	// Guaranteed is the sum of all teams' nominal quotas, in the resources and the
	// order of PerNode.
	Guaranteed []Amount
	// Overcommit is the administrator's reason why Guaranteed may exceed what the nodes
	// hold, or "" if there is none.
	Overcommit string
}

// Flavor is how Kueue sees the nodes of a capacity, in addition to their labels.
type Flavor struct {
	Name string
	// Differs reports whether the blueprint says something else of its labels, taints or
	// tolerations than what follows from the nodes.
	Differs bool
	// Taints are the taints that a job must tolerate by itself to get the flavor.
	Taints []Taint
	// Tolerations are those that Kueue adds to a job with the flavor, in the order of the
	// blueprint, or of the taints of the nodes.
	Tolerations []Toleration
	Topology    string // name of the topology of the nodes, "" for none
}

// Topology is how near nodes are to each other: labels of nodes, from that of the widest group of
// nodes to that of the narrowest.
type Topology struct {
	Name   string
	Levels []string
}

// Toleration is a toleration of taints of nodes. An empty Key or Effect stands for every one.
type Toleration struct {
	Key, Operator, Value, Effect string
	Seconds                      *int64 // that a pod stays on a node with such a taint; nil for ever
}

// GPUDirect is the transport between the GPUs of different nodes.
type GPUDirect string

// The transports. Source: GKE documentation, "Maximize GPU network bandwidth in
// Standard mode clusters".
const (
	TCPX  GPUDirect = "TCPX"  // for a3-highgpu-8g: four networks
	TCPXO GPUDirect = "TCPXO" // for a3-megagpu-8g: eight networks
	// for a3-ultragpu-8g and A4: nine networks, eight of them RDMA; for A4X through
	// AcceleratorNetworks
	RDMA GPUDirect = "RDMA"
)

// Machine holds the catalogue's facts of a machine type, and the settings that the
// hardware class adds.
type Machine struct {
	Type             string
	Family           string
	VCPUs            int
	MemoryGiB        float64
	Arm              bool   // runs images for arm64, and only pods that tolerate its taint
	Accelerator      string // GKE accelerator type, "" without accelerators
	AcceleratorCount int
	Resource         string // Kubernetes resource of the accelerator, "" without accelerators
	Slice            *Slice // nil without TPUs
	BundledSSDs      int    // local SSDs that come with every machine
	SSDSizeGB        int    // size of each local SSD
	// PlacementTopology is the accelerator topology that a workload policy must name
	// so that the nodes are linked with each other, or "".
	PlacementTopology string
	// AcceleratorNetworks reports whether GKE itself attaches the accelerators'
	// networks to the nodes, so that pods claim them by dynamic resource allocation.
	AcceleratorNetworks bool
	// LinkedNodes is the number of machines that NVLink joins, 0 for none.
	LinkedNodes int
	// SteadyGPUs reports whether healthy GPUs stay above 1 GHz under any load.
	SteadyGPUs bool
	// CountsNoSSDs reports whether GKE fills in a count of local SSDs for a node
	// pool that has none.
	CountsNoSSDs bool
	// TPUType is Cloud TPU's name for the slices, such as "v5litepod-16", "" without
	// TPUs.
	TPUType string
}

// Slice is the shape of a TPU slice.
type Slice struct {
	Topology string // such as "4x4"
	Chips    int
	Hosts    int // nodes; if above 1, the slice is a node pool with either all its nodes or none
}

// ReservationUse says which reservation a capacity consumes.
type ReservationUse struct {
	Name            string
	Create          bool   // the platform creates the reservation
	Owner           string // project that owns the reservation, "" for the platform's own project
	Block, SubBlock string // part of the reservation, "" for all of it
	Kind            string // standard, future or CalendarReservation
	Days            int    // length of a calendar reservation, 0 if not given
}

// KeyValue is a pair of a name and a value, such as a label.
type KeyValue struct{ Key, Value string }

// Taint is a node taint. Effect is spelt as in Kubernetes ("NoSchedule").
type Taint struct{ Key, Value, Effect string }

// Amount is a quantity of a resource.
type Amount struct {
	Resource string // "cpu", "memory", "nvidia.com/gpu"
	Quantity resource.Quantity
}

// AutoProvisioning bounds node auto-provisioning.
type AutoProvisioning struct {
	Profile string // OPTIMIZE_UTILIZATION or BALANCED
	// Create reports whether GKE may create node pools: GKE creates the pools of
	// some capacity, or the blueprint gives limits. Otherwise only the profile
	// applies.
	Create bool
	Limits []ResourceLimit // cpu, memory, then accelerator types by name
}

// ResourceLimit bounds a resource in the whole cluster.
type ResourceLimit struct {
	Type     string // "cpu", "memory" (GiB), or a GKE accelerator type
	Min, Max int
}
