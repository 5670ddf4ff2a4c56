package ir

// Monitoring says what is watched.
type Monitoring struct {
	NotificationChannels []string // full resource names
	Grafana              bool
	GrafanaNamespace     string
	// TensorBoard is the region of the Vertex AI TensorBoard, "" without.
	TensorBoard string
	// MemberRoles are the project roles with which the members of the teams'
	// groups open the dashboards and the TensorBoard, sorted.
	MemberRoles []string
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
	// NarrowRoles are further roles of Account, each narrowed by a condition, by
	// role.
	NarrowRoles []NarrowRole
	// GrantableRoles are the roles that the build may grant and revoke, sorted.
	GrantableRoles []string
	// CustomRoles are the project's own roles of the teams' jobs and members. They
	// are made before the build, which only grants them.
	CustomRoles []CustomRole
	// Repository is the Artifact Registry repository of the teams' images.
	Repository string
	// APIs are the services the project needs, sorted.
	APIs []string
}

// Scope is the kind of resources that a role reaches.
type Scope string

const (
	ProjectScope Scope = ""        // the whole project
	ClusterScope Scope = "cluster" // the platform's cluster
	BucketScope  Scope = "buckets" // the buckets of the platform's teams
)

// NarrowRole is a role that its holder has only where a condition is true.
type NarrowRole struct {
	Role  string
	Scope Scope  // of the condition
	Title string // of the condition
	// Condition is an IAM condition, in CEL.
	Condition string
}

// CustomRole is a role that belongs to the project.
type CustomRole struct {
	ID, Title   string
	Permissions []string // sorted
}

// Name returns the role's name in the policy of a project.
func (r CustomRole) Name(project string) string { return "projects/" + project + "/roles/" + r.ID }

// Demand is the Google Cloud quota the platform needs in its region.
type Demand struct {
	Rows []DemandRow
	// VCPUs and MemoryGiB are of all nodes the teams' quotas can ever admit,
	// and of the system pool. The limits of node auto-provisioning are held
	// against them: those bound the whole cluster.
	VCPUs, MemoryGiB int
	IAM              IAMDemand
}

// IAMDemand is what the platform adds to the project in things that IAM limits.
type IAMDemand struct {
	// Principals are the members of all bindings of the project's allow policy,
	// each counted as often as it appears. Groups are the Google groups among them.
	Principals, Groups int
	ServiceAccounts    int
	CustomRoles        int
}

// Limits of IAM in a project, for all its platforms together. The number of service
// accounts is a quota that can be raised, the others cannot (IAM documentation:
// "Quotas and limits"). IAM may take fewer principals if their identifiers are long.
const (
	MaxPrincipals          = 1500
	MaxGroups              = 250
	DefaultServiceAccounts = 100
	MaxCustomRoles         = 300
)

// Limits of a condition on the roles that a principal grants: a call of hasOnly
// names at most MaxRolesPerCall roles, and the 12 logical operators of a condition
// join at most 13 calls (IAM documentation: "Set limits on granting roles", "Quotas
// and limits").
const (
	MaxRolesPerCall   = 10
	MaxGrantableRoles = 13 * MaxRolesPerCall
)

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
