package kai

import (
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
)

// Follows returns the rules for the resources in which a team follows its jobs. It
// omits queues: they are cluster-scoped, and only a ClusterRoleBinding would let a
// team see them.
func Follows() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{{
		APIGroups: []string{version.Group}, Resources: []string{"podgroups"}, Verbs: []string{"get", "list", "watch"},
	}}
}

// priorityLabel is the label with which a job or its pods can name a PriorityClass.
// KAI Scheduler prefers the label to the pods' own field. Source: KAI Scheduler's
// documentation, "Workload priority".
const priorityLabel = "priorityClassName"

// Guard adds rules to the policy on jobs, whose variables queue and kept it uses.
// The policy then also refuses what KAI Scheduler would ignore, or interpret
// differently from the policy:
//
//   - pods of the cluster's own scheduler, which ignores quota;
//   - pods that name a queue other than their job's, because the pods' queue takes
//     precedence;
//   - pods that select no capacity: KAI Scheduler would place them on any node
//     without a taint, where the platform's own pods run;
//   - a PriorityClass in a label.
func Guard(p *ir.Platform, policy *admissionv1.ValidatingAdmissionPolicy) {
	policy.Spec.Variables = append(policy.Spec.Variables,
		admissionv1.Variable{Name: "pods", Expression: kinds.JobSpecs("dyn(object).spec") + "\n.map(j, j.template)\n"})
	var names, selectors []string
	for _, c := range p.Capacities {
		labels := make([]string, len(c.NodeLabels))
		for i, l := range c.NodeLabels {
			labels[i] = fmt.Sprintf("'%s': '%s'", l.Key, l.Value)
		}
		names, selectors = append(names, c.Name), append(selectors, "{"+strings.Join(labels, ", ")+"}")
	}
	policy.Spec.Validations = append(policy.Spec.Validations,
		admissionv1.Validation{
			Expression: fmt.Sprintf("variables.kept || variables.pods.all(p,\np.spec.?schedulerName.orValue('') == "+
				"'%s'\n&& p.?metadata.labels[?'%s'].orValue(variables.queue) == variables.queue\n&& "+
				"p.?metadata.labels[?'%s'].orValue('') == '')\n", ir.KAISchedulerName, ir.LabelKAIQueue,
				priorityLabel),
			Message: fmt.Sprintf("set schedulerName of the pods to %s, and remove the label %s from the pods, "+
				"and the label %s if it differs from the label of the job",
				ir.KAISchedulerName, priorityLabel, ir.LabelKAIQueue),
		},
		admissionv1.Validation{
			Expression: fmt.Sprintf("variables.kept || variables.pods.all(p, [%s].exists(c,\nc.all(k, "+
				"p.spec.?nodeSelector[?k].orValue('') == c[k])))\n", strings.Join(selectors, ",\n")),
			Message: "pods must select the nodes of a capacity: set nodeSelector to the labels of capacity " +
				strings.Join(names, " or "),
		},
		admissionv1.Validation{
			Expression: fmt.Sprintf("object.metadata.?labels[?'%[1]s'].orValue('') == (request.operation == "+
				"'UPDATE'\n? oldObject.metadata.?labels[?'%[1]s'].orValue('') : '')\n", priorityLabel),
			Message: fmt.Sprintf("do not add or change the label %s: KAI Scheduler would use it instead of "+
				"the priorityClassName of the pods", priorityLabel),
		})
}

// TierOfQueue returns a CEL expression for the tier of a queue. With KAI Scheduler,
// teams have only one tier.
func TierOfQueue(p *ir.Platform) string {
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			return "'" + q.Tier + "'"
		}
	}
	return "''"
}
