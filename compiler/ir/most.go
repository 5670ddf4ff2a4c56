package ir

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

// TeamQuota is the name of the ResourceQuota in the namespace of each team.
const TeamQuota = "team-limits"

// PodsPerUnit is the number of pods that a queue may have for each accelerator, or vCPU, of
// its quota: the number of pods that a node holds. Even with one accelerator or vCPU to a
// node, no job of real size waits for this quota.
const PodsPerUnit = maxPods

// Lent holds what the queues and cohorts under each root cohort lend together. It ignores the
// limits of cohorts, so that it is at least what they lend.
type Lent struct {
	platform *Platform
	root     map[string]string // of each cohort
	sums     map[lentKey]resource.Quantity
}

type lentKey struct{ root, flavor, resource string }

// Lent sums up what the queues and cohorts of the platform lend.
func (p *Platform) Lent() Lent {
	out := Lent{platform: p, root: p.RootCohorts(), sums: map[lentKey]resource.Quantity{}}
	add := func(cohort, flavor string, r ResourceQuota, lends resource.Quantity) {
		key := lentKey{out.root[cohort], flavor, r.Resource}
		sum := out.sums[key]
		sum.Add(lends)
		out.sums[key] = sum
	}
	for q := range p.ClusterQueues() {
		for _, f := range q.Flavors {
			for _, r := range f.Quotas {
				add(q.Cohort, f.Flavor, r, r.lendable())
			}
		}
	}
	for _, c := range p.Cohorts {
		for _, f := range c.Flavors {
			for _, r := range f.Quotas {
				add(c.Name, f.Flavor, r, r.Nominal)
			}
		}
	}
	return out
}

// lendable returns the most that a queue lends.
func (q ResourceQuota) lendable() resource.Quantity {
	if q.Lending != nil && q.Lending.Cmp(q.Nominal) < 0 {
		return *q.Lending
	}
	return q.Nominal
}

// ByOthers returns what the other queues and the cohorts under a cohort's root lend to the
// queue with the given quota. The cohort is not "".
func (l Lent) ByOthers(cohort, flavor string, own ResourceQuota) resource.Quantity {
	sum := l.sums[lentKey{l.root[cohort], flavor, own.Resource}].DeepCopy()
	sum.Sub(own.lendable())
	return sum
}

// Most returns the most of a resource that a queue in a cohort can use of a flavor: its own
// quota, and what it can borrow.
func (l Lent) Most(cohort, flavor string, own ResourceQuota) resource.Quantity {
	most := own.Nominal.DeepCopy()
	if own.Borrows() {
		lent := l.ByOthers(cohort, flavor, own)
		if !own.BorrowsAll && lent.Cmp(*own.Borrowing) > 0 {
			lent = *own.Borrowing
		}
		most.Add(lent)
	}
	return most
}

// MostAccelerators returns, by resource, a number of GPUs or TPU chips that a team's admitted
// jobs never exceed: its queues' quota, and what they can borrow. A shared queue counts as a
// whole. The result is nil with KAI Scheduler, which lends without a limit.
func (l Lent) MostAccelerators(t Team) map[string]resource.Quantity {
	if !Choose(l.platform.Scheduler, true, false) {
		return nil
	}
	// In each root cohort, the team can use at most its own quota, and what others lend.
	type use struct{ queues, whole resource.Quantity }
	uses := map[lentKey]*use{}
	for _, q := range t.Queues {
		for _, f := range q.Flavors {
			for _, r := range f.Quotas {
				if r.Resource != GPU && r.Resource != TPU {
					continue
				}
				key := lentKey{l.root[q.Cohort], f.Flavor, r.Resource}
				if uses[key] == nil {
					uses[key] = &use{whole: l.sums[key].DeepCopy()}
				}
				uses[key].queues.Add(l.Most(q.Cohort, f.Flavor, r))
				uses[key].whole.Add(r.Nominal)
				uses[key].whole.Sub(r.lendable())
			}
		}
	}
	out := map[string]resource.Quantity{}
	for key, use := range uses {
		most := out[key.resource]
		if use.whole.Cmp(use.queues) < 0 {
			most.Add(use.whole)
		} else {
			most.Add(use.queues)
		}
		out[key.resource] = most
	}
	return out
}

// FlavorMost is the most that one job can get of a flavor.
type FlavorMost struct {
	Flavor  string
	Amounts []Amount // in the order of FlavorQuota.Quotas
}

// MostPerJob returns the most that one job in a queue can get: its pods of one kind use one
// of the flavors, in the order of the result. It leaves out flavors without quota. The result
// is nil with KAI Scheduler, and if the queue has a capacity without nodes for the time
// being: jobs wait for its nodes.
func (l Lent) MostPerJob(q Queue) []FlavorMost {
	emptied := func(c Capacity) bool {
		return c.Emptied() && slices.ContainsFunc(q.Flavors, func(f FlavorQuota) bool { return f.Flavor == c.Name })
	}
	if !Choose(l.platform.Scheduler, true, false) || l.platform.AnyCapacity(emptied) {
		return nil
	}
	var out []FlavorMost
	for _, f := range q.Flavors {
		most := FlavorMost{Flavor: f.Flavor}
		for _, r := range f.Quotas {
			most.Amounts = append(most.Amounts, Amount{Resource: r.Resource, Quantity: l.Most(q.Cohort, f.Flavor, r)})
		}
		if slices.ContainsFunc(most.Amounts, func(a Amount) bool { return !a.Quantity.IsZero() }) {
			out = append(out, most)
		}
	}
	return out
}
