package runner

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/stage"
	"github.com/batchwright/batchwright/rehearse/world"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	podresource "k8s.io/component-helpers/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/workload"
)

// template is a job as Kueue sees it.
type template struct {
	manifest rehearsal.Template
	world    *world.World // of the ClusterQueue
	queue    string       // ClusterQueue, "" if there is no such LocalQueue
	// workload is nil until construct.
	workload *kueue.Workload
	podSets  map[kueue.PodSetReference]stage.Amounts // requests of one pod
}

// construct maps the manifest to a Workload with Kueue's own code.
func (t *template) construct() error {
	wl, err := workloadFrom(t.world, t.manifest.Object)
	if err != nil {
		return fmt.Errorf("workload %s of team %s: %w", t.manifest.Name, t.manifest.Team, err)
	}
	localQueue := &kueue.LocalQueue{}
	key := types.NamespacedName{Namespace: wl.Namespace, Name: string(wl.Spec.QueueName)}
	if err := t.world.Client().Get(t.world.Context(), key, localQueue); client.IgnoreNotFound(err) != nil {
		return err
	}
	t.workload, t.queue = wl, string(localQueue.Spec.ClusterQueue)
	t.podSets = map[kueue.PodSetReference]stage.Amounts{}
	for _, set := range wl.Spec.PodSets {
		t.podSets[set.Name] = stage.AmountsOf(podresource.PodRequests(&corev1.Pod{Spec: set.Template.Spec},
			podresource.PodResourcesOptions{}))
	}
	return nil
}

// workloadFrom returns the Workload that Kueue makes of a manifest.
func workloadFrom(w *world.World, manifest json.RawMessage) (*kueue.Workload, error) {
	generic, err := world.ReadJob(manifest)
	if err != nil {
		return nil, err
	}
	object := generic.Object()
	object.SetUID("template")
	wl, err := jobframework.ConstructWorkload(w.Context(), w.Client(), generic, nil, nil)
	if err != nil {
		return nil, err
	}
	var priorityClass func() string
	if named, ok := generic.(jobframework.JobWithPriorityClass); ok {
		priorityClass = named.PriorityClass
	}
	if err := jobframework.PrepareWorkloadPriority(w.Context(), w.Client(), object, wl, priorityClass); err != nil {
		return nil, err
	}
	wl.Spec.Active = new(true)
	workload.AdjustResources(w.Context(), w.Client(), wl)
	return wl, nil
}

// workloadOf returns the Workload of a job. Its creation time and its UID decide the order
// of what is submitted, or admitted, in one second: Kueue compares both, and on a cluster
// both are as good as random. Here the number of the submission decides.
func (t *template) workloadOf(j rehearsal.Job, number, jobs int, start time.Time, reversed bool) *kueue.Workload {
	rank := number
	if reversed {
		rank = jobs - number
	}
	wl := t.workload.DeepCopy()
	wl.Name = j.Name
	wl.UID = types.UID(fmt.Sprintf("%08x", rank))
	created := start.Add(time.Duration(j.At)*time.Second + time.Duration(rank))
	wl.CreationTimestamp = metav1.NewTime(created)
	return wl
}
