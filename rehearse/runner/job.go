package runner

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/stage"
	"github.com/batchwright/batchwright/rehearse/world"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/evict"
	"sigs.k8s.io/kueue/pkg/workload/finish"
	"sigs.k8s.io/kueue/pkg/workload/patching"
)

// job is one job of the scenario, and the controllers that look after it.
type job struct {
	stage.Job
	template *template
	queue    string // ClusterQueue: the latest that gave quota, or that of the template
	key      types.NamespacedName
	admitted bool // quota and all checks
	run      *run // nil without quota
}

// run is the time for which a job has quota.
type run struct {
	job      *job
	sets     []*pods
	unplaced int // pod sets with pods that have no node
}

// record returns the run's entry in the history. The run must be the latest of its job.
func (r *run) record() *rehearsal.Run { return r.job.Work.Run() }

// submit creates the job's Workload.
func (p *play) submit(j *job) error {
	if j.template.workload == nil {
		err := j.template.construct()
		if len(p.part.changes) > 0 && apierrors.IsNotFound(err) {
			// Kueue makes no Workload of a job whose PriorityClass is gone.
			j.Submitted, j.Waits = true, "the job's PriorityClass does not exist"
			return nil
		}
		if err != nil {
			return err
		}
	}
	wl := j.template.workloadOf(j.Job.Job, j.Number, p.part.total, p.start, p.part.ReversedTies)
	j.key = client.ObjectKeyFromObject(wl)
	if other, ok := p.byKey[j.key]; ok && !other.Ended {
		return fmt.Errorf("two jobs have the name %s at the same time", j.key)
	}
	p.byKey[j.key], p.byUID[wl.UID] = j, j
	j.Submitted, j.queue = true, j.template.queue
	return j.template.world.Submit(wl)
}

// remove deletes the job, as somebody who uses kubectl.
func (p *play) remove(j *job) error {
	if j.Submitted && !j.Ended {
		p.end(j, rehearsal.Deleted)
	}
	return nil
}

// end ends a job for good. Its Workload goes, so that memory does not grow.
func (p *play) end(j *job, outcome rehearsal.Outcome) {
	if j.run != nil {
		p.stop(j, false)
	} else if wl := j.template.world.Workload(j.key); wl != nil {
		j.Waits = message(wl, kueue.WorkloadQuotaReserved)
	}
	j.admitted = false
	j.End(p.agenda.Now, outcome)
	p.ended++
	j.template.world.Remove(j.key)
	p.planRetry(j.template.world)
}

// stop takes the pods of a job off their nodes. With again the job has to do the work again
// that it has done since its last checkpoint.
func (p *play) stop(j *job, again bool) {
	r := j.run
	for _, set := range r.sets {
		p.release(set)
	}
	j.Work.End(p.agenda.Now, again)
	j.run = nil
}

// Wake implements world.Watcher.
func (p *play) Wake(key types.NamespacedName, after time.Duration) {
	p.agenda.Plan(p.agenda.Now+int64((after+time.Second-1)/time.Second), func() error {
		if j := p.byKey[key]; j != nil {
			return j.template.world.Reconcile(key)
		}
		return nil
	})
}

// Changed follows Kueue's writes, as the controllers of jobs do.
func (p *play) Changed(before, after *kueue.Workload) error {
	j := p.byKey[client.ObjectKeyFromObject(after)]
	if j == nil || j.Ended {
		return nil
	}
	switch {
	case !workload.HasQuotaReservation(before) && workload.HasQuotaReservation(after):
		if waited := message(before, kueue.WorkloadQuotaReserved); waited != "" {
			j.Waits = waited
		}
		return p.reserved(j, after)
	case !evict.IsEvicted(before) && evict.IsEvicted(after):
		return p.evicted(j, after)
	case !workload.IsAdmitted(before) && workload.IsAdmitted(after):
		p.startPods(j)
	}
	return nil
}

// reserved notes a reservation of quota. If there are admission checks, it asks for nodes.
func (p *play) reserved(j *job, wl *kueue.Workload) error {
	r := &run{job: j}
	j.run, j.queue = r, string(wl.Status.Admission.ClusterQueue)
	var sets []rehearsal.PodSetFlavor
	for _, a := range wl.Status.Admission.PodSetAssignments {
		sets = append(sets, rehearsal.PodSetFlavor{
			PodSet: string(a.Name), Flavor: p.poolOf(a), Pods: int(*a.Count),
		})
	}
	j.Work.Begin(p.agenda.Now, sets)
	if workload.IsAdmitted(wl) {
		p.startPods(j)
	} else {
		p.requests = append(p.requests, r)
	}
	return nil
}

// poolOf returns the capacity that a pod set runs on: the flavor of a resource that is a
// pool of nodes.
func (p *play) poolOf(a kueue.PodSetAssignment) string {
	var names []string
	for _, flavor := range a.Flavors {
		names = append(names, string(flavor))
	}
	slices.Sort(names)
	for _, name := range names {
		if p.pools[name] != nil {
			return name
		}
	}
	if len(names) > 0 {
		return names[0]
	}
	return ""
}

