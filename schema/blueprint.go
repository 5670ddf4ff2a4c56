package schema

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Blueprint is a checked blueprint: #Blueprint with every default filled in. A
// pointer is nil if the blueprint omits the optional field.
type Blueprint struct {
	Name         string                  `json:"name"`
	Project      string                  `json:"project"`
	Region       string                  `json:"region"`
	Zones        []string                `json:"zones"`
	Labels       map[string]string       `json:"labels"`
	Cluster      Cluster                 `json:"cluster"`
	Network      Network                 `json:"network"`
	Images       Images                  `json:"images"`
	Security     Security                `json:"security"`
	Organisation Organisation            `json:"organisation"`
	Versions     Versions                `json:"versions"`
	Scheduler    string                  `json:"scheduler"`
	Hardware     map[string]Hardware     `json:"hardware"`
	Topologies   map[string]NodeTopology `json:"topologies"`
	Capacity     map[string]Capacity     `json:"capacity"`
	Tiers        map[string]Tier         `json:"tiers"`
	Cohorts      map[string]Cohort       `json:"cohorts"`
	Teams        map[string]Team         `json:"teams"`
	Workloads    map[string]Workload     `json:"workloads"`

	Demonstration []Phase              `json:"demonstration"`
	Rehearsals    map[string]Rehearsal `json:"rehearsals"`

	Monitoring Monitoring        `json:"monitoring"`
	Kueue      Kueue             `json:"kueue"`
	Delivery   Delivery          `json:"delivery"`
	Notes      []string          `json:"notes"`
	Accept     map[string]string `json:"accept"`
}

// Cluster mirrors #Cluster.
type Cluster struct {
	Existing           *ExistingCluster  `json:"existing"`
	Description        *string           `json:"description"`
	ReleaseChannel     string            `json:"releaseChannel"`
	MinVersion         *string           `json:"minVersion"`
	AuthorizedNetworks map[string]string `json:"authorizedNetworks"`
	DNSEndpoint        bool              `json:"dnsEndpoint"`
	SecurityGroup      *string           `json:"securityGroup"`
	DeletionProtection bool              `json:"deletionProtection"`
	TakeOver           *ClusterTakeOver  `json:"takeOver"`
	MultiNetworking    *bool             `json:"multiNetworking"`
	Nodes              NodeIdentity      `json:"nodes"`
	ImageStreaming     bool              `json:"imageStreaming"`
	CSIDrivers         CSIDrivers        `json:"csiDrivers"`
	Maintenance        Maintenance       `json:"maintenance"`
	SystemPool         SystemPool        `json:"systemPool"`
	AutoProvisioning   AutoProvisioning  `json:"autoProvisioning"`
	Accept             map[string]string `json:"accept"`
}

// NodeIdentity mirrors #NodeIdentity.
type NodeIdentity struct {
	ServiceAccount *string  `json:"serviceAccount"`
	Roles          []string `json:"roles"`
}

// ExistingCluster mirrors #ExistingCluster.
type ExistingCluster struct {
	Name     string          `json:"name"`
	Location *string         `json:"location"`
	Version  string          `json:"version"`
	Has      ClusterHas      `json:"has"`
	Kueue    *ExistingKueue  `json:"kueue"`
	JobSet   *ExistingJobSet `json:"jobset"`
}

// ExistingJobSet mirrors #ExistingCluster.jobset.
type ExistingJobSet struct {
	Version string `json:"version"`
}

// ClusterHas mirrors #ExistingCluster.has.
type ClusterHas struct {
	DataplaneV2       bool            `json:"dataplaneV2"`
	WorkloadIdentity  bool            `json:"workloadIdentity"`
	MultiNetworking   bool            `json:"multiNetworking"`
	DNSEndpoint       bool            `json:"dnsEndpoint"`
	ManagedPrometheus bool            `json:"managedPrometheus"`
	SecurityGroup     *string         `json:"securityGroup"`
	AutoProvisioning  *ExistingLimits `json:"autoProvisioning"`
}

// ExistingLimits mirrors #ExistingCluster.has.autoProvisioning.
type ExistingLimits struct {
	MaxCPU       int            `json:"maxCPU"`
	MaxMemoryGiB int            `json:"maxMemoryGiB"`
	Accelerators map[string]int `json:"accelerators"`
}

// ExistingKueue mirrors #ExistingKueue.
type ExistingKueue struct {
	Version         string            `json:"version"`
	Frameworks      []string          `json:"frameworks"`
	NamespaceLabels map[string]string `json:"namespaceLabels"`

	FairSharing          bool `json:"fairSharing"`
	AdmissionFairSharing bool `json:"admissionFairSharing"`
}

