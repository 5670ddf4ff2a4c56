package world

import (
	"encoding/json"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	batchjob "sigs.k8s.io/kueue/pkg/controller/jobs/job"
)

// kind is a kind of jobs that a rehearsal plays.
type kind struct {
	name        string
	addToScheme func(*runtime.Scheme) error
	// read decodes a manifest, with the defaults of its API.
	read func(json.RawMessage) (jobframework.GenericJob, error)
}

// kinds returns the kinds of jobs. Those with APIs of their own have files of their own.
func kinds() []kind { return []kind{job(), jobSet()} }

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

// ReadJob decodes a manifest of a job, with the defaults of its API.
func ReadJob(raw json.RawMessage) (jobframework.GenericJob, error) {
	var of metav1.TypeMeta
	if err := json.Unmarshal(raw, &of); err != nil {
		return nil, err
	}
	for _, k := range kinds() {
		if k.name == of.Kind {
			return k.read(raw)
		}
	}
	return nil, fmt.Errorf("a rehearsal cannot play jobs of kind %q", of.Kind)
}
