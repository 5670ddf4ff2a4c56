package world

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/constants"
	"sigs.k8s.io/kueue/pkg/controller/core/indexer"
)

// store plays the API server for Kueue's code: it holds the Workloads, and the few
// other objects that the code reads. It embeds a nil Client, so that a call that no
// one has thought of fails loudly.
//
// A stored object is never changed in place. Get may therefore return it without a
// deep copy.
type store struct {
	client.Client
	scheme *runtime.Scheme
	// objects are all objects but Workloads, by type. Only the goroutine of the World
	// changes them.
	objects map[reflect.Type]map[client.ObjectKey]client.Object

	mu        sync.Mutex // Kueue writes evictions from several goroutines
	workloads map[types.NamespacedName]*stored
	written   []change // since the last call of take
	version   int64
}

// stored is a Workload with the field manager that owns each of its conditions.
type stored struct {
	object *kueue.Workload
	owner  map[string]string // by type of the condition
}

// change is a write that the watch has not told yet.
type change struct{ before, after *kueue.Workload }

func newStore(scheme *runtime.Scheme) *store {
	return &store{
		scheme: scheme, objects: map[reflect.Type]map[client.ObjectKey]client.Object{},
		workloads: map[types.NamespacedName]*stored{},
	}
}

// put stores an object that is no Workload.
func (s *store) put(o client.Object) {
	kind := reflect.TypeOf(o)
	if s.objects[kind] == nil {
		s.objects[kind] = map[client.ObjectKey]client.Object{}
	}
	s.objects[kind][client.ObjectKeyFromObject(o)] = o
}

// find returns the stored object with the type and the name of o, nil if there is none.
func (s *store) find(o client.Object) client.Object {
	return s.objects[reflect.TypeOf(o)][client.ObjectKeyFromObject(o)]
}

// drop removes an object that is no Workload.
func (s *store) drop(o client.Object) {
	delete(s.objects[reflect.TypeOf(o)], client.ObjectKeyFromObject(o))
}

// Update implements client.Writer for the finalizers that Kueue's controllers remove.
func (s *store) Update(_ context.Context, o client.Object, _ ...client.UpdateOption) error {
	if o.GetDeletionTimestamp() == nil || len(o.GetFinalizers()) > 0 {
		return fmt.Errorf("a rehearsal cannot update %T", o)
	}
	s.drop(o)
	return nil
}

func (s *store) Scheme() *runtime.Scheme { return s.scheme }

// Get implements client.Reader.
func (s *store) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if w, ok := into.(*kueue.Workload); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		found, ok := s.workloads[key]
		if !ok {
			return notFound("workloads", key)
		}
		*w = *found.object
		return nil
	}
	found, ok := s.objects[reflect.TypeOf(into)][key]
	if !ok {
		return notFound(reflect.TypeOf(into).Elem().Name(), key)
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(found).Elem())
	return nil
}

func notFound(resource string, key client.ObjectKey) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: resource}, key.String())
}

// List implements client.Reader.
func (s *store) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	options := client.ListOptions{}
	options.ApplyOptions(opts)
	switch into := list.(type) {
	case *corev1.LimitRangeList:
	case *kueue.LocalQueueList:
		into.Items = listStored(s, options, into.Items)
	case *schedulingv1.PriorityClassList:
		into.Items = listStored(s, options, into.Items)
	case *kueue.WorkloadList:
		for _, key := range s.keys() {
			if w := s.workload(key); w != nil && selects(options, w) {
				into.Items = append(into.Items, *w)
			}
		}
	default:
		return fmt.Errorf("a rehearsal cannot list %T", list)
	}
	return nil
}

// listStored adds the selected objects of a type to items, by name.
func listStored[T any, P interface {
	*T
	client.Object
}](s *store, options client.ListOptions, items []T) []T {
	stored := s.objects[reflect.TypeFor[P]()]
	for _, key := range slices.SortedFunc(maps.Keys(stored), compareKeys) {
		if o := stored[key].(P); selects(options, o) {
			items = append(items, *o)
		}
	}
	return items
}

// indexOf returns the values of an object for a field by which Kueue lists objects, nil for
// another field.
func indexOf(field string) client.IndexerFunc {
	switch field {
	case indexer.QueueClusterQueueKey:
		return indexer.IndexQueueClusterQueue
	case indexer.WorkloadQueueKey:
		return indexer.IndexWorkloadQueue
	case indexer.WorkloadClusterQueueKey:
		return indexer.IndexWorkloadClusterQueue
	}
	return nil
}

// selects reports whether options select an object. A field without an index selects nothing.
func selects(options client.ListOptions, o client.Object) bool {
	if options.Namespace != "" && options.Namespace != o.GetNamespace() {
		return false
	}
	if options.FieldSelector == nil {
		return true
	}
	return !slices.ContainsFunc(options.FieldSelector.Requirements(), func(r fields.Requirement) bool {
		index := indexOf(r.Field)
		return index == nil || !slices.Contains(index(o), r.Value)
	})
}

// Status implements client.StatusClient.
func (s *store) Status() client.SubResourceWriter { return statusWriter{s: s} }

// statusWriter writes the status of objects. It embeds a nil writer, as store does.
type statusWriter struct {
	client.SubResourceWriter
	s *store
}

