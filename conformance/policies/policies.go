// Package policies checks the admission policies of a deploy folder with the
// API server's own evaluator. A folder goes in, what the policies wrongly let
// through or refuse comes out.
package policies

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"
)

const (
	file       = "kubernetes/system/admission-policies.yaml"
	queueLabel = "kueue.x-k8s.io/queue-name"
	member     = "member@example.com"
	// jobSet creates the Jobs of a JobSet.
	jobSet = "system:serviceaccount:jobset-system:jobset-controller-manager"
	// collector removes finalizers from what is deleted.
	collector = "system:serviceaccount:kube-system:generic-garbage-collector"
)

// Check evaluates the policies of a deploy folder for every team: jobs with one
// of its queues are admitted and no others, Services only if they are headless.
func Check(folder fs.FS) []error {
	policies, err := load(folder)
	if err != nil {
		return []error{err}
	}
	teams, err := fs.Glob(folder, "kubernetes/teams/*.yaml")
	if err != nil {
		return []error{err}
	}
	var errs []error
	for _, team := range teams {
		namespace, queue, err := readTeam(folder, team)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", team, err))
			continue
		}
		for _, c := range cases(queue) {
			if err := c.check(policies, namespace); err != nil {
				errs = append(errs, fmt.Errorf("%s: %s: %w", team, c.name, err))
			}
		}
	}
	return errs
}

// policy is a policy with its binding, ready to be evaluated.
type policy struct {
	*admissionv1.ValidatingAdmissionPolicy
	namespaces labels.Selector
	validator  validating.Validator
}

// load reads the policies, each followed by its binding, and compiles them.
func load(folder fs.FS) ([]policy, error) {
	text, err := fs.ReadFile(folder, file)
	if err != nil {
		return nil, err
	}
	documents := bytes.Split(text, []byte("\n---\n"))
	if len(documents)%2 != 0 {
		return nil, fmt.Errorf("%s: want a binding after each policy", file)
	}
	var out []policy
	for i := 0; i < len(documents); i += 2 {
		p := policy{ValidatingAdmissionPolicy: &admissionv1.ValidatingAdmissionPolicy{}}
		if err := yaml.UnmarshalStrict(documents[i], p.ValidatingAdmissionPolicy); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		var binding admissionv1.ValidatingAdmissionPolicyBinding
		if err := yaml.UnmarshalStrict(documents[i+1], &binding); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if binding.Spec.PolicyName != p.Name || len(binding.Spec.ValidationActions) != 1 || binding.Spec.ValidationActions[0] != admissionv1.Deny {
			return nil, fmt.Errorf("%s: binding %s does not enforce %s", file, binding.Name, p.Name)
		}
		if p.namespaces, err = metav1.LabelSelectorAsSelector(binding.Spec.MatchResources.NamespaceSelector); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if p.validator, err = compile(p.ValidatingAdmissionPolicy); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out = append(out, p)
	}
	return out, nil
}

// compile does what the API server does with a policy (k8s.io/apiserver:
// pkg/admission/plugin/policy/validating.compilePolicy), for policies without
// parameters and audit annotations.
func compile(p *admissionv1.ValidatingAdmissionPolicy) (validating.Validator, error) {
	compiler, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return nil, err
	}
	withAuthorizer := cel.OptionalVariableDeclarations{HasAuthorizer: true}
	var variables []cel.NamedExpressionAccessor
	for _, v := range p.Spec.Variables {
		variables = append(variables, &validating.Variable{Name: v.Name, Expression: v.Expression})
	}
	compiler.CompileAndStoreVariables(variables, withAuthorizer, environment.NewExpressions)

	var conditions, validations, messages []cel.ExpressionAccessor
	for i := range p.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&p.Spec.MatchConditions[i]))
	}
	for _, v := range p.Spec.Validations {
		validations = append(validations, &validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason})
		var message cel.ExpressionAccessor
		if v.MessageExpression != "" {
			message = &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression}
		}
		messages = append(messages, message)
	}
	evaluator := func(expressions []cel.ExpressionAccessor, declarations cel.OptionalVariableDeclarations) cel.ConditionEvaluator {
		return compiler.CompileCondition(expressions, declarations, environment.NewExpressions)
	}
	return validating.NewValidator(
		evaluator(validations, withAuthorizer),
		matchconditions.NewMatcher(evaluator(conditions, withAuthorizer), p.Spec.FailurePolicy, "policy", "validate", p.Name),
		evaluator(nil, withAuthorizer),
		evaluator(messages, cel.OptionalVariableDeclarations{}),
		p.Spec.FailurePolicy,
		nil,
	), nil
}

// readTeam returns a team's namespace and the name of its first LocalQueue, ""
// for a team without queues.
func readTeam(folder fs.FS, team string) (*corev1.Namespace, string, error) {
	text, err := fs.ReadFile(folder, team)
	if err != nil {
		return nil, "", err
	}
	documents := bytes.Split(text, []byte("\n---\n"))
	namespace := &corev1.Namespace{}
	if err := yaml.UnmarshalStrict(documents[0], namespace); err != nil {
		return nil, "", err
	}
	for _, document := range documents {
		var object metav1.PartialObjectMetadata
		if err := yaml.Unmarshal(document, &object); err != nil {
			return nil, "", err
		}
		if object.Kind == "LocalQueue" {
			return namespace, object.Name, nil
		}
	}
	return namespace, "", nil
}

// request is what somebody asks of the API server.
type request struct {
	name        string
	user        string
	kind        schema.GroupVersionKind
	object, old map[string]any // old is nil when object is created
	refused     string         // part of the message; "" where it is admitted
}

