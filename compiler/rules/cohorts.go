package rules

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
)

// Rules on quota that belongs to a cohort.

func cohortRules() []Rule {
	return []Rule{
		rule("E0640", "cohort without a parent borrows or lends", rootLimits, except(ir.KAI)),
		rule("W0641", "cohort lends more than is guaranteed in it", lendAboveCohort, whole, resolved, except(ir.KAI)),
		rule("W0642", "no queue can borrow the quota of a cohort", unreachableQuota, whole, resolved, except(ir.KAI)),
	}
}

// rootLimits reports a cohort without parent whose quota has a limit, one mistake however many
// limits it has. Kueue refuses them: the limits are for what a cohort exchanges with its
// parent. Source: Kueue 0.19, pkg/webhooks/cohort_webhook.go.
func rootLimits(r *report) {
	reported := map[string]bool{}
	for q := range r.cohortGrants() {
		limit, limited := q.limited()
		if q.cohort != nil || !limited || reported[q.who] {
			continue
		}
		reported[q.who] = true
		verb := "lend to"
		if limit[len(limit)-1] == "borrow" {
			verb = "borrow from"
		}
		r.addKey(q.path.at(limit...), say("%s has no parent to %s", q.who, verb),
			help("remove the limit, or give the cohort a parent: the queues below a cohort borrow its quota in "+
				"any case"))
	}
}

// below identifies a resource of a capacity in a cohort and all below it.
type below struct{ cohort, capacity, resource string }

// guaranteedBelow returns what is guaranteed in each cohort: to itself, to its queues, and to
// the cohorts below it.
func guaranteedBelow(p *ir.Platform) map[below]*resource.Quantity {
	parents := map[string]string{}
	for _, c := range p.Cohorts {
		parents[c.Name] = c.Parent
	}
	out := map[below]*resource.Quantity{}
	add := func(cohort string, flavors []ir.FlavorQuota) {
		for ; cohort != ""; cohort = parents[cohort] {
			for _, f := range flavors {
				for _, quota := range f.Quotas {
					key := below{cohort, f.Flavor, quota.Resource}
					if out[key] == nil {
						out[key] = &resource.Quantity{}
					}
					out[key].Add(quota.Nominal)
				}
			}
		}
	}
	for q := range p.ClusterQueues() {
		add(q.Cohort, q.Flavors)
	}
	for _, c := range p.Cohorts {
		add(c.Name, c.Flavors)
	}
	return out
}

// lendAboveCohort reports limits that limit nothing, and that Kueue accepts. What a cohort lends to its parent includes
// what the queues below it lend, so its limit can exceed its own quota.
func lendAboveCohort(r *report) {
	guaranteed := guaranteedBelow(r.Plan)
	for _, c := range r.Plan.Cohorts {
		for _, f := range c.Flavors {
			for _, quota := range f.Quotas {
				most := guaranteed[below{c.Name, f.Flavor, quota.Resource}]
				if quota.Follows || quota.Lending == nil || quota.Lending.Cmp(*most) <= 0 {
					continue
				}
				path := at("cohorts", c.Name, "quota", f.Flavor)
				if _, exact := r.Blueprint.Cohorts[c.Name].Exact()[f.Flavor].Resources[quota.Resource]; exact {
					path = path.at("resources", quota.Resource)
				}
				path = path.at("lend")
				printed := ir.PrintAlike(quota.Resource, *quota.Lending, *most)
				r.add(path, say("lend is %s, but cohort %q and all below it are guaranteed %s", printed[0], c.Name,
					printed[1]), label("want at most %s", printed[1]),
					helpOrAccept("if quota is added later", "write at most %s, or remove the limit", printed[1]))
			}
		}
	}
}

// unreachableQuota reports quota of a cohort on a capacity that no queue below its root borrows:
// it belongs to nobody, and nobody can use it.
func unreachableQuota(r *report) {
	type market struct{ root, capacity string }
	roots, borrowed := r.Plan.RootCohorts(), map[market]bool{}
	for b := range r.fit.Borrowers() {
		borrowed[market{roots[b.Queue.Cohort], b.Capacity.Name}] = true
	}
	for _, c := range r.Plan.Cohorts {
		for _, f := range c.Flavors {
			if borrowed[market{roots[c.Name], f.Flavor}] || r.fit.Named[f.Flavor].Emptied() {
				continue
			}
			r.addKey(at("cohorts", c.Name, "quota", f.Flavor),
				say("no queue below cohort %q can borrow its quota on %q", c.Name, f.Flavor),
				helpOrAccept("if queues will borrow it later",
					"give a queue of the cohort a borrowing limit there, such as borrow: %q, or remove the quota",
					"all"))
		}
	}
}
