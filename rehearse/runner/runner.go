// Package runner plays a scenario: a rehearsal.Scenario goes in, a rehearsal.History comes
// out. It plays what surrounds Kueue on a cluster: the people who submit and delete jobs,
// the job controllers, the nodes with kube-scheduler and autoscaler, and the
// ProvisioningRequests. Package world lets Kueue itself decide.
package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/stage"
	"github.com/batchwright/batchwright/rehearse/world"
	"k8s.io/apimachinery/pkg/types"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Play plays a scenario, and calls progress at each event, with its time and the number of
// jobs that have ended before. It returns a stage.ErrScenario if the scenario has what a
// rehearsal cannot play; any other error is a bug. If ctx is done before the end, the
// history is as far as it is known, and Interrupted.
//
// Parts of the scenario that share neither quota nor nodes are played side by side, and the
// process has a thread for each meanwhile (GOMAXPROCS).
//
// The virtual time of a bubble of testing/synctest passes only when nothing runs, so a
// rehearsal of days takes as long as the decisions in it.
func Play(ctx context.Context, s *rehearsal.Scenario, progress func(now int64, ended int)) (*rehearsal.History, error) {
	cluster, err := world.ReadCluster(s.Objects)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", stage.ErrScenario, err)
	}
	changes, err := readChanges(s, cluster)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", stage.ErrScenario, err)
	}
	parts, err := split(s, cluster, changes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", stage.ErrScenario, err)
	}
	// Kueue's scheduler and the runner take turns: threads without work of their own cost a
	// quarter of the CPU time.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(min(len(parts), runtime.GOMAXPROCS(0))))
	pace := newPace(ctx, len(parts), windowOf(parts), progress)
	plays, problems := make([]*play, len(parts)), make([]error, len(parts))
	var group sync.WaitGroup
	for i, part := range parts {
		group.Go(func() {
			problems[i] = errors.New("a part of the rehearsal has ended without a result")
			defer func() { pace.runners[i].leave(problems[i] != nil) }()
			plays[i], problems[i] = playPart(part, pace.runners[i])
		})
	}
	group.Wait()
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return merge(s, cluster, plays), nil
}

// windowOf returns the time by which parts may be ahead of each other: small enough that an
// interrupt takes effect soon, and large enough that they seldom wait. A single part waits
// for nobody.
func windowOf(parts []*part) int64 {
	if len(parts) == 1 {
		return 0
	}
	last := int64(0)
	for _, p := range parts {
		for _, j := range p.Jobs {
			last = max(last, j.At)
		}
	}
	return 3600 + last/64
}

// playPart plays a part.
func playPart(part *part, pacer *pacer) (p *play, err error) {
	synctest.Test(&testing.T{}, func(*testing.T) {
		if p, err = newPlay(part); err != nil {
			err = fmt.Errorf("%w: %w", stage.ErrScenario, err)
			return
		}
		defer p.close()
		noted := func(now int64) { pacer.note(now, p.ended) }
		p.interrupted, err = p.agenda.Run(part.Scenario, pacer.stops, noted, p.look, p.settle)
	})
	return p, err
}

