package kai

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// The types below are the emitted part of scheduling.run.ai/v2 Queue (KAI Scheduler
// 0.17: deployments/kai-scheduler/crds/scheduling.run.ai_queues.yaml). The API's Go
// package depends on the entire scheduler.

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

// share is a queue's share of a resource: the amount it is guaranteed, the most it
// can have, and its weight when queues of one priority share the amount that is
// guaranteed to nobody. A queue without a written limit can run nothing. A queue
// without weight gets no part of the shared amount, and cannot reclaim it from
// others.
type share struct {
	Limit  int64 `json:"limit"`
	Weight int64 `json:"overQuotaWeight"`
	Quota  int64 `json:"quota"`
}

// newShare returns a share with the weight that all queues have: they differ in
// priority.
func newShare(quota, limit int64) share {
	return share{Limit: limit, Weight: 1, Quota: quota}
}

// unlimited is a quota or limit without a bound.
const unlimited = -1

// free imposes no quota or limit on a resource. Pods that must not be evicted run
// only within the quota of every resource, so without this share they would wait for
// ever.
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

// cohortQueues returns the queues of the cohorts. Each is guaranteed the sum of its
// teams' guarantees, and has no limit.
func cohortQueues(p *ir.Platform) []any {
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

// teamQueue returns the queue of a team. It has the same team label as the team's
// namespace.
func teamQueue(p *ir.Platform, t ir.Team, q ir.Queue) *queue {
	out := newQueue(p, q.LocalQueue, t.Cohort, t.Priority, gpuShare(q))
	out.Labels[ir.LabelTeam] = t.Name
	return out
}

// gpuShare returns a queue's share of the GPUs.
func gpuShare(q ir.Queue) share {
	g := q.GPUs()
	if g.All {
		g.Most = unlimited
	}
	return newShare(g.Guaranteed, g.Most)
}
