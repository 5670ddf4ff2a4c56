// Package kueue renders the cluster objects of Kueue: its configuration, flavors,
// admission checks, cohorts and queues. A plan goes in; manifests for the folder
// kubernetes/ come out.
package kueue

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// System returns the ConfigMap with Kueue's configuration. With a GitOps tool it is part
// of what installs Kueue. It is empty if somebody else installs Kueue.
func System(p *ir.Platform) ([]kubeyaml.Manifest, error) {
	if p.Delivery.GitOps.On() || !p.InstallsKueue() {
		return nil, nil
	}
	c, err := ConfigMap(p)
	if err != nil {
		return nil, err
	}
	return []kubeyaml.Manifest{{Name: "system/kueue-configuration.yaml", Objects: []any{c}}}, nil
}

// Queues returns the objects to which the teams' queues refer, and the queues that
// teams share. A manifest can be empty.
func Queues(p *ir.Platform) []kubeyaml.Manifest {
	return []kubeyaml.Manifest{
		{Name: "topologies.yaml", Objects: topologies(p)},
		{Name: "workload-priority-classes.yaml", Objects: workloadPriorities(p)},
		{Name: "resource-flavors.yaml", Objects: resourceFlavors(p)},
		{Name: "admission-checks.yaml", Objects: admissionChecks(p)},
		{Name: "cohorts.yaml", Objects: cohortObjects(p)},
		{Name: "shared-queues.yaml", Objects: sharedQueues(p)},
	}
}

// Team returns the ClusterQueues that only this team uses, then its LocalQueues.
func Team(p *ir.Platform, t ir.Team) []any {
	var objects []any
	for _, q := range t.Queues {
		if !q.Shared {
			c := clusterQueue(p, q, t.InExisting, t.Namespace)
			c.Labels[ir.LabelTeam] = t.Name
			objects = append(objects, c)
		}
	}
	for _, q := range t.Queues {
		objects = append(objects, localQueues(p, t, q)...)
	}
	return objects
}

// workloadPriorities returns the WorkloadPriorityClasses.
func workloadPriorities(p *ir.Platform) (objects []any) {
	adopted := p.Adopted().Priorities
	for _, c := range p.WorkloadPriorities {
		objects = append(objects, &v1beta2.WorkloadPriorityClass{
			TypeMeta:   kubeyaml.Kind(v1beta2.SchemeGroupVersion, "WorkloadPriorityClass"),
			ObjectMeta: metaOf(p, c.Name, adopted[c.Name]),
			Value:      c.Value,
		})
	}
	return objects
}

// Follows returns the rules for the resources in which a team follows its jobs in the
// queues. The visibility API shows which workloads wait in a LocalQueue. In a namespace
// it shows only workloads of this namespace (Kueue 0.19: pkg/visibility/storage).
func Follows() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{
			APIGroups: []string{v1beta2.SchemeGroupVersion.Group}, Resources: []string{"localqueues", "workloads"},
			Verbs: []string{"get", "list", "watch"},
		},
		{
			APIGroups: []string{"visibility.kueue.x-k8s.io"}, Resources: []string{"localqueues/pendingworkloads"},
			Verbs: []string{"get"},
		},
	}
}

// sharedQueues returns the ClusterQueues that teams share.
func sharedQueues(p *ir.Platform) []any {
	var objects []any
	adopted := p.Adopted().Queues
	for _, q := range p.SharedQueues {
		var namespaces []string
		for _, t := range q.Teams {
			namespaces = append(namespaces, t.Namespace)
		}
		objects = append(objects, clusterQueue(p, q.Queue, adopted[q.ClusterQueue], namespaces...))
	}
	return objects
}

// metaOf returns the metadata of an object without namespace. An adopted object has a label, with
// which a build neither stops nor deletes it.
func metaOf(p *ir.Platform, name string, adopted bool) metav1.ObjectMeta {
	meta := kubeyaml.Meta(p.Name, "", name)
	if adopted {
		meta.Labels[ir.LabelExisting] = ir.ExistingValue
	}
	return meta
}
