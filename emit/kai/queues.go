package kai

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// The types below are the part of scheduling.run.ai/v2 Queue that is emitted
// (KAI Scheduler 0.17: deployments/kai-scheduler/crds/scheduling.run.ai_queues.yaml).
// The API's Go package comes with all of the scheduler.

var version = schema.GroupVersion{Group: "scheduling.run.ai", Version: "v2"}

type queue struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              queueSpec `json:"spec"`
}

type queueSpec struct {
	ParentQueue string    `json:"parentQueue,omitempty"`
	Priority    int       `json:"priority"`
	Resources   resources `json:"resources"`
}

type resources struct {
	CPU    share `json:"cpu"`
	GPU    share `json:"gpu"`
	Memory share `json:"memory"`
}

// share is what a queue gets of a resource: what it is guaranteed, the most it can
// have, and its weight where queues of one priority share what nobody is
// guaranteed. A limit that is not written lets nothing run; a queue without weight
// has no part in what is shared, and cannot take it back from others.
type share struct {
	Limit  int64 `json:"limit"`
	Weight int64 `json:"overQuotaWeight"`
	Quota  int64 `json:"quota"`
}

// newShare weighs all queues the same: their priorities tell them apart.
func newShare(quota, limit int64) share {
	return share{Limit: limit, Weight: 1, Quota: quota}
}

// unlimited is a quota or limit without end.
const unlimited = -1

// free leaves a resource to itself. Pods that are not to be evicted run within
// the quota of every resource, so that one without it would keep them waiting.
var free = newShare(unlimited, unlimited)

func newQueue(p *ir.Platform, name, parent string, priority int, gpu share) *queue {
	return &queue{
		TypeMeta:   kubeyaml.Kind(version, "Queue"),
		ObjectMeta: kubeyaml.Meta(p.Name, "", name),
		Spec: queueSpec{
			ParentQueue: parent, Priority: priority, Resources: resources{CPU: free, GPU: gpu, Memory: free},
		},
	}
}

// cohorts returns the queues of the cohorts. Each is guaranteed what its teams
// are together, and can have all.
func cohorts(p *ir.Platform) []any {
	guaranteed := map[string]int64{}
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			guaranteed[t.Cohort] += gpuShare(q).Quota
		}
	}
	var objects []any
	for _, c := range p.Cohorts {
		objects = append(objects, newQueue(p, c.Name, c.Parent, c.Priority, newShare(guaranteed[c.Name], unlimited)))
	}
	return objects
}

// teamQueue is the queue of a team, which bears the team's label as its namespace
// does.
func teamQueue(p *ir.Platform, t ir.Team, q ir.Queue) *queue {
	out := newQueue(p, q.LocalQueue, t.Cohort, t.Priority, gpuShare(q))
	out.Labels[ir.LabelTeam] = t.Name
	return out
}

// gpuShare is what a queue has of the GPUs.
func gpuShare(q ir.Queue) share {
	g := q.GPUs()
	if g.All {
		g.Most = unlimited
	}
	return newShare(g.Guaranteed, g.Most)
}
