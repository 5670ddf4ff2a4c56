package rules

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on tiers.

func tierRules() []Rule {
	return []Rule{
		rule("E0501", "not exactly one default tier", defaultTier, whole, newCluster),
		rule("W0502", "preempts has no effect", preemptsNothing, whole, except(ir.KAI)),
		rule("E0503", "duplicate name in a list", namedTwice),
		rule("E0504", "compact auto-provisioned capacity shares its tier", on("tiers.*", compactAlone), except(ir.KAI)),
		rule("E0505", "more flavors than a ClusterQueue allows", flavorLimit, except(ir.KAI)),
		rule("E0506", "name of a PriorityClass is reserved", reservedPriority),
		rule("E0507", "tier mixes accelerators that one queue cannot hold",
			on("tiers.*", mixedAccelerators), resolved, except(ir.KAI)),
		rule("E0508", "tier needs either priority or priorities", on("tiers.*", onePriority)),
		rule("E0509", "name of a PriorityClass is used twice", sameClass),
		rule("E0510", "team has its own quota in a shared tier", ownQuotaInShared, basic, except(ir.KAI)),
		rule("E0511", "shared tier without teams", sharedByNobody, whole),
		rule("W0522", "every namespace can use the quota of a tier", on("tiers.*", openQueues), except(ir.KAI)),
		rule("E0523", "namespaces of the teams cannot have a label", impossibleLabels, except(ir.KAI)),
		rule("E0521", "names of a queue that does not exist", namesOfNoQueue, except(ir.KAI)),
		rule("E0520", "tier evicts to borrow, but not to reclaim", on("tiers.*", borrowWithoutReclaim), except(ir.KAI)),
		rule("E0540", "preference that nothing leads to", on("tiers.*", preferWithoutChoice), except(ir.KAI)),
		rule("E0543", "limit on evictions that do not happen", on("tiers.*", limitWithoutEvictions), except(ir.KAI)),
		rule("E0546", "default tier makes no PriorityClass", on("tiers.*", defaultOfOthers), newCluster),
		rule("E0548", "AdmissionCheck of a capacity that the tier lacks",
			on("tiers.*", checksOutsideTier), except(ir.KAI)),
		rule("E0549", "AdmissionCheck of others has a name of the platform", ownChecks, except(ir.KAI)),
		rule("E0547", "WorkloadPriorityClass has two values", twoWorkloadPriorities, except(ir.KAI)),
		rule("E0545", "one LocalQueue and several", bothLocalQueues, except(ir.KAI)),
		rule("N0544", "queue starts no jobs", heldQueues, except(ir.KAI)),
		rule("E0541", "condition on namespaces is invalid", on("tiers.*", namespaceConditions), except(ir.KAI)),
		rule("W0542", "tier does not select the namespaces of its teams", unselectedTeams, whole, except(ir.KAI)),
		rule("W0512", "waiting job blocks jobs for other hardware", strictOrder, whole, resolved, except(ir.KAI)),
	}
}

func defaultTier(r *report) {
	tiers := r.Blueprint.Tiers
	var defaults []string
	for _, name := range sortedKeys(tiers) {
		if tiers[name].Default {
			defaults = append(defaults, name)
		}
	}
	switch {
	case len(tiers) == 0:
	case len(defaults) == 0 && !slices.ContainsFunc(r.Plan.PriorityClasses, ir.PriorityClass.IsMade):
	case len(defaults) == 0 && r.Plan.Scheduler.Facts().DefaultClass != "":
	case len(defaults) == 0:
		r.addKey(at("tiers"), "no tier is the default for pods without a PriorityClass",
			help("set default: true in the tier whose priority these pods get"))
	case len(defaults) > 1:
		for _, name := range defaults[1:] {
			r.add(at("tiers", name, "default"), say("tier %q is already the default", defaults[0]),
				see(at("tiers", defaults[0], "default"), "the other default"),
				help("keep one default: Kubernetes allows one global default"))
		}
	}
}

