package guide

import (
	"cmp"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// maxGroups is how many groups of teams with equal quota are shown.
const maxGroups = 40

// teams shows who the teams are and what each gets.
func teams(d *document, p *ir.Platform) {
	d.Heading(2, "Teams, tiers and quota")
	schedulerOf(p).teams(d, p)
}

// kueueTeams shows who the teams are and what each gets in every tier.
func kueueTeams(d *document, p *ir.Platform) {
	classes, queues := markup("with a PriorityClass of its name"), markup("In each tier a team has one ClusterQueue")
	if manyClasses(p) {
		classes += ", or with several, of which each job says which it has"
	}
	if len(p.SharedQueues) > 0 {
		queues = "In each tier that is not shared a team has one ClusterQueue"
	}
	d.Para("A tier is a class of service, ", classes, ". ", queues, ", which holds its quota, ",
		"and one LocalQueue in its namespace, which its jobs name.")
	tiers(d, p)

	resources := resources(p)
	head := []markup{"Tier", "Capacity, in the order tried"}
	for _, r := range resources {
		head = append(head, code(r))
	}
	if len(p.Teams) <= fewTeams {
		eachTeam(d, p, resources, head)
	} else {
		teamGroups(d, p, resources, head)
	}
	sharedQueues(d, p, resources, head)
	access(d, p)
	separation(d, p)
	nesting(d, p)
	if !lends(p) {
		return
	}
	all := markup("")
	if borrowsAll(p) {
		all = "`4 + all` has no such limit. "
	}
	d.Para("Quota reads as `4 + 2`: 4 are guaranteed (nominalQuota), and 2 more at most can be borrowed from the "+
		"cohort (borrowingLimit). ", all,
		"A guarantee that lies unused is lent to the cohort and comes back when its owner needs it; where lending is "+
			"limited, the limit is given.")
}

// tiers shows the tiers by their PriorityClasses.
func tiers(d *document, p *ir.Platform) {
	head := []markup{"Tier", "Priority", "Evicts lower priorities", "Default"}
	named := manyClasses(p)
	if named {
		head = slices.Insert(head, 1, "PriorityClass")
	}
	var rows [][]markup
	for _, c := range p.PriorityClasses {
		row := []markup{code(c.Tier), digits(int(c.Value)), yes(c.Preempts), yes(c.Default)}
		if named {
			row = slices.Insert(row, 1, code(c.Name))
		}
		rows = append(rows, row)
	}
	d.Table(head, rows)
}

// manyClasses tells whether some PriorityClass is not named like its tier, as
// where a tier has several.
func manyClasses(p *ir.Platform) bool {
	return slices.ContainsFunc(p.PriorityClasses, func(c ir.PriorityClass) bool { return c.Name != c.Tier })
}

// sharedQueues shows the queues that teams share.
func sharedQueues(d *document, p *ir.Platform, resources []string, head []markup) {
	if len(p.SharedQueues) == 0 {
		return
	}
	d.Para("In a shared tier teams have one ClusterQueue, and its quota, together. Each leads into it by a "+
		"LocalQueue of its own, ", code(ir.LocalQueuePrefix+"TEAM-TIER"), ".")
	var rows [][]markup
	for _, q := range p.SharedQueues {
		var names []string
		for _, t := range q.Teams {
			names = append(names, t.Name)
		}
		who := markup("every team")
		if len(names) < len(p.Teams) {
			who = some(names)
		}
		rows = append(rows, quotaRows(q.Queue, resources, []markup{code(q.ClusterQueue), who, orNone(q.Cohort)})...)
	}
	d.Table(append([]markup{"ClusterQueue", "Shared by", "Cohort"}, head...), rows)
}

// eachTeam shows every team with its quota.
func eachTeam(d *document, p *ir.Platform, resources []string, head []markup) {
	var people, quota [][]markup
	for _, t := range p.Teams {
		people = append(people, []markup{
			code(t.Name), code(t.Namespace), orNone(t.Cohort), orElse(t.Group, "cluster administrators only"),
			runsAs(p, t), orNone(t.Bucket),
		})
		for _, q := range t.Queues {
			if !q.Shared {
				quota = append(quota, quotaRows(q, resources, []markup{code(t.Name), code(q.LocalQueue)})...)
			}
		}
	}
	d.Table([]markup{"Team", "Namespace", "Cohort", "Who submits", "Jobs run as", "Bucket"}, people)
	d.Table(append([]markup{"Team", "LocalQueue"}, head...), quota)
}

// access says what lets a team's people in.
func access(d *document, p *ir.Platform) {
	if !p.HasGroups() {
		return
	}
	d.Para("The members of a team's Google group submit its jobs. An administrator of the domain makes the team's "+
		"group a member of the group ", code(p.Cluster.SecurityGroup),
		". Through it they get the role ", code(ir.MemberRole), " on the cluster, to connect to it, and GKE ignores "+
			"all groups that are not members of it. The RoleBinding in the ",
		"team's namespace lets them submit jobs.")
}

// separation says how the network separates the teams. Source of the bounds:
// Kubernetes documentation, "Network Policies" (pods with hostNetwork), and GKE
// documentation, "About multi-network network policies".
func separation(d *document, p *ir.Platform) {
	if len(p.Teams) == 0 {
		return
	}
	d.Para("The network separates the teams: in each team's namespace the NetworkPolicy `team-only` lets pods accept ",
		"connections from that namespace alone. Egress stays open, and with it DNS, the metadata server and the API "+
			"server.")
	if slices.ContainsFunc(p.Workloads, func(w ir.Workload) bool { return w.HostNetwork }) {
		d.Para("The policy does not cover pods that use the network of their nodes: every pod can reach them. ",
			"Of the teams' pods they reach the pods on their own node and other such pods.")
	}
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.GPUDirect != "" }) {
		d.Para("The policy does not cover the networks of GPUDirect, only the cluster's own network.")
	}
}

