// Package policies checks the admission policies of a deploy folder with the API
// server's own evaluator. A folder goes in; the requests that the policies wrongly
// admit or refuse come out.
package policies

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
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
	// enforceLabel is the Pod Security Standard of a namespace.
	enforceLabel = "pod-security.kubernetes.io/enforce"
	otherClass   = "system-cluster-critical" // a PriorityClass of no queue
	member       = "member@example.com"
	// jobSetController creates the Jobs of a JobSet.
	jobSetController = "system:serviceaccount:jobset-system:jobset-controller-manager"
	// chartJobSetController does it if JobSet is installed from its chart.
	chartJobSetController = "system:serviceaccount:jobset-system:jobset-controller"
	// jobController creates the pods of a Job.
	jobController = "system:serviceaccount:kube-system:job-controller"
	// collector removes finalizers from what is deleted.
	collector = "system:serviceaccount:kube-system:generic-garbage-collector"
)

// Check evaluates the policies of a deploy folder for every queue of every team.
// They must admit only jobs with the queue and its priority, and only headless
// Services. They must admit everything that the folder itself lets a team submit.
func Check(folder fs.FS) []error {
	policies, err := load(folder)
	if err != nil {
		return []error{err}
	}
	kai := usesKAI(policies)
	classes, err := readClasses(folder, kai)
	if err != nil {
		return []error{err}
	}
	teams, err := fs.Glob(folder, "kubernetes/teams/*.yaml")
	if err != nil {
		return []error{err}
	}
	fromChart, err := installsChart(folder)
	if err != nil {
		return []error{err}
	}
	quota, err := readQuotas(folder, policies)
	if err != nil {
		return []error{err}
	}
	var errs []error
	played := map[string]bool{}
	for _, team := range teams {
		namespace, queues, err := readTeam(folder, team, classes.of)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", team, err))
			continue
		}
		requests := unqueued()
		for _, q := range queues {
			has := quota[namespace.Name+"/"+q.name]
			of := cases(q, classes)
			if !kai {
				of = append(of, tooMany(q, has)...)
			}
			if len(played) == 0 {
				of = append(of, manyContainers(q)...)
			}
			// The policies treat the queues of a tier alike.
			tier := strings.ReplaceAll(q.name, namespace.Labels["team"], "")
			if !played[tier] {
				of = append(of, alike(q, has, kai)...)
				if !kai {
					requests = append(requests, leavesEmpty(q, has)...)
				}
				played[tier] = true
			}
			requests = append(requests, has.asWhole(of)...)
		}
		if fromChart {
			requests = asChart(requests)
		}
		if kai {
			requests = asKAI(requests)
			for _, q := range queues {
				requests = append(requests, kaiCases(q)...)
			}
		}
		submitted, err := submittedBy(folder, namespace)
		if err != nil {
			errs = append(errs, err)
		}
		requests = append(requests, submitted...)
		if namespace.Labels[enforceLabel] == "privileged" {
			requests = append(requests, escapes()...)
		}
		for _, r := range requests {
			if err := r.check(policies, namespace); err != nil {
				errs = append(errs, fmt.Errorf("%s: %s: %w", team, r.name, err))
			}
		}
	}
	return errs
}

// submittedBy returns the requests for everything that the folder lets a team submit, and
// for the pods that come of it.
func submittedBy(folder fs.FS, namespace *corev1.Namespace) ([]request, error) {
	submitted, first := workloads(folder, namespace.Labels["team"])
	shown, second := examples(folder, namespace.Name)
	submitted = append(submitted, shown...)
	errs, out := []error{first, second}, slices.Clone(submitted)
	for _, r := range submitted {
		made, err := pods(r)
		out, errs = append(out, made...), append(errs, err)
	}
	return out, errors.Join(errs...)
}

// alike returns the requests with a queue whose answers are the same for every queue of its
// tier.
func alike(q queue, has quotas, kai bool) []request {
	out := slices.Concat(outOfBounds(q), blocking(q), alone(q, has), lasting(q), tooLarge(q))
	if kai {
		return append(out, limited(q, "")...)
	}
	return slices.Concat(out, kueueCases(q), limited(q, "resources.requests"))
}

// policy is a policy with its binding, ready to be evaluated.
type policy struct {
	*admissionv1.ValidatingAdmissionPolicy
	namespaces labels.Selector
	*evaluator
}

