package kueue

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// resourceFlavors returns one ResourceFlavor for each capacity, with the labels and
// taints of the capacity's nodes, unless the blueprint says otherwise. When Kueue admits pods, it adds the labels as a
// node selector, and tolerations of the taints. A job that names only its queue can
// therefore run on any of the queue's flavors.
func resourceFlavors(p *ir.Platform) []any {
	var objects []any
	adopted := p.Adopted().Capacities
	for _, c := range p.AllCapacities() {
		f := &v1beta2.ResourceFlavor{
			TypeMeta:   kubeyaml.Kind(v1beta2.SchemeGroupVersion, "ResourceFlavor"),
			ObjectMeta: metaOf(p, c.Flavor.Name, adopted[c.Name]),
			Spec: v1beta2.ResourceFlavorSpec{
				NodeLabels: map[string]string{}, Tolerations: tolerationsOf(c.Flavor),
			},
		}
		if c.Flavor.Topology != "" {
			f.Spec.TopologyName = new(v1beta2.TopologyReference(c.Flavor.Topology))
		}
		for _, l := range c.NodeLabels {
			f.Spec.NodeLabels[l.Key] = l.Value
		}
		for _, t := range c.Flavor.Taints {
			f.Spec.NodeTaints = append(f.Spec.NodeTaints,
				corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
		}
		objects = append(objects, f)
	}
	return objects
}

// tolerationsOf returns the tolerations that Kueue adds to pods with a flavor. Every field is
// written out, as in kubeyaml.Tolerations.
func tolerationsOf(f ir.Flavor) []corev1.Toleration {
	var out []corev1.Toleration
	for _, t := range f.Tolerations {
		out = append(out, corev1.Toleration{
			Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value,
			Effect: corev1.TaintEffect(t.Effect), TolerationSeconds: t.Seconds,
		})
	}
	return out
}

// topologies returns the Topologies of the nodes.
func topologies(p *ir.Platform) []any {
	var objects []any
	adopted := p.Adopted().Topologies
	for _, t := range p.Topologies {
		o := &v1beta2.Topology{
			TypeMeta:   kubeyaml.Kind(v1beta2.SchemeGroupVersion, "Topology"),
			ObjectMeta: metaOf(p, t.Name, adopted[t.Name]),
		}
		for _, label := range t.Levels {
			o.Spec.Levels = append(o.Spec.Levels, v1beta2.TopologyLevel{NodeLabel: label})
		}
		objects = append(objects, o)
	}
	return objects
}
