package kubernetes

import (
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// controllersOfJobs returns the service accounts that create the Jobs of composite jobs: one
// for each kind, or with controllers of others the accounts of a release and of a chart.
// Those Jobs are queued with the job that owns them, and carry no queue of their own.
func controllersOfJobs(p *ir.Platform) []string {
	var accounts []string
	for _, c := range p.Controllers() {
		accounts = append(accounts, c.Accounts()...)
	}
	return accounts
}

// kindRules returns what a policy on jobs of all kinds matches.
func kindRules() []admissionv1.NamedRuleWithOperations {
	var rules []admissionv1.NamedRuleWithOperations
	for _, k := range kinds.All() {
		rules = append(rules, admissionRule(k.Group, k.Version, k.Resource))
	}
	return rules
}

// admissionPolicies returns the admission policies for the teams' namespaces, each
// followed by its binding. onTheNode reports whether some namespace enforces no Pod
// Security Standard.
func admissionPolicies(p *ir.Platform, s scheduler, onTheNode bool) []any {
	var objects []any
	policies := []*admissionv1.ValidatingAdmissionPolicy{
		jobsAreQueued(p, s), jobsStayInBounds(p, s), jobsBlockNobody(p, s), jobsEndWithTheirPods(p, s),
		jobsFitNodes(p, s), servicesAreHeadless(p),
	}
	if onTheNode {
		policies = append(policies, podsKeepOffTheNode(p))
	}
	for _, policy := range policies {
		objects = append(objects, policy, &admissionv1.ValidatingAdmissionPolicyBinding{
			TypeMeta:   kubeyaml.Kind(admissionv1.SchemeGroupVersion, "ValidatingAdmissionPolicyBinding"),
			ObjectMeta: kubeyaml.Meta(p.Name, "", policy.Name),
			Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName:        policy.Name,
				MatchResources:    &admissionv1.MatchResources{NamespaceSelector: kubeyaml.TeamNamespaces(p.Name)},
				ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			},
		})
	}
	return objects
}

// jobsAreQueued returns the policy that refuses a job that would bypass the queues, or
// other jobs in its queue:
//
//   - without a queue of its namespace it would start at once, bypassing every
//     quota, or wait for ever;
//   - with a priority that its queue does not allow, it could evict jobs that it
//     must not evict, or keep borrowed quota. Pods that name no class get the
//     default class, so only jobs of the default tier may omit the class;
//   - with a controller as owner it would count as part of the owner, and start at
//     once if the owner was admitted.
//
// Jobs that existed before the policy, or that have lost their queue since, can
// still be changed in other ways, so that controllers can clean them up. The API
// lets nobody change the PriorityClass of a job.
func jobsAreQueued(p *ir.Platform, s scheduler) *admissionv1.ValidatingAdmissionPolicy {
	policy := teamPolicy(p, "jobs-are-queued", kindRules()...)
	controllers := controllersOfJobs(p)
	condition := fmt.Sprintf("request.userInfo.username != '%s'", controllers[0])
	if len(controllers) > 1 {
		condition = "!(request.userInfo.username in " + celList(controllers) + ")"
	}
	policy.Spec.MatchConditions = []admissionv1.MatchCondition{{
		Name: "not-part-of-a-" + strings.ToLower(kinds.Composite().Name), Expression: condition,
	}}
	// With line breaks, the YAML printer writes block scalars instead of folding
	// lines.
	policy.Spec.Variables = []admissionv1.Variable{
		{Name: "queue", Expression: fmt.Sprintf("object.metadata.?labels[?'%s'].orValue('')", p.QueueLabel())},
		{Name: "kept", Expression: fmt.Sprintf("request.operation == 'UPDATE'\n"+
			"&& variables.queue == oldObject.metadata.?labels[?'%s'].orValue('')\n", p.QueueLabel())},
		{Name: "queues", Expression: fmt.Sprintf("namespaceObject.metadata.?annotations[?'%s'].orValue('')\n"+
			".split('%s').map(q, q.split('%s'))\n", queuesAnnotation, queueSeparator, classesSeparator)},
		// A list with the queue's list of classes, or an empty list.
		{Name: "allowed",
			Expression: fmt.Sprintf("variables.queues.filter(q, variables.queue != '' && q[0] == variables.queue)\n"+
				".map(q, q[1].split('%s'))\n", classSeparator)},
		{Name: "classes", Expression: kinds.JobSpecs("dyn(object).spec") + "\n" +
			".map(j, j.?template.spec.priorityClassName.orValue(''))\n"},
	}
	refuseUnless(policy, "variables.kept || variables.allowed != []", "",
		fmt.Sprintf("'the label %s must name a queue of namespace '\n"+
			"+ request.namespace + ': ' + variables.queues.map(q, q[0]).join('%s')\n", p.QueueLabel(), queueSeparator))
	// The API requires a message if the expression has line breaks.
	refuseUnless(policy, fmt.Sprintf("variables.kept\n"+
		"|| variables.classes.all(c, variables.allowed.exists(a, (c == '' ? '%s' : c) in a%s))\n", defaultClass(p),
		withoutClass(p)),
		"set the priorityClassName of the pods to one that their queue allows",
		"'the priorityClassName of pods in queue '\n"+
			"+ variables.queue + ' must be ' + variables.allowed.map(a, a.join(' or ')).join('')\n")
	refuseUnless(policy, "object.metadata.?ownerReferences.orValue([]).filter(o, "+
		"o.?controller.orValue(false)).all(o,\n"+
		"request.operation == 'UPDATE' && oldObject.metadata.?ownerReferences.orValue([])\n"+
		".exists(old, old.uid == o.uid && old.?controller.orValue(false)))\n",
		"metadata.ownerReferences must not name a controller: remove the reference with controller true", "")
	refuseNegative(p, policy)
	s.guard(p, policy)
	return policy
}

