package ir

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
