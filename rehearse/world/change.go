package world

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/controller/core"
)

// controller is one of Kueue's controllers.
type controller interface {
	reconcile.Reconciler
	// told handles what the watch tells: an object before and after a change. before is nil
	// for a new object, and after for one that is gone.
	told(before, after client.Object)
}

// controllerOf is a controller of objects of one type. Kueue tells its caches what changes in
// the predicate of the watch.
type controllerOf[T client.Object] struct {
	reconcile.Reconciler
	watch predicate.TypedPredicate[T]
}

func (c controllerOf[T]) told(before, after client.Object) {
	switch {
	case before == nil:
		c.watch.Create(event.TypedCreateEvent[T]{Object: after.(T)})
	case after == nil:
		c.watch.Delete(event.TypedDeleteEvent[T]{Object: before.(T)})
	default:
		c.watch.Update(event.TypedUpdateEvent[T]{ObjectOld: before.(T), ObjectNew: after.(T)})
	}
}

// controllersOf returns the controllers that core.SetupControllers sets up, without that of
// Workloads. They do not call each other: Apply does.
func controllersOf(
	c client.Client, queues *qcache.Manager, cache *schdcache.Cache, settings *config.Configuration,
) map[reflect.Type]controller {
	shares := fairSharing(settings) != nil
	flavors := core.NewResourceFlavorReconciler(c, queues, cache, nil)
	checks := core.NewAdmissionCheckReconciler(c, queues, cache, nil)
	cohorts := core.NewCohortReconciler(c, cache, queues, core.CohortReconcilerWithFairSharing(shares))
	clusterQueues := core.NewClusterQueueReconciler(c, queues, cache, core.WithFairSharing(shares))
	localQueues := core.NewLocalQueueReconciler(c, queues, cache,
		core.WithAdmissionFairSharingConfig(usage(settings)))
	return map[reflect.Type]controller{
		reflect.TypeFor[*kueue.ResourceFlavor](): controllerOf[*kueue.ResourceFlavor]{flavors, flavors},
		reflect.TypeFor[*kueue.AdmissionCheck](): controllerOf[*kueue.AdmissionCheck]{checks, checks},
		reflect.TypeFor[*kueue.Cohort]():         controllerOf[*kueue.Cohort]{cohorts, cohorts},
		reflect.TypeFor[*kueue.ClusterQueue]():   controllerOf[*kueue.ClusterQueue]{clusterQueues, clusterQueues},
		reflect.TypeFor[*kueue.LocalQueue]():     controllerOf[*kueue.LocalQueue]{localQueues, localQueues},
	}
}

// Apply makes the objects of the cluster those of c: it creates and updates them, and then
// deletes all others, as "kubectl apply" and a deletion do. Workloads stay. A ClusterQueue
// that has Workloads with quota stays until they have none, and so does what it uses.
//
// Kueue's controllers see each object, then reconcile all of them. Call Retry RetryAfter
// later.
func (w *World) Apply(c *Cluster) error {
	w.unsettled = true
	w.flavors = mostFlavors(c.ClusterQueues)
	objects := c.all()
	wanted := map[reflect.Type]map[client.ObjectKey]bool{}
	for _, o := range objects {
		if wanted[reflect.TypeOf(o)] == nil {
			wanted[reflect.TypeOf(o)] = map[client.ObjectKey]bool{}
		}
		wanted[reflect.TypeOf(o)][client.ObjectKeyFromObject(o)] = true
		if err := w.put(o); err != nil {
			return err
		}
	}
	for _, o := range slices.Backward(w.applied) {
		if !wanted[reflect.TypeOf(o)][client.ObjectKeyFromObject(o)] {
			if err := w.delete(o); err != nil {
				return err
			}
		}
	}
	w.applied = objects
	for _, o := range objects {
		if err := w.reconcile(o); err != nil {
			return err
		}
	}
	for _, key := range w.store.keys() {
		if err := w.Reconcile(key); err != nil {
			return err
		}
	}
	return nil
}

// put creates or updates an object. An update keeps the status.
func (w *World) put(o client.Object) error {
	before := w.store.find(o)
	if before == nil {
		w.store.put(o)
		return w.tellObject(nil, o)
	}
	after := o.DeepCopyObject().(client.Object)
	if status := reflect.ValueOf(after).Elem().FieldByName("Status"); status.IsValid() {
		status.Set(reflect.ValueOf(before).Elem().FieldByName("Status"))
	}
	after.SetFinalizers(before.GetFinalizers())
	switch {
	case equality.Semantic.DeepEqual(before, after):
		return nil
	case before.GetDeletionTimestamp() != nil:
		return fmt.Errorf("%s is still being deleted when it comes back", title(o))
	case isReplaced(before, after):
		if err := w.delete(before); err != nil {
			return err
		}
		before = nil
	}
	w.store.put(after)
	return w.tellObject(before, after)
}

