package rules

import (
	"fmt"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/schema"
)

// grant is a quota as the blueprint writes it: the quota of a team, or of the queue
// that teams share.
type grant struct {
	schema.Quota
	path           fieldPath // path of the quota
	holder         fieldPath // path of the team, or of the tier's shared queue
	who            string    // name of the holder, for a message
	cohort         *string   // cohort of the holder
	tier, capacity string    // tier is "" for the quota of a cohort itself
}

// queueGrants yields the quotas of queues.
func (p *Pass) queueGrants() iter.Seq[grant] {
	return func(yield func(grant) bool) {
		for _, q := range p.grants() {
			if q.tier != "" && !yield(q) {
				return
			}
		}
	}
}

// cohortGrants yields the quotas of cohorts.
func (p *Pass) cohortGrants() iter.Seq[grant] {
	return func(yield func(grant) bool) {
		for _, q := range p.grants() {
			if q.tier == "" && !yield(q) {
				return
			}
		}
	}
}

// listGrants returns every quota on a capacity that its tier uses: the quotas of the
// teams, sorted, then the quotas of the queues that teams share, then those of cohorts, whose
// cohort is their parent.
func listGrants(b *schema.Blueprint) []grant {
	var out []grant
	add := func(g grant, quota map[string]schema.Quota, path fieldPath) {
		for _, c := range sortedKeys(quota) {
			if slices.Contains(b.Tiers[g.tier].Capacity, c) {
				g.Quota, g.path, g.capacity = quota[c], path.at(c), c
				out = append(out, g)
			}
		}
	}
	for name, team := range sorted(b.Teams) {
		holder, who := at("teams", name), fmt.Sprintf("team %q", name)
		for _, tier := range sortedKeys(team.Quota) {
			if b.Tiers[tier].Shared == nil {
				add(grant{holder: holder, who: who, cohort: team.Cohort, tier: tier}, team.Quota[tier],
					at("teams", name, "quota", tier))
			}
		}
	}
	for tier, t := range sorted(b.Tiers) {
		if s := t.Shared; s != nil {
			add(grant{
				holder: at("tiers", tier, "shared"), who: fmt.Sprintf("the shared queue of tier %q", tier),
				cohort: s.Cohort, tier: tier,
			}, s.Quota, at("tiers", tier, "shared", "quota"))
		}
	}
	for name, c := range sorted(b.Cohorts) {
		for capacity, quota := range sorted(c.Exact()) {
			out = append(out, grant{
				Quota: quota, path: at("cohorts", name, "quota", capacity), holder: at("cohorts", name),
				who: fmt.Sprintf("cohort %q", name), cohort: c.Parent, capacity: capacity,
			})
		}
	}
	return out
}

// limited reports whether a quota limits borrowing or lending, and returns the path below the
// quota of its first limit.
func (q grant) limited() (path []string, ok bool) {
	switch {
	case q.Borrow != 0:
		return []string{"borrow"}, true
	case q.Lend != nil:
		return []string{"lend"}, true
	}
	for name, r := range sorted(q.Resources) {
		if r.Borrow != "" && !isZero(r.Borrow) {
			return []string{"resources", name, "borrow"}, true
		}
		if r.Lend != "" {
			return []string{"resources", name, "lend"}, true
		}
	}
	return nil, false
}

// isZero reports whether an amount is 0, or not given.
func isZero(amount schema.Quantity) bool {
	if amount == "" {
		return true
	}
	q, err := resource.ParseQuantity(string(amount))
	return err == nil && q.IsZero()
}

// borrowsAny reports whether a quota can borrow some resource.
func borrowsAny(q schema.Quota) bool {
	for _, r := range q.Resources {
		if !isZero(r.Borrow) {
			return true
		}
	}
	return q.Borrow != 0
}

// guaranteesAny reports whether a quota guarantees some resource.
func guaranteesAny(q schema.Quota) bool {
	for _, r := range q.Resources {
		if !isZero(r.Guaranteed) {
			return true
		}
	}
	return nominalQuota(q) > 0
}

// nominalQuota returns the guaranteed part of a quota, in its own unit.
func nominalQuota(q schema.Quota) int {
	n := 0
	if q.Accelerators != nil {
		n = *q.Accelerators
	}
	if q.CPUs != nil {
		n = max(n, *q.CPUs)
	}
	return n
}
