// Package fit says what fits: pods on a node, a copy of a workload on the nodes and in the
// quota of a capacity, guarantees on the nodes, nodes within the limits of a cluster. It
// answers from the plan and reports nothing: compiler/rules asks, and judges.
package fit

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/batchwright/batchwright/compiler/ir"
)

// Platform answers questions about a plan. It remembers sums over all teams, and numbers
// of nodes that take long to find.
type Platform struct {
	*ir.Platform
	// Named holds the capacities by name.
	Named map[string]ir.Capacity
	// Submissions returns the workloads as the teams submit them.
	Submissions func() Submissions
	// BindingLimits returns the limits of the cluster with which every capacity can start a
	// node, none if the system pool has accelerators.
	BindingLimits func() []Limit
	lent          func() ir.Lent
	together      map[string]int // results of nodesTogether
}

// New returns the answers about a plan. It calls submit at most once, for the workloads as
// the teams submit them.
func New(p *ir.Platform, submit func() Submissions) *Platform {
	named := map[string]ir.Capacity{}
	for _, c := range p.AllCapacities() {
		named[c.Name] = c
	}
	out := &Platform{
		Platform: p, Named: named, Submissions: sync.OnceValue(submit), lent: sync.OnceValue(p.Lent),
		together: map[string]int{},
	}
	out.BindingLimits = sync.OnceValue(out.bindingLimits)
	return out
}

// perCapacity reports whether the scheduler counts the quota of each capacity.
func (p *Platform) perCapacity() bool { return p.Scheduler.Facts().QuotaPerCapacity }

// Submission is a workload as one team submits it.
type Submission struct {
	Workload *ir.Workload
	Team     *ir.Team
	Queue    *ir.Queue
	// Tier lists the capacities of the queue's tier, also those without quota.
	Tier []string
	// Spoilt reports whether the quota of the queue has a mistake, so that it is unknown
	// what the queue admits.
	Spoilt bool
}

// Quotas returns the quotas of the capacities that the workload can run on.
func (s Submission) Quotas() []ir.FlavorQuota {
	return slices.DeleteFunc(slices.Clone(s.Queue.Flavors), func(f ir.FlavorQuota) bool {
		return !slices.Contains(s.Workload.Capacities, f.Flavor)
	})
}

// QuotaOn returns the queue's quota on a capacity, and reports whether it has one.
func (s Submission) QuotaOn(capacity string) (ir.FlavorQuota, bool) {
	for _, f := range s.Queue.Flavors {
		if f.Flavor == capacity {
			return f, true
		}
	}
	return ir.FlavorQuota{}, false
}

// accelerators returns the number of accelerators of each pod.
func (s Submission) accelerators() int {
	gpus, tpus := ir.AmountOf(s.Workload.Requests, ir.GPU), ir.AmountOf(s.Workload.Requests, ir.TPU)
	return int(cmp.Or(gpus.Value(), tpus.Value()))
}

// Submissions holds the first copy of each workload for each team, by template. Those of a
// template are sorted by team.
type Submissions map[string][]Submission

// Sorted yields the templates with their submissions, sorted.
func (all Submissions) Sorted() iter.Seq2[string, []Submission] {
	return func(yield func(string, []Submission) bool) {
		for _, name := range sortedKeys(all) {
			if !yield(name, all[name]) {
				return
			}
		}
	}
}

// Each yields all submissions, sorted by template, then by team.
func (all Submissions) Each() iter.Seq[Submission] {
	return func(yield func(Submission) bool) {
		for _, submissions := range all.Sorted() {
			for _, s := range submissions {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// Submit returns a workload of the plan as its team submits it: in the queue that the
// workload names.
func (p *Platform) Submit(w ir.Workload) Submission {
	s := Submission{Workload: &w}
	for i := range p.Teams {
		for q := range p.Teams[i].Queues {
			if t := &p.Teams[i]; t.Name == w.Team && t.Queues[q].LocalQueue == w.Queue {
				s.Team, s.Queue = t, &t.Queues[q]
			}
		}
	}
	return s
}

// LocalQueues returns the queues by team and LocalQueue.
func (p *Platform) LocalQueues() map[[2]string]*ir.Queue {
	out := map[[2]string]*ir.Queue{}
	for _, t := range p.Teams {
		for i := range t.Queues {
			out[[2]string{t.Name, t.Queues[i].LocalQueue}] = &t.Queues[i]
		}
	}
	return out
}

// HasQueue reports whether a team has a queue in a tier.
func (p *Platform) HasQueue(team, tier string) bool {
	return slices.ContainsFunc(p.Teams, func(t ir.Team) bool {
		return t.Name == team && slices.ContainsFunc(t.Queues, func(q ir.Queue) bool { return q.Tier == tier })
	})
}

// LacksSize reports whether a capacity has no size, which is a mistake: a number that is
// fixed can be 0.
func LacksSize(c ir.Capacity) bool { return !c.Static && c.MaxNodes == 0 }

// waits reports whether jobs wait for the nodes of a capacity: it has none for the time
// being, or its size is unknown.
func waits(c ir.Capacity) bool { return c.Emptied() || LacksSize(c) }

// sortedKeys returns the keys of a map, sorted.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
