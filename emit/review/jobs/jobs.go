// Package jobs decides what a change of a platform does to jobs: to those that run, to those
// that wait, and to new ones.
//
// Two plans go in, with the node pools that lose nodes, and effects come out. Every rule
// states in its comment what decides it: the build of the folder, Kueue, KAI Scheduler,
// Kubernetes or GKE. A team or tier that no rule affects has no effect.
//
// A change of the workloads of the blueprint has no effect on jobs: the build submits none,
// and what was submitted stays as it is.
package jobs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/losses"
)

// Effect is what one cause does to jobs of some teams.
type Effect struct {
	// Cause is what changes, such as "preemption of tier batch: inQueue LowerPriority ->
	// Never".
	Cause string `json:"cause"`
	// Teams are the teams whose jobs are affected, sorted. It is empty if the jobs of all
	// teams are, or if the teams are unknown.
	Teams    []string `json:"teams"`
	Tier     string   `json:"tier"`     // "" for all tiers
	Capacity string   `json:"capacity"` // "" for all capacities
	// What happens to jobs that run or wait when the build applies the change, and to jobs
	// that are submitted afterwards.
	Running Outcome `json:"running"`
	Waiting Outcome `json:"waiting"`
	New     Outcome `json:"new"`
}

// Outcome is what happens to jobs.
type Outcome struct {
	Kind Kind `json:"kind"`
	// Text completes a sentence that begins with "running jobs", "waiting jobs" or "new
	// jobs". It is "" if nothing changes.
	Text string `json:"text"`
}

// Kind is the kind of an outcome.
type Kind string

// The kinds.
const (
	Unchanged  Kind = ""
	Stop       Kind = "stop"            // when the change is applied
	NeverStart Kind = "never start"     // until somebody submits them again
	Rejected   Kind = "is rejected"     // when they are submitted
	MayStop    Kind = "may stop"        // depending on other jobs or nodes
	Wait       Kind = "wait"            // or wait longer than before
	RunOn      Kind = "run on"          // although their quota, queue or right is gone
	Elsewhere  Kind = "start elsewhere" // on other nodes than before
	MayStart   Kind = "may start"       // earlier than before
)

// worstFirst are the kinds, the worst first.
var worstFirst = []Kind{Stop, NeverStart, Rejected, MayStop, Wait, RunOn, Elsewhere, MayStart, Unchanged}

// rank returns the place of a kind: the worst has 0.
func (k Kind) rank() int { return slices.Index(worstFirst, k) }

// Worst returns the worst of the three outcomes.
func (e Effect) Worst() Kind {
	return slices.MinFunc([]Kind{e.Running.Kind, e.Waiting.Kind, e.New.Kind},
		func(a, b Kind) int { return cmp.Compare(a.rank(), b.rank()) })
}

// Whose says whose jobs are affected, such as "jobs of speech, vision in tier batch".
func (e Effect) Whose() string {
	whose := "jobs of all teams"
	if len(e.Teams) == 0 && e.Capacity != "" {
		whose = fmt.Sprintf("jobs on capacity %q", e.Capacity)
	}
	if n := len(e.Teams); n == namesListed+1 { // "and 1 more" would be as long
		whose = "jobs of " + words.First(e.Teams, n)
	} else if n > 0 {
		whose = "jobs of " + words.First(e.Teams, namesListed)
	}
	if e.Tier != "" {
		whose += " in tier " + e.Tier
	}
	return whose
}

// namesListed is the largest number of names in a text.
const namesListed = 8

// Sentences returns a sentence without a full stop for each outcome that changes something.
func (e Effect) Sentences() []string {
	var out []string
	add := func(which string, o Outcome) {
		if o.Text != "" {
			out = append(out, which+" jobs "+o.Text)
		}
	}
	add("running", e.Running)
	if e.Waiting == e.New {
		add("waiting and new", e.New)
		return out
	}
	add("waiting", e.Waiting)
	add("new", e.New)
	return out
}

