package lower

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// queuePriority is the default priority of a queue. Source: KAI Scheduler's CRD of
// queues, v0.17.
const queuePriority = 100

// queueWeight is the default weight of a queue: KAI Scheduler gives a queue without weight no
// idle GPUs.
const queueWeight = 1

// offer is a capacity together with the amounts of one unit of its quota.
type offer struct {
	capacity *ir.Capacity
	share    []ir.Amount // nil if the machine is unknown
}

// serves reports whether a quota can count something on the capacity: named resources on any
// nodes that others own, and otherwise what the machine has.
func (o *offer) serves(q schema.Quota) bool {
	return o.share != nil || o.capacity.Existing() && !o.capacity.KnowsNodes() && !q.ByRatio()
}

// quotaUnits returns the most units of quota that a capacity ever holds.
func (o offer) quotaUnits() int {
	c := o.capacity
	if c.HasAccelerators() {
		return c.MaxNodes * c.Machine.AcceleratorCount
	}
	held := c.PerNode[0].Quantity.DeepCopy() // cpu
	held.Mul(int64(c.MaxNodes))
	return int(held.MilliValue() / 1000)
}

// offersOf returns the offers that quotas can refer to, by the name of the capacity.
func offersOf(b *schema.Blueprint, capacities ...[]ir.Capacity) map[string]*offer {
	offers := map[string]*offer{}
	for _, some := range capacities {
		for i := range some {
			c := &some[i]
			offers[c.Name] = &offer{capacity: c, share: perUnitShare(b.Hardware[c.Hardware], c.Machine)}
		}
	}
	return offers
}

// queuesOf yields every queue of the platform once.
func queuesOf(shared []ir.SharedQueue, teams []ir.Team) iter.Seq[*ir.Queue] {
	return func(yield func(*ir.Queue) bool) {
		p := &ir.Platform{SharedQueues: shared, Teams: teams}
		for q := range p.ClusterQueues() {
			if !yield(q) {
				return
			}
		}
	}
}

// withGuarantees returns the capacities with Guaranteed set to the sum of the nominal
// quotas of all queues and cohorts.
func withGuarantees(capacities []ir.Capacity, p *ir.Platform) []ir.Capacity {
	out := slices.Clone(capacities)
	byName := map[string]*ir.Capacity{}
	for i := range out {
		c := &out[i]
		c.Guaranteed = make([]ir.Amount, len(c.PerNode))
		for r, amount := range c.PerNode {
			c.Guaranteed[r].Resource = amount.Resource
		}
		byName[c.Name] = c
	}
	for _, f := range p.OwnQuotas() {
		c := byName[f.Flavor]
		if c == nil {
			continue
		}
		for i := range c.Guaranteed {
			g := &c.Guaranteed[i]
			for _, quota := range f.Quotas {
				if quota.Resource == g.Resource {
					g.Quantity.Add(quota.Nominal)
				}
			}
		}
	}
	return out
}

