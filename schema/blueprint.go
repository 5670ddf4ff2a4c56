package schema

// Blueprint is a checked blueprint: #Blueprint with every default filled in.
// Pointers are nil where a blueprint leaves an optional field out.
type Blueprint struct {
	Name       string              `json:"name"`
	Project    string              `json:"project"`
	Region     string              `json:"region"`
	Zones      []string            `json:"zones"`
	Cluster    Cluster             `json:"cluster"`
	Network    Network             `json:"network"`
	Versions   Versions            `json:"versions"`
	Hardware   map[string]Hardware `json:"hardware"`
	Capacity   map[string]Capacity `json:"capacity"`
	Tiers      map[string]Tier     `json:"tiers"`
	Cohorts    map[string]Cohort   `json:"cohorts"`
	Teams      map[string]Team     `json:"teams"`
	Workloads  map[string]Workload `json:"workloads"`
	Monitoring Monitoring          `json:"monitoring"`
	Delivery   Delivery            `json:"delivery"`
}

// Cluster mirrors #Cluster.
type Cluster struct {
	ReleaseChannel     string            `json:"releaseChannel"`
	MinVersion         *string           `json:"minVersion"`
	AuthorizedNetworks map[string]string `json:"authorizedNetworks"`
	DNSEndpoint        bool              `json:"dnsEndpoint"`
	SecurityGroup      *string           `json:"securityGroup"`
	DeletionProtection bool              `json:"deletionProtection"`
	ImageStreaming     bool              `json:"imageStreaming"`
	CSIDrivers         CSIDrivers        `json:"csiDrivers"`
	Maintenance        Maintenance       `json:"maintenance"`
	SystemPool         SystemPool        `json:"systemPool"`
	AutoProvisioning   AutoProvisioning  `json:"autoProvisioning"`
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
}

// SystemPool mirrors #SystemPool.
type SystemPool struct {
	Machine      string `json:"machine"`
	NodesPerZone int    `json:"nodesPerZone"`
}

// AutoProvisioning mirrors #AutoProvisioning.
type AutoProvisioning struct {
	Profile      string         `json:"profile"`
	MaxCPU       int            `json:"maxCPU"`
	MaxMemoryGiB int            `json:"maxMemoryGiB"`
	Accelerators map[string]int `json:"accelerators"`
}

// Network mirrors #Network: IPv4 ranges in CIDR notation.
type Network struct {
	Nodes        string `json:"nodes"`
	Pods         string `json:"pods"`
	Services     string `json:"services"`
	ControlPlane string `json:"controlPlane"`
}

// Versions mirrors #Versions.
type Versions struct {
	Kueue          string `json:"kueue"`
	JobSet         string `json:"jobset"`
	Terraform      string `json:"terraform"`
	GoogleProvider string `json:"googleProvider"`
	Gcloud         string `json:"gcloud"`
}

// Hardware mirrors #Hardware.
type Hardware struct {
	Machine        string          `json:"machine"`
	PerAccelerator *PerAccelerator `json:"perAccelerator"`
	Disk           Disk            `json:"disk"`
	GPUDriver      string          `json:"gpuDriver"`
}

// PerAccelerator mirrors #Hardware.perAccelerator.
type PerAccelerator struct {
	CPU    float64 `json:"cpu"`
	Memory string  `json:"memory"`
}

// Disk mirrors #Hardware.disk.
type Disk struct {
	Type    *string `json:"type"`
	SizeGiB int     `json:"sizeGiB"`
}

// Capacity mirrors #Capacity.
type Capacity struct {
	Hardware        string      `json:"hardware"`
	Consumption     Consumption `json:"consumption"`
	Nodes           *int        `json:"nodes"`
	MaxNodes        *int        `json:"maxNodes"`
	MinNodes        int         `json:"minNodes"`
	Zones           []string    `json:"zones"`
	Placement       string      `json:"placement"`
	AutoProvisioned bool        `json:"autoProvisioned"`
	Overcommit      *string     `json:"overcommit"`
}

// Consumption mirrors #Consumption: exactly one field is not nil.
type Consumption struct {
	OnDemand    *struct{}    `json:"onDemand"`
	Spot        *struct{}    `json:"spot"`
	Reservation *Reservation `json:"reservation"`
	FlexStart   *FlexStart   `json:"flexStart"`
}

// Reservation mirrors #Reservation.
type Reservation struct {
	Name    string  `json:"name"`
	Create  bool    `json:"create"`
	Project *string `json:"project"`
}

// FlexStart mirrors #FlexStart.
type FlexStart struct {
	Queued        bool `json:"queued"`
	MaxRunSeconds int  `json:"maxRunSeconds"`
}

// Tier mirrors #Tier.
type Tier struct {
	Priority int      `json:"priority"`
	Default  bool     `json:"default"`
	Preempts bool     `json:"preempts"`
	Capacity []string `json:"capacity"`
	Queueing string   `json:"queueing"`
}

// Cohort mirrors #Cohort.
type Cohort struct {
	Parent *string `json:"parent"`
}

// Team mirrors #Team.
type Team struct {
	Namespace *string                     `json:"namespace"`
	Cohort    *string                     `json:"cohort"`
	Group     *string                     `json:"group"`
	Bucket    bool                        `json:"bucket"`
	Roles     []string                    `json:"roles"`
	Quota     map[string]map[string]Quota `json:"quota"`
}

// Quota mirrors #Quota.
type Quota struct {
	Accelerators *int `json:"accelerators"`
	CPUs         *int `json:"cpus"`
	Borrow       int  `json:"borrow"`
	Lend         *int `json:"lend"`
}

// Workload mirrors #Workload.
type Workload struct {
	Tier       string            `json:"tier"`
	Teams      []string          `json:"teams"`
	Kind       string            `json:"kind"`
	Copies     int               `json:"copies"`
	Pods       int               `json:"pods"`
	PerPod     PerPod            `json:"perPod"`
	Image      string            `json:"image"`
	Command    []string          `json:"command"`
	Env        map[string]string `json:"env"`
	Files      map[string]string `json:"files"`
	Rendezvous *Rendezvous       `json:"rendezvous"`
	Retries    int               `json:"retries"`
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

// Monitoring mirrors #Monitoring.
type Monitoring struct {
	NotificationChannels []string `json:"notificationChannels"`
	Grafana              bool     `json:"grafana"`
	GrafanaNamespace     string   `json:"grafanaNamespace"`
}

// Delivery mirrors #Delivery.
type Delivery struct {
	StateBucket *string `json:"stateBucket"`
}