// String returns the effect on one line.
func (e Effect) String() string {
	return e.Cause + ": " + e.Whose() + ": " + strings.Join(e.Sentences(), "; ")
}

// Of returns what a change does to jobs, the worst effects first. lost are the node pools that
// lose nodes by Terraform's plan. The time is linear in the size of the plans.
//
// A platform with another name or project is another platform, which has no jobs yet: the
// result is nil.
func Of(before, after *ir.Platform, lost []losses.Loss) []Effect {
	if before.Absent() || after.Absent() || before.Name != after.Name || before.Project != after.Project {
		return nil
	}
	if was, is := before.Scheduler.Facts(), after.Scheduler.Facts(); was.Name != is.Name {
		return []Effect{otherScheduler(was.Name, is.Name)}
	}
	if before.Region != after.Region {
		return nil // OfCluster, or an error because of the cluster's deletion protection
	}
	c := newChange(before, after, lost)
	c.nodes()
	c.teams()
	c.queues()
	ir.Choose(after.Scheduler, c.kueueQuota, c.kaiQuota)()
	c.priorities()
	c.limits()
	c.releases()
	return c.effects.list()
}

// OfLosses returns what node pools that lose nodes mean for jobs, if only the later plan is
// known.
func OfLosses(after *ir.Platform, lost []losses.Loss) []Effect {
	c := newChange(after, after, lost)
	c.nodes()
	return c.effects.list()
}

// OfCluster returns what it means for jobs that the cluster is removed or, otherwise, replaced by
// another one.
func OfCluster(removed bool) Effect {
	cause, deleted := "the cluster is replaced", "are deleted with the cluster: submit them again"
	if removed {
		cause, deleted = "the cluster is removed", "are deleted with the cluster"
	}
	return Effect{Cause: cause, Running: Outcome{Stop, deleted}, Waiting: Outcome{NeverStart, deleted}}
}

// unexplained are the kinds of objects that decide about jobs.
var unexplained = []string{
	"ClusterQueue", "Cohort", "LocalQueue", "Namespace", "PriorityClass", "Queue", "ResourceFlavor",
	"Topology",
	"WorkloadPriorityClass",
}

// OfObjects returns what it means for jobs that objects of a kind change or leave although the
// blueprint does not say so, for example because another version of batchwright wrote them. It
// reports whether objects of the kind decide about jobs. The teams are not known.
func OfObjects(kind string, names []string, removed bool) (Effect, bool) {
	if len(names) == 0 || !slices.Contains(unexplained, kind) {
		return Effect{}, false
	}
	e := Effect{Cause: fmt.Sprintf("%s %s, which does not follow from the blueprint: %s",
		words.Count(len(names), kind), choose(removed, "removed", "changed"), words.First(names, namesListed))}
	if removed {
		e.Running = Outcome{Stop, "that need them stop, and do not start again"}
		e.Waiting = Outcome{NeverStart, "that need them do not start"}
		return e, true
	}
	e.Running = Outcome{MayStop, "that need them may stop: compare the changed objects"}
	e.Waiting = Outcome{Wait, "that need them may wait longer"}
	return e, true
}

