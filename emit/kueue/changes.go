package kueue

import (
	"slices"

	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/ir"
)

// APIVersion is the version of the API of Kueue's objects.
const APIVersion = "kueue.x-k8s.io/v1beta2"

// IsReplaced reports whether Kueue refuses to change a field of an object that a
// blueprint can change, so that the object must be deleted and created again.
func IsReplaced(object any) bool {
	_, ok := object.(*v1beta2.LocalQueue)
	return ok
}

// DependsOn returns the objects of Kueue of the platform to which an object refers, as
// GROUP/KIND/NAME. AdmissionChecks of others are none of them.
func DependsOn(p *ir.Platform, object any) []string {
	var out []string
	add := func(kind, name string) {
		if name != "" {
			out = append(out, v1beta2.SchemeGroupVersion.Group+"/"+kind+"/"+name)
		}
	}
	switch o := object.(type) {
	case *v1beta2.Cohort:
		add("Cohort", string(o.Spec.ParentName))
	case *v1beta2.ResourceFlavor:
		if o.Spec.TopologyName != nil {
			add("Topology", string(*o.Spec.TopologyName))
		}
	case *v1beta2.AdmissionCheck:
		add(o.Spec.Parameters.Kind, o.Spec.Parameters.Name)
	case *v1beta2.LocalQueue:
		add("ClusterQueue", string(o.Spec.ClusterQueue))
	case *v1beta2.ClusterQueue:
		add("Cohort", string(o.Spec.CohortName))
		for _, group := range o.Spec.ResourceGroups {
			for _, f := range group.Flavors {
				add("ResourceFlavor", string(f.Name))
			}
		}
		if checks := o.Spec.AdmissionChecksStrategy; checks != nil {
			for _, c := range checks.AdmissionChecks {
				own := func(a ir.AdmissionCheck) bool { return a.Name == string(c.Name) }
				if slices.ContainsFunc(p.AdmissionChecks, own) {
					add("AdmissionCheck", string(c.Name))
				}
			}
		}
	}
	return out
}