// provisionNodes plays ProvisioningRequests, in the order of their reservations of quota: as
// soon as the pools can have all nodes of a job, the nodes are created together.
func (p *play) provisionNodes() {
	p.requests = slices.DeleteFunc(p.requests, func(r *run) bool {
		return r.job.run != r || p.provision(r)
	})
}

// provision starts the nodes of a run, and reports whether the pools can have them. When the
// nodes run, the checks are ready.
func (p *play) provision(r *run) bool {
	needs, wait := map[*stage.Pool]int{}, int64(0)
	for _, f := range r.record().Flavors {
		pool := p.pools[f.Flavor]
		if pool == nil {
			continue
		}
		if each := pool.Whole.Fits(r.job.template.podSets[kueue.PodSetReference(f.PodSet)], f.Pods); each > 0 {
			needs[pool.Pool] += (f.Pods + each - 1) / each
			wait = max(wait, pool.Startup)
		}
	}
	creates := true
	for pool, nodes := range needs {
		creates = creates && p.nodes.Room(pool) >= nodes
		pool.Booting += nodes
	}
	booted := func() {
		for pool, nodes := range needs {
			pool.Booting -= nodes
		}
	}
	if !creates {
		booted()
		return false
	}
	p.agenda.Plan(p.agenda.Now+wait, func() error {
		booted()
		if r.job.run != r {
			return nil
		}
		for pool, nodes := range needs {
			p.nodes.Arrive(pool, nodes)
		}
		return p.passChecks(r.job)
	})
	return true
}

// passChecks makes the admission checks of a job ready.
func (p *play) passChecks(j *job) error {
	w := j.template.world
	return patching.PatchAdmissionStatus(w.Context(), w.Client(), w.Workload(j.key).DeepCopy(), clock.RealClock{},
		func(wl *kueue.Workload) (bool, error) {
			for _, check := range wl.Status.AdmissionChecks {
				check.State, check.Message = kueue.CheckStateReady, "The nodes are provisioned"
				patching.SetAdmissionCheckState(&wl.Status.AdmissionChecks, check, clock.RealClock{})
			}
			return true, nil
		})
}

// startPods creates the pods of an admitted job.
func (p *play) startPods(j *job) {
	j.admitted = true
	r := j.run
	for _, f := range r.record().Flavors {
		set := pods{
			run: r, request: j.template.podSets[kueue.PodSetReference(f.PodSet)], pool: p.pools[f.Flavor],
			wants: f.Pods, on: map[*stage.Node]int{},
		}
		if !j.Work.Independent() {
			p.createPods(&set)
			continue
		}
		for _, number := range j.Work.UnfinishedPods() {
			pod := set
			pod.wants, pod.on, pod.number = 1, map[*stage.Node]int{}, number
			p.createPods(&pod)
		}
	}
	if r.unplaced == 0 {
		p.ready(r)
	} else if p.timeout > 0 {
		p.agenda.Plan(p.agenda.Now+p.timeout, func() error { return p.giveUp(r, kueue.WorkloadWaitForStart) })
	}
}

// createPods lets pods wait for nodes. Pods on nodes that no capacity describes start at
// once.
func (p *play) createPods(set *pods) {
	if set.pool == nil {
		p.startPod(set)
		return
	}
	set.run.sets = append(set.run.sets, set)
	set.run.unplaced++
	set.pool.waiting = append(set.pool.waiting, set)
}

// startPod starts the work of an independent pod, which has a node.
func (p *play) startPod(set *pods) {
	r := set.run
	if !r.job.Work.Independent() {
		return
	}
	p.agenda.Plan(r.job.Work.StartPod(set.number, p.agenda.Now), func() error { return p.finishPod(set) })
}

// finishPod ends an independent pod that has done its work, unless it was stopped meanwhile.
// Kueue takes its quota back, as the controller of Jobs tells it (ReclaimablePods in
// pkg/controller/jobs/job).
func (p *play) finishPod(set *pods) error {
	r, now := set.run, p.agenda.Now
	j := r.job
	if j.run != r || !j.Work.PodDone(set.number, now) {
		return nil
	}
	j.Work.FinishPod(set.number, now)
	if set.pool != nil {
		p.release(set)
		r.sets = slices.DeleteFunc(r.sets, func(other *pods) bool { return other == set })
	}
	unfinished := len(j.Work.UnfinishedPods())
	if unfinished == 0 {
		return p.finish(j, r)
	}
	w := j.template.world
	p.planRetry(w)
	finished := []kueue.ReclaimablePod{
		{Name: kueue.DefaultPodSetName, Count: int32(len(j.PodRuns) - unfinished)},
	}
	return workload.UpdateReclaimablePods(w.Context(), w.Client(), w.Workload(j.key).DeepCopy(), finished)
}

