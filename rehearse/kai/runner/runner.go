// Package runner plays a scenario: a rehearsal.Scenario goes in, a rehearsal.History comes
// out. It plays what surrounds KAI Scheduler on a cluster: the people who submit and delete
// jobs, the Job controller, KAI's binder, the kubelet, the nodes and the cluster autoscaler.
// Package world lets KAI itself decide.
package runner

import (
	"context"
	"errors"
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
	nodes     *stage.Nodes
	jobs      []*job
	byGroup   map[string]*job // by name of the PodGroup
	pods      map[types.NamespacedName]*pod
	byNode    map[string]*stage.Node // by name
	cordons   map[*stage.Pool]int    // the number of cordoned nodes, the last of their pool
	cordoned  map[*stage.Node]bool
	states    []rehearsal.State
	ended     int // number of jobs
	// changed reports whether something has happened since the last cycle that KAI can react
	// to.
	changed bool

	interrupted bool
}

func newPlay(s *rehearsal.Scenario) (*play, error) {
	if len(s.Changes) > 0 {
		return nil, errors.New("only the engine of Kueue plays a change of the platform's objects")
	}
	w, err := world.New(s.Objects)
	if err != nil {
		return nil, err
	}
	p := &play{
		scenario: s, start: time.Now(), world: w, byGroup: map[string]*job{}, pods: map[types.NamespacedName]*pod{},
		byNode: map[string]*stage.Node{}, cordons: map[*stage.Pool]int{}, cordoned: map[*stage.Node]bool{},
	}
	if p.nodes, err = stage.NewNodes(s, &p.agenda, p); err != nil {
		return nil, err
	}
	p.nodes.PlanLimits()
	for _, pool := range p.nodes.Pools {
		for _, c := range pool.Cordoned {
			p.agenda.Plan(c.At, func() error { p.cordon(pool, c.N); return nil })
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
	if p.pending() == 0 {
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
		p.evict(e)
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
	for _, pool := range p.nodes.Pools {
		p.nodes.Create(pool, p.lacking(pool)-pool.Booting)
	}
	return nil
}

// wake plans a cycle.
func (p *play) wake(at int64) {
	p.agenda.Plan(at, func() error { p.changed = true; return nil })
}

// pending returns the number of pods without a node.
func (p *play) pending() int {
	n := 0
	for _, j := range p.jobs {
		n += j.unplaced()
	}
	return n
}

// look records the state.
func (p *play) look(at int64) {
	state := rehearsal.State{At: at, Pods: map[string]int{}, Pending: p.pending(), Nodes: [][]string{}}
	counts := map[string]*rehearsal.QueueState{}
	for _, q := range p.world.Queues() {
		state.Queues = append(state.Queues, rehearsal.QueueState{ClusterQueue: q})
	}
	for i := range state.Queues {
		counts[state.Queues[i].ClusterQueue] = &state.Queues[i]
	}
	running := map[*stage.Node][]string{}
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
	for _, names := range running {
		slices.Sort(names)
		state.Nodes = append(state.Nodes, names)
	}
	for _, pool := range p.nodes.Pools {
		state.Pods[pool.Name] = pool.Running()
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
	for _, pool := range p.nodes.Pools {
		h.Pools = append(h.Pools, pool.Use())
	}
	return h
}
