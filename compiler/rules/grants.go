package rules

import (
	"fmt"
	"slices"

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
	tier, capacity string
}

// listGrants returns every quota on a capacity that its tier uses: the quotas of the
// teams, sorted, then the quotas of the queues that teams share.
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
	return out
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
