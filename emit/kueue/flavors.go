package kueue

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// resourceFlavors returns one ResourceFlavor for each capacity, with the labels and
// taints of the capacity's nodes. When Kueue admits pods, it adds the labels as a
// node selector, and tolerations of the taints. A job that names only its queue can
// therefore run on any of the queue's flavors.
func resourceFlavors(p *ir.Platform) []any {
	var objects []any
	for _, c := range p.Capacities {
		f := &v1beta2.ResourceFlavor{
			TypeMeta:   kubeyaml.Kind(v1beta2.SchemeGroupVersion, "ResourceFlavor"),
			ObjectMeta: kubeyaml.Meta(p.Name, "", c.Name),
			Spec: v1beta2.ResourceFlavorSpec{
				NodeLabels:  map[string]string{},
				Tolerations: kubeyaml.Tolerations(c.NodeTaints),
			},
		}
		for _, l := range c.NodeLabels {
			f.Spec.NodeLabels[l.Key] = l.Value
		}
		for _, t := range c.NodeTaints {
			f.Spec.NodeTaints = append(f.Spec.NodeTaints,
				corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
		}
		objects = append(objects, f)
	}
	return objects
}
