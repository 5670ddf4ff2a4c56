package kai_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	kaifake "github.com/NVIDIA/KAI-scheduler/pkg/apis/client/clientset/versioned/fake"
	"github.com/NVIDIA/KAI-scheduler/pkg/apis/scheduling/v2alpha2"
	"github.com/NVIDIA/KAI-scheduler/pkg/common/constants"
	"github.com/NVIDIA/KAI-scheduler/pkg/podgrouper/podgroup"
	"github.com/NVIDIA/KAI-scheduler/pkg/podgrouper/podgrouper/plugins/defaultgrouper"
	jobgrouper "github.com/NVIDIA/KAI-scheduler/pkg/podgrouper/podgrouper/plugins/job"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/actions"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/cache"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/conf"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/conf_util"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/framework"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/plugins"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	kubetesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cluster holds the objects of an API server. Its method cycle lets all controllers
// act on them.
type cluster struct {
	t    *testing.T
	kube *kubefake.Clientset
	kai  *kaifake.Clientset
	jobs []*batchv1.Job // in the order of their submission
	pods int            // made so far: tells names and ages apart

	evicted []string // the jobs whose pods the scheduler deleted
}

var podsResource = corev1.SchemeGroupVersion.WithResource("pods")

// newCluster returns a cluster with the folder's nodes and queues, and the
// PriorityClasses that KAI Scheduler's chart installs.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	actions.InitDefaultActions()
	plugins.InitDefaultPlugins()
	c := &cluster{t: t, kube: kubefake.NewClientset(), kai: kaifake.NewSimpleClientset()}
	for _, node := range nodes(t) {
		c.must(c.kube.Tracker().Add(node))
	}
	for i, queue := range queues(t) {
		queue.CreationTimestamp = age(i)
		c.must(c.kai.Tracker().Add(queue))
	}
	// Source: KAI-Scheduler, deployments/kai-scheduler/templates/priorityclasses.
	for name, value := range map[string]int32{"train": 50, "build-preemptible": 75, "build": 100, "inference": 125} {
		c.must(c.kube.Tracker().Add(&schedulingv1.PriorityClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value,
		}))
	}
	// Evicting a pod deletes it: the pod keeps its node until its containers end.
	c.kube.PrependReactor("delete", "pods", func(action kubetesting.Action) (bool, runtime.Object, error) {
		deleted := action.(kubetesting.DeleteAction)
		object, err := c.kube.Tracker().Get(podsResource, deleted.GetNamespace(), deleted.GetName())
		if err != nil {
			return true, nil, err
		}
		pod := object.(*corev1.Pod).DeepCopy()
		now := metav1.Now()
		pod.DeletionTimestamp = &now
		c.evicted = append(c.evicted, pod.OwnerReferences[0].Name)
		return true, nil, c.kube.Tracker().Update(podsResource, pod, pod.Namespace)
	})
	return c
}

// age makes later objects younger: the scheduler compares the times of creation.
func age(i int) metav1.Time {
	return metav1.NewTime(time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC))
}

