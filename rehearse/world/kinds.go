package world

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
)

// kind is a kind of jobs that a rehearsal plays.
type kind struct {
	name        string
	addToScheme func(*runtime.Scheme) error
	// read decodes a manifest, with the defaults of its API.
	read func(json.RawMessage) (jobframework.GenericJob, error)
}

// kinds returns the kinds of jobs, each from a file of its own.
func kinds() []kind { return []kind{job(), jobSet()} }

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