// evaluator is a compiled policy with its decisions about requests: the folders of a process
// have most policies and requests in common.
type evaluator struct {
	validator validating.Validator
	mutex     sync.Mutex
	decisions map[string][]validating.PolicyDecision
}

// evaluators are the evaluators of a process, by the text of the policy.
var evaluators sync.Map

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
		if binding.Spec.PolicyName != p.Name || len(binding.Spec.ValidationActions) != 1 ||
			binding.Spec.ValidationActions[0] != admissionv1.Deny {
			return nil, fmt.Errorf("%s: binding %s does not enforce %s", file, binding.Name, p.Name)
		}
		if p.namespaces, err = metav1.LabelSelectorAsSelector(
			binding.Spec.MatchResources.NamespaceSelector); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, v := range p.Spec.Validations {
			if strings.Contains(strings.TrimSpace(v.Expression), "\n") && v.Message == "" ||
				strings.Contains(v.Message, "\n") {
				return nil,
					fmt.Errorf("%s: policy %s: an expression with line breaks needs a message without any", file,
						p.Name)
			}
		}
		known, found := evaluators.Load(string(documents[i]))
		if !found {
			validator, err := compile(p.ValidatingAdmissionPolicy)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			known, _ = evaluators.LoadOrStore(string(documents[i]),
				&evaluator{validator: validator, decisions: map[string][]validating.PolicyDecision{}})
		}
		p.evaluator = known.(*evaluator)
		out = append(out, p)
	}
	return out, nil
}

// compile compiles a policy like the API server (k8s.io/apiserver:
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
		validations = append(validations,
			&validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason})
		var message cel.ExpressionAccessor
		if v.MessageExpression != "" {
			message = &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression}
		}
		messages = append(messages, message)
	}
	evaluator := func(expressions []cel.ExpressionAccessor,
		declarations cel.OptionalVariableDeclarations) cel.ConditionEvaluator {
		return compiler.CompileCondition(expressions, declarations, environment.NewExpressions)
	}
	return validating.NewValidator(
		evaluator(validations, withAuthorizer),
		matchconditions.NewMatcher(evaluator(conditions, withAuthorizer), p.Spec.FailurePolicy, "policy", "validate",
			p.Name),
		evaluator(nil, withAuthorizer),
		evaluator(messages, cel.OptionalVariableDeclarations{}),
		p.Spec.FailurePolicy,
		nil,
	), nil
}

// queue is a LocalQueue with the PriorityClass of its jobs.
type queue struct{ name, class string }

// readTeam returns a team's namespace and its queues. Each queue is returned once
// for each PriorityClass of its tier. A LocalQueue's name ends with its tier. The
// classes of a queue of KAI Scheduler are those that the namespace lists, because
// KAI's own classes are in no file.
func readTeam(folder fs.FS, team string, classes map[string][]string) (*corev1.Namespace, []queue, error) {
	text, err := fs.ReadFile(folder, team)
	if err != nil {
		return nil, nil, err
	}
	documents := bytes.Split(text, []byte("\n---\n"))
	namespace := &corev1.Namespace{}
	if err := yaml.UnmarshalStrict(documents[0], namespace); err != nil {
		return nil, nil, err
	}
	var queues []queue
	for _, document := range documents {
		var object metav1.PartialObjectMetadata
		if err := yaml.Unmarshal(document, &object); err != nil {
			return nil, nil, err
		}
		if object.Kind == "Queue" {
			listed := strings.TrimPrefix(namespace.Annotations["queues"], object.Name+"=")
			classes[object.Name] = strings.Split(listed, "|")
			for _, class := range classes[object.Name] {
				queues = append(queues, queue{object.Name, class})
			}
		}
		if object.Kind == "LocalQueue" {
			tier, err := tierOf(document, object.Name, namespace.Labels["team"])
			if err != nil {
				return nil, nil, err
			}
			for _, class := range classes[tier] {
				queues = append(queues, queue{object.Name, class})
			}
			if len(classes[tier]) == 0 {
				return nil, nil, fmt.Errorf("LocalQueue %s: no PriorityClass is of tier %q", object.Name, tier)
			}
		}
	}
	return namespace, queues, nil
}

// workloads are the requests of a team that submits its folder of workloads.
func workloads(folder fs.FS, team string) ([]request, error) {
	files, err := fs.Glob(folder, "workloads/"+team+"/*.yaml")
	if err != nil {
		return nil, err
	}
	var out []request
	for _, name := range files {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(document, &object.Object); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			kind := object.GroupVersionKind()
			out = append(out, request{name + ": " + kind.Kind, member, kind, object.Object, nil, ""})
		}
	}
	return out, nil
}