// Kueue mirrors #Kueue.
type Kueue struct {
	FairSharing          *FairSharing          `json:"fairSharing"`
	AdmissionFairSharing *AdmissionFairSharing `json:"admissionFairSharing"`
	WaitForPodsReady     WaitForPodsReady      `json:"waitForPodsReady"`
	Accept               map[string]string     `json:"accept"`
}

// FairSharing mirrors #Kueue.fairSharing.
type FairSharing struct {
	Strategies []string `json:"strategies"`
}

// AdmissionFairSharing mirrors #Kueue.admissionFairSharing.
type AdmissionFairSharing struct {
	HalfLife  string             `json:"halfLife"`
	Interval  string             `json:"interval"`
	Resources map[string]float64 `json:"resources"`
}

// WaitForPodsReady mirrors #Kueue.waitForPodsReady.
type WaitForPodsReady struct {
	Timeout  string `json:"timeout"`
	Recovery string `json:"recovery"`
	Blocks   bool   `json:"blocks"`
	Place    string `json:"place"`
	Limit    *int   `json:"limit"`
	First    string `json:"first"`
	Longest  string `json:"longest"`
}

// ClusterTakeOver mirrors #ClusterTakeOver.
type ClusterTakeOver struct {
	From *string `json:"from"`
}

// CSIDrivers mirrors #Cluster.csiDrivers.
type CSIDrivers struct {
	Filestore bool `json:"filestore"`
	GCSFuse   bool `json:"gcsFuse"`
}

// Maintenance mirrors #Maintenance.
type Maintenance struct {
	Days  []string `json:"days"`
	Start string   `json:"start"` // hh:mm, UTC
	Hours int      `json:"hours"`

	Exclusions map[string]Exclusion `json:"exclusions"`
}

// Exclusion mirrors #Exclusion.
type Exclusion struct {
	Start string `json:"start"` // yyyy-mm-dd
	End   string `json:"end"`   // yyyy-mm-dd
	Scope string `json:"scope"`
}

// SystemPool mirrors #SystemPool.
type SystemPool struct {
	Machine         string `json:"machine"`
	NodesPerZone    int    `json:"nodesPerZone"`
	MaxNodesPerZone *int   `json:"maxNodesPerZone"`
	Disk            Disk   `json:"disk"`
}

// AutoProvisioning mirrors #AutoProvisioning.
type AutoProvisioning struct {
	Profile      string         `json:"profile"`
	MaxCPU       *int           `json:"maxCPU"`
	MaxMemoryGiB *int           `json:"maxMemoryGiB"`
	Accelerators map[string]int `json:"accelerators"`
}

// Network mirrors #Network: IPv4 ranges in CIDR notation. ControlPlane is
// ControlPlaneInSubnet or a range.
type Network struct {
	Existing     *ExistingNetwork  `json:"existing"`
	Name         *string           `json:"name"`
	Subnet       *string           `json:"subnet"`
	Nodes        string            `json:"nodes"`
	Pods         string            `json:"pods"`
	Services     string            `json:"services"`
	ControlPlane string            `json:"controlPlane"`
	GVNIC        string            `json:"gvnic"`
	RDMA         string            `json:"rdma"`
	TCPX         string            `json:"tcpx"`
	Accept       map[string]string `json:"accept"`
}

// ControlPlaneInSubnet is the value of Network.ControlPlane for a control plane that
// has its private address in a subnet, and no range of its own.
const ControlPlaneInSubnet = "subnet"

// ExistingNetwork mirrors #ExistingNetwork.
type ExistingNetwork struct {
	Project            *string          `json:"project"`
	Network            string           `json:"network"`
	Subnet             string           `json:"subnet"`
	Pods               string           `json:"pods"`
	Services           string           `json:"services"`
	NAT                bool             `json:"nat"`
	Ranges             ExistingRanges   `json:"ranges"`
	ControlPlane       *string          `json:"controlPlane"`
	ControlPlaneSubnet *string          `json:"controlPlaneSubnet"`
	GVNIC              *ExistingSubnet  `json:"gvnic"`
	RDMA               *ExistingRDMA    `json:"rdma"`
	TCPX               []ExistingSubnet `json:"tcpx"`
}

