// Package kai renders the cluster objects of KAI Scheduler: a queue for each cohort,
// and below it a queue for each team of the cohort. A plan goes in; manifests for
// the folder kubernetes/ come out.
//
// KAI Scheduler itself is installed by its Helm chart and needs no configuration
// here.
package kai

import (
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// System returns nil: the platform uses the chart's own configuration.
func System(*ir.Platform) ([]kubeyaml.Manifest, error) { return nil, nil }

// Release returns nil: the platform changes nothing of the chart.
func Release(*ir.Platform) ([]kubeyaml.Manifest, error) { return nil, nil }

// Queues returns the queues of the cohorts. They are the parents of the teams'
// queues.
func Queues(p *ir.Platform) []kubeyaml.Manifest {
	return []kubeyaml.Manifest{{Name: "cohorts.yaml", Objects: cohortQueues(p)}}
}

// Team returns the queue of a team, which has only one tier.
func Team(p *ir.Platform, t ir.Team) []any {
	var objects []any
	for _, q := range t.Queues {
		objects = append(objects, teamQueue(p, t, q))
	}
	return objects
}
