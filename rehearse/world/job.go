package world

import (
	"encoding/json"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	batchjob "sigs.k8s.io/kueue/pkg/controller/jobs/job"
)

func job() kind {
	return kind{"Job", batchv1.AddToScheme, func(raw json.RawMessage) (jobframework.GenericJob, error) {
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
	}}
}