// ExistingRanges mirrors #ExistingNetwork.ranges. A nil range is unknown.
type ExistingRanges struct {
	Nodes    *string `json:"nodes"`
	Pods     *string `json:"pods"`
	Services *string `json:"services"`
}

// ExistingSubnet mirrors #ExistingSubnet.
type ExistingSubnet struct {
	Network string `json:"network"`
	Subnet  string `json:"subnet"`
}

// ExistingRDMA mirrors #ExistingNetwork.rdma.
type ExistingRDMA struct {
	Network string   `json:"network"`
	Subnets []string `json:"subnets"`
}

// Images mirrors #Images.
type Images struct {
	Mirror    *string           `json:"mirror"`
	Manifests *string           `json:"manifests"`
	Accept    map[string]string `json:"accept"`
}

// Security mirrors #Security.
type Security struct {
	KMSKey              *string           `json:"kmsKey"`
	BinaryAuthorization bool              `json:"binaryAuthorization"`
	FlowLogs            bool              `json:"flowLogs"`
	FirewallLogs        bool              `json:"firewallLogs"`
	IntraNodeVisibility bool              `json:"intraNodeVisibility"`
	NoSerialPortLogs    bool              `json:"noSerialPortLogs"`
	BulletinTopic       *string           `json:"bulletinTopic"`
	Posture             bool              `json:"posture"`
	DataAccessLogs      bool              `json:"dataAccessLogs"`
	Accept              map[string]string `json:"accept"`
}

// Organisation mirrors #Organisation.
type Organisation struct {
	Policies []string          `json:"policies"`
	Accept   map[string]string `json:"accept"`
}

// Versions mirrors #Versions.
type Versions struct {
	Kueue          string            `json:"kueue"`
	JobSet         string            `json:"jobset"`
	KAI            string            `json:"kai"`
	Helm           string            `json:"helm"`
	GIB            string            `json:"gib"`
	Terraform      string            `json:"terraform"`
	GoogleProvider string            `json:"googleProvider"`
	Gcloud         string            `json:"gcloud"`
	SHA256         Pins              `json:"sha256"`
	Accept         map[string]string `json:"accept"`
}

// Pins mirrors #Versions.sha256. A SHA-256 that the blueprint does not set is nil.
type Pins struct {
	Kueue       *string `json:"kueue"`
	JobSet      *string `json:"jobset"`
	KueueChart  *string `json:"kueueChart"`
	JobSetChart *string `json:"jobsetChart"`
	Helm        *string `json:"helm"`
	Terraform   *string `json:"terraform"`
	Gcloud      *string `json:"gcloud"`

	GoogleProvider []string `json:"googleProvider"`
}

// Hardware mirrors #Hardware.
type Hardware struct {
	Machine        string            `json:"machine"`
	GPUs           *GPUs             `json:"gpus"`
	Topology       *string           `json:"topology"`
	LocalSSDs      int               `json:"localSSDs"`
	PerAccelerator *PerAccelerator   `json:"perAccelerator"`
	Disk           Disk              `json:"disk"`
	GPUDirect      bool              `json:"gpuDirect"`
	GPUDriver      string            `json:"gpuDriver"`
	Accept         map[string]string `json:"accept"`
}

// Attached returns the type and the number of the GPUs that are attached to each
// machine, or "" and 0 if there are none.
func (h Hardware) Attached() (accelerator string, count int) {
	if h.GPUs == nil {
		return "", 0
	}
	return h.GPUs.Type, h.GPUs.Count
}

// GPUs mirrors #Hardware.gpus.
type GPUs struct {
	Type  string `json:"type"`
	Count int    `json:"count"`
}

// PerAccelerator mirrors #Hardware.perAccelerator.
type PerAccelerator struct {
	CPU    float64 `json:"cpu"`
	Memory string  `json:"memory"`
}

// Disk mirrors #Disk.
type Disk struct {
	Type    *string `json:"type"`
	SizeGiB int     `json:"sizeGiB"`
}

// Capacity mirrors #Capacity.
type Capacity struct {
	Hardware        *string           `json:"hardware"`
	Consumption     Consumption       `json:"consumption"`
	Nodes           *int              `json:"nodes"`
	MaxNodes        *int              `json:"maxNodes"`
	MinNodes        int               `json:"minNodes"`
	Slices          *int              `json:"slices"`
	MaxSlices       *int              `json:"maxSlices"`
	Zones           []string          `json:"zones"`
	Placement       string            `json:"placement"`
	Upgrades        *string           `json:"upgrades"`
	AutoRepair      bool              `json:"autoRepair"`
	NodeLabels      map[string]string `json:"nodeLabels"`
	NodeTaints      []NodeTaint       `json:"nodeTaints"`
	AutoProvisioned bool              `json:"autoProvisioned"`
	ComputeClass    bool              `json:"computeClass"`
	TakeOver        *PoolTakeOver     `json:"takeOver"`
	Flavor          *Flavor           `json:"flavor"`
	Accept          map[string]string `json:"accept"`
}