// refuseNegative makes a policy refuse jobs whose controller supports no negative priorities.
func refuseNegative(p *ir.Platform, policy *admissionv1.ValidatingAdmissionPolicy) {
	negative := negativeClasses(p)
	for _, k := range kinds.All() {
		if negative == nil || k.Priorities == "" || !p.HasDefect(k.Priorities) {
			continue
		}
		c := p.ControllerOf(ir.Kind(k.Name))
		refuseUnless(policy, fmt.Sprintf("variables.kept || request.kind.kind != '%s'\n"+
			"|| variables.classes.all(c, !((c == '' ? '%s' : c) in %s))\n", k.Name, defaultClass(p), celList(negative)),
			fmt.Sprintf("%s %s starts no pods with a negative priority (%s): submit a Job, or choose "+
				"another queue or PriorityClass", c.Name, c.Version, strings.Join(negative, ", ")), "")
	}
}

// withoutClass returns the part of a CEL expression that admits pods without a PriorityClass to
// queues without PriorityClasses, "" if every queue has some. Such pods get the default class.
func withoutClass(p *ir.Platform) string {
	for q := range p.ClusterQueues() {
		if len(q.Classes) == 0 && defaultClass(p) != "" {
			return " || c == '' && a == ['']"
		}
	}
	return ""
}

// negativeClasses returns the names of the PriorityClasses with a negative value.
func negativeClasses(p *ir.Platform) []string {
	var out []string
	for _, c := range p.PriorityClasses {
		if c.Value < 0 {
			out = append(out, c.Name)
		}
	}
	return out
}

// defaultClass is the PriorityClass of pods that name none, or "".
func defaultClass(p *ir.Platform) string {
	for _, c := range p.PriorityClasses {
		if c.Default && !c.BuiltIn {
			return c.Name
		}
	}
	return p.Scheduler.Facts().DefaultClass
}

// servicesAreHeadless returns the policy that refuses every Service except headless
// ones, which only give pods names. A load balancer would expose a team's jobs to
// the internet. GKE creates network endpoint groups for ports in an annotation, and adds
// the annotation without ports to Services itself (GKE documentation: "Container-native load
// balancing through standalone zonal NEGs").
func servicesAreHeadless(p *ir.Platform) *admissionv1.ValidatingAdmissionPolicy {
	policy := teamPolicy(p, "services-are-headless", admissionRule("", "v1", "services"))
	refuseUnless(policy, "object.spec.?clusterIP.orValue('') == 'None'",
		"only headless Services are allowed here: set spec.clusterIP to None", "")
	refuseUnless(policy,
		"!object.metadata.?annotations[?'cloud.google.com/neg'].orValue('').contains('exposed_ports')",
		"network endpoint groups are not allowed here: remove the annotation cloud.google.com/neg "+
			"from the Service", "")
	return policy
}

// teamPolicy returns a policy on creating and updating objects, without validations.
// If a validation cannot be evaluated, the policy refuses the object.
func teamPolicy(p *ir.Platform, name string,
	rules ...admissionv1.NamedRuleWithOperations) *admissionv1.ValidatingAdmissionPolicy {
	return &admissionv1.ValidatingAdmissionPolicy{
		TypeMeta:   kubeyaml.Kind(admissionv1.SchemeGroupVersion, "ValidatingAdmissionPolicy"),
		ObjectMeta: kubeyaml.Meta(p.Name, "", p.ClusterScopedName(name)),
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy:    new(admissionv1.Fail),
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: rules},
		},
	}
}

// refuseUnless adds a validation with its message to a policy.
func refuseUnless(policy *admissionv1.ValidatingAdmissionPolicy, expression, message, messageExpression string) {
	policy.Spec.Validations = append(policy.Spec.Validations, admissionv1.Validation{
		Expression: expression, Message: message, MessageExpression: messageExpression,
	})
}

func admissionRule(group, version, resource string) admissionv1.NamedRuleWithOperations {
	return admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
		Rule: admissionv1.Rule{
			APIGroups:   []string{group},
			APIVersions: []string{version},
			Resources:   []string{resource},
		},
	}}
}
