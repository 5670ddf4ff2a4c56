package guide

import (
	"maps"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/markdown"
)

// eviction describes a tier: which jobs its waiting jobs may evict, and how a guarantee
// that it has lent comes back. Kueue evicts jobs of other queues
// only if their queue borrows, and only in the capacities that the waiting job needs.
// Source: Kueue v0.19, pkg/scheduler/preemption/classical.
type eviction struct {
	tier          string
	hasQueue      bool
	inQueue       string
	toReclaim     string
	toBorrow      string
	lowest, most  int32           // values of its PriorityClasses
	lendsTo       map[string]bool // tiers whose jobs can borrow its guarantee
	borrowsBeside map[string]bool // tiers whose jobs can borrow where its jobs can
}

// pool is a capacity in a tree of cohorts, in which quota is lent.
type pool struct{ root, capacity string }

// evictionsOf returns the evictions of the tiers that have queues, by their lowest
// priority.
func evictionsOf(p *ir.Platform) []*eviction {
	byTier := map[string]*eviction{}
	var out []*eviction
	for _, c := range p.PriorityClasses { // by rising value
		e := byTier[c.Tier]
		if e == nil {
			e = &eviction{tier: c.Tier, lowest: c.Value, lendsTo: map[string]bool{}, borrowsBeside: map[string]bool{}}
			byTier[c.Tier] = e
			out = append(out, e)
		}
		e.most = c.Value
	}
	roots := p.RootCohorts()
	borrowers := countBorrowers(p, roots)
	for q := range p.ClusterQueues() {
		e := byTier[q.Tier]
		if e == nil {
			continue
		}
		e.hasQueue, e.inQueue = true, q.Preemption.InQueue
		if q.Cohort == "" {
			continue
		}
		e.toReclaim, e.toBorrow = q.Preemption.ToReclaim, q.Preemption.ToBorrow
		for _, f := range q.Flavors {
			for tier, n := range borrowers[pool{roots[q.Cohort], f.Flavor}] {
				own := f.Borrows()
				if tier == q.Tier && own {
					n-- // the queue itself
				}
				e.lendsTo[tier] = e.lendsTo[tier] || n > 0 && lendsFlavor(f)
				e.borrowsBeside[tier] = e.borrowsBeside[tier] || n > 0 && own
			}
		}
	}
	return slices.DeleteFunc(out, func(e *eviction) bool { return !e.hasQueue })
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

// lenders is the set of owners of queues that lend or borrow quota in a pool.
type lenders struct {
	lends, borrows bool
	owners         map[string]bool
}

// quotaMoves reports whether some queue can borrow from another, and whether some team
// can borrow from another team. Teams that share a queue count as a team of their own.
func quotaMoves(p *ir.Platform) (betweenQueues, betweenTeams bool) {
	roots := p.RootCohorts()
	queues, teams := map[pool]*lenders{}, map[pool]*lenders{}
	for q, users := range p.ClusterQueues() {
		owner := q.ClusterQueue
		if !q.Shared {
			owner = users[0].Name
		}
		for _, f := range q.Flavors {
			lends, borrows := lendsFlavor(f), f.Borrows()
			if q.Cohort == "" || !lends && !borrows {
				continue
			}
			in := pool{roots[q.Cohort], f.Flavor}
			betweenQueues = joinLenders(queues, in, q.ClusterQueue, lends, borrows) || betweenQueues
			betweenTeams = joinLenders(teams, in, owner, lends, borrows) || betweenTeams
		}
		if betweenQueues && betweenTeams {
			break
		}
	}
	return betweenQueues, betweenTeams
}

// joinLenders adds an owner to a pool, and reports whether one owner of the pool can now
// borrow from another.
func joinLenders(pools map[pool]*lenders, in pool, owner string, lends, borrows bool) bool {
	l := pools[in]
	if l == nil {
		l = &lenders{owners: map[string]bool{}}
		pools[in] = l
	}
	l.lends, l.borrows, l.owners[owner] = l.lends || lends, l.borrows || borrows, true
	return l.lends && l.borrows && len(l.owners) > 1
}

// lendsFlavor reports whether a queue can lend quota of a capacity.
func lendsFlavor(f ir.FlavorQuota) bool {
	return slices.ContainsFunc(f.Quotas, func(q ir.ResourceQuota) bool {
		return !q.Nominal.IsZero() && (q.Lending == nil || !q.Lending.IsZero())
	})
}

// below returns the tiers of a set that have a priority below the highest priority of
// the tier.
func (e *eviction) below(p *ir.Platform, tiers map[string]bool) map[string]bool {
	out := map[string]bool{}
	for _, c := range p.PriorityClasses {
		if tiers[c.Tier] && c.Value < e.most {
			out[c.Tier] = true
		}
	}
	return out
}

// reclaims returns the tiers whose jobs may be evicted to get a guarantee back.
func (e *eviction) reclaims(p *ir.Platform) map[string]bool {
	switch e.toReclaim {
	case ir.PreemptAny:
		return e.lendsTo
	case ir.PreemptLowerPriority:
		return e.below(p, e.lendsTo)
	}
	return nil
}

// victims returns the jobs that a waiting job of the tier may evict, "" if there are
// none.
func (e *eviction) victims(p *ir.Platform) markup {
	var out []markup
	several := e.lowest < e.most
	switch {
	case e.inQueue == ir.PreemptNewer && several:
		out = append(out, "in its queue, jobs of a lower priority, and newer jobs of the same priority")
	case e.inQueue == ir.PreemptNewer:
		out = append(out, "in its queue, newer jobs")
	case e.inQueue == ir.PreemptLowerPriority && several:
		out = append(out, "in its queue, jobs of a lower priority")
	}
	const lower = " and have a lower priority"
	if tiers := tierNames(e.reclaims(p)); tiers != "" {
		which := markup("")
		if e.toReclaim == ir.PreemptLowerPriority {
			which = lower
		}
		out = append(out, "to get its guarantee back, jobs of "+tiers+" that borrow"+which)
	}
	if tiers := tierNames(e.below(p, e.borrowsBeside)); tiers != "" && ir.Evicts(e.toBorrow) {
		out = append(out, "to borrow, jobs of "+tiers+" that borrow"+lower)
	}
	return markdown.Join(out, "; ")
}

// comesBack returns how a guarantee that the tier's queues have lent comes back.
func (e *eviction) comesBack(p *ir.Platform) markup {
	const ends, evicts = "when the jobs that borrow it end", "when a job needs it"
	switch {
	case tierNames(e.lendsTo) == "":
		return "nobody can borrow it"
	case e.toReclaim == ir.PreemptAny:
		return evicts
	case tierNames(e.reclaims(p)) == "":
		return ends
	}
	for _, c := range p.PriorityClasses {
		if e.lendsTo[c.Tier] && c.Value >= e.lowest {
			return "from jobs of a lower priority when a job needs it; from others when they end"
		}
	}
	return evicts
}

// tierNames returns the names of the tiers in a set, "" if there is none.
func tierNames(tiers map[string]bool) markup {
	var names []markup
	for _, name := range slices.Sorted(maps.Keys(tiers)) {
		if tiers[name] {
			names = append(names, codeSpan(name))
		}
	}
	return words.First(names, maxGroups)
}
