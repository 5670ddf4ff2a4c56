package jobs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
)

// kueueQuota adds the effects of another quota, cohort or preemption.
//
// Kueue compares usage with quota only when it admits a workload. It evicts none because a
// quota, a borrowing limit or a cohort has changed; such a workload then counts as borrowing,
// and a queue of the cohort that may reclaim can evict it. Source: Kueue 0.19,
// pkg/cache/scheduler/resource_node.go, pkg/scheduler/preemption. Measured on a control plane:
// conformance/cluster, TestChanges, "quota".
func (c *change) kueueQuota() {
	t := newTree(c.before, c.after)
	shares := shareTable{
		c: c, was: c.before.Lent(), is: c.after.Lent(), rootsWas: c.before.RootCohorts(), tree: t,
		raised: map[guarantee][]pair{},
	}
	for _, p := range c.common {
		if p.was.ClusterQueue == p.is.ClusterQueue { // otherwise its jobs move
			shares.compare(p)
		}
	}
	shares.reclaimMore()
	shares.reclaimEarlier()
	for _, p := range c.common {
		if p.was.ClusterQueue == p.is.ClusterQueue {
			shares.shareLess(p)
		}
	}
	c.preemption(t)
}

// shareTable compares what queues can use.
type shareTable struct {
	c        *change
	was, is  ir.Lent
	rootsWas map[string]string
	tree     *tree
	raised   map[guarantee][]pair // queues whose guarantee is higher
}

// guarantee is what the queues of a tier are guaranteed of a capacity.
type guarantee struct{ tier, flavor string }

// share is what a queue can use of one resource of a capacity.
type share struct{ nominal, borrowed resource.Quantity }

func (s share) most() resource.Quantity {
	sum := s.nominal.DeepCopy()
	sum.Add(s.borrowed)
	return sum
}

func shareOf(l ir.Lent, q *ir.Queue, f ir.FlavorQuota, r ir.ResourceQuota) share {
	if f.Waiting {
		return share{}
	}
	borrowed := l.Most(q.Cohort, f.Flavor, r)
	borrowed.Sub(r.Nominal)
	return share{r.Nominal, borrowed}
}

// compare adds the effects of what a queue can use before and after.
func (t shareTable) compare(p pair) {
	c := t.c
	if p.was.Cohort != p.is.Cohort || t.rootsWas[p.was.Cohort] != t.tree.roots[p.is.Cohort] {
		t.otherCohort(p)
	}
	for _, was := range p.was.Flavors {
		i := slices.IndexFunc(p.is.Flavors, func(f ir.FlavorQuota) bool { return f.Flavor == was.Flavor })
		switch {
		case c.was[was.Flavor] == nil, i < 0 && c.fates[was.Flavor] != "": // the rule on nodes
		case i < 0 && !was.Usable():
		case i < 0:
			t.lostFlavor(p, was)
		default:
			t.compareFlavor(p, was, p.is.Flavors[i])
		}
	}
	for _, is := range p.is.Flavors {
		known := slices.ContainsFunc(p.was.Flavors, func(f ir.FlavorQuota) bool { return f.Flavor == is.Flavor })
		if !known && is.Usable() {
			o := Outcome{MayStart, "may also start on " + is.Flavor}
			c.effects.add(p.team, subject{"new quota of " + is.Flavor + " in tier " + p.is.Tier, p.is.Tier, is.Flavor},
				outcomes{waiting: o, new: o})
			g := guarantee{p.is.Tier, is.Flavor}
			t.raised[g] = append(t.raised[g], p)
		}
	}
}

// lostFlavor adds the effect of a capacity of the platform that a queue has no quota of any
// more.
func (t shareTable) lostFlavor(p pair, was ir.FlavorQuota) {
	o := outcomes{
		running: t.keep(p, was.Flavor, "on "+was.Flavor),
		waiting: Outcome{Wait, "start only on the other capacities of the queue. Those that select nodes of " +
			was.Flavor + " never start: delete them"},
		new: Outcome{Rejected, "are rejected if they select nodes of " + was.Flavor},
	}
	if !slices.ContainsFunc(p.is.Flavors, ir.FlavorQuota.Usable) {
		o.waiting = Outcome{NeverStart, "never start: delete them, and submit them to another queue"}
		o.new = Outcome{NeverStart, "never start: submit them to another queue"}
	}
	t.c.effects.add(p.team, subject{"no quota of " + was.Flavor + " in tier " + p.is.Tier, p.is.Tier, was.Flavor}, o)
}