// NodeTaint mirrors #NodeTaint.
type NodeTaint struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Effect string `json:"effect"`
}

// PoolTakeOver mirrors #PoolTakeOver.
type PoolTakeOver struct {
	From *string  `json:"from"`
	Keep []string `json:"keep"`
}

// Overcommitted is the code of the finding that queues guarantee more of a capacity
// than it holds.
const Overcommitted = "E0602"

// OvercommitReason returns the administrator's reason for accepting Overcommitted,
// "" if it is not accepted.
func (c Capacity) OvercommitReason() string { return c.Accept[Overcommitted] }

// Flavor mirrors #Flavor. Nil maps and slices stand for the defaults.
type Flavor struct {
	Name        *string           `json:"name"`
	NodeLabels  map[string]string `json:"nodeLabels"`
	NodeTaints  []NodeTaint       `json:"nodeTaints"`
	Tolerations []Toleration      `json:"tolerations"`
	Topology    *string           `json:"topology"`
}

// NodeTopology mirrors #NodeTopology.
type NodeTopology struct {
	Levels []string          `json:"levels"`
	Accept map[string]string `json:"accept"`
}

// Toleration mirrors #Toleration.
type Toleration struct {
	Key      *string `json:"key"`
	Operator string  `json:"operator"`
	Value    *string `json:"value"`
	Effect   *string `json:"effect"`
	Seconds  *int64  `json:"seconds"`
}

// HardwareClass returns the name of the hardware, "" if the capacity has none.
func (c Capacity) HardwareClass() string {
	if c.Hardware == nil {
		return ""
	}
	return *c.Hardware
}

// Consumption mirrors #Consumption: exactly one field is not nil.
type Consumption struct {
	OnDemand       *struct{}       `json:"onDemand"`
	Spot           *struct{}       `json:"spot"`
	Reservation    *Reservation    `json:"reservation"`
	AnyReservation *AnyReservation `json:"anyReservation"`
	FlexStart      *FlexStart      `json:"flexStart"`
	Existing       *struct{}       `json:"existing"`
}

// Reservation mirrors #Reservation.
type Reservation struct {
	Name     string  `json:"name"`
	Create   bool    `json:"create"`
	Project  *string `json:"project"`
	Block    *string `json:"block"`
	SubBlock *string `json:"subBlock"`
	Kind     string  `json:"kind"`
	Days     *int    `json:"days"`
	Active   bool    `json:"active"`
}

// AnyReservation mirrors #AnyReservation.
type AnyReservation struct {
	Otherwise string `json:"otherwise"`
}

// FlexStart mirrors #FlexStart.
type FlexStart struct {
	Queued         bool    `json:"queued"`
	Retries        int     `json:"retries"`
	Retry          *Retry  `json:"retry"`
	AdmissionCheck *string `json:"admissionCheck"`
	MaxRunSeconds  int     `json:"maxRunSeconds"`
}

// Retry mirrors #Retry.
type Retry struct {
	Limit   *int   `json:"limit"`
	First   string `json:"first"`
	Longest string `json:"longest"`
}

// Tier mirrors #Tier.
type Tier struct {
	Priority *int `json:"priority"`
	// Priorities are the PriorityClasses by name.
	Priorities map[string]TierPriority `json:"priorities"`
	// WorkloadPriorities are the values of the WorkloadPriorityClasses by name.
	WorkloadPriorities map[string]int `json:"workloadPriorities"`
	Default            bool           `json:"default"`
	Preempts           Preempts       `json:"preempts"`
	Capacity           []string       `json:"capacity"`
	Queueing           *string        `json:"queueing"`
	NextCapacity       NextCapacity   `json:"nextCapacity"`
	// AdmissionChecks are the checks of others by name.
	AdmissionChecks map[string]CheckedCapacities `json:"admissionChecks"`
	MaxGraceSeconds int                          `json:"maxGraceSeconds"`
	Shared          *Shared                      `json:"shared"`
	Namespaces      Namespaces                   `json:"namespaces"`
	Accept          map[string]string            `json:"accept"`
}

