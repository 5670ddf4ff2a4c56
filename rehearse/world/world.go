// Package world runs Kueue's own code in virtual time, one step at a time.
//
// Objects of a platform go in, and then Workloads. Kueue's cache, queues, scheduler and
// workload reconciler decide which Workloads get quota, on which flavors, and which are
// evicted; the package decides nothing. It plays the parts of a cluster around them: the
// API server (store), the watch (Settle) and the pace of the scheduler's loop (cycle).
//
// A World lives in a bubble of testing/synctest, whose clock moves only when everything in
// it waits. All methods of a World must be called from the goroutine that made it.
package world

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	"sigs.k8s.io/kueue/pkg/util/routine"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/evict"
)

// RetryAfter is the time after which Kueue looks again at workloads that did not fit,
// once quota was freed (requeueBatchPeriod in pkg/cache/queue/inadmissible_workloads.go).
const RetryAfter = time.Second

// World is one Kueue with its cluster.
type World struct {
	ctx        context.Context
	store      *store
	cache      *schdcache.Cache
	queues     *qcache.Manager
	requeuer   interface{ ProcessRequeues(context.Context) int }
	scheduler  *scheduler.Scheduler
	reconciler *core.WorkloadReconciler
	// controllers are Kueue's other controllers, by the type of their objects.
	controllers map[reflect.Type]controller
	applied     []client.Object // the objects of the cluster, each after those that it refers to
	terminating []client.Object // objects that are deleted when nothing uses them any more
	gate        *gate
	clock       *cycleClock
	loop        *loopContext                // nil while no goroutine waits for heads
	flavors     int                         // the most that Kueue tries for one Workload
	stops       map[string]kueue.StopPolicy // of the ClusterQueues in the beginning
	watcher     Watcher
	// unsettled reports whether something has happened since Settle that Kueue can react to.
	unsettled bool

	moment    time.Time                    // of the latest evictions
	evictions map[types.NamespacedName]int // at that moment
	resting   time.Time                    // the moment at which Kueue decides nothing more
}

// Watcher follows the Workloads of a World.
type Watcher interface {
	// Changed is called for every write to a Workload, after Kueue has seen it. It may
	// call the World's methods except Settle.
	Changed(before, after *kueue.Workload) error
	// Wake is called when Kueue wants to reconcile a Workload again after a time. The
	// watcher calls Reconcile then.
	Wake(key types.NamespacedName, after time.Duration)
}

// Quiet silences the logs of Kueue and its libraries. Call it once, before New.
func Quiet() {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	routine.DefaultWrapper = inline{}
}

// New returns a World with the given objects. It returns an error, made for the user, if
// Kueue refuses an object.
func New(c *Cluster, watcher Watcher) (*World, error) {
	w := &World{
		ctx:     ctrl.LoggerInto(context.Background(), logr.Discard()),
		store:   newStore(c.scheme),
		clock:   &cycleClock{},
		watcher: watcher,
		stops:   map[string]kueue.StopPolicy{},
	}
	prefixes, transformations := resources(c.Configuration)
	expected := expectations.New()
	w.cache = schdcache.New(w.store,
		schdcache.WithPodsReadyTracking(tracksPods(c.Configuration)),
		schdcache.WithFairSharing(fairSharing(c.Configuration) != nil),
		schdcache.WithAdmissionFairSharing(usage(c.Configuration)),
		schdcache.WithExcludedResourcePrefixes(prefixes),
		schdcache.WithResourceTransformations(transformations))
	w.gate = &gate{cache: w.cache}
	w.gate.open.Store(true)
	timestamp := requeuingTimestamp(c.Configuration)
	manager, requeuer := qcache.NewManagerForUnitTestsWithRequeuer(w.store, w.gate,
		qcache.WithAdmissionFairSharing(usage(c.Configuration)),
		qcache.WithExcludedResourcePrefixes(prefixes),
		qcache.WithResourceTransformations(transformations),
		qcache.WithPodsReadyRequeuingTimestamp(timestamp),
		qcache.WithPreemptionExpectations(expected))
	w.queues, w.requeuer = manager, requeuer
	recorder := &events.FakeRecorder{}
	w.scheduler = scheduler.New(w.queues, w.cache, w.store, recorder,
		scheduler.WithFairSharing(fairSharing(c.Configuration)),
		scheduler.WithAdmissionFairSharing(usage(c.Configuration)),
		scheduler.WithPodsReadyRequeuingTimestamp(timestamp),
		scheduler.WithPreemptionExpectations(expected),
		scheduler.WithClock(nil, w.clock))
	w.reconciler = core.NewWorkloadReconciler(w.store, w.queues, w.cache, recorder,
		core.WithPreemptionExpectations(expected),
		core.WithAdmissionFairSharing(usage(c.Configuration)))
	w.controllers = controllersOf(w.store, w.queues, w.cache, c.Configuration)
	for _, q := range c.ClusterQueues {
		w.stops[q.Name] = *q.Spec.StopPolicy
	}
	if err := w.Apply(c); err != nil {
		return w, err
	}
	return w, w.checkActive(c)
}

