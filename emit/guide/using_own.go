package guide

import (
	"math"
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
	// Pods is the number of pods, except on TPU slices. If there are several, each has a node
	// of its own, and all its accelerators.
	Pods int
}

// ExampleJob returns the example for the team of the page, or nil if the team has no
// quota.
func (v view) ExampleJob() *exampleJob {
	t := v.HomeTeam()
	if len(t.Queues) == 0 {
		return nil
	}
	return v.exampleFor(t, t.Queues[v.exampleQueue(t)], 1)
}

// TierExamples returns an example for each queue of the team of the page, except one that would
// equal ExampleJob. It uses two nodes, if they have accelerators and the quota suffices for both.
func (v view) TierExamples() (all []*exampleJob) {
	t := v.HomeTeam()
	for i, q := range t.Queues {
		job := v.exampleFor(t, q, 1)
		if job == nil {
			continue
		}
		both := int64(2 * job.Capacity.Machine.AcceleratorCount)
		if both > 0 && job.most() >= both && !job.Capacity.Sliced() {
			job.Pods = 2
		}
		if job.Pods > 1 || i != v.exampleQueue(t) {
			all = append(all, job)
		}
	}
	return all
}

// most returns the most accelerators that the queue can use on the job's capacity.
func (j *exampleJob) most() int64 {
	for _, f := range j.Queue.Flavors {
		for _, q := range f.Quotas {
			if f.Flavor != j.Capacity.Name || q.Resource != j.Capacity.Machine.Resource {
				continue
			}
			most := q.Nominal.Value()
			if q.BorrowsAll {
				most = math.MaxInt64
			} else if q.Borrowing != nil {
				most += q.Borrowing.Value()
			}
			return most
		}
	}
	return 0
}

// exampleFor returns the example for a queue, or nil if it has no capacity.
func (v view) exampleFor(t ir.Team, q ir.Queue, pods int) *exampleJob {
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
	return &exampleJob{v, t, q, capacities[first], pods}
}

// exampleQueue returns the index of the team's queue for the first example: of a tier without
// placement groups if possible, and then of the default tier. The team has a queue.
func (v view) exampleQueue(t ir.Team) int {
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
	best := 0
	for i, q := range t.Queues {
		if rank(q) > rank(t.Queues[best]) {
			best = i
		}
	}
	return best
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

// Lines returns the manifest of the job in YAML: a Job with one pod, a JobSet with a pod on each
// of several nodes, or on TPU slices a JobSet with a pod on each node of a slice.
func (j *exampleJob) Lines() ([]page.Command, error) {
	metadata := object{"name": exampleName, "labels": object{j.QueueLabel(): j.Queue.LocalQueue}}
	pod := j.pod()
	ir.Choose(j.Scheduler, j.addKueue, j.addKAI)(metadata, pod)
	job := object{"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": jobSpec(pod, 1)}
	if name, template := "worker", (object{"spec": jobSpec(pod, j.Pods)}); j.Capacity.Sliced() || j.Pods > 1 {
		if j.Capacity.Sliced() {
			name = "slice"
			template = object{
				// JobSet: api/jobset/v1alpha2
				"metadata": object{
					"annotations": object{"alpha.jobset.sigs.k8s.io/exclusive-topology": ir.LabelNodePool},
				},
				"spec": jobSpec(pod, j.Capacity.Machine.Slice.Hosts),
			}
		}
		job["apiVersion"], job["kind"] = "jobset.x-k8s.io/v1alpha2", "JobSet"
		job["spec"] = object{"replicatedJobs": []any{object{"name": name, "replicas": 1, "template": template}}}
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
		if name == ir.TPU || j.Pods > 1 { // a pod has all chips of its node
			number = j.Capacity.Machine.AcceleratorCount
		}
		requests[name], resources["limits"] = number, object{name: number}
	}
	container := object{
		"name": "worker", "image": "busybox:1.37", "command": []string{"sh", "-c", "hostname; sleep 60; echo done"},
		"resources": resources,
	}
	if j.Pods > 1 {
		container["env"] = []any{object{"name": "MASTER_ADDR", "value": exampleName + "-worker-0-0." + exampleName}}
		const greet = `echo "pod $JOB_COMPLETION_INDEX meets the others at $MASTER_ADDR"; sleep 60`
		container["command"] = []string{"sh", "-c", greet}
	}
	spec := object{
		"restartPolicy": "Never", "serviceAccountName": j.Team.KubeAccount, "containers": []any{container},
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
