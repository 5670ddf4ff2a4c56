// Package world runs the code of KAI Scheduler, one scheduling cycle at a time.
//
// The queues of a platform go in, and then nodes, pods and pod groups. KAI's snapshot of the
// cluster, its session, its default actions and plugins, and its grouper decide which pods
// start on which nodes and which are evicted; the package decides nothing. It plays the API
// server: KAI's listers read the objects directly, and the decisions of a cycle are returned
// instead of written.
//
// KAI compares the times of objects with the clock, so a World lives in a bubble of
// testing/synctest.
package world

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	kaiclient "github.com/NVIDIA/KAI-scheduler/pkg/apis/client/informers/externalversions"
	kaiv2 "github.com/NVIDIA/KAI-scheduler/pkg/apis/scheduling/v2"
	"github.com/NVIDIA/KAI-scheduler/pkg/apis/scheduling/v2alpha2"
	"github.com/NVIDIA/KAI-scheduler/pkg/common/constants"
	"github.com/NVIDIA/KAI-scheduler/pkg/podgrouper/podgroup"
	"github.com/NVIDIA/KAI-scheduler/pkg/podgrouper/podgrouper/plugins/defaultgrouper"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/actions"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/conf"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/conf_util"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/framework"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/plugins"
	"github.com/batchwright/batchwright/rehearse/stage"
	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/features"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// Period is the time between two scheduling cycles. Source: KAI Scheduler, the default of
// --schedule-period, cmd/scheduler/app/options.
const Period = time.Second

// AnnotationMembers holds the number of pods of a Job that must start together. Source: KAI
// Scheduler 0.17, pkg/podgrouper/podgrouper/plugins/job.
const AnnotationMembers = "kai.scheduler/batch-min-member"

// World is one KAI Scheduler with its cluster.
type World struct {
	config  *conf.SchedulerConfiguration
	params  *conf.SchedulerParams
	actions []framework.Action
	cache   *snapshots

	nodes, pods, groups, queues, classes cache.Indexer

	grouper *defaultgrouper.DefaultGrouper
	handler *podgroup.Handler
	names   []string // of the queues, in the order of the objects
}

// Prepare registers KAI's actions and plugins, and silences its libraries. Call it once,
// before New.
func Prepare() error {
	ctrllog.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	actions.InitDefaultActions()
	plugins.InitDefaultPlugins()
	// No job of a platform claims devices, and without claims the feature changes nothing.
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(
		map[string]bool{string(features.DynamicResourceAllocation): false})
}

// New returns a World with queues and PriorityClasses. It returns an error, made for the
// user, if an object is of no kind that a rehearsal knows, or has a field that KAI does not
// know.
func New(objects []json.RawMessage) (*World, error) {
	config, err := conf_util.GetDefaultSchedulerConf()
	if err != nil {
		return nil, err
	}
	steps, err := conf_util.GetActionsFromConfig(config)
	if err != nil {
		return nil, err
	}
	params := defaultParams()
	kube, kai := informers.NewSharedInformerFactory(nil, 0), kaiclient.NewSharedInformerFactory(nil, 0)
	snapshots, err := newSnapshots(params, kube, kai)
	if err != nil {
		return nil, err
	}
	w := &World{
		config: config, params: params, actions: steps, cache: snapshots,
		nodes:   kube.Core().V1().Nodes().Informer().GetIndexer(),
		pods:    kube.Core().V1().Pods().Informer().GetIndexer(),
		classes: kube.Scheduling().V1().PriorityClasses().Informer().GetIndexer(),
		groups:  kai.Scheduling().V2alpha2().PodGroups().Informer().GetIndexer(),
		queues:  kai.Scheduling().V2().Queues().Informer().GetIndexer(),
	}
	api := grouperClient{world: w}
	w.grouper = defaultgrouper.NewDefaultGrouper(constants.DefaultQueueLabel, constants.DefaultNodePoolLabelKey, api)
	w.handler = podgroup.NewHandler(api, constants.DefaultNodePoolLabelKey, constants.DefaultQueueLabel)
	for i, raw := range objects {
		if err := w.read(raw); err != nil {
			return nil, fmt.Errorf("object %d: %w", i, err)
		}
	}
	return w, nil
}

// defaultParams returns the parameters that the scheduler's program has without flags, as
// the chart starts it. Source: KAI Scheduler, cmd/scheduler/app/options.
func defaultParams() *conf.SchedulerParams {
	partition := &conf.SchedulingNodePoolParams{NodePoolLabelKey: constants.DefaultNodePoolLabelKey}
	return &conf.SchedulerParams{
		SchedulerName:                     constants.DefaultSchedulerName,
		PartitionParams:                   partition,
		MaxNumberConsolidationPreemptees:  16,
		UseSchedulingSignatures:           true,
		FullHierarchyFairness:             true,
		AllowConsolidatingReclaim:         true,
		GlobalDefaultStalenessGracePeriod: time.Minute,
		SchedulePeriod:                    Period,
	}
}

