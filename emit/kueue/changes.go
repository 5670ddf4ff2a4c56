package kueue

import "sigs.k8s.io/kueue/apis/kueue/v1beta2"

// APIVersion is the version of the API of Kueue's objects.
const APIVersion = "kueue.x-k8s.io/v1beta2"

// IsReplaced reports whether Kueue refuses to change a field of an object that a
// blueprint can change, so that the object must be deleted and created again.
func IsReplaced(object any) bool {
	_, ok := object.(*v1beta2.LocalQueue)
	return ok
}

// DependsOn returns the objects of Kueue to which an object refers, as
// GROUP/KIND/NAME.
func DependsOn(object any) []string {
	var out []string
	add := func(kind, name string) {
		if name != "" {
			out = append(out, v1beta2.SchemeGroupVersion.Group+"/"+kind+"/"+name)
		}
	}
	switch o := object.(type) {
	case *v1beta2.Cohort:
		add("Cohort", string(o.Spec.ParentName))
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
				add("AdmissionCheck", string(c.Name))
			}
		}
	}
	return out
}
