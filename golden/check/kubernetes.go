package check

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	networkv1 "github.com/GoogleCloudPlatform/gke-networking-api/apis/network/v1"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/constants"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// Kubernetes checks the Kubernetes manifests of a deploy folder: every document
// under kubernetes/ and workloads/, except the monitoring objects, whose kinds
// belong to another API.
//
// A document must decode into the struct of its API, without unknown fields and
// duplicate keys. Printed again it must equal the text from which it was read,
// without superfluous fields and with canonical quantities. No two documents may be
// the same object. A kustomization must list the files of its folder. The objects to
// which an object refers must exist and fit.
func Kubernetes(dir fs.FS) []error {
	c, err := readKubernetes(dir)
	if err != nil {
		return []error{err}
	}
	for _, o := range c.order {
		c.checkReferences(o)
	}
	return c.errs
}

// readKubernetes reads the manifests. The errors of the result include the mistakes
// within single manifests.
func readKubernetes(dir fs.FS) (*kubernetesCheck, error) {
	scheme, err := kubernetesScheme()
	if err != nil {
		return nil, err
	}
	c := &kubernetesCheck{dir: dir, scheme: scheme, objects: map[objectKey]runtime.Object{}}
	c.readFolder("kubernetes")
	if teams, err := fs.ReadDir(dir, "workloads"); err == nil {
		for _, team := range teams {
			c.readFolder(path.Join("workloads", team.Name()))
		}
	}
	return c, nil
}

// kubernetesScheme returns the API types of the manifests.
var kubernetesScheme = sync.OnceValues(func() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		admissionv1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme,
		rbacv1.AddToScheme, resourcev1.AddToScheme, schedulingv1.AddToScheme, v1alpha2.AddToScheme, v1beta2.AddToScheme,
		addComputeClass, addKAIQueue,
		networkv1.Install,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
})

// monitoringFolder holds objects of other APIs and its own kustomization.
const monitoringFolder = "monitoring"

type objectKey struct{ kind, namespace, name string }

func (k objectKey) String() string {
	return strings.TrimPrefix(fmt.Sprintf("%s %s/%s", k.kind, k.namespace, k.name), " ")
}

type kubernetesCheck struct {
	dir     fs.FS
	scheme  *runtime.Scheme
	objects map[objectKey]runtime.Object
	order   []objectKey
	errs    []error
}

func (c *kubernetesCheck) errorf(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

// readFolder reads a folder with a kustomization and all files below it.
func (c *kubernetesCheck) readFolder(root string) {
	var files []string
	err := fs.WalkDir(c.dir, root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == path.Join(root, monitoringFolder):
			files = append(files, monitoringFolder)
			return fs.SkipDir
		case name == path.Join(root, ir.KueueWebhooks):
			c.checkComponent(path.Join(name, "kustomization.yaml"))
			return fs.SkipDir
		case name == ir.OwnFolder: // the administrator's, as they have written it
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		relative := strings.TrimPrefix(name, root+"/")
		if relative == "kustomization.yaml" {
			return nil
		}
		files = append(files, relative)
		if path.Ext(name) != ".yaml" {
			c.errorf("%s: not a YAML file", name)
			return nil
		}
		c.decodeFile(name)
		return nil
	})
	if err != nil {
		c.errs = append(c.errs, err)
		return
	}
	c.checkKustomization(path.Join(root, "kustomization.yaml"), files)
}

// checkComponent checks how a kustomize component is printed. The component changes a
// release, and the kustomization of the folder does not list it.
func (c *kubernetesCheck) checkComponent(name string) {
	c.decodeInto(name, &kubeyaml.Fields{})
}

// checkKustomization checks that a kustomization lists the files, each once.
func (c *kubernetesCheck) checkKustomization(name string, files []string) {
	var k kubeyaml.Kustomization
	if !c.decodeInto(name, &k) {
		return
	}
	if want := kubeyaml.NewKustomization(k.Resources); !reflect.DeepEqual(want, &k) {
		c.errorf("%s: want a kustomization of resources:\n%s", name, cmp.Diff(want, &k))
	}
	listed := slices.Clone(k.Resources)
	slices.Sort(listed)
	slices.Sort(files)
	if diff := cmp.Diff(files, listed); diff != "" {
		c.errorf("%s: does not list what is there (-there +listed):\n%s", name, diff)
	}
}

