package runner

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/NVIDIA/KAI-scheduler/pkg/common/constants"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/kai/world"
	"github.com/batchwright/batchwright/rehearse/stage"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	podresource "k8s.io/component-helpers/resource"
)

// podSet is the name of the only pod set of a Job.
const podSet = "main"

// template is a Job of the blueprint.
type template struct {
	name    string
	object  *batchv1.Job
	queue   string
	pods    int
	request stage.Amounts // of one pod
}

// job is one job of the scenario, with its controller.
type job struct {
	stage.Job
	template *template
	object   *batchv1.Job
	group    string // name of the PodGroup

	open    bool // a run is under way: pods have nodes
	pods    []*pod
	created int // pods so far
}

// pod is a pod of a job.
type pod struct {
	job    *job
	object *corev1.Pod
	node   *stage.Node // nil while it waits
}

// newTemplate decodes the Job of a template.
func (p *play) newTemplate(t rehearsal.Template) (*template, error) {
	kind, err := stage.KindOf(t.Object)
	if err != nil {
		return nil, err
	}
	if kind != "Job" {
		return nil, fmt.Errorf("a rehearsal with KAI Scheduler cannot play jobs of kind %q", kind)
	}
	o, err := stage.Decode[batchv1.Job](t.Object)
	if err != nil {
		return nil, err
	}
	out := &template{name: t.Name, object: o, queue: o.Labels[constants.DefaultQueueLabel], pods: 1}
	if o.Spec.Parallelism != nil {
		out.pods = int(*o.Spec.Parallelism)
	}
	spec := &o.Spec.Template.Spec
	out.request = stage.AmountsOf(podresource.PodRequests(&corev1.Pod{Spec: *spec}, podresource.PodResourcesOptions{}))
	switch {
	case !slices.Contains(p.world.Queues(), out.queue):
		return nil, fmt.Errorf("there is no queue %q", out.queue)
	case len(spec.ResourceClaims) > 0:
		return nil, errors.New("a rehearsal with KAI Scheduler cannot play pods that claim devices")
	case spec.Affinity != nil || len(spec.TopologySpreadConstraints) > 0:
		return nil, errors.New("a rehearsal with KAI Scheduler cannot play affinity or topology of pods")
	case out.pods > 1 && o.Annotations[world.AnnotationMembers] != fmt.Sprint(out.pods):
		return nil, fmt.Errorf("a rehearsal with KAI Scheduler can only play jobs whose pods start together: "+
			"the annotation %s is not %d", world.AnnotationMembers, out.pods)
	case !slices.ContainsFunc(p.nodes.Pools, out.runsOn):
		return nil, errors.New("its pods select nodes that no capacity has")
	}
	// Volumes and their data are there: nothing waits for them.
	spec.Volumes = nil
	return out, nil
}

// runsOn reports whether the pods select nodes of a pool.
func (t *template) runsOn(pool *stage.Pool) bool {
	for key, value := range t.object.Spec.Template.Spec.NodeSelector {
		if pool.Labels[key] != value {
			return false
		}
	}
	return true
}

// submit creates the Job with its PodGroup and pods. Its time of creation decides the order
// of what is submitted in one second: the number of the submission comes first.
func (p *play) submit(j *job) error {
	rank := j.Number
	if p.scenario.ReversedTies {
		rank = len(p.jobs) - j.Number
	}
	j.object = j.template.object.DeepCopy()
	j.object.Name = j.Name
	j.object.UID = types.UID(fmt.Sprintf("%08x", rank))
	j.object.CreationTimestamp = p.after(time.Duration(rank))
	j.Submitted = true
	return p.createPods(j)
}

// after returns a time just after the present second.
func (p *play) after(d time.Duration) metav1.Time {
	return metav1.NewTime(p.start.Add(time.Duration(p.agenda.Now)*time.Second + d))
}

// createPods creates the pods that the Job lacks, as its controller does.
func (p *play) createPods(j *job) error {
	for len(j.pods) < j.template.pods {
		j.created++
		spec := j.object.Spec.Template.DeepCopy()
		o := &corev1.Pod{ObjectMeta: spec.ObjectMeta, Spec: spec.Spec}
		o.Status.Phase = corev1.PodPending
		o.Namespace, o.Name = j.object.Namespace, fmt.Sprintf("%s-%d", j.Name, j.created)
		o.UID = types.UID(fmt.Sprintf("%s-%08d", j.object.UID, j.created))
		o.CreationTimestamp = p.after(time.Duration(j.created))
		o.OwnerReferences = []metav1.OwnerReference{
			{APIVersion: "batch/v1", Kind: "Job", Name: j.Name, UID: j.object.UID},
		}
		key := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
		if p.pods[key] != nil {
			return fmt.Errorf("two pods have the name %s at the same time", key)
		}
		if j.group == "" {
			group, err := p.world.Group(j.object, o)
			if err != nil {
				return err
			}
			j.group = group
			p.byGroup[group] = j
		}
		metav1.SetMetaDataAnnotation(&o.ObjectMeta, constants.PodGroupAnnotationForPod, j.group)
		pod := &pod{job: j, object: o}
		j.pods = append(j.pods, pod)
		p.pods[key] = pod
		p.world.SetPod(o)
	}
	p.changed = true
	return nil
}