func (c *cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// cordon makes the last node unschedulable, as kubectl and the node controller do.
func (c *cluster) cordon() {
	c.t.Helper()
	all := nodes(c.t)
	node := all[len(all)-1]
	node.Spec.Unschedulable = true
	node.Spec.Taints = append(node.Spec.Taints,
		corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	c.must(c.kube.Tracker().Update(corev1.SchemeGroupVersion.WithResource("nodes"), node, ""))
}

// uncordon makes the last node schedulable again.
func (c *cluster) uncordon() {
	c.t.Helper()
	all := nodes(c.t)
	c.must(c.kube.Tracker().Update(corev1.SchemeGroupVersion.WithResource("nodes"), all[len(all)-1], ""))
	for range 3 {
		c.cycle()
	}
}

// submit adds a job and runs cycles until nothing changes.
func (c *cluster) submit(job *batchv1.Job) {
	c.t.Helper()
	job.UID = types.UID("uid-" + job.Name)
	c.jobs = append(c.jobs, job)
	const quiet, limit = 3, 30
	rested := 0
	for range limit {
		before := c.state()
		c.cycle()
		if rested++; c.state() != before {
			rested = 0
		}
		if rested == quiet {
			return
		}
	}
	c.t.Fatalf("%s: no rest after %d cycles:\n%s", job.Name, limit, c.state())
}

// state returns the state of the pods, one line for each pod.
func (c *cluster) state() string {
	lines := ""
	for _, pod := range c.list() {
		lines += fmt.Sprintln(pod.Name, pod.Spec.NodeName, pod.Status.Phase, pod.DeletionTimestamp != nil)
	}
	return lines
}

// placement returns the jobs on each node that runs any. Waiting jobs are on node
// "".
func (c *cluster) placement() map[string][]string {
	on := map[string][]string{}
	for _, pod := range c.list() {
		on[pod.Spec.NodeName] = append(on[pod.Spec.NodeName], pod.OwnerReferences[0].Name)
	}
	for _, jobs := range on {
		slices.Sort(jobs)
	}
	return on
}

// list returns the pods, the oldest first.
func (c *cluster) list() []corev1.Pod {
	c.t.Helper()
	pods, err := c.kube.CoreV1().Pods("").List(c.t.Context(), metav1.ListOptions{})
	c.must(err)
	slices.SortFunc(pods.Items, func(a, b corev1.Pod) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	return pods.Items
}

// cycle lets every controller act once. A pod that the scheduler deletes in one
// cycle still exists in the next cycle, and is gone after it.
func (c *cluster) cycle() {
	c.t.Helper()
	terminating := slices.DeleteFunc(c.list(), func(p corev1.Pod) bool { return p.DeletionTimestamp == nil })
	c.control()
	c.schedule()
	c.bind()
	for _, pod := range terminating {
		c.must(c.kube.Tracker().Delete(podsResource, pod.Namespace, pod.Name))
	}
}

// control creates a pod for each job that has none, as the Job controller does. A
// job with a podFailurePolicy gets another pod only when the earlier pod is gone
// completely.
func (c *cluster) control() {
	c.t.Helper()
	have := map[string]bool{}
	for _, pod := range c.list() {
		have[pod.OwnerReferences[0].Name] = true
	}
	for _, job := range c.jobs {
		if have[job.Name] {
			continue
		}
		if *job.Spec.Parallelism != 1 || job.Spec.PodFailurePolicy == nil {
			c.t.Fatalf("%s is not a job of one pod with a podFailurePolicy", job.Name)
		}
		c.pods++
		pod := &corev1.Pod{
			ObjectMeta: *job.Spec.Template.ObjectMeta.DeepCopy(),
			Spec:       *job.Spec.Template.Spec.DeepCopy(),
			Status:     corev1.PodStatus{Phase: corev1.PodPending},
		}
		pod.Namespace = job.Namespace
		pod.Name = fmt.Sprintf("%s-0-%d", job.Name, c.pods)
		pod.UID = types.UID("uid-" + pod.Name)
		pod.CreationTimestamp = age(c.pods)
		pod.OwnerReferences = []metav1.OwnerReference{
			{APIVersion: job.APIVersion, Kind: job.Kind, Name: job.Name, UID: job.UID},
		}
		c.group(job, pod)
		c.must(c.kube.Tracker().Create(podsResource, pod, pod.Namespace))
	}
}

// group lets KAI's grouper create the pod's PodGroup, and sets its name on the pod.
func (c *cluster) group(job *batchv1.Job, pod *corev1.Pod) {
	c.t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(job)
	c.must(err)
	api := grouperClient{cluster: c}
	grouper := jobgrouper.NewK8sJobGrouper(api,
		defaultgrouper.NewDefaultGrouper(constants.DefaultQueueLabel, constants.DefaultNodePoolLabelKey, api), false)
	metadata, err := grouper.GetPodGroupMetadata(&unstructured.Unstructured{Object: content}, pod)
	c.must(err)
	handler := podgroup.NewHandler(api, constants.DefaultNodePoolLabelKey, constants.DefaultQueueLabel)
	c.must(handler.ApplyToCluster(c.t.Context(), *metadata))
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, constants.PodGroupAnnotationForPod, metadata.Name)
}

// grouperClient implements the methods of a client that the grouper needs: it reads
// PriorityClasses and creates PodGroups. Any other method panics.
type grouperClient struct {
	client.Client
	cluster *cluster
}

func (g grouperClient) Get(ctx context.Context, key client.ObjectKey, object client.Object,
	_ ...client.GetOption) error {
	switch object := object.(type) {
	case *schedulingv1.PriorityClass:
		found, err := g.cluster.kube.SchedulingV1().PriorityClasses().Get(ctx, key.Name, metav1.GetOptions{})
		if err == nil {
			*object = *found
		}
		return err
	case *v2alpha2.PodGroup:
		found, err := g.cluster.kai.SchedulingV2alpha2().PodGroups(key.Namespace).Get(ctx, key.Name,
			metav1.GetOptions{})
		if err == nil {
			*object = *found
		}
		return err
	default:
		return fmt.Errorf("unexpected %T", object)
	}
}

func (g grouperClient) Create(ctx context.Context, object client.Object, _ ...client.CreateOption) error {
	group, ok := object.(*v2alpha2.PodGroup)
	if !ok {
		return fmt.Errorf("unexpected %T", object)
	}
	group.UID = types.UID("uid-" + group.Name)
	group.CreationTimestamp = age(g.cluster.pods)
	_, err := g.cluster.kai.SchedulingV2alpha2().PodGroups(group.Namespace).Create(ctx, group, metav1.CreateOptions{})
	return err
}

// schedule runs one cycle of the scheduler, as its program does. The cache is new
// in each cycle, so that it has seen all objects.
func (c *cluster) schedule() {
	c.t.Helper()
	config, err := conf_util.GetDefaultSchedulerConf()
	c.must(err)
	// Source: the defaults of the program's flags, cmd/scheduler/app/options. But no
	// status is recorded: it would be written at any time, and nothing here reads it.
	params := &conf.SchedulerParams{
		SchedulerName: constants.DefaultSchedulerName,
		PartitionParams: &conf.SchedulingNodePoolParams{
			NodePoolLabelKey: constants.DefaultNodePoolLabelKey,
		},
		MaxNumberConsolidationPreemptees:  16,
		UseSchedulingSignatures:           true,
		FullHierarchyFairness:             true,
		AllowConsolidatingReclaim:         true,
		GlobalDefaultStalenessGracePeriod: time.Minute,
		SchedulePeriod:                    time.Second,
	}
	stop := make(chan struct{})
	defer close(stop)
	state := cache.New(&cache.SchedulerCacheParams{
		KubeClient:                c.kube,
		KAISchedulerClient:        c.kai,
		SchedulerName:             params.SchedulerName,
		NodePoolParams:            params.PartitionParams,
		FullHierarchyFairness:     params.FullHierarchyFairness,
		AllowConsolidatingReclaim: params.AllowConsolidatingReclaim,
		DiscoveryClient:           c.kube.Discovery(),
	})
	state.Run(stop)
	state.WaitForCacheSync(stop)
	session, err := framework.OpenSession(state, config, params, "", nil)
	c.must(err)
	steps, err := conf_util.GetActionsFromConfig(config)
	c.must(err)
	for _, step := range steps {
		step.Execute(session)
	}
	framework.CloseSession(session) // and wait for what it decided to be done
}

// bind does the work of KAI's binder and the kubelet for the pods with a
// BindRequest.
func (c *cluster) bind() {
	c.t.Helper()
	requests, err := c.kai.SchedulingV1alpha2().BindRequests("").List(c.t.Context(), metav1.ListOptions{})
	c.must(err)
	for _, request := range requests.Items {
		pod, err := c.kube.CoreV1().Pods(request.Namespace).Get(c.t.Context(), request.Spec.PodName,
			metav1.GetOptions{})
		c.must(err)
		pod.Spec.NodeName = request.Spec.SelectedNode
		pod.Status.Phase = corev1.PodRunning
		c.must(c.kube.Tracker().Update(podsResource, pod, pod.Namespace))
		c.must(c.kai.SchedulingV1alpha2().BindRequests(request.Namespace).Delete(c.t.Context(), request.Name,
			metav1.DeleteOptions{}))
	}
}