// decodeInto decodes a file into a pointer, and reports whether it can be decoded. The file
// must be the text that the result prints as.
func (c *kubernetesCheck) decodeInto(name string, object any) bool {
	text, err := fs.ReadFile(c.dir, name)
	if err == nil {
		err = yaml.UnmarshalStrict(text, object)
	}
	if err != nil {
		c.errorf("%s: %w", name, err)
		return false
	}
	c.printsAs(name, text, object)
	return true
}

// decodeFile decodes the documents of a file.
func (c *kubernetesCheck) decodeFile(name string) {
	text, err := fs.ReadFile(c.dir, name)
	if err != nil {
		c.errs = append(c.errs, err)
		return
	}
	var printed []any
	readable := true
	for i, document := range bytes.Split(text, []byte("\n---\n")) {
		where := fmt.Sprintf("%s: document %d", name, i+1)
		object, err := c.decodeDocument(document)
		if err != nil {
			c.errorf("%s: %w", where, err)
			readable = false
			continue
		}
		printed = append(printed, object)
		key := keyOf(object)
		if c.objects[key] != nil {
			c.errorf("%s: %s is there already", where, key)
			continue
		}
		c.objects[key] = object
		c.order = append(c.order, key)
	}
	if readable {
		c.printsAs(name, text, printed...)
	}
}

// decodeDocument decodes a document into the struct of its API version and kind.
func (c *kubernetesCheck) decodeDocument(document []byte) (runtime.Object, error) {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return nil, err
	}
	object, err := c.scheme.New(schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind))
	if err != nil {
		return nil, err
	}
	return object, yaml.UnmarshalStrict(document, object)
}

// printsAs checks that objects print as the text from which they were read.
func (c *kubernetesCheck) printsAs(name string, text []byte, objects ...any) {
	printed, err := kubeyaml.Marshal(objects...)
	if err != nil {
		c.errorf("%s: %w", name, err)
		return
	}
	if diff := cmp.Diff(string(text), string(printed)); diff != "" {
		c.errorf("%s: prints as something else (-file +printed):\n%s", name, diff)
	}
}

func keyOf(object runtime.Object) objectKey {
	m := object.(metav1.Object)
	return objectKey{object.GetObjectKind().GroupVersionKind().Kind, m.GetNamespace(), m.GetName()}
}

// findObject returns the object to which another object refers.
func findObject[T runtime.Object](c *kubernetesCheck, from objectKey, kind, namespace, name string) (_ T, ok bool) {
	object, ok := c.objects[objectKey{kind, namespace, name}].(T)
	if !ok {
		c.errorf("%s refers to %s, which is not there", from, objectKey{kind, namespace, name})
	}
	return object, ok
}

// checkReferences checks the references of an object.
func (c *kubernetesCheck) checkReferences(from objectKey) {
	if from.namespace != "" && from.namespace != ir.KueueNamespace && from.namespace != metav1.NamespaceSystem {
		findObject[*corev1.Namespace](c, from, "Namespace", "", from.namespace)
	}
	switch o := c.objects[from].(type) {
	case *admissionv1.ValidatingAdmissionPolicyBinding:
		findObject[*admissionv1.ValidatingAdmissionPolicy](c, from, "ValidatingAdmissionPolicy", "", o.Spec.PolicyName)
	case *rbacv1.RoleBinding:
		findObject[runtime.Object](c, from, o.RoleRef.Kind, "", o.RoleRef.Name)
	case *v1beta2.AdmissionCheck:
		if o.Spec.Parameters == nil {
			c.errorf("%s has no parameters", from)
			return
		}
		findObject[runtime.Object](c, from, o.Spec.Parameters.Kind, "", o.Spec.Parameters.Name)
	case *v1beta2.Cohort:
		if o.Spec.ParentName != "" {
			findObject[*v1beta2.Cohort](c, from, "Cohort", "", string(o.Spec.ParentName))
		}
	case *v1beta2.LocalQueue:
		queue, ok := findObject[*v1beta2.ClusterQueue](c, from, "ClusterQueue", "", string(o.Spec.ClusterQueue))
		if ok && !c.selects(queue.Spec.NamespaceSelector, from.namespace) {
			c.errorf("%s: %s does not admit its namespace", from, keyOf(queue))
		}
	case *v1beta2.ClusterQueue:
		c.clusterQueue(from, o)
	case *v1beta2.ResourceFlavor:
		for _, taint := range o.Spec.NodeTaints {
			if !ToleratesTaint(o.Spec.Tolerations, taint) {
				c.errorf("%s does not let pods tolerate %s", from, taint.ToString())
			}
		}
		for _, t := range o.Spec.Tolerations {
			if !slices.ContainsFunc(o.Spec.NodeTaints, func(taint corev1.Taint) bool {
				return ToleratesTaint([]corev1.Toleration{t}, taint)
			}) {
				c.errorf("%s tolerates %s, which its nodes do not have", from, t.Key)
			}
		}
		c.classFlavor(from, o)
	case *computeClass:
		c.computeClass(from, o)
	case *KAIQueue:
		c.kaiQueue(from, o)
	case *batchv1.Job:
		c.checkWorkload(from, o.ObjectMeta, o.Spec.Suspend, 1, batchv1.JobTemplateSpec{Spec: o.Spec}, false)
	case *v1alpha2.JobSet:
		c.jobSet(from, o)
	}
}

