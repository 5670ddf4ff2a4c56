package policies

import (
	"maps"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
)

const (
	kaiLabel     = "kai.scheduler/queue"
	kaiScheduler = "kai-scheduler"
	kaiPriority  = "priorityClassName" // as a label
	kaiDefault   = "train"             // PriorityClass of jobs that name none
)

// kaiCapacity holds the labels of the nodes of the golden folder's only capacity.
var kaiCapacity = map[string]any{
	"capacity": "h100-reserved", "cloud.google.com/gke-accelerator": "nvidia-h100-80gb", "resource-type": "reservation",
}

// usesKAI reports whether the policies are for KAI Scheduler's queues.
func usesKAI(policies []policy) bool {
	return slices.ContainsFunc(policies, func(p policy) bool {
		return slices.ContainsFunc(p.Spec.Validations, func(v admissionv1.Validation) bool {
			return strings.Contains(v.MessageExpression, kaiLabel)
		})
	})
}

// asKAI changes the requests for KAI Scheduler: a queue has another label, and pods
// name the scheduler.
func asKAI(requests []request) []request {
	for i, r := range requests {
		requests[i].object, requests[i].old = kaiObject(r.object), kaiObject(r.old)
		if r.refused == queueLabel {
			requests[i].refused = kaiLabel
		}
	}
	return requests
}

// kaiObject changes a Job or JobSet, and returns it; other objects stay.
func kaiObject(fields map[string]any) map[string]any {
	if fields == nil || fields["kind"] == deleteOptions {
		return fields
	}
	if labels, ok := fields["metadata"].(map[string]any)["labels"].(map[string]any); ok {
		if name, queued := labels[queueLabel]; queued {
			delete(labels, queueLabel)
			labels[kaiLabel] = name
		}
	}
	for _, pod := range podTemplates(fields) {
		pod["spec"].(map[string]any)["schedulerName"] = kaiScheduler
		selector := maps.Clone(kaiCapacity)
		if own, ok := pod["spec"].(map[string]any)["nodeSelector"].(map[string]any); ok {
			maps.Copy(selector, own)
		}
		pod["spec"].(map[string]any)["nodeSelector"] = selector
	}
	return fields
}

// podTemplates returns the pod templates of a Job or JobSet.
func podTemplates(fields map[string]any) []map[string]any {
	spec := fields["spec"].(map[string]any)
	specs := []any{spec}
	if jobs, ok := spec["replicatedJobs"].([]any); ok {
		specs = nil
		for _, j := range jobs {
			specs = append(specs, j.(map[string]any)["template"].(map[string]any)["spec"])
		}
	}
	var out []map[string]any
	for _, s := range specs {
		if template, ok := s.(map[string]any)["template"].(map[string]any); ok {
			out = append(out, template)
		}
	}
	return out
}

// kaiCases are the requests that only KAI Scheduler's policies are there for, with
// a queue.
func kaiCases(q queue) []request {
	const pods, label = "set schedulerName of the pods", "do not add or change the label priorityClassName"
	of := func(change func(fields map[string]any)) map[string]any {
		fields := kaiObject(job(q))
		change(fields)
		return fields
	}
	scheduler := func(name string) map[string]any {
		return of(func(fields map[string]any) {
			podTemplates(fields)[0]["spec"].(map[string]any)["schedulerName"] = name
		})
	}
	podLabel := func(key, value string) map[string]any {
		return of(func(fields map[string]any) {
			podTemplates(fields)[0]["metadata"] = map[string]any{"labels": map[string]any{key: value}}
		})
	}
	labelled := of(func(fields map[string]any) {
		labels := maps.Clone(fields["metadata"].(map[string]any)["labels"].(map[string]any))
		labels[kaiPriority] = q.class
		fields["metadata"] = map[string]any{"name": "x", "labels": labels}
	})
	unscheduled := of(func(fields map[string]any) {
		delete(podTemplates(fields)[0]["spec"].(map[string]any), "schedulerName")
	})
	anywhere := of(func(fields map[string]any) {
		delete(podTemplates(fields)[0]["spec"].(map[string]any), "nodeSelector")
	})
	somewhere := of(func(fields map[string]any) {
		podTemplates(fields)[0]["spec"].(map[string]any)["nodeSelector"] = map[string]any{
			"resource-type": "reservation",
		}
	})
	mixed := kaiObject(jobSet(q, q.class, q.class))
	delete(podTemplates(mixed)[1]["spec"].(map[string]any), "schedulerName")
	return []request{
		{"job without a scheduler", member, jobKind, unscheduled, nil, pods},
		{"job of the cluster's scheduler", member, jobKind, scheduler("default-scheduler"), nil, pods},
		{"job that loses its scheduler with its queue", member, jobKind, unscheduled, kaiObject(job(none)), pods},
		{"job without a scheduler that was there", collector, jobKind, unscheduled, unscheduled, ""},
		{"jobset with a job of the cluster's scheduler", member, jobSetKind, mixed, nil, pods},
		{"job on any node", member, jobKind, anywhere, nil, "nodes of a capacity"},
		{"job on some reservation", member, jobKind, somewhere, nil, "nodes of a capacity"},
		{"job whose pods name its queue", member, jobKind, podLabel(kaiLabel, q.name), nil, ""},
		{"job whose pods name another queue", member, jobKind, podLabel(kaiLabel, q.name+"-x"), nil, pods},
		{"job whose pods name a priority by label", member, jobKind, podLabel(kaiPriority, q.class), nil, pods},
		{"job that names a priority by label", member, jobKind, labelled, nil, label},
		{"job that gets a priority by label", member, jobKind, labelled, kaiObject(job(q)), label},
		{"job with a priority by label that was there", collector, jobKind, labelled, labelled, ""},
	}
}