// preemptsNothing reports policies of a tier that can evict nobody: a policy for jobs
// of a lower priority, in the tier of the lowest priority, and a policy for jobs that
// borrow, in a tier that cannot borrow.
func preemptsNothing(r *report) {
	tiers := r.Blueprint.Tiers
	lowest := math.MaxInt
	for name, t := range tiers {
		values := queueValues(t, name)
		if len(values) == 0 {
			return // onePriority reports it, and it may be the lowest priority
		}
		lowest = min(lowest, values[0])
	}
	borrows := borrowingTiers(r.Plan)
	for _, name := range sortedKeys(tiers) {
		t, values := tiers[name], queueValues(tiers[name], name)
		path := at("tiers", name, "preempts")
		if values[len(values)-1] <= lowest {
			lowestPreempts(r, name, t.Preempts)
		} else if ir.Evicts(t.Preempts.ToBorrow) && !borrows[name] && t.Preempts.ToReclaim != ir.PreemptNever {
			r.add(path.at("toBorrow"), say("no queue of tier %q can borrow, so toBorrow evicts nobody", name),
				help("set borrow in a quota of the tier, or remove toBorrow"))
		} else if upTo := t.Preempts.ToBorrowUpTo; upTo != nil && *upTo < lowest && ir.Evicts(t.Preempts.ToBorrow) {
			r.add(path.at("toBorrowUpTo"), say("no job has a priority of %d or less, so toBorrow evicts nobody", *upTo),
				help("raise toBorrowUpTo to %d or more, or remove toBorrow", lowest))
		}
	}
}

// queueValues returns the priorities that jobs of a tier can have in their queue, by rising value.
func queueValues(t schema.Tier, name string) []int {
	values := slices.Collect(maps.Values(t.WorkloadPriorities))
	for _, class := range t.PriorityClasses(name) {
		values = append(values, class.Value)
	}
	slices.Sort(values)
	return values
}

// lowestPreempts reports the policies for jobs of a lower priority in a tier that has
// the lowest priority.
func lowestPreempts(r *report, tier string, p schema.Preempts) {
	policies := []struct{ field, policy, other string }{
		{"inQueue", p.InQueue, fmt.Sprintf("write %q, which also evicts newer jobs", ir.PreemptNewer)},
		{"toReclaim", p.ToReclaim, fmt.Sprintf("write %q, which also evicts jobs of its own priority", ir.PreemptAny)},
		{"toBorrow", p.ToBorrow, "remove toBorrow"},
	}
	var fields, cures []string
	refused := p.ToReclaim == ir.PreemptNever // Kueue refuses toBorrow: another rule reports it
	for _, f := range policies {
		if f.policy == ir.PreemptLowerPriority && (f.field != "toBorrow" || !refused) {
			fields, cures = append(fields, f.field), append(cures, f.other)
		}
	}
	if len(fields) == 0 {
		return
	}
	path := at("tiers", tier, "preempts")
	said, do := fields[0]+" evicts", cures[0]
	report := r.add
	if len(fields) > 1 {
		said, do = words.And(fields)+" evict", "remove preempts"
		report = r.addKey
	} else {
		path = path.at(fields[0])
	}
	report(path, say("tier %q has the lowest priority, so %s nobody", tier, said),
		help("raise its priority, or %s", do))
}

// borrowingTiers returns the tiers with a queue that can borrow.
func borrowingTiers(p *ir.Platform) map[string]bool {
	out := map[string]bool{}
	for q := range p.ClusterQueues() {
		if slices.ContainsFunc(q.Flavors, ir.FlavorQuota.Borrows) {
			out[q.Tier] = true
		}
	}
	return out
}

// strictOrder reports tiers in which a job that waits for one capacity blocks jobs for
// another, because the first job of their StrictFIFO queue blocks all others. It
// looks only at workloads that have no capacity in common. It finds none in a tier
// that leaves the order open, because the default then lets jobs overtake. Source:
// Kueue documentation, "ClusterQueue", "Queueing strategy".
func strictOrder(r *report) {
	apart := r.Plan.WorkloadsApart()
	reported := map[string]bool{}
	for q := range r.Plan.ClusterQueues() {
		pair, found := apart[q.ClusterQueue]
		if !found || q.Strategy != ir.StrictFIFO || reported[q.Tier] {
			continue
		}
		reported[q.Tier] = true
		waits, blocked := r.awaitedNodes(pair[0], pair[1])
		r.add(at("tiers", q.Tier, "queueing"), say("a job of %q that waits for %s blocks the jobs of %q, which need %s",
			pair[0].Template, waits, pair[1].Template, blocked),
			see(at("workloads", pair[0].Template), "it needs %s", waits),
			see(at("workloads", pair[1].Template), "it needs %s", blocked),
			help("write queueing: %q, or move one of the workloads to another tier", ir.BestEffortFIFO))
	}
}