// Namespaces are the namespaces whose LocalQueues may use the ClusterQueues of a tier:
// those of its teams, unless another field is set.
type Namespaces struct {
	All, None  bool
	Labels     map[string]string
	Conditions []NamespaceCondition
}

// NamespaceCondition mirrors #NamespaceCondition.
type NamespaceCondition struct {
	Label  string   `json:"label"`
	In     []string `json:"in"`
	NotIn  []string `json:"notIn"`
	Exists *bool    `json:"exists"`
}

// UnmarshalJSON decodes "teams", "all", "none", an object of labels or a list of conditions.
func (n *Namespaces) UnmarshalJSON(in []byte) error {
	switch string(in) {
	case `"teams"`:
		*n = Namespaces{}
		return nil
	case `"all"`:
		*n = Namespaces{All: true}
		return nil
	case `"none"`:
		*n = Namespaces{None: true}
		return nil
	}
	if in[0] == '[' {
		return json.Unmarshal(in, &n.Conditions)
	}
	return json.Unmarshal(in, &n.Labels)
}

// Preempts mirrors #Preempts.
type Preempts struct {
	InQueue      string `json:"inQueue"`
	ToReclaim    string `json:"toReclaim"`
	ToBorrow     string `json:"toBorrow"`
	ToBorrowUpTo *int   `json:"toBorrowUpTo"`
}

// CheckedCapacities are the capacities on which jobs need an AdmissionCheck; nil for all.
type CheckedCapacities []string

// UnmarshalJSON decodes "all" or a list of capacities.
func (c *CheckedCapacities) UnmarshalJSON(in []byte) error {
	if string(in) == `"all"` {
		*c = nil
		return nil
	}
	return json.Unmarshal(in, (*[]string)(c))
}

// NextCapacity mirrors #NextCapacity.
type NextCapacity struct {
	BeforeBorrowing bool    `json:"beforeBorrowing"`
	BeforeEvicting  bool    `json:"beforeEvicting"`
	Prefer          *string `json:"prefer"`
}

// The values of NextCapacity.Prefer.
const (
	PreferBorrow = "borrow"
	PreferEvict  = "evict"
)

// TierPriority is the value of a PriorityClass, which others own if Existing is set.
type TierPriority struct {
	Value    int
	Existing bool
}

// UnmarshalJSON decodes a value, or an object with the value of a class of others.
func (p *TierPriority) UnmarshalJSON(in []byte) error {
	if in[0] != '{' {
		return json.Unmarshal(in, &p.Value)
	}
	object := struct{ Existing *int }{&p.Value}
	p.Existing = true
	return json.Unmarshal(in, &object)
}

// PriorityClass is a tier's PriorityClass.
type PriorityClass struct {
	Name     string
	Value    int
	Existing bool // others own it
}