// placePods gives nodes to pods, and asks for nodes where there is no room. It reports
// whether a job has got all its nodes.
func (p *play) placePods() bool {
	any := false
	for _, pool := range p.order {
		for _, set := range p.place(pool) {
			p.startPod(set)
			if set.run.unplaced--; set.run.unplaced == 0 {
				any = true
				p.ready(set.run)
			}
		}
		p.nodes.Create(pool.Pool, pool.lacking()-pool.Booting)
	}
	return any
}

// pause stops the work of a run that has lost a node. If the pods do not all run again in
// time, Kueue evicts the job.
func (p *play) pause(r *run) {
	work := &r.job.Work
	if !work.Working() {
		return
	}
	at := p.agenda.Now
	work.Pause(at)
	if p.recovery > 0 {
		p.agenda.Plan(at+p.recovery, func() error {
			if work.StoppedAt() != at {
				return nil
			}
			return p.giveUp(r, kueue.WorkloadWaitForRecovery)
		})
	}
}

// ready starts the work of a job: all its pods run.
func (p *play) ready(r *run) {
	j := r.job
	j.Work.Start(p.agenda.Now)
	if j.Runs > 0 {
		p.agenda.Plan(p.agenda.Now+j.Work.Left, func() error { return p.finish(j, r) })
	}
}

// finish ends a job that has done its work, unless it was stopped meanwhile.
func (p *play) finish(j *job, r *run) error {
	if j.run != r || !j.Work.Done(p.agenda.Now) {
		return nil
	}
	w := j.template.world
	wl := w.Workload(j.key).DeepCopy()
	if err := finish.Finish(w.Context(), w.Client(), wl, kueue.WorkloadFinishedReasonSucceeded,
		"The job has succeeded", clock.RealClock{}); err != nil {
		return err
	}
	p.end(j, rehearsal.Finished)
	return nil
}

// giveUp evicts a job whose pods have not all started in time, or again in time after the
// loss of a node, as Kueue does with waitForPodsReady (reconcileNotReadyTimeout and
// admittedNotReadyWorkload in pkg/controller/core).
func (p *play) giveUp(r *run, cause kueue.EvictionUnderlyingCause) error {
	j := r.job
	if j.run != r || j.Work.Working() || r.record().Ran != (cause == kueue.WorkloadWaitForRecovery) {
		return nil
	}
	wl := j.template.world.Workload(j.key).DeepCopy()
	return evict.Evict(j.template.world.Context(), j.template.world.Client(), &events.FakeRecorder{}, wl,
		kueue.WorkloadEvictedByPodsReadyTimeout, fmt.Sprintf("Exceeded the PodsReady timeout %s", j.key),
		cause, clock.RealClock{}, false, nil, nil,
		evict.WithCustomPrepare(func(wl *kueue.Workload) {
			workload.UpdateRequeueState(wl, p.backoff[0], p.backoff[1], clock.RealClock{})
		}))
}

// preemptor finds the preempting Workload in Kueue's message.
var preemptor = regexp.MustCompile(`^Preempted to accommodate a workload \(UID: ([^,)]*)`)

// evicted stops a job, and gives back its quota (ReconcileGenericJob in
// pkg/controller/jobframework, step 6). Pods end at once.
func (p *play) evicted(j *job, wl *kueue.Workload) error {
	condition := meta.FindStatusCondition(wl.Status.Conditions, kueue.WorkloadEvicted)
	if j.run != nil {
		record := j.run.record()
		record.Evicted, record.Message = rehearsal.EvictionReason(condition.Reason), condition.Message
		if found := preemptor.FindStringSubmatch(condition.Message); found != nil {
			if by := p.byUID[types.UID(found[1])]; by != nil {
				record.By = by.key.String()
			}
		}
		p.stop(j, true)
	}
	j.admitted = false
	current := wl.DeepCopy()
	w := j.template.world
	err := patching.PatchAdmissionStatus(w.Context(), w.Client(), current, clock.RealClock{},
		func(wl *kueue.Workload) (bool, error) {
			again := condition.Reason == kueue.WorkloadEvictedByPreemption ||
				condition.Reason == kueue.WorkloadEvictedDueToNodeFailures
			workload.SetRequeuedCondition(wl, condition.Reason, condition.Message, again)
			reason := workload.UnadmittedWorkloadReasonWithFallback(kueue.WorkloadQuotaReservedReasonPendingEvaluation,
				"Pending")
			workload.UnsetQuotaReservationWithCondition(wl, reason, condition.Message, clock.RealClock{}.Now())
			return true, nil
		})
	if err != nil {
		return err
	}
	p.planRetry(j.template.world)
	return nil
}

// planRetry plans Kueue's second look at the workloads that did not fit.
func (p *play) planRetry(w *world.World) {
	if p.retries[w] > p.agenda.Now {
		return
	}
	p.retries[w] = p.agenda.Now + int64(world.RetryAfter.Seconds())
	p.agenda.Plan(p.retries[w], func() error { w.Retry(); return nil })
}

// message returns the message of a condition, "" without the condition.
func message(wl *kueue.Workload, condition string) string {
	if c := meta.FindStatusCondition(wl.Status.Conditions, condition); c != nil {
		return c.Message
	}
	return ""
}
