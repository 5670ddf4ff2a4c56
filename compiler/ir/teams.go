package ir

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// PriorityClass is a Kubernetes PriorityClass.
type PriorityClass struct {
	Name    string
	Value   int32
	Default bool // default class of the whole cluster
	// Preempts reports whether the scheduler of pods may evict running pods with a
	// lower value so that pods of this class get their nodes.
	Preempts bool
	Tier     string
	Note     string // description
	// BuiltIn reports whether the class comes with the scheduler.
	BuiltIn bool
	// Existing reports whether others own the class.
	Existing bool
}

// IsMade reports whether the platform makes the class.
func (c PriorityClass) IsMade() bool { return !c.BuiltIn && !c.Existing }

// WorkloadPriority is a WorkloadPriorityClass: a priority that only the queues know.
type WorkloadPriority struct {
	Name  string
	Value int32
}

// RetryPauses are the pauses before Kueue repeats a request for nodes that failed, in seconds.
type RetryPauses struct {
	First   int // doubles with each retry; 0 means one minute, Kueue's default
	Longest int // the most that it doubles to; 0 means half an hour, Kueue's default
}

// Resolve returns the pauses without the zero values.
func (r RetryPauses) Resolve() RetryPauses {
	return RetryPauses{cmp.Or(r.First, 60), cmp.Or(r.Longest, 1800)}
}

// Growing returns the pauses that are shorter than the longest, which is the pause before every
// later retry.
func (r RetryPauses) Growing() (out []int) {
	r = r.Resolve()
	for pause := r.First; pause < r.Longest; pause *= 2 {
		out = append(out, pause)
	}
	return out
}

// CheckPrefix is the beginning of the name of an AdmissionCheck, before that of its capacity,
// unless the blueprint names the check.
const CheckPrefix = "dws-"

// AdmissionCheck makes a workload wait for a ProvisioningRequest.
type AdmissionCheck struct {
	Name      string   // also the name of its ProvisioningRequestConfig
	Class     string   // provisioning class
	Resources []string // resources that need the request, nil for all
	Topology  string   // topology of the requested TPU slice, "" without TPUs
	Retries   int      // how often a request that fails is repeated
	Retry     RetryPauses
}

// Cohort groups queues and cohorts that lend to each other.
type Cohort struct {
	Name, Parent string
	Priority     int // priority of its queue in KAI Scheduler
	Weight       int // weight of its queue in KAI Scheduler
	// Share is its weight in Kueue's fair sharing, nil for 1.
	Share *resource.Quantity
	// Quota is the number of GPUs that KAI Scheduler guarantees to the cohort; nil
	// means the sum of its teams' guarantees.
	Quota *int
	// Flavors are the quotas that belong to no queue, by name. Every queue below the cohort
	// can borrow them. Their limits hold between the cohort and its parent.
	Flavors []FlavorQuota
}

// Groups returns the resource groups of the cohort's own quota, as Queue.Groups does.
func (c *Cohort) Groups() []ResourceGroup { return groupFlavors(c.Flavors) }

// OwnQuotas yields each quota of a capacity that a queue or a cohort has itself, with the
// root of its cohort, which is "" without one.
func (p *Platform) OwnQuotas() iter.Seq2[string, FlavorQuota] {
	roots := p.RootCohorts()
	return func(yield func(string, FlavorQuota) bool) {
		for q := range p.ClusterQueues() {
			for _, f := range q.Flavors {
				if !yield(roots[q.Cohort], f) {
					return
				}
			}
		}
		for _, c := range p.Cohorts {
			for _, f := range c.Flavors {
				if !yield(roots[c.Name], f) {
					return
				}
			}
		}
	}
}

// RootCohorts returns the root of the tree that each cohort belongs to.
func (p *Platform) RootCohorts() map[string]string {
	roots := map[string]string{}
	for _, c := range p.Cohorts { // parents come before children
		roots[c.Name] = c.Name
		if c.Parent != "" {
			roots[c.Name] = roots[c.Parent]
		}
	}
	return roots
}

// SharedQueue is the queue of a tier that several teams share.
type SharedQueue struct {
	Queue // its LocalQueue is ""
	// Teams are the teams that share the queue. Each has its own Queue with Shared
	// set.
	Teams []SharingTeam
}

// SharingTeam is a team that shares a queue.
type SharingTeam struct {
	Name, Namespace string
	InExisting      bool // see Team
}