// awaitedNodes returns the words for the nodes that two workloads without a common
// capacity wait for: their hardware if each has one class and these differ, otherwise
// their capacities.
func (r *report) awaitedNodes(a, b ir.Workload) (first, second string) {
	x, y := r.onlyHardware(a), r.onlyHardware(b)
	if x == "" || y == "" || x == y {
		return "capacity " + quoteNames(a.Capacities), "capacity " + quoteNames(b.Capacities)
	}
	return fmt.Sprintf("hardware %q", x), fmt.Sprintf("hardware %q", y)
}

// onlyHardware returns the class of hardware that a workload can run on, "" if there
// are several.
func (r *report) onlyHardware(w ir.Workload) string {
	only := ""
	for i, name := range w.Capacities {
		if hardware := r.fit.Named[name].Hardware; i == 0 {
			only = hardware
		} else if hardware != only {
			return ""
		}
	}
	return only
}

// borrowWithoutReclaim reports tiers that evict to borrow and not to reclaim. Kueue's
// webhook refuses such a ClusterQueue. Source: Kueue v0.19,
// pkg/webhooks/clusterqueue_webhook.go, validatePreemption.
func borrowWithoutReclaim(r *report, tier fieldPath, t schema.Tier) {
	p := t.Preempts
	if ir.Evicts(p.ToBorrow) && p.ToReclaim == ir.PreemptNever {
		r.add(tier.at("preempts", "toBorrow"),
			say("Kueue refuses tier %q: jobs that evict others to borrow must also evict others to reclaim",
				tier.name()), see(tier.at("preempts", "toReclaim"), "toReclaim"),
			help("write toReclaim: %q or %q, or remove toBorrow", ir.PreemptLowerPriority, ir.PreemptAny))
	}
}

// limitWithoutEvictions reports a limit on the jobs that a tier evicts to borrow, if it evicts
// none.
func limitWithoutEvictions(r *report, tier fieldPath, t schema.Tier) {
	if t.Preempts.ToBorrowUpTo != nil && !ir.Evicts(t.Preempts.ToBorrow) {
		r.add(tier.at("preempts", "toBorrowUpTo"),
			say("tier %q evicts no jobs to borrow, so toBorrowUpTo limits nothing", tier.name()),
			help("write toBorrow: %q, or remove toBorrowUpTo", ir.PreemptLowerPriority))
	}
}

// preferWithoutChoice reports a preference of a tier whose jobs never compare all capacities.
// Kueue's API refuses it. Source: Kueue v1beta2 API, FlavorFungibility.
func preferWithoutChoice(r *report, tier fieldPath, t schema.Tier) {
	n := t.NextCapacity
	if n.Prefer == nil || n.BeforeBorrowing && n.BeforeEvicting {
		return
	}
	does := "borrow"
	var missing []string
	if !n.BeforeBorrowing {
		missing = append(missing, "beforeBorrowing: true")
	} else {
		does = "evict"
	}
	if !n.BeforeEvicting {
		missing = append(missing, "beforeEvicting: true")
	}
	r.add(tier.at("nextCapacity", "prefer"),
		say("prefer has no effect: jobs of tier %q %s on the first capacity where they can", tier.name(), does),
		help("write %s, or remove prefer", words.And(missing)))
}

// namedTwice reports names that occur twice in a list that is a set.
func namedTwice(r *report) {
	for _, list := range []struct{ pattern, holder, listed string }{
		{"tiers.*.capacity", "tier", "capacity"}, {"tiers.*.shared.teams", "the shared queue of tier", "team"},
		{"workloads.*.capacity", "workload", "capacity"}, {"workloads.*.teams", "workload", "team"},
	} {
		for path, names := range every[[]string](r, list.pattern) {
			seen := map[string]bool{}
			for i, name := range names {
				if seen[name] {
					r.add(path.at(diag.Index(i)),
						say("%s %q lists %s %q twice", list.holder, path[1], list.listed, name),
						help("remove one of them"))
				}
				seen[name] = true
			}
		}
	}
}