// keep returns what happens to running jobs whose quota is gone. which is the part of them.
func (t shareTable) keep(p pair, flavor, which string) Outcome {
	if t.tree.reclaims(p, flavor) {
		return Outcome{MayStop, which + " continue until another queue of the cohort needs its guaranteed quota"}
	}
	return Outcome{RunOn, which + " continue. If Kueue evicts them, they wait for quota"}
}

// compareFlavor adds the effect of another share of a capacity. If the resource in which people
// count has the same share, it compares the others, which otherwise follow from it or from
// the machine.
func (t shareTable) compareFlavor(p pair, was, is ir.FlavorQuota) {
	counted := t.c.is[is.Flavor].CountedIn()
	resources := append([]string{counted}, p.is.Resources()...)
	for i, name := range resources {
		if i > 0 && name == counted {
			continue
		}
		if i > 0 && t.c.was[is.Flavor].Machine.Type != t.c.is[is.Flavor].Machine.Type {
			return
		}
		a, b := quotaOf(was, name), quotaOf(is, name)
		if a == nil || b == nil {
			continue
		}
		old, now := shareOf(t.was, p.was, was, *a), shareOf(t.is, p.is, is, *b)
		nominal := now.nominal.Cmp(old.nominal)
		if nominal != 0 {
			t.otherNominal(p, is.Flavor, name, old, now)
		}
		sameCohort := p.was.Cohort == p.is.Cohort && t.rootsWas[p.was.Cohort] == t.tree.roots[p.is.Cohort]
		borrowed := now.borrowed.Cmp(old.borrowed)
		if borrowed != 0 && borrowed != nominal && sameCohort && name == counted {
			t.otherBorrowing(p, is.Flavor, *a, *b, old, now)
		}
		if nominal != 0 || borrowed != 0 {
			return
		}
	}
}

func quotaOf(f ir.FlavorQuota, name string) *ir.ResourceQuota {
	i := slices.IndexFunc(f.Quotas, func(q ir.ResourceQuota) bool { return q.Resource == name })
	if i < 0 {
		return nil
	}
	return &f.Quotas[i]
}

// otherNominal adds the effect of a higher or lower nominal quota.
func (t shareTable) otherNominal(p pair, flavor, name string, was, is share) {
	amount := ir.PrintAmount(name, is.nominal)
	s := subject{
		fmt.Sprintf("quota of %s in tier %s: %s", flavor, p.is.Tier, fromTo(name, was.nominal, is.nominal)),
		p.is.Tier, flavor,
	}
	if is.nominal.Cmp(was.nominal) > 0 {
		o := Outcome{MayStart, "may start earlier"}
		t.c.effects.add(p.team, s, outcomes{waiting: o, new: o})
		g := guarantee{p.is.Tier, flavor}
		t.raised[g] = append(t.raised[g], p)
		return
	}
	most := is.most()
	if t.c.fates[flavor] != "" && most.IsZero() {
		return // the rule on nodes
	}
	o := outcomes{running: t.keep(p, flavor, "beyond "+amount)}
	o.waiting = Outcome{Wait, "wait until the queue uses less than " + amount}
	if !is.borrowed.IsZero() {
		o.waiting.Text = "beyond " + amount + " start only on quota that other queues do not use"
	}
	if t.c.fates[flavor] != "" {
		o.running = Outcome{} // they stop
	}
	if most.IsZero() {
		o.waiting = Outcome{Wait, "wait for another capacity of the queue"}
		if !slices.ContainsFunc(p.is.Flavors, ir.FlavorQuota.Usable) {
			o.waiting = Outcome{NeverStart, "do not start until the queue has quota again"}
		}
	}
	o.new = o.waiting
	t.c.effects.add(p.team, s, o)
}

