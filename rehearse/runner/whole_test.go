package runner_test

import (
	"container/heap"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/stage"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/constants"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/controller/core/indexer"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	batchjob "sigs.k8s.io/kueue/pkg/controller/jobs/job"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	"sigs.k8s.io/kueue/pkg/util/routine"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/evict"
)

// decision is what Kueue decides about a job: an admission, with the queue and the flavors
// of the pod sets, or an eviction, with the reason and the preemptor.
type decision struct {
	At                  int64
	Queue, Flavors      string
	Reason, PreemptedBy string
}

// whole is a whole Kueue that plays a scenario: its core controllers, its controller of
// Jobs, its scheduler in its own loop, and its requeuer. It shares nothing with package
// world. Its webhooks are left out: they change nothing in Jobs that are suspended and have
// a queue.
type whole struct {
	t        testing.TB
	scenario *rehearsal.Scenario
	start    time.Time
	server   client.WithWatch
	queues   *qcache.Manager
	hours    *openingHours
	agenda   wholeAgenda
	applied  []client.Object // the platform

	mu        sync.Mutex
	decisions [][]decision // by job
	runs      []int        // admissions of each job so far
	decided   int
}

// kueueRoutines is how Kueue itself runs goroutines, before world.Quiet changes it.
var kueueRoutines = routine.DefaultWrapper

// playWhole plays a scenario of Jobs without nodes, and returns the decisions about each.
func playWhole(t *testing.T, s *rehearsal.Scenario) [][]decision {
	t.Helper()
	if _, err := definitions(); err != nil { // outside the bubble: they are kept
		t.Fatal(err)
	}
	w := &whole{
		scenario: s, decisions: make([][]decision, len(s.Jobs)), runs: make([]int, len(s.Jobs)),
	}
	synctest.Test(t, func(t *testing.T) {
		w.t = t
		ctx, cancel := context.WithCancel(context.Background())
		defer func() {
			cancel()
			synctest.Wait()
			w.queues.Broadcast() // the scheduler stops after its wait for heads
			synctest.Wait()
		}()
		w.start = time.Now()
		w.run(ctx)
	})
	return w.decisions
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run sets Kueue up in the order of its main function, and goes through the agenda.
func (w *whole) run(ctx context.Context) {
	mapper := newMapper()
	w.server = newServer(w.t, mapper, w.uid)
	mgr := newManager(w.t, w.server, mapper)
	w.setUp(ctx, mgr)
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(ctx) }()
	synctest.Wait()
	w.apply(ctx, w.scenario.Objects)
	for i, j := range w.scenario.Jobs {
		w.agenda.plan(j.At, func() { w.submit(ctx, i) })
	}
	for _, change := range w.scenario.Changes {
		w.agenda.plan(change.At, func() { w.apply(ctx, change.Objects) })
	}
	for {
		now := w.takeNext()
		if len(now) == 0 || now[0].at > w.scenario.Until {
			break
		}
		time.Sleep(time.Until(w.start.Add(time.Duration(now[0].at) * time.Second)))
		for _, item := range now {
			item.do()
		}
		w.settle()
	}
}

// takeNext takes what happens in the next second off the agenda.
func (w *whole) takeNext() []wholeItem {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []wholeItem
	for len(w.agenda) > 0 && (out == nil || w.agenda[0].at == out[0].at) {
		next, _ := w.agenda.next()
		out = append(out, next)
	}
	return out
}

// configuration returns the scenario's configuration of Kueue with its defaults.
func (w *whole) configuration() *config.Configuration {
	cfg := &config.Configuration{}
	for _, raw := range w.scenario.Objects {
		kind, err := stage.KindOf(raw)
		must(w.t, err)
		if kind == "Configuration" {
			must(w.t, json.Unmarshal(raw, cfg))
		}
	}
	config.SetDefaults_Configuration(cfg)
	return cfg
}

