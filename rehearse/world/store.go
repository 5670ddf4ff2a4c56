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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/constants"
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
	fixed  map[string]client.Object // all objects but Workloads, by type and name

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

func newStore(scheme *runtime.Scheme, objects []client.Object) *store {
	s := &store{scheme: scheme, fixed: map[string]client.Object{}, workloads: map[types.NamespacedName]*stored{}}
	for _, o := range objects {
		s.fixed[fixedKey(o, client.ObjectKeyFromObject(o))] = o
	}
	return s
}

func fixedKey(o client.Object, key client.ObjectKey) string {
	return reflect.TypeOf(o).String() + " " + key.String()
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
	found, ok := s.fixed[fixedKey(into, key)]
	if !ok {
		return notFound(reflect.TypeOf(into).Elem().Name(), key)
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(found).Elem())
	return nil
}

func notFound(resource string, key client.ObjectKey) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: resource}, key.String())
}

// List implements client.Reader. Kueue lists its own objects only when a queue appears,
// to find what was there before; nothing was.
func (s *store) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch into := list.(type) {
	case *corev1.LimitRangeList, *kueue.LocalQueueList, *kueue.WorkloadList:
		return nil
	case *schedulingv1.PriorityClassList:
		for _, o := range s.fixed {
			if c, ok := o.(*schedulingv1.PriorityClass); ok {
				into.Items = append(into.Items, *c)
			}
		}
		return nil
	}
	return fmt.Errorf("a rehearsal cannot list %T", list)
}

// Status implements client.StatusClient.
func (s *store) Status() client.SubResourceWriter { return statusWriter{s: s} }

// statusWriter writes the status of Workloads. It embeds a nil writer, as store does.
type statusWriter struct {
	client.SubResourceWriter
	s *store
}

// Update replaces the whole status.
func (w statusWriter) Update(_ context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	sent, ok := o.(*kueue.Workload)
	if !ok {
		return fmt.Errorf("a rehearsal cannot update %T", o)
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
	return slices.SortedFunc(maps.Keys(s.workloads), func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
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