// jobSet checks a JobSet. Its first replicated job has the workload's own pods; each
// of the others has a pod that runs beside them.
func (c *kubernetesCheck) jobSet(from objectKey, o *v1alpha2.JobSet) {
	if o.Annotations[v1alpha2.ExclusiveKey] != "" {
		c.errorf("%s keeps pods beside its own off each other's nodes, too", from)
	}
	for i, r := range o.Spec.ReplicatedJobs {
		exclusive := r.Template.Annotations[v1alpha2.ExclusiveKey]
		if n := o.Spec.Network; exclusive != "" && n != nil && !ValueOr(n.EnableDNSHostnames, true) {
			c.errorf("%s: the hosts of its slices have no names", from)
		}
		if i > 0 {
			_, accelerated := r.Template.Spec.Template.Spec.Containers[0].Resources.Limits[tpuResource]
			if r.Replicas != 1 || ValueOr(r.Template.Spec.Parallelism, 1) != 1 || accelerated || exclusive != "" {
				c.errorf("%s: %s is more than a pod beside its own", from, r.Name)
			}
		}
		c.checkWorkload(from, o.ObjectMeta, o.Spec.Suspend, int64(r.Replicas), r.Template, i > 0)
	}
	if p := o.Spec.SuccessPolicy; len(o.Spec.ReplicatedJobs) > 1 &&
		(p == nil || p.Operator != v1alpha2.OperatorAll ||
			!slices.Equal(p.TargetReplicatedJobs, []string{o.Spec.ReplicatedJobs[0].Name})) {
		c.errorf("%s waits for the pods beside its own: %v", from, p)
	}
}

// selects reports whether a selector selects a namespace of the folder.
func (c *kubernetesCheck) selects(selector *metav1.LabelSelector, namespace string) bool {
	n, ok := c.objects[objectKey{"Namespace", "", namespace}].(*corev1.Namespace)
	s, err := metav1.LabelSelectorAsSelector(selector)
	if !ok || err != nil {
		return false
	}
	all := labels.Set{corev1.LabelMetadataName: namespace}
	maps.Copy(all, n.Labels)
	return s.Matches(all)
}

// NamespacesOf returns the namespaces that a selector names, or nil if it selects by
// anything other than names.
func NamespacesOf(selector *metav1.LabelSelector) []string {
	switch {
	case selector == nil:
	case len(selector.MatchLabels) == 1 && len(selector.MatchExpressions) == 0:
		if name, ok := selector.MatchLabels[corev1.LabelMetadataName]; ok {
			return []string{name}
		}
	case len(selector.MatchLabels) == 0 && len(selector.MatchExpressions) == 1:
		if e := selector.MatchExpressions[0]; e.Key == corev1.LabelMetadataName &&
			e.Operator == metav1.LabelSelectorOpIn {
			return e.Values
		}
	}
	return nil
}

