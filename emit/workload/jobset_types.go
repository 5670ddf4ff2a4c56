package workload

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The types below are the emitted part of JobSet's API. Its own package would add 38 packages
// to the compiler, for the descriptions in OpenAPI that its types bring with them. golden/check
// decodes every golden JobSet into JobSet's own types, without unknown fields.
//
// Source: JobSet v0.12.0, api/jobset/v1alpha2/jobset_types.go.

// The names by which JobSet knows its API, the annotation that places each Job on a topology
// domain of its own, and the label with the index of a Job within its replicated job.
const (
	jobSetVersion = "jobset.x-k8s.io/v1alpha2"
	exclusiveKey  = "alpha.jobset.sigs.k8s.io/exclusive-topology"
	jobIndexKey   = "jobset.sigs.k8s.io/job-index"
)

type jobSetObject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              jobSetSpec `json:"spec"`
}

type jobSetSpec struct {
	ReplicatedJobs          []replicatedJob `json:"replicatedJobs"`
	Network                 *jobSetNetwork  `json:"network,omitempty"`
	SuccessPolicy           *successPolicy  `json:"successPolicy,omitempty"`
	FailurePolicy           *failurePolicy  `json:"failurePolicy,omitempty"`
	TTLSecondsAfterFinished *int32          `json:"ttlSecondsAfterFinished,omitempty"`
}

type replicatedJob struct {
	Name     string                  `json:"name"`
	Template batchv1.JobTemplateSpec `json:"template"`
	Replicas int32                   `json:"replicas"`
}

type jobSetNetwork struct {
	EnableDNSHostnames bool `json:"enableDNSHostnames"`
}

type successPolicy struct {
	Operator             string   `json:"operator"`
	TargetReplicatedJobs []string `json:"targetReplicatedJobs"`
}

type failurePolicy struct {
	MaxRestarts int32               `json:"maxRestarts,omitempty"`
	Rules       []failurePolicyRule `json:"rules"`
}

type failurePolicyRule struct {
	Name                string   `json:"name"`
	Action              string   `json:"action"`
	OnJobFailureReasons []string `json:"onJobFailureReasons"`
}
