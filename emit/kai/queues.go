package kai

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// version is the API of the queues (KAI Scheduler 0.17:
// deployments/kai-scheduler/crds/scheduling.run.ai_queues.yaml). The API's Go package depends
// on the entire scheduler.
var version = schema.GroupVersion{Group: "scheduling.run.ai", Version: "v2"}

// share returns a queue's share of a resource: the amount it is guaranteed, the most it
// can have, and its weight when queues of one priority share the amount that is
// guaranteed to nobody. A queue without a written limit can run nothing. A queue
// without weight gets no part of the shared amount, and cannot reclaim it from
// others.
func share(quota, limit int64, weight int) map[string]int64 {
	return map[string]int64{"limit": limit, "overQuotaWeight": int64(weight), "quota": quota}
}

// unlimited is a quota or limit without a bound.
const unlimited = -1

// newQueue returns a queue with a share of the GPUs. It imposes no quota or limit on other
// resources: pods that must not be evicted run only within the quota of every resource, so
// without these shares they would wait for ever.
func newQueue(p *ir.Platform, name, parent string, priority int, gpu map[string]int64) *kubeyaml.Object {
	free := share(unlimited, unlimited, 1)
	spec := kubeyaml.Fields{
		"priority": priority, "resources": kubeyaml.Fields{"cpu": free, "gpu": gpu, "memory": free},
	}
	if parent != "" {
		spec["parentQueue"] = parent
	}
	return kubeyaml.NewObject(version.String(), "Queue", kubeyaml.Meta(p.Name, "", name), spec)
}

// cohortQueues returns the queues of the cohorts. Each is guaranteed its own quota, or else
// the sum of its teams' guarantees, and has no limit.
func cohortQueues(p *ir.Platform) []any {
	var objects []any
	for _, c := range p.Cohorts {
		share := share(p.KAIQuota(c), unlimited, c.Weight)
		objects = append(objects, newQueue(p, c.Name, c.Parent, c.Priority, share))
	}
	return objects
}

// teamQueue returns the queue of a team. It has the same team label as the team's
// namespace.
func teamQueue(p *ir.Platform, t ir.Team, q ir.Queue) *kubeyaml.Object {
	out := newQueue(p, q.LocalQueue, t.Cohort, t.Priority, gpuShare(q, t.Weight))
	out.Labels[ir.LabelTeam] = t.Name
	return out
}

// gpuShare returns a queue's share of the GPUs.
func gpuShare(q ir.Queue, weight int) map[string]int64 {
	g := q.GPUs()
	if g.All {
		g.Most = unlimited
	}
	return share(g.Guaranteed, g.Most, weight)
}
