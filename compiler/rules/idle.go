package rules

import (
	"fmt"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on machines that stand idle: they are paid, and no job can use them, or jobs
// start other machines first.

func idleRules() []Rule {
	return []Rule{
		rule("W0614", "standing nodes that no quota reaches", unreachedNodes, whole, resolved),
		rule("W0615", "part of the quota can never be used", unusableQuota, whole, resolved, except(ir.KAI)),
		rule("W0419", "tier starts nodes before it uses nodes that are paid anyway",
			standingTriedLate, whole, resolved, except(ir.KAI)),
	}
}

// unreachedNodes reports nodes that exist even if no job runs, and that all quotas
// together never use. It counts whole nodes, and the GPUs of a fixed number of nodes.
// If a guarantee leaves a remainder, only quotaRemainders reports these GPUs. Without
// any guarantee on a capacity, reportUnused, deadQueues or nothingToBorrow report it.
func unreachedNodes(r *report) {
	counts := r.Plan.CountNodes()
	guarantees := r.guaranteesOf(nil)
	remainders := r.fit.Remainders()
	unused := label("paid whether jobs run or not")
	for i, c := range r.Plan.Capacities {
		guaranteed := ir.AmountOf(c.Guaranteed, c.CountedIn())
		if guaranteed.IsZero() || !hasValidSize(c, r.Blueprint.Capacity[c.Name]) {
			continue
		}
		path, paid := standingField(c)
		if n := counts[i]; n.Reached >= n.Standing {
			rest := fit.UnreachedGPUs(c, n)
			if rest > 0 && !remainders[c.Name] && r.Plan.Scheduler.Facts().QuotaPerCapacity {
				r.add(path, say("capacity %q %s %d GPUs, but all quotas together use at most %d of them", c.Name, paid,
					guaranteed.Value()+rest, guaranteed.Value()), guarantees[c.Name], unused,
					helpOrAccept("if this is intended", "give a queue quota for %s",
						words.Count(int(rest), "more GPU")))
			}
			continue
		}
		if paid == reservedMachines && r.Plan.SharesReservation(c) {
			continue
		}
		standing, unit := countedUnits(c, counts[i].Standing)
		reached, _ := countedUnits(c, counts[i].Reached)
		r.add(path, say("capacity %q %s %s, but all quotas together use at most %d of them", c.Name, paid,
			words.Count(standing, unit), reached), guarantees[c.Name], unused,
			helpOrAccept("if this is intended", "lower the number to %d, or give a queue quota for %s", reached,
				words.Count(standing-reached, "more "+unit)))
	}
}

// hasValidSize reports whether no other rule reports the capacity's number of nodes.
func hasValidSize(c ir.Capacity, in schema.Capacity) bool {
	scales := c.Reservation != nil && c.Reservation.Create && !c.Static
	return hasSize(c, in) && !countedTwice(in) && !scales && c.MinNodes <= c.MaxNodes && c.OwnsPools() &&
		!c.Option.Facts().OnRequest
}

// reservedMachines is the verb for machines that a reservation holds while no node
// uses them.
const reservedMachines = "reserves up to"

// standingField returns the field that makes nodes of a capacity stand, and the verb
// for them in a sentence.
func standingField(c ir.Capacity) (path fieldPath, verb string) {
	fixed, most := countFields(c)
	switch {
	case c.Static:
		return at("capacity", c.Name, fixed), "always has"
	case c.OwnsReservation():
		return at("capacity", c.Name, most), reservedMachines
	}
	return at("capacity", c.Name, "minNodes"), "always has at least"
}

// unusableQuota reports guarantees and borrowing limits of accelerators that no job can
// use.
func unusableQuota(r *report) {
	quotaRemainders(r)
	uselessLimits(r)
}

// quotaRemainders reports guarantees of accelerators of which a part can never be
// used, even if queues borrow from each other. On TPUs every workload uses whole
// slices. On GPUs the workloads of the blueprint decide: if the pods of all of them use
// a multiple of a number, nothing can use the remainder. A team without workloads can
// run anything, so its pool is not reported. sliceQuota reports single queues on TPUs.
func quotaRemainders(r *report) {
	guarantees, refusing := r.guaranteesOf(nil), r.fit.RefusingCapacities()
	for _, pool := range r.fit.Pools() {
		c := pool.Capacity
		path, related := at("capacity", c.Name), guarantees[c.Name]
		if pool.Queues == 1 {
			path, related = queueQuota(pool.Queue, pool.Teams).at(c.Name), together()
		}
		// copyFitsQuota reports most of the workloads that a quota refuses.
		if c.HasGPUs() && !pool.Jobless() && !fit.LacksSize(*c) && !refusing[c.Name] &&
			r.reportShortShare(pool, path) {
			continue
		}
		step, cause := pool.RemainderStep(), "every pod of the workloads there uses a multiple of"
		if step == 0 {
			continue
		}
		if c.HasTPUs() {
			cause = "a slice has"
		}
		r.addKey(path, say("%d of the %d %s guaranteed on %q can never be used, because %s %d", pool.Guaranteed%step,
			pool.Guaranteed, c.CountedIn(), c.Name, cause, step), related,
			helpOrAccept("if this is intended", "change the guarantees so that their sum is a multiple of %d", step))
	}
}

// reportShortShare reports a pool whose cpu or memory runs out before its GPUs, and
// reports whether it is such a pool. If the nodes have no more either, idleAccelerators
// reports them.
func (r *report) reportShortShare(pool *fit.Pool, path fieldPath) bool {
	short, found := pool.ShortShare()
	if !found {
		return false
	}
	c := pool.Capacity
	r.addKey(path, say("%d of the %d %s guaranteed on %q can never be used, because every pod requests more "+
		"cpu or memory for each GPU than the quota has", short.Unused, pool.Guaranteed, c.CountedIn(), c.Name),
		relatedPods(pool.Templates), helpOrAccept("if this is intended", "request at most %s for each GPU, or %s",
			printAmounts(short.Share), writePerAccelerator(*c, short.Needed)))
	return true
}

// uselessLimits reports limits up to which a queue borrows accelerators, and which are
// too low for one more pod. On TPUs a workload uses whole slices; on GPUs the workloads
// of the queue decide. If a team of the queue has no workload there, its jobs can have
// any size. Other rules report a queue that can borrow nothing, or less than its limit.
func uselessLimits(r *report) {
	steps := r.fit.QueueSteps()
	for b := range r.fit.Borrowers() {
		c := b.Capacity
		quota, limited := b.Counted()
		if !limited || !c.HasAccelerators() {
			continue
		}
		step := steps[[2]string{b.Queue.ClusterQueue, c.Name}]
		cause := "every pod of its workloads there uses a multiple of"
		own, more := quota.Nominal.Value(), quota.Borrowing.Value()
		if c.HasTPUs() && c.Machine.Slice != nil {
			step, cause = int64(c.Machine.Slice.Chips), "a slice has"
			if own+more < step {
				continue // sliceQuota reports it
			}
		}
		others := r.fit.LentBy(b, quota)
		if step < 2 || more > others.Value() || (own+more)/step > own/step {
			continue
		}
		cure, path := "remove borrow", limitOf(b)
		if enough := step - own%step; enough <= others.Value() {
			cure = fmt.Sprintf("write borrow: %d, or remove it", enough)
		}
		r.add(path, say("no job of %s can use the %d %s that it may borrow on %q, because %s %d",
			ownerOf(b.Queue, b.Teams), more, c.CountedIn(), c.Name, cause, step),
			label("beside a guarantee of %d", own), helpOrAccept("if this is intended", "%s", cure))
	}
}

// standingTriedLate reports a tier that starts nodes while equal nodes are paid: nodes
// that stand, or machines of a reservation.
func standingTriedLate(r *report) {
	tiers := map[string][]string{}
	for name, t := range r.Blueprint.Tiers {
		tiers[name] = t.Capacity
	}
	for _, late := range r.fit.TriedLate(tiers) {
		paid, _ := standingField(late.Capacity)
		why, remark := "for which you pay anyway", "you pay for these nodes in any case"
		if late.Any {
			paid = at("capacity", late.Name, "consumption", late.Option.Facts().Field)
			why = "whose nodes can come from a reservation that is paid anyway"
			remark = "these nodes come from a reservation if one has machines left"
		}
		path := at("tiers", late.Tier, "capacity", diag.Index(late.Index))
		r.add(path, say("tier %q starts nodes of %q before it uses %q, %s", late.Tier, late.Before, late.Name, why),
			see(paid, "%s", remark), helpOrAccept("if this is intended", "list %q before %q", late.Name, late.Before))
	}
}
