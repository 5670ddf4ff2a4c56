package rules

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on quota by resource: its amounts are exact, and what it does not count escapes.

func resourceRules() []Rule {
	return []Rule{
		rule("E0607", "limit is in units that the quota does not count", onEach(allGrants, limitWithoutUnits),
			except(ir.KAI)),
		rule("E0609", "queue or cohort is larger than Kueue allows", queueSizes, whole, resolved,
			except(ir.KAI)),
		rule("E0612", "queue does not count cpu and memory, which every pod must request", uncountedRequests, whole,
			resolved, except(ir.KAI)),
		rule("E0613", "capacities of a queue have no counted resource in common", separateGroups, whole, resolved,
			except(ir.KAI)),
		rule("W0611", "amount of a resource is larger than Kueue counts", onEach(allGrants, largeAmounts),
			except(ir.KAI)),
		rule("W0616", "queue does not count pods, so some pods escape the quota", uncountedPods, whole, resolved,
			except(ir.KAI)),
		rule("W0617", "quota of a resource that no node offers", onEach(allGrants, unofferedResources), resolved,
			except(ir.KAI)),
		rule("W0618", "quota does not count the accelerators of the nodes", onEach(allGrants, uncountedAccelerators),
			resolved, except(ir.KAI)),
		rule("W0619", "only some queues count ephemeral storage", storageInSomeQueues, whole, resolved, except(ir.KAI)),
	}
}

// limitWithoutUnits reports a number of accelerators or vCPUs as the limit of a quota that
// counts only named resources.
func limitWithoutUnits(r *report, q grant) {
	if q.ByRatio() {
		return
	}
	first := sortedKeys(q.Resources)[0]
	if q.Borrow > 0 {
		r.addKey(q.path.at("borrow"), say("borrow is a number, but the quota counts only %s",
			words.And(sortedKeys(q.Resources))), label(`want "all"`),
			help("limit each resource, such as resources: %q: {guaranteed: 8, borrow: %d}", first, int(q.Borrow)))
	}
	if q.Lend != nil {
		r.addKey(q.path.at("lend"), say("lend is a number, but the quota counts only %s",
			words.And(sortedKeys(q.Resources))),
			help("limit each resource, such as resources: %q: {guaranteed: 8, lend: %d}", first, *q.Lend))
	}
}

// Kueue's limits on the size of a ClusterQueue. A Cohort has those on groups, and on the resources and
// flavors of a group. Source: Kueue 0.19, apis/kueue/v1beta2/clusterqueue_types.go and cohort_types.go,
// markers MaxItems; pkg/webhooks/clusterqueue_webhook.go, validateTotalFlavors,
// validateTotalCoveredResources and validateFlavorResourceCombinations.
const (
	maxGroups       = 16
	maxCovered      = 64  // resources of a group
	maxGroupFlavors = 64  // flavors of a group, about which E0505 is
	maxFlavors      = 256 // of all groups
	maxResources    = 256 // of all groups
	maxPairs        = 512 // of a flavor and a resource, in a group
	maxChecks       = 64
)

// queueSizes reports queues and cohorts that the API or the webhooks of Kueue reject.
func queueSizes(r *report) {
	for q, teams := range r.Plan.ClusterQueues() {
		groups := q.Groups()
		excess := groupExcess(groups)
		if excess == "" {
			excess = totalExcess(groups)
		}
		if excess != "" {
			who := ownerOf(q, teams)
			if !q.Shared {
				who = say("the queue of %s in tier %q", who, q.Tier)
			}
			r.addKey(queueQuota(q, teams), say("%s %s", who, excess),
				help("count fewer resources, or use another tier for some capacities"))
		}
	}
	for _, c := range r.Plan.Cohorts {
		excess := groupExcess(c.Groups())
		for _, g := range c.Groups() {
			if n := len(g.Flavors); excess == "" && n > maxGroupFlavors {
				excess = say("has %d capacities in a resource group, and Kueue allows %d", n, maxGroupFlavors)
			}
		}
		if excess != "" {
			r.addKey(at("cohorts", c.Name, "quota"), say("cohort %q %s", c.Name, excess),
				help("count fewer resources, or give some of the quota to another cohort"))
		}
	}
	r.countChecks()
}