var (
	jobKind     = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	jobSetKind  = schema.GroupVersionKind{Group: "jobset.x-k8s.io", Version: "v1alpha2", Kind: "JobSet"}
	serviceKind = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
)

// cases are the requests that the policies are there for, in a namespace with
// a queue, or in one without ("").
func cases(queue string) []request {
	var (
		queued   = labelled(queue)
		unqueued = map[string]any{"metadata": map[string]any{"name": "x"}}
		headless = map[string]any{"metadata": map[string]any{"name": "x"}, "spec": map[string]any{"clusterIP": "None"}}
		balancer = map[string]any{"metadata": map[string]any{"name": "x"}, "spec": map[string]any{"type": "LoadBalancer"}}
	)
	if queue == "" {
		return []request{
			{"job without labels", member, jobKind, unqueued, nil, queueLabel},
			{"job with an empty queue", member, jobKind, labelled(""), nil, queueLabel},
		}
	}
	return []request{
		{"job with a queue", member, jobKind, queued, nil, ""},
		{"job without labels", member, jobKind, unqueued, nil, queue},
		{"job with an empty queue", member, jobKind, labelled(""), nil, queue},
		{"job with another's queue", member, jobKind, labelled(queue + "-x"), nil, queue},
		{"job with two queues", member, jobKind, labelled(queue + ", " + queue), nil, queue},
		{"job that keeps its queue", member, jobKind, queued, queued, ""},
		{"job that loses its queue", member, jobKind, unqueued, queued, queue},
		{"job that gets a queue", member, jobKind, queued, unqueued, ""},
		{"job that is cleaned up", collector, jobKind, unqueued, unqueued, ""},
		{"job whose queue is gone", collector, jobKind, labelled("gone"), labelled("gone"), ""},
		{"job of a jobset", jobSet, jobKind, unqueued, nil, ""},
		{"jobset with a queue", member, jobSetKind, queued, nil, ""},
		{"jobset without a queue", member, jobSetKind, unqueued, nil, queue},
		{"jobset that loses its queue", member, jobSetKind, unqueued, queued, queue},
		{"headless service", member, serviceKind, headless, nil, ""},
		{"load balancer", member, serviceKind, balancer, nil, "headless"},
		{"service that becomes a load balancer", member, serviceKind, balancer, headless, "headless"},
	}
}

func labelled(queue string) map[string]any {
	return map[string]any{"metadata": map[string]any{"name": "x", "labels": map[string]any{queueLabel: queue}}}
}

// check evaluates a request under all policies that apply to it.
func (r request) check(policies []policy, namespace *corev1.Namespace) error {
	var refusals []string
	for _, p := range policies {
		if !p.namespaces.Matches(labels.Set(namespace.Labels)) {
			return fmt.Errorf("policy %s does not apply to the namespace", p.Name)
		}
		if !p.appliesTo(r) {
			continue
		}
		for _, d := range p.evaluate(r, namespace) {
			switch {
			case d.Evaluation == validating.EvalError:
				return fmt.Errorf("policy %s: %s", p.Name, d.Message)
			case d.Action == validating.ActionDeny:
				refusals = append(refusals, d.Message)
			}
		}
	}
	switch message := strings.Join(refusals, "; "); {
	case r.refused == "" && message != "":
		return fmt.Errorf("refused: %s", message)
	case r.refused != "" && message == "":
		return fmt.Errorf("admitted")
	case !strings.Contains(message, r.refused):
		return fmt.Errorf("refused with %q, which does not name %q", message, r.refused)
	}
	return nil
}

func (r request) operation() admission.Operation {
	if r.old != nil {
		return admission.Update
	}
	return admission.Create
}

// resource is the plural of a kind, as for all kinds that are used here.
func (r request) resource() schema.GroupVersionResource {
	return r.kind.GroupVersion().WithResource(strings.ToLower(r.kind.Kind) + "s")
}

func (p policy) appliesTo(r request) bool {
	for _, rule := range p.Spec.MatchConstraints.ResourceRules {
		if contains(rule.APIGroups, r.kind.Group) && contains(rule.APIVersions, r.kind.Version) &&
			contains(rule.Resources, r.resource().Resource) && contains(rule.Operations, admissionv1.OperationType(r.operation())) {
			return true
		}
	}
	return false
}

func contains[T ~string](list []T, want T) bool {
	for _, item := range list {
		if item == want || item == "*" {
			return true
		}
	}
	return false
}

func (p policy) evaluate(r request, namespace *corev1.Namespace) []validating.PolicyDecision {
	// An untyped nil tells the evaluator that there is no old object.
	var object, old runtime.Object = r.typed(r.object), nil
	if r.old != nil {
		old = r.typed(r.old)
	}
	attributes := &admission.VersionedAttributes{
		Attributes: admission.NewAttributesRecord(object, old, r.kind, namespace.Name, "x", r.resource(), "",
			r.operation(), nil, false, &user.DefaultInfo{Name: r.user}),
		VersionedKind: r.kind,
	}
	attributes.VersionedObject.Set(object)
	if old != nil {
		attributes.VersionedOldObject.Set(old)
	}
	return p.validator.Validate(context.Background(), r.resource(), attributes, nil, namespace, celconfig.RuntimeCELCostBudget, nil).Decisions
}

// typed returns fields as an object of the request's kind.
func (r request) typed(fields map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: maps.Clone(fields)}
	object.SetGroupVersionKind(r.kind)
	return object
}
