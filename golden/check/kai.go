package check

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// KAIQueue is the part of KAI Scheduler's Queue that a manifest may use. Pointers
// distinguish written fields from missing ones.
type KAIQueue struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		ParentQueue string `json:"parentQueue,omitempty"`
		Priority    *int   `json:"priority"`
		Resources   struct {
			CPU    KAIShare `json:"cpu"`
			GPU    KAIShare `json:"gpu"`
			Memory KAIShare `json:"memory"`
		} `json:"resources"`
	} `json:"spec"`
}

type KAIShare struct {
	Limit  *int64 `json:"limit"`
	Weight *int64 `json:"overQuotaWeight"`
	Quota  *int64 `json:"quota"`
}

// DeepCopyObject makes the type usable in a scheme. Nothing here copies objects.
func (q *KAIQueue) DeepCopyObject() runtime.Object { return q }

func addKAIQueue(scheme *runtime.Scheme) error {
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "scheduling.run.ai", Version: "v2", Kind: "Queue"},
		&KAIQueue{})
	return nil
}

const (
	kaiQueueLabel          = "kai.scheduler/queue"
	kaiPreemptibilityLabel = "kai.scheduler/preemptibility"
	kaiMinMember           = "kai.scheduler/batch-min-member"
)

// KAIQueue checks that a queue can give its guarantee, that its parent exists and
// has no parent itself, and that the guarantee of a parent is the sum of its
// children's.
func (c *kubernetesCheck) kaiQueue(from objectKey, q *KAIQueue) {
	r := q.Spec.Resources
	for _, s := range []KAIShare{r.CPU, r.GPU, r.Memory} {
		if s.Limit == nil || s.Quota == nil || q.Spec.Priority == nil {
			c.errorf("%s: a limit, a quota or the priority is not written", from)
			return
		}
		if s.Weight == nil || *s.Weight != 1 {
			c.errorf("%s: a weight is not 1: its part of what is idle is none, or not what the guide says", from)
		}
	}
	if *r.CPU.Limit != -1 || *r.CPU.Quota != -1 || *r.Memory.Limit != -1 || *r.Memory.Quota != -1 {
		c.errorf("%s: cpu or memory is not free", from)
	}
	if limit, quota := *r.GPU.Limit, *r.GPU.Quota; quota < 0 || limit != -1 && limit < quota {
		c.errorf("%s: %d GPUs guaranteed, and %d at most", from, quota, limit)
	}
	if q.Spec.ParentQueue != "" {
		if parent, ok := findObject[*KAIQueue](c, from, "Queue", "", q.Spec.ParentQueue); ok &&
			(parent.Spec.ParentQueue != "" || parent.Labels["team"] != "") {
			c.errorf("%s: its parent is a team's queue, or has a parent", from)
		}
	}
	if team := q.Labels["team"]; team != "" {
		return
	}
	guaranteed := int64(0)
	for _, key := range c.order {
		if child, ok := c.objects[key].(*KAIQueue); ok && child.Spec.ParentQueue == q.Name &&
			child.Spec.Resources.GPU.Quota != nil {
			guaranteed += *child.Spec.Resources.GPU.Quota
		}
	}
	if *r.GPU.Quota < guaranteed || *r.GPU.Limit != -1 {
		c.errorf("%s: guarantees %d GPUs and %d at most, and its teams %d", from, *r.GPU.Quota, *r.GPU.Limit,
			guaranteed)
	}
}