// lowerTeams resolves the teams. A team's Google service account gets podRoles
// itself, because the roles that are granted to the cluster's pods do not reach it. An
// account that belongs to somebody else gets no roles.
func lowerTeams(b *schema.Blueprint, offers map[string]*offer, shared []ir.SharedQueue, podRoles []string) []ir.Team {
	sharedBy := map[string][]*ir.SharedQueue{}
	for i := range shared {
		for _, t := range shared[i].Teams {
			sharedBy[t.Name] = append(sharedBy[t.Name], &shared[i])
		}
	}
	oneQueue := ir.Scheduler(b.Scheduler).Facts().OneQueue
	out := slices.Grow([]ir.Team(nil), len(b.Teams))
	for name, in := range byName(b.Teams) {
		team := ir.Team{
			Name:              name,
			Namespace:         namespaceOf(in, name),
			InExisting:        in.Namespace != nil && in.Namespace.Existing,
			Cohort:            valueOr(in.Cohort, ""),
			Priority:          valueOr(in.Priority, queuePriority),
			Weight:            queueWeightOf(b, in.Weight),
			Group:             valueOr(in.Group, ""),
			Members:           sortedUnique(in.Members),
			KubeAccount:       name + "-ksa",
			Roles:             sortedUnique(in.Roles),
			NodesListBucket:   in.Bucket.Wanted && in.NodesListBucket,
			DeletesBucketData: in.Bucket.Wanted && in.DeleteBucketData,
			Allow:             sortedUnique(in.Allow),
			MaxJobs:           in.MaxJobs,
			Labels:            keyValues(in.Labels),
		}
		switch account := valueOr(in.ServiceAccount, ""); {
		case strings.Contains(account, "@"):
			// Terraform and the owner could grant the same role: the two bindings would be
			// one, and destroying the platform would revoke the role.
			team.Account, team.Roles = &ir.TeamAccount{Address: account}, nil
		case account != "":
			team.Account = &ir.TeamAccount{ID: account, Display: "Jobs of " + name + " in " + b.Name}
			team.Roles = sortedUnique(slices.Concat(podRoles, in.Roles))
		}
		if in.Bucket.Wanted {
			team.Bucket = cmp.Or(in.Bucket.Name, bucketPrefix(b.Project, b.Name)+name)
		}
		team.Queues = slices.Grow(team.Queues, len(in.Quota)+len(sharedBy[name]))
		for tier, quota := range in.Quota {
			t, ok := b.Tiers[tier]
			if !ok || t.Shared != nil {
				continue
			}
			if q := lowerQueue(b, tier, quota, valueOr(in.Cohort, ""), offers); len(q.Flavors) > 0 {
				q.ClusterQueue = valueOr(in.Queues[tier].ClusterQueue, ir.ClusterQueuePrefix+name+"-"+tier)
				q.LocalQueue, q.LocalQueues = lowerLocalQueues(in.Queues[tier], ir.LocalQueuePrefix+name+"-"+tier, nil)
				q.Stop = valueOr(in.Queues[tier].Stop, "")
				q.Share = lowerWeight(in.Queues[tier].Weight, in.Weight)
				if oneQueue {
					q.ClusterQueue, q.LocalQueue, q.LocalQueues = name, name, nil
				}
				team.Queues = append(team.Queues, q)
			}
		}
		for _, s := range sharedBy[name] {
			q := s.Queue
			if q.ByUsage {
				q.TeamShare = lowerWeight(in.Queues[q.Tier].Weight, in.Weight)
			}
			q.LocalQueue, q.LocalQueues = lowerLocalQueues(in.Queues[q.Tier], ir.LocalQueuePrefix+name+"-"+q.Tier,
				q.TeamShare)
			team.Queues = append(team.Queues, q)
		}
		slices.SortFunc(team.Queues, func(a, b ir.Queue) int { return strings.Compare(a.Tier, b.Tier) })
		if !team.InExisting {
			team.NamespaceLabels = namespaceLabels(team.Queues, kueueLabels(b))
		}
		out = append(out, team)
	}
	return out
}

// lowerLocalQueues returns the name of the first LocalQueue of a team's queue, and all of them if
// the blueprint gives several. usual is the name of one that has no other name.
// share is the weight of a LocalQueue without weight, nil for 1.
func lowerLocalQueues(
	in schema.QueueNames, usual string, share *resource.Quantity,
) (first string, all []ir.LocalQueue) {
	for name, l := range byName(in.LocalQueues) {
		q := ir.LocalQueue{Name: name, Stop: valueOr(l.Stop, ""), Share: share}
		if l.Weight != nil {
			q.Share = lowerWeight(l.Weight)
		}
		all = append(all, q)
	}
	if all != nil {
		return all[0].Name, all
	}
	return valueOr(in.LocalQueue, usual), nil
}

// kueueLabels returns the labels by which Kueue of the existing cluster selects the
// namespaces whose jobs it manages, sorted by key.
func kueueLabels(b *schema.Blueprint) []ir.KeyValue {
	if e := b.Cluster.Existing; e != nil && e.Kueue != nil {
		return keyValues(e.Kueue.NamespaceLabels)
	}
	return nil
}

