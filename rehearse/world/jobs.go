package world

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/batchwright/batchwright/rehearse/stage"
	batchv1 "k8s.io/api/batch/v1"
	jobsetapi "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	batchjob "sigs.k8s.io/kueue/pkg/controller/jobs/job"
	"sigs.k8s.io/kueue/pkg/controller/jobs/jobset"
)

// ReadJob decodes a manifest of a job, with the defaults of its API.
func ReadJob(raw json.RawMessage) (jobframework.GenericJob, error) {
	kind, err := stage.KindOf(raw)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "Job":
		o, err := stage.Decode[batchv1.Job](raw)
		if err != nil {
			return nil, err
		}
		if o.Spec.Completions == nil && o.Spec.Parallelism == nil {
			o.Spec.Completions = new(int32(1))
		}
		o.Spec.Parallelism = cmp.Or(o.Spec.Parallelism, new(int32(1)))
		return (*batchjob.Job)(o), nil
	case "JobSet":
		o, err := stage.Decode[jobsetapi.JobSet](raw)
		if err != nil {
			return nil, err
		}
		for i := range o.Spec.ReplicatedJobs {
			o.Spec.ReplicatedJobs[i].Replicas = cmp.Or(o.Spec.ReplicatedJobs[i].Replicas, 1)
		}
		return (*jobset.JobSet)(o), nil
	}
	return nil, fmt.Errorf("a rehearsal cannot play jobs of kind %q", kind)
}