func (w *World) read(raw json.RawMessage) error {
	kind, err := stage.KindOf(raw)
	if err != nil {
		return err
	}
	switch kind {
	case "Queue":
		q, err := stage.Decode[kaiv2.Queue](raw)
		if err != nil {
			return err
		}
		// KAI prefers older queues where nothing else decides.
		q.CreationTimestamp = metav1.NewTime(time.Now().Add(time.Duration(len(w.names))))
		w.names = append(w.names, q.Name)
		return w.queues.Add(q)
	case "PriorityClass":
		c, err := stage.Decode[schedulingv1.PriorityClass](raw)
		if err != nil {
			return err
		}
		return w.classes.Add(c)
	case "Namespace":
		return nil
	}
	return fmt.Errorf("a rehearsal cannot play objects of kind %q", kind)
}

// Queues returns the names of the queues, in the order of the objects.
func (w *World) Queues() []string { return w.names }

// An indexer fails only for values without metadata, so the methods that change it here
// return no errors.

// SetNode adds or changes a node.
func (w *World) SetNode(n *corev1.Node) { _ = w.nodes.Add(n) }

// RemoveNode removes a node.
func (w *World) RemoveNode(n *corev1.Node) { _ = w.nodes.Delete(n) }

// SetPod adds or changes a pod. A change needs another object: KAI keeps the last one.
func (w *World) SetPod(p *corev1.Pod) { _ = w.pods.Add(p) }

// RemovePod removes a pod.
func (w *World) RemovePod(p *corev1.Pod) { _ = w.pods.Delete(p) }

// RemoveGroup removes a PodGroup.
func (w *World) RemoveGroup(namespace, name string) {
	_ = w.groups.Delete(&v2alpha2.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
}

// Group lets KAI's grouper make the PodGroup of a Job, and returns the name. pod is one of
// the Job's pods. The Job must have its UID and its time of creation.
//
// The number of pods that start together comes from the annotation AnnotationMembers. The
// release of KAI Scheduler in go.mod does not know the annotation, and makes a PodGroup for
// each pod.
func (w *World) Group(job *batchv1.Job, pod *corev1.Pod) (string, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(job)
	if err != nil {
		return "", err
	}
	metadata, err := w.grouper.GetPodGroupMetadata(&unstructured.Unstructured{Object: content}, pod)
	if err != nil {
		return "", err
	}
	if text, ok := job.Annotations[AnnotationMembers]; ok {
		members, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return "", fmt.Errorf("annotation %s: %w", AnnotationMembers, err)
		}
		metadata.MinAvailable = int32(members)
	}
	if err := w.handler.ApplyToCluster(context.Background(), *metadata); err != nil {
		return "", err
	}
	found, _, err := w.groups.GetByKey(metadata.Namespace + "/" + metadata.Name)
	if err != nil {
		return "", err
	}
	found.(*v2alpha2.PodGroup).CreationTimestamp = job.CreationTimestamp
	return metadata.Name, nil
}

// Decisions are what KAI decided in a cycle.
type Decisions struct {
	Bindings  []Binding
	Evictions []Eviction
	// Waits are KAI's messages about the groups with pods that wait, by name of the group.
	Waits map[string]string
	// Wake is the time at which KAI decides otherwise although nothing has changed, and zero
	// if there is none: it evicts groups with too few pods after a grace period.
	Wake time.Time
}

// Binding is a node for a pod.
type Binding struct {
	Pod  types.NamespacedName
	Node string
}

// Eviction is the eviction of a pod.
type Eviction struct {
	Pod     types.NamespacedName
	Action  string // of KAI, such as "reclaim"
	By      string // name of the PodGroup that takes the place, "" for none
	Message string
}

// Cycle runs one cycle of the scheduler, as its program does (runOnce in pkg/scheduler).
func (w *World) Cycle() (*Decisions, error) {
	w.cache.decisions = &Decisions{Waits: map[string]string{}}
	session, err := framework.OpenSession(w.cache, w.config, w.params, "", nil)
	if err != nil {
		return nil, err
	}
	for _, action := range w.actions {
		whole, err := w.execute(action, session)
		if err != nil {
			return nil, err
		}
		if !whole {
			break
		}
	}
	framework.CloseSession(session)
	// KAI evicts and binds the pods of a gang in an order that differs from run to run.
	slices.SortFunc(w.cache.decisions.Evictions, func(a, b Eviction) int { return compareNames(a.Pod, b.Pod) })
	slices.SortFunc(w.cache.decisions.Bindings, func(a, b Binding) int { return compareNames(a.Pod, b.Pod) })
	return w.cache.decisions, w.keepTimes()
}

func compareNames(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// execute executes an action, and reports whether KAI came to its end.
//
// The release in go.mod dereferences a nil pointer if a cycle evicts a gang of which some
// pods wait, and then looks for room for these pods (NewIdleGpusFilter in
// pkg/scheduler/actions/common/solvers). Later releases go on. Here the cycle ends with what
// it has decided so far, and the next cycle goes on. A panic of a cycle without decisions
// would come again, so it is an error.
func (w *World) execute(action framework.Action, session *framework.Session) (whole bool, err error) {
	defer func() {
		if problem := recover(); problem != nil && len(w.cache.decisions.Evictions) == 0 {
			err = fmt.Errorf("KAI Scheduler panics in action %s: %v", action.Name(), problem)
		}
	}()
	action.Execute(session)
	return true, nil
}