// PriorityClasses returns the PriorityClasses of the tier with the given name,
// sorted by value, then by name. The first is the default class of jobs.
func (t Tier) PriorityClasses(name string) []PriorityClass {
	var out []PriorityClass
	if t.Priority != nil {
		out = append(out, PriorityClass{Name: name, Value: *t.Priority})
	}
	for name, p := range t.Priorities {
		out = append(out, PriorityClass{name, p.Value, p.Existing})
	}
	slices.SortFunc(out, func(a, b PriorityClass) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Shared mirrors #Shared.
type Shared struct {
	Teams        []string         `json:"teams"`
	ClusterQueue *string          `json:"clusterQueue"`
	Cohort       *string          `json:"cohort"`
	Quota        map[string]Quota `json:"quota"`
	Stop         *string          `json:"stop"`
	Weight       *float64         `json:"weight"`
	ByUsage      bool             `json:"byUsage"`
}

// Cohort mirrors #Cohort.
type Cohort struct {
	Parent   *string           `json:"parent"`
	Priority *int              `json:"priority"`
	Weight   *float64          `json:"weight"`
	Quota    *CohortQuota      `json:"quota"`
	Accept   map[string]string `json:"accept"`
}

// CohortQuota is the quota of a cohort itself: a number of GPUs, or quota by capacity.
type CohortQuota struct {
	GPUs       *int
	ByCapacity map[string]Quota // nil if GPUs is set
}

// UnmarshalJSON decodes a number, or an object of quotas.
func (q *CohortQuota) UnmarshalJSON(in []byte) error {
	if in[0] == '{' {
		return json.Unmarshal(in, &q.ByCapacity)
	}
	return json.Unmarshal(in, &q.GPUs)
}

// Exact returns the quota of the cohort by capacity, nil if it has none.
func (c Cohort) Exact() map[string]Quota {
	if c.Quota == nil {
		return nil
	}
	return c.Quota.ByCapacity
}

// Team mirrors #Team.
type Team struct {
	Namespace        *Namespace                  `json:"namespace"`
	Cohort           *string                     `json:"cohort"`
	Priority         *int                        `json:"priority"`
	Weight           *float64                    `json:"weight"`
	Group            *string                     `json:"group"`
	Members          []string                    `json:"members"`
	Bucket           Bucket                      `json:"bucket"`
	DeleteBucketData bool                        `json:"deleteBucketData"`
	NodesListBucket  bool                        `json:"nodesListBucket"`
	Roles            []string                    `json:"roles"`
	ServiceAccount   *string                     `json:"serviceAccount"`
	Allow            []string                    `json:"allow"`
	MaxJobs          int                         `json:"maxJobs"`
	Labels           map[string]string           `json:"labels"`
	Quota            map[string]map[string]Quota `json:"quota"`
	Queues           map[string]QueueNames       `json:"queues"`
	Accept           map[string]string           `json:"accept"`
}

// QueueNames mirrors #QueueNames.
type QueueNames struct {
	ClusterQueue *string `json:"clusterQueue"`
	LocalQueue   *string `json:"localQueue"`
	// LocalQueues are used instead of LocalQueue, by name.
	LocalQueues map[string]LocalQueue `json:"localQueues"`
	Stop        *string               `json:"stop"`
	Weight      *float64              `json:"weight"`
}

// LocalQueue mirrors #LocalQueue.
type LocalQueue struct {
	Weight *float64 `json:"weight"`
	Stop   *string  `json:"stop"`
}

// Quota mirrors #Quota.
type Quota struct {
	Accelerators *int   `json:"accelerators"`
	CPUs         *int   `json:"cpus"`
	Borrow       Borrow `json:"borrow"`
	Lend         *int   `json:"lend"`
	// Resources are the exact quotas, by resource.
	Resources map[string]ResourceQuota `json:"resources"`
}

// ByRatio reports whether cpu, memory and pods follow from the accelerators or vCPUs, except
// for Resources. Otherwise the quota counts only Resources.
func (q Quota) ByRatio() bool { return len(q.Resources) == 0 || q.Accelerators != nil || q.CPUs != nil }

// ResourceQuota is the exact quota of one resource. An amount that is not given is "".
type ResourceQuota struct {
	Guaranteed Quantity `json:"guaranteed"`
	Borrow     Quantity `json:"borrow"` // also BorrowAllOf
	Lend       Quantity `json:"lend"`
}

// BorrowAllOf means that everything that is idle of the resource may be borrowed.
const BorrowAllOf Quantity = "all"

// UnmarshalJSON decodes a guaranteed amount, or an object.
func (q *ResourceQuota) UnmarshalJSON(in []byte) error {
	if in[0] != '{' {
		return json.Unmarshal(in, &q.Guaranteed)
	}
	type object ResourceQuota
	return json.Unmarshal(in, (*object)(q))
}

// Quantity is an amount of a resource, as Kubernetes writes it.
type Quantity string

// UnmarshalJSON decodes a number or a string.
func (q *Quantity) UnmarshalJSON(in []byte) error {
	if in[0] == '"' {
		return json.Unmarshal(in, (*string)(q))
	}
	*q = Quantity(in)
	return nil
}

// Borrow is the amount that a quota may borrow, or BorrowAll.
type Borrow int

// BorrowAll means that the quota may borrow everything that is idle.
const BorrowAll Borrow = -1

// UnmarshalJSON decodes a number or "all".
func (b *Borrow) UnmarshalJSON(in []byte) error {
	if string(in) == `"all"` {
		*b = BorrowAll
		return nil
	}
	return json.Unmarshal(in, (*int)(b))
}

// Namespace is the name of a team's namespace. Existing reports whether others own it.
type Namespace struct {
	Name     string
	Existing bool
}

// UnmarshalJSON decodes a name, or {"existing": NAME}.
func (n *Namespace) UnmarshalJSON(in []byte) error {
	if in[0] == '"' {
		return json.Unmarshal(in, &n.Name)
	}
	var object struct {
		Existing string `json:"existing"`
	}
	err := json.Unmarshal(in, &object)
	*n = Namespace{Name: object.Existing, Existing: true}
	return err
}

// Bucket says whether a team has a bucket, and its name, which is "" for the default.
type Bucket struct {
	Wanted bool
	Name   string
}

// UnmarshalJSON decodes a boolean or a name.
func (b *Bucket) UnmarshalJSON(in []byte) error {
	if in[0] == '"' {
		b.Wanted = true
		return json.Unmarshal(in, &b.Name)
	}
	return json.Unmarshal(in, &b.Wanted)
}

// Workload mirrors #Workload.
type Workload struct {
	Tier          string               `json:"tier"`
	Capacity      []string             `json:"capacity"`
	Priority      *string              `json:"priority"`
	Teams         []string             `json:"teams"`
	Kind          string               `json:"kind"`
	Copies        int                  `json:"copies"`
	Pods          *int                 `json:"pods"`
	Slices        int                  `json:"slices"`
	PerPod        PerPod               `json:"perPod"`
	Image         string               `json:"image"`
	Command       []string             `json:"command"`
	Env           map[string]string    `json:"env"`
	SecretEnv     map[string]SecretKey `json:"secretEnv"`
	Files         map[string]string    `json:"files"`
	Rendezvous    *Rendezvous          `json:"rendezvous"`
	HostNetwork   bool                 `json:"hostNetwork"`
	Auxiliary     map[string]Auxiliary `json:"auxiliary"`
	MaxRunSeconds *int                 `json:"maxRunSeconds"`
	Retries       int                  `json:"retries"`
	Shows         *string              `json:"shows"`
	UsuallyRuns   *string              `json:"usuallyRuns"`
	ExampleLog    *string              `json:"exampleLog"`
	KeepSeconds   *int                 `json:"keepSeconds"`
	Accept        map[string]string    `json:"accept"`
}

// SecretKey mirrors #SecretKey.
type SecretKey struct {
	Secret string   `json:"secret"`
	Key    string   `json:"key"`
	Notes  []string `json:"notes"`
}

// Auxiliary mirrors #Auxiliary.
type Auxiliary struct {
	Capacity string            `json:"capacity"`
	CPU      float64           `json:"cpu"`
	Memory   string            `json:"memory"`
	Image    string            `json:"image"`
	Command  []string          `json:"command"`
	Env      map[string]string `json:"env"`
}

// PerPod mirrors #Workload.perPod.
type PerPod struct {
	Accelerators int     `json:"accelerators"`
	CPU          float64 `json:"cpu"`
	Memory       string  `json:"memory"`
}

// Rendezvous mirrors #Workload.rendezvous.
type Rendezvous struct {
	Port int `json:"port"`
}

// Phase mirrors #Phase.
type Phase struct {
	Phase       string         `json:"phase"`
	Shows       *string        `json:"shows"`
	Teams       []string       `json:"teams"`
	Cordon      map[string]int `json:"cordon"`
	Uncordon    []string       `json:"uncordon"`
	Delete      []string       `json:"delete"`
	Submit      []string       `json:"submit"`
	OneByOne    bool           `json:"oneByOne"`
	WaitSeconds int            `json:"waitSeconds"`
	Expect      Expectation    `json:"expect"`
}

// Expectation mirrors #Expectation.
type Expectation struct {
	Queues    map[string]QueueCounts    `json:"queues"`
	Evicted   map[string]int            `json:"evicted"`
	Moved     map[string]map[string]int `json:"moved"`
	Completed []string                  `json:"completed"`
	Pods      map[string]int            `json:"pods"` // nil if the blueprint sets none
	Pending   *int                      `json:"pending"`
	Nodes     [][]string                `json:"nodes"`
}

// QueueCounts mirrors #QueueCounts.
type QueueCounts struct {
	Pending  int `json:"pending"`
	Admitted int `json:"admitted"`
}

// Rehearsal mirrors #Rehearsal. A duration is a text that Seconds reads.
type Rehearsal struct {
	Shows    *string                `json:"shows"`
	Until    string                 `json:"until"`
	Seed     int                    `json:"seed"`
	Arrivals []Arrival              `json:"arrivals"`
	Nodes    map[string][]NodeLimit `json:"nodes"`
	Holds    []QueueHold            `json:"holds"`
	Expect   []RehearsalExpectation `json:"expect"`
	Accept   map[string]string      `json:"accept"`
}

// QueueHold mirrors #QueueHold.
type QueueHold struct {
	Tier  *string  `json:"tier"`
	Teams []string `json:"teams"`
	From  string   `json:"from"`
	To    *string  `json:"to"`
	Drain bool     `json:"drain"`
}

// Arrival mirrors #Arrival.
type Arrival struct {
	Workload        *string       `json:"workload"`
	Job             *RehearsalJob `json:"job"`
	Trace           *Trace        `json:"trace"`
	Teams           []string      `json:"teams"`
	At              string        `json:"at"`
	Every           *string       `json:"every"`
	Random          bool          `json:"random"`
	Count           int           `json:"count"`
	Runs            *RunTime      `json:"runs"`
	IndependentPods bool          `json:"independentPods"`
	CheckpointEvery *string       `json:"checkpointEvery"`
}

// RehearsalJob mirrors #RehearsalJob.
type RehearsalJob struct {
	Tier     string   `json:"tier"`
	Capacity []string `json:"capacity"`
	Pods     int      `json:"pods"`
	PerPod   struct {
		Accelerators int      `json:"accelerators"`
		CPU          *float64 `json:"cpu"`
		Memory       *string  `json:"memory"`
	} `json:"perPod"`
}

// Trace mirrors #Trace.
type Trace struct {
	CSV     string            `json:"csv"`
	Columns TraceColumns      `json:"columns"`
	Teams   map[string]string `json:"teams"`
	Tiers   map[string]string `json:"tiers"`
	Tier    *string           `json:"tier"`
	From    *string           `json:"from"`
}

// TraceColumns mirrors the columns of #Trace.
type TraceColumns struct {
	Submitted    string  `json:"submitted"`
	Seconds      string  `json:"seconds"`
	Team         *string `json:"team"`
	Tier         *string `json:"tier"`
	Pods         *string `json:"pods"`
	Accelerators *string `json:"accelerators"`
	CPU          *string `json:"cpu"`
	Memory       *string `json:"memory"`
}

// RunTime mirrors #RunTime: exactly one field is not nil.
type RunTime struct {
	Fixed     *string        `json:"fixed"`
	Uniform   *UniformTime   `json:"uniform"`
	LogNormal *LogNormalTime `json:"logNormal"`
}

// UniformTime mirrors #UniformTime.
type UniformTime struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// LogNormalTime mirrors #LogNormalTime.
type LogNormalTime struct {
	Median string `json:"median"`
	P95    string `json:"p95"`
}

// NodeLimit mirrors #NodeLimit.
type NodeLimit struct {
	From      string  `json:"from"`
	To        *string `json:"to"`
	Available int     `json:"available"`
	Preempts  bool    `json:"preempts"`
}

// RehearsalExpectation mirrors #RehearsalExpectation.
type RehearsalExpectation struct {
	Workload     *string  `json:"workload"`
	Tier         *string  `json:"tier"`
	Teams        []string `json:"teams"`
	StartsWithin *string  `json:"startsWithin"`
	Percentile   int      `json:"percentile"`
	Evictions    *int     `json:"evictions"`
	Capacity     *string  `json:"capacity"`
	Utilization  *int     `json:"utilization"`
}

// Monitoring mirrors #Monitoring.
type Monitoring struct {
	NotificationChannels []string          `json:"notificationChannels"`
	Grafana              bool              `json:"grafana"`
	GrafanaNamespace     string            `json:"grafanaNamespace"`
	Boards               map[string]Board  `json:"boards"`
	OpenToMembers        bool              `json:"openToMembers"`
	TensorBoard          *TensorBoard      `json:"tensorBoard"`
	Accept               map[string]string `json:"accept"`
}

// Board mirrors #Board.
type Board struct {
	Title    *string  `json:"title"`
	Sections []string `json:"sections"`
}

// TensorBoard mirrors #Monitoring.tensorBoard.
type TensorBoard struct {
	Region *string `json:"region"`
}

// Delivery mirrors #Delivery.
type Delivery struct {
	StateBucket           *string           `json:"stateBucket"`
	StatePrefix           *string           `json:"statePrefix"`
	Machine               *string           `json:"machine"`
	Timeout               *string           `json:"timeout"`
	InfrastructureManager bool              `json:"infrastructureManager"`
	Region                *string           `json:"region"`
	GitOps                *string           `json:"gitops"`
	Source                *Source           `json:"source"`
	Destination           *string           `json:"destination"`
	Manifests             map[string]string `json:"manifests"` // nil if the blueprint omits it
	Accept                map[string]string `json:"accept"`
}

// Source mirrors #Source.
type Source struct {
	Repository string  `json:"repository"`
	Branch     string  `json:"branch"`
	Path       *string `json:"path"`
	Secret     *string `json:"secret"`
}