// compactAlone reports a compact, auto-provisioned capacity in a tier with other
// capacities. A pod requests its placement group with a node selector, which matches
// no node of another capacity.
func compactAlone(r *report, tier fieldPath, t schema.Tier) {
	for i, c := range t.Capacity {
		capacity := r.Blueprint.Capacity[c]
		if capacity.AutoProvisioned && capacity.Placement == "compact" && len(t.Capacity) > 1 {
			r.add(tier.at("capacity", diag.Index(i)),
				say("pods that select a placement group of %q cannot run on another capacity", c),
				help("define a tier that uses only this capacity"))
		}
	}
}

// flavorLimit reports tiers whose capacities are too many for one resource group. A tier whose queues
// divide them into several groups can have more.
func flavorLimit(r *report) {
	largest := map[string]int{} // by tier, of all groups of its queues
	for q := range r.Plan.ClusterQueues() {
		for _, g := range q.Groups() {
			largest[q.Tier] = max(largest[q.Tier], len(g.Flavors))
		}
	}
	for name, t := range sorted(r.Blueprint.Tiers) {
		n, used := largest[name]
		if !used {
			n = len(t.Capacity)
		}
		if n > maxGroupFlavors {
			r.addKey(at("tiers", name, "capacity"),
				say("tier %q has %d capacities, but a resource group of a ClusterQueue allows %d flavors", name, n,
					maxGroupFlavors), help("split the tier"))
		}
	}
}

// reservedPriority reports reserved names of PriorityClasses: Kubernetes reserves a
// prefix, and Managed Prometheus has its own class in every cluster. Source:
// prometheus-engine, manifests/operator.yaml.
func reservedPriority(r *report) {
	check := func(path fieldPath, class, cure string) {
		switch {
		case strings.HasPrefix(class, "system-"):
			r.addKey(path, say("PriorityClass %q has the prefix system-, which is reserved for Kubernetes", class),
				advise(cure))
		case class == "gmp-critical":
			r.addKey(path, say("PriorityClass %q is reserved for Managed Prometheus", class), advise(cure))
		}
	}
	for name, t := range sorted(r.Blueprint.Tiers) {
		if t.Priority != nil && t.Priorities == nil {
			check(at("tiers", name), name, "rename the tier")
		}
		for _, class := range sortedKeys(t.Priorities) {
			check(at("tiers", name, "priorities", class), class, "rename the priority")
		}
	}
}

// mixedAccelerators reports a tier with both GPUs and TPUs. All flavors of a
// ClusterQueue that cover cpu and memory must cover the same resources, so a queue
// can have either GPUs or TPUs, together with machines without accelerators.
func mixedAccelerators(r *report, tier fieldPath, t schema.Tier) {
	first := ""
	for i, capacity := range t.Capacity {
		switch c := r.fit.Named[capacity]; {
		case !c.HasAccelerators():
		case first == "":
			first = capacity
		case r.fit.Named[first].Machine.Resource != c.Machine.Resource:
			r.add(tier.at("capacity", diag.Index(i)), say("tier %q has both %s, of %q, and %s", tier.name(),
				r.fit.Named[first].Machine.Resource, first, c.Machine.Resource),
				help("define a tier for each: Kueue counts cpu and memory in one group of flavors, which must "+
					"all have the same accelerator"))
		}
	}
}

func onePriority(r *report, tier fieldPath, t schema.Tier) {
	switch {
	case len(t.WorkloadPriorities) > 0 && (t.Priority == nil || t.Priorities == nil):
	case t.Priority == nil && t.Priorities == nil:
		if r.existingTiers()[tier.name()] {
			return // no policy of the platform compares the priorities of its jobs
		}
		r.addKey(tier, say("tier %q has no priority", tier.name()),
			help("add priority, the value of its PriorityClass, or priorities or workloadPriorities, several values "+
				"by name"))
	case t.Priority != nil && t.Priorities != nil:
		r.addKey(tier.at("priorities"), say("tier %q already has a priority", tier.name()),
			see(tier.at("priority"), "the priority"), help("remove priority or priorities"))
	case t.Priority == nil && len(t.Priorities) == 0:
		r.addKey(tier.at("priorities"), say("tier %q has no PriorityClass", tier.name()),
			help("add at least one name with its value"))
	}
}

