package ir

import "k8s.io/apimachinery/pkg/api/resource"

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
	Cohort      string // "" for none
	Priority    int    // of its queue, with KAI
	Group       string // Google group of its members, "" for none
	KubeAccount string // Kubernetes service account of its jobs
	// Account is the Google service account that the jobs act as. It is nil if they
	// have their rights as KubeAccount.
	Account *TeamAccount
	// Roles are the project roles of Account, or of KubeAccount without one, sorted.
	// KubeAccount has Platform.JobRoles besides.
	Roles  []string
	Bucket string // Cloud Storage bucket, "" for none
	// NodesListBucket lets the nodes' account list the bucket, too.
	NodesListBucket bool
	// Allow are the fields of pods, and kinds of volumes, that its jobs may use and
	// others may not, as in the blueprint, sorted.
	Allow  []string
	Queues []Queue // by tier
}

// TeamAccount is the Google service account of a team. Its roles are the team's.
type TeamAccount struct {
	ID      string // account_id: the part before the @
	Display string // what it is for
}

// Email returns the account's address in a project.
func (a TeamAccount) Email(project string) string { return ServiceAccount{ID: a.ID}.Email(project) }

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
	Shared   bool
	Cohort   string // it lends to and borrows from, "" for none
	Strategy string // StrictFIFO or BestEffortFIFO
	Preempts bool
	// MaxGraceSeconds is the longest time that pods may take to end.
	MaxGraceSeconds int
	Resources       []string      // covered resources, in the order of every FlavorQuota
	Flavors         []FlavorQuota // in the order in which they are tried
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
