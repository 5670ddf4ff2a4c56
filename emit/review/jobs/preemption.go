package jobs

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// tree knows which queues of a plan can evict jobs of other queues.
type tree struct {
	roots      map[string]string // of each cohort
	values     map[string]int32  // of each PriorityClass
	valuesWas  map[string]int32  // before the change
	reclaimers map[place][]reclaimer
}

// place is a capacity that the queues below a root cohort lend each other.
type place struct{ root, flavor string }

// reclaimer is a queue whose waiting jobs can evict borrowing jobs of other queues.
type reclaimer struct {
	queue string
	power int64 // it evicts jobs of a lower priority
}

func newTree(before, after *ir.Platform) *tree {
	t := &tree{
		roots: after.RootCohorts(), values: classValues(after), valuesWas: classValues(before),
		reclaimers: map[place][]reclaimer{},
	}
	for q := range after.ClusterQueues() {
		if q.Cohort == "" {
			continue
		}
		for _, f := range q.Flavors {
			power, able := t.power(q, f)
			if !able {
				continue
			}
			at := place{t.roots[q.Cohort], f.Flavor}
			// Two are enough: a queue does not reclaim from itself.
			all := append(t.reclaimers[at], reclaimer{q.ClusterQueue, power})
			slices.SortStableFunc(all, func(a, b reclaimer) int { return cmp.Compare(b.power, a.power) })
			t.reclaimers[at] = all[:min(len(all), 2)]
		}
	}
	return t
}

func classValues(p *ir.Platform) map[string]int32 {
	values := map[string]int32{}
	for _, c := range p.PriorityClasses {
		values[c.Name] = c.Value
	}
	return values
}

// power returns the priority below which waiting jobs of a queue can evict jobs of other
// queues that borrow a capacity, and whether they can evict any.
func (t *tree) power(q *ir.Queue, f ir.FlavorQuota) (int64, bool) {
	if power, able := t.reclaimPower(q, f, q.Preemption.ToReclaim); able {
		return power, true
	}
	return t.borrowPower(q, f, q.Preemption)
}

// reclaimPower is the power of jobs that fit the nominal quota of their queue, by a policy.
// Source: Kueue 0.19, pkg/scheduler/preemption/classical, classifyPreemptionVariant:
// reclaimWithinCohort decides.
func (t *tree) reclaimPower(q *ir.Queue, f ir.FlavorQuota, policy string) (int64, bool) {
	guaranteed := slices.ContainsFunc(f.Quotas, func(r ir.ResourceQuota) bool { return !r.Nominal.IsZero() })
	switch {
	case f.Waiting || !guaranteed || !ir.Evicts(policy):
		return 0, false
	case policy == ir.PreemptAny:
		return math.MaxInt64, true
	}
	_, highest := priorities(q, t.values)
	return highest, true
}

// borrowPower is the power of jobs that must borrow. Source: the same function of Kueue:
// they need reclaimWithinCohort and borrowWithinCohort, and evict only jobs of a lower
// priority.
func (t *tree) borrowPower(q *ir.Queue, f ir.FlavorQuota, words ir.Preemption) (int64, bool) {
	if f.Waiting || !f.Borrows() || !ir.Evicts(words.ToReclaim) || !ir.Evicts(words.ToBorrow) {
		return 0, false
	}
	_, highest := priorities(q, t.values)
	return min(highest, upTo(words)+1), true
}

// upTo returns the highest priority of the jobs that a preemption evicts to borrow.
func upTo(words ir.Preemption) int64 {
	if !words.LimitsToBorrow {
		return math.MaxInt32
	}
	return int64(words.ToBorrowUpTo)
}

// priorities returns the lowest and the highest priority of the jobs of a queue.
func priorities(q *ir.Queue, values map[string]int32) (lowest, highest int64) {
	lowest, highest = math.MaxInt64, math.MinInt64
	for _, class := range q.Classes {
		v := int64(values[class])
		lowest, highest = min(lowest, v), max(highest, v)
	}
	for _, c := range q.WorkloadPriorities {
		lowest, highest = min(lowest, int64(c.Value)), max(highest, int64(c.Value))
	}
	return lowest, highest
}