// sameClass reports PriorityClasses that several tiers define, because
// PriorityClasses belong to the whole cluster.
func sameClass(r *report) {
	first := map[string][]string{}
	claim := func(class string, path fieldPath) {
		if other, taken := first[class]; taken {
			r.addKey(path, say("PriorityClass %q already belongs to tier %q", class, other[1]),
				see(other, "the other tier"), help("rename one of them"))
			return
		}
		first[class] = path
	}
	tiers := r.Blueprint.Tiers
	for _, name := range sortedKeys(tiers) { // first, because their names are more specific
		if tiers[name].Priority != nil && tiers[name].Priorities == nil {
			claim(name, at("tiers", name))
		}
	}
	for _, name := range sortedKeys(tiers) {
		for _, class := range sortedKeys(tiers[name].Priorities) {
			p, other := tiers[name].Priorities[class], first[class]
			if p.Existing && len(other) == 4 && tiers[other[1]].Priorities[class] == p {
				continue // both tiers use a class of others
			}
			claim(class, at("tiers", name, "priorities", class))
		}
	}
}

// defaultOfOthers reports a default tier that makes no PriorityClass, so that there is nothing to
// give to pods that name none.
func defaultOfOthers(r *report, tier fieldPath, t schema.Tier) {
	own := slices.ContainsFunc(t.PriorityClasses(tier.name()), func(c schema.PriorityClass) bool { return !c.Existing })
	if t.Default && !own && (t.Priorities != nil || t.WorkloadPriorities != nil) {
		r.add(tier.at("default"), say("the platform makes no PriorityClass of tier %q, so it cannot be the default",
			tier.name()), help("add priority, or make another tier the default"))
	}
}

// checksOutsideTier reports AdmissionChecks for capacities that the tier does not have. Kueue's
// webhook refuses them.
func checksOutsideTier(r *report, tier fieldPath, t schema.Tier) {
	known, ok := r.capacitiesOf(tier.name())
	if !ok {
		return
	}
	for _, name := range sortedKeys(t.AdmissionChecks) {
		r.resolveNames(tier.at("admissionChecks", name), "capacity of tier "+tier.name(), t.AdmissionChecks[name],
			known)
	}
}

// ownChecks reports AdmissionChecks of others with the name of a check that the platform makes.
func ownChecks(r *report) {
	for tier, t := range sorted(r.Blueprint.Tiers) {
		for _, name := range sortedKeys(t.AdmissionChecks) {
			makes := func(c ir.Capacity) bool { return c.AdmissionCheck == name }
			if i := slices.IndexFunc(r.Plan.Capacities, makes); i >= 0 {
				c := r.Plan.Capacities[i].Name
				r.addKey(at("tiers", tier, "admissionChecks", name),
					say("the platform makes AdmissionCheck %q, for capacity %q", name, c),
					see(at("capacity", c), "the capacity"),
					help("remove the check here: jobs on this capacity pass it in any case"))
			}
		}
	}
}

// twoWorkloadPriorities reports WorkloadPriorityClasses with two values.
func twoWorkloadPriorities(r *report) {
	first := map[string]fieldPath{}
	values := map[string]int{}
	for name, t := range sorted(r.Blueprint.Tiers) {
		for _, class := range sortedKeys(t.WorkloadPriorities) {
			path, value := at("tiers", name, "workloadPriorities", class), t.WorkloadPriorities[class]
			if first[class] != nil && values[class] != value {
				r.add(path, say("WorkloadPriorityClass %q has the value %d in tier %q", class, values[class],
					first[class][1]), see(first[class], "the other value"),
					help("write %d here too, or choose another name", values[class]))
			} else if first[class] == nil {
				first[class], values[class] = path, value
			}
		}
	}
}

func ownQuotaInShared(r *report) {
	b := r.Blueprint
	for _, name := range sortedKeys(b.Teams) {
		for _, tier := range sortedKeys(b.Teams[name].Quota) {
			if b.Tiers[tier].Shared != nil {
				r.addKey(at("teams", name, "quota", tier),
					say("the teams share the queue of tier %q, so a team cannot have its own quota in it", tier),
					see(at("tiers", tier, "shared"), "shared here"),
					help("remove this quota; tiers.%s.shared.quota holds the quota of all its teams together", tier))
			}
		}
	}
}

