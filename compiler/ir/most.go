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

// MostAccelerators returns, by resource, the largest number of GPUs or TPU chips that a
// team's admitted jobs can request: its queues' quota, and what they can borrow. A shared
// queue counts as a whole. The result is nil with KAI Scheduler, which lends without a limit.
func (p *Platform) MostAccelerators(t Team) map[string]resource.Quantity {
	if !Choose(p.Scheduler, true, false) {
		return nil
	}
	out := map[string]resource.Quantity{}
	for _, q := range t.Queues {
		for _, f := range q.Flavors {
			for _, r := range f.Quotas {
				if r.Resource == GPU || r.Resource == TPU {
					most := out[r.Resource]
					most.Add(p.mostOf(q, f.Flavor, r))
					out[r.Resource] = most
				}
			}
		}
	}
	return out
}

// FlavorMost is the most that one job can get of a flavor.
type FlavorMost struct {
	Flavor  string
	Amounts []Amount // in the order of Queue.Resources, then pods
}

// MostOf returns the most that one job in a queue can get: its pods of one kind use one of
// the flavors, in the order of the result. It leaves out flavors without quota. The result
// is nil with KAI Scheduler, and if the queue has a capacity without nodes for the time
// being: jobs wait for its nodes.
func (p *Platform) MostOf(q Queue) []FlavorMost {
	emptied := func(c Capacity) bool {
		return c.Emptied() && slices.ContainsFunc(q.Flavors, func(f FlavorQuota) bool { return f.Flavor == c.Name })
	}
	if !Choose(p.Scheduler, true, false) || p.AnyCapacity(emptied) {
		return nil
	}
	var out []FlavorMost
	for _, f := range q.Flavors {
		most, pods := FlavorMost{Flavor: f.Flavor}, int64(0)
		for _, r := range f.Quotas {
			amount := p.mostOf(q, f.Flavor, r)
			most.Amounts = append(most.Amounts, Amount{Resource: r.Resource, Quantity: amount})
			if r.Resource == p.CountedIn(f.Flavor) {
				pods = PodsPerUnit * amount.Value()
			}
		}
		if pods > 0 {
			most.Amounts = append(most.Amounts,
				Amount{Resource: Pods, Quantity: *resource.NewQuantity(pods, resource.DecimalSI)})
			out = append(out, most)
		}
	}
	return out
}

// mostOf returns the most that a queue can use of a resource of a capacity: its own quota,
// and what it can borrow.
func (p *Platform) mostOf(q Queue, flavor string, quota ResourceQuota) resource.Quantity {
	most := quota.Nominal.DeepCopy()
	switch {
	case quota.Borrowing != nil:
		most.Add(*quota.Borrowing)
	case quota.BorrowsAll:
		most = p.inCohort(q, flavor, quota.Resource)
	}
	return most
}

// inCohort returns the quota of all queues in the tree of a queue's cohort.
func (p *Platform) inCohort(of Queue, flavor, name string) resource.Quantity {
	roots := p.RootCohorts()
	var sum resource.Quantity
	add := func(q Queue) {
		if q.Cohort == "" || roots[q.Cohort] != roots[of.Cohort] {
			return
		}
		for _, f := range q.Flavors {
			for _, r := range f.Quotas {
				if f.Flavor == flavor && r.Resource == name {
					sum.Add(r.Nominal)
				}
			}
		}
	}
	for i := range p.Teams {
		for _, q := range p.Teams[i].Queues {
			if !q.Shared {
				add(q)
			}
		}
	}
	for i := range p.SharedQueues {
		add(p.SharedQueues[i].Queue)
	}
	return sum
}
