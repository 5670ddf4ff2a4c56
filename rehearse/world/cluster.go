package world

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/rehearse/stage"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	_ "sigs.k8s.io/kueue/pkg/features" // registers Kueue's feature gates
)

// Cluster holds the objects that a World begins with.
type Cluster struct {
	Configuration *config.Configuration // with Kueue's defaults, which set waitForPodsReady; or nil
	Flavors       []*kueue.ResourceFlavor
	Checks        []*kueue.AdmissionCheck
	Cohorts       []*kueue.Cohort
	ClusterQueues []*kueue.ClusterQueue
	LocalQueues   []*kueue.LocalQueue

	others []client.Object // Namespaces and priorities
	scheme *runtime.Scheme
}

// ReadCluster decodes objects from JSON, strictly. It returns an error, made for the user,
// if an object is of no kind that a rehearsal knows, or uses what it cannot play.
func ReadCluster(objects []json.RawMessage) (*Cluster, error) {
	c := &Cluster{scheme: runtime.NewScheme()}
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, kueue.AddToScheme, jobset.AddToScheme} {
		if err := add(c.scheme); err != nil {
			return nil, err
		}
	}
	for i, raw := range objects {
		if err := c.read(raw); err != nil {
			return nil, fmt.Errorf("object %d: %w", i, err)
		}
	}
	return c, c.prepare()
}

// Split returns a Cluster for each root cohort, and one for each ClusterQueue without a
// cohort, in the order of the first ClusterQueue. Quota never crosses a root cohort, so
// Kueue decides the same in a World for each, and looks at less. The Cluster stays in one
// part if it has no ClusterQueues, or if a job whose pods do not run blocks all others. The
// parts share their objects.
func (c *Cluster) Split() ([]*Cluster, error) {
	if len(c.ClusterQueues) == 0 || tracksPods(c.Configuration) {
		return []*Cluster{c}, nil
	}
	parents := map[kueue.CohortReference]kueue.CohortReference{}
	for _, cohort := range c.Cohorts {
		parents[kueue.CohortReference(cohort.Name)] = cohort.Spec.ParentName
	}
	var parts []*Cluster
	byRoot := map[kueue.CohortReference]*Cluster{}
	byQueue := map[kueue.ClusterQueueReference]*Cluster{}
	for _, q := range c.ClusterQueues {
		root, err := rootCohort(q.Spec.CohortName, parents)
		if err != nil {
			return nil, err
		}
		part := byRoot[root]
		if part == nil {
			part = &Cluster{
				Configuration: c.Configuration, Flavors: c.Flavors, Checks: c.Checks,
				others: c.others, scheme: c.scheme,
			}
			parts = append(parts, part)
			if root != "" {
				byRoot[root] = part
			}
		}
		part.ClusterQueues = append(part.ClusterQueues, q)
		byQueue[kueue.ClusterQueueReference(q.Name)] = part
	}
	for _, cohort := range c.Cohorts {
		root, err := rootCohort(kueue.CohortReference(cohort.Name), parents)
		if err != nil {
			return nil, err
		}
		if part := byRoot[root]; part != nil {
			part.Cohorts = append(part.Cohorts, cohort)
		}
	}
	for _, q := range c.LocalQueues {
		if part := byQueue[q.Spec.ClusterQueue]; part != nil {
			part.LocalQueues = append(part.LocalQueues, q)
		}
	}
	return parts, nil
}

// rootCohort returns the last of a cohort's parents, or the cohort itself.
func rootCohort(
	name kueue.CohortReference, parents map[kueue.CohortReference]kueue.CohortReference,
) (kueue.CohortReference, error) {
	root := name
	for range len(parents) + 1 {
		if parents[root] == "" {
			return root, nil
		}
		root = parents[root]
	}
	return "", fmt.Errorf("cohort %s: its parents form a cycle", name)
}

// HasNamespace reports whether the cluster has a Namespace.
func (c *Cluster) HasNamespace(name string) bool {
	return slices.ContainsFunc(c.others, func(o client.Object) bool {
		_, ok := o.(*corev1.Namespace)
		return ok && o.GetName() == name
	})
}

func (c *Cluster) read(raw json.RawMessage) error {
	kind, err := stage.KindOf(raw)
	switch kind {
	case "Configuration":
		c.Configuration, err = stage.Decode[config.Configuration](raw)
		return err
	case "ResourceFlavor":
		return add(raw, &c.Flavors)
	case "AdmissionCheck":
		return add(raw, &c.Checks)
	case "Cohort":
		return add(raw, &c.Cohorts)
	case "ClusterQueue":
		return add(raw, &c.ClusterQueues)
	case "LocalQueue":
		return add(raw, &c.LocalQueues)
	case "Namespace":
		return addOther[corev1.Namespace](c, raw)
	case "PriorityClass":
		return addOther[schedulingv1.PriorityClass](c, raw)
	case "WorkloadPriorityClass":
		return addOther[kueue.WorkloadPriorityClass](c, raw)
	case "ProvisioningRequestConfig":
		_, err = stage.Decode[kueue.ProvisioningRequestConfig](raw)
		return err
	}
	return cmp.Or(err, fmt.Errorf("a rehearsal cannot play objects of kind %q", kind))
}