// groupExcess says which limit on groups and on the resources of a group some groups exceed, "" for none.
func groupExcess(groups []ir.ResourceGroup) string {
	if n := len(groups); n > maxGroups {
		return say("has %d resource groups, and Kueue allows %d", n, maxGroups)
	}
	for _, g := range groups {
		if n := len(g.Resources); n > maxCovered {
			return say("counts %d resources in a resource group, and Kueue allows %d", n, maxCovered)
		}
	}
	return ""
}

// totalExcess says which limit on all groups of a ClusterQueue together some groups exceed, or which group
// is too large, "" for none.
func totalExcess(groups []ir.ResourceGroup) string {
	flavors, resources := 0, 0
	for _, g := range groups {
		if n := len(g.Flavors) * len(g.Resources); n > maxPairs && len(g.Flavors) <= maxGroupFlavors {
			return say("counts %d resources on each of %d capacities, which are %d quotas, and Kueue allows %d in a "+
				"resource group", len(g.Resources), len(g.Flavors), n, maxPairs)
		}
		flavors, resources = flavors+len(g.Flavors), resources+len(g.Resources)
	}
	if flavors > maxFlavors {
		return say("has %d capacities, and Kueue allows %d", flavors, maxFlavors)
	}
	if resources > maxResources {
		return say("counts %d resources, and Kueue allows %d", resources, maxResources)
	}
	return ""
}

// countChecks reports tiers whose queues have too many AdmissionChecks: those of their capacities, and
// those of others.
func (r *report) countChecks() {
	reported := map[string]bool{}
	for q, teams := range r.Plan.ClusterQueues() {
		names := map[string]bool{}
		for _, f := range q.Flavors {
			if f.AdmissionCheck != "" {
				names[f.AdmissionCheck] = true
			}
		}
		own := len(names)
		for _, c := range q.Checks {
			names[c.Name] = true
		}
		if len(names) <= maxChecks || reported[q.Tier] {
			continue
		}
		reported[q.Tier] = true
		path, cure := at("tiers", q.Tier, "admissionChecks"), "remove some of them"
		if own > maxChecks {
			path, cure = queueQuota(q, teams), "use another tier for some capacities"
		}
		r.addKey(path, say("queues of tier %q have %d AdmissionChecks, and Kueue allows %d", q.Tier, len(names),
			maxChecks), advise(cure))
	}
}

// The amounts from which on Kueue counts without a limit: it holds cpu in thousandths of a vCPU and
// other resources in their unit, in 64 bits. Source: Kueue 0.19, pkg/resources/amount.go,
// AmountFromQuantity.
const (
	unlimitedCPU    = "9223372036854775"
	unlimitedAmount = "9223372036854775807"
)

// largeAmounts reports amounts that Kueue accepts and counts as unlimited.
func largeAmounts(r *report, q grant) {
	for name, in := range sorted(q.Resources) {
		unlimited := unlimitedAmount
		if name == ir.CPU {
			unlimited = unlimitedCPU
		}
		for _, part := range []struct {
			field  string
			amount schema.Quantity
		}{{"guaranteed", in.Guaranteed}, {"borrow", in.Borrow}, {"lend", in.Lend}} {
			amount, err := resource.ParseQuantity(string(part.amount))
			if err != nil || amount.Cmp(resource.MustParse(unlimited)) < 0 { // a larger one is parsed as the largest
				continue
			}
			path := q.path.at("resources", name)
			if below := path.at(part.field); r.Written(below...) {
				path = below
			}
			r.add(path, say("Kueue counts %s of %s as unlimited", part.amount, name),
				label("want less than %s", unlimited),
				helpOrAccept("if the queue should have no limit", "write what the queue should have"))
		}
	}
}

// lendAboveExact reports lending limits above the guaranteed amounts of resources.
func lendAboveExact(r *report, q grant) {
	for name, in := range sorted(q.Resources) {
		lend, err := resource.ParseQuantity(string(in.Lend))
		if err != nil {
			continue // not given
		}
		guaranteed := resource.Quantity{}
		if in.Guaranteed != "" {
			guaranteed = resource.MustParse(string(in.Guaranteed))
		}
		if lend.Cmp(guaranteed) > 0 {
			printed := ir.PrintAlike(name, lend, guaranteed)
			r.add(q.path.at("resources", name, "lend"),
				say("lend is %s, but the guarantee is %s", printed[0], printed[1]),
				label("want at most %s", printed[1]))
		}
	}
}

