package jobs

import (
	"fmt"
	"math"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// kaiQuota adds the effects of another share, parent, priority or weight of a queue of KAI Scheduler.
//
// KAI Scheduler counts the GPUs of all capacities together. A queue whose guarantee is in use
// by others reclaims it, from jobs that exceed the guarantee of their queue and that have a
// PriorityClass below 100; other jobs start only within the guarantee. Idle GPUs go to the
// queues of the highest priority first. Source: KAI Scheduler's documentation, "Scheduling
// queues", "Fairness", "Workload priority".
func (c *change) kaiQuota() {
	was, is := map[string]ir.Cohort{}, map[string]ir.Cohort{}
	for _, cohort := range c.before.Cohorts {
		was[cohort.Name] = cohort
	}
	for _, cohort := range c.after.Cohorts {
		is[cohort.Name] = cohort
	}
	for _, t := range c.tenants {
		if t.is == nil {
			continue
		}
		for _, p := range t.queues {
			if p.is != nil {
				c.kaiShare(p)
			}
		}
		old, now := was[t.was.Cohort], is[t.is.Cohort]
		switch {
		case t.was.Cohort != t.is.Cohort:
			c.kaiMoved(t, "cohort: "+t.was.Cohort+" -> "+t.is.Cohort)
		case old.Parent != now.Parent:
			c.kaiMoved(t, "cohort "+now.Name+": another parent")
		}
		c.kaiPriority(t, "priority of the team's queue", t.was.Priority, t.is.Priority)
		c.kaiWeight(t, "weight of the team's queue", t.was.Weight, t.is.Weight)
		if t.was.Cohort == t.is.Cohort {
			c.kaiPriority(t, "priority of cohort "+now.Name, old.Priority, now.Priority)
			c.kaiWeight(t, "weight of cohort "+now.Name, old.Weight, now.Weight)
			c.kaiCohortQuota(t, old, now)
		}
	}
}

// kaiShare adds the effects of another guarantee or limit.
func (c *change) kaiShare(p pair) {
	was, is := p.was.GPUs(), p.is.GPUs()
	gpus := func(n int64) string { return words.Count(int(n), "GPU") }
	if was.Guaranteed != is.Guaranteed {
		s := subject{cause: fmt.Sprintf("guarantee of the team: %d -> %s", was.Guaranteed, gpus(is.Guaranteed))}
		o := Outcome{MayStart, "may start earlier"}
		if is.Guaranteed > was.Guaranteed {
			c.effects.add(p.team, s, outcomes{waiting: o, new: o})
		} else {
			o = Outcome{Wait, "beyond " + gpus(is.Guaranteed) + " start only on idle GPUs"}
			c.effects.add(p.team, s, outcomes{
				running: Outcome{MayStop,
					"beyond " + gpus(is.Guaranteed) + " continue until another queue needs its guaranteed GPUs"},
				waiting: o, new: o,
			})
		}
	}
	most := func(s ir.GPUShare) int64 {
		if s.All {
			return math.MaxInt64
		}
		return s.Most
	}
	text := func(s ir.GPUShare) string {
		if s.All {
			return "all idle GPUs"
		}
		return gpus(s.Most)
	}
	s := subject{cause: "limit of the team: " + fromToText(text(was), text(is))}
	switch {
	case most(is) > most(was):
		o := Outcome{MayStart, "may start earlier on idle GPUs"}
		c.effects.add(p.team, s, outcomes{waiting: o, new: o})
	case most(is) < most(was):
		o := Outcome{Wait, "wait while the team uses " + gpus(is.Most)}
		c.effects.add(p.team, s, outcomes{
			running: Outcome{RunOn, "beyond " + gpus(is.Most) + " continue. If they are evicted, they wait"},
			waiting: o, new: o,
		})
	}
}

// kaiMoved adds the effect of another parent of a queue.
func (c *change) kaiMoved(t tenant, cause string) {
	o := Outcome{Wait, "beyond the guarantee get idle GPUs as a part of the new cohort"}
	c.effects.add(t.was.Name, subject{cause: cause}, outcomes{
		running: Outcome{MayStop, "beyond the guarantee continue until another queue needs its guaranteed GPUs"},
		waiting: o, new: o,
	})
}

// kaiPriority adds the effect of another priority of a queue, or of the queue above it.
func (c *change) kaiPriority(t tenant, what string, was, is int) {
	s := subject{cause: fmt.Sprintf("%s: %d -> %d", what, was, is)}
	switch {
	case is > was:
		o := Outcome{MayStart, "may start earlier: idle GPUs go to a higher priority first"}
		c.effects.add(t.was.Name, s, outcomes{waiting: o, new: o})
	case is < was:
		o := Outcome{Wait, "wait longer: idle GPUs go to a higher priority first"}
		c.effects.add(t.was.Name, s, outcomes{
			running: Outcome{MayStop, "beyond the guarantee may stop for jobs of a higher priority"},
			waiting: o, new: o,
		})
	}
}

// kaiWeight adds the effect of another weight of a queue, or of the queue above it. A queue
// without weight cannot reclaim GPUs beyond its guarantee.
func (c *change) kaiWeight(t tenant, what string, was, is int) {
	s := subject{cause: fmt.Sprintf("%s: %d -> %d", what, was, is)}
	switch {
	case is > was:
		o := Outcome{MayStart, "may start earlier: the queue gets a larger part of idle GPUs"}
		c.effects.add(t.was.Name, s, outcomes{waiting: o, new: o})
	case is < was:
		o := Outcome{Wait, "may wait longer: the queue gets a smaller part of idle GPUs"}
		c.effects.add(t.was.Name, s, outcomes{
			running: Outcome{MayStop, "beyond the guarantee may stop for jobs of other queues"}, waiting: o, new: o,
		})
	}
}

// kaiCohortQuota adds the effect of another quota of a cohort.
func (c *change) kaiCohortQuota(t tenant, was, is ir.Cohort) {
	old, now := c.before.KAIQuota(was), c.after.KAIQuota(is)
	if was.Quota == nil && is.Quota == nil || old == now {
		return // the guarantees of the teams tell it
	}
	s := subject{cause: fmt.Sprintf("guarantee of cohort %s: %d -> %s", is.Name, old, words.Count(int(now), "GPU"))}
	if now > old {
		o := Outcome{MayStart, "may start earlier, because the cohort is guaranteed more GPUs"}
		c.effects.add(t.was.Name, s, outcomes{waiting: o, new: o})
		return
	}
	o := Outcome{Wait, "beyond the guarantee may wait longer, because the cohort is guaranteed fewer GPUs"}
	c.effects.add(t.was.Name, s, outcomes{
		running: Outcome{MayStop, "beyond the guarantee of the cohort continue until another cohort needs its GPUs"},
		waiting: o, new: o,
	})
}
