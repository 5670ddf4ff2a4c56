// Package kai renders KAI Scheduler's side of the cluster: a queue for each
// cohort, and one for each team in its cohort's. A plan goes in, manifests come
// out, which have their place in the folder kubernetes/.
//
// KAI Scheduler itself is installed by its Helm chart and needs no configuration
// here.
package kai

import (
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// System returns nothing: the chart's own configuration is the platform's.
func System(*ir.Platform) ([]kubeyaml.Manifest, error) { return nil, nil }

// Queues returns the queues of the cohorts, which those of their teams name as
// their parents.
func Queues(p *ir.Platform) []kubeyaml.Manifest {
	return []kubeyaml.Manifest{{Name: "cohorts.yaml", Objects: cohorts(p)}}
}

// Team returns the queue of a team, which has one tier.
func Team(p *ir.Platform, t ir.Team) []any {
	var objects []any
	for _, q := range t.Queues {
		objects = append(objects, teamQueue(p, t, q))
	}
	return objects
}
