package guide

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
)

// listCapacities lists the capacities: their hardware and how it is obtained.
func listCapacities(d *document, p *ir.Platform) {
	d.Heading(3, capacitiesHeading)
	schedulerOf(p).named(d, p)
	users := capacityUses(p)
	var rows [][]markup
	for _, c := range p.Capacities {
		zones := codeList(c.Zones)
		if slices.Equal(c.Zones, p.Zones) {
			zones = "all"
		}
		accelerators := markup("none")
		if c.Machine.Accelerator != "" {
			accelerators = codeSpan(c.Machine.Accelerator) + ", none now"
		}
		if c.Machine.Accelerator != "" && !c.SlicesOff() {
			accelerators = formatNumber(c.MaxNodes*c.Machine.AcceleratorCount) + " " + codeSpan(c.Machine.Accelerator)
		}
		who := usedBy(users[c.Name], len(p.Teams))
		if c.SlicesOff() {
			who += " now" // without slices there is no quota
		}
		rows = append(rows, []markup{
			codeSpan(c.Name), codeSpan(c.Hardware), describeMachine(c), describeOption(c), zones, describeNodes(c),
			accelerators, who,
		})
	}
	d.Table([]markup{"Capacity", "Hardware", "Machine", "Obtained by", "Zones", "Nodes", "Accelerators at most",
		"Used by"}, rows)
	if p.OwnsCluster() {
		describeSystemPool(d, p)
	}
	explainCapacity(d, p)
}

// describeSystemPool describes the node pool for everything except the teams' jobs.
func describeSystemPool(d *document, p *ir.Platform) {
	d.Para("The node pool ", codeSpan(p.SystemPool.Name), " has ", countNoun(p.SystemPool.NodesPerZone, "node"),
		" of type ",
		codeSpan(p.SystemPool.Machine), " in each zone. It runs ", escapeText(p.Scheduler.Facts().Name),
		", JobSet and GKE's own pods; the teams' jobs run on other nodes.")
}

// kueueNamed explains which objects have the name of a capacity.
func kueueNamed(d *document, p *ir.Platform) {
	pools := markup("")
	if p.AnyCapacity(ir.Capacity.Sliced) {
		pools = "; the node pools of TPU slices also have a number in their names"
	}
	d.Para("A capacity is hardware of one kind that is obtained in one way. Its ResourceFlavor, and its node pool if ",
		"there is one, have the same name", pools, ".")
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

// compareGuarantees compares the teams' quota with the hardware.
func compareGuarantees(d *document, p *ir.Platform) {
	if !p.AnyCapacity(func(c ir.Capacity) bool { return !c.SlicesOff() }) {
		return
	}
	d.Heading(3, guaranteesHeading)
	schedulerOf(p).guarantees(d, p)
	var rows [][]markup
	for _, c := range p.Capacities {
		if c.SlicesOff() {
			continue
		}
		counted := c.CountedIn()
		guaranteed := ir.AmountOf(c.Guaranteed, counted)
		existing := c.OfferedBy(c.MaxNodes, counted)
		rows = append(rows, []markup{
			codeSpan(c.Name), codeSpan(counted), escapeText(ir.PrintQuantity(counted, guaranteed)),
			escapeText(ir.PrintQuantity(counted, existing)), balanceText(p, counted, guaranteed, existing),
			escapeText(c.Overcommit),
		})
	}
	d.Table([]markup{"Capacity", "Counted in", "Guaranteed", "Exist at most", "Balance",
		"Accepted because"}, rows)
}

// kueueGuarantees explains what happens if guarantees and nodes differ.
func kueueGuarantees(d *document, p *ir.Platform) {
	borrowing := markup(".")
	if moves, _ := quotaMoves(p); moves {
		borrowing = ", and borrowing only moves quota between queues."
	}
	d.Para(
		"Guaranteed is the sum of the nominal quotas of all queues. Kueue gives quota to jobs, and does not know how ",
		"many nodes a pool can have. If the guarantees on a pool exceed its maximum, the excess jobs still get quota",
		excessJobs(p), " If the guarantees on a pool are below its maximum, jobs never use the other nodes. For ",
		"example, with guarantees of 16 GPUs and a maximum of 48, 32 GPUs stay unused. Kueue gives jobs no more than ",
		"the sum of all quotas", borrowing)
}

// excessJobs continues a sentence about jobs that have quota and get no nodes. On a
// queued capacity such a job is never admitted: its ProvisioningRequest fails (Kueue
// documentation, "Provisioning Admission Check Controller", about retries).
func excessJobs(p *ir.Platform) markup {
	var queued []string
	for _, c := range p.Capacities {
		if c.Queued() {
			queued = append(queued, c.Name)
		}
	}
	pending := ": their pods stay Pending, no other capacity takes them, and " + podsReadyTimeout() +
		" after their admission Kueue evicts them and queues them again."
	if p.OthersRunKueue() {
		pending = ": their pods stay Pending, and no other capacity takes them. If Kueue is configured to wait for " +
			"pods (`waitForPodsReady`), it evicts them after this time and queues them again."
	}
	const fail = "their requests for nodes fail, and Kueue repeats the requests until it deactivates the jobs ("
	switch explained := fail + linkTo(usingPage, waitsHeading) + ")."; {
	case queued == nil:
		return pending
	case len(queued) == len(p.Capacities):
		return ", and are never admitted: " + explained
	default:
		return pending + " On " + codeList(queued) + ", however, the excess jobs are never admitted: " + explained
	}
}

// balanceText returns a text for the difference between the hardware and the
// guarantees.
func balanceText(p *ir.Platform, counted string, guaranteed, existing resource.Quantity) markup {
	rest := existing.DeepCopy()
	rest.Sub(guaranteed)
	switch {
	case rest.Sign() == 0:
		return "even"
	case rest.Sign() > 0:
		return schedulerOf(p).spare(escapeText(ir.PrintQuantity(counted, rest)))
	default:
		rest.Neg()
		return schedulerOf(p).lacking(escapeText(ir.PrintQuantity(counted, rest)))
	}
}