func (c *kubernetesCheck) clusterQueue(from objectKey, q *v1beta2.ClusterQueue) {
	namespaces := NamespacesOf(q.Spec.NamespaceSelector)
	if s := q.Spec.NamespaceSelector; namespaces == nil && s != nil && slices.ContainsFunc(s.MatchExpressions,
		func(e metav1.LabelSelectorRequirement) bool { return e.Key == corev1.LabelMetadataName }) {
		c.errorf("%s does not say by name which namespaces it admits", from)
	}
	for _, namespace := range namespaces {
		if !slices.ContainsFunc(c.order, func(k objectKey) bool {
			local, ok := c.objects[k].(*v1beta2.LocalQueue)
			return ok && k.namespace == namespace && string(local.Spec.ClusterQueue) == from.name
		}) {
			c.errorf("%s admits namespace %s, which has no LocalQueue to it", from, namespace)
		}
	}
	if q.Spec.CohortName != "" {
		findObject[*v1beta2.Cohort](c, from, "Cohort", "", string(q.Spec.CohortName))
	}
	var flavors []v1beta2.ResourceFlavorReference
	for _, group := range q.Spec.ResourceGroups {
		for _, f := range group.Flavors {
			flavors = append(flavors, f.Name)
			findObject[*v1beta2.ResourceFlavor](c, from, "ResourceFlavor", "", string(f.Name))
			var covered []corev1.ResourceName
			for _, r := range f.Resources {
				covered = append(covered, r.Name)
				if q.Spec.CohortName == "" && (r.BorrowingLimit != nil || r.LendingLimit != nil) {
					c.errorf("%s: a limit on what is borrowed or lent outside a cohort", from)
				}
			}
			if !slices.Equal(covered, group.CoveredResources) {
				c.errorf("%s: flavor %s covers %v, its group %v", from, f.Name, covered, group.CoveredResources)
			}
		}
	}
	if q.Spec.AdmissionChecksStrategy == nil {
		return
	}
	for _, check := range q.Spec.AdmissionChecksStrategy.AdmissionChecks {
		findObject[*v1beta2.AdmissionCheck](c, from, "AdmissionCheck", "", string(check.Name))
		if len(check.OnFlavors) == 0 {
			c.errorf("%s: check %s would hold up every flavor", from, check.Name)
		}
		for _, f := range check.OnFlavors {
			if !slices.Contains(flavors, f) {
				c.errorf("%s: check %s on flavor %s, which the queue does not have", from, check.Name, f)
			}
			c.checkRequest(from, string(check.Name), c.flavorNamed(f))
		}
	}
}

func (c *kubernetesCheck) flavorNamed(name v1beta2.ResourceFlavorReference) *v1beta2.ResourceFlavor {
	f, _ := c.objects[objectKey{"ResourceFlavor", "", string(name)}].(*v1beta2.ResourceFlavor)
	return f
}

// checkRequest checks that the nodes for which an admission check asks are nodes of
// the flavor.
func (c *kubernetesCheck) checkRequest(from objectKey, check string, f *v1beta2.ResourceFlavor) {
	config, ok := c.objects[objectKey{"ProvisioningRequestConfig", "", check}].(*v1beta2.ProvisioningRequestConfig)
	if !ok || f == nil {
		return // reported at the check, or the queue
	}
	if got, want := string(config.Spec.Parameters["tpu-topology"]), f.Spec.NodeLabels[TopologyLabel]; got != want {
		c.errorf("%s: check %s asks for topology %q, and flavor %s has %q", from, check, got, f.Name, want)
	}
	for _, name := range config.Spec.ManagedResources {
		if !slices.ContainsFunc(f.Spec.NodeTaints, func(t corev1.Taint) bool { return t.Key == string(name) }) {
			c.errorf("%s: check %s asks for %s, which flavor %s does not have", from, check, name, f.Name)
		}
	}
}

