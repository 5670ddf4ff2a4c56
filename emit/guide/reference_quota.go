package guide

import (
	"cmp"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// listQuota lists the quota of every queue, and explains who gets access to the teams.
func listQuota(d *document, p *ir.Platform) {
	if len(p.Teams) == 0 {
		return
	}
	d.Heading(2, queuesHeading)
	schedulerOf(p).teams(d, p)
}

// kueueTeams lists the quota of the teams in every tier.
func kueueTeams(d *document, p *ir.Platform) {
	own := slices.ContainsFunc(p.Teams, func(t ir.Team) bool {
		return slices.ContainsFunc(t.Queues, func(q ir.Queue) bool { return !q.Shared })
	})
	if own {
		queues := markup("In each tier a team has one ClusterQueue")
		if len(p.SharedQueues) > 0 {
			queues = "In each tier that is not shared, a team has one ClusterQueue"
		}
		d.Para(queues, ", which holds its quota, and one LocalQueue in its namespace, which its jobs name.")
	}
	resources := quotaResources(p)
	head := []markup{"Tier", "Capacity, in the order tried"}
	for _, r := range resources {
		head = append(head, codeSpan(r))
	}
	if len(p.Teams) <= fewTeams {
		eachTeam(d, p, resources, head)
	} else {
		teamGroups(d, p, resources, head)
	}
	sharedQueues(d, p, resources, head)
	listNesting(d, p)
	borrows := false
	for q := range p.ClusterQueues() {
		borrows = borrows || q.Cohort != "" && slices.ContainsFunc(q.Flavors, ir.FlavorQuota.Borrows)
	}
	if moves, _ := quotaMoves(p); !moves && !borrows {
		return
	}
	limited, all, lends := markup(""), markup(""), markup("")
	if q := exampleQuota(p, func(q ir.ResourceQuota) bool { return q.Borrows() && !q.BorrowsAll }); q != nil {
		nominal, borrowing := ir.PrintQuantity(q.Resource, q.Nominal), ir.PrintQuantity(q.Resource, *q.Borrowing)
		limited = "A quota of " + codeSpan(nominal+" + "+borrowing) + " means: " + escapeText(nominal) +
			" are guaranteed (nominalQuota), and the queue can borrow at most " + escapeText(borrowing) +
			" more from its cohort (borrowingLimit). "
	}
	if q := exampleQuota(p, func(q ir.ResourceQuota) bool { return q.BorrowsAll }); q != nil {
		nominal := ir.PrintQuantity(q.Resource, q.Nominal)
		all = "A quota of " + codeSpan(nominal+" + all") + " means: " + escapeText(nominal) +
			" are guaranteed, and the queue can borrow without a limit. "
	}
	if exampleQuota(p, func(q ir.ResourceQuota) bool { return q.Lending != nil }) != nil {
		lends = " If a queue lends only part of its guarantee, the table shows the limit."
	}
	d.Para(limited, all, "A queue lends its unused guarantee to the cohort. ", linkTo(usingPage, promisesHeading),
		" says how it comes back.", lends)
}

// exampleQuota returns a quota of the tables for which is reports true, or nil if there
// is none. It prefers a quota whose two numbers differ and are not 0, because the numbers
// explain the notation.
func exampleQuota(p *ir.Platform, is func(ir.ResourceQuota) bool) *ir.ResourceQuota {
	var best *ir.ResourceQuota
	for q := range p.ClusterQueues() {
		for _, f := range q.Flavors {
			for _, r := range f.Quotas {
				if !is(r) {
					continue
				}
				if best == nil {
					best = &r
				}
				if r.Nominal.Sign() > 0 && (r.Borrowing == nil || r.Nominal.Cmp(*r.Borrowing) != 0) {
					return &r
				}
			}
		}
	}
	return best
}

// sharedQueues lists the queues that teams share.
func sharedQueues(d *document, p *ir.Platform, resources []string, head []markup) {
	if len(p.SharedQueues) == 0 {
		return
	}
	d.Para("In a shared tier, teams use one ClusterQueue and its quota together. Each team submits jobs to its own ",
		"LocalQueue, ", codeSpan(p.LocalQueueExample()), ", which leads to this ClusterQueue.")
	inCohort := slices.ContainsFunc(p.SharedQueues, func(q ir.SharedQueue) bool { return q.Cohort != "" })
	var rows [][]markup
	for _, q := range p.SharedQueues {
		var names []string
		for _, t := range q.Teams {
			names = append(names, t.Name)
		}
		who := markup("every team")
		if len(names) < len(p.Teams) {
			who = firstNames(names)
		}
		lead := []markup{codeSpan(q.ClusterQueue), who}
		if inCohort {
			lead = append(lead, orNone(q.Cohort))
		}
		rows = append(rows, quotaRows(q.Queue, resources, lead)...)
	}
	lead := []markup{"ClusterQueue", "Shared by"}
	if inCohort {
		lead = append(lead, "Cohort")
	}
	d.Table(append(lead, head...), rows)
}

// eachTeam lists the quota of every team.
func eachTeam(d *document, p *ir.Platform, resources []string, head []markup) {
	var quota [][]markup
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			if !q.Shared {
				quota = append(quota, quotaRows(q, resources, []markup{codeSpan(t.Name), codeSpan(q.LocalQueue)})...)
			}
		}
	}
	d.Table(append([]markup{"Team", "LocalQueue"}, head...), quota)
}

