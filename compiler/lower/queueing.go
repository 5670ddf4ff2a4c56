package lower

import (
	"slices"
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
)

// kaiPreemptibility is a label that tells whether KAI Scheduler may evict a job. It
// reads labels and annotations of a Job or JobSet before those of its pods. Source:
// KAI Scheduler 0.17, pkg/podgrouper/podgrouper/plugins/constants and
// defaultgrouper.
const kaiPreemptibility = "kai.scheduler/preemptibility"

// queueing returns how a workload is known to the platform's scheduler. The
// workload has all but its name; on are the capacities it can run on.
func queueing(p *ir.Platform, w ir.Workload, on []*ir.Capacity) ir.Queueing {
	if p.Scheduler == ir.KAI {
		return kaiQueueing(p, w)
	}
	q := ir.Queueing{Labels: []ir.KeyValue{{Key: ir.LabelKueueQueue, Value: w.Queue}}}
	if w.MaxRunSeconds != 0 && slices.ContainsFunc(on, func(c *ir.Capacity) bool { return c.Queued() }) {
		q.Annotations = []ir.KeyValue{{Key: ir.AnnotationMaxRun, Value: strconv.Itoa(w.MaxRunSeconds)}}
	}
	return q
}

// kaiQueueing puts the labels on the pods, too, so that they can be selected by
// them. A Job starts with any of its pods unless told how many it takes; those of
// a JobSet start together.
func kaiQueueing(p *ir.Platform, w ir.Workload) ir.Queueing {
	preemptibility := "preemptible"
	if p.NonPreemptible(w.PriorityClass) {
		preemptibility = "non-preemptible"
	}
	labels := []ir.KeyValue{{Key: kaiPreemptibility, Value: preemptibility}, {Key: ir.LabelKAIQueue, Value: w.Queue}}
	q := ir.Queueing{Labels: labels, PodLabels: labels, SchedulerName: ir.KAISchedulerName}
	if w.Kind == ir.Job && w.Pods > 1 {
		q.Annotations = []ir.KeyValue{{Key: ir.AnnotationKAIMembers, Value: strconv.Itoa(w.Pods)}}
	}
	return q
}
