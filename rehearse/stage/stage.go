// Package stage holds what all engines of rehearsals play alike, whichever scheduler decides:
// the agenda in virtual time, the work of a job, and the nodes with their limits and the
// cluster autoscaler. It knows no scheduler.
package stage

import (
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
)

// ErrScenario marks the errors about a scenario that cannot be played. Their text is for
// the user.
var ErrScenario = errors.New("the scenario cannot be played")

// KindOf returns the kind of an object in JSON.
func KindOf(raw json.RawMessage) (string, error) {
	var kind metav1.TypeMeta
	err := json.Unmarshal(raw, &kind)
	return kind.Kind, err
}

// Decode decodes an object from JSON as Kubernetes does, and refuses unknown and repeated
// fields.
func Decode[T any](raw json.RawMessage) (*T, error) {
	object := new(T)
	problems, err := kjson.UnmarshalStrict(raw, object)
	if err == nil && len(problems) > 0 {
		err = problems[0]
	}
	return object, err
}