// play is a part of a rehearsal that is under way.
type play struct {
	part      *part
	start     time.Time
	worlds    []*world.World // one for each root of cohorts, which share nothing in Kueue
	templates []*template
	nodes     *stage.Nodes
	pools     map[string]*pool
	order     []*pool
	jobs      []*job
	byKey     map[types.NamespacedName]*job
	byUID     map[types.UID]*job
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

func newPlay(in *part) (*play, error) {
	p := &play{
		part: in, start: time.Now(), pools: map[string]*pool{}, retries: map[*world.World]int64{},
		byKey: map[types.NamespacedName]*job{}, byUID: map[types.UID]*job{},
	}
	byQueue := map[string]*world.World{}
	for _, cluster := range in.clusters {
		w, err := world.New(cluster, p)
		if err != nil {
			p.close()
			return nil, err
		}
		p.worlds = append(p.worlds, w)
		for _, q := range cluster.ClusterQueues {
			byQueue[q.Name] = w
		}
	}
	p.readTimeout(in.clusters[0].Configuration)
	for i, t := range in.Templates {
		template := &template{manifest: t, world: byQueue[in.queues[i]]}
		if len(in.changes) > 0 {
			template.world = p.worlds[0]
		} else if err := template.construct(); err != nil {
			return nil, err
		}
		p.templates = append(p.templates, template)
	}
	nodes, err := stage.NewNodes(in.Scenario, &p.agenda, p)
	if err != nil {
		return nil, err
	}
	p.nodes = nodes
	for _, in := range nodes.Pools {
		pool := &pool{Pool: in}
		p.pools[in.Name] = pool
		p.order = append(p.order, pool)
	}
	p.planJobs()
	nodes.PlanLimits()
	p.planHolds(byQueue)
	p.planChanges()
	if c := in.clusters[0].Configuration; c != nil && c.AdmissionFairSharing != nil {
		p.planMeasurement(max(1, int64(c.AdmissionFairSharing.UsageSamplingInterval.Round(time.Second)/time.Second)))
	}
	return p, nil
}

// planJobs plans the submissions and deletions of jobs.
func (p *play) planJobs() {
	for i, in := range p.part.Jobs {
		t := p.templates[in.Template]
		j := &job{Job: stage.NewJob(p.part.numbers[i], in), template: t, queue: t.queue}
		p.jobs = append(p.jobs, j)
		if in.Deleted > 0 {
			p.agenda.Plan(in.Deleted, func() error { return p.remove(j) })
		}
		p.agenda.Plan(in.At, func() error { return p.submit(j) })
	}
}

// planHolds plans when ClusterQueues are stopped and started. byQueue holds their worlds.
func (p *play) planHolds(byQueue map[string]*world.World) {
	for _, hold := range p.part.Holds {
		for _, queue := range hold.ClusterQueues {
			change := func() error { return p.hold(byQueue[queue], queue) }
			p.agenda.Plan(hold.From, change)
			if hold.To > 0 {
				p.agenda.Plan(hold.To, change)
			}
		}
	}
}

// hold stops a ClusterQueue, or starts it again, as the periods of this moment say.
func (p *play) hold(w *world.World, queue string) error {
	policy := kueue.None
	for _, h := range p.part.Holds {
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

// planChanges plans the changes of the platform's objects.
func (p *play) planChanges() {
	for i, to := range p.part.changes {
		p.agenda.Plan(p.part.Changes[i].At, func() error { return p.change(to) })
	}
}

// change changes the platform's objects. The jobs of a Namespace that goes are deleted, and
// jobs that are submitted from then on get the new objects' priorities.
func (p *play) change(to *world.Cluster) error {
	w := p.worlds[0]
	p.part.clusters = []*world.Cluster{to}
	if err := w.Apply(to); err != nil {
		return err
	}
	for _, j := range p.jobs {
		if j.Submitted && !j.Ended && !to.HasNamespace(j.key.Namespace) {
			p.end(j, rehearsal.Deleted)
		}
	}
	for _, t := range p.templates {
		t.workload = nil
	}
	p.planRetry(w)
	return nil
}

// planMeasurement plans when Kueue next measures what LocalQueues have used. Nothing else can
// happen any more when nothing else is planned.
func (p *play) planMeasurement(interval int64) {
	p.agenda.Plan(p.agenda.Now+interval, func() error {
		if !p.agenda.Empty() {
			p.planMeasurement(interval)
		}
		for _, w := range p.worlds {
			if err := w.Measure(); err != nil {
				return err
			}
		}
		return nil
	})
}

// readTimeout reads Kueue's waitForPodsReady.
func (p *play) readTimeout(c *config.Configuration) {
	if c == nil {
		return
	}
	ready := c.WaitForPodsReady
	p.timeout = int64(ready.Timeout.Seconds())
	p.recovery = int64(ready.RecoveryTimeout.Seconds())
	p.backoff = [2]int32{*ready.RequeuingStrategy.BackoffBaseSeconds, *ready.RequeuingStrategy.BackoffMaxSeconds}
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
	for _, c := range p.part.clusters {
		for _, q := range c.ClusterQueues {
			state.Queues = append(state.Queues, rehearsal.QueueState{ClusterQueue: q.Name})
		}
	}
	for i := range state.Queues {
		counts[state.Queues[i].ClusterQueue] = &state.Queues[i]
	}
	for _, j := range p.jobs {
		count := counts[j.queue]
		switch {
		case !j.Submitted || j.Ended || count == nil:
		case j.admitted:
			count.Admitted++
		case j.run == nil:
			count.Pending++
		}
	}
	for _, pool := range p.order {
		state.Pods[pool.Name] = pool.Running()
		for _, set := range pool.waiting {
			state.Pending += set.wants
		}
	}
	p.states = append(p.states, state)
}

// jobHistory returns what happened to a job in a rehearsal that is closed at a time.
func (p *play) jobHistory(j *job, end int64) rehearsal.JobHistory {
	if !j.Ended && j.run == nil {
		if wl := j.template.world.Workload(j.key); wl != nil {
			j.Waits = message(wl, kueue.WorkloadQuotaReserved)
		}
	}
	return j.History(j.queue, j.run != nil, end)
}
