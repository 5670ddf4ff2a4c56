package kubernetes

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// priorityClasses returns the PriorityClasses of the tiers, except classes that come
// with the scheduler and classes of others.
func priorityClasses(p *ir.Platform) []any {
	var objects []any
	for _, c := range p.PriorityClasses {
		if !c.IsMade() {
			continue
		}
		policy := corev1.PreemptNever
		if c.Preempts {
			policy = corev1.PreemptLowerPriority
		}
		objects = append(objects, &schedulingv1.PriorityClass{
			TypeMeta:         kubeyaml.Kind(schedulingv1.SchemeGroupVersion, "PriorityClass"),
			ObjectMeta:       kubeyaml.Meta(p.Name, "", c.Name),
			Value:            c.Value,
			GlobalDefault:    c.Default,
			Description:      c.Note,
			PreemptionPolicy: &policy,
		})
	}
	return objects
}
