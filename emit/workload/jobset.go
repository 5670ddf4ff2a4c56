package workload

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/batchwright/batchwright/compiler/ir"
)

// replicatedJob is the name of a JobSet's only replicated job.
const replicatedJob = "worker"

// jobSet is a workload as a JobSet of one Job, or of one for each TPU slice,
// which Kueue suspends as it does a Job. A pod that fails restarts all of them,
// which counts as a retry. That of a pod which was evicted or lost its node does
// not, if the Job learns of it before a peer fails as well: a peer's failure
// looks like any other.
func jobSet(p *ir.Platform, w ir.Workload) *v1alpha2.JobSet {
	replicas := max(1, w.Slices)
	spec := jobSpec(w, w.Pods/replicas, batchv1.PodFailurePolicyActionFailJob)
	// The JobSet starts all pods anew: a Job that replaced one of them would
	// leave the others waiting for it.
	spec.BackoffLimit = new(int32(0))
	spec.Template.Labels = podLabels(w)
	spec.Template.Spec = podSpec(w, w.Name+"-"+replicatedJob+"-0-0")
	j := &v1alpha2.JobSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha2.SchemeGroupVersion.String(), Kind: "JobSet"},
		ObjectMeta: queuedMeta(p, w),
		Spec: v1alpha2.JobSetSpec{
			// The JobSet's own headless Service is named like the JobSet. GKE
			// tells the hosts of a slice each other's names by it (GKE
			// documentation: "Deploy TPU workloads in GKE Standard").
			Network: &v1alpha2.Network{EnableDNSHostnames: new(w.Port != 0 || w.Slices > 0)},
			FailurePolicy: &v1alpha2.FailurePolicy{
				MaxRestarts: int32(w.Retries),
				Rules: []v1alpha2.FailurePolicyRule{{
					Name:                "disruption",
					Action:              v1alpha2.RestartJobSetAndIgnoreMaxRestarts,
					OnJobFailureReasons: []string{batchv1.JobReasonPodFailurePolicy},
				}},
			},
			ReplicatedJobs: []v1alpha2.ReplicatedJob{{
				Name:     replicatedJob,
				Replicas: int32(replicas),
				Template: batchv1.JobTemplateSpec{Spec: spec},
			}},
		},
	}
	if w.Slices > 0 {
		// One Job to a slice, which is a node pool: its pods would otherwise
		// spread over several, and the chips of none would find each other.
		metav1.SetMetaDataAnnotation(&j.ObjectMeta, v1alpha2.ExclusiveKey, ir.LabelNodePool)
	}
	return j
}
