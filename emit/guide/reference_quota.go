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
	queues := markup("In each tier a team has one ClusterQueue")
	if len(p.SharedQueues) > 0 {
		queues = "In each tier that is not shared, a team has one ClusterQueue"
	}
	d.Para(queues, ", which holds its quota, and one LocalQueue in its namespace, which its jobs name.")
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
	if !queuesLend(p) {
		return
	}
	all := markup("")
	if borrowsAll(p) {
		all = "`4 + all` has no borrowing limit. "
	}
	d.Para(
		"A quota of `4 + 2` means: 4 are guaranteed (nominalQuota), and the queue can borrow at most 2 more from its ",
		"cohort (borrowingLimit). ", all, "A queue lends its unused guarantee to the cohort. ",
		linkTo(usingPage, promisesHeading), " says how it comes back. If a queue lends only part of its guarantee, ",
		"the table shows the limit.")
}

// sharedQueues lists the queues that teams share.
func sharedQueues(d *document, p *ir.Platform, resources []string, head []markup) {
	if len(p.SharedQueues) == 0 {
		return
	}
	d.Para("In a shared tier, teams use one ClusterQueue and its quota together. Each team submits jobs to its own ",
		"LocalQueue, ", codeSpan(ir.LocalQueuePrefix+"TEAM-TIER"), ", which leads to this ClusterQueue.")
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
		rows = append(rows, quotaRows(q.Queue, resources, []markup{codeSpan(q.ClusterQueue), who, orNone(q.Cohort)})...)
	}
	d.Table(append([]markup{"ClusterQueue", "Shared by", "Cohort"}, head...), rows)
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

// queuesLend reports whether queues can lend quota: teams have their own
// ClusterQueues, or a shared ClusterQueue has a cohort.
func queuesLend(p *ir.Platform) bool {
	for q := range p.ClusterQueues() {
		if !q.Shared || q.Cohort != "" {
			return true
		}
	}
	return false
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

// borrowsAll reports whether some queue can borrow without a limit.
func borrowsAll(p *ir.Platform) bool {
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			for _, f := range q.Flavors {
				if slices.ContainsFunc(f.Quotas, func(q ir.ResourceQuota) bool { return q.BorrowsAll }) {
					return true
				}
			}
		}
	}
	return false
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
