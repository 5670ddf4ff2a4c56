package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on quota: the limits must make sense, and the guarantees must be possible to
// keep.

func quotaRules() []Rule {
	return []Rule{
		rule("E0601", "borrowing or lending without a cohort", loneBorrowers),
		rule(schema.Overcommitted, "guarantees exceed the capacity", checkOvercommit, whole, acceptable),
		rule("E0603", "lending limit exceeds the guarantee", onEach(queueGrants, lendAboveNominal)),
		rule("E0604", "quota is in the wrong unit", onEach(allGrants, quotaUnit), basic),
		rule("E0605", "queue cannot run anything", deadQueues),
		rule("W0608", "quota is not a multiple of a TPU slice", onEach(queueGrants, sliceQuota), resolved),
		rule("W0606", "no other queue lends to the queue", nothingToBorrow, whole, resolved, except(ir.KAI)),
		rule("W0610", "limit exceeds all that can be borrowed", borrowTooMuch, whole, resolved, except(ir.KAI)),
	}
}

func loneBorrowers(r *report) {
	reported := map[string]bool{} // one mistake, however many limits it affects
	for q := range r.queueGrants() {
		limit, limited := q.limited()
		if q.cohort != nil || reported[q.who] || !limited {
			continue
		}
		reported[q.who] = true
		verb := "lend to"
		if limit[len(limit)-1] == "borrow" {
			verb = "borrow from"
		}
		r.addKey(q.holder, say("%s has no cohort to %s", q.who, verb),
			see(q.path.at(limit...), "the limit"), help("give it a cohort, or remove its limits"))
	}
}

// loneCapacities returns the capacities on which loneBorrowers reports a limit. With a
// cohort, the holder of the limit probably lends to the other queues.
func (r *report) loneCapacities() map[string]bool {
	out := map[string]bool{}
	for q := range r.queueGrants() {
		if _, limited := q.limited(); q.cohort == nil && limited {
			out[q.capacity] = true
		}
	}
	return out
}

func lendAboveNominal(r *report, q grant) {
	if q.ByRatio() && q.Lend != nil && *q.Lend > nominalQuota(q.Quota) {
		r.add(q.path.at("lend"), say("lend is %d, but the guarantee is %d", *q.Lend, nominalQuota(q.Quota)),
			label("want at most %d", nominalQuota(q.Quota)))
	}
	lendAboveExact(r, q)
}

func quotaUnit(r *report, q grant) {
	m := r.fit.Named[q.capacity].Machine
	switch {
	case m.VCPUs == 0: // the machine is unknown
	case m.Accelerator == "" && q.Accelerators != nil:
		r.addKey(q.path.at("accelerators"), say("%s has no accelerators", m.Type), label("want cpus"),
			help("%s", acceleratorCure(r.fit.Named[q.capacity].Hardware, m.Type)))
	case m.Accelerator != "" && q.CPUs != nil:
		r.addKey(q.path.at("cpus"), say("quota on %s is counted in accelerators", m.Type), label("want accelerators"),
			help("cpu and memory follow from hardware.%s.perAccelerator", r.fit.Named[q.capacity].Hardware))
	}
}

// acceleratorCure returns the help for a quota of accelerators on a machine without any.
// To an N1 machine the blueprint can attach GPUs, which people forget.
func acceleratorCure(hardware, machine string) string {
	if gpus := catalog.Attachments(machine); len(gpus) > 0 {
		common := slices.IndexFunc(gpus, func(a catalog.Attachment) bool { return a.Accelerator == "nvidia-tesla-t4" })
		one := gpus[max(common, 0)]
		return fmt.Sprintf("add the GPUs of each node, such as hardware: %q: gpus: {type: %q, count: %d}; "+
			"or count the quota in cpus", hardware, one.Accelerator, one.Count)
	}
	return "count the quota in cpus, or choose a machine type with accelerators"
}

