package kueue

import (
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// cohortObjects returns the Cohorts, parents first. They have no quota of their own: a
// team can borrow only the quota that other teams do not use.
func cohortObjects(p *ir.Platform) []any {
	var objects []any
	adopted := p.Adopted().Cohorts
	for _, c := range p.Cohorts {
		objects = append(objects, &v1beta2.Cohort{
			TypeMeta:   kubeyaml.Kind(v1beta2.SchemeGroupVersion, "Cohort"),
			ObjectMeta: metaOf(p, c.Name, adopted[c.Name]),
			Spec:       v1beta2.CohortSpec{ParentName: v1beta2.CohortReference(c.Parent)},
		})
	}
	return objects
}
