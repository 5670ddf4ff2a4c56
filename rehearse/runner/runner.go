// Package runner plays a scenario: a rehearsal.Scenario goes in, a rehearsal.History comes
// out. It plays what surrounds Kueue on a cluster: the people who submit and delete jobs,
// the job controllers, the nodes with kube-scheduler and autoscaler, and the
// ProvisioningRequests. Package world lets Kueue itself decide.
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
	"github.com/batchwright/batchwright/rehearse/stage"
	"github.com/batchwright/batchwright/rehearse/world"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
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
		defer p.close()
		noted := func(now int64) { progress(now, p.ended) }
		if p.interrupted, err = p.agenda.Run(ctx, s, noted, p.look, p.settle); err == nil {
			history = p.history()
		}
	})
	return history, err
}

// play is a rehearsal that is under way.
type play struct {
	scenario  *rehearsal.Scenario
	start     time.Time
	worlds    []*world.World // one for each root of cohorts, which share nothing in Kueue
	cluster   *world.Cluster
	templates []*template
	pools     map[string]*pool
	order     []*pool
	jobs      []*job
	byKey     map[types.NamespacedName]*job
	byUID     map[types.UID]*job
	queues    map[types.NamespacedName]string // ClusterQueue by LocalQueue
	agenda    stage.Agenda
	requests  []*run                 // ProvisioningRequests that wait for nodes, the oldest first
	retries   map[*world.World]int64 // time of the latest planned retry
	timeout   int64                  // seconds after which a job whose pods do not run is evicted, 0 for never
	recovery  int64                  // the same after the loss of a node
	backoff   [2]int32
	states    []rehearsal.State
	ended     int // number of jobs

	interrupted bool
}

func newPlay(s *rehearsal.Scenario) (*play, error) {
	cluster, err := world.ReadCluster(s.Objects)
	if err != nil {
		return nil, err
	}
	p := &play{
		scenario: s, start: time.Now(), cluster: cluster, pools: map[string]*pool{},
		byKey: map[types.NamespacedName]*job{}, byUID: map[types.UID]*job{},
		queues: map[types.NamespacedName]string{}, retries: map[*world.World]int64{},
	}
	for _, q := range cluster.LocalQueues {
		p.queues[client.ObjectKeyFromObject(q)] = string(q.Spec.ClusterQueue)
	}
	parts, err := cluster.Split()
	if err != nil {
		return nil, err
	}
	byQueue := map[string]*world.World{}
	for _, part := range parts {
		w, err := world.New(part, p)
		if err != nil {
			p.close()
			return nil, err
		}
		p.worlds = append(p.worlds, w)
		for _, q := range part.ClusterQueues {
			byQueue[q.Name] = w
		}
	}
	p.readTimeout()
	for _, t := range s.Templates {
		template, err := newTemplate(p.worlds[0], t)
		if err != nil {
			return nil, err
		}
		key := types.NamespacedName{
			Namespace: template.workload.Namespace, Name: string(template.workload.Spec.QueueName),
		}
		if template.queue = p.queues[key]; template.queue == "" {
			return nil, fmt.Errorf("workload %s: namespace %s has no LocalQueue %q", t.Name, key.Namespace, key.Name)
		}
		if template.world = byQueue[template.queue]; template.world == nil {
			return nil, fmt.Errorf("workload %s: there is no ClusterQueue %q", t.Name, template.queue)
		}
		p.templates = append(p.templates, template)
	}
	for _, in := range s.Pools {
		pool, err := newPool(in)
		if err != nil {
			return nil, err
		}
		p.pools[in.Name] = pool
		p.order = append(p.order, pool)
		pool.add(min(in.Min, in.Max), 0)
	}
	if err := p.planJobs(); err != nil {
		return nil, err
	}
	if err := p.planHolds(byQueue); err != nil {
		return nil, err
	}
	return p, nil
}

// planJobs plans the submissions and deletions of jobs, and the limits of the pools.
func (p *play) planJobs() error {
	for i, in := range p.scenario.Jobs {
		if in.Template < 0 || in.Template >= len(p.templates) {
			return fmt.Errorf("job %s: there is no template %d", in.Name, in.Template)
		}
		j := &job{Job: in, number: i, template: p.templates[in.Template], work: stage.NewWork(in)}
		p.jobs = append(p.jobs, j)
		if in.Deleted > 0 {
			p.agenda.Plan(in.Deleted, func() error { return p.remove(j) })
		}
		p.agenda.Plan(in.At, func() error { return p.submit(j) })
	}
	for _, pool := range p.order {
		for _, a := range pool.Available {
			p.agenda.Plan(a.From, func() error { p.shrink(pool); return nil })
			if a.To > 0 {
				p.agenda.Plan(a.To, func() error { return nil })
			}
		}
	}
	return nil
}