// Team is a tenant of the platform.
type Team struct {
	Name      string
	Namespace string
	// InExisting reports whether others own the namespace. It then gets only LocalQueues,
	// and the team has neither members nor identities nor workloads.
	InExisting bool
	Cohort     string // "" for none
	Priority   int    // priority of its queue in KAI Scheduler
	Weight     int    // weight of its queue in KAI Scheduler
	Group      string // Google group of its members, "" for none
	// Members are the people and service accounts that submit jobs besides Group, as
	// IAM writes them: "user:ADDRESS", "serviceAccount:ADDRESS", or the principal
	// identifier of a person or group of a workforce identity pool; sorted.
	Members     []string
	KubeAccount string // Kubernetes service account of its jobs
	// Account is the Google service account that the jobs act as. It is nil if the
	// jobs hold their rights as KubeAccount.
	Account *TeamAccount
	// Roles are the project roles of Account, or of KubeAccount if Account is nil,
	// sorted. KubeAccount has Platform.JobRoles in addition. Roles is nil if Account
	// belongs to somebody else.
	Roles  []string
	Bucket string // Cloud Storage bucket, "" for none
	// DeletesBucketData reports whether Terraform deletes the bucket with its objects.
	DeletesBucketData bool
	// NodesListBucket reports whether the nodes' account may list the bucket, too.
	NodesListBucket bool
	// Allow lists the fields of pods and the kinds of volumes that the team's jobs
	// may use and other teams' jobs may not, spelt as in the blueprint, sorted.
	Allow []string
	// MaxJobs is the largest number of Jobs in the team's namespace, and of Services.
	MaxJobs int
	// Labels are the administrator's labels of the team's namespace and bucket, by key.
	// They replace Platform.Labels with the same key.
	Labels []KeyValue
	// NamespaceLabels are the labels by which queues select the team's namespace, sorted
	// by key.
	NamespaceLabels []KeyValue
	Queues          []Queue // by tier
}

// Submits reports whether somebody besides the administrators of the cluster submits
// the team's jobs.
func (t *Team) Submits() bool { return t.Group != "" || len(t.Members) > 0 }

// The beginnings of the principal identifiers of a workforce identity pool (IAM
// documentation: "Principal identifiers").
const (
	workforcePerson = "principal://"
	workforceGroup  = "principalSet://"
)

// MemberAddress returns the e-mail address of an element of Team.Members, or "" for a
// person or group of a workforce identity pool.
func MemberAddress(member string) string {
	if IsWorkforce(member) {
		return ""
	}
	_, address, _ := strings.Cut(member, ":")
	return address
}

// IsWorkforce reports whether an element of Team.Members is a person or group of a
// workforce identity pool.
func IsWorkforce(member string) bool {
	return strings.HasPrefix(member, workforcePerson) || IsWorkforceGroup(member)
}

// IsWorkforceGroup reports whether an element of Team.Members is a group of a workforce
// identity pool.
func IsWorkforceGroup(member string) bool { return strings.HasPrefix(member, workforceGroup) }

// HasWorkforce reports whether a team has a member of a workforce identity pool.
func (p *Platform) HasWorkforce() bool { return slices.ContainsFunc(p.MemberAccounts(), IsWorkforce) }

// ClusterQueues returns every ClusterQueue of the platform once, with the teams that
// use it: the queues that teams share, by tier, then the queues of each team. A team's copy
// of a shared queue is omitted.
func (p *Platform) ClusterQueues() iter.Seq2[*Queue, []SharingTeam] {
	return func(yield func(*Queue, []SharingTeam) bool) {
		for i := range p.SharedQueues {
			if q := &p.SharedQueues[i]; !yield(&q.Queue, q.Teams) {
				return
			}
		}
		for i := range p.Teams {
			t := &p.Teams[i]
			for j := range t.Queues {
				if q := &t.Queues[j]; !q.Shared && !yield(q, []SharingTeam{{t.Name, t.Namespace, t.InExisting}}) {
					return
				}
			}
		}
	}
}

// OwnTeams returns the teams whose namespaces the platform creates, in the order of Teams.
func (p *Platform) OwnTeams() []Team {
	first := slices.IndexFunc(p.Teams, func(t Team) bool { return t.InExisting })
	if first < 0 {
		return p.Teams
	}
	own := slices.Clip(p.Teams[:first])
	for i := first; i < len(p.Teams); i++ {
		if !p.Teams[i].InExisting {
			own = append(own, p.Teams[i])
		}
	}
	return own
}