// guide is the page with a job that a team can submit, and namespaceLine the line that
// names the team's namespace.
const guide = "USING.md"

var namespaceLine = regexp.MustCompile(`(?m)^NAMESPACE=(\S+)$`)

// examples are the requests of a team that submits the jobs that the guide shows, if
// they are jobs of this namespace.
func examples(folder fs.FS, namespace string) ([]request, error) {
	page, err := fs.ReadFile(folder, guide)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if found := namespaceLine.FindSubmatch(page); found == nil || string(found[1]) != namespace {
		return nil, nil
	}
	_, rest, found := bytes.Cut(page, []byte("\n```yaml\n"))
	text, _, closed := bytes.Cut(rest, []byte("\n```\n"))
	if !found || !closed {
		return nil, fmt.Errorf("%s shows no job", guide)
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &object.Object); err != nil {
		return nil, fmt.Errorf("%s: %w", guide, err)
	}
	object.SetNamespace(namespace)
	kind := object.GroupVersionKind()
	return []request{{guide + ": " + kind.Kind, member, kind, object.Object, nil, ""}}, nil
}

// pods are the requests for the pods of a Job or JobSet.
func pods(r request) ([]request, error) {
	var templates []corev1.PodTemplateSpec
	switch r.kind {
	case jobKind:
		var job batchv1.Job
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(r.object, &job); err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		templates = append(templates, job.Spec.Template)
	case jobSetKind:
		var set struct {
			Spec struct {
				ReplicatedJobs []struct {
					Template batchv1.JobTemplateSpec `json:"template"`
				} `json:"replicatedJobs"`
			} `json:"spec"`
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(r.object, &set); err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		for _, j := range set.Spec.ReplicatedJobs {
			templates = append(templates, j.Template.Spec.Template)
		}
	}
	var out []request
	for _, t := range templates {
		pod, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&corev1.Pod{
			ObjectMeta: t.ObjectMeta, Spec: t.Spec,
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		out = append(out, request{r.name + "'s pod", jobController, podKind, pod, nil, ""})
	}
	return out, nil
}

// escapes returns requests for pods that could take over their node. They must also
// be refused in namespaces without a Pod Security Standard.
func escapes() []request {
	var out []request
	escape := func(name string, edit func(*corev1.PodSpec)) {
		spec := corev1.PodSpec{
			Containers: []corev1.Container{
				{Name: "worker", Image: "a/b:1", SecurityContext: &corev1.SecurityContext{}},
			},
			Volumes: []corev1.Volume{{Name: "node"}},
		}
		edit(&spec)
		pod, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&corev1.Pod{Spec: spec})
		if err != nil {
			panic(err) // a mistake of this package
		}
		out = append(out, request{name, jobController, podKind, pod, nil, "must"})
	}
	escape("pod with the processes of its node", func(s *corev1.PodSpec) { s.HostPID = true })
	escape("pod with the memory of its node", func(s *corev1.PodSpec) { s.HostIPC = true })
	escape("privileged pod", func(s *corev1.PodSpec) { s.Containers[0].SecurityContext.Privileged = new(true) })
	escape("privileged before it starts", func(s *corev1.PodSpec) {
		s.InitContainers = []corev1.Container{
			{Name: "first", Image: "a/b:1", SecurityContext: &corev1.SecurityContext{Privileged: new(true)}},
		}
	})
	escape("pod with all of /proc", func(s *corev1.PodSpec) {
		s.Containers[0].SecurityContext.ProcMount = new(corev1.UnmaskedProcMount)
	})
	escape("pod with all system calls", func(s *corev1.PodSpec) {
		s.SecurityContext = &corev1.PodSecurityContext{
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined},
		}
	})
	for _, capability := range []corev1.Capability{"SYS_ADMIN", "NET_ADMIN", "ALL"} {
		escape("pod with capability "+string(capability), func(s *corev1.PodSpec) {
			s.Containers[0].SecurityContext.Capabilities = &corev1.Capabilities{Add: []corev1.Capability{capability}}
		})
	}
	for _, folder := range []string{
		"/", "/etc", "/home/kubernetes/bin", "/home/kubernetes/bin/gib/..", "/sys", "/proc/sys", "/var/run/nri",
	} {
		escape("pod with its node's "+folder, func(s *corev1.PodSpec) {
			s.Volumes[0].HostPath = &corev1.HostPathVolumeSource{Path: folder}
			s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "node", MountPath: "/x", ReadOnly: true}}
		})
	}
	for _, folder := range []string{"/home/kubernetes/bin/gib", "/home/kubernetes/bin/nvidia"} {
		escape("pod that writes to its node's "+folder, func(s *corev1.PodSpec) {
			s.Volumes[0].HostPath = &corev1.HostPathVolumeSource{Path: folder}
			s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "node", MountPath: "/x"}}
		})
	}
	return out
}