func add[T any](raw json.RawMessage, to *[]*T) error {
	o, err := stage.Decode[T](raw)
	*to = append(*to, o)
	return err
}

func addOther[T any, P interface {
	*T
	client.Object
}](c *Cluster, raw json.RawMessage) error {
	o, err := stage.Decode[T](raw)
	c.others = append(c.others, P(o))
	return err
}

// prepare fills in what the API server and Kueue's controllers would.
func (c *Cluster) prepare() error {
	if c.Configuration != nil {
		if err := c.configure(); err != nil {
			return err
		}
	}
	active := func(kind string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: "Ready"}
	}
	for _, o := range c.all() {
		if isProtected(o) {
			controllerutil.AddFinalizer(o, kueue.ResourceInUseFinalizerName)
		}
	}
	for _, q := range c.ClusterQueues {
		setQueueDefaults(&q.Spec)
		q.Status.Conditions = []metav1.Condition{active(kueue.ClusterQueueActive)}
	}
	for _, q := range c.LocalQueues {
		q.Status.Conditions = []metav1.Condition{active(kueue.LocalQueueActive)}
	}
	for _, a := range c.Checks {
		a.Status.Conditions = []metav1.Condition{active(kueue.AdmissionCheckActive)}
	}
	for _, o := range c.others {
		if n, ok := o.(*corev1.Namespace); ok {
			if n.Labels == nil {
				n.Labels = map[string]string{}
			}
			n.Labels[corev1.LabelMetadataName] = n.Name
		}
	}
	return nil
}

// isProtected reports whether Kueue's webhooks protect an object from deletion while it is in
// use.
func isProtected(o client.Object) bool {
	switch o.(type) {
	case *kueue.ResourceFlavor, *kueue.AdmissionCheck, *kueue.ClusterQueue:
		return true
	}
	return false
}

// configure applies Kueue's defaults and feature gates, and refuses what Kueue refuses when it
// starts, and what a rehearsal does not play yet.
func (c *Cluster) configure() error {
	cfg := c.Configuration
	config.SetDefaults_Configuration(cfg)
	if cfg.FairSharing != nil && len(cfg.FairSharing.PreemptionStrategies) == 0 {
		return errors.New("fairSharing: preemptionStrategies must be specified")
	}
	if u := cfg.AdmissionFairSharing; u != nil && u.UsageSamplingInterval.Duration <= 0 {
		return errors.New("admissionFairSharing: usageSamplingInterval must be greater than 0")
	}
	if r := cfg.WaitForPodsReady.RequeuingStrategy; r != nil && r.BackoffLimitCount != nil {
		return errors.New("a rehearsal cannot play waitForPodsReady with a backoffLimitCount")
	}
	// The gates hold for the whole process: a process plays one platform.
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(cfg.FeatureGates)
}

// setQueueDefaults fills in the defaults of the ClusterQueue's CRD.
func setQueueDefaults(s *kueue.ClusterQueueSpec) {
	s.QueueingStrategy = cmp.Or(s.QueueingStrategy, kueue.BestEffortFIFO)
	s.StopPolicy = cmp.Or(s.StopPolicy, new(kueue.None))
	s.Preemption = cmp.Or(s.Preemption, &kueue.ClusterQueuePreemption{})
	p := s.Preemption
	p.WithinClusterQueue = cmp.Or(p.WithinClusterQueue, kueue.PreemptionPolicyNever)
	p.ReclaimWithinCohort = cmp.Or(p.ReclaimWithinCohort, kueue.PreemptionPolicyNever)
	p.BorrowWithinCohort = cmp.Or(p.BorrowWithinCohort, &kueue.BorrowWithinCohort{})
	p.BorrowWithinCohort.Policy = cmp.Or(p.BorrowWithinCohort.Policy, kueue.BorrowWithinCohortPolicyNever)
	s.FlavorFungibility = cmp.Or(s.FlavorFungibility, &kueue.FlavorFungibility{})
	f := s.FlavorFungibility
	f.WhenCanBorrow = cmp.Or(f.WhenCanBorrow, kueue.MayStopSearch)
	f.WhenCanPreempt = cmp.Or(f.WhenCanPreempt, kueue.TryNextFlavor)
}

// all returns the objects that Kueue's code reads through its client: each after those that
// it refers to.
func (c *Cluster) all() []client.Object {
	out := slices.Clone(c.others)
	for _, f := range c.Flavors {
		out = append(out, f)
	}
	for _, a := range c.Checks {
		out = append(out, a)
	}
	for _, cohort := range c.Cohorts {
		out = append(out, cohort)
	}
	for _, q := range c.ClusterQueues {
		out = append(out, q)
	}
	for _, q := range c.LocalQueues {
		out = append(out, q)
	}
	return out
}
