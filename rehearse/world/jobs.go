package world

import (
	"encoding/json"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	jobsetapi "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	batchjob "sigs.k8s.io/kueue/pkg/controller/jobs/job"
	"sigs.k8s.io/kueue/pkg/controller/jobs/jobset"
)

// ReadJob decodes a manifest of a job, with the defaults of its API.
func ReadJob(raw json.RawMessage) (jobframework.GenericJob, error) {
	var kind metav1.TypeMeta
	if err := json.Unmarshal(raw, &kind); err != nil {
		return nil, err
	}
	switch kind.Kind {
	case "Job":
		o := &batchv1.Job{}
		if err := Strict(raw, o); err != nil {
			return nil, err
		}
		one := int32(1)
		if o.Spec.Completions == nil && o.Spec.Parallelism == nil {
			o.Spec.Completions = &one
		}
		if o.Spec.Parallelism == nil {
			o.Spec.Parallelism = &one
		}
		return (*batchjob.Job)(o), nil
	case "JobSet":
		o := &jobsetapi.JobSet{}
		if err := Strict(raw, o); err != nil {
			return nil, err
		}
		for i := range o.Spec.ReplicatedJobs {
			if o.Spec.ReplicatedJobs[i].Replicas == 0 {
				o.Spec.ReplicatedJobs[i].Replicas = 1
			}
		}
		return (*jobset.JobSet)(o), nil
	}
	return nil, fmt.Errorf("a rehearsal cannot play jobs of kind %q", kind.Kind)
}
