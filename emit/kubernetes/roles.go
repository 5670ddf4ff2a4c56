package kubernetes

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// jobSubmitterName is the name of the binding in each team's namespace, and of the
// ClusterRole in a cluster of the platform.
const jobSubmitterName = "job-submitter"

// jobSubmitter returns the role of a team in its namespace: the team may submit jobs
// with their files, Services and claims, and follow them. It is a ClusterRole so
// that it is written only once; only RoleBindings refer to it.
//
// It grants no access to secrets, and no shell in a pod. Teams can create pods only
// through jobs, so that every pod goes through a queue.
func jobSubmitter(p *ir.Platform, s scheduler) *rbacv1.ClusterRole {
	var (
		write  = []string{"create", "delete", "get", "list", "patch", "update", "watch"}
		follow = []string{"get", "list", "watch"}
	)
	var rules []rbacv1.PolicyRule
	for _, k := range kinds.All() {
		rules = append(rules, rbacv1.PolicyRule{
			APIGroups: []string{k.Group}, Resources: []string{k.Resource}, Verbs: write,
		})
	}
	role := &rbacv1.ClusterRole{
		TypeMeta:   kubeyaml.Kind(rbacv1.SchemeGroupVersion, "ClusterRole"),
		ObjectMeta: kubeyaml.Meta(p.Name, "", p.ClusterScopedName(jobSubmitterName)),
		Rules: append(rules, []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"configmaps", "services"}, Verbs: write},
			{APIGroups: []string{""}, Resources: []string{"events", "pods"}, Verbs: follow},
			{APIGroups: []string{""}, Resources: []string{"pods/log"}, Verbs: []string{"get"}},
			{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: follow},
		}...),
	}
	role.Rules = append(role.Rules, s.follows...)
	if p.AnyCapacity(ir.Capacity.HasAcceleratorNetworks) {
		role.Rules = append(role.Rules,
			rbacv1.PolicyRule{
				APIGroups: []string{"resource.k8s.io"}, Resources: []string{"resourceclaimtemplates"}, Verbs: write,
			})
	}
	return role
}