// OnlyExisting reports whether the platform manages only queues, and has nothing else in the cluster:
// all teams have existing namespaces, or there are only shared queues in an existing cluster.
func (p *Platform) OnlyExisting() bool {
	if len(p.Teams) == 0 {
		return len(p.SharedQueues) > 0 && !p.OwnsCluster()
	}
	return len(p.OwnTeams()) == 0
}

// QuotaResources returns the resources of which some queue has quota, sorted.
func (p *Platform) QuotaResources() []string {
	names := map[string]bool{}
	for q := range p.ClusterQueues() {
		for _, name := range q.Resources() {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// CountsPods reports whether the queue has quota of pods.
func (q *Queue) CountsPods() bool {
	return slices.ContainsFunc(q.Flavors, func(f FlavorQuota) bool {
		return slices.ContainsFunc(f.Quotas, func(r ResourceQuota) bool { return r.Resource == Pods })
	})
}

// TeamAccount is the Google service account of a team: an account of the platform,
// whose roles are in Team.Roles, or an account that belongs to somebody else.
type TeamAccount struct {
	ID      string // account_id of an account of the platform: the part before the @
	Display string // display name of an account of the platform
	// Address is the email address of an account that belongs to somebody else. It is
	// "" for an account of the platform. The platform neither creates nor deletes such
	// an account, and grants it no role on a project.
	Address string
}

// Email returns the account's email address. An account of the platform is in the given
// project.
func (a TeamAccount) Email(project string) string {
	if a.Address != "" {
		return a.Address
	}
	return ServiceAccount{ID: a.ID}.Email(project)
}

// Queue is a team's share of one tier: a ClusterQueue, and the LocalQueue through
// which the team's namespace uses it. In KAI Scheduler it is one queue, whose name
// is in both fields.
type Queue struct {
	Tier string
	// Classes are the PriorityClasses that its jobs can have, by rising value.
	Classes []string
	// WorkloadPriorities are the priorities that its jobs can name instead of the value of their
	// PriorityClass, by rising value.
	WorkloadPriorities []WorkloadPriority
	ClusterQueue       string
	LocalQueue         string
	// LocalQueues are all LocalQueues of the team, sorted by name, if the blueprint gives them.
	// LocalQueue is then the first. AllLocalQueues returns them in any case.
	LocalQueues []LocalQueue
	// Shared reports whether the ClusterQueue belongs to a SharedQueue. The fields
	// below then hold for all teams that share it.
	Shared   bool
	Cohort   string // cohort with which it lends and borrows, "" for none
	Strategy string // StrictFIFO or BestEffortFIFO
	// Preemption says which running jobs its waiting jobs may evict.
	Preemption Preemption
	// NextCapacity says when its waiting jobs go on to the next of Flavors.
	NextCapacity NextCapacity
	// Share is its weight in Kueue's fair sharing, nil for 1.
	Share *resource.Quantity
	// ByUsage reports whether the jobs of the team that has used least start first.
	ByUsage bool
	// TeamShare is the weight by which the usage of the LocalQueue's team is divided, nil for
	// 1 and without ByUsage.
	TeamShare *resource.Quantity
	// Namespaces are the namespaces whose LocalQueues may use the ClusterQueue.
	Namespaces Namespaces
	// Stop is what the platform decides about starting jobs: StopNone, StopHold or StopDrain,
	// or "" if an administrator decides it.
	Stop string
	// Checks are the AdmissionChecks of others that its jobs must pass, sorted by name.
	Checks []QueueCheck
	// MaxGraceSeconds is the longest time that pods may take to stop.
	MaxGraceSeconds int
	Flavors         []FlavorQuota // in the order in which the scheduler tries them
}

// QueueCheck is an AdmissionCheck of others that jobs of a queue must pass.
type QueueCheck struct {
	Name    string
	Flavors []string // capacities on which jobs need it, nil for all
}

// LocalQueue is a LocalQueue through which a team's namespace uses a ClusterQueue.
type LocalQueue struct {
	Name string
	Stop string // as Queue.Stop
	// Share is the weight by which its usage is divided, nil for 1.
	Share *resource.Quantity
}

// AllLocalQueues returns the LocalQueues of a team's queue.
func (q *Queue) AllLocalQueues() []LocalQueue {
	if q.LocalQueues == nil {
		return []LocalQueue{{Name: q.LocalQueue, Share: q.TeamShare}}
	}
	return q.LocalQueues
}

// LocalQueueNames returns the names of the LocalQueues of a team's queue.
func (q *Queue) LocalQueueNames() []string {
	var names []string
	for _, l := range q.AllLocalQueues() {
		names = append(names, l.Name)
	}
	return names
}

// ResourceGroup is a part of a queue: resources, and the flavors that have quota of them.
type ResourceGroup struct {
	Resources []string      // in the order of the quotas of each flavor
	Flavors   []FlavorQuota // in the order in which the scheduler tries them
}

// Groups returns the resource groups of the queue, in the order of their first flavors. Each
// flavor is in one group, whose flavors all have quota of the same resources.
func (q *Queue) Groups() []ResourceGroup { return groupFlavors(q.Flavors) }

func groupFlavors(flavors []FlavorQuota) []ResourceGroup {
	var out []ResourceGroup
	for _, f := range flavors {
		first := f.Quotas[0].Resource
		i := slices.IndexFunc(out, func(g ResourceGroup) bool { return g.Resources[0] == first })
		if i < 0 {
			i = len(out)
			group := ResourceGroup{}
			for _, r := range f.Quotas {
				group.Resources = append(group.Resources, r.Resource)
			}
			out = append(out, group)
		}
		out[i].Flavors = append(out[i].Flavors, f)
	}
	return out
}

// Resources returns the resources of which the queue has quota, once each, in the order of its
// flavors. It leaves out pods that follow from the resource in which people count.
func (q *Queue) Resources() []string {
	var names []string
	for _, f := range q.Flavors {
		for _, r := range f.Quotas {
			if !(r.Follows && r.Resource == Pods) && !slices.Contains(names, r.Resource) {
				names = append(names, r.Resource)
			}
		}
	}
	return names
}

// Namespaces selects the namespaces whose LocalQueues may use a ClusterQueue. The zero
// value selects the namespaces of the teams that have the queue.
type Namespaces struct {
	All    bool       // every namespace of the cluster
	None   bool       // no namespace
	Labels []KeyValue // namespaces with all these labels, sorted by key; nil for the other choices
	// Conditions select the namespaces whose labels satisfy all of them; nil for the other
	// choices.
	Conditions []NamespaceCondition
}

// NamespaceCondition is a condition on a label of a namespace.
type NamespaceCondition struct {
	Label    string
	Operator string   // LabelIn, LabelNotIn, LabelExists or LabelMissing
	Values   []string // of LabelIn and LabelNotIn
}

// The operators of a NamespaceCondition, spelt as in the API of Kubernetes.
const (
	LabelIn      = "In"
	LabelNotIn   = "NotIn" // also satisfied without the label
	LabelExists  = "Exists"
	LabelMissing = "DoesNotExist"
)

// Holds reports whether the labels of a namespace satisfy the condition.
func (c NamespaceCondition) Holds(labels map[string]string) bool {
	value, exists := labels[c.Label]
	switch c.Operator {
	case LabelIn:
		return exists && slices.Contains(c.Values, value)
	case LabelNotIn:
		return !exists || !slices.Contains(c.Values, value)
	case LabelExists:
		return exists
	}
	return !exists
}

// SelectsLabels reports whether the queue selects a namespace with the given labels, whatever
// the namespace's name is.
func (n Namespaces) SelectsLabels(labels map[string]string) bool {
	switch {
	case n.All:
		return true
	case n.Conditions != nil:
		return !slices.ContainsFunc(n.Conditions, func(c NamespaceCondition) bool { return !c.Holds(labels) })
	}
	return n.Labels != nil && !slices.ContainsFunc(n.Labels, func(l KeyValue) bool { return labels[l.Key] != l.Value })
}

// LabelsOfNamespace returns the labels of a team's namespace, except those of the Pod Security
// Standards.
func (p *Platform) LabelsOfNamespace(t *Team) map[string]string {
	labels := map[string]string{}
	for _, l := range slices.Concat(p.Labels, t.Labels) {
		labels[l.Key] = l.Value
	}
	labels[LabelManagedBy], labels[LabelPartOf] = ManagedBy, p.Name
	for _, l := range t.NamespaceLabels {
		labels[l.Key] = l.Value
	}
	labels[LabelTeam] = t.Name
	return labels
}

// The orders in which waiting jobs of a queue start.
const (
	StrictFIFO     = "StrictFIFO"     // the first job blocks the jobs behind it
	BestEffortFIFO = "BestEffortFIFO" // jobs that fit may overtake it
)

// The values of Queue.Stop, spelt as in the API of Kueue.
const (
	StopNone  = "None"         // the queue starts jobs
	StopHold  = "Hold"         // running jobs continue, and no other job starts
	StopDrain = "HoldAndDrain" // running jobs are evicted, and no job starts
)

// Stops reports whether a queue with a value of Queue.Stop starts no jobs.
func Stops(stop string) bool { return stop == StopHold || stop == StopDrain }

// HasStop reports whether the platform decides about some ClusterQueue whether it starts jobs.
func (p *Platform) HasStop() bool {
	for q := range p.ClusterQueues() {
		if q.Stop != "" {
			return true
		}
	}
	return false
}

// The policies of Preemption, spelt as in the API of Kueue.
const (
	PreemptNever         = "Never"
	PreemptLowerPriority = "LowerPriority"
	PreemptNewer         = "LowerOrNewerEqualPriority"
	PreemptAny           = "Any"
)

// Preemption says which running jobs the waiting jobs of a queue may evict. An empty
// policy means PreemptNever. Source: Kueue v1beta2 API, ClusterQueuePreemption.
type Preemption struct {
	// InQueue is the policy for jobs of the same queue: PreemptNever,
	// PreemptLowerPriority or PreemptNewer.
	InQueue string
	// ToReclaim is the policy for borrowing jobs of other queues of the cohort if the
	// waiting job fits the guarantee of its queue: PreemptNever,
	// PreemptLowerPriority or PreemptAny.
	ToReclaim string
	// ToBorrow is the policy for borrowing jobs of other queues of the cohort if the
	// waiting job must borrow: PreemptNever or PreemptLowerPriority.
	ToBorrow string
	// ToBorrowUpTo is the highest priority of the jobs that ToBorrow evicts, if LimitsToBorrow
	// is set.
	ToBorrowUpTo   int32
	LimitsToBorrow bool
}

// Evicts reports whether a policy lets jobs evict other jobs.
func Evicts(policy string) bool { return policy != "" && policy != PreemptNever }

// Any reports whether some policy lets jobs evict other jobs.
func (p Preemption) Any() bool { return Evicts(p.InQueue) || Evicts(p.ToReclaim) || Evicts(p.ToBorrow) }

// NextCapacity says when a waiting job goes on to the next capacity of its queue, although it
// could start on this one. The zero value is what Kueue does by default: a job borrows before it
// goes on, goes on before it evicts, and borrows if it could do either. Source: Kueue v1beta2 API,
// FlavorFungibility.
type NextCapacity struct {
	BeforeBorrowing bool // it goes on before it borrows
	AfterEvicting   bool // it evicts before it goes on
	// PrefersEvicting says that a job which could borrow or evict evicts. It needs
	// BeforeBorrowing, and excludes AfterEvicting.
	PrefersEvicting bool
}

// FlavorQuota is a queue's quota of one capacity.
type FlavorQuota struct {
	Flavor         string // name of the capacity
	ResourceFlavor string // name of its ResourceFlavor, "" for the name of the capacity
	AdmissionCheck string // "" for none
	// Waiting reports whether the capacity's reservation has not begun. Until then
	// the queue has none of this quota.
	Waiting bool
	// Quotas are in the order of the resources of the flavor's group, at least one.
	Quotas []ResourceQuota
}

// FlavorName returns the name of the ResourceFlavor.
func (f FlavorQuota) FlavorName() string { return cmp.Or(f.ResourceFlavor, f.Flavor) }

// Borrows reports whether the queue may borrow some resource of the capacity.
func (f FlavorQuota) Borrows() bool { return slices.ContainsFunc(f.Quotas, ResourceQuota.Borrows) }

// Usable reports whether the queue has quota of some resource of the capacity, or can
// borrow it.
func (f FlavorQuota) Usable() bool { return slices.ContainsFunc(f.Quotas, ResourceQuota.Usable) }

// ResourceQuota is a queue's quota of one resource of a capacity.
type ResourceQuota struct {
	Resource string
	Nominal  resource.Quantity
	// Borrowing is the most that the queue may borrow. It is nil if there is no
	// cohort to borrow from, and if BorrowsAll is set.
	Borrowing *resource.Quantity
	// BorrowsAll reports whether the queue may borrow everything that is idle in the
	// cohort.
	BorrowsAll bool
	// Lending is the most that the queue may lend; nil means all.
	Lending *resource.Quantity
	// Follows reports whether the quota is computed from the accelerators or vCPUs: cpu and
	// memory by the hardware's ratio, and PodsPerUnit pods for each unit.
	Follows bool
}