func (w *whole) setUp(ctx context.Context, mgr manager) {
	cfg := w.configuration()
	var prefixes []string
	if cfg.Resources != nil {
		prefixes = cfg.Resources.ExcludeResourcePrefixes
	}
	timestamp := *cfg.WaitForPodsReady.RequeuingStrategy.Timestamp
	formatter := resources.NewResourceFormatter()
	cache := schdcache.New(mgr.GetClient(), schdcache.WithResourceFormatter(formatter),
		schdcache.WithExcludedResourcePrefixes(prefixes))
	requeuer := qcache.NewRequeuer()
	must(w.t, mgr.Add(requeuer))
	expected := expectations.New()
	w.hours = &openingHours{cache: cache}
	w.queues = qcache.NewManager(mgr.GetClient(), w.hours, requeuer, qcache.WithPreemptionExpectations(expected),
		qcache.WithResourceFormatter(formatter), qcache.WithExcludedResourcePrefixes(prefixes),
		qcache.WithPodsReadyRequeuingTimestamp(timestamp))
	must(w.t, indexer.Setup(ctx, mgr.GetFieldIndexer()))
	must(w.t, batchjob.SetupIndexes(ctx, mgr.GetFieldIndexer()))
	_, err := core.SetupControllers(mgr, w.queues, cache, cfg, core.SetupControllersOpts{
		PreemptionExpectations: expected, ResourceFormatter: formatter,
	})
	must(w.t, err)
	selector, err := metav1.LabelSelectorAsSelector(cfg.ManagedJobsNamespaceSelector)
	must(w.t, err)
	jobs, err := batchjob.NewReconciler(ctx, mgr.GetClient(), mgr.GetFieldIndexer(), mgr.GetEventRecorder("job"),
		jobframework.WithManagerName(constants.KueueName), jobframework.WithCache(cache),
		jobframework.WithWaitForPodsReady(cfg.WaitForPodsReady),
		jobframework.WithQueues(w.queues), jobframework.WithManagedJobsNamespaceSelector(selector))
	must(w.t, err)
	must(w.t, jobs.SetupWithManager(mgr))
	go w.queues.CleanUpOnContext(ctx)
	go cache.CleanUpOnContext(ctx)
	inline := routine.DefaultWrapper
	routine.DefaultWrapper = kueueRoutines
	must(w.t, mgr.Add(scheduler.New(w.queues, cache, mgr.GetClient(), mgr.GetEventRecorder(constants.AdmissionName),
		scheduler.WithPreemptionExpectations(expected), scheduler.WithResourceFormatter(formatter),
		scheduler.WithPodsReadyRequeuingTimestamp(timestamp))))
	routine.DefaultWrapper = inline
	must(w.t, ctrl.NewControllerManagedBy(mgr).For(&batchv1.Job{}).Named("job-controller").
		Complete(jobController{mgr.GetClient()}))
	must(w.t, ctrl.NewControllerManagedBy(mgr).For(&kueue.Workload{}).Named("check-controller").
		Complete(checkController{mgr.GetClient()}))
	informer, err := mgr.GetCache().GetInformer(ctx, &kueue.Workload{})
	must(w.t, err)
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(before, after any) {
		w.record(ctx, before.(*kueue.Workload), after.(*kueue.Workload))
	}})
	must(w.t, err)
}

// jobController starts and stops the pods of Jobs, at once.
type jobController struct{ client client.Client }

func (c jobController) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	job := &batchv1.Job{}
	if err := c.client.Get(ctx, r.NamespacedName, job); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	pods := *job.Spec.Parallelism
	if *job.Spec.Suspend || len(job.Status.Conditions) > 0 {
		pods = 0
	}
	if job.Status.Active == pods {
		return ctrl.Result{}, nil
	}
	job.Status.Active, job.Status.Ready = pods, ptr.To(pods)
	job.Status.StartTime = nil
	if pods > 0 {
		job.Status.StartTime = ptr.To(metav1.Now())
	}
	return ctrl.Result{}, c.client.Status().Update(ctx, job)
}

// checkController passes the admission checks of every Workload that has quota, at once.
type checkController struct{ client client.Client }

func (c checkController) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	wl := &kueue.Workload{}
	if err := c.client.Get(ctx, r.NamespacedName, wl); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	pending := func(s kueue.AdmissionCheckState) bool { return s.State == kueue.CheckStatePending }
	if !workload.HasQuotaReservation(wl) || !slices.ContainsFunc(wl.Status.AdmissionChecks, pending) {
		return ctrl.Result{}, nil
	}
	for i := range wl.Status.AdmissionChecks {
		wl.Status.AdmissionChecks[i].State = kueue.CheckStateReady
		wl.Status.AdmissionChecks[i].LastTransitionTime = metav1.Now()
	}
	return ctrl.Result{}, c.client.Status().Update(ctx, wl)
}