// reclaimMore adds the effect of higher guarantees on borrowing jobs of other queues: larger
// jobs fit the guarantee, and may evict them.
func (t shareTable) reclaimMore() {
	never := func(*ir.Queue, ir.FlavorQuota) (int64, bool) { return 0, false }
	for _, g := range slices.SortedFunc(maps.Keys(t.raised), func(a, b guarantee) int {
		return cmp.Or(strings.Compare(a.tier, b.tier), strings.Compare(a.flavor, b.flavor))
	}) {
		power := func(q *ir.Queue, f ir.FlavorQuota) (int64, bool) {
			power, able := t.tree.reclaimPower(q, f, q.Preemption.ToReclaim)
			return power, able && f.Flavor == g.flavor
		}
		victims, _ := t.c.victims(t.tree, t.raised[g], power, never)
		for _, v := range victims {
			cause := fmt.Sprintf("higher guarantee of %s in tier %s", g.flavor, g.tier)
			t.c.effects.add(v.team, subject{cause, v.is.Tier, g.flavor}, outcomes{running: Outcome{MayStop,
				"that borrow may stop for larger jobs of tier " + g.tier + ", which now fit their guarantee"}})
		}
	}
}

// reclaimEarlier adds the effect of BestEffortFIFO on borrowing jobs of other queues: jobs that
// StrictFIFO kept behind the first job of their queue take their quota back. A whole Kueue
// decides so in rehearse/runner, TestEdits.
func (t shareTable) reclaimEarlier() {
	members := map[string][]pair{} // by tier
	for _, p := range t.c.common {
		if p.was.Strategy == ir.StrictFIFO && p.is.Strategy == ir.BestEffortFIFO {
			members[p.is.Tier] = append(members[p.is.Tier], p)
		}
	}
	power := func(q *ir.Queue, f ir.FlavorQuota) (int64, bool) {
		return t.tree.reclaimPower(q, f, q.Preemption.ToReclaim)
	}
	never := func(*ir.Queue, ir.FlavorQuota) (int64, bool) { return 0, false }
	for _, tier := range slices.Sorted(maps.Keys(members)) {
		victims, _ := t.c.victims(t.tree, members[tier], power, never)
		for _, v := range victims {
			cause := fmt.Sprintf("queueing of tier %s: %s -> %s", tier, ir.StrictFIFO, ir.BestEffortFIFO)
			t.c.effects.add(v.team, subject{cause, v.is.Tier, ""}, outcomes{running: Outcome{MayStop,
				"that borrow may stop for jobs of tier " + tier + " that no longer wait behind others"}})
		}
	}
}

// otherBorrowing adds the effect of another borrowing limit, or of other queues that lend more
// or less.
func (t shareTable) otherBorrowing(p pair, flavor string, a, b ir.ResourceQuota, was, is share) {
	cause := fmt.Sprintf("what tier %s can borrow of %s: %s", p.is.Tier, flavor,
		fromTo(a.Resource, was.borrowed, is.borrowed))
	own := limitText(a) != limitText(b)
	if own {
		cause = fmt.Sprintf("borrowing limit of %s in tier %s: %s", flavor, p.is.Tier,
			fromToText(limitText(a), limitText(b)))
	}
	s := subject{cause, p.is.Tier, flavor}
	if is.borrowed.Cmp(was.borrowed) > 0 {
		o := Outcome{MayStart, "may start earlier on quota that other queues do not use"}
		t.c.effects.add(p.team, s, outcomes{waiting: o, new: o})
		return
	}
	o := outcomes{
		running: Outcome{RunOn, "that borrow continue. If Kueue evicts them, they wait for quota"},
		waiting: Outcome{Wait, "can borrow at most " + ir.PrintAmount(a.Resource, is.borrowed)},
	}
	if is.borrowed.IsZero() {
		o.waiting.Text = "wait for the queue's own quota, because they cannot borrow any more"
	}
	switch {
	case t.c.fates[flavor] != "":
		o.running = Outcome{} // they stop
	case !own:
		o.running = t.keep(p, flavor, "that borrow")
	}
	o.new = o.waiting
	t.c.effects.add(p.team, s, o)
}

