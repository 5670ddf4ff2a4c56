package workload

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/batchwright/batchwright/compiler/ir"
)

// jobSet is a workload as a JobSet of one Job, or of one for each TPU slice,
// which Kueue suspends as it does a Job. A pod that fails restarts all of them,
// which counts as a retry. That of a pod which was evicted or lost its node does
// not, if the Job learns of it before a peer fails as well: a peer's failure
// looks like any other.
func jobSet(p *ir.Platform, w ir.Workload) *v1alpha2.JobSet {
	main := mainJob(w)
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
			ReplicatedJobs: []v1alpha2.ReplicatedJob{main},
		},
	}
	for _, a := range w.Auxiliaries {
		j.Spec.ReplicatedJobs = append(j.Spec.ReplicatedJobs, auxiliary(w, a))
	}
	if len(w.Auxiliaries) > 0 {
		// Their pods may run for ever: JobSet ends them with the workload's own.
		j.Spec.SuccessPolicy = &v1alpha2.SuccessPolicy{
			Operator: v1alpha2.OperatorAll, TargetReplicatedJobs: []string{main.Name},
		}
	}
	return j
}

// mainJob runs a workload's own pods.
func mainJob(w ir.Workload) v1alpha2.ReplicatedJob {
	replicas := max(1, w.Slices)
	spec := jobSpec(w, w.Pods/replicas, batchv1.PodFailurePolicyActionFailJob)
	// The JobSet starts all pods anew: a Job that replaced one of them would
	// leave the others waiting for it.
	spec.BackoffLimit = new(int32(0))
	spec.Template.Spec = podSpec(w, w.Name+"-"+w.ReplicatedJob()+"-0-0")
	out := v1alpha2.ReplicatedJob{
		Name: w.ReplicatedJob(), Replicas: int32(replicas), Template: batchv1.JobTemplateSpec{Spec: spec},
	}
	if w.Slices > 0 {
		// One Job to a slice, which is a node pool: its pods would otherwise
		// spread over several, and the chips of none would find each other. On
		// the JobSet the annotation would hold for auxiliaries as well, and keep
		// those of different workloads off each other's pool.
		metav1.SetMetaDataAnnotation(&out.Template.ObjectMeta, v1alpha2.ExclusiveKey, ir.LabelNodePool)
	}
	return out
}

// auxiliary runs a pod beside a workload's. Its Job replaces a pod that fails as
// often as the workload may, and one that was evicted or lost its node always,
// without a restart of the workload's own pods. After that the failure is the
// JobSet's: it restarts, and in the end has failed.
func auxiliary(w ir.Workload, a ir.Auxiliary) v1alpha2.ReplicatedJob {
	beside := ir.Workload{
		Name: w.Name, Namespace: w.Namespace, KubeAccount: w.KubeAccount, PriorityClass: w.PriorityClass,
		Queueing: w.Queueing,
		Requests: a.Requests, Image: a.Image, Command: a.Command, Env: a.Env,
		Bucket: w.Bucket, TensorBoard: w.TensorBoard, Files: w.Files, ConfigMap: w.ConfigMap,
		NodeSelector: a.NodeSelector, Tolerations: a.Tolerations, MaxRunSeconds: w.MaxRunSeconds,
		GraceSeconds: a.GraceSeconds,
	}
	spec := jobSpec(beside, 1, batchv1.PodFailurePolicyActionIgnore)
	spec.BackoffLimit = new(int32(w.Retries))
	spec.Template.Spec = podSpec(beside, "")
	return v1alpha2.ReplicatedJob{Name: a.Name, Replicas: 1, Template: batchv1.JobTemplateSpec{Spec: spec}}
}
