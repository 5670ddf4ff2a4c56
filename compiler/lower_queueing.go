package compiler

import (
	"slices"
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
)

// maxRunAnnotation tells how long nodes are wanted that start on request. Kueue
// hands it to the ProvisioningRequest as a parameter.
const maxRunAnnotation = "provreq.kueue.x-k8s.io/maxRunDurationSeconds"

// KAI Scheduler's names. Source: its documentation, "Scheduling queues",
// "Workload priority" and "Batch and gang scheduling", v0.17.
const (
	kaiScheduler      = "kai-scheduler"
	kaiPreemptibility = "kai.scheduler/preemptibility"
	kaiMinMember      = "kai.scheduler/batch-min-member"
)

// kaiPreemptible is the priority from which on KAI Scheduler takes a workload
// for one that must not be evicted, and so never gives it more than its queue's
// quota.
const kaiPreemptible = 100

// queueing returns how a workload is known to the platform's scheduler. The
// workload has all but its name; on are the capacities it can run on.
func queueing(p *ir.Platform, w ir.Workload, on []*ir.Capacity) ir.Queueing {
	if p.Scheduler == ir.KAI {
		return kaiQueueing(p, w)
	}
	q := ir.Queueing{Labels: []ir.KeyValue{{Key: ir.LabelKueueQueue, Value: w.Queue}}}
	if w.MaxRunSeconds != 0 && slices.ContainsFunc(on, func(c *ir.Capacity) bool { return c.Queued() }) {
		q.Annotations = []ir.KeyValue{{Key: maxRunAnnotation, Value: strconv.Itoa(w.MaxRunSeconds)}}
	}
	return q
}

func kaiQueueing(p *ir.Platform, w ir.Workload) ir.Queueing {
	preemptibility := "preemptible"
	for _, c := range p.PriorityClasses {
		if c.Name == w.PriorityClass && c.Value >= kaiPreemptible {
			preemptibility = "non-preemptible"
		}
	}
	labels := []ir.KeyValue{{Key: kaiPreemptibility, Value: preemptibility}, {Key: ir.LabelKAIQueue, Value: w.Queue}}
	q := ir.Queueing{Labels: labels, PodLabels: labels, SchedulerName: kaiScheduler}
	if w.Kind == ir.Job && w.Pods > 1 {
		q.Annotations = []ir.KeyValue{{Key: kaiMinMember, Value: strconv.Itoa(w.Pods)}}
	}
	return q
}