// shareLess adds the effect of other queues of the cohort that lend less, although it is still
// enough for the queue's own limit: all queues that borrow share less. A whole Kueue decides so
// in rehearse/runner, TestEdits.
func (t shareTable) shareLess(p pair) {
	if p.is.Cohort == "" || p.was.Cohort != p.is.Cohort || t.rootsWas[p.was.Cohort] != t.tree.roots[p.is.Cohort] {
		return // it borrows nothing, or from other queues than before
	}
	for _, f := range p.is.Flavors {
		i := slices.IndexFunc(p.was.Flavors, func(was ir.FlavorQuota) bool { return was.Flavor == f.Flavor })
		if i < 0 || t.c.fates[f.Flavor] != "" {
			continue
		}
		counted := t.c.is[f.Flavor].CountedIn()
		a, b := quotaOf(p.was.Flavors[i], counted), quotaOf(f, counted)
		if a == nil || b == nil || !b.Borrows() {
			continue
		}
		was, is := t.was.ByOthers(p.was.Cohort, f.Flavor, *a), t.is.ByOthers(p.is.Cohort, f.Flavor, *b)
		old, now := shareOf(t.was, p.was, p.was.Flavors[i], *a), shareOf(t.is, p.is, f, *b)
		if is.Cmp(was) >= 0 || now.borrowed.Cmp(old.borrowed) != 0 {
			continue // otherBorrowing
		}
		o := Outcome{Wait, "that must borrow may wait longer"}
		t.c.effects.add(p.team, subject{
			fmt.Sprintf("what other queues lend tier %s of %s: %s", p.is.Tier, f.Flavor, fromTo(counted, was, is)),
			p.is.Tier, f.Flavor,
		}, outcomes{running: t.keep(p, f.Flavor, "that borrow"), waiting: o, new: o})
	}
}

// fromTo returns two amounts of a resource, with the unit once.
func fromTo(name string, was, is resource.Quantity) string {
	return ir.PrintAlike(name, was, is)[0] + " -> " + ir.PrintAmount(name, is)
}

// fromToText returns two amounts with units as a text, with the unit once if both have it.
func fromToText(was, is string) string {
	number, unit, _ := strings.Cut(was, " ")
	_, other, _ := strings.Cut(is, " ")
	if unit != "" && strings.TrimSuffix(unit, "s") == strings.TrimSuffix(other, "s") {
		was = number
	}
	return was + " -> " + is
}

// limitText returns a borrowing limit.
func limitText(r ir.ResourceQuota) string {
	switch {
	case r.BorrowsAll:
		return "all that is idle"
	case r.Borrowing == nil || r.Borrowing.IsZero():
		return "none"
	}
	return ir.PrintAmount(r.Resource, *r.Borrowing)
}

// otherCohort adds the effect of another cohort, or of another root above the same cohort. What
// jobs use moves with their queue, and what they borrowed counts as borrowed in the new cohort.
// Measured on a control plane: a job that would have borrowed waits.
func (t shareTable) otherCohort(p pair) {
	name := func(cohort string) string {
		if cohort == "" {
			return "none"
		}
		return cohort
	}
	cause := "cohort: " + name(p.was.Cohort) + " -> " + name(p.is.Cohort)
	if p.was.Cohort == p.is.Cohort {
		cause = "cohort " + p.is.Cohort + ": another parent"
	}
	var o outcomes
	more, less := false, false
	for _, was := range p.was.Flavors {
		i := slices.IndexFunc(p.is.Flavors, func(f ir.FlavorQuota) bool { return f.Flavor == was.Flavor })
		if i < 0 || t.c.fates[was.Flavor] != "" {
			continue
		}
		a, b := quotaOf(was, t.c.is[was.Flavor].CountedIn()), quotaOf(p.is.Flavors[i], t.c.is[was.Flavor].CountedIn())
		if a == nil || b == nil || !a.Borrows() && !b.Borrows() {
			continue
		}
		if a.Borrows() {
			o.running = worse(o.running, t.keep(p, was.Flavor, "that borrow"))
		}
		old, now := shareOf(t.was, p.was, was, *a), shareOf(t.is, p.is, p.is.Flavors[i], *b)
		more = more || now.borrowed.Cmp(old.borrowed) > 0
		less = less || now.borrowed.Cmp(old.borrowed) < 0
	}
	switch {
	case p.is.Cohort == "" && less:
		o.waiting = Outcome{Wait, "wait for the queue's own quota, because they cannot borrow any more"}
	case less:
		o.waiting = Outcome{Wait, "can borrow less, and only what queues of the new cohort do not use"}
	case more:
		o.waiting = Outcome{MayStart, "may start earlier on quota that other queues do not use"}
	case o.running.Kind != Unchanged:
		o.waiting = Outcome{Wait, "can borrow only what queues of the new cohort do not use"}
	}
	o.new = o.waiting
	t.c.effects.add(p.team, subject{cause: cause}, o)
}
