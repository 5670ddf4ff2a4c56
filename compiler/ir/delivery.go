package ir

import (
	"slices"
	"strings"
)

// Monitoring says how the platform is monitored.
type Monitoring struct {
	NotificationChannels []string // full resource names
	Grafana              bool
	GrafanaNamespace     string
	// Boards are the dashboards for administrators, sorted by name.
	Boards []Board
	// TensorBoard is the region of the Vertex AI TensorBoard, "" if there is none.
	TensorBoard string
	// MemberRoles are the project roles with which the members of the teams'
	// groups open the dashboards and the TensorBoard, sorted.
	MemberRoles []string
}

// Board is a dashboard for administrators.
type Board struct {
	Name     string
	Title    string
	Sections []string
}

// TeamBoard is the name of the dashboard for one team.
const TeamBoard = "team"

// BoardTitle returns the title of a platform's dashboard to which the blueprint gives none.
func BoardTitle(platform, name string) string {
	if name == DefaultBoard {
		name = "platform"
	}
	return platform + ": " + name
}

// DefaultBoards returns the dashboards for administrators if the blueprint lists none: one
// with all sections.
func DefaultBoards(platform string, s Scheduler) []Board {
	return []Board{{DefaultBoard, BoardTitle(platform, DefaultBoard), s.Facts().Sections}}
}

// DefaultBoard is the name of the only dashboard for administrators, unless the blueprint
// lists others.
const DefaultBoard = "admin"

// HasSection reports whether a section of dashboards has something to show on the platform.
func (p *Platform) HasSection(name string) bool {
	switch chips := p.AnyCapacity(Capacity.HasAccelerators); name {
	case "accelerators":
		return chips
	case "capacity":
		return chips || p.AnyCapacity(Capacity.OnlyReserved) || p.AnyCapacity(Capacity.HasReservationMetrics)
	case "cohorts":
		return len(p.Cohorts) > 0
	}
	return slices.Contains(p.Scheduler.Facts().Sections, name)
}

// Delivery says how the platform is built.
type Delivery struct {
	// Region is the region of the builds, the bucket and the repository.
	Region      string
	StateBucket string
	StatePrefix string
	// Machine is the machine type of the builds, "" for Cloud Build's default.
	Machine string
	// Seconds is the longest time that a build of the platform runs, 0 for the sum of the
	// limits of its steps.
	Seconds int
	// InfrastructureManager reports whether Infrastructure Manager, and not the
	// build, runs Terraform and keeps its state. StateBucket then holds no state.
	InfrastructureManager bool
	// GitOps says whether a GitOps tool, and not the build, applies the Kubernetes
	// objects.
	GitOps GitOps
	// Account is the service account that runs the build.
	Account ServiceAccount
	// Permissions are the permissions that the build needs in addition to the roles
	// of Account, because only far wider predefined roles hold them. They are
	// sorted; nil means none.
	Permissions []string
	// NarrowRoles are further roles of Account, each narrowed by a condition. They
	// are sorted by role.
	NarrowRoles []NarrowRole
	// GrantableRoles are the roles that the build may grant and revoke, sorted.
	GrantableRoles []string
	// CustomRoles are the project's own roles for the teams' jobs and members, and the
	// build's role on a cluster that others own. They are created before the build, and
	// the build only grants them.
	CustomRoles []CustomRole
	// Repository is the Artifact Registry repository of the teams' images.
	Repository string
	// APIs are the services that the project needs, sorted.
	APIs []string
}

// BuildRole returns the custom role of the build, which has Permissions. The ID of a
// custom role must not contain dashes (IAM documentation: "Create and manage custom
// roles").
func (d Delivery) BuildRole() CustomRole {
	return CustomRole{ID: strings.ReplaceAll(d.Account.ID, "-", "_"), Title: d.Account.Display,
		Permissions: d.Permissions}
}

// AllCustomRoles returns every custom role that exists before the build: BuildRole, if
// the build needs permissions beyond its predefined roles, and CustomRoles.
func (d Delivery) AllCustomRoles() []CustomRole {
	if len(d.Permissions) == 0 {
		return d.CustomRoles
	}
	return slices.Concat([]CustomRole{d.BuildRole()}, d.CustomRoles)
}

// Scope is the kind of resources that a role reaches.
type Scope string

const (
	ProjectScope Scope = ""        // the whole project
	ClusterScope Scope = "cluster" // the platform's cluster
	BucketScope  Scope = "buckets" // the teams' buckets with the default names
	NamedScope   Scope = "named"   // buckets that the blueprint names
)

// NarrowRole is a role that its holder has only while a condition is true.
type NarrowRole struct {
	Role  string
	Scope Scope  // of the condition
	Title string // of the condition
	// Condition is an IAM condition, in CEL.
	Condition string
	Buckets   []string // of NamedScope
}

// Limits of the conditions with which the build has a role on buckets: the 12 logical
// operators of a condition compare at most MaxBucketsPerCondition buckets and their objects,
// and a principal has a role with at most 20 conditions, one of which is for the default
// names (IAM documentation: "Quotas and limits").
const (
	MaxBucketsPerCondition = 6
	MaxNamedBuckets        = 19 * MaxBucketsPerCondition
)

// CustomRole is a role that is defined in the project.
type CustomRole struct {
	ID, Title   string
	Permissions []string // sorted
}

// Name returns the role's name as a project's allow policy spells it.
func (r CustomRole) Name(project string) string { return "projects/" + project + "/roles/" + r.ID }

// Demand is the Google Cloud quota that the platform needs in its region.
type Demand struct {
	Rows []DemandRow
	// VCPUs and MemoryGiB are the totals of all nodes that the teams' quotas can
	// ever admit, and of the system pool. They are compared with the limits of node
	// auto-provisioning, which bound the whole cluster.
	VCPUs, MemoryGiB int
	IAM              IAMDemand
}

// IAMDemand counts what the platform adds to the project and IAM limits.
type IAMDemand struct {
	// Principals are the members of all bindings of the project's allow policy,
	// each counted as often as it appears. Groups are the Google groups among them.
	Principals, Groups int
	ServiceAccounts    int
	CustomRoles        int
}

// Limits of IAM in a project, for all its platforms together. The number of service
// accounts is a quota that can be raised; the other limits are fixed (IAM
// documentation: "Quotas and limits"). IAM may accept fewer principals if their
// identifiers are long.
const (
	MaxPrincipals          = 1500
	MaxGroups              = 250
	DefaultServiceAccounts = 100
	MaxCustomRoles         = 300
)

// Limits of a condition on the roles that a principal may grant: a call of hasOnly
// names at most MaxRolesPerCall roles, and the 12 logical operators of a condition
// join at most 13 calls (IAM documentation: "Set limits on granting roles", "Quotas
// and limits").
const (
	MaxRolesPerCall   = 10
	MaxGrantableRoles = 13 * MaxRolesPerCall
)

// DemandRow is the need for one quota metric.
type DemandRow struct {
	Metric string // name of the quota metric, "" if none is verified
	What   string // description of the metric in words
	// Standing is used as soon as the platform is built. Admitted is the most that
	// the teams' quotas can ever admit. Ceiling is the need of all pools at their
	// maximum size. Standing <= Admitted <= Ceiling. All three are counted in Unit.
	Standing, Admitted, Ceiling int
	Unit                        string
	Note                        string // caveat, or ""
}