// reclaims reports whether another queue can evict running jobs of a queue that borrow a
// capacity. Running jobs keep their priorities.
func (t *tree) reclaims(p pair, flavor string) bool {
	if p.is.Cohort == "" {
		return false
	}
	lowest, _ := priorities(p.was, t.valuesWas)
	return slices.ContainsFunc(t.reclaimers[place{t.roots[p.is.Cohort], flavor}], func(r reclaimer) bool {
		return r.queue != p.is.ClusterQueue && r.power > lowest
	})
}

// rewording is another preemption of queues of a tier.
type rewording struct {
	tier    string
	was, is ir.Preemption
}

// spelled returns a preemption in which no policy is "".
func spelled(p ir.Preemption) ir.Preemption {
	return ir.Preemption{
		InQueue:   cmp.Or(p.InQueue, ir.PreemptNever),
		ToReclaim: cmp.Or(p.ToReclaim, ir.PreemptNever),
		ToBorrow:  cmp.Or(p.ToBorrow, ir.PreemptNever),

		ToBorrowUpTo: p.ToBorrowUpTo, LimitsToBorrow: p.LimitsToBorrow,
	}
}

// cause names the policies that change.
func (r rewording) cause() string {
	var parts []string
	for _, p := range []struct{ name, was, is string }{
		{"inQueue", r.was.InQueue, r.is.InQueue}, {"toReclaim", r.was.ToReclaim, r.is.ToReclaim},
		{"toBorrow", r.was.ToBorrow, r.is.ToBorrow}, {"toBorrowUpTo", limitToBorrow(r.was), limitToBorrow(r.is)},
	} {
		if p.was != p.is {
			parts = append(parts, p.name+" "+p.was+" -> "+p.is)
		}
	}
	return "preemption of tier " + r.tier + ": " + strings.Join(parts, ", ")
}

// limitToBorrow returns the limit on the priority of jobs that a preemption evicts to borrow.
func limitToBorrow(p ir.Preemption) string {
	if !p.LimitsToBorrow {
		return "none"
	}
	return strconv.Itoa(int(p.ToBorrowUpTo))
}

// strength orders the policies: a later one evicts more.
var strength = []string{ir.PreemptNever, ir.PreemptLowerPriority, ir.PreemptNewer, ir.PreemptAny}

// looser compares two policies: it is positive if the later one evicts more.
func looser(was, is string) int {
	return cmp.Compare(slices.Index(strength, is), slices.Index(strength, was))
}

// preemption adds the effects of another preemption. Kueue evicts within seconds if a waiting
// job may evict a running one. Measured on a control plane: one job 3 seconds after the
// change, two more later.
func (c *change) preemption(t *tree) {
	var order []rewording
	members := map[rewording][]pair{}
	for _, p := range c.common {
		r := rewording{p.is.Tier, spelled(p.was.Preemption), spelled(p.is.Preemption)}
		if r.was == r.is {
			continue
		}
		if members[r] == nil {
			order = append(order, r)
		}
		members[r] = append(members[r], p)
	}
	for _, r := range order {
		c.inQueue(t, r, members[r])
		c.amongQueues(t, r, members[r])
	}
}

// inQueue adds the effect on jobs of the same queue.
func (c *change) inQueue(t *tree, r rewording, members []pair) {
	for _, p := range members {
		lowest, highest := priorities(p.is, t.values)
		several := lowest < highest
		which := "of a lower priority"
		if ir.PreemptNewer == r.is.InQueue {
			which = "that were submitted later or have a lower priority"
		}
		s := subject{r.cause(), r.tier, ""}
		switch more := looser(r.was.InQueue, r.is.InQueue); {
		case more > 0 && (several || r.is.InQueue == ir.PreemptNewer):
			o := Outcome{MayStart, "may start by evicting jobs of their queue"}
			c.effects.add(p.team, s, outcomes{
				running: Outcome{MayStop,
					which + " may stop immediately, if a job of the same queue waits for their quota"},
				waiting: o, new: o,
			})
		case more < 0 && (several || r.was.InQueue == ir.PreemptNewer):
			o := Outcome{Wait, "wait longer, because they may evict fewer jobs of their queue"}
			c.effects.add(p.team, s, outcomes{waiting: o, new: o})
		}
	}
}