// openingHours hides the heads of all queues while it is closed. Kueue looks at blocked
// heads a hundred times in each virtual second, which would cost hours.
type openingHours struct {
	cache *schdcache.Cache
	open  atomic.Bool
}

// ClusterQueueActive implements queue.StatusChecker.
func (h *openingHours) ClusterQueueActive(name kueue.ClusterQueueReference) bool {
	return h.open.Load() && h.cache.ClusterQueueActive(name)
}

// settle lets Kueue work for the first part of every second, until nothing was decided for
// two seconds: its requeuer waits for one. It ends after a minute, because Kueue can evict
// and admit a job without end.
func (w *whole) settle() {
	for quiet, seconds := 0, 0; quiet < 3 && seconds < 60; quiet, seconds = quiet+1, seconds+1 {
		before := w.count()
		w.hours.open.Store(true)
		w.queues.Broadcast()
		time.Sleep(150 * time.Millisecond)
		w.hours.open.Store(false)
		synctest.Wait()
		if w.count() > before {
			quiet = 0
		}
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	}
}

func (w *whole) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.decided
}

// apply makes the objects of the platform those of a scenario, as "kubectl apply" and the
// deletion of all others do, and waits until Kueue has seen each.
func (w *whole) apply(ctx context.Context, objects []json.RawMessage) {
	var wanted []client.Object
	for _, raw := range objects {
		kind, err := stage.KindOf(raw)
		must(w.t, err)
		if kind == "Configuration" || kind == "ProvisioningRequestConfig" {
			continue
		}
		o, _, err := serializer.NewCodecFactory(apis).UniversalDeserializer().Decode(raw, nil, nil)
		must(w.t, err)
		object := o.(client.Object)
		if n, ok := object.(*corev1.Namespace); ok {
			metav1.SetMetaDataLabel(&n.ObjectMeta, corev1.LabelMetadataName, n.Name)
		}
		wanted = append(wanted, object)
		w.put(ctx, object)
	}
	gone := slices.DeleteFunc(w.applied, func(o client.Object) bool {
		return slices.ContainsFunc(wanted, func(other client.Object) bool {
			return reflect.TypeOf(o) == reflect.TypeOf(other) &&
				client.ObjectKeyFromObject(o) == client.ObjectKeyFromObject(other)
		})
	})
	for _, o := range slices.Backward(gone) {
		must(w.t, w.server.Delete(ctx, o))
		synctest.Wait()
	}
	w.applied = wanted
}

// put creates or updates an object. A LocalQueue cannot get another ClusterQueue, and is
// created again.
func (w *whole) put(ctx context.Context, o client.Object) {
	stored := o.DeepCopyObject().(client.Object)
	err := w.server.Get(ctx, client.ObjectKeyFromObject(o), stored)
	must(w.t, client.IgnoreNotFound(err))
	if queue, ok := stored.(*kueue.LocalQueue); ok && err == nil &&
		queue.Spec.ClusterQueue != o.(*kueue.LocalQueue).Spec.ClusterQueue {
		must(w.t, w.server.Delete(ctx, stored))
		synctest.Wait()
		err = apierrors.NewNotFound(schema.GroupResource{}, o.GetName())
	}
	if err != nil {
		must(w.t, w.server.Create(ctx, o))
	} else {
		o.SetResourceVersion(stored.GetResourceVersion())
		o.SetUID(stored.GetUID())
		o.SetFinalizers(stored.GetFinalizers())
		o.SetCreationTimestamp(stored.GetCreationTimestamp())
		kinds, err := definitions()
		must(w.t, err)
		kind, err := apiutil.GVKForObject(o, apis)
		must(w.t, err)
		if d, ok := kinds[kind.Kind]; ok {
			must(w.t, applyDefaults(o, d.Schema))
		}
		must(w.t, w.server.Update(ctx, o))
	}
	synctest.Wait()
	if check, ok := o.(*kueue.AdmissionCheck); ok && err != nil {
		must(w.t, w.server.Get(ctx, client.ObjectKeyFromObject(check), check)) // with its finalizer
		meta.SetStatusCondition(&check.Status.Conditions, metav1.Condition{
			Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue, Reason: "Active",
		})
		must(w.t, w.server.Status().Update(ctx, check))
		synctest.Wait()
	}
}

