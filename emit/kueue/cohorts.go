package kueue

import (
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// cohortObjects returns the Cohorts, parents first. Their own quota belongs to no team: the
// queues below them borrow it, as they borrow what other teams do not use.
func cohortObjects(p *ir.Platform) []any {
	var objects []any
	adopted := p.Adopted().Cohorts
	for _, c := range p.Cohorts {
		objects = append(objects, &v1beta2.Cohort{
			TypeMeta:   kubeyaml.Kind(v1beta2.SchemeGroupVersion, "Cohort"),
			ObjectMeta: metaOf(p, c.Name, adopted[c.Name]),
			Spec: v1beta2.CohortSpec{
				ParentName:     v1beta2.CohortReference(c.Parent),
				ResourceGroups: resourceGroups(c.Groups()),
				FairSharing:    fairSharing(c.Share),
			},
		})
	}
	return objects
}
