package guide

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v2"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/page"
)

// exampleName is the name of the job that the page shows as an example.
const exampleName = "my-job"

// object is an object of Kubernetes, or a part of one. The printer sorts its keys.
type object = map[string]any

// exampleJob is a job that is not in the blueprint: its team, its queue, and the capacity
// whose nodes it fits.
type exampleJob struct {
	view
	Team     ir.Team
	Queue    ir.Queue
	Capacity ir.Capacity
}

// ExampleJob returns the example for the team of the page, or nil if the team has no
// quota.
func (v view) ExampleJob() *exampleJob {
	t := v.HomeTeam()
	if len(t.Queues) == 0 {
		return nil
	}
	q := v.exampleQueue(t)
	capacities := v.capacitiesOf(q)
	if len(capacities) == 0 {
		return nil
	}
	begun := func(c ir.Capacity) bool {
		return slices.ContainsFunc(q.Flavors, func(f ir.FlavorQuota) bool { return f.Flavor == c.Name && !f.Waiting })
	}
	// The size of the quota does not matter, so that the example stays the same when a
	// capacity is switched off for a while.
	first := max(0, slices.IndexFunc(capacities, begun))
	return &exampleJob{v, t, q, capacities[first]}
}

// exampleQueue returns the queue of the example: of a tier without placement groups if
// possible, and then of the default tier.
func (v view) exampleQueue(t ir.Team) ir.Queue {
	grouped := func(c ir.Capacity) bool { return c.AutoProvisioned && c.Compact }
	rank := func(q ir.Queue) int {
		n := 0
		if !slices.ContainsFunc(v.capacitiesOf(q), grouped) {
			n += 2
		}
		isDefault := func(c ir.PriorityClass) bool { return c.Default && c.Tier == q.Tier }
		if slices.ContainsFunc(v.PriorityClasses, isDefault) {
			n++
		}
		return n
	}
	return slices.MaxFunc(t.Queues, func(a, b ir.Queue) int { return cmp.Compare(rank(a), rank(b)) })
}

// capacitiesOf returns the capacities of a queue, in its order.
func (v view) capacitiesOf(q ir.Queue) (out []ir.Capacity) {
	for _, f := range q.Flavors {
		for _, c := range v.Capacities {
			if c.Name == f.Flavor {
				out = append(out, c)
			}
		}
	}
	return out
}

// QueueCapacities returns the capacities of the job's queue, in its order.
func (j *exampleJob) QueueCapacities() []ir.Capacity { return j.capacitiesOf(j.Queue) }

// Lines returns the manifest of the job in YAML: a Job with one pod, or on TPU slices a
// JobSet with a pod on each node of a slice.
func (j *exampleJob) Lines() ([]page.Command, error) {
	metadata := object{"name": exampleName, "labels": object{j.QueueLabel(): j.Queue.LocalQueue}}
	pod := j.pod()
	ir.Choose(j.Scheduler, j.addKueue, j.addKAI)(metadata, pod)
	job := object{"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": jobSpec(pod, 1)}
	if j.Capacity.Sliced() {
		slice := object{
			// JobSet: api/jobset/v1alpha2
			"metadata": object{"annotations": object{"alpha.jobset.sigs.k8s.io/exclusive-topology": ir.LabelNodePool}},
			"spec":     jobSpec(pod, j.Capacity.Machine.Slice.Hosts),
		}
		job["apiVersion"], job["kind"] = "jobset.x-k8s.io/v1alpha2", "JobSet"
		job["spec"] = object{"replicatedJobs": []any{object{"name": "slice", "replicas": 1, "template": slice}}}
	}
	text, err := yaml.Marshal(job)
	var lines []page.Command
	for line := range strings.Lines(string(text)) {
		lines = append(lines, page.Command(line[:len(line)-1]))
	}
	return lines, err
}

// jobSpec returns the spec of a Job with numbered pods.
func jobSpec(pod object, pods int) object {
	return object{
		"completionMode": "Indexed", "completions": pods, "parallelism": pods, "backoffLimit": 0,
		"template": object{"spec": pod},
	}
}

// pod returns the spec of the job's pods without what the scheduler needs.
func (j *exampleJob) pod() object {
	requests := object{ir.CPU: "1", ir.Memory: "1Gi"}
	resources := object{"requests": requests}
	if name := j.Capacity.Machine.Resource; slices.Contains(j.Queue.Resources(), name) {
		number := 1
		if name == ir.TPU { // a pod has all chips of its node
			number = j.Capacity.Machine.AcceleratorCount
		}
		requests[name], resources["limits"] = number, object{name: number}
	}
	spec := object{
		"restartPolicy": "Never", "serviceAccountName": j.Team.KubeAccount,
		"containers": []any{object{
			"name": "worker", "image": "busybox:1.37", "command": []string{"sh", "-c", "hostname; sleep 60; echo done"},
			"resources": resources,
		}},
	}
	if len(j.Queue.Classes) > 0 {
		spec["priorityClassName"] = j.Queue.Classes[0]
	}
	return spec
}

// addKueue adds what Kueue needs.
func (j *exampleJob) addKueue(metadata, pod object) {
	if all := j.Queue.WorkloadPriorities; len(j.Queue.Classes) == 0 && len(all) > 0 {
		metadata["labels"].(object)[ir.LabelWorkloadPriority] = all[0].Name
	}
	if j.Capacity.Queued() {
		metadata["annotations"] = object{ir.AnnotationMaxRun: "600"}
	}
	if j.Capacity.AutoProvisioned && j.Capacity.Compact {
		pod["nodeSelector"] = object{ir.LabelPlacementGroup: exampleName}
		pod["tolerations"] = []any{object{"key": ir.LabelPlacementGroup, "operator": "Equal", "value": exampleName,
			"effect": "NoSchedule"}}
	}
}

// addKAI adds what KAI Scheduler needs.
func (j *exampleJob) addKAI(_, pod object) {
	selector, tolerations := object{}, []any{}
	for _, l := range j.Capacity.NodeLabels {
		selector[l.Key] = l.Value
	}
	for _, taint := range j.Capacity.NodeTaints {
		tolerations = append(tolerations, object{
			"key": taint.Key, "operator": "Equal", "value": taint.Value, "effect": taint.Effect,
		})
	}
	pod["schedulerName"], pod["nodeSelector"], pod["tolerations"] = ir.KAISchedulerName, selector, tolerations
}

// Model returns the first workload of the job's kind, or nil.
func (j *exampleJob) Model() *ir.Workload {
	kind := ir.Job
	if j.Capacity.Sliced() {
		kind = ir.JobSet
	}
	for i := range j.Workloads {
		if j.Workloads[i].Kind == kind {
			return &j.Workloads[i]
		}
	}
	return nil
}

// JobsChooseMachines reports whether some queue leads to node pools of several machine
// types. Queues with nodes that GKE creates by itself do not count: their flavors lack the
// label of node pools, so Kueue could choose these nodes.
func (v view) JobsChooseMachines() bool {
	chooses := func(q ir.Queue) bool {
		all := v.capacitiesOf(q)
		return !slices.ContainsFunc(all, func(c ir.Capacity) bool { return !c.OwnsPools() }) &&
			slices.ContainsFunc(all, func(c ir.Capacity) bool { return c.Machine.Type != all[0].Machine.Type })
	}
	return slices.ContainsFunc(v.Teams, func(t ir.Team) bool { return slices.ContainsFunc(t.Queues, chooses) })
}