// submit creates a Job.
func (w *whole) submit(ctx context.Context, i int) {
	job := &batchv1.Job{}
	must(w.t, json.Unmarshal(w.scenario.Templates[w.scenario.Jobs[i].Template].Object, job))
	job.Name = w.scenario.Jobs[i].Name
	must(w.t, w.server.Create(ctx, job))
}

// finish completes a Job, if the run has not ended before.
func (w *whole) finish(ctx context.Context, key client.ObjectKey, job, run int) {
	w.mu.Lock()
	ended := w.runs[job] != run || w.decisions[job][len(w.decisions[job])-1].Reason != ""
	w.mu.Unlock()
	if ended {
		return
	}
	o := &batchv1.Job{}
	must(w.t, w.server.Get(ctx, key, o))
	now := metav1.Now()
	o.Status.Active, o.Status.Ready, o.Status.Succeeded = 0, ptr.To[int32](0), *o.Spec.Completions
	o.Status.CompletionTime = &now
	for _, kind := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
		o.Status.Conditions = append(o.Status.Conditions, batchv1.JobCondition{
			Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now,
		})
	}
	must(w.t, w.server.Status().Update(ctx, o))
}

// record notes what Kueue has decided, and plans the end of an admitted job.
func (w *whole) record(ctx context.Context, before, after *kueue.Workload) {
	w.mu.Lock()
	defer w.mu.Unlock()
	job := jobNumber(after)
	at := int64(time.Since(w.start) / time.Second)
	if !workload.IsAdmitted(before) && workload.IsAdmitted(after) {
		w.runs[job]++
		run := w.runs[job]
		key := client.ObjectKey{Namespace: after.Namespace, Name: after.OwnerReferences[0].Name}
		w.agenda.plan(at+w.scenario.Jobs[job].Runs, func() { w.finish(ctx, key, job, run) })
		d := decision{At: at, Queue: string(after.Status.Admission.ClusterQueue)}
		var flavors []string
		for _, a := range after.Status.Admission.PodSetAssignments {
			flavors = append(flavors, string(a.Name)+"="+string(a.Flavors[corev1.ResourceCPU]))
		}
		d.Flavors = strings.Join(flavors, ",")
		w.add(job, d)
	}
	if !evict.IsEvicted(before) && evict.IsEvicted(after) {
		c := meta.FindStatusCondition(after.Status.Conditions, kueue.WorkloadEvicted)
		d := decision{At: at, Reason: c.Reason}
		if found := preemptorUID.FindStringSubmatch(c.Message); found != nil {
			d.PreemptedBy = found[1]
		}
		w.add(job, d)
	}
}

var preemptorUID = regexp.MustCompile(`\(UID: ([^,)]*)`)

func (w *whole) add(job int, d decision) {
	w.decisions[job] = append(w.decisions[job], d)
	w.decided++
}

// uid returns the UIDs that package runner gives. Kueue compares those of Workloads.
func (w *whole) uid(o client.Object) types.UID {
	if wl, ok := o.(*kueue.Workload); ok {
		return types.UID(fmt.Sprintf("%08x", jobNumber(wl)))
	}
	return types.UID(fmt.Sprintf("%T/%s/%s", o, o.GetNamespace(), o.GetName()))
}

// jobNumber returns the number in the name of a Workload's Job.
func jobNumber(wl *kueue.Workload) int {
	n, err := strconv.Atoi(strings.TrimPrefix(wl.OwnerReferences[0].Name, "job-"))
	if err != nil {
		panic(err)
	}
	return n
}

// wholeAgenda holds what will happen, by time.
type wholeAgenda []wholeItem

type wholeItem struct {
	at int64
	do func()
}

func (a wholeAgenda) Len() int           { return len(a) }
func (a wholeAgenda) Less(i, j int) bool { return a[i].at < a[j].at }
func (a wholeAgenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *wholeAgenda) Push(x any)        { *a = append(*a, x.(wholeItem)) }
func (a *wholeAgenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = slices.Delete(*a, len(*a)-1, len(*a))
	return last
}

func (a *wholeAgenda) plan(at int64, do func()) { heap.Push(a, wholeItem{at, do}) }

func (a *wholeAgenda) next() (wholeItem, bool) {
	if len(*a) == 0 {
		return wholeItem{}, false
	}
	return heap.Pop(a).(wholeItem), true
}