// kaiWorkload checks that KAI Scheduler finds the queue, the priority and the size
// of a job, and can start the job.
func (c *kubernetesCheck) kaiWorkload(from objectKey, m metav1.ObjectMeta, jobs int64, spec batchv1.JobSpec) {
	pod, template := spec.Template.Spec, spec.Template.Labels
	name := m.Labels[kaiQueueLabel]
	if template[kaiQueueLabel] != name || template[kaiPreemptibilityLabel] != m.Labels[kaiPreemptibilityLabel] {
		c.errorf("%s: its pods are labelled %v", from, template)
	}
	if pod.SchedulerName != "kai-scheduler" {
		c.errorf("%s: scheduler %q starts it", from, pod.SchedulerName)
	}
	if namespace, ok := c.objects[objectKey{"Namespace", "", m.Namespace}].(*corev1.Namespace); ok {
		allowed := strings.Split(strings.TrimPrefix(namespace.Annotations["queues"], name+"="), "|")
		if !slices.Contains(allowed, pod.PriorityClassName) {
			c.errorf("%s: %s=%s is not one of %s's queues: %s", from, name, pod.PriorityClassName, m.Namespace,
				namespace.Annotations["queues"])
		}
	}
	value := kaiClassValues[pod.PriorityClassName]
	if class, ok := c.objects[objectKey{"PriorityClass", "", pod.PriorityClassName}].(*schedulingv1.PriorityClass); ok {
		value = class.Value
	}
	preemptibility := "preemptible"
	if value >= 100 {
		preemptibility = "non-preemptible"
	}
	if m.Labels[kaiPreemptibilityLabel] != preemptibility {
		c.errorf("%s: %s, and a priority of %d", from, m.Labels[kaiPreemptibilityLabel], value)
	}
	pods, gang := int64(*spec.Parallelism), ""
	if from.kind == "Job" && pods > 1 {
		gang = strconv.FormatInt(pods, 10)
	}
	if m.Annotations[kaiMinMember] != gang {
		c.errorf("%s: %d pods, and it starts with %q", from, pods, m.Annotations[kaiMinMember])
	}
	queue, ok := findObject[*KAIQueue](c, from, "Queue", "", name)
	if !ok {
		return
	}
	if queue.Labels["team"] == "" {
		c.errorf("%s: jobs in %s, which is no team's, wait for ever", from, keyOf(queue))
	}
	wanted := int64(0)
	for _, container := range pod.Containers {
		gpus := container.Resources.Requests["nvidia.com/gpu"]
		wanted += gpus.Value() * pods * jobs
	}
	gpu := queue.Spec.Resources.GPU
	if gpu.Limit == nil || gpu.Quota == nil {
		return // reported at the queue
	}
	if *gpu.Limit == 0 {
		return // it waits for reservations to begin
	}
	if preemptibility == "non-preemptible" && wanted > *gpu.Quota || *gpu.Limit != -1 && wanted > *gpu.Limit {
		c.errorf("%s: takes %d GPUs, and %s guarantees %d and gives %d at most", from, wanted, keyOf(queue), *gpu.Quota,
			*gpu.Limit)
	}
}

// kaiClassValues holds the values of the PriorityClasses in KAI Scheduler's chart.
// Source: KAI Scheduler's documentation, "Workload priority".
var kaiClassValues = map[string]int32{"train": 50, "build-preemptible": 75, "build": 100, "inference": 125}

// checkKAINodes checks that the pods of jobs fit the nodes that Terraform creates.
// Nothing adds a node selector or a toleration to the pods.
func checkKAINodes(folder fs.FS, pools []NodePool) []error {
	c, err := readKubernetes(folder)
	if err != nil || len(c.errs) > 0 {
		return nil // checkKubernetes reports it
	}
	check := func(from objectKey, pod corev1.PodSpec) {
		selected := selectedPools(pod, pools)
		for _, pool := range selected {
			for _, taint := range pool.nodeTaints() {
				key, rest, _ := strings.Cut(taint, "=")
				text, effect, _ := strings.Cut(rest, ":")
				if !ToleratesTaint(pod.Tolerations,
					corev1.Taint{Key: key, Value: text, Effect: corev1.TaintEffect(effect)}) {
					c.errorf("%s selects nodes of pool %s, and does not tolerate %s", from, pool.Label, taint)
				}
			}
		}
		if len(selected) == 0 || len(pod.NodeSelector) == 0 {
			c.errorf("%s selects no node pool's nodes: %v", from, pod.NodeSelector)
		}
	}
	for _, key := range c.order {
		switch o := c.objects[key].(type) {
		case *batchv1.Job:
			check(key, o.Spec.Template.Spec)
		case *v1alpha2.JobSet:
			for _, r := range o.Spec.ReplicatedJobs {
				check(key, r.Template.Spec.Template.Spec)
			}
		}
	}
	return c.errs
}

// selectedPools returns the node pools whose nodes a pod selects.
func selectedPools(pod corev1.PodSpec, pools []NodePool) []NodePool {
	return slices.DeleteFunc(slices.Clone(pools), func(pool NodePool) bool {
		for key, value := range pod.NodeSelector {
			if pool.nodeLabel(key) != value {
				return true
			}
		}
		return false
	})
}
