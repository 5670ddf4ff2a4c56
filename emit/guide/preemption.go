package guide

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
)

// eviction describes a tier: which jobs its waiting jobs may evict, and how a guarantee
// that it has lent comes back. Kueue evicts jobs of other queues only if their queue
// borrows, and only in the capacities that the waiting job needs. Source: Kueue v0.19,
// pkg/scheduler/preemption/classical.
type eviction struct {
	Tier         string
	JobsOvertake bool            // whether a job that fits may overtake a job that does not
	Checks       []ir.QueueCheck // of others, that its jobs must pass
	GoesOn       string          // when a job goes on to the next capacity, "" if it does what Kueue does by default
	Several      bool            // whether its jobs have several priorities
	InQueue      bool            // whether a job may evict jobs of its queue
	Newer        bool            // also those of its own priority
	Lends        bool            // whether others can borrow its guarantee
	// Reclaims are the tiers whose jobs it may evict to get its guarantee back. With
	// ReclaimsLower, only their jobs of a lower priority; with ReclaimsSome, other jobs
	// can borrow the guarantee, too.
	Reclaims                    []string
	ReclaimsLower, ReclaimsSome bool
	Borrows                     []string // tiers whose jobs it may evict to borrow
	// BorrowsUpTo is the highest priority of the jobs that it may evict to borrow, "" for every
	// lower one.
	BorrowsUpTo string
	EvictedBy   []string // tiers whose jobs may evict its jobs that borrow

	hasQueue      bool
	policy        ir.Preemption
	ByUsage       bool     // the team that has used least comes first
	lowest, most  int32    // values of its PriorityClasses
	lendsTo       []string // tiers whose jobs can borrow its guarantee
	borrowsBeside []string // tiers whose jobs can borrow where its jobs can
}

// Evicts reports whether waiting jobs of the tier may evict other jobs.
func (e *eviction) Evicts() bool { return e.InQueue || e.Reclaims != nil || e.Borrows != nil }

// pool is a capacity in a tree of cohorts, in which quota is lent.
type pool struct{ root, capacity string }

// Evictions returns the evictions of the tiers that have queues, by their lowest
// priority.
func (v view) Evictions() []*eviction {
	byTier := map[string]*eviction{}
	var out []*eviction
	classes := v.queuePriorities()
	for _, c := range classes {
		e := byTier[c.Tier]
		if e == nil {
			e = &eviction{Tier: c.Tier, lowest: c.Value}
			byTier[c.Tier] = e
			out = append(out, e)
		}
		e.most = c.Value
	}
	roots := v.RootCohorts()
	borrowers := countBorrowers(v.Platform, roots)
	for q := range v.ClusterQueues() {
		if e := byTier[q.Tier]; e != nil {
			e.addQueue(q, func(capacity string) map[string]int { return borrowers[pool{roots[q.Cohort], capacity}] })
		}
	}
	out = slices.DeleteFunc(out, func(e *eviction) bool { return !e.hasQueue })
	for _, e := range out {
		e.conclude(classes)
		for _, tier := range slices.Concat(e.Reclaims, e.Borrows) {
			if victim := byTier[tier]; victim != nil {
				victim.EvictedBy = withName(victim.EvictedBy, e.Tier)
			}
		}
	}
	return out
}

// queuePriorities returns the PriorityClasses, and the workload priorities of the tiers as if they
// were PriorityClasses, by rising value.
func (v view) queuePriorities() []ir.PriorityClass {
	all, known := slices.Clone(v.PriorityClasses), map[string]bool{}
	for q := range v.ClusterQueues() {
		if known[q.Tier] {
			continue
		}
		known[q.Tier] = true
		for _, c := range q.WorkloadPriorities {
			all = append(all, ir.PriorityClass{Name: c.Name, Value: c.Value, Tier: q.Tier})
		}
	}
	slices.SortStableFunc(all, func(a, b ir.PriorityClass) int { return cmp.Compare(a.Value, b.Value) })
	return all
}

// addQueue adds a queue of the tier. borrowers returns the number of queues that can
// borrow a capacity where the queue lends it, by tier.
func (e *eviction) addQueue(q *ir.Queue, borrowers func(capacity string) map[string]int) {
	if !e.hasQueue {
		e.hasQueue, e.JobsOvertake, e.ByUsage = true, q.Strategy == ir.BestEffortFIFO, q.ByUsage
		e.GoesOn, e.Checks = goesOn(q.NextCapacity), q.Checks
	}
	e.policy.InQueue = q.Preemption.InQueue
	if q.Cohort == "" {
		return
	}
	e.policy = q.Preemption
	for _, f := range q.Flavors {
		for tier, n := range borrowers(f.Flavor) {
			own := f.Borrows()
			if tier == q.Tier && own {
				n-- // the queue itself
			}
			if n > 0 && lendsFlavor(f) {
				e.lendsTo = withName(e.lendsTo, tier)
			}
			if n > 0 && own {
				e.borrowsBeside = withName(e.borrowsBeside, tier)
			}
		}
	}
}