func checkOvercommit(r *report) {
	exceeded := map[string]string{}
	for _, c := range r.Plan.AllCapacities() {
		if excess, ok := fit.FirstExcess(c); ok {
			exceeded[c.Name] = excess.Resource
		}
	}
	guarantees := r.guaranteesOf(exceeded)
	for _, c := range r.Plan.AllCapacities() {
		excess, ok := fit.FirstExcess(c)
		in := r.Blueprint.Capacity[c.Name]
		if !ok || !hasSize(c, in) || conflictingCounts(in) || r.followsShare(c, excess) {
			continue
		}
		n, unit := countedUnits(c, c.MaxNodes)
		hold := choosePlural(n, "holds", "hold")
		printed := ir.PrintAlike(excess.Resource, excess.Guaranteed, excess.Held)
		r.addKey(at("capacity", c.Name), say("the guarantees on capacity %q are %s %s, but its %s %s %s", c.Name,
			printed[0], excess.Resource, words.Count(n, unit), hold, printed[1]), guarantees[c.Name],
			helpOrAccept("if this is intended", "reduce the quotas, or add %ss", unit))
	}
}

// followsShare reports whether an excess of cpu or memory is a consequence of
// perAccelerator, which promises more cpu or memory than the node has.
func (r *report) followsShare(c ir.Capacity, e fit.Excess) bool {
	h := r.Blueprint.Hardware[c.Hardware]
	m, ok := findMachine(h)
	s, given := shareOf(h, m)
	counted := c.CountedIn()
	return ok && given && (s.aboveCPU || s.aboveMemory) && e.Resource != counted
}

// conflictingCounts reports whether oneCount or minAboveMax reports the counts of a
// capacity, so that nobody knows which of them holds.
func conflictingCounts(in schema.Capacity) bool {
	return countedTwice(in) || in.MaxNodes != nil && in.MinNodes > *in.MaxNodes
}

func deadQueues(r *report) {
	b := r.Blueprint
	for _, name := range sortedKeys(b.Teams) {
		for tier, quota := range sorted(b.Teams[name].Quota) {
			switch {
			case len(b.Tiers[tier].Capacity) == 0 || b.Tiers[tier].Shared != nil || r.existingTiers()[tier]:
			case r.lackRatio(quota):
			case len(quota) == 0:
				r.addKey(at("teams", name, "quota", tier),
					say("team %q has no quota on any capacity of tier %q", name, tier),
					help("add quota, or remove the tier from the team's quota"))
			case isDeadQuota(b.Tiers[tier], quota):
				r.addKey(at("teams", name, "quota", tier),
					say("team %q is guaranteed nothing in tier %q and may borrow nothing", name, tier),
					help("add a guarantee or a borrowing limit"))
			}
		}
	}
	for tier, t := range sorted(b.Tiers) {
		if t.Shared == nil || len(t.Capacity) == 0 || r.existingTiers()[tier] ||
			slices.ContainsFunc(t.Capacity, func(c string) bool { _, given := t.Shared.Quota[c]; return !given }) ||
			r.lackRatio(t.Shared.Quota) {
			continue // the quota covers all of a capacity, or another rule reports it
		}
		if isDeadQuota(t, t.Shared.Quota) {
			r.addKey(at("tiers", tier, "shared", "quota"),
				say("the shared queue of tier %q is guaranteed nothing and may borrow nothing", tier),
				help("add a guarantee or a borrowing limit; or remove quota: the queue is then guaranteed all "+
					"of its capacities"))
		}
	}
	if r.Plan.Scheduler.Facts().QuotaPerCapacity {
		r.starvedQueues()
	}
}

// lackRatio reports whether ratioWithoutHardware reports one of the quotas of a queue.
func (r *report) lackRatio(quota map[string]schema.Quota) bool {
	for capacity, q := range quota {
		if r.lacksRatio(capacity, q) {
			return true
		}
	}
	return false
}

// starvedQueues reports queues that admit no job, because on each capacity they have and may borrow
// nothing of a resource that every job requests: pods, and cpu and memory, which the platform's policies
// demand. It reports no queue that has nothing at all, which deadQueues reports, and none of which the
// plan lacks a capacity.
func (r *report) starvedQueues() {
	for q, teams := range r.Plan.ClusterQueues() {
		path := queueQuota(q, teams)
		if r.existingTiers()[q.Tier] || len(q.Flavors) < len(r.quotaAt(q, teams)) ||
			!slices.ContainsFunc(q.Flavors, ir.FlavorQuota.Usable) {
			continue
		}
		for _, g := range q.Groups() {
			var lacking []string
			for _, f := range g.Flavors {
				if i := slices.IndexFunc(f.Quotas, starves); i >= 0 {
					lacking = append(lacking, f.Quotas[i].Resource)
				}
			}
			if len(lacking) == 0 || len(lacking) < len(g.Flavors) {
				continue
			}
			at := path.at(g.Flavors[0].Flavor)
			if below := at.at("resources", lacking[0]); r.Written(below...) {
				at = below
			}
			who := "the shared queue"
			if !q.Shared {
				who = ownerOf(q, teams)
			}
			names := strings.Join(slices.Compact(slices.Sorted(slices.Values(lacking))), " or no ")
			r.addKey(at, say("on each capacity of tier %q, %s is guaranteed no %s and may borrow none, so it admits "+
				"no job", q.Tier, who, names),
				help("remove the amount of 0, or write the amount that the jobs request"))
			break
		}
	}
}

