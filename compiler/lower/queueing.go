package lower

import (
	"slices"
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// kaiPreemptibility is a label that says whether KAI Scheduler may evict a job. KAI
// Scheduler prefers the labels and annotations of a job to those of its pods. Source: KAI
// Scheduler 0.17, pkg/podgrouper/podgrouper/plugins/constants and defaultgrouper.
const kaiPreemptibility = "kai.scheduler/preemptibility"

// schedulerLabels returns the labels and annotations by which the platform's scheduler
// recognises a workload. The workload must be complete except for its name; on holds
// the capacities that it can run on.
func schedulerLabels(p *ir.Platform, w ir.Workload, on []*ir.Capacity) ir.Queueing {
	return ir.Choose(p.Scheduler, kueueQueueing, kaiQueueing)(p, w, on)
}

// kueueQueueing also passes on how long a workload wants its queued flex-start nodes.
func kueueQueueing(_ *ir.Platform, w ir.Workload, on []*ir.Capacity) ir.Queueing {
	q := ir.Queueing{Labels: []ir.KeyValue{{Key: ir.LabelKueueQueue, Value: w.Queue}}}
	if w.WorkloadPriority != "" {
		q.Labels = append(q.Labels, ir.KeyValue{Key: ir.LabelWorkloadPriority, Value: w.WorkloadPriority})
	}
	if w.MaxRunSeconds != 0 && slices.ContainsFunc(on, func(c *ir.Capacity) bool { return c.Queued() }) {
		q.Annotations = []ir.KeyValue{{Key: ir.AnnotationMaxRun, Value: strconv.Itoa(w.MaxRunSeconds)}}
	}
	return q
}

// kaiQueueing also puts the labels on the pods, so that selectors can use them. By
// default KAI Scheduler starts a Job as soon as one of its pods can start, so the
// result states how many pods must start together; the pods of a composite job always
// start together.
func kaiQueueing(p *ir.Platform, w ir.Workload, _ []*ir.Capacity) ir.Queueing {
	preemptibility := "preemptible"
	if p.NonPreemptible(w.PriorityClass) {
		preemptibility = "non-preemptible"
	}
	labels := []ir.KeyValue{{Key: kaiPreemptibility, Value: preemptibility}, {Key: ir.LabelKAIQueue, Value: w.Queue}}
	q := ir.Queueing{Labels: labels, PodLabels: labels, SchedulerName: ir.KAISchedulerName}
	if !w.Kind.Facts().Composite && w.Pods > 1 {
		q.Annotations = []ir.KeyValue{{Key: ir.AnnotationKAIMembers, Value: strconv.Itoa(w.Pods)}}
	}
	return q
}

// withQueueing returns the teams and the shared queues of a platform whose workloads
// are lowered. In each tier that leaves its order of waiting jobs open, jobs overtake
// each other if two workloads of one queue run on different capacities: neither
// should block the other.
func withQueueing(b *schema.Blueprint, p *ir.Platform) ([]ir.Team, []ir.SharedQueue) {
	teams, shared := slices.Clone(p.Teams), slices.Clone(p.SharedQueues)
	if !p.Scheduler.Facts().QuotaPerCapacity {
		return teams, shared
	}
	apart, overtaking := p.WorkloadsApart(), map[string]bool{} // by ClusterQueue, by tier
	for q := range queuesOf(shared, teams) {
		if _, found := apart[q.ClusterQueue]; found && b.Tiers[q.Tier].Queueing == nil {
			overtaking[q.Tier] = true
		}
	}
	for i := range teams {
		teams[i].Queues = slices.Clone(teams[i].Queues)
		for j := range teams[i].Queues {
			if q := &teams[i].Queues[j]; overtaking[q.Tier] {
				q.Strategy = ir.BestEffortFIFO
			}
		}
	}
	for i := range shared {
		if overtaking[shared[i].Tier] {
			shared[i].Strategy = ir.BestEffortFIFO
		}
	}
	return teams, shared
}