// checkWorkload checks the references of a Job or of a replicated job in a JobSet. It
// also checks that its pods may use every flavor of the queue that they can reach,
// and that at least one flavor has room for all of them. Pods beside a workload's
// own pods must not refer to nodes that are started on request.
func (c *kubernetesCheck) checkWorkload(from objectKey, m metav1.ObjectMeta, suspend *bool, jobs int64,
	template batchv1.JobTemplateSpec, beside bool) {
	spec, pod := template.Spec, template.Spec.Template.Spec
	if suspend != nil {
		c.errorf("%s sets suspend, which is Kueue's: applied again, it would stop", from)
	}
	_, kai := m.Labels[kaiQueueLabel]
	priority, labelled := m.Labels[ir.LabelWorkloadPriority]
	if labelled {
		findObject[*v1beta2.WorkloadPriorityClass](c, from, "WorkloadPriorityClass", "", priority)
	}
	if _, own := kaiClassValues[pod.PriorityClassName]; (!kai || !own) && (!labelled || pod.PriorityClassName != "") {
		findObject[*schedulingv1.PriorityClass](c, from, "PriorityClass", "", pod.PriorityClassName)
	}
	findObject[*corev1.ServiceAccount](c, from, "ServiceAccount", m.Namespace, pod.ServiceAccountName)
	if pod.Subdomain != "" {
		findObject[*corev1.Service](c, from, "Service", m.Namespace, pod.Subdomain)
	}
	for _, v := range pod.Volumes {
		if v.ConfigMap != nil {
			findObject[*corev1.ConfigMap](c, from, "ConfigMap", m.Namespace, v.ConfigMap.Name)
		}
	}
	for _, claim := range pod.ResourceClaims {
		findObject[*resourcev1.ResourceClaimTemplate](c, from, "ResourceClaimTemplate", m.Namespace,
			ValueOr(claim.ResourceClaimTemplateName, ""))
		if !slices.ContainsFunc(pod.Containers, func(container corev1.Container) bool {
			return slices.ContainsFunc(container.Resources.Claims, func(used corev1.ResourceClaim) bool {
				return used.Name == claim.Name
			})
		}) {
			c.errorf("%s: no container uses its claim %s", from, claim.Name)
		}
	}
	if kai {
		c.kaiWorkload(from, m, jobs, spec)
		return
	}
	local, ok := findObject[*v1beta2.LocalQueue](c, from, "LocalQueue", m.Namespace, m.Labels[constants.QueueLabel])
	if !ok {
		return
	}
	if namespace, ok := c.objects[objectKey{"Namespace", "", m.Namespace}].(*corev1.Namespace); ok {
		if !slices.ContainsFunc(strings.Split(namespace.Annotations["queues"], ", "), func(queue string) bool {
			name, classes, _ := strings.Cut(queue, "=")
			return name == local.Name && slices.Contains(strings.Split(classes, "|"), pod.PriorityClassName)
		}) {
			c.errorf("%s: %s=%s is not one of %s's queues: %s", from, local.Name, pod.PriorityClassName, m.Namespace,
				namespace.Annotations["queues"])
		}
	}
	queue, ok := c.objects[objectKey{"ClusterQueue", "", string(local.Spec.ClusterQueue)}].(*v1beta2.ClusterQueue)
	if !ok {
		return
	}
	queue, unreached := c.reachedFlavors(pod, queue)
	errs := checkFlavors(pod, queue, unreached, c.flavorNamed)
	if pods := jobs * int64(ValueOr(spec.Parallelism, 1)); !hasQuota(queue, pod, pods) {
		errs = append(errs, fmt.Errorf("no flavor's quota holds its %d pods", pods))
	}
	queued := queue.Spec.AdmissionChecksStrategy != nil &&
		slices.ContainsFunc(queue.Spec.AdmissionChecksStrategy.AdmissionChecks,
			func(r v1beta2.AdmissionCheckStrategyRule) bool {
				return slices.ContainsFunc(r.OnFlavors, func(f v1beta2.ResourceFlavorReference) bool {
					return !slices.Contains(unreached, f)
				})
			})
	if _, bound := m.Annotations[MaxRunAnnotation]; bound != queued && !beside {
		errs = append(errs,
			fmt.Errorf("says how long nodes on request are wanted: %v, and its queue has some: %v", bound, queued))
	}
	for _, group := range queue.Spec.ResourceGroups {
		for _, quotas := range group.Flavors {
			if f := c.flavorNamed(quotas.Name); f != nil && f.Spec.NodeLabels[TopologyLabel] != "" {
				errs = append(errs,
					takesSlices(from.kind, template.Annotations[v1alpha2.ExclusiveKey], spec,
						f.Spec.NodeLabels[TopologyLabel])...)
			}
		}
	}
	for _, err := range errs {
		c.errorf("%s in %s: %w", from, keyOf(queue), err)
	}
}