// starves reports whether a quota lets no job start, because every job requests the resource.
func starves(q ir.ResourceQuota) bool {
	return slices.Contains([]string{ir.CPU, ir.Memory, ir.Pods}, q.Resource) && !q.Usable()
}

// quotaAt returns the quota of a ClusterQueue as the blueprint writes it.
func (r *report) quotaAt(q *ir.Queue, teams []ir.SharingTeam) map[string]schema.Quota {
	if q.Shared {
		return r.Blueprint.Tiers[q.Tier].Shared.Quota
	}
	return r.Blueprint.Teams[teams[0].Name].Quota[q.Tier]
}

// sliceQuota reports a quota of which a part can never be used, because a workload
// uses whole slices or hosts.
func sliceQuota(r *report, q grant) {
	slice, own := r.fit.Named[q.capacity].Machine.Slice, nominalQuota(q.Quota)
	if slice == nil || q.Borrow == schema.BorrowAll || own+int(q.Borrow) == 0 {
		return
	}
	if most := own + int(q.Borrow); most < slice.Chips {
		r.addKey(q.path, say("the quota of %d chips cannot be used, because a slice of %q has %d", most, q.capacity,
			slice.Chips), help("write a multiple of %d", slice.Chips))
	} else if rest := own % slice.Chips; rest != 0 && q.Borrow == 0 {
		r.addKey(q.path, say("the quota is %d chips, but %d of them cannot be used, because slices of %q have %d each",
			own, rest, q.capacity, slice.Chips), help("write a multiple of %d", slice.Chips))
	}
}

// nothingToBorrow reports limits on borrowing from a cohort in which no other queue
// lends. A comprehension writes the limits of many queues at one place: they are one
// finding.
func nothingToBorrow(r *report) {
	type limit struct {
		spot             diag.Spot
		cohort, capacity string
		accepted         bool
	}
	const most = 12
	lone := r.loneCapacities()
	borrowers := map[limit][]fit.Borrower{}
	var order []limit
	for b := range r.fit.Borrowers() {
		own := b.Quotas[slices.IndexFunc(b.Quotas, ir.ResourceQuota.Borrows)]
		if others := r.fit.LentBy(b, own); lone[b.Capacity.Name] || others.Sign() > 0 {
			continue
		}
		path := limitOf(b)
		l := limit{r.Place(false, path...).Spot(""), b.Queue.Cohort, b.Capacity.Name, r.acceptedReason(path) != ""}
		if borrowers[l] == nil {
			order = append(order, l)
		}
		borrowers[l] = append(borrowers[l], b)
	}
	for _, l := range order {
		var who []string
		for _, b := range borrowers[l] {
			who = append(who, ownerOf(b.Queue, b.Teams))
		}
		all := words.And(who)
		if len(who) > most {
			all = words.First(who, most)
		}
		r.add(limitOf(borrowers[l][0]), say("no other queue of cohort %q lends %q to %s", l.cohort, l.capacity, all),
			help("remove borrow, or let another queue lend"))
	}
}

// borrowTooMuch reports a borrowing limit above everything that the other queues
// and the cohorts under the root of the cohort lend.
func borrowTooMuch(r *report) {
	lone := r.loneCapacities()
	for b := range r.fit.Borrowers() {
		own, limited := b.Counted()
		if !limited || lone[b.Capacity.Name] {
			continue
		}
		others, counted := r.fit.LentBy(b, own), b.Capacity.CountedIn()
		if others.Sign() <= 0 || own.Borrowing.Cmp(others) <= 0 {
			continue
		}
		most := ir.PrintQuantity(counted, others)
		r.add(limitOf(b), say("borrow is %s, but the other queues lend at most %s on %q",
			ir.PrintQuantity(counted, *own.Borrowing), most, b.Capacity.Name), label("want at most %s", most),
			help("write borrow: %s, or borrow: %q for everything that is idle", most, "all"))
	}
}