// classes are the PriorityClasses.
type classes struct {
	standard string              // of pods that name none
	of       map[string][]string // of a tier, by rising value
}

// tierOf returns the tier of a team's LocalQueue, which is part of its default name. A
// queue with a name of the blueprint has the tier of its ClusterQueue.
func tierOf(document []byte, name, team string) (string, error) {
	if tier, ok := strings.CutPrefix(name, "lq-"+team+"-"); ok {
		return tier, nil
	}
	var queue struct {
		Spec struct {
			ClusterQueue string `json:"clusterQueue"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(document, &queue); err != nil {
		return "", err
	}
	return strings.TrimPrefix(strings.TrimPrefix(queue.Spec.ClusterQueue, "cq-"), team+"-"), nil
}

// readClasses reads the PriorityClasses; their descriptions name their tiers. KAI
// Scheduler has classes of its own, one of which is the default if the cluster has
// none. In a cluster of others no class may be the default.
func readClasses(folder fs.FS, kai bool) (classes, error) {
	const file = "kubernetes/priority-classes.yaml"
	out := classes{of: map[string][]string{}}
	if kai {
		out.standard = kaiDefault
	}
	text, err := fs.ReadFile(folder, file)
	if kai && errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var class schedulingv1.PriorityClass
		if err := yaml.UnmarshalStrict(document, &class); err != nil {
			return out, fmt.Errorf("%s: %w", file, err)
		}
		if class.GlobalDefault {
			out.standard = class.Name
		}
		tier, _, _ := strings.Cut(strings.TrimPrefix(class.Description, "Tier "), " of ")
		out.of[tier] = append(out.of[tier], class.Name)
	}
	_, err = fs.Stat(folder, "terraform/modules/cluster")
	switch owned := errors.Is(err, fs.ErrNotExist); {
	case owned && out.standard == "":
		return out, fmt.Errorf("%s: no default", file)
	case !owned && out.standard != "":
		return out, fmt.Errorf("%s: a default for the pods of others", file)
	}
	return out, nil
}

// with returns the classes of the tier that has class.
func (c classes) with(class string) []string {
	for _, tier := range slices.Sorted(maps.Keys(c.of)) {
		if slices.Contains(c.of[tier], class) {
			return slices.Clone(c.of[tier])
		}
	}
	return nil
}

// without returns a class of another tier than class, or of no tier.
func (c classes) without(class string) string {
	for _, tier := range slices.Sorted(maps.Keys(c.of)) {
		if !slices.Contains(c.of[tier], class) {
			return c.of[tier][0]
		}
	}
	return otherClass
}

// request is a request to the API server.
type request struct {
	name        string
	user        string
	kind        schema.GroupVersionKind
	object, old map[string]any // old is nil when object is created; object is DeleteOptions when old is deleted
	refused     string         // part of the message; "" where it is admitted
}

var (
	jobKind     = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	jobSetKind  = schema.GroupVersionKind{Group: "jobset.x-k8s.io", Version: "v1alpha2", Kind: "JobSet"}
	podKind     = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	serviceKind = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
)

// unqueued are requests that are refused with or without queues.
func unqueued() []request {
	return []request{
		{"job without labels", member, jobKind, job(none), nil, queueLabel},
		{"job with an empty queue", member, jobKind, job(queue{}), nil, queueLabel},
		{"jobset without a queue", member, jobSetKind, jobSet(none, ""), nil, queueLabel},
	}
}

// cases returns the requests for which the policies were written, with a queue.
func cases(q queue, all classes) []request {
	var (
		other   = queue{q.name, otherClass}
		foreign = queue{q.name, all.without(q.class)}

		unnamed  = queue{q.name, ""}
		gone     = queue{"gone", otherClass}
		headless = map[string]any{"metadata": map[string]any{"name": "x"}, "spec": map[string]any{"clusterIP": "None"}}
		balancer = map[string]any{
			"metadata": map[string]any{"name": "x"}, "spec": map[string]any{"type": "LoadBalancer"},
		}
		endpoints = map[string]any{
			"metadata": map[string]any{"name": "x", "annotations": map[string]any{
				"cloud.google.com/neg": `{"exposed_ports": {"80": {}}}`,
			}},
			"spec": map[string]any{"clusterIP": "None"},
		}
		allowed = all.with(q.class)
		another = "must be " + strings.Join(allowed, " or ")
		listed  = queue{q.name, strings.Join(append(allowed, otherClass), "|")}
		// Pods that name no class have the default one.
		refused = another
	)
	if slices.Contains(allowed, all.standard) {
		refused = ""
	}
	return []request{
		{"job with a queue", member, jobKind, job(q), nil, ""},
		{"job with another's queue", member, jobKind, job(queue{q.name + "-x", q.class}), nil, q.name},
		{"job with half a queue", member, jobKind, job(queue{q.name[:3], q.class}), nil, q.name},
		{"job with two queues", member, jobKind, job(queue{q.name + ", " + q.name, q.class}), nil, q.name},
		{
			"job with queue and class in the label", member, jobKind, job(queue{q.name + "=" + q.class, q.class}), nil,
			q.name,
		},
		{"job that keeps its queue", member, jobKind, job(q), job(q), ""},
		{"job that loses its queue", member, jobKind, job(none), job(q), q.name},
		{"job that gets a queue", member, jobKind, job(q), job(none), ""},
		{"job that is cleaned up", collector, jobKind, job(none), job(none), ""},
		{"job whose queue is gone", collector, jobKind, job(gone), job(gone), ""},
		{"job of a jobset", jobSetController, jobKind, owned(job(none), "a", true), nil, ""},

		{"job with another priority", member, jobKind, job(other), nil, another},
		{"job with another tier's priority", member, jobKind, job(foreign), nil, another},
		{"job with several priorities", member, jobKind, job(listed), nil, another},
		{"job without a priority", member, jobKind, job(unnamed), nil, refused},
		{"job without a field for its priority", member, jobKind, job(queue{q.name, "-"}), nil, refused},
		{"job that gets a queue of another priority", member, jobKind, job(other), job(none), another},
		{"job of another priority that was there", collector, jobKind, job(other), job(other), ""},

		{"job with an owner", member, jobKind, owned(job(q), "a", false), nil, ""},
		{"job with a controller", member, jobKind, owned(job(q), "a", true), nil, "controller"},
		{"job that keeps its controller", collector, jobKind, owned(job(q), "a", true), owned(job(q), "a", true), ""},
		{"job that loses its controller", collector, jobKind, job(q), owned(job(q), "a", true), ""},
		{"job that gets a controller", member, jobKind, owned(job(q), "a", true), job(q), "controller"},
		{
			"job whose owner becomes its controller", member, jobKind, owned(job(q), "a", true),
			owned(job(q), "a", false), "controller",
		},
		{
			"job that gets another controller", member, jobKind, owned(job(q), "b", true), owned(job(q), "a", true),
			"controller",
		},

		{"jobset with a queue", member, jobSetKind, jobSet(q, q.class), nil, ""},
		{"jobset that loses its queue", member, jobSetKind, jobSet(none, q.class), jobSet(q, q.class), q.name},
		{"jobset with another priority", member, jobSetKind, jobSet(q, otherClass), nil, another},
		{"jobset with another priority besides", member, jobSetKind, jobSet(q, q.class, otherClass), nil, another},
		{"jobset without a priority", member, jobSetKind, jobSet(q, q.class, ""), nil, refused},
		{"jobset with a controller", member, jobSetKind, owned(jobSet(q, q.class), "a", true), nil, "controller"},

		{"headless service", member, serviceKind, headless, nil, ""},
		{"load balancer", member, serviceKind, balancer, nil, "headless"},
		{"headless service with endpoints outside", member, serviceKind, endpoints, nil, "network endpoint groups"},
		{"service that becomes a load balancer", member, serviceKind, balancer, headless, "headless"},
	}
}

// none stands for a job without labels.
var none = queue{"-", ""}

// job returns the fields of a Job.
func job(q queue) map[string]any {
	return map[string]any{"metadata": metadata(q), "spec": jobSpec(q.class)}
}

// jobSet returns the fields of a JobSet, with a replicated job of each class.
func jobSet(q queue, classes ...string) map[string]any {
	var jobs []any
	for _, class := range classes {
		jobs = append(jobs, map[string]any{"template": map[string]any{"spec": jobSpec(class)}})
	}
	return map[string]any{"metadata": metadata(q), "spec": map[string]any{"replicatedJobs": jobs}}
}

func metadata(q queue) map[string]any {
	if q == none {
		return map[string]any{"name": "x"}
	}
	return map[string]any{"name": "x", "labels": map[string]any{queueLabel: q.name}}
}

// jobSpec returns the fields of a Job's spec; class "-" leaves it out.
func jobSpec(class string) map[string]any {
	pod := map[string]any{"containers": []any{}}
	if class != "-" {
		pod["priorityClassName"] = class
	}
	return map[string]any{"template": map[string]any{"spec": pod}}
}

// owned adds an owner to the fields of an object.
func owned(fields map[string]any, uid string, controller bool) map[string]any {
	owner := map[string]any{"apiVersion": "batch/v1", "kind": "Job", "name": "owner", "uid": uid}
	if controller {
		owner["controller"] = true
	}
	fields["metadata"].(map[string]any)["ownerReferences"] = []any{owner}
	return fields
}

// check evaluates a request under all policies that apply to it.
func (r request) check(policies []policy, namespace *corev1.Namespace) error {
	var message string // the first, which is the one that the API server returns
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
			case d.Action == validating.ActionDeny && message == "":
				message = d.Message
			}
		}
	}
	switch {
	case r.refused == "" && message != "":
		return fmt.Errorf("refused: %s", message)
	case r.refused != "" && message == "":
		return fmt.Errorf("admitted")
	case !strings.Contains(message, r.refused):
		return fmt.Errorf("refused with %q, which does not name %q", message, r.refused)
	}
	return nil
}

// deleteOptions is the kind of the object of a request that deletes.
const deleteOptions = "DeleteOptions"

func (r request) operation() admission.Operation {
	switch {
	case r.object["kind"] == deleteOptions:
		return admission.Delete
	case r.old != nil:
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
			contains(rule.Resources, r.resource().Resource) &&
			contains(rule.Operations, admissionv1.OperationType(r.operation())) {
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

// evaluate returns the decisions of a policy about a request to a namespace.
func (e *evaluator) evaluate(r request, namespace *corev1.Namespace) []validating.PolicyDecision {
	key, err := json.Marshal([]any{r.user, r.kind, r.object, r.old, namespace})
	if err != nil {
		panic(err) // a mistake of this package
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	decisions, found := e.decisions[string(key)]
	if !found {
		decisions = e.decide(r, namespace)
		e.decisions[string(key)] = decisions
	}
	return decisions
}

// decide evaluates a policy for a request.
func (e *evaluator) decide(r request, namespace *corev1.Namespace) []validating.PolicyDecision {
	// An untyped nil tells the evaluator that there is no object.
	var object, old, options runtime.Object
	if r.old != nil {
		old = r.typed(r.old)
	}
	if r.operation() == admission.Delete {
		how := &metav1.DeleteOptions{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(r.object, how); err != nil {
			panic(err) // a mistake of this package
		}
		options = how
	} else {
		object = r.typed(r.object)
	}
	attributes := &admission.VersionedAttributes{
		Attributes: admission.NewAttributesRecord(object, old, r.kind, namespace.Name, "x", r.resource(), "",
			r.operation(), options, false, &user.DefaultInfo{Name: r.user}),
		VersionedKind: r.kind, VersionedObject: object, VersionedOldObject: old,
	}
	return e.validator.Validate(context.Background(), r.resource(), attributes, nil, namespace,
		celconfig.RuntimeCELCostBudget, nil).Decisions
}

// typed returns fields as an object of the request's kind.
func (r request) typed(fields map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: maps.Clone(fields)}
	object.SetGroupVersionKind(r.kind)
	return object
}

// installsChart reports whether a GitOps tool installs JobSet from its chart.
func installsChart(folder fs.FS) (bool, error) {
	found := false
	err := fs.WalkDir(folder, "gitops", func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return fs.SkipAll // the build installs the release
		}
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(folder, name)
		found = found || bytes.Contains(text, []byte("/charts/jobset\n"))
		return err
	})
	return found, err
}

// asChart returns the requests with the account that JobSet's chart gives its
// controller.
func asChart(requests []request) []request {
	out := slices.Clone(requests)
	for i, r := range out {
		if r.user == jobSetController {
			out[i].user = chartJobSetController
		}
	}
	return out
}