// choose returns yes if the condition is true, and no otherwise.
func choose(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

// otherScheduler returns what another scheduler means for jobs: no build changes it in place.
func otherScheduler(was, is string) Effect {
	return Effect{
		Cause:   "scheduler: " + was + " -> " + is + ", for which you must destroy the platform first",
		Running: Outcome{Stop, "are deleted with the platform: submit them again"},
		Waiting: Outcome{NeverStart, "are deleted with the platform: submit them again"},
		New:     Outcome{Rejected, "are rejected if they are written for " + was},
	}
}

// outcomes are what happens to jobs of one team.
type outcomes struct{ running, waiting, new Outcome }

// subject is what several teams have an effect of.
type subject struct{ cause, tier, capacity string }

// effects gathers the outcomes of each team.
type effects struct {
	order []subject
	teams map[subject]map[string]outcomes
}

// add adds outcomes for the jobs of a team. If the team has outcomes of the subject already,
// the worse ones stay. The team is "" for all teams.
func (e *effects) add(team string, s subject, o outcomes) {
	if o == (outcomes{}) {
		return
	}
	if e.teams == nil {
		e.teams = map[subject]map[string]outcomes{}
	}
	if e.teams[s] == nil {
		e.order = append(e.order, s)
		e.teams[s] = map[string]outcomes{}
	}
	was := e.teams[s][team]
	e.teams[s][team] = outcomes{
		worse(was.running, o.running), worse(was.waiting, o.waiting), worse(was.new, o.new),
	}
}

// worse returns the worse of two outcomes, the first one if they are equally bad.
func worse(a, b Outcome) Outcome {
	if b.Kind.rank() < a.Kind.rank() {
		return b
	}
	return a
}

// list returns an effect for each subject and each set of outcomes, the worst first.
func (e *effects) list() []Effect {
	var out []Effect
	for _, s := range e.order {
		at := map[outcomes]int{}
		for _, team := range slices.Sorted(maps.Keys(e.teams[s])) {
			o := e.teams[s][team]
			i, known := at[o]
			if !known {
				i = len(out)
				at[o] = i
				out = append(out, Effect{
					Cause: s.cause, Tier: s.tier, Capacity: s.capacity,
					Running: o.running, Waiting: o.waiting, New: o.new,
				})
			}
			if team != "" {
				out[i].Teams = append(out[i].Teams, team)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Effect) int { return cmp.Compare(a.Worst().rank(), b.Worst().rank()) })
	return out
}

// change is a change of a platform, with what the rules look up.
type change struct {
	before, after *ir.Platform
	lost          map[string][]losses.Loss // by capacity
	fates         map[string]losses.Why    // by capacity whose nodes go away
	// was and is are the capacities by name.
	was, is map[string]*ir.Capacity
	tenants []tenant
	// staying are the ClusterQueues that ran before the platform: no change stops or deletes them.
	staying map[string]bool
	// common are the queues that a team has before and after the change, in the order of the
	// tenants.
	common  []pair
	effects effects
}

// tenant is a team that exists before the change. is is nil if it leaves.
type tenant struct {
	was, is *ir.Team
	queues  []pair
}

// pair is a queue of a team that exists before the change. is is nil if it leaves.
type pair struct {
	team    string
	was, is *ir.Queue
}

func newChange(before, after *ir.Platform, lost []losses.Loss) *change {
	c := &change{
		before: before, after: after, lost: map[string][]losses.Loss{}, fates: map[string]losses.Why{},
		was: before.NamedCapacities(), is: after.NamedCapacities(), staying: before.Adopted().Queues,
	}
	for _, l := range lost {
		c.lost[l.Capacity] = append(c.lost[l.Capacity], l)
	}
	teams := map[string]*ir.Team{}
	queues := map[[2]string]*ir.Queue{} // by team and tier
	for i := range after.Teams {
		t := &after.Teams[i]
		teams[t.Name] = t
		for j := range t.Queues {
			queues[[2]string{t.Name, t.Queues[j].Tier}] = &t.Queues[j]
		}
	}
	for i := range before.Teams {
		t := tenant{was: &before.Teams[i], is: teams[before.Teams[i].Name]}
		for j := range t.was.Queues {
			q := &t.was.Queues[j]
			p := pair{t.was.Name, q, queues[[2]string{t.was.Name, q.Tier}]}
			t.queues = append(t.queues, p)
			if p.is != nil {
				c.common = append(c.common, p)
			}
		}
		c.tenants = append(c.tenants, t)
	}
	return c
}

// synced reports whether a GitOps tool applies the manifests. It deletes what leaves the
// folder, which a build keeps.
func (c *change) synced() bool { return c.after.Delivery.GitOps.On() }

// addAll adds outcomes for the jobs of all teams.
func (c *change) addAll(cause string, o outcomes) {
	for _, t := range c.tenants {
		c.effects.add(t.was.Name, subject{cause: cause}, o)
	}
}
