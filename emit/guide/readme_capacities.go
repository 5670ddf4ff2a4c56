package guide

import (
	"cmp"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// InAllZones reports whether a capacity is in all zones of the platform.
func (v view) InAllZones(c ir.Capacity) bool { return slices.Equal(c.Zones, v.Zones) }

// Accelerators returns how many accelerators a capacity has at most.
func (v view) Accelerators(c ir.Capacity) int { return c.MaxNodes * c.Machine.AcceleratorCount }

// guarantee compares the teams' quota on a capacity with its nodes.
type guarantee struct {
	Capacity, CountedIn string
	Guaranteed, Exist   string
	IsEven              bool
	Spare, Lacking      string // the difference, or ""
	Overcommit          string // why guarantees may exceed the nodes
}

// Guarantees compares the teams' quota on each capacity with its nodes.
func (v view) Guarantees() (out []guarantee) {
	for _, c := range v.Capacities {
		if c.SlicesOff() {
			continue
		}
		counted := c.CountedIn()
		guaranteed := ir.AmountOf(c.Guaranteed, counted)
		existing := c.OfferedBy(c.MaxNodes, counted)
		g := guarantee{Capacity: c.Name, CountedIn: counted, Overcommit: c.Overcommit,
			Guaranteed: ir.PrintQuantity(counted, guaranteed), Exist: ir.PrintQuantity(counted, existing)}
		rest := existing.DeepCopy()
		rest.Sub(guaranteed)
		switch rest.Sign() {
		case 0:
			g.IsEven = true
		case 1:
			g.Spare = ir.PrintQuantity(counted, rest)
		default:
			rest.Neg()
			g.Lacking = ir.PrintQuantity(counted, rest)
		}
		out = append(out, g)
	}
	return out
}

// CapacityUsers returns the users of each capacity.
func (v view) CapacityUsers() map[string]markup {
	uses, out := capacityUses(v.Platform), map[string]markup{}
	for _, c := range v.Capacities {
		out[c.Name] = usedBy(uses[c.Name], len(v.Teams))
	}
	return out
}

// use names a tier and the teams that have quota on a capacity in this tier.
type use struct {
	tier  string
	teams []string
}

// capacityUses returns the uses of every capacity, by the priority of their tiers.
func capacityUses(p *ir.Platform) map[string][]use {
	found := map[string][]use{}
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			for _, flavor := range quotaFlavors(q) {
				i := slices.IndexFunc(found[flavor], func(u use) bool { return u.tier == q.Tier })
				if i < 0 {
					i = len(found[flavor])
					found[flavor] = append(found[flavor], use{tier: q.Tier})
				}
				found[flavor][i].teams = append(found[flavor][i].teams, t.Name)
			}
		}
	}
	for _, uses := range found {
		slices.SortStableFunc(uses,
			func(a, b use) int { return cmp.Compare(tierPosition(p, a.tier), tierPosition(p, b.tier)) })
	}
	return found
}

// quotaFlavors names the capacities on which a queue has quota.
func quotaFlavors(q ir.Queue) []string {
	var names []string
	for _, f := range q.Flavors {
		if f.Usable() {
			names = append(names, f.Flavor)
		}
	}
	return names
}

// tierPosition returns the position of a tier among the tiers.
func tierPosition(p *ir.Platform, tier string) int {
	return slices.IndexFunc(p.PriorityClasses, func(c ir.PriorityClass) bool { return c.Tier == tier })
}

// usedBy returns a text that names the tiers and their teams, and joins tiers with
// the same teams. The parameter all is the number of teams of the platform.
func usedBy(uses []use, all int) markup {
	var parts []string
	for len(uses) > 0 {
		teams := uses[0].teams
		var tiers []string
		uses = slices.DeleteFunc(slices.Clone(uses), func(u use) bool {
			same := slices.Equal(u.teams, teams)
			if same {
				tiers = append(tiers, u.tier)
			}
			return same
		})
		who := markup("every team")
		if len(teams) < all {
			who = firstNames(teams)
		}
		parts = append(parts, string(codeList(tiers)+" of "+who))
	}
	return cmp.Or(markup(strings.Join(parts, "; ")), "nobody")
}