// goesOn says when a job goes on to the next capacity, "" by default.
func goesOn(n ir.NextCapacity) string {
	switch {
	case n.PrefersEvicting:
		return "look at all capacities before they borrow or evict, and then evict before they borrow"
	case n.BeforeBorrowing && n.AfterEvicting:
		return "evict on a capacity before they go on to the next one, and borrow only if they find no idle quota on " +
			"any capacity"
	case n.BeforeBorrowing:
		return "look for idle quota on all capacities before they borrow"
	case n.AfterEvicting:
		return "borrow or evict on a capacity before they go on to the next one"
	}
	return ""
}

// conclude sets what follows from the queues of the tier.
func (e *eviction) conclude(classes []ir.PriorityClass) {
	e.Several = e.lowest < e.most
	e.Newer = e.policy.InQueue == ir.PreemptNewer
	e.InQueue = e.Newer || e.policy.InQueue == ir.PreemptLowerPriority && e.Several
	e.Lends = e.lendsTo != nil
	below := func(tiers []string) (out []string) { // those with a priority below the tier's highest
		for _, c := range classes {
			if slices.Contains(tiers, c.Tier) && c.Value < e.most {
				out = withName(out, c.Tier)
			}
		}
		return out
	}
	switch e.policy.ToReclaim {
	case ir.PreemptAny:
		e.Reclaims = e.lendsTo
	case ir.PreemptLowerPriority:
		e.Reclaims, e.ReclaimsLower = below(e.lendsTo), true
		e.ReclaimsSome = slices.ContainsFunc(classes, func(c ir.PriorityClass) bool {
			return slices.Contains(e.lendsTo, c.Tier) && c.Value >= e.lowest
		})
	}
	if ir.Evicts(e.policy.ToBorrow) {
		e.Borrows = below(e.borrowsBeside)
		if e.policy.LimitsToBorrow {
			e.BorrowsUpTo = strconv.Itoa(int(e.policy.ToBorrowUpTo))
			e.Borrows = slices.DeleteFunc(e.Borrows, func(tier string) bool {
				return !slices.ContainsFunc(classes, func(c ir.PriorityClass) bool {
					return c.Tier == tier && c.Value <= e.policy.ToBorrowUpTo
				})
			})
		}
	}
}

// countBorrowers returns the number of queues that can borrow in each pool, by tier.
// roots holds the root of each cohort.
func countBorrowers(p *ir.Platform, roots map[string]string) map[pool]map[string]int {
	out := map[pool]map[string]int{}
	for q := range p.ClusterQueues() {
		for _, f := range q.Flavors {
			if q.Cohort == "" || !f.Borrows() {
				continue
			}
			in := pool{roots[q.Cohort], f.Flavor}
			if out[in] == nil {
				out[in] = map[string]int{}
			}
			out[in][q.Tier]++
		}
	}
	return out
}

// market says who takes part in lending in a pool.
type market struct {
	lends, borrows, several bool
	owner                   string // one of the owners
}

// quotaMoves reports whether an owner of queues can borrow from another owner. The owners
// are what ownerOf returns.
func (v view) quotaMoves(ownerOf func(q *ir.Queue, users []ir.SharingTeam) string) bool {
	roots, markets := v.RootCohorts(), map[pool]market{}
	for q, users := range v.ClusterQueues() {
		for _, f := range q.Flavors {
			if q.Cohort == "" || !lendsFlavor(f) && !f.Borrows() {
				continue
			}
			in, owner := pool{roots[q.Cohort], f.Flavor}, ownerOf(q, users)
			m := markets[in]
			m.several = m.several || m.owner != "" && m.owner != owner
			m.owner, m.lends, m.borrows = owner, m.lends || lendsFlavor(f), m.borrows || f.Borrows()
			markets[in] = m
			if m.lends && m.borrows && m.several {
				return true
			}
		}
	}
	return false
}

// lendsFlavor reports whether a queue can lend quota of a capacity.
func lendsFlavor(f ir.FlavorQuota) bool {
	return slices.ContainsFunc(f.Quotas, func(q ir.ResourceQuota) bool {
		return !q.Nominal.IsZero() && (q.Lending == nil || !q.Lending.IsZero())
	})
}

// MovesQuota reports whether some queue can borrow from another.
func (v view) MovesQuota() bool {
	return v.quotaMoves(func(q *ir.Queue, _ []ir.SharingTeam) string { return q.ClusterQueue })
}

// TeamsLend reports whether some team can borrow from another team. Teams that share a queue
// count as a team of their own.
func (v view) TeamsLend() bool {
	return v.quotaMoves(func(q *ir.Queue, users []ir.SharingTeam) string {
		if q.Shared {
			return q.ClusterQueue
		}
		return users[0].Name
	})
}

// tierNode is a capacity on which queues of a tier have quota.
type tierNode struct {
	Tier string
	ir.Capacity
}

// TierNodes returns the capacities on which the queues of each tier have quota, in the
// order in which Kueue tries them.
func (v view) TierNodes() (out []tierNode) {
	for _, class := range v.queuePriorities() {
		has := func(name string) bool {
			return slices.ContainsFunc(out, func(n tierNode) bool { return n.Tier == class.Tier && n.Name == name })
		}
		for q := range v.ClusterQueues() {
			if q.Tier != class.Tier {
				continue
			}
			for _, c := range v.capacitiesOf(*q) {
				if slices.Contains(quotaFlavors(*q), c.Name) && !has(c.Name) {
					out = append(out, tierNode{class.Tier, c})
				}
			}
		}
	}
	return out
}
