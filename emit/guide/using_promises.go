package guide

import (
	"cmp"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/markdown"
)

// explainPromises explains what a tier promises to the members of a team.
func explainPromises(d *document, p *ir.Platform) {
	if len(p.PriorityClasses) == 0 {
		return
	}
	d.Heading(2, promisesHeading)
	schedulerOf(p).promises(d, p)
	warnPreempted(d, p)
}

// kueuePromises lists for each tier which jobs its waiting jobs evict, which jobs evict
// its running jobs, and how a guarantee that a team has lent comes back.
func kueuePromises(d *document, p *ir.Platform) {
	evictions := evictionsOf(p)
	lends := slices.ContainsFunc(evictions, func(e *eviction) bool { return tierNames(e.lendsTo) != "" })
	shared, lent := markup(""), markup("")
	if len(p.SharedQueues) > 0 {
		shared = " Teams that share a tier use one quota together."
	}
	if lends {
		lent = " Part of the quota is guaranteed. While a queue does not use its guarantee, the other queues of your " +
			"team may borrow it. The last column says how a guarantee comes back."
	}
	if _, teams := quotaMoves(p); teams {
		lent = " Part of the quota is guaranteed. While your team does not use its guarantee, other teams of your " +
			"cohort (" + linkTo(readmePage, teamsHeading) + ") may borrow it, and you may borrow theirs. The last " +
			"column says how a guarantee comes back."
	}
	named := "a queue of the table in " + linkHere(yourTeamHeading) + " ends with the name of its tier."
	if p.LocalQueueExample() == "LOCALQUEUE" {
		named = linkTo(referencePage, queuesHeading) + " names the tier of each queue."
	}
	d.Para("You choose a tier by the queue: ", named, " A queue has quota on certain capacities, which ",
		"are kinds of nodes. A job starts when the quota has room for all of its pods.", shared, lent, " ",
		linkTo(referencePage, queuesHeading), " has the numbers.")
	listTierNodes(d, p)
	var rows [][]markup
	evicts := false
	for _, e := range evictions {
		victims := e.victims(p)
		evicts = evicts || victims != ""
		row := []markup{codeSpan(e.tier), tierOrder(p, e.tier), cmp.Or(victims, "no job"),
			cmp.Or(e.evictedBy(p, evictions), "no job")}
		if lends {
			row = append(row, e.comesBack(p))
		}
		rows = append(rows, row)
	}
	head := []markup{"Tier", "Order of waiting jobs", "Your waiting job may evict",
		"Your running job may be evicted by"}
	if lends {
		head = append(head, "A guarantee that your team has lent comes back")
	}
	d.Table(head, rows)
	if evicts {
		d.Para("A waiting job first takes idle quota in the capacities of its tier. If that is not enough, it evicts ",
			"other jobs. Kueue queues an evicted job again, and the job starts from its beginning: save its progress",
			inBucket(p), ".")
	}
	if p.OthersRunKueue() {
		d.Para("Others configure Kueue. If they have turned on `fairSharing`, Kueue shares by the weights of the ",
			"queues, and evicts jobs in another order than the table says.")
	}
	var names []markup
	for _, c := range p.PriorityClasses {
		if c.Preempts {
			names = append(names, codeSpan(c.Name))
		}
	}
	if len(names) > 0 {
		d.Para("The table describes Kueue. If nodes are short, kube-scheduler also evicts pods of a lower priority to ",
			"start pods of ", words.And(names), ". It does not know the quota.")
	}
}

// listTierNodes lists the capacities on which the queues of each tier have quota, in the
// order in which Kueue tries them, with their machines.
func listTierNodes(d *document, p *ir.Platform) {
	var rows [][]markup
	var seen []string
	for _, class := range p.PriorityClasses {
		if slices.Contains(seen, class.Tier) {
			continue
		}
		seen = append(seen, class.Tier)
		var names []string
		for q := range p.ClusterQueues() {
			if q.Tier != class.Tier {
				continue
			}
			for _, name := range quotaFlavors(*q) {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
		for _, name := range names {
			i := slices.IndexFunc(p.Capacities, func(c ir.Capacity) bool { return c.Name == name })
			if i < 0 {
				continue
			}
			c := p.Capacities[i]
			node := codeSpan(c.Machine.Type)
			if c.Machine.Accelerator != "" {
				node += ", " + formatNumber(c.Machine.AcceleratorCount) + " " + codeSpan(c.Machine.Accelerator)
			}
			rows = append(rows, []markup{codeSpan(class.Tier), codeSpan(name), node, describeOption(c)})
		}
	}
	shown := rows[:min(len(rows), maxGroups)]
	d.Table([]markup{"Tier", "Capacity, in the order tried", "Each node", "Obtained by"}, shown)
	if more := len(rows) - len(shown); more > 0 {
		d.Para(linkTo(readmePage, capacitiesHeading), " has all capacities.")
	}
}

// inBucket says where jobs can save their progress, if some team has a bucket.
func inBucket(p *ir.Platform) markup {
	if !p.HasBuckets() {
		return ""
	}
	return ", for example in your team's bucket"
}

// warnPreempted warns of nodes that Google Cloud can take back at any time. Source: GKE
// documentation, "Spot VMs".
func warnPreempted(d *document, p *ir.Platform) {
	var names []string
	for _, c := range p.Capacities {
		if c.Option.Facts().Preempted {
			names = append(names, c.Name)
		}
	}
	if names != nil {
		d.Para("Google Cloud can take back the nodes of ", codeList(names), " at any time, and warns their pods only ",
			"some seconds before. A job on such nodes needs retries, and must save its progress", inBucket(p), ".")
	}
}

// tierOrder returns the order in which the jobs of a tier's queues start.
func tierOrder(p *ir.Platform, tier string) markup {
	for q := range p.ClusterQueues() {
		if q.Tier != tier {
			continue
		}
		if q.Strategy == ir.BestEffortFIFO {
			return "by priority, then by age; a job that fits may overtake a job that does not"
		}
		return "by priority, then by age; the first job holds up the others"
	}
	return ""
}

// evictedBy returns which jobs may evict a running job of the tier, "" if there are
// none. It is the inverse of victims.
func (e *eviction) evictedBy(p *ir.Platform, all []*eviction) markup {
	var out []markup
	several := e.lowest < e.most
	switch {
	case e.inQueue == ir.PreemptNewer && several:
		out = append(out, "in its queue, jobs of a higher priority, and older jobs of the same priority")
	case e.inQueue == ir.PreemptNewer:
		out = append(out, "in its queue, older jobs")
	case e.inQueue == ir.PreemptLowerPriority && several:
		out = append(out, "in its queue, jobs of a higher priority")
	}
	evictors := map[string]bool{}
	for _, other := range all {
		borrows := ir.Evicts(other.toBorrow) && other.below(p, other.borrowsBeside)[e.tier]
		evictors[other.tier] = borrows || other.reclaims(p)[e.tier]
	}
	if tiers := tierNames(evictors); tiers != "" {
		out = append(out, "while it uses borrowed quota, jobs of "+tiers)
	}
	return markdown.Join(out, "; ")
}