// amongQueues adds the effect on jobs of other queues, and on the jobs that evict them: jobs
// within the guarantee of their queue, and jobs that must borrow.
func (c *change) amongQueues(t *tree, r rewording, members []pair) {
	within := func(words ir.Preemption) powerOf {
		return func(q *ir.Queue, f ir.FlavorQuota) (int64, bool) { return t.reclaimPower(q, f, words.ToReclaim) }
	}
	beyond := func(words ir.Preemption) powerOf {
		return func(q *ir.Queue, f ir.FlavorQuota) (int64, bool) { return t.borrowPower(q, f, words) }
	}
	c.evictions(t, r, members, looser(r.was.ToReclaim, r.is.ToReclaim), within)
	more := cmp.Or(looser(r.was.ToBorrow, r.is.ToBorrow), cmp.Compare(upTo(r.is), upTo(r.was)))
	c.evictions(t, r, members, more, beyond)
}

// evictions adds the effects of a policy that evicts more jobs, if more is positive, or fewer.
func (c *change) evictions(t *tree, r rewording, members []pair, more int, power func(ir.Preemption) powerOf) {
	s := subject{r.cause(), r.tier, ""}
	var evictors []pair
	o := Outcome{MayStart, "may start by evicting jobs of other queues that borrow"}
	switch {
	case more == 0:
		return
	case more < 0:
		o = Outcome{Wait, "wait longer, because they may evict fewer jobs of other queues that borrow"}
		_, evictors = c.victims(t, members, power(r.was), power(r.is))
	default:
		var victims []pair
		victims, evictors = c.victims(t, members, power(r.is), power(r.was))
		for _, v := range victims {
			c.effects.add(v.team, subject{s.cause, v.is.Tier, ""}, outcomes{running: Outcome{MayStop,
				"that borrow may stop immediately, if a job of tier " + r.tier + " waits for the quota"}})
		}
	}
	for _, p := range evictors {
		c.effects.add(p.team, s, outcomes{waiting: o, new: o})
	}
}

// powerOf returns the priority below which waiting jobs of a queue can evict jobs of others, as
// tree.power does.
type powerOf func(*ir.Queue, ir.FlavorQuota) (int64, bool)

// reach is what the waiting jobs of some queues can evict of one capacity.
type reach struct {
	queue     string // the only queue, "" for several
	from, to  int64  // the priorities that become evictable: from the first to below the second
	evictable bool   // some queue has such jobs
}

// reaches returns what the waiting jobs of members can evict with one power and not with a
// weaker one.
func (t *tree) reaches(members []pair, power, weaker powerOf) map[place]*reach {
	out := map[place]*reach{}
	for _, p := range members {
		if p.is.Cohort == "" {
			continue
		}
		for _, f := range p.is.Flavors {
			to, able := power(p.is, f)
			if !able {
				continue
			}
			from, was := weaker(p.is, f)
			if !was {
				from = math.MinInt64
			}
			at := place{t.roots[p.is.Cohort], f.Flavor}
			r := out[at]
			if r == nil {
				r = &reach{queue: p.is.ClusterQueue, from: from, to: to}
				out[at] = r
			}
			if r.queue != p.is.ClusterQueue {
				r.queue = ""
			}
			r.from, r.to = min(r.from, from), max(r.to, to)
		}
	}
	return out
}

// victims returns the queues whose borrowing jobs the waiting jobs of members can evict with
// one power and not with a weaker one, and the members that can evict some.
func (c *change) victims(t *tree, members []pair, power, weaker powerOf) (victims, evictors []pair) {
	reaches := t.reaches(members, power, weaker)
	for _, v := range c.common {
		lowest, highest := priorities(v.was, t.valuesWas)
		victim := false
		for _, f := range v.was.Flavors {
			r := reaches[place{t.roots[v.is.Cohort], f.Flavor}]
			if r != nil && f.Borrows() && r.queue != v.is.ClusterQueue && lowest < r.to && highest >= r.from {
				victim, r.evictable = true, true
			}
		}
		if victim {
			victims = append(victims, v)
		}
	}
	for _, p := range members {
		if slices.ContainsFunc(p.is.Flavors, func(f ir.FlavorQuota) bool {
			r := reaches[place{t.roots[p.is.Cohort], f.Flavor}]
			return r != nil && r.evictable
		}) {
			evictors = append(evictors, p)
		}
	}
	return victims, evictors
}