// openQueues reports tiers whose ClusterQueues admit jobs of every namespace.
func openQueues(r *report, tier fieldPath, t schema.Tier) {
	if t.Namespaces.All {
		r.add(tier.at("namespaces"), say("every namespace with a LocalQueue can use the quota of tier %q", tier.name()),
			help("remove namespaces, so that only the teams of the tier use its quota; if this is intended, add %s",
				r.accepting(tier)))
	}
}

// impossibleLabels reports labels in namespaces of a tier that the namespaces of its teams
// cannot have: labels that Kubernetes or the platform sets, and labels for which another
// tier of a team has another value.
func impossibleLabels(r *report) {
	b := r.Blueprint
	for name, t := range sorted(b.Tiers) {
		if r.existingTiers()[name] {
			continue // no namespace of others gets a label
		}
		for _, key := range sortedKeys(t.Namespaces.Labels) {
			labels := t.Namespaces.Labels
			path := at("tiers", name, "namespaces", key)
			if r.checkLabel(path, key, labels[key]) && isReservedLabel(key) {
				r.addKey(path, say("label %q is reserved, so no tier can set it on the namespaces of its teams", key),
					help("choose another label"))
			}
		}
	}
	type value struct{ tier, value string }
	for _, t := range r.Plan.OwnTeams() {
		first := map[string]value{} // by key
		for _, q := range t.Queues {
			for _, l := range q.Namespaces.Labels {
				other, taken := first[l.Key]
				if taken && other.value != l.Value {
					r.addKey(at("tiers", q.Tier, "namespaces", l.Key),
						say("the namespace of team %q would have label %q with two values", t.Name, l.Key),
						see(at("tiers", other.tier, "namespaces", l.Key), "the other value"),
						help("write %q here too, or choose another label", other.value))
				} else {
					first[l.Key] = value{q.Tier, l.Value}
				}
			}
		}
	}
}

// namespaceConditions reports conditions on namespaces that Kueue's webhook refuses, and those
// that are incomplete.
func namespaceConditions(r *report, tier fieldPath, t schema.Tier) {
	for i, c := range t.Namespaces.Conditions {
		path := tier.at("namespaces", diag.Index(i))
		r.checkLabelKey(path.at("label"), c.Label, r.add)
		for j, value := range c.In {
			r.checkLabelValue(path.at("in", diag.Index(j)), value)
		}
		for j, value := range c.NotIn {
			r.checkLabelValue(path.at("notIn", diag.Index(j)), value)
		}
		switch given := conditionFields(c); {
		case len(given) == 0:
			r.add(path, say("the condition on label %q is incomplete", c.Label),
				help("add in or notIn with values, or exists: true or false"))
		case len(given) > 1:
			r.addKey(path.at(given[1]), say("the condition on label %q already has %s", c.Label, given[0]),
				see(path.at(given[0]), "here"), help("write a condition for each"))
		}
	}
}

// conditionFields returns the fields of a condition on namespaces that say what must hold.
func conditionFields(c schema.NamespaceCondition) (names []string) {
	if c.In != nil {
		names = append(names, "in")
	}
	if c.NotIn != nil {
		names = append(names, "notIn")
	}
	if c.Exists != nil {
		names = append(names, "exists")
	}
	return names
}

// unselectedTeams reports tiers that do not select the namespaces of all their teams. Kueue
// admits no job of a namespace that the ClusterQueue does not select. Other tools can set
// labels, too, and Kubernetes itself sets those of the Pod Security Standards here. Of a namespace
// that others own, only the name is known.
func unselectedTeams(r *report) {
	missed := map[string][]string{}
	lacks := map[string]ir.NamespaceCondition{} // what the first of them does not satisfy
	doubtful := map[string][]ir.Team{}
	for _, t := range r.Plan.Teams {
		for _, q := range t.Queues {
			if !areComplete(r.Blueprint.Tiers[q.Tier].Namespaces.Conditions) {
				continue // namespaceConditions reports them
			}
			c, fails := r.failingCondition(q.Namespaces, t)
			switch {
			case fails || q.Namespaces.None:
				if missed[q.Tier] == nil && fails {
					lacks[q.Tier] = c
				}
				missed[q.Tier] = append(missed[q.Tier], t.Name)
			case t.InExisting && len(labelsToAsk(q.Namespaces.Conditions)) > 0:
				doubtful[q.Tier] = append(doubtful[q.Tier], t)
			}
		}
	}
	for tier, teams := range sorted(missed) {
		when, cure := "if its queues only lend", "select the namespaces of its teams"
		if c, found := lacks[tier]; found {
			when, cure = selectionCure(c, teams[0])
		}
		which := fmt.Sprintf("the namespace of team %q, whose jobs", teams[0])
		if len(teams) > 1 {
			which = fmt.Sprintf("the namespaces of teams %s, whose jobs", words.Quoted(teams, 4))
		}
		r.add(at("tiers", tier, "namespaces"), say("tier %q does not select %s never start", tier, which),
			helpOrAccept(when, "%s", cure))
	}
	for tier, teams := range sorted(doubtful) {
		if missed[tier] == nil {
			r.doubtSelection(tier, teams)
		}
	}
}

