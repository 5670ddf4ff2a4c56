package guide

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/markdown"
)

// quotaFlavors names the capacities on which a queue has quota.
func quotaFlavors(q ir.Queue) (names []string) {
	for _, f := range q.Flavors {
		if f.Usable() {
			names = append(names, f.Flavor)
		}
	}
	return names
}

// requested returns the resources that pods request, of those that a queue counts.
func requested(counted []string) []string {
	return slices.DeleteFunc(slices.Clone(counted), func(name string) bool { return name == ir.Pods })
}

// quotaRow is a row of a table of quota: a queue, one of its capacities, and the amounts
// of the resources that have columns.
type quotaRow struct {
	ir.Queue
	Capacity string
	Amounts  []markdown.Markup
}

// quotaRows returns the rows of a queue.
func quotaRows(q ir.Queue, resources []string) []quotaRow {
	var rows []quotaRow
	for _, f := range q.Flavors {
		row := quotaRow{Queue: q, Capacity: f.Flavor}
		for _, r := range resources {
			row.Amounts = append(row.Amounts, quotaCell(f, r))
		}
		rows = append(rows, row)
	}
	return rows
}

// quotaCell returns a queue's quota of one resource, or "" if the queue does not
// cover the resource.
func quotaCell(f ir.FlavorQuota, resourceName string) markdown.Markup {
	i := slices.IndexFunc(f.Quotas, func(q ir.ResourceQuota) bool { return q.Resource == resourceName })
	if i < 0 {
		return ""
	}
	q := f.Quotas[i]
	cell := markdown.Text(ir.PrintQuantity(resourceName, q.Nominal))
	switch {
	case q.BorrowsAll:
		cell += " + all"
	case q.Borrows():
		cell += " + " + markdown.Text(ir.PrintQuantity(resourceName, *q.Borrowing))
	}
	if q.Lending != nil {
		cell += ", lends " + markdown.Text(ir.PrintQuantity(resourceName, *q.Lending))
	}
	return cell
}

// CohortQuotas returns the rows of the quota that belongs to cohorts.
func (v view) CohortQuotas() []quotaRow {
	var rows []quotaRow
	resources := v.QuotaResources()
	for _, c := range v.Cohorts {
		rows = append(rows, quotaRows(ir.Queue{Cohort: c.Name, Flavors: c.Flavors}, resources)...)
	}
	return rows
}

// weight is the weight of a cohort or a queue.
type weight struct{ Name, Weight string }

// Weights returns the weights that differ from 1: of cohorts, of ClusterQueues, and of the
// LocalQueues of tiers that are shared by usage.
func (v view) Weights() []weight {
	var out []weight
	add := func(name string, share *resource.Quantity) {
		if share != nil {
			out = append(out, weight{name, words.Decimal(*share)})
		}
	}
	for _, c := range v.Cohorts {
		add(c.Name, c.Share)
	}
	for q := range v.ClusterQueues() {
		add(q.ClusterQueue, q.Share)
	}
	for _, t := range v.Teams {
		for _, q := range t.Queues {
			for _, l := range q.AllLocalQueues() {
				if q.ByUsage {
					add(l.Name, l.Share)
				}
			}
		}
	}
	return out
}

// exampleOfCohort is an amount of a capacity that belongs to a cohort.
type exampleOfCohort struct{ Cohort, Capacity, Amount string }

// ExampleOfCohort returns quota of a cohort in the resource in which its capacity is counted,
// or nil.
func (v view) ExampleOfCohort() *exampleOfCohort {
	for _, c := range v.Cohorts {
		for _, f := range c.Flavors {
			for _, q := range f.Quotas {
				if q.Resource == v.CountedIn(f.Flavor) && !q.Nominal.IsZero() {
					return &exampleOfCohort{c.Name, f.Flavor, ir.PrintAmount(q.Resource, q.Nominal)}
				}
			}
		}
	}
	return nil
}

// QuotaResources returns the resources that have columns, in the order of the queues.
func (v view) QuotaResources() []string {
	var names []string
	for _, t := range v.Teams {
		for _, q := range t.Queues {
			for _, r := range q.Resources() {
				if !slices.Contains(names, r) {
					names = append(names, r)
				}
			}
		}
	}
	return ir.Choose(v.Scheduler, names, []string{ir.GPU})
}