// teamGroups shows teams of equal quota together: the largest group first,
// groups of a size by their first team.
func teamGroups(d *document, p *ir.Platform, resources []string, head []markup) {
	groups := map[string][]ir.Team{}
	var order []string // first seen, so that it depends on the plan alone
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
		members = append(members, []markup{digits(i + 1), digits(len(group)), some(names)})
		for _, q := range group[0].Queues {
			if !q.Shared {
				quota = append(quota, quotaRows(q, resources, []markup{digits(i + 1)})...)
			}
		}
	}
	d.Para("Teams of equal quota make a group here. Every team by itself, with its namespace, people and identities, "+
		"stands in ",
		file("kubernetes/teams/"), ".")
	d.Table([]markup{"Group", "Teams", "Which"}, members)
	if more := len(order) - maxGroups; more > 0 {
		d.Para("There are ", digits(more), " smaller groups more.")
	}
	d.Table(append([]markup{"Group"}, head...), quota)
}

// some shows the first few names.
func some(names []string) markup {
	const few = 4
	spans := make([]markup, len(names))
	for i, name := range names {
		spans[i] = code(name)
	}
	return words.First(spans, few)
}

// nesting shows which cohorts hold others.
func nesting(d *document, p *ir.Platform) {
	inside := map[string][]string{}
	for _, c := range p.Cohorts {
		inside[c.Parent] = append(inside[c.Parent], c.Name)
	}
	members := members(p)
	var rows [][]markup
	for _, c := range p.Cohorts {
		if len(inside[c.Name]) > 0 {
			rows = append(rows, []markup{code(c.Name), some(inside[c.Name]), cmp.Or(some(members[c.Name]), "none")})
		}
	}
	if len(rows) == 0 {
		return
	}
	d.Table([]markup{"Cohort", "Cohorts in it", "Teams of its own"}, rows[:min(len(rows), maxGroups)])
	if more := len(rows) - maxGroups; more > 0 {
		d.Para("There are ", digits(more), " such cohorts more, in ", file("kubernetes/cohorts.yaml"), ".")
	}
	d.Para("Lending follows this tree: what one cohort leaves unused, those it shares a parent with can borrow.")
}

// inCohorts counts the cohorts that have teams, and names the one at the top
// of them all, or "" if there is no such or it has teams itself.
func inCohorts(p *ir.Platform) (count int, top string) {
	members := members(p)
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

// lends tells whether quota can be lent: teams have ClusterQueues of their own, or
// one that they share has a cohort.
func lends(p *ir.Platform) bool {
	return slices.ContainsFunc(p.SharedQueues, func(q ir.SharedQueue) bool { return q.Cohort != "" }) ||
		slices.ContainsFunc(p.Teams, func(t ir.Team) bool {
			return slices.ContainsFunc(t.Queues, func(q ir.Queue) bool { return !q.Shared })
		})
}

// members returns the teams of every cohort that has any.
func members(p *ir.Platform) map[string][]string {
	teams := map[string][]string{}
	for _, t := range p.Teams {
		if t.Cohort != "" {
			teams[t.Cohort] = append(teams[t.Cohort], t.Name)
		}
	}
	return teams
}

// quotaRows returns a row for every capacity of a queue, each led by the same
// cells.
func quotaRows(q ir.Queue, resources []string, lead []markup) [][]markup {
	var rows [][]markup
	for _, f := range q.Flavors {
		row := append(slices.Clone(lead), code(q.Tier), code(f.Flavor))
		for _, r := range resources {
			row = append(row, quotaCell(f, r))
		}
		rows = append(rows, row)
	}
	return rows
}

// borrowsAll tells whether some quota borrows without a limit.
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

// quotaCell shows a queue's quota of one resource; nothing where the queue
// does not cover it.
func quotaCell(f ir.FlavorQuota, resourceName string) markup {
	i := slices.IndexFunc(f.Quotas, func(q ir.ResourceQuota) bool { return q.Resource == resourceName })
	if i < 0 {
		return ""
	}
	q := f.Quotas[i]
	cell := text(ir.PrintQuantity(resourceName, q.Nominal))
	switch {
	case q.BorrowsAll:
		cell += " + all"
	case q.Borrows():
		cell += " + " + text(ir.PrintQuantity(resourceName, *q.Borrowing))
	}
	if q.Lending != nil {
		cell += ", lends " + text(ir.PrintQuantity(resourceName, *q.Lending))
	}
	return cell
}

// quotaKey is equal for teams of equal quota.
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

// resources returns the resources that quota is given in, in the order in
// which the queues have them.
func resources(p *ir.Platform) []string {
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

func yes(b bool) markup {
	if b {
		return "yes"
	}
	return "no"
}

func orNone(name string) markup { return orElse(name, "none") }

func orElse(name string, without markup) markup {
	if name == "" {
		return without
	}
	return code(name)
}