// failingCondition returns the first condition of a queue that the namespace of a team is known not to
// satisfy, and whether there is one.
func (r *report) failingCondition(n ir.Namespaces, t ir.Team) (ir.NamespaceCondition, bool) {
	labels := map[string]string{}
	if !t.InExisting {
		labels = r.Plan.LabelsOfNamespace(&t)
	}
	labels[labelOfName] = t.Namespace
	for _, c := range conditionsOn(n, t) {
		unknown := t.InExisting && c.Label != labelOfName
		if !unknown && !strings.HasPrefix(c.Label, podSecurityPrefix) && !c.Holds(labels) {
			return c, true
		}
	}
	return ir.NamespaceCondition{}, false
}

// selectionCure returns how a tier would select the namespace of a team that does not satisfy a condition,
// and when to accept that it does not.
func selectionCure(c ir.NamespaceCondition, team string) (when, cure string) {
	cure = fmt.Sprintf("change the condition on label %q", c.Label)
	if c.Label == labelOfName {
		return "if this is intended", cure
	}
	if c.Operator == ir.LabelIn && labelText(c.Label) == c.Label && c.Label != ir.LabelTeam {
		cure += fmt.Sprintf(", or write teams: %s: labels: %s: %s", strconv.Quote(team), strconv.Quote(c.Label),
			strconv.Quote(c.Values[0]))
	}
	return "if an administrator labels the namespaces", cure
}

// doubtSelection reports a tier that selects namespaces of others by labels which the blueprint does not
// know.
func (r *report) doubtSelection(tier string, teams []ir.Team) {
	var names []string
	for _, t := range teams {
		names = append(names, t.Name)
	}
	which := fmt.Sprintf("the namespace of team %q only if its owners have labelled it", names[0])
	if len(names) > 1 {
		which = fmt.Sprintf("the namespaces of teams %s only if their owners have labelled them",
			words.Quoted(names, 4))
	}
	var labels []string
	for _, q := range teams[0].Queues {
		if q.Tier == tier {
			labels = labelsToAsk(q.Namespaces.Conditions)
		}
	}
	r.add(at("tiers", tier, "namespaces"), say("tier %q selects %s", tier, which), helpOrAccept("if they have",
		"let the owners run kubectl label namespace %s %s", teams[0].Namespace, strings.Join(labels, " ")))
}

// conditionsOn returns what a queue requires of the namespace of a team. The platform sets labels on its
// own namespaces only.
func conditionsOn(n ir.Namespaces, t ir.Team) []ir.NamespaceCondition {
	out := n.Conditions
	for _, l := range n.Labels {
		if t.InExisting && l.Key == labelOfName {
			out = append(slices.Clip(out),
				ir.NamespaceCondition{Label: l.Key, Operator: ir.LabelIn, Values: []string{l.Value}})
		}
	}
	return out
}

// labelsToAsk returns labels that satisfy conditions, as kubectl label reads them. Kubernetes itself sets
// the name.
func labelsToAsk(conditions []ir.NamespaceCondition) []string {
	var out []string
	for _, c := range conditions {
		switch {
		case c.Label == labelOfName:
		case c.Operator == ir.LabelIn:
			out = append(out, c.Label+"="+c.Values[0])
		case c.Operator == ir.LabelExists:
			out = append(out, c.Label+"=true")
		}
	}
	return out
}

// areComplete reports whether conditions on namespaces say exactly one thing each.
func areComplete(conditions []schema.NamespaceCondition) bool {
	return !slices.ContainsFunc(conditions, func(c schema.NamespaceCondition) bool {
		return len(conditionFields(c)) != 1
	})
}