const (
	TopologyLabel    = "cloud.google.com/gke-tpu-topology"
	nodePoolLabel    = "cloud.google.com/gke-nodepool"
	CapacityLabel    = "capacity"
	tpuResource      = "google.com/tpu"
	MaxRunAnnotation = constants.ProvReqAnnotationPrefix + "maxRunDurationSeconds"
)

// ValueOr returns the value of a field, or the API's default if the field is nil.
func ValueOr[T any](field *T, otherwise T) T {
	if field == nil {
		return otherwise
	}
	return *field
}

// hasQuota reports whether some flavor of a queue has quota for the given number of
// pods.
func hasQuota(queue *v1beta2.ClusterQueue, pod corev1.PodSpec, pods int64) bool {
	holds := func(f v1beta2.FlavorQuotas) bool {
		for _, r := range f.Resources {
			wanted := resource.Quantity{}
			for _, container := range pod.Containers {
				wanted.Add(container.Resources.Requests[r.Name])
			}
			wanted.Mul(pods)
			most := r.NominalQuota.DeepCopy()
			switch {
			case r.BorrowingLimit != nil:
				most.Add(*r.BorrowingLimit)
			case queue.Spec.CohortName != "":
				continue // limited only by the quota of the cohort
			}
			if wanted.Cmp(most) > 0 {
				return false
			}
		}
		return true
	}
	held := true // the whole queue waits for reservations to begin
	for _, g := range queue.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				held = held && r.NominalQuota.IsZero() && (r.BorrowingLimit == nil || r.BorrowingLimit.IsZero())
			}
		}
	}
	return held || slices.ContainsFunc(queue.Spec.ResourceGroups, func(g v1beta2.ResourceGroup) bool {
		return slices.ContainsFunc(g.Flavors, holds)
	})
}

// takesSlices checks that each job takes a whole TPU slice of a topology, with one
// pod for each host, and that a job has a slice of several hosts for itself.
func takesSlices(kind, exclusive string, spec batchv1.JobSpec, topology string) []error {
	var errs []error
	chips := int64(1)
	for side := range strings.SplitSeq(topology, "x") {
		n, err := strconv.ParseInt(side, 10, 64)
		if err != nil {
			return []error{err}
		}
		chips *= n
	}
	if n := len(spec.Template.Spec.Containers); n != 1 {
		return []error{fmt.Errorf("%d containers, of which one has the chips", n)}
	}
	container := spec.Template.Spec.Containers[0]
	wanted, limit := container.Resources.Requests[tpuResource], container.Resources.Limits[tpuResource]
	if wanted.Value() == 0 || chips%wanted.Value() != 0 || wanted.Cmp(limit) != 0 {
		return []error{
			fmt.Errorf("requests %v and at most %v of the %d chips of a slice", wanted.Value(), limit.Value(), chips),
		}
	}
	var ports []int32
	for _, p := range container.Ports {
		ports = append(ports, p.ContainerPort)
	}
	if !slices.Equal(ports, []int32{8471, 8080}) {
		errs = append(errs, fmt.Errorf("has ports %v, not those by which TPU hosts reach each other", ports))
	}
	hosts := int32(chips / wanted.Value())
	switch {
	case hosts == 1 && exclusive != "":
		errs = append(errs, fmt.Errorf("keeps other jobs off the pool of its slice of one host"))
	case hosts == 1:
	case kind != "JobSet" || exclusive != nodePoolLabel:
		errs = append(errs,
			fmt.Errorf("a %s with its hosts by %q does not keep a slice of %d hosts together", kind, exclusive, hosts))
	case ValueOr(spec.Parallelism, 1) != hosts || ValueOr(spec.Completions, 1) != hosts:
		errs = append(errs,
			fmt.Errorf("%d of %d pods at once, and a slice of %s has %d hosts", ValueOr(spec.Parallelism, 1),
				ValueOr(spec.Completions, 1), topology, hosts))
	case ValueOr(spec.CompletionMode, "") != batchv1.IndexedCompletion || ValueOr(spec.BackoffLimit, 6) != 0:
		errs = append(errs, fmt.Errorf("the pods of a slice are not told apart, or restart alone"))
	}
	return errs
}