// namespaceLabels returns the labels by which Kueue and the queues select the namespace of
// their team, sorted by key. A rule reports a label with two values.
func namespaceLabels(queues []ir.Queue, out []ir.KeyValue) []ir.KeyValue {
	for _, q := range queues {
		out = append(out, q.Namespaces.Labels...)
	}
	slices.SortStableFunc(out, func(a, b ir.KeyValue) int { return strings.Compare(a.Key, b.Key) })
	return slices.CompactFunc(out, func(a, b ir.KeyValue) bool { return a.Key == b.Key })
}

// bucketPrefix returns the common prefix of the names of all teams' buckets.
func bucketPrefix(project, platform string) string { return project + "-" + platform + "-" }

// namespaceOf returns the namespace of a team.
func namespaceOf(team schema.Team, name string) string {
	if team.Namespace == nil {
		return name
	}
	return team.Namespace.Name
}

// lowerSharedQueues resolves the queues that teams share.
func lowerSharedQueues(b *schema.Blueprint, offers map[string]*offer) []ir.SharedQueue {
	var out []ir.SharedQueue
	for tier, t := range byName(b.Tiers) {
		if t.Shared == nil {
			continue
		}
		quota := maps.Clone(t.Shared.Quota)
		if quota == nil {
			quota = map[string]schema.Quota{}
		}
		for _, name := range t.Capacity {
			if _, given := quota[name]; given || offers[name] == nil || offers[name].share == nil {
				continue
			}
			all := new(offers[name].quotaUnits())
			if offers[name].capacity.HasAccelerators() {
				quota[name] = schema.Quota{Accelerators: all}
			} else {
				quota[name] = schema.Quota{CPUs: all}
			}
		}
		q := ir.SharedQueue{Queue: lowerQueue(b, tier, quota, valueOr(t.Shared.Cohort, ""), offers)}
		if len(q.Flavors) == 0 && len(t.Capacity) > 0 {
			continue
		}
		q.ClusterQueue, q.Shared = valueOr(t.Shared.ClusterQueue, ir.ClusterQueuePrefix+tier), true
		q.Stop = valueOr(t.Shared.Stop, "")
		q.Share, q.ByUsage = lowerWeight(t.Shared.Weight), t.Shared.ByUsage
		teams := sortedUnique(t.Shared.Teams)
		if t.Shared.Teams == nil {
			teams = slices.Sorted(maps.Keys(b.Teams))
		}
		for _, name := range teams {
			if team, ok := b.Teams[name]; ok {
				q.Teams = append(q.Teams, ir.SharingTeam{
					Name: name, Namespace: namespaceOf(team, name),
					InExisting: team.Namespace != nil && team.Namespace.Existing,
				})
			}
		}
		out = append(out, q)
	}
	return out
}

// lowerQueue resolves a quota in a tier. The queue has no name yet.
func lowerQueue(
	b *schema.Blueprint, tier string, quota map[string]schema.Quota, cohort string, offers map[string]*offer,
) ir.Queue {
	t := b.Tiers[tier]
	q := ir.Queue{
		Tier: tier, Cohort: cohort, Strategy: queueingOf(t, offers), MaxGraceSeconds: t.MaxGraceSeconds,
		Preemption: lowerPreemption(b, tier, cohort), NextCapacity: lowerNextCapacity(t.NextCapacity),
		Namespaces: lowerNamespaces(t.Namespaces),
	}
	for _, class := range t.PriorityClasses(tier) {
		q.Classes = append(q.Classes, class.Name)
	}
	for name, value := range byName(t.WorkloadPriorities) {
		q.WorkloadPriorities = append(q.WorkloadPriorities, ir.WorkloadPriority{Name: name, Value: int32(value)})
	}
	slices.SortStableFunc(q.WorkloadPriorities,
		func(a, b ir.WorkloadPriority) int { return cmp.Compare(a.Value, b.Value) })
	q.Flavors = lowerFlavors(uniqueInOrder(t.Capacity), quota, cohort, offers)
	q.Checks = lowerChecks(t.AdmissionChecks, q.Flavors)
	return q
}

