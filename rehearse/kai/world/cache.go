package world

import (
	"context"
	"fmt"
	"time"

	kaiclient "github.com/NVIDIA/KAI-scheduler/pkg/apis/client/informers/externalversions"
	"github.com/NVIDIA/KAI-scheduler/pkg/apis/scheduling/v2alpha2"
	"github.com/NVIDIA/KAI-scheduler/pkg/common/constants"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/api"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/api/common_info"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/api/eviction_info"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/api/pod_info"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/api/podgroup_info"
	schedulercache "github.com/NVIDIA/KAI-scheduler/pkg/scheduler/cache"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/cache/cluster_info"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/cache/cluster_info/data_lister"
	"github.com/NVIDIA/KAI-scheduler/pkg/scheduler/conf"
	k8splugins "github.com/NVIDIA/KAI-scheduler/pkg/scheduler/k8s_internal/plugins"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	k8sframework "k8s.io/kubernetes/pkg/scheduler/framework"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// snapshots implements the scheduler's cache: KAI's own code makes the snapshots, and the
// decisions are kept for the caller of the cycle. The scheduler's own type would write them
// with several goroutines. It embeds a nil Cache: what only serves to write decisions panics.
type snapshots struct {
	schedulercache.Cache
	kube      informers.SharedInformerFactory
	lister    data_lister.DataLister
	cluster   *cluster_info.ClusterInfo
	nodes     schedulercache.K8sClusterPodAffinityInfo
	plugins   *k8splugins.K8sPlugins
	decisions *Decisions
	times     map[types.NamespacedName]groupTimes
}

// groupTimes are the times that KAI keeps in annotations of a PodGroup.
type groupTimes struct{ stale, started *time.Time }

func newSnapshots(
	params *conf.SchedulerParams, kube informers.SharedInformerFactory, kai kaiclient.SharedInformerFactory,
) (*snapshots, error) {
	selector, err := params.PartitionParams.GetLabelSelector()
	if err != nil {
		return nil, err
	}
	s := &snapshots{kube: kube, times: map[types.NamespacedName]groupTimes{}}
	s.plugins = k8splugins.InitializeInternalPlugins(nil, kube, &s.nodes)
	s.lister = data_lister.New(kube, kai, nil, selector)
	s.cluster, err = cluster_info.New(kube, kai, nil, params.PartitionParams, params.RestrictSchedulingNodes, &s.nodes,
		params.ScheduleCSIStorage, params.FullHierarchyFairness, nil)
	return s, err
}

// Snapshot implements cache.Cache.
func (s *snapshots) Snapshot() (*api.ClusterInfo, error) {
	s.nodes = *schedulercache.NewK8sClusterPodAffinityInfo()
	return s.cluster.Snapshot()
}

// Bind implements cache.Cache.
func (s *snapshots) Bind(pod *pod_info.PodInfo, node string, _ map[string]string) error {
	s.decisions.Bindings = append(s.decisions.Bindings, Binding{
		types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, node,
	})
	return nil
}

// Evict implements cache.Cache.
func (s *snapshots) Evict(
	pod *corev1.Pod, _ *podgroup_info.PodGroupInfo, metadata eviction_info.EvictionMetadata, message string,
) error {
	e := Eviction{
		Pod:    types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name},
		Action: metadata.Action, Message: message,
	}
	if metadata.Preemptor != nil {
		e.By = metadata.Preemptor.Name
	}
	s.decisions.Evictions = append(s.decisions.Evictions, e)
	return nil
}

// RecordJobStatusEvent implements cache.Cache. KAI calls it for every group at the end of a
// cycle.
func (s *snapshots) RecordJobStatusEvent(group *podgroup_info.PodGroupInfo) error {
	if group.GetNumPendingTasks() > 0 {
		message := common_info.JobFitErrorsToMessage(group.JobFitErrors)
		if message == "" {
			message = string(common_info.DefaultPodgroupError)
		}
		s.decisions.Waits[group.Name] = message
	}
	key := types.NamespacedName{Namespace: group.Namespace, Name: group.Name}
	s.times[key] = groupTimes{group.StalenessInfo.TimeStamp, group.LastStartTimestamp}
	return nil
}

// keepTimes writes the times of the groups to their annotations, as KAI's status updater
// does, and notes when KAI looks at groups with too few pods again.
func (w *World) keepTimes() error {
	for key, times := range w.cache.times {
		delete(w.cache.times, key)
		found, exists, err := w.groups.GetByKey(key.String())
		if err != nil || !exists {
			return fmt.Errorf("PodGroup %s: exists is %t: %w", key, exists, err)
		}
		old := found.(*v2alpha2.PodGroup)
		group := old.DeepCopy()
		for name, at := range map[string]*time.Time{
			constants.StalePodgroupTimeStamp: times.stale, constants.LastStartTimeStamp: times.started,
		} {
			delete(group.Annotations, name)
			if at != nil {
				metav1.SetMetaDataAnnotation(&group.ObjectMeta, name, at.UTC().Format(time.RFC3339))
			}
		}
		if err := w.groups.Update(group); err != nil {
			return err
		}
		if times.stale == nil {
			continue
		}
		if wake := times.stale.Add(w.params.GlobalDefaultStalenessGracePeriod); wake.After(time.Now()) &&
			(w.cache.decisions.Wake.IsZero() || wake.Before(w.cache.decisions.Wake)) {
			w.cache.decisions.Wake = wake
		}
	}
	return nil
}

// WaitForWorkers implements cache.Cache.
func (*snapshots) WaitForWorkers(<-chan struct{}) {}

// TaskPipelined implements cache.Cache. If a pod waits for the end of others, a later cycle
// binds it.
func (s *snapshots) TaskPipelined(pod *pod_info.PodInfo, message string) {
	s.decisions.Waits[string(pod.Job)] = message
}

// KubeInformerFactory implements cache.Cache.
func (s *snapshots) KubeInformerFactory() informers.SharedInformerFactory { return s.kube }

// SnapshotSharedLister implements cache.Cache.
func (s *snapshots) SnapshotSharedLister() k8sframework.NodeInfoLister { return &s.nodes }

// InternalK8sPlugins implements cache.Cache.
func (s *snapshots) InternalK8sPlugins() *k8splugins.K8sPlugins { return s.plugins }

// GetDataLister implements cache.Cache.
func (s *snapshots) GetDataLister() data_lister.DataLister { return s.lister }

// grouperClient implements the methods of a client that KAI's grouper needs: it reads
// PriorityClasses and creates PodGroups. Any other method panics.
type grouperClient struct {
	client.Client
	world *World
}

// Get implements client.Client.
func (g grouperClient) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	switch object := object.(type) {
	case *schedulingv1.PriorityClass:
		found, exists, err := g.world.classes.GetByKey(key.Name)
		if err == nil && exists {
			*object = *found.(*schedulingv1.PriorityClass)
			return nil
		}
	case *v2alpha2.PodGroup:
		found, exists, err := g.world.groups.GetByKey(key.String())
		if err == nil && exists {
			*object = *found.(*v2alpha2.PodGroup)
			return nil
		}
	}
	return apierrors.NewNotFound(v2alpha2.GroupVersion.WithResource("objects").GroupResource(), key.String())
}

// Create implements client.Client.
func (g grouperClient) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	group, ok := object.(*v2alpha2.PodGroup)
	if !ok {
		return fmt.Errorf("a World creates no %T", object)
	}
	group.UID = types.UID("uid-" + group.Name)
	return g.world.groups.Add(group)
}
