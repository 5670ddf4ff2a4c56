package guide

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
)

// capacities shows the hardware and how it is obtained.
func capacities(d *document, p *ir.Platform) {
	d.Heading(2, "Capacities")
	schedulerOf(p).named(d, p)
	users := users(p)
	var rows [][]markup
	for _, c := range p.Capacities {
		zones := codes(c.Zones)
		if slices.Equal(c.Zones, p.Zones) {
			zones = "all"
		}
		accelerators := markup("none")
		if c.Machine.Accelerator != "" {
			accelerators = digits(c.MaxNodes*c.Machine.AcceleratorCount) + " " + code(c.Machine.Accelerator)
		}
		rows = append(rows, []markup{
			code(c.Name), code(c.Hardware), machine(c), obtained(c), zones, nodes(c), accelerators, usedBy(users[c.Name], len(p.Teams)),
		})
	}
	d.Table([]markup{"Capacity", "Hardware", "Machine", "Obtained by", "Zones", "Nodes", "Accelerators at most",
		"Used by"}, rows)
	d.Para("Besides, the node pool ", code(p.SystemPool.Name), " of ", digits(p.SystemPool.NodesPerZone), " ", code(p.SystemPool.Machine),
		" in each zone runs what is not a team's job.")
	remarks(d, p)
}

// kueueNamed says what has the name of a capacity.
func kueueNamed(d *document, p *ir.Platform) {
	pools := markup("")
	if p.AnyCapacity(ir.Capacity.Sliced) {
		pools = "; those of TPU slices have a number besides"
	}
	d.Para("A capacity is some hardware obtained in one way. Its node pool, where it has one, and its ResourceFlavor "+
		"have its name", pools, ".")
}

// use is which teams have quota on a capacity in a tier.
type use struct {
	tier  string
	teams []string
}

// users tells for every capacity who may use it, tier by tier in the order of
// their priority.
func users(p *ir.Platform) map[string][]use {
	found := map[string][]use{}
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			for _, flavor := range flavors(q) {
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
		slices.SortStableFunc(uses, func(a, b use) int { return cmp.Compare(priority(p, a.tier), priority(p, b.tier)) })
	}
	return found
}

func usable(q ir.ResourceQuota) bool { return !q.Nominal.IsZero() || q.Borrows() }

// priority is a tier's place among the tiers.
func priority(p *ir.Platform, tier string) int {
	return slices.IndexFunc(p.PriorityClasses, func(c ir.PriorityClass) bool { return c.Tier == tier })
}

// usedBy names tiers and their teams, tiers of the same teams together; of all
// teams is how many the platform has.
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
			who = some(teams)
		}
		parts = append(parts, string(codes(tiers)+" of "+who))
	}
	return cmp.Or(markup(strings.Join(parts, "; ")), "nobody")
}

// guarantees holds the teams' quota against the hardware.
func guarantees(d *document, p *ir.Platform) {
	d.Heading(2, "What is guaranteed and what exists")
	schedulerOf(p).guarantees(d)
	var rows [][]markup
	for _, c := range p.Capacities {
		counted := c.CountedIn()
		guaranteed := find(c.Guaranteed, counted)
		existing := find(c.PerNode, counted)
		existing.Mul(int64(c.MaxNodes))
		rows = append(rows, []markup{
			code(c.Name), code(counted), text(ir.PrintQuantity(counted, guaranteed)), text(ir.PrintQuantity(counted, existing)), balance(p, counted, guaranteed, existing), text(c.Overcommit),
		})
	}
	d.Table([]markup{"Capacity", "Counted in", "Guaranteed", "Exist at most", "Balance",
		"The administrator's reason to guarantee more"}, rows)
}

// kueueGuarantees says what becomes of guarantees that the nodes do not meet.
func kueueGuarantees(d *document) {
	d.Para("Guaranteed is the nominal quota of all queues together. Kueue admits by quota and does not know what a "+
		"pool can hold. Where more is ",
		"guaranteed than a pool at its maximum has, the jobs beyond it are admitted all the same: their pods stay "+
			"Pending, nothing moves them to ",
		"another capacity, and after ", podsReadyTimeout(),
		" Kueue evicts them and queues them again. Where less is guaranteed, the rest never runs a ",
		"job: Kueue admits no more than all quotas together, and borrowing only moves them.")
}

// find returns the amount of a resource, 0 where there is none.
func find(amounts []ir.Amount, resourceName string) resource.Quantity {
	for _, a := range amounts {
		if a.Resource == resourceName {
			return a.Quantity.DeepCopy()
		}
	}
	return resource.Quantity{}
}

func balance(p *ir.Platform, counted string, guaranteed, existing resource.Quantity) markup {
	rest := existing.DeepCopy()
	rest.Sub(guaranteed)
	switch {
	case rest.Sign() == 0:
		return "even"
	case rest.Sign() > 0:
		return text(ir.PrintQuantity(counted, rest)) + schedulerOf(p).spare
	default:
		rest.Neg()
		return text(ir.PrintQuantity(counted, rest)) + schedulerOf(p).lacking
	}
}

// googleQuota shows what to request from Google Cloud.
func googleQuota(d *document, p *ir.Platform) {
	d.Heading(2, "Google Cloud quota to request")
	d.Para("In region ", code(p.Region), ", on the ", console("Quotas page", "iam-admin/quotas", p.Project), ". ",
		"Standing is in use as soon as the platform is built. Admitted is the most that the teams' quotas can start, "+
			"in whole nodes: request no less. ",
		schedulerOf(p).ceiling)
	var rows [][]markup
	for _, r := range p.Demand.Rows {
		rows = append(rows, []markup{
			orElse(r.Metric, "not verified"), text(r.What), digits(r.Standing), digits(r.Admitted), digits(r.Ceiling), text(r.Unit), text(r.Note),
		})
	}
	d.Table([]markup{"Metric", "Counts", "Standing", "Admitted", "Ceiling", "Unit", "Note"}, rows)
	limits(d, p)
	iamQuota(d, p)
}

// limits warns where node auto-provisioning allows the cluster less than the
// quotas admit.
func limits(d *document, p *ir.Platform) {
	if !p.AutoProvisioning.Create {
		return
	}
	for _, l := range p.AutoProvisioning.Limits {
		var need int
		var unit, field markup
		switch l.Type {
		case ir.CPU:
			need, unit, field = p.Demand.VCPUs, "vCPUs", "maxCPU"
		case ir.Memory:
			need, unit, field = p.Demand.MemoryGiB, "GiB of memory", "maxMemoryGiB"
		}
		if need > l.Max {
			d.Para("Mind node auto-provisioning: the quotas can admit nodes of ", digits(need), " ", unit,
				", the system pool's included, but it holds the ",
				"whole cluster at ", digits(l.Max),
				". What is admitted beyond that waits for nodes. Raise `cluster.autoProvisioning.", field,
				"` in the blueprint, or lower the quotas.")
		}
	}
}

// console links a page of the Google Cloud console.
func console(label markup, page, project string) markup {
	return "[" + label + "](https://console.cloud.google.com/" + markup(page) + "?project=" +
		markup(url.QueryEscape(project)) + ")"
}