// lowerChecks returns the AdmissionChecks of others that the jobs of a queue with given flavors must
// pass. A check for capacities of which the queue has no quota concerns no job.
func lowerChecks(checks map[string]schema.CheckedCapacities, flavors []ir.FlavorQuota) (out []ir.QueueCheck) {
	for name, on := range byName(checks) {
		check := ir.QueueCheck{Name: name}
		for _, f := range flavors {
			if slices.Contains(on, f.Flavor) {
				check.Flavors = append(check.Flavors, f.Flavor)
			}
		}
		if on == nil || check.Flavors != nil {
			out = append(out, check)
		}
	}
	return out
}

// queueingOf returns the order of waiting jobs in a tier, as far as its capacities
// decide it: withQueueing also looks at the workloads. Jobs for different accelerators
// do not wait for the same nodes, so that one should not block the other. Machines
// without accelerators do not count: they often only help the jobs on the others,
// among which StrictFIFO keeps large jobs from waiting for ever.
func queueingOf(t schema.Tier, offers map[string]*offer) string {
	if t.Queueing != nil {
		return *t.Queueing
	}
	kinds := map[string]bool{}
	for _, name := range t.Capacity {
		if o := offers[name]; o != nil && o.capacity.HasAccelerators() {
			kind := o.capacity.Machine.Accelerator
			if s := o.capacity.Machine.Slice; s != nil {
				kind += " " + s.Topology
			}
			kinds[kind] = true
		}
	}
	if len(kinds) > 1 {
		return ir.BestEffortFIFO
	}
	return ir.StrictFIFO
}

// lowerPreemption resolves which jobs the jobs of a tier's queue may evict. A queue
// without a cohort lends nothing, so the default of toReclaim means nothing there,
// and Kueue refuses toBorrow without toReclaim.
func lowerPreemption(b *schema.Blueprint, tier, cohort string) ir.Preemption {
	if ir.Scheduler(b.Scheduler).Facts().PreemptsByPriority {
		return ir.Preemption{InQueue: ir.PreemptNever, ToReclaim: ir.PreemptNever, ToBorrow: ir.PreemptNever}
	}
	in := b.Tiers[tier].Preempts
	out := ir.Preemption{InQueue: in.InQueue, ToReclaim: in.ToReclaim, ToBorrow: in.ToBorrow}
	if in.ToBorrowUpTo != nil && cohort != "" {
		out.ToBorrowUpTo, out.LimitsToBorrow = int32(*in.ToBorrowUpTo), true
	}
	if cohort == "" {
		out.ToBorrow = ir.PreemptNever
		if out.ToReclaim == ir.PreemptAny {
			out.ToReclaim = ir.PreemptNever
		}
	}
	return out
}

// lowerNamespaces resolves which namespaces may use the queues of a tier.
func lowerNamespaces(in schema.Namespaces) ir.Namespaces {
	out := ir.Namespaces{All: in.All, None: in.None, Labels: keyValues(in.Labels)}
	for _, c := range in.Conditions {
		condition := ir.NamespaceCondition{Label: c.Label}
		switch {
		case c.In != nil:
			condition.Operator, condition.Values = ir.LabelIn, c.In
		case c.NotIn != nil:
			condition.Operator, condition.Values = ir.LabelNotIn, c.NotIn
		case valueOr(c.Exists, true):
			condition.Operator = ir.LabelExists
		default:
			condition.Operator = ir.LabelMissing
		}
		out.Conditions = append(out.Conditions, condition)
	}
	return out
}

// lowerNextCapacity resolves when the jobs of a tier go on to the next capacity.
func lowerNextCapacity(in schema.NextCapacity) ir.NextCapacity {
	return ir.NextCapacity{
		BeforeBorrowing: in.BeforeBorrowing, AfterEvicting: !in.BeforeEvicting,
		PrefersEvicting: valueOr(in.Prefer, schema.PreferBorrow) == schema.PreferEvict,
	}
}

// multiplyShare returns the amount of a resource in n units of quota.
func multiplyShare(share []ir.Amount, res string, n int) resource.Quantity {
	for _, a := range share {
		if a.Resource != res {
			continue
		}
		q := a.Quantity.DeepCopy()
		q.Mul(int64(n))
		return q
	}
	return wholeQuantity(0)
}
