package jobs

import (
	"fmt"
	"math"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// priorities adds the effects of PriorityClasses that get another value, leave a queue or the
// platform, become the default, or begin to preempt.
//
// Pods and Workloads keep the value with which they were created. Sources: Kubernetes
// documentation, "Pod Priority and Preemption"; measured on a control plane: conformance/cluster,
// TestChanges, "priority".
func (c *change) priorities() {
	was := map[string]ir.PriorityClass{}
	for _, class := range c.before.PriorityClasses {
		was[class.Name] = class
	}
	is := map[string]bool{}
	for _, class := range c.after.PriorityClasses {
		is[class.Name] = true
		old, known := was[class.Name]
		if known && old.Value != class.Value {
			c.otherValue(old, class)
		}
		if known && class.Preempts && !old.Preempts && ir.Choose(c.after.Scheduler, true, false) {
			c.preempts(class)
		}
	}
	for _, p := range c.common {
		for _, class := range p.was.Classes {
			if !slices.Contains(p.is.Classes, class) {
				c.lostClass(p, class, is[class])
			}
		}
	}
	c.defaultClass()
}

// otherValue adds the effect of another value of a class.
func (c *change) otherValue(was, is ir.PriorityClass) {
	cause := fmt.Sprintf("value of PriorityClass %q: %d -> %d", is.Name, was.Value, is.Value)
	keep := fmt.Sprintf("keep priority %d", was.Value)
	fresh := fmt.Sprintf("have priority %d", is.Value)
	var members []pair
	for _, p := range c.common {
		if !slices.Contains(p.was.Classes, is.Name) || !slices.Contains(p.is.Classes, is.Name) {
			continue
		}
		members = append(members, p)
		o := outcomes{
			running: Outcome{RunOn, keep},
			waiting: Outcome{MayStart, keep + ", and start before new jobs of the class"},
			new:     Outcome{Wait, fresh + ", and start after the existing jobs of the class"},
		}
		if is.Value > was.Value {
			o.waiting = Outcome{Wait, keep + ", and start after new jobs of the class"}
			o.new = Outcome{MayStart, fresh + ", and start before the existing jobs of the class"}
			if ir.Choose(c.after.Scheduler, ir.Evicts(p.is.Preemption.InQueue), was.Value < ir.KAINonPreemptible) {
				o.running = Outcome{MayStop, keep + ", so new jobs of the class may evict them"}
			}
		}
		c.effects.add(p.team, subject{cause: cause, tier: p.is.Tier}, o)
	}
	if is.Value > was.Value && ir.Choose(c.after.Scheduler, true, false) {
		c.overtaken(members, cause, is)
	}
}

// overtaken adds the effect on borrowing jobs of other queues, whose priority the new jobs of a
// class exceed.
func (c *change) overtaken(members []pair, cause string, class ir.PriorityClass) {
	t := newTree(c.before, c.after)
	power := func(values map[string]int32) powerOf {
		return func(q *ir.Queue, f ir.FlavorQuota) (int64, bool) {
			power, able := t.power(q, f)
			if able && power != math.MaxInt64 {
				_, power = priorities(q, values)
			}
			return power, able
		}
	}
	victims, _ := c.victims(t, members, power(t.values), power(t.valuesWas))
	for _, v := range victims {
		if lowest, _ := priorities(v.was, t.valuesWas); lowest < int64(class.Value) {
			c.effects.add(v.team, subject{cause: cause, tier: v.is.Tier}, outcomes{running: Outcome{MayStop,
				fmt.Sprintf("that borrow may stop, if a new job of PriorityClass %q waits for the quota", class.Name)}})
		}
	}
}

// preempts adds the effect of a class whose pods begin to evict others: if nodes are short,
// kube-scheduler evicts pods of a lower priority, also of other queues. Source: Kubernetes
// documentation, "Pod Priority and Preemption", preemptionPolicy.
func (c *change) preempts(class ir.PriorityClass) {
	capacities := map[string]bool{}
	for q := range c.after.ClusterQueues() {
		if slices.Contains(q.Classes, class.Name) {
			for _, f := range q.Flavors {
				capacities[f.Flavor] = true
			}
		}
	}
	values := classValues(c.before)
	for _, p := range c.common {
		lowest, _ := priorities(p.was, values)
		if lowest < int64(class.Value) &&
			slices.ContainsFunc(p.was.Flavors, func(f ir.FlavorQuota) bool { return capacities[f.Flavor] }) {
			cause := fmt.Sprintf("pods of PriorityClass %q may evict others", class.Name)
			c.effects.add(p.team, subject{cause: cause, tier: p.is.Tier},
				outcomes{running: Outcome{MayStop, "of a lower priority may stop, if there are not enough nodes"}})
		}
	}
}

// lostClass adds the effect of a class that a queue no longer allows. Kubernetes rejects pods
// whose class does not exist ("no PriorityClass with name ... was found"); Kueue creates the
// pods of a waiting job only when it starts. The policy jobs-are-queued checks new jobs.
func (c *change) lostClass(p pair, class string, exists bool) {
	o := outcomes{new: Outcome{Rejected, "are rejected if they name the class: name another priorityClassName"}}
	cause := fmt.Sprintf("PriorityClass %q is no longer for tier %s", class, p.is.Tier)
	if !exists {
		cause = fmt.Sprintf("PriorityClass %q leaves the platform", class)
		o.running = Outcome{RunOn, "of the class continue, but get no new pod for one that fails"}
		if ir.Choose(c.after.Scheduler, true, false) {
			o.waiting = Outcome{NeverStart,
				"of the class never start: delete them, and submit them with another priorityClassName"}
		}
	}
	c.effects.add(p.team, subject{cause: cause, tier: p.is.Tier}, o)
}

// defaultClass adds the effect of another default class: the policy jobs-are-queued admits
// pods without a class only to queues that allow the default.
func (c *change) defaultClass() {
	was, is := defaultOf(c.before), defaultOf(c.after)
	if was == is {
		return
	}
	for _, p := range c.common {
		if slices.Contains(p.was.Classes, was) && !slices.Contains(p.is.Classes, is) {
			c.effects.add(p.team, subject{cause: "default PriorityClass: " + was + " -> " + is, tier: p.is.Tier},
				outcomes{new: Outcome{Rejected, "are rejected if their pods name no priorityClassName"}})
		}
	}
}

// defaultOf returns the class of pods that name none.
func defaultOf(p *ir.Platform) string {
	for _, c := range p.PriorityClasses {
		if c.Default && !c.BuiltIn {
			return c.Name
		}
	}
	return p.Scheduler.Facts().DefaultClass
}