// mostFlavors returns the most flavors of a resource group.
func mostFlavors(queues []*kueue.ClusterQueue) int {
	most := 0
	for _, q := range queues {
		for _, group := range q.Spec.ResourceGroups {
			most = max(most, len(group.Flavors))
		}
	}
	return most
}

// checkActive returns an error if a ClusterQueue that is not stopped is not active.
func (w *World) checkActive(c *Cluster) error {
	for _, q := range c.ClusterQueues {
		if *q.Spec.StopPolicy != kueue.None {
			continue // it starts no jobs
		}
		if status, _, message := w.cache.ClusterQueueReadiness(kueue.ClusterQueueReference(q.Name)); status != "True" {
			return fmt.Errorf("ClusterQueue %s is not active: %s", q.Name, message)
		}
	}
	return nil
}

// Client returns the cluster's API as far as a World plays it.
func (w *World) Client() client.Client { return w.store }

// Context returns the context for calls of Kueue's functions.
func (w *World) Context() context.Context { return w.ctx }

// Submit adds a Workload.
func (w *World) Submit(wl *kueue.Workload) error {
	w.unsettled = true
	w.store.create(wl)
	w.reconciler.Create(event.TypedCreateEvent[*kueue.Workload]{Object: wl})
	return w.Reconcile(client.ObjectKeyFromObject(wl))
}

// Remove deletes a Workload. Nothing happens if it does not exist.
func (w *World) Remove(key types.NamespacedName) {
	if old := w.store.remove(key); old != nil {
		w.unsettled = true
		w.reconciler.Delete(event.TypedDeleteEvent[*kueue.Workload]{Object: old})
	}
}

// Workload returns a Workload, or nil if it does not exist. It must not be changed.
func (w *World) Workload(key types.NamespacedName) *kueue.Workload { return w.store.workload(key) }

// Reconcile calls Kueue's reconciler for a Workload. It does nothing for a Workload that
// does not exist.
func (w *World) Reconcile(key types.NamespacedName) error {
	w.unsettled = true
	result, err := w.reconciler.Reconcile(w.ctx, ctrl.Request{NamespacedName: key})
	if result.RequeueAfter > 0 {
		w.watcher.Wake(key, result.RequeueAfter)
	}
	return err
}

// Stop sets the stopPolicy of a ClusterQueue, and lets Kueue look at the Workloads of the
// queue again. A policy that the ClusterQueue had in the beginning and that stops more stays in
// force. It does nothing if the ClusterQueue has the policy already.
func (w *World) Stop(queue string, policy kueue.StopPolicy) error {
	stored := &kueue.ClusterQueue{}
	if err := w.store.Get(w.ctx, types.NamespacedName{Name: queue}, stored); err != nil {
		return err
	}
	own := w.stops[queue]
	if own == kueue.HoldAndDrain || own == kueue.Hold && policy == kueue.None {
		policy = own
	}
	if *stored.Spec.StopPolicy == policy {
		return nil
	}
	w.unsettled = true
	changed := stored.DeepCopy()
	changed.Spec.StopPolicy = &policy
	if err := w.put(changed); err != nil {
		return err
	}
	for _, key := range w.store.keys() {
		wl := w.Workload(key)
		if wl == nil {
			continue
		}
		if name, ok := w.queues.ClusterQueueForWorkload(wl); ok && string(name) == queue {
			if err := w.Reconcile(key); err != nil {
				return err
			}
		}
	}
	return nil
}

// Retry puts the workloads that did not fit back into their queues, if quota was freed. It
// returns their number. Call it RetryAfter the quota was freed.
func (w *World) Retry() int {
	w.unsettled = true
	return w.requeuer.ProcessRequeues(w.ctx)
}

