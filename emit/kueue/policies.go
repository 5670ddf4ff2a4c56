package kueue

import (
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/kueue/pkg/controller/constants"

	"github.com/batchwright/batchwright/compiler/ir"
)

// jobSetController is the service account that creates the Jobs of a JobSet
// (JobSet: config/default of the release). Those Jobs are queued with their
// JobSet and carry no queue of their own.
const jobSetController = "system:serviceaccount:jobset-system:jobset-controller-manager"

// admissionPolicies returns what the API server refuses in the teams'
// namespaces, each policy followed by its binding.
func admissionPolicies(p *ir.Platform) []any {
	var objects []any
	for _, policy := range []*admissionv1.ValidatingAdmissionPolicy{jobsNameAQueue(p), servicesAreHeadless(p)} {
		objects = append(objects, policy, &admissionv1.ValidatingAdmissionPolicyBinding{
			TypeMeta:   kind(admissionv1.SchemeGroupVersion, "ValidatingAdmissionPolicyBinding"),
			ObjectMeta: meta(p, "", policy.Name),
			Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName:        policy.Name,
				MatchResources:    &admissionv1.MatchResources{NamespaceSelector: teamNamespaces(p)},
				ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			},
		})
	}
	return objects
}

// jobsNameAQueue refuses a Job or JobSet that names none of its namespace's
// queues: it would start at once, past every quota, or wait for ever. What was
// there before the policy, or lost its queue since, can still be changed
// otherwise, so that controllers can clean it up.
func jobsNameAQueue(p *ir.Platform) *admissionv1.ValidatingAdmissionPolicy {
	policy := teamPolicy(p, "jobs-name-a-queue", rule("batch", "v1", "jobs"), rule("jobset.x-k8s.io", "v1alpha2", "jobsets"))
	policy.Spec.MatchConditions = []admissionv1.MatchCondition{{
		Name:       "not-part-of-a-jobset",
		Expression: fmt.Sprintf("request.userInfo.username != '%s'", jobSetController),
	}}
	policy.Spec.Variables = []admissionv1.Variable{
		{Name: "queue", Expression: fmt.Sprintf("object.metadata.?labels[?'%s'].orValue('')", constants.QueueLabel)},
		{Name: "before", Expression: fmt.Sprintf("oldObject.metadata.?labels[?'%s'].orValue('')", constants.QueueLabel)},
		{Name: "queues", Expression: fmt.Sprintf("namespaceObject.metadata.?annotations[?'%s'].orValue('')", queuesAnnotation)},
	}
	policy.Spec.Validations = []admissionv1.Validation{{
		// Line breaks make the printer write blocks instead of folding.
		Expression: fmt.Sprintf("variables.queue != '' && variables.queue in variables.queues.split('%s')\n"+
			"|| request.operation == 'UPDATE' && variables.queue == variables.before\n", queueSeparator),
		MessageExpression: fmt.Sprintf("'the label %s must name a queue of namespace '\n"+
			"+ request.namespace + ': ' + variables.queues\n", constants.QueueLabel),
	}}
	return policy
}

// servicesAreHeadless refuses every Service that is more than a name for pods:
// a load balancer would open a team's jobs to the internet.
func servicesAreHeadless(p *ir.Platform) *admissionv1.ValidatingAdmissionPolicy {
	policy := teamPolicy(p, "services-are-headless", rule("", "v1", "services"))
	policy.Spec.Validations = []admissionv1.Validation{{
		Expression: "object.spec.?clusterIP.orValue('') == 'None'",
		Message:    "only headless Services are allowed here (spec.clusterIP None)",
	}}
	return policy
}

// teamPolicy returns a policy on creating and updating objects, still without
// a validation. What it cannot evaluate it refuses.
func teamPolicy(p *ir.Platform, name string, rules ...admissionv1.NamedRuleWithOperations) *admissionv1.ValidatingAdmissionPolicy {
	return &admissionv1.ValidatingAdmissionPolicy{
		TypeMeta:   kind(admissionv1.SchemeGroupVersion, "ValidatingAdmissionPolicy"),
		ObjectMeta: meta(p, "", name),
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy:    new(admissionv1.Fail),
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: rules},
		},
	}
}

func rule(group, version, resource string) admissionv1.NamedRuleWithOperations {
	return admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
		Rule: admissionv1.Rule{
			APIGroups:   []string{group},
			APIVersions: []string{version},
			Resources:   []string{resource},
		},
	}}
}