// teamGroups lists groups of teams with equal quota: the largest group first, and
// groups of the same size in the order of their first teams.
func teamGroups(d *document, p *ir.Platform, resources []string, head []markup) {
	groups := map[string][]ir.Team{}
	var order []string // of the first teams, so that the output depends only on the plan
	for _, t := range p.Teams {
		key := quotaKey(t)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], t)
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(len(groups[b]), len(groups[a])) })

	var members, quota [][]markup
	for i, key := range order[:min(len(order), maxGroups)] {
		group := groups[key]
		var names []string
		for _, t := range group {
			names = append(names, t.Name)
		}
		members = append(members, []markup{formatNumber(i + 1), formatNumber(len(group)), firstNames(names)})
		for _, q := range group[0].Queues {
			if !q.Shared {
				quota = append(quota, quotaRows(q, resources, []markup{formatNumber(i + 1)})...)
			}
		}
	}
	d.Para("The tables show teams of equal quota as one group. ", fileLink("kubernetes/teams/"),
		" has one file per team, with its namespace, members and identities.")
	d.Table([]markup{"Group", "Teams", "Which"}, members)
	if more := len(order) - maxGroups; more > 0 {
		d.Para("The tables omit ", countNoun(more, "smaller group"), ".")
	}
	d.Table(append([]markup{"Group"}, head...), quota)
}

// firstNames returns a text of the first few names and the number of the others.
func firstNames(names []string) markup {
	const few = 4
	spans := make([]markup, len(names))
	for i, name := range names {
		spans[i] = codeSpan(name)
	}
	return words.First(spans, few)
}

// listNesting lists the cohorts that contain other cohorts.
func listNesting(d *document, p *ir.Platform) {
	inside := map[string][]string{}
	for _, c := range p.Cohorts {
		inside[c.Parent] = append(inside[c.Parent], c.Name)
	}
	members := cohortMembers(p)
	var rows [][]markup
	for _, c := range p.Cohorts {
		if len(inside[c.Name]) > 0 {
			rows = append(rows,
				[]markup{codeSpan(c.Name), firstNames(inside[c.Name]), cmp.Or(firstNames(members[c.Name]), "none")})
		}
	}
	if len(rows) == 0 {
		return
	}
	d.Table([]markup{"Cohort", "Cohorts in it", "Teams of its own"}, rows[:min(len(rows), maxGroups)])
	if more := len(rows) - maxGroups; more > 0 {
		d.Para(fileLink("kubernetes/cohorts.yaml"), " has ", countNoun(more, "more such cohort"), ".")
	}
	d.Para("Lending follows this tree: cohorts with the same parent can borrow the unused quota of each other.")
}

// inCohorts returns the number of cohorts that have teams, and the name of the
// cohort that contains all others. The name is "" if there is no such cohort, or if
// it has teams itself.
func inCohorts(p *ir.Platform) (count int, top string) {
	members := cohortMembers(p)
	var tops []string
	for _, c := range p.Cohorts {
		if c.Parent == "" {
			tops = append(tops, c.Name)
		}
	}
	if len(tops) == 1 && len(members) > 0 && members[tops[0]] == nil {
		top = tops[0]
	}
	return len(members), top
}

// cohortMembers returns the teams of every cohort that has teams.
func cohortMembers(p *ir.Platform) map[string][]string {
	teams := map[string][]string{}
	for _, t := range p.Teams {
		if t.Cohort != "" {
			teams[t.Cohort] = append(teams[t.Cohort], t.Name)
		}
	}
	return teams
}

// quotaRows returns a row for every capacity of a queue. Every row begins with the
// cells of lead.
func quotaRows(q ir.Queue, resources []string, lead []markup) [][]markup {
	var rows [][]markup
	for _, f := range q.Flavors {
		row := append(slices.Clone(lead), codeSpan(q.Tier), codeSpan(f.Flavor))
		for _, r := range resources {
			row = append(row, quotaCell(f, r))
		}
		rows = append(rows, row)
	}
	return rows
}

// quotaCell returns a queue's quota of one resource, or "" if the queue does not
// cover the resource.
func quotaCell(f ir.FlavorQuota, resourceName string) markup {
	i := slices.IndexFunc(f.Quotas, func(q ir.ResourceQuota) bool { return q.Resource == resourceName })
	if i < 0 {
		return ""
	}
	q := f.Quotas[i]
	cell := escapeText(ir.PrintQuantity(resourceName, q.Nominal))
	switch {
	case q.BorrowsAll:
		cell += " + all"
	case q.Borrows():
		cell += " + " + escapeText(ir.PrintQuantity(resourceName, *q.Borrowing))
	}
	if q.Lending != nil {
		cell += ", lends " + escapeText(ir.PrintQuantity(resourceName, *q.Lending))
	}
	return cell
}

// quotaKey returns a key that is equal for teams of equal quota.
func quotaKey(t ir.Team) string {
	var words []string
	for _, q := range t.Queues {
		words = append(words, q.Tier)
		for _, f := range q.Flavors {
			words = append(words, f.Flavor)
			for _, r := range f.Quotas {
				words = append(words, r.Resource, string(quotaCell(f, r.Resource)))
			}
		}
		words = append(words, "")
	}
	return strings.Join(words, "\n")
}

// quotaResources returns the resources that have quota, in the order of the queues.
func quotaResources(p *ir.Platform) []string {
	var names []string
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			for _, r := range q.Resources {
				if !slices.Contains(names, r) {
					names = append(names, r)
				}
			}
		}
	}
	return names
}
