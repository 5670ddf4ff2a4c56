package workload

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
)

// jobSet returns a workload as a JobSet with one Job, or with one Job for each TPU
// slice. Kueue suspends the JobSet as it does a Job. A pod that fails restarts all
// pods, which counts as a retry. A pod that is evicted or loses its node does not
// count, if the Job learns of it before a peer fails: the failure of a peer looks
// like any other.
func jobSet(p *ir.Platform, w ir.Workload) any {
	main := mainJob(w)
	j := &jobSetObject{
		TypeMeta:   metav1.TypeMeta{APIVersion: jobSetVersion, Kind: "JobSet"},
		ObjectMeta: queuedMeta(p, w),
		Spec: jobSetSpec{
			// JobSet gives its own headless Service the name of the JobSet. GKE uses
			// the Service to tell the hosts of a slice each other's names (GKE
			// documentation: "Deploy TPU workloads in GKE Standard").
			Network: &jobSetNetwork{EnableDNSHostnames: w.Port != 0 || w.Slices > 0},
			FailurePolicy: &failurePolicy{
				MaxRestarts: int32(w.Retries),
				Rules: []failurePolicyRule{{
					Name:                "disruption",
					Action:              "RestartJobSetAndIgnoreMaxRestarts",
					OnJobFailureReasons: []string{batchv1.JobReasonPodFailurePolicy},
				}},
			},
			ReplicatedJobs:          []replicatedJob{main},
			TTLSecondsAfterFinished: timeToLive(w),
		},
	}
	for _, a := range w.Auxiliaries {
		j.Spec.ReplicatedJobs = append(j.Spec.ReplicatedJobs, auxiliaryJob(w, a))
	}
	if len(w.Auxiliaries) > 0 {
		// Pods of auxiliaries may run for ever: JobSet ends them when the workload's
		// own pods end.
		j.Spec.SuccessPolicy = &successPolicy{
			Operator: "All", TargetReplicatedJobs: []string{main.Name},
		}
	}
	return j
}

// mainJob returns the Job that runs a workload's own pods.
func mainJob(w ir.Workload) replicatedJob {
	replicas := max(1, w.Slices)
	spec := jobSpec(w, w.Pods/replicas, batchv1.PodFailurePolicyActionFailJob)
	// The JobSet restarts all pods: if a Job replaced one of them, the others would
	// wait for it.
	spec.BackoffLimit = new(int32(0))
	spec.Template.Spec = podSpec(w, w.Name+"-"+w.ReplicatedJob()+"-0-0")
	out := replicatedJob{
		Name: w.ReplicatedJob(), Replicas: int32(replicas), Template: batchv1.JobTemplateSpec{Spec: spec},
	}
	if w.Slices > 0 {
		// Each Job runs on one slice, which is a node pool. Otherwise its pods would
		// spread over several pools, and no slice would have all its chips
		// connected. On the JobSet the annotation would also apply to auxiliaries,
		// and keep auxiliaries of different workloads off each other's pool.
		metav1.SetMetaDataAnnotation(&out.Template.ObjectMeta, exclusiveKey, ir.LabelNodePool)
	}
	return out
}

// auxiliaryJob returns the Job that runs a pod beside a workload. The Job replaces a
// failed pod as often as the workload may retry, and always replaces a pod that was
// evicted or lost its node, without restarting the workload's own pods. If the
// retries are used up, the failure is the JobSet's: it restarts, and fails when its
// own retries are used up.
func auxiliaryJob(w ir.Workload, a ir.Auxiliary) replicatedJob {
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
	return replicatedJob{Name: a.Name, Replicas: 1, Template: batchv1.JobTemplateSpec{Spec: spec}}
}
