package workload

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/batchwright/batchwright/compiler/ir"
)

// indexedJob returns a workload as an Indexed Job. Kubernetes replaces pods that
// fail and counts each as a retry, except pods that are evicted or lose their node.
// Their peers, which fail with them, do count.
//
// Kueue suspends the Job when it is created, and without Kueue the API server admits
// no Job (failurePolicy of Kueue's webhooks). A suspend field here would stop a
// running Job that is applied again. KAI Scheduler leaves the Job's pods pending
// instead.
func indexedJob(p *ir.Platform, w ir.Workload) any {
	j := &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"},
		ObjectMeta: queuedMeta(p, w),
		Spec:       jobSpec(w, w.Pods, batchv1.PodFailurePolicyActionIgnore),
	}
	j.Spec.BackoffLimit = new(int32(w.Retries))
	j.Spec.TTLSecondsAfterFinished = timeToLive(w)
	j.Spec.Template.Spec = podSpec(w, w.Name+"-0")
	if w.Port != 0 {
		j.Spec.Template.Spec.Subdomain = w.Name
	}
	return j
}

// jobSpec returns the common part of a Job and of the Jobs of a JobSet. pods is the
// number of pods of each Job. onDisruption is the action for a pod that is evicted
// or loses its node.
func jobSpec(w ir.Workload, pods int, onDisruption batchv1.PodFailurePolicyAction) batchv1.JobSpec {
	spec := batchv1.JobSpec{
		CompletionMode: new(batchv1.IndexedCompletion),
		Completions:    new(int32(pods)),
		Parallelism:    new(int32(pods)),
		PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action: onDisruption,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
				{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
			},
		}}},
	}
	spec.Template.Annotations = podAnnotations(w)
	spec.Template.Labels = podLabels(w)
	if w.MaxRunSeconds != 0 {
		spec.ActiveDeadlineSeconds = new(int64(w.MaxRunSeconds))
	}
	return spec
}

// timeToLive returns the number of seconds for which a Job or JobSet stays after its
// end, or nil if it stays until somebody deletes it.
func timeToLive(w ir.Workload) *int32 {
	if w.KeepSeconds == 0 {
		return nil
	}
	return new(int32(w.KeepSeconds))
}

// headlessService returns the headless Service through which the pods of a Job find
// each other by name, even before they are ready. It has the name of the Job.
func headlessService(p *ir.Platform, w ir.Workload) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Service"},
		ObjectMeta: objectMeta(p, w, w.Name),
		Spec: corev1.ServiceSpec{
			ClusterIP:                corev1.ClusterIPNone,
			PublishNotReadyAddresses: true,
			Selector:                 map[string]string{batchv1.JobNameLabel: w.Name},
			Ports: []corev1.ServicePort{
				{Name: "rendezvous", Port: int32(w.Port), TargetPort: intstr.FromInt32(int32(w.Port))},
			},
		},
	}
}