// Measure lets Kueue measure what LocalQueues have used, as it does in intervals.
func (w *World) Measure() error {
	w.unsettled = true
	for _, o := range w.applied {
		if _, ok := o.(*kueue.LocalQueue); ok {
			if err := w.reconcile(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// Settle lets Kueue decide until nothing changes any more at this moment, or until it has
// evicted a Workload too often. It reports whether anything has changed. It does nothing if
// nothing has happened since the last call: Kueue would decide the same again.
//
// Kueue looks at the head of each queue in a cycle. In a queue of BestEffortFIFO a head
// that does not fit makes room for the next, until no head is left. In a queue of
// StrictFIFO it stays, so the cycles must end elsewhere: cycles that change nothing are
// repeated as often as there are flavors, because Kueue can go on with the next flavor in
// the next cycle, and as long as they leave fewer heads.
func (w *World) Settle() (bool, error) {
	changed, err := w.tell()
	if err == nil {
		err = w.finalize()
	}
	if !w.unsettled || w.rests() {
		return changed, err
	}
	idle, heads := 0, w.countHeads()
	for err == nil && heads > 0 && !w.rests() && w.cycle() {
		var decided bool
		if decided, err = w.tell(); decided {
			changed, idle, heads = true, 0, w.countHeads()
			continue
		}
		if idle++; idle > w.flavors {
			left := w.countHeads()
			if left >= heads {
				break
			}
			idle, heads = 0, left
		}
	}
	w.unsettled = w.rests()
	return changed, err
}

// mostEvictions is how often Kueue may evict a Workload in one moment. Kueue can admit a
// Workload and evict it again without end, for example if the Workload that preempts it
// cannot be admitted itself. On a cluster each round takes time.
const mostEvictions = 3

// countEviction counts an eviction of this moment. After too many of one Workload the world
// rests until the next second.
func (w *World) countEviction(key types.NamespacedName) {
	if now := time.Now(); !w.moment.Equal(now) {
		w.moment, w.evictions = now, map[types.NamespacedName]int{}
	}
	if w.evictions[key]++; w.evictions[key] == mostEvictions {
		w.resting = w.moment
		w.watcher.Wake(key, time.Second)
	}
}

// rests reports whether Kueue decides nothing more at this moment.
func (w *World) rests() bool { return w.resting.Equal(time.Now()) }

// countHeads returns the number of workloads that Kueue would look at in the next cycles.
func (w *World) countHeads() int {
	n := 0
	for _, workloads := range w.queues.Dump() {
		n += len(workloads)
	}
	return n
}

// tell gives Kueue what was written, as a watch does, and reports whether an admission or
// an eviction was among it. Writes of one moment are told by name: Kueue writes several
// evictions at a time, in an order that differs from run to run.
func (w *World) tell() (bool, error) {
	decided := false
	for {
		changes := w.store.take()
		if len(changes) == 0 {
			return decided, nil
		}
		w.unsettled = true
		slices.SortStableFunc(changes, func(a, b change) int {
			return cmp.Or(cmp.Compare(a.after.Namespace, b.after.Namespace), cmp.Compare(a.after.Name, b.after.Name))
		})
		for _, c := range changes {
			key := client.ObjectKeyFromObject(c.after)
			if w.Workload(key) == nil {
				continue
			}
			w.reconciler.Update(event.TypedUpdateEvent[*kueue.Workload]{ObjectOld: c.before, ObjectNew: c.after})
			if !evict.IsEvicted(c.before) && evict.IsEvicted(c.after) {
				w.countEviction(key)
			}
			decided = decided || workload.Status(c.before) != workload.Status(c.after) ||
				evict.IsEvicted(c.before) != evict.IsEvicted(c.after)
			if err := w.watcher.Changed(c.before, c.after); err != nil {
				return decided, err
			}
			if err := w.Reconcile(key); err != nil {
				return decided, err
			}
		}
	}
}

func resources(c *config.Configuration) ([]string, []config.ResourceTransformation) {
	if c == nil || c.Resources == nil {
		return nil, nil
	}
	return c.Resources.ExcludeResourcePrefixes, c.Resources.Transformations
}

func fairSharing(c *config.Configuration) *config.FairSharing {
	if c == nil {
		return nil
	}
	return c.FairSharing
}

// usage returns how Kueue measures what LocalQueues have used, nil if it does not.
func usage(c *config.Configuration) *config.AdmissionFairSharing {
	if c == nil {
		return nil
	}
	return c.AdmissionFairSharing
}

func tracksPods(c *config.Configuration) bool { return c != nil && *c.WaitForPodsReady.BlockAdmission }

func requeuingTimestamp(c *config.Configuration) config.RequeuingTimestamp {
	if c == nil {
		return config.EvictionTimestamp
	}
	return *c.WaitForPodsReady.RequeuingStrategy.Timestamp
}