// isReplaced reports whether the API server refuses a change of an object, so that the object
// must be deleted and created again.
func isReplaced(before, after client.Object) bool {
	was, ok := before.(*kueue.LocalQueue)
	return ok && was.Spec.ClusterQueue != after.(*kueue.LocalQueue).Spec.ClusterQueue
}

// delete deletes an object. One that Kueue protects goes when nothing uses it any more.
func (w *World) delete(o client.Object) error {
	before := w.store.find(o)
	if before == nil || before.GetDeletionTimestamp() != nil {
		return nil
	}
	if !isProtected(before) {
		w.store.drop(before)
		return w.tellObject(before, nil)
	}
	after := before.DeepCopyObject().(client.Object)
	now := metav1.Now()
	after.SetDeletionTimestamp(&now)
	w.store.put(after)
	w.terminating = append(w.terminating, after)
	if err := w.tellObject(before, after); err != nil {
		return err
	}
	return w.finalize()
}

// finalize lets go of the objects that are being deleted, as far as nothing uses them any more.
func (w *World) finalize() error {
	for again := true; again; {
		left := len(w.terminating)
		for _, o := range w.terminating {
			if err := w.reconcile(o); err != nil {
				return err
			}
		}
		w.terminating = slices.DeleteFunc(w.terminating, func(o client.Object) bool { return w.store.find(o) == nil })
		again = len(w.terminating) < left
		w.unsettled = w.unsettled || again
	}
	return nil
}

// tellObject tells Kueue of a change of an object, as a watch does. before is nil for a new
// object, and after for one that is gone.
func (w *World) tellObject(before, after client.Object) error {
	o := after
	if after == nil {
		o = before
	}
	controller := w.controllers[reflect.TypeOf(o)]
	switch {
	case controller != nil:
		controller.told(before, after)
		return w.reconcile(o)
	case before == nil || after == nil:
		return nil
	}
	switch was := before.(type) {
	case *corev1.Namespace:
		// The handler of Namespaces in Kueue's controller of ClusterQueues.
		qcache.NotifyRetryInadmissible(w.queues,
			w.cache.MatchingClusterQueues(after.GetLabels()).Difference(w.cache.MatchingClusterQueues(was.Labels)))
	case *kueue.WorkloadPriorityClass:
		if was.Value != after.(*kueue.WorkloadPriorityClass).Value {
			return fmt.Errorf("a rehearsal cannot play another value of WorkloadPriorityClass %s", was.Name)
		}
	}
	return nil
}

// reconcile lets Kueue's controller of an object work until the object does not change any
// more. The controller may write into the copy that it gets.
func (w *World) reconcile(o client.Object) error {
	controller := w.controllers[reflect.TypeOf(o)]
	if controller == nil {
		return nil
	}
	request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(o)}
	for {
		before := w.store.find(o)
		var copied client.Object
		if before != nil {
			copied = before.DeepCopyObject().(client.Object)
			w.store.put(copied)
		}
		if _, err := controller.Reconcile(w.ctx, request); err != nil {
			return fmt.Errorf("%s: %w", title(o), err)
		}
		after := w.store.find(o)
		if after == copied {
			if before != nil {
				w.store.put(before)
			}
			return nil
		}
		if after == nil || isActive(before) != isActive(after) {
			controller.told(before, after)
		}
		if after != nil && equality.Semantic.DeepEqual(copied, after) {
			return nil // Kueue wrote what was there
		}
	}
}

// title returns the kind and the name of an object.
func title(o client.Object) string {
	return reflect.TypeOf(o).Elem().Name() + " " + strings.TrimPrefix(client.ObjectKeyFromObject(o).String(), "/")
}

// isActive reports whether the status says that a ClusterQueue is active. Kueue reads nothing
// else of a status that its controllers write, which mostly count jobs.
func isActive(o client.Object) bool {
	q, ok := o.(*kueue.ClusterQueue)
	return ok && meta.IsStatusConditionTrue(q.Status.Conditions, kueue.ClusterQueueActive)
}