// Update replaces the whole status.
func (w statusWriter) Update(_ context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	sent, ok := o.(*kueue.Workload)
	if !ok {
		if !equality.Semantic.DeepEqual(w.s.find(o), o) { // otherwise an API server tells no watch
			w.s.put(o.DeepCopyObject().(client.Object))
		}
		return nil
	}
	return w.s.write(sent, func(_ *stored, status *kueue.WorkloadStatus) {
		sent.Status.DeepCopyInto(status)
	})
}

// Patch is server-side apply of a status. The manager that applies owns what it sends: what
// it sent before and does not send any more is dropped. A manager of its own sends the
// reclaimable pods, and nothing else.
func (w statusWriter) Patch(
	_ context.Context, o client.Object, patch client.Patch, opts ...client.SubResourcePatchOption,
) error {
	sent, ok := o.(*kueue.Workload)
	if !ok || patch.Type() != types.ApplyPatchType {
		return fmt.Errorf("a rehearsal cannot patch %T with %s", o, patch.Type())
	}
	options := client.SubResourcePatchOptions{}
	options.ApplyOptions(opts)
	return w.s.write(sent, func(entry *stored, status *kueue.WorkloadStatus) {
		if options.FieldManager == constants.ReclaimablePodsMgr {
			status.ReclaimablePods = slices.Clone(sent.Status.ReclaimablePods)
			return
		}
		conditions, reclaimable := status.Conditions, status.ReclaimablePods
		sent.Status.DeepCopyInto(status)
		status.ReclaimablePods = reclaimable
		status.Conditions = entry.merge(conditions, sent.Status.Conditions, options.FieldManager)
	})
}

// merge returns the conditions after a manager has applied some.
func (e *stored) merge(old, sent []metav1.Condition, manager string) []metav1.Condition {
	var out []metav1.Condition
	for _, c := range old {
		if e.owner[c.Type] != manager || meta.FindStatusCondition(sent, c.Type) != nil {
			out = append(out, c)
		}
	}
	for _, c := range sent {
		e.owner[c.Type] = manager
		if known := meta.FindStatusCondition(out, c.Type); known != nil {
			*known = c
		} else {
			out = append(out, c)
		}
	}
	return out
}

// write stores a Workload whose status set changes, as JSON would: times lose their
// fractions of a second. It then gives the object its new version, and refuses an old one.
func (s *store) write(sent *kueue.Workload, set func(*stored, *kueue.WorkloadStatus)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry, ok := s.workloads[client.ObjectKeyFromObject(sent)]
	if !ok {
		return notFound("workloads", client.ObjectKeyFromObject(sent))
	}
	before := entry.object
	if sent.ResourceVersion != "" && sent.ResourceVersion != before.ResourceVersion {
		return apierrors.NewConflict(schema.GroupResource{Resource: "workloads"}, sent.Name,
			fmt.Errorf("version %s, not %s", before.ResourceVersion, sent.ResourceVersion))
	}
	after := before.DeepCopy()
	set(entry, &after.Status)
	truncateTimes(&after.Status)
	breakTie(after)
	if !equality.Semantic.DeepEqual(before.Status, after.Status) {
		s.store(entry, after)
	}
	entry.object.DeepCopyInto(sent)
	return nil
}

// store replaces an object and notes the change for the watch. The lock is held.
func (s *store) store(entry *stored, after *kueue.Workload) {
	s.version++
	after.ResourceVersion = strconv.FormatInt(s.version, 10)
	s.written = append(s.written, change{entry.object, after})
	entry.object = after
}

func truncateTimes(status *kueue.WorkloadStatus) {
	truncate := func(t *metav1.Time) { t.Time = t.Truncate(time.Second) }
	for i := range status.Conditions {
		truncate(&status.Conditions[i].LastTransitionTime)
	}
	for i := range status.AdmissionChecks {
		truncate(&status.AdmissionChecks[i].LastTransitionTime)
	}
	if state := status.RequeueState; state != nil && state.RequeueAt != nil {
		state.RequeueAt = &metav1.Time{Time: state.RequeueAt.Truncate(time.Second)}
	}
}

// breakTie gives the time of an eviction the fraction of a second that the creation has.
// Kueue orders jobs that are evicted because their pods do not run by this time. On a
// cluster the order of those evicted in one second is as good as random; here it is that
// of their creation.
func breakTie(w *kueue.Workload) {
	if c := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted); c != nil {
		fraction := time.Duration(w.CreationTimestamp.Nanosecond())
		c.LastTransitionTime = metav1.NewTime(c.LastTransitionTime.Add(fraction))
	}
}

// create adds a Workload.
func (s *store) create(w *kueue.Workload) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	w.ResourceVersion = strconv.FormatInt(s.version, 10)
	s.workloads[client.ObjectKeyFromObject(w)] = &stored{object: w, owner: map[string]string{}}
}

// keys returns the names of all Workloads, sorted.
func (s *store) keys() []types.NamespacedName {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Keys(s.workloads), compareKeys)
}

func compareKeys(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// workload returns a Workload, or nil if it does not exist.
func (s *store) workload(key types.NamespacedName) *kueue.Workload {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found, ok := s.workloads[key]; ok {
		return found.object
	}
	return nil
}

// remove deletes a Workload and returns it, or nil if there is none.
func (s *store) remove(key types.NamespacedName) *kueue.Workload {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry, ok := s.workloads[key]
	if !ok {
		return nil
	}
	delete(s.workloads, key)
	return entry.object
}

// take returns the changes since the last call, in the order in which they were written.
func (s *store) take() []change {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.written
	s.written = nil
	return out
}
