package world

import (
	"encoding/json"

	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/controller/jobs/jobset"
)

func jobSet() kind {
	return kind{"JobSet", v1alpha2.AddToScheme, func(raw json.RawMessage) (jobframework.GenericJob, error) {
		o := &v1alpha2.JobSet{}
		if err := Strict(raw, o); err != nil {
			return nil, err
		}
		for i := range o.Spec.ReplicatedJobs {
			if o.Spec.ReplicatedJobs[i].Replicas == 0 {
				o.Spec.ReplicatedJobs[i].Replicas = 1
			}
		}
		return (*jobset.JobSet)(o), nil
	}}
}
