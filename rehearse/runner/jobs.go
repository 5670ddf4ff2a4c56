package runner

import (
	"fmt"
	"time"

	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/stage"
	"github.com/batchwright/batchwright/rehearse/world"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	podresource "k8s.io/component-helpers/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/workload"
)

// template is a job as Kueue sees it.
type template struct {
	workload *kueue.Workload
	queue    string                                  // ClusterQueue
	world    *world.World                            // of the ClusterQueue
	podSets  map[kueue.PodSetReference]stage.Amounts // requests of one pod
}

// newTemplate maps a manifest to a Workload with Kueue's own code.
func newTemplate(w *world.World, t rehearsal.Template) (*template, error) {
	generic, err := world.ReadJob(t.Object)
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
	out := &template{workload: wl, world: w, podSets: map[kueue.PodSetReference]stage.Amounts{}}
	for _, set := range wl.Spec.PodSets {
		out.podSets[set.Name] = stage.AmountsOf(podresource.PodRequests(&corev1.Pod{Spec: set.Template.Spec},
			podresource.PodResourcesOptions{}))
	}
	return out, nil
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
