package kubernetes

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// maxConfigMaps is the largest number of ConfigMaps of a team. Each can hold 1 MiB.
const maxConfigMaps = 500

// teamQuota returns the quota of a team's namespace. It counts objects, which would fill
// the database of the cluster, and the accelerators of pods: unlike Kueue's quota, it counts
// a pod until the pod has ended, so that a team which creates and deletes jobs in a loop
// starts no more nodes than its queues may use.
//
// The controllers of JobSet and Kueue create objects in the namespace: a Service for each
// JobSet, a Job for each of its replicas, and a Workload for each Job and JobSet.
func teamQuota(p *ir.Platform, t ir.Team) *corev1.ResourceQuota {
	count := func(n int) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }
	hard := corev1.ResourceList{
		"count/jobs.batch":              count(t.MaxJobs),
		"count/jobsets.jobset.x-k8s.io": count(t.MaxJobs),
		"count/services":                count(t.MaxJobs),
		"count/configmaps":              count(maxConfigMaps),
	}
	for name, most := range p.MostAccelerators(t) {
		hard[corev1.ResourceName("requests."+name)] = most
	}
	return &corev1.ResourceQuota{
		TypeMeta:   kubeyaml.Kind(corev1.SchemeGroupVersion, "ResourceQuota"),
		ObjectMeta: kubeyaml.Meta(p.Name, t.Namespace, ir.TeamQuota),
		Spec:       corev1.ResourceQuotaSpec{Hard: hard},
	}
}