// uncountedRequests reports a queue that admits no job: the platform's policies refuse pods
// without requests of cpu and memory, and Kueue admits no job that requests a resource which
// its queue does not cover.
func uncountedRequests(r *report) {
	for q, teams := range r.Plan.ClusterQueues() {
		if !hasOwnTeam(teams) {
			continue
		}
		var missing []string
		for _, name := range []string{ir.CPU, ir.Memory} {
			if counted := q.Resources(); len(counted) > 0 && !slices.Contains(counted, name) {
				missing = append(missing, name)
			}
		}
		if missing != nil {
			r.addKey(queueQuota(q, teams).at(q.Flavors[0].Flavor, "resources"),
				say("%s does not count %s in tier %q, which every job must request", ownerOf(q, teams),
					words.And(missing), q.Tier), help("add %s to resources, or accelerators: the ratio then gives them",
					words.And(missing)))
		}
	}
}

// separateGroups reports a queue of the platform's namespaces that has several resource groups on
// nodes of the platform. Kueue gives a pod a flavor of
// each group whose resources it requests, and adds the node labels of all of them. No node has
// the labels of two capacities. Source: Kueue 0.19, pkg/podset.
func separateGroups(r *report) {
	for q, teams := range r.Plan.ClusterQueues() {
		if !r.separated(q, teams) {
			continue
		}
		groups := r.ownGroups(q)
		first, second := groups[0], groups[1]
		r.addKey(queueQuota(q, teams).at(second),
			say("capacities %q and %q count no common resource, so no node fits a pod that requests some of each",
				first, second),
			help("count a common resource on both, such as pods: a pod then gets all its resources from one of them"))
	}
}

func uncountedPods(r *report) {
	for q, teams := range r.Plan.ClusterQueues() {
		if len(q.Flavors) == 0 || q.CountsPods() {
			continue
		}
		r.addKey(queueQuota(q, teams).at(q.Flavors[0].Flavor, "resources"),
			say("%s does not count pods in tier %q, so pods that request none of the counted resources escape",
				ownerOf(q, teams), q.Tier),
			helpOrAccept("if the jobs always request them", "add the number of pods that may run, such as pods: %d",
				10*ir.PodsPerUnit))
	}
}

func unofferedResources(r *report, q grant) {
	if len(q.Resources) > maxCovered {
		return // queueSizes reports it
	}
	c := r.fit.Named[q.capacity]
	if c.Existing() && !c.KnowsNodes() {
		return
	}
	var unoffered []string
	for name := range sorted(q.Resources) {
		offers := func(a ir.Amount) bool { return a.Resource == name }
		if !slices.Contains([]string{ir.Pods, ir.EphemeralStorage}, name) && !slices.ContainsFunc(c.PerNode, offers) {
			unoffered = append(unoffered, name)
		}
	}
	if unoffered == nil {
		return
	}
	const listed = 3
	r.addKey(q.path.at("resources", unoffered[0]), say("nodes of capacity %q offer no %s", q.capacity,
		words.First(unoffered, listed)),
		helpOrAccept("if a device plugin of yours offers it", "remove the resource, or count it on another capacity"))
}

func uncountedAccelerators(r *report, q grant) {
	name := r.fit.Named[q.capacity].Machine.Resource
	if _, counted := q.Resources[name]; name == "" || counted || q.ByRatio() {
		return
	}
	r.addKey(q.path.at("resources"), say("the quota on capacity %q does not count %s, so its jobs never get any",
		q.capacity, name), helpOrAccept("if this is intended", "add accelerators, or %q to resources", name))
}

// storageInSomeQueues reports a queue that counts ephemeral storage, if others do not. Kueue
// then no longer ignores requests of it, and admits no job that requests a resource which its
// queue does not cover.
func storageInSomeQueues(r *report) {
	var counting fieldPath
	others := 0
	for q, teams := range r.Plan.ClusterQueues() {
		if !slices.Contains(q.Resources(), ir.EphemeralStorage) {
			others++
			continue
		}
		for _, f := range q.Flavors {
			path := queueQuota(q, teams).at(f.Flavor, "resources", ir.EphemeralStorage)
			if counting == nil && r.Written(path...) {
				counting = path
			}
		}
	}
	if counting == nil || others == 0 {
		return
	}
	r.addKey(counting, say("%s do not count ephemeral storage: their jobs that request it never start",
		words.Count(others, "other queue")),
		helpOrAccept("if no job of those queues requests it", "count it in all queues"))
}