// labelOfName is the label with which Kubernetes gives each namespace its name.
const labelOfName = "kubernetes.io/metadata.name"

// podSecurityPrefix begins the labels of the Pod Security Standards, which a namespace has.
const podSecurityPrefix = "pod-security.kubernetes.io/"

// namesOfNoQueue reports names of queues that a team does not have, and the name of a
// ClusterQueue that belongs to a tier.
func namesOfNoQueue(r *report) {
	b := r.Blueprint
	for _, t := range r.Plan.Teams {
		for _, tier := range sortedKeys(b.Teams[t.Name].Queues) {
			if !hasName(sortedKeys(b.Tiers), tier) {
				continue // checkReferences reports it
			}
			path := at("teams", t.Name, "queues", tier)
			i := slices.IndexFunc(t.Queues, func(q ir.Queue) bool { return q.Tier == tier })
			switch _, given := b.Teams[t.Name].Quota[tier]; {
			case i < 0 && given: // another rule reports the quota
			case i < 0:
				r.addKey(path, say("team %q has no queue in tier %q", t.Name, tier),
					help("give the team quota in the tier, or remove the names"))
			case t.Queues[i].Shared && b.Teams[t.Name].Queues[tier].ClusterQueue != nil:
				r.addKey(path.at("clusterQueue"),
					say("the ClusterQueue of tier %q belongs to all its teams, so a team cannot name it", tier),
					see(at("tiers", tier, "shared"), "shared here"), help("set tiers.%s.shared.clusterQueue", tier))
			}
			if i >= 0 && t.Queues[i].Shared && b.Teams[t.Name].Queues[tier].Stop != nil {
				r.addKey(path.at("stop"),
					say("the ClusterQueue of tier %q belongs to all its teams, so a team cannot stop it", tier),
					see(at("tiers", tier, "shared"), "shared here"),
					help("set tiers.%s.shared.stop, or stop of the team's localQueues", tier))
			}
		}
	}
}

// bothLocalQueues reports queues of a team with one LocalQueue and with several.
func bothLocalQueues(r *report) {
	for path, names := range every[map[string]schema.QueueNames](r, "teams.*.queues") {
		for _, tier := range sortedKeys(names) {
			if names[tier].LocalQueue != nil && names[tier].LocalQueues != nil {
				r.addKey(path.at(tier, "localQueues"),
					say("the LocalQueue of team %q in tier %q already has a name", path[1], tier),
					see(path.at(tier, "localQueue"), "the name"),
					help("write %s: {} in localQueues, and remove localQueue", strconv.Quote(*names[tier].LocalQueue)))
			}
		}
	}
}

// heldQueues reports queues that start no jobs, because nobody should forget them.
func heldQueues(r *report) {
	hold := func(path fieldPath, stop, queue string) {
		if !ir.Stops(stop) {
			return
		}
		does := "its running jobs continue"
		if stop == ir.StopDrain {
			does = "its running jobs are evicted"
		}
		r.add(path, say("%s starts no jobs, and %s", queue, does),
			help("remove stop and build, so that the waiting jobs start"))
	}
	for _, q := range r.Plan.SharedQueues {
		hold(at("tiers", q.Tier, "shared", "stop"), q.Stop, fmt.Sprintf("the queue of tier %q", q.Tier))
	}
	for _, t := range r.Plan.Teams {
		for _, q := range t.Queues {
			for _, l := range q.LocalQueues {
				hold(at("teams", t.Name, "queues", q.Tier, "localQueues", l.Name, "stop"), l.Stop,
					fmt.Sprintf("LocalQueue %q of team %q", l.Name, t.Name))
			}
			if !q.Shared {
				hold(at("teams", t.Name, "queues", q.Tier, "stop"), q.Stop,
					fmt.Sprintf("the queue of team %q in tier %q", t.Name, q.Tier))
			}
		}
	}
}

func sharedByNobody(r *report) {
	for _, q := range r.Plan.SharedQueues {
		if shared := r.Blueprint.Tiers[q.Tier].Shared; len(q.Teams) == 0 && shared.Teams == nil {
			r.addKey(at("tiers", q.Tier, "shared"), say("no team shares the queue of tier %q", q.Tier),
				help("define a team, or remove shared"))
		}
	}
}
