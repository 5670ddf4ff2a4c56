package standing

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
)

// queue is a ClusterQueue and the teams that submit jobs to it.
type queue struct {
	plan    *ir.Platform
	quota   *ir.Queue
	members []member
	half    int // 0 or 1: the teams of a tree of cohorts are in both halves by turns
}

// member is a team that submits jobs through a LocalQueue.
type member struct {
	team  *ir.Team
	queue *ir.Queue
}

// queuesOf returns the touched ClusterQueues of a plan, by team, then by tier.
func queuesOf(p *ir.Platform, t touched) []*queue {
	var out []*queue
	byName := map[string]*queue{}
	roots := p.RootCohorts()
	owners := map[string][]string{} // teams, or tiers that teams share, by the root of their cohort
	for i := range p.Teams {
		team := &p.Teams[i]
		for j := range team.Queues {
			q := &team.Queues[j]
			if !t[name{kind: "ClusterQueue", name: q.ClusterQueue}] {
				continue
			}
			found := byName[q.ClusterQueue]
			if found == nil {
				owner, root := "team "+team.Name, roots[q.Cohort]
				if q.Shared {
					owner = "tier " + q.Tier
				}
				if !slices.Contains(owners[root], owner) {
					owners[root] = append(owners[root], owner)
				}
				found = &queue{plan: p, quota: q, half: slices.Index(owners[root], owner) % 2}
				byName[q.ClusterQueue] = found
				out = append(out, found)
			}
			found.members = append(found.members, member{team, q})
		}
	}
	return out
}

// share is what a queue has of a capacity.
type share struct {
	queue    *queue
	capacity *ir.Capacity
	counted  string      // resource in which people count
	unit     []ir.Amount // what a pod requests that counts 1
	nominal  int64
	// borrowing is the most that the queue may borrow, -1 for no limit.
	borrowing int64
}

// shares returns what a queue has of each capacity, in its order.
func (q *queue) shares() []share {
	var out []share
	capacities := q.plan.NamedCapacities()
	for i := range q.quota.Flavors {
		f := &q.quota.Flavors[i]
		capacity := capacities[f.Flavor]
		if capacity == nil {
			continue
		}
		s := share{queue: q, capacity: capacity, counted: capacity.CountedIn(), unit: unitOf(q.plan, capacity)}
		for _, r := range f.Quotas {
			if r.Resource != s.counted || f.Waiting {
				continue
			}
			s.nominal = r.Nominal.Value()
			switch {
			case r.BorrowsAll:
				s.borrowing = -1
			case r.Borrowing != nil:
				s.borrowing = r.Borrowing.Value()
			}
		}
		if len(s.unit) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// waits reports whether jobs wait for the capacity in a scene: the queue has quota of it. In a
// StrictFIFO queue, jobs that wait for one capacity would block those that wait for another.
func (s share) waits() bool {
	if s.queue.quota.Strategy != ir.StrictFIFO {
		return s.nominal > 0
	}
	most := slices.MaxFunc(s.queue.shares(), func(a, b share) int { return cmp.Compare(a.nominal, b.nominal) })
	return s.nominal > 0 && s.capacity == most.capacity
}

// unitOf returns what a pod requests that counts 1 on a capacity: as much of each resource as
// the queues have for it, or the part of a node. It is nil if neither is known.
func unitOf(p *ir.Platform, c *ir.Capacity) []ir.Amount {
	for q := range p.ClusterQueues() {
		for _, f := range q.Flavors {
			if f.Flavor != c.Name {
				continue
			}
			if unit := partOf(amountsOf(f.Quotas), c.CountedIn()); unit != nil {
				return unit
			}
		}
	}
	return partOf(c.PerNode, c.CountedIn())
}

// amountsOf returns the nominal quotas, or the limits on borrowing without a guarantee.
func amountsOf(quotas []ir.ResourceQuota) []ir.Amount {
	var out []ir.Amount
	for _, q := range quotas {
		amount := ir.Amount{Resource: q.Resource, Quantity: q.Nominal}
		if q.Nominal.IsZero() && q.Borrowing != nil {
			amount.Quantity = *q.Borrowing
		}
		out = append(out, amount)
	}
	return out
}

// partOf divides amounts by that of one resource, and rounds down: to thousandths of a vCPU and
// to bytes. It returns nil if there is none of the resource.
func partOf(amounts []ir.Amount, counted string) []ir.Amount {
	total := ir.AmountOf(amounts, counted)
	n := total.Value()
	if n == 0 {
		return nil
	}
	var out []ir.Amount
	for _, a := range amounts {
		part := ir.Amount{Resource: a.Resource}
		if a.Resource == ir.CPU {
			part.Quantity = *resource.NewMilliQuantity(a.Quantity.MilliValue()/n, resource.DecimalSI)
		} else {
			part.Quantity = *resource.NewQuantity(a.Quantity.Value()/n, a.Quantity.Format)
		}
		if !part.Quantity.IsZero() {
			out = append(out, part)
		}
	}
	return out
}
