// Package runner plays a scenario: a rehearsal.Scenario goes in, a rehearsal.History comes
// out. It plays what surrounds KAI Scheduler on a cluster: the people who submit and delete
// jobs, the Job controller, KAI's binder, the kubelet, the nodes and the cluster autoscaler.
// Package world lets KAI itself decide.
package runner

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/kai/world"
	"github.com/batchwright/batchwright/rehearse/stage"
	"k8s.io/apimachinery/pkg/types"
)

// Play plays a scenario, and calls progress at each event, with its time and the number of
// jobs that have ended before. It returns a stage.ErrScenario if the scenario has what a
// rehearsal cannot play; any other error is a bug. If ctx is done before the end, the
// history is as far as it is known, and Interrupted.
//
// The virtual time of a bubble of testing/synctest passes only when nothing runs, so a
// rehearsal of days takes as long as the decisions in it.
func Play(ctx context.Context, s *rehearsal.Scenario, progress func(now int64, ended int)) (*rehearsal.History, error) {
	var history *rehearsal.History
	var err error
	// A bubble cannot see what is outside, so it is asked between two events.
	synctest.Test(&testing.T{}, func(*testing.T) {
		var p *play
		if p, err = newPlay(s); err != nil {
			err = fmt.Errorf("%w: %w", stage.ErrScenario, err)
			return
		}
		noted := func(now int64) { progress(now, p.ended) }
		stops := func(int64) bool { return ctx.Err() != nil }
		if p.interrupted, err = p.agenda.Run(s, stops, noted, p.look, p.settle); err == nil {
			history = p.history()
		}
	})
	return history, err
}

// play is a rehearsal that is under way.
type play struct {
	scenario  *rehearsal.Scenario
	start     time.Time
	agenda    stage.Agenda
	world     *world.World
	templates []*template
	pools     []*pool
	jobs      []*job
	byGroup   map[string]*job // by name of the PodGroup
	pods      map[types.NamespacedName]*pod
	nodes     map[string]*node
	states    []rehearsal.State
	ended     int // number of jobs
	// changed reports whether something has happened since the last cycle that KAI can react
	// to.
	changed bool

	interrupted bool
}

func newPlay(s *rehearsal.Scenario) (*play, error) {
	w, err := world.New(s.Objects)
	if err != nil {
		return nil, err
	}
	p := &play{
		scenario: s, start: time.Now(), world: w, byGroup: map[string]*job{}, pods: map[types.NamespacedName]*pod{},
		nodes: map[string]*node{},
	}
	for _, in := range s.Pools {
		if err := p.addPool(in); err != nil {
			return nil, err
		}
	}
	for _, t := range s.Templates {
		template, err := p.newTemplate(t)
		if err != nil {
			return nil, fmt.Errorf("workload %s of team %s: %w", t.Name, t.Team, err)
		}
		p.templates = append(p.templates, template)
	}
	for i, in := range s.Jobs {
		if in.Template < 0 || in.Template >= len(p.templates) {
			return nil, fmt.Errorf("job %s: there is no template %d", in.Name, in.Template)
		}
		j := &job{Job: stage.NewJob(i, in), template: p.templates[in.Template]}
		p.jobs = append(p.jobs, j)
		if in.Deleted > 0 {
			p.agenda.Plan(in.Deleted, func() error { return p.remove(j) })
		}
		p.agenda.Plan(in.At, func() error { return p.submit(j) })
	}
	return p, nil
}

// settle runs a cycle of KAI if something has changed, and plays what it decides. A cycle
// that decides something is followed by another one after KAI's period. When KAI decides
// nothing more, the autoscaler looks at the pods that wait.
func (p *play) settle() error {
	if !p.changed {
		return nil
	}
	p.changed = false
	if p.pending(nil) == 0 {
		return nil
	}
	decisions, err := p.world.Cycle()
	if err != nil {
		return err
	}
	for group, message := range decisions.Waits {
		if j := p.byGroup[group]; j != nil {
			j.Waits = message
		}
	}
	for _, e := range decisions.Evictions {
		if err := p.evict(e); err != nil {
			return err
		}
	}
	for _, b := range decisions.Bindings {
		if err := p.bind(b); err != nil {
			return err
		}
	}
	if !decisions.Wake.IsZero() {
		p.wake(p.agenda.Now + int64((time.Until(decisions.Wake)+time.Second-1)/time.Second))
	}
	if len(decisions.Evictions)+len(decisions.Bindings) > 0 {
		p.wake(p.agenda.Now + int64(world.Period/time.Second))
		return nil
	}
	for _, pool := range p.pools {
		p.grow(pool)
	}
	return nil
}

// wake plans a cycle.
func (p *play) wake(at int64) {
	p.agenda.Plan(at, func() error { p.changed = true; return nil })
}

// pending returns the number of pods without a node that can run in a pool, or of all such
// pods if the pool is nil.
func (p *play) pending(pool *pool) int {
	n := 0
	for _, j := range p.jobs {
		if pool == nil || j.template.runsOn(pool) {
			n += j.unplaced()
		}
	}
	return n
}

// look records the state.
func (p *play) look(at int64) {
	state := rehearsal.State{At: at, Pods: map[string]int{}, Pending: p.pending(nil), Nodes: [][]string{}}
	counts := map[string]*rehearsal.QueueState{}
	for _, q := range p.world.Queues() {
		state.Queues = append(state.Queues, rehearsal.QueueState{ClusterQueue: q})
	}
	for i := range state.Queues {
		counts[state.Queues[i].ClusterQueue] = &state.Queues[i]
	}
	running := map[*node][]string{}
	for _, j := range p.jobs {
		switch {
		case !j.Submitted || j.Ended:
		case j.open:
			counts[j.template.queue].Admitted++
		default:
			counts[j.template.queue].Pending++
		}
		for _, pod := range j.pods {
			if pod.node != nil {
				running[pod.node] = append(running[pod.node], j.template.name)
			}
		}
	}
	for _, pool := range p.pools {
		state.Pods[pool.Name] = 0
		for _, n := range pool.nodes {
			if names := running[n]; names != nil {
				slices.Sort(names)
				state.Nodes = append(state.Nodes, names)
				state.Pods[pool.Name] += len(names)
			}
		}
	}
	slices.SortFunc(state.Nodes, slices.Compare[[]string])
	p.states = append(p.states, state)
}

// history returns what has happened.
func (p *play) history() *rehearsal.History {
	h := &rehearsal.History{
		Scheduler: rehearsal.Scheduler{Name: ir.KAI, Version: KAI},
		End:       min(p.agenda.Now, p.scenario.Until), States: p.states, Interrupted: p.interrupted,
		Pools: []rehearsal.PoolUse{}, Jobs: []rehearsal.JobHistory{},
	}
	for _, j := range p.jobs {
		h.Jobs = append(h.Jobs, j.History(j.template.queue, j.open, stage.ClosedAt(p.scenario, h)))
	}
	for _, pool := range p.pools {
		h.Pools = append(h.Pools, rehearsal.PoolUse{Name: pool.Name, Nodes: pool.use})
	}
	return h
}