// equalTeams are teams of equal quota.
type equalTeams struct {
	Number int // of the group, from 1
	Names  []string
	Queues []ir.Queue
}

// EqualTeams returns groups of teams with equal quota: the largest group first, and
// groups of the same size in the order of their first teams.
func (v view) EqualTeams() []*equalTeams {
	byQuota := map[string]*equalTeams{}
	var groups []*equalTeams // of the first teams, so that the output depends only on the plan
	for _, t := range v.Teams {
		key := quotaKey(t)
		if byQuota[key] == nil {
			byQuota[key] = &equalTeams{Queues: t.Queues}
			groups = append(groups, byQuota[key])
		}
		byQuota[key].Names = append(byQuota[key].Names, t.Name)
	}
	slices.SortStableFunc(groups, func(a, b *equalTeams) int { return cmp.Compare(len(b.Names), len(a.Names)) })
	for i, g := range groups {
		g.Number = i + 1
	}
	return groups
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

// ShareOfGPUs returns how much of the GPUs that all nodes have at most a number is.
func (v view) ShareOfGPUs(gpus int64) markdown.Markup {
	all := 0
	for _, c := range v.Capacities {
		if c.HasGPUs() {
			all += v.Accelerators(c)
		}
	}
	if all == 0 {
		return "none"
	}
	return markdown.Text(strconv.FormatFloat(math.Round(float64(gpus)/float64(all)*1000)/10, 'f', -1, 64) + "%")
}

// HasQueuesOfTeams reports whether some team has a queue that it does not share.
func (v view) HasQueuesOfTeams() bool {
	return slices.ContainsFunc(v.Teams, func(t ir.Team) bool {
		return slices.ContainsFunc(t.Queues, func(q ir.Queue) bool { return !q.Shared })
	})
}

// exampleQuota is a quota in the notation of the tables.
type exampleQuota struct{ Guaranteed, Borrowed string }

// ExampleOfLimit returns a quota with a limit on borrowing, or nil.
func (v view) ExampleOfLimit() *exampleQuota {
	return v.findQuota(func(q ir.ResourceQuota) bool { return q.Borrows() && !q.BorrowsAll })
}

// ExampleWithoutLimit returns a quota that can borrow without a limit, or nil.
func (v view) ExampleWithoutLimit() *exampleQuota {
	return v.findQuota(func(q ir.ResourceQuota) bool { return q.BorrowsAll })
}

// LimitsLending reports whether some queue lends only a part of its guarantee.
func (v view) LimitsLending() bool {
	return v.findQuota(func(q ir.ResourceQuota) bool { return q.Lending != nil }) != nil
}

// findQuota returns a quota for which is reports true, or nil. It prefers a quota whose
// two numbers differ and are not 0, because the numbers explain the notation.
func (v view) findQuota(is func(ir.ResourceQuota) bool) (best *exampleQuota) {
	for q := range v.ClusterQueues() {
		for _, f := range q.Flavors {
			for _, r := range f.Quotas {
				if !is(r) {
					continue
				}
				example := &exampleQuota{Guaranteed: ir.PrintQuantity(r.Resource, r.Nominal)}
				if r.Borrowing != nil {
					example.Borrowed = ir.PrintQuantity(r.Resource, *r.Borrowing)
				}
				if r.Nominal.Sign() > 0 && (r.Borrowing == nil || r.Nominal.Cmp(*r.Borrowing) != 0) {
					return example
				}
				best = cmp.Or(best, example)
			}
		}
	}
	return best
}

// cohort is a cohort with the cohorts in it, its own teams, and their GPUs.
type cohort struct {
	ir.Cohort
	Inside, Teams []string
	GPUs          int64 // guaranteed to the teams
}

// CohortsWithTeams returns the cohorts and what is in them.
func (v view) CohortsWithTeams() []*cohort {
	byName := map[string]*cohort{}
	var all []*cohort
	for _, c := range v.Cohorts { // parents before children
		byName[c.Name] = &cohort{Cohort: c}
		all = append(all, byName[c.Name])
		if parent := byName[c.Parent]; parent != nil {
			parent.Inside = append(parent.Inside, c.Name)
		}
	}
	for _, t := range v.Teams {
		c := byName[t.Cohort]
		if c == nil {
			continue
		}
		c.Teams = append(c.Teams, t.Name)
		for _, q := range t.Queues {
			c.GPUs += q.GPUs().Guaranteed
		}
	}
	return all
}