// unplaced returns the number of pods without a node. Pods that the controller has yet to
// create again count.
func (j *job) unplaced() int {
	if !j.Submitted || j.Ended {
		return 0
	}
	n := j.template.pods
	for _, pod := range j.pods {
		if pod.node != nil {
			n--
		}
	}
	return n
}

// bind starts a pod on its node, as KAI's binder and the kubelet do. When all pods run, the
// work starts.
func (p *play) bind(b world.Binding) error {
	pod, n := p.pods[b.Pod], p.byNode[b.Node]
	if pod == nil || n == nil {
		return fmt.Errorf("KAI Scheduler binds pod %s to node %s, and one of them does not exist", b.Pod, b.Node)
	}
	j := pod.job
	pod.node = n
	pod.object = pod.object.DeepCopy()
	pod.object.Spec.NodeName, pod.object.Status.Phase = b.Node, corev1.PodRunning
	p.world.SetPod(pod.object)
	p.nodes.Start(n, j.template.request, 1)
	if !j.open {
		j.open = true
		j.Work.Begin(p.agenda.Now, nil)
	}
	j.Work.Run().Flavors = j.flavors()
	if j.unplaced() > 0 {
		return nil
	}
	j.Work.Start(p.agenda.Now)
	if j.Runs > 0 {
		p.agenda.Plan(p.agenda.Now+j.Work.Left, func() error { return p.finish(j) })
	}
	return nil
}

// flavors returns the pools of the pods that have nodes, by name.
func (j *job) flavors() []rehearsal.PodSetFlavor {
	counts := map[string]int{}
	for _, pod := range j.pods {
		if pod.node != nil {
			counts[pod.node.Pool.Name]++
		}
	}
	var out []rehearsal.PodSetFlavor
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, rehearsal.PodSetFlavor{PodSet: podSet, Flavor: name, Pods: counts[name]})
	}
	return out
}

// finish ends a job that has done its work, unless it was stopped meanwhile.
func (p *play) finish(j *job) error {
	if !j.open || j.Ended || !j.Work.Done(p.agenda.Now) {
		return nil
	}
	p.end(j, rehearsal.Finished)
	return nil
}

// remove deletes the job, as somebody who uses kubectl.
func (p *play) remove(j *job) error {
	if j.Submitted && !j.Ended {
		p.end(j, rehearsal.Deleted)
	}
	return nil
}

// end ends a job for good.
func (p *play) end(j *job, outcome rehearsal.Outcome) {
	if j.open {
		j.Work.End(p.agenda.Now, false)
	}
	j.open = false
	j.End(p.agenda.Now, outcome)
	p.ended++
	p.changed = true
	delete(p.byGroup, j.group)
	p.removePods(j, nil)
	p.world.RemoveGroup(j.object.Namespace, j.group)
}

// removePods removes the pods of a job that are on a node, or all its pods if the node is nil.
func (p *play) removePods(j *job, on *stage.Node) {
	j.pods = slices.DeleteFunc(j.pods, func(pod *pod) bool {
		if on != nil && pod.node != on {
			return false
		}
		if pod.node != nil {
			p.nodes.End(pod.node, j.template.request, 1)
		}
		delete(p.pods, types.NamespacedName{Namespace: pod.object.Namespace, Name: pod.object.Name})
		p.world.RemovePod(pod.object)
		return true
	})
}

// evict ends the run of the pod's job, all of whose pods run together: KAI evicts the others
// too. The Job controller creates the pods again, and the job waits.
func (p *play) evict(e world.Eviction) {
	pod := p.pods[e.Pod]
	if pod == nil || !pod.job.open {
		return // a pod of a job that this cycle has evicted already
	}
	j := pod.job
	run := j.Work.Run()
	run.Evicted, run.Message = rehearsal.EvictionReason(e.Action), e.Message
	if by := p.byGroup[e.By]; by != nil && by != j {
		run.By = by.object.Namespace + "/" + by.Name
	}
	j.Work.End(p.agenda.Now, true)
	j.open = false
	p.recreatePods(j, nil)
}

// recreateSeconds is the time after which the Job controller creates pods again. It gathers
// events for a second, and waits until a pod has ended completely: KAI's next cycle comes
// first, and the job for which it has evicted the pod starts there. Source: Kubernetes,
// syncJobBatchPeriod in pkg/controller/job.
const recreateSeconds = 2

// recreatePods removes pods of a job as removePods. The Job controller creates others.
func (p *play) recreatePods(j *job, on *stage.Node) {
	p.agenda.Plan(p.agenda.Now+recreateSeconds, func() error {
		if j.Ended {
			return nil
		}
		return p.createPods(j)
	})
	p.removePods(j, on)
}
