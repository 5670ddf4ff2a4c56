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
// etcd, and the accelerators of pods: unlike Kueue's quota, it counts a pod until the pod
// has ended, so that the pods of a team never request more accelerators than all of its
// queues together can use.
//
// It counts the Jobs and the Services of composite jobs, but not these: Kubernetes looks for new
// kinds of objects every 30 seconds and calculates a quota every 5 minutes. If the quota
// named a kind that is new, the API server would refuse its objects for so long. Source:
// Kubernetes 1.36, pkg/controller/resourcequota and cmd/kube-controller-manager/app/core.go.
func teamQuota(p *ir.Platform, lent ir.Lent, t ir.Team) *corev1.ResourceQuota {
	count := func(n int) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }
	hard := corev1.ResourceList{
		"count/jobs.batch": count(t.MaxJobs),
		"count/services":   count(t.MaxJobs),
		"count/configmaps": count(maxConfigMaps),
	}
	for name, most := range lent.MostAccelerators(t) {
		hard[corev1.ResourceName("requests."+name)] = most
	}
	return &corev1.ResourceQuota{
		TypeMeta:   kubeyaml.Kind(corev1.SchemeGroupVersion, "ResourceQuota"),
		ObjectMeta: kubeyaml.Meta(p.Name, t.Namespace, ir.TeamQuota),
		Spec:       corev1.ResourceQuotaSpec{Hard: hard},
	}
}