// planHolds plans when ClusterQueues are stopped and started. byQueue holds their worlds.
func (p *play) planHolds(byQueue map[string]*world.World) error {
	for _, hold := range p.scenario.Holds {
		for _, queue := range hold.ClusterQueues {
			w := byQueue[queue]
			if w == nil {
				return fmt.Errorf("there is no ClusterQueue %q to hold", queue)
			}
			change := func() error { return p.hold(w, queue) }
			p.agenda.Plan(hold.From, change)
			if hold.To > 0 {
				p.agenda.Plan(hold.To, change)
			}
		}
	}
	return nil
}

// hold stops a ClusterQueue, or starts it again, as the periods of this moment say.
func (p *play) hold(w *world.World, queue string) error {
	policy := kueue.None
	for _, h := range p.scenario.Holds {
		if h.From > p.agenda.Now || h.To > 0 && h.To <= p.agenda.Now || !slices.Contains(h.ClusterQueues, queue) {
			continue
		}
		if h.Drain {
			policy = kueue.HoldAndDrain
		} else if policy == kueue.None {
			policy = kueue.Hold
		}
	}
	p.planRetry(w)
	return w.Stop(queue, policy)
}

// readTimeout reads Kueue's waitForPodsReady.
func (p *play) readTimeout() {
	if p.cluster.Configuration == nil || p.cluster.Configuration.WaitForPodsReady == nil {
		return
	}
	ready := p.cluster.Configuration.WaitForPodsReady
	p.timeout = int64(ready.Timeout.Seconds())
	if ready.RecoveryTimeout != nil {
		p.recovery = int64(ready.RecoveryTimeout.Seconds())
	}
	if s := ready.RequeuingStrategy; s != nil {
		p.backoff = [2]int32{*s.BackoffBaseSeconds, *s.BackoffMaxSeconds}
	}
}

// settle lets Kueue decide, and plays what follows in the same second, until nothing
// changes.
func (p *play) settle() error {
	for again := true; again; {
		decided, err := p.decide()
		if err != nil {
			return err
		}
		p.provisionNodes()
		again = p.placePods() || decided
	}
	return nil
}

// decide lets Kueue decide in every world, and reports whether anything has changed.
func (p *play) decide() (bool, error) {
	changed := false
	for _, w := range p.worlds {
		decided, err := w.Settle()
		if err != nil {
			return changed, err
		}
		changed = changed || decided
	}
	return changed, nil
}

// close ends the goroutines of the worlds.
func (p *play) close() {
	for _, w := range p.worlds {
		w.Close()
	}
}

// look records the state.
func (p *play) look(at int64) {
	state := rehearsal.State{At: at, Pods: map[string]int{}}
	counts := map[string]*rehearsal.QueueState{}
	for _, q := range p.cluster.ClusterQueues {
		state.Queues = append(state.Queues, rehearsal.QueueState{ClusterQueue: q.Name})
	}
	for i := range state.Queues {
		counts[state.Queues[i].ClusterQueue] = &state.Queues[i]
	}
	for _, j := range p.jobs {
		count := counts[j.template.queue]
		switch {
		case !j.submitted || j.ended || count == nil:
		case j.admitted:
			count.Admitted++
		case j.run == nil:
			count.Pending++
		}
	}
	for _, pool := range p.order {
		state.Pods[pool.Name] = pool.running()
		state.Pending += pool.pending()
	}
	p.states = append(p.states, state)
}

// history returns what has happened.
func (p *play) history() *rehearsal.History {
	h := &rehearsal.History{
		Scheduler: rehearsal.Scheduler{Name: ir.Kueue, Version: Kueue},
		End:       min(p.agenda.Now, p.scenario.Until), States: p.states, Interrupted: p.interrupted,
		Pools: []rehearsal.PoolUse{}, Jobs: []rehearsal.JobHistory{},
	}
	for _, j := range p.jobs {
		j.work.Close(h.End)
		out := rehearsal.JobHistory{
			ClusterQueue: j.template.queue, Runs: j.work.Runs, Outcome: j.outcome, End: j.endedAt, Waits: j.waits,
		}
		switch {
		case j.ended:
		case j.run != nil:
			out.Outcome = rehearsal.Running
		default:
			out.Outcome = rehearsal.Waiting
			if wl := j.template.world.Workload(j.key); wl != nil {
				out.Waits = message(wl, kueue.WorkloadQuotaReserved)
			}
		}
		h.Jobs = append(h.Jobs, out)
	}
	for _, pool := range p.order {
		h.Pools = append(h.Pools, rehearsal.PoolUse{Name: pool.Name, Nodes: pool.use})
	}
	return h
}