// reachedFlavors returns the queue without the flavors that a pod cannot reach, and
// the names of those flavors. Like Kueue, it compares only labels that a flavor has:
// the pod must not select another value of such a label (Kueue 0.19,
// pkg/scheduler/flavorassigner). If the pod reaches no flavor, the queue has none
// left.
func (c *kubernetesCheck) reachedFlavors(pod corev1.PodSpec,
	queue *v1beta2.ClusterQueue) (_ *v1beta2.ClusterQueue, unreached []v1beta2.ResourceFlavorReference) {
	queue = queue.DeepCopy()
	for i := range queue.Spec.ResourceGroups {
		group := &queue.Spec.ResourceGroups[i]
		group.Flavors = slices.DeleteFunc(group.Flavors, func(q v1beta2.FlavorQuotas) bool {
			f := c.flavorNamed(q.Name)
			if f == nil {
				return false
			}
			for key, value := range pod.NodeSelector {
				if has, ok := f.Spec.NodeLabels[key]; ok && has != value {
					unreached = append(unreached, q.Name)
					return true
				}
			}
			return false
		})
	}
	return queue, unreached
}

// checkFlavors checks that Kueue could assign a pod any flavor of a queue, and that
// the pod has nothing that only unreached flavors require.
func checkFlavors(pod corev1.PodSpec, queue *v1beta2.ClusterQueue, unreached []v1beta2.ResourceFlavorReference,
	flavor func(v1beta2.ResourceFlavorReference) *v1beta2.ResourceFlavor) []error {
	var errs []error
	var wanted []corev1.Toleration // for the flavors that the pod reaches
	for _, group := range queue.Spec.ResourceGroups {
		if len(group.Flavors) == 0 {
			errs = append(errs, fmt.Errorf("selects nodes of none of its flavors, which are %v", unreached))
		}
		for _, quotas := range group.Flavors {
			if f := flavor(quotas.Name); f != nil {
				wanted = append(wanted, f.Spec.Tolerations...)
			}
		}
	}
	for _, name := range unreached {
		for _, t := range flavor(name).Spec.Tolerations {
			if slices.Contains(pod.Tolerations, t) && !slices.Contains(wanted, t) {
				errs = append(errs,
					fmt.Errorf("tolerates %s=%s of flavor %s, whose nodes it does not select", t.Key, t.Value, name))
			}
		}
	}
	for _, container := range pod.Containers {
		for name := range container.Resources.Requests {
			if !slices.ContainsFunc(queue.Spec.ResourceGroups, func(g v1beta2.ResourceGroup) bool {
				return slices.Contains(g.CoveredResources, name)
			}) {
				errs = append(errs, fmt.Errorf("requests %s, which the queue does not cover", name))
			}
		}
	}
	for _, group := range queue.Spec.ResourceGroups {
		for _, quotas := range group.Flavors {
			f := flavor(quotas.Name)
			if f == nil {
				continue
			}
			// Kueue would add a missing toleration to the job, and the job could
			// then not be applied again while it runs.
			for _, t := range f.Spec.Tolerations {
				if !slices.Contains(pod.Tolerations, t) {
					errs = append(errs,
						fmt.Errorf("lacks the toleration of %s=%s that flavor %s gives", t.Key, t.Value, quotas.Name))
				}
			}
			_, class := f.Spec.NodeLabels[computeClassLabel]
			for key, value := range pod.NodeSelector {
				if _, ok := f.Spec.NodeLabels[key]; !ok && class {
					errs = append(errs,
						fmt.Errorf("selects %s=%s, and nodes of ComputeClass %s are selected by the class alone", key,
							value, quotas.Name))
				}
			}
		}
	}
	return errs
}

func ToleratesTaint(tolerations []corev1.Toleration, taint corev1.Taint) bool {
	return slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool {
		return t.ToleratesTaint(klog.Background(), &taint, false)
	})
}
