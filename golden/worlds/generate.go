package worlds

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// world is a random set of Kueue's objects. Lists without meaning are in the order in which the
// platform writes them, and defaults are omitted.
type world struct {
	*rand.Rand
	objects    []any
	topologies []string
	flavors    []string
	cohorts    []string
}

// resources are the resources of worlds, in the order in which queues list them.
var resources = []string{
	"cpu", "memory", "nvidia.com/gpu", "ephemeral-storage", "example.com/licence", "nvidia.com/mig-1g.10gb", "token",
	"pods",
}

func newWorld(seed uint64) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 36))}
	for i := range w.IntN(3) {
		w.addTopology(i)
	}
	for i := range 1 + w.IntN(6) {
		w.addFlavor(i)
	}
	for i := range w.IntN(4) {
		w.addCohort(i)
	}
	for i := range 1 + w.IntN(6) {
		w.addQueue(i)
	}
	if w.some(2) {
		for i := range 1 + w.IntN(3) {
			w.add("WorkloadPriorityClass", "", fmt.Sprintf("urgent.%d", i),
				&v1beta2.WorkloadPriorityClass{Value: pick[int32](w, 0, -5, 100, 1_000_000_000)})
		}
	}
	return w
}

// some reports true once in n times.
func (w *world) some(n int) bool { return w.IntN(n) == 0 }

// pick returns one of several values.
func pick[T any](w *world, values ...T) T { return values[w.IntN(len(values))] }

// pickSome returns at least one of several values, in their order.
func pickSome[T any](w *world, values ...T) []T {
	must := w.IntN(len(values))
	var out []T
	for i, v := range values {
		if i == must || w.some(2) {
			out = append(out, v)
		}
	}
	return out
}

func (w *world) add(kind, namespace, name string, object any) {
	meta := metav1.ObjectMeta{Name: name, Namespace: namespace}
	head := metav1.TypeMeta{APIVersion: v1beta2.SchemeGroupVersion.String(), Kind: kind}
	switch o := object.(type) {
	case *v1beta2.ClusterQueue:
		o.TypeMeta, o.ObjectMeta = head, meta
	case *v1beta2.LocalQueue:
		o.TypeMeta, o.ObjectMeta = head, meta
	case *v1beta2.ResourceFlavor:
		o.TypeMeta, o.ObjectMeta = head, meta
	case *v1beta2.Cohort:
		o.TypeMeta, o.ObjectMeta = head, meta
	case *v1beta2.Topology:
		o.TypeMeta, o.ObjectMeta = head, meta
	case *v1beta2.WorkloadPriorityClass:
		o.TypeMeta, o.ObjectMeta = head, meta
	}
	w.objects = append(w.objects, object)
}

func (w *world) addTopology(i int) {
	levels := pickSome(w, "example.com/block", "example.com/rack", corev1.LabelHostname)
	o := &v1beta2.Topology{}
	for _, label := range levels {
		o.Spec.Levels = append(o.Spec.Levels, v1beta2.TopologyLevel{NodeLabel: label})
	}
	name := fmt.Sprintf("racks.%d", i)
	w.topologies = append(w.topologies, name)
	w.add("Topology", "", name, o)
}

func (w *world) addFlavor(i int) {
	name := []string{
		"default", "1x-tpu", "l4.spot", "any-node", "gke-pool.with-a-very-long-name-that-no-node-pool-can-have",
		"five.parts.of-a.flavor.name",
	}[i]
	f := &v1beta2.ResourceFlavor{}
	if !w.some(3) {
		f.Spec.NodeLabels = map[string]string{"cloud.google.com/gke-nodepool": fmt.Sprint("pool-", i)}
		if w.some(2) {
			f.Spec.NodeLabels["lifecycle"] = "spot"
		}
		if len(w.topologies) > 0 && w.some(2) {
			f.Spec.TopologyName = new(v1beta2.TopologyReference(pick(w, w.topologies...)))
		}
	}
	if w.some(3) {
		f.Spec.NodeTaints = pickSome(w,
			corev1.Taint{Key: "nvidia.com/gpu", Value: "present", Effect: corev1.TaintEffectNoSchedule},
			corev1.Taint{Key: "nvidia.com/gpu", Effect: corev1.TaintEffectNoExecute},
			corev1.Taint{Key: "shared", Effect: corev1.TaintEffectPreferNoSchedule})
	}
	if w.some(3) {
		f.Spec.Tolerations = pickSome(w,
			corev1.Toleration{Key: "a", Operator: corev1.TolerationOpExists},
			corev1.Toleration{
				Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
				TolerationSeconds: new(pick[int64](w, 30, 0, -1, 99_999_999, math.MaxInt64)),
			},
			corev1.Toleration{
				Key: "b", Operator: corev1.TolerationOpEqual, Value: "c", Effect: corev1.TaintEffectNoSchedule,
			},
			corev1.Toleration{
				Key: "d", Operator: corev1.TolerationOpEqual, Effect: corev1.TaintEffectPreferNoSchedule,
			})
	}
	w.flavors = append(w.flavors, name)
	w.add("ResourceFlavor", "", name, f)
}

func (w *world) addCohort(i int) {
	name := fmt.Sprintf(pick(w, "lab.%d", "five.parts.of.a.cohort-%d"), i)
	c := &v1beta2.Cohort{}
	if len(w.cohorts) > 0 && w.some(2) {
		c.Spec.ParentName = v1beta2.CohortReference(pick(w, w.cohorts...))
	}
	if w.some(3) {
		c.Spec.ResourceGroups = w.groups(c.Spec.ParentName != "", true)
	}
	c.Spec.FairSharing = w.weight()
	w.cohorts = append(w.cohorts, name)
	w.add("Cohort", "", name, c)
}

// weight returns a weight, nil for the default in most cases.
func (w *world) weight() *v1beta2.FairSharing {
	if !w.some(4) {
		return nil
	}
	weight := pick(w, "0", "500m", "2", "12", "5000000", "2n", "1e18")
	return &v1beta2.FairSharing{Weight: new(resource.MustParse(weight))}
}

// stop returns a stop policy, nil for the default in most cases.
func (w *world) stop() *v1beta2.StopPolicy {
	if !w.some(4) {
		return nil
	}
	return new(pick(w, v1beta2.Hold, v1beta2.HoldAndDrain))
}

// groups returns resource groups. lends reports whether limits are possible. The flavors of a
// cohort have no order.
func (w *world) groups(lends, ofCohort bool) []v1beta2.ResourceGroup {
	flavors, names := slices.Clone(w.flavors), slices.Clone(resources)
	w.Shuffle(len(flavors), func(i, j int) { flavors[i], flavors[j] = flavors[j], flavors[i] })
	w.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var out []v1beta2.ResourceGroup
	for range 1 + w.IntN(3) {
		if len(flavors) == 0 || len(names) == 0 {
			break
		}
		f, r := 1+w.IntN(len(flavors)), 1+w.IntN(min(4, len(names)))
		covered, mine := slices.Clone(names[:r]), slices.Clone(flavors[:f])
		sortLike(covered, resources)
		if ofCohort {
			sortLike(mine, w.flavors)
		}
		group := v1beta2.ResourceGroup{}
		for _, name := range covered {
			group.CoveredResources = append(group.CoveredResources, corev1.ResourceName(name))
		}
		for _, name := range mine {
			quotas := v1beta2.FlavorQuotas{Name: v1beta2.ResourceFlavorReference(name)}
			for _, name := range covered {
				quotas.Resources = append(quotas.Resources, w.quota(name, lends, ofCohort))
			}
			group.Flavors = append(group.Flavors, quotas)
		}
		out = append(out, group)
		flavors, names = flavors[f:], names[r:]
	}
	return out
}

// sortLike sorts names in the order of a list of all names.
func sortLike(names, all []string) {
	slices.SortFunc(names, func(a, b string) int { return slices.Index(all, a) - slices.Index(all, b) })
}

// quota returns the quota of a resource. Kueue allows a cohort to lend more than its own quota.
func (w *world) quota(name string, lends, ofCohort bool) v1beta2.ResourceQuota {
	amount := func() resource.Quantity {
		return resource.MustParse(pick(w, "0", "1", "4", "500m", "12", "3Gi", "100k", "2.5", "7Ti", "1000000000",
			"1e6", "3n", "1e18", "10P", "999999999999999999", "9223372036854775807", "1.5E"))
	}
	q := v1beta2.ResourceQuota{Name: corev1.ResourceName(name), NominalQuota: amount()}
	if lends && w.some(2) {
		q.BorrowingLimit = new(amount())
	}
	if lends && w.some(3) {
		lent := amount()
		if !ofCohort && lent.Cmp(q.NominalQuota) > 0 {
			lent = q.NominalQuota.DeepCopy()
		}
		q.LendingLimit = new(lent)
	}
	return q
}

func (w *world) addQueue(i int) {
	name := fmt.Sprintf(pick(w, "q%d.main", "cq-%d", "%d.a-queue-whose-name-is-too-long-for-a-tier",
		"five.parts.of.a.queue-%d"), i)
	q := &v1beta2.ClusterQueue{}
	if len(w.cohorts) > 0 && w.some(2) {
		q.Spec.CohortName = v1beta2.CohortReference(pick(w, w.cohorts...))
	}
	lends := q.Spec.CohortName != ""
	q.Spec.QueueingStrategy = pick(w, v1beta2.BestEffortFIFO, v1beta2.StrictFIFO)
	if !w.some(12) {
		q.Spec.ResourceGroups = w.groups(lends, false)
	}
	q.Spec.Preemption = w.preemption(lends)
	q.Spec.FlavorFungibility = w.fungibility()
	if w.some(3) {
		q.Spec.AdmissionChecksStrategy = w.checks(q)
	}
	q.Spec.NamespaceSelector = w.selector()
	q.Spec.FairSharing, q.Spec.StopPolicy = w.weight(), w.stop()
	if w.some(8) {
		q.Spec.AdmissionScope = &v1beta2.AdmissionScope{AdmissionMode: v1beta2.UsageBasedAdmissionFairSharing}
	}
	w.add("ClusterQueue", "", name, q)
	for j := range w.IntN(4) {
		namespace := pick(w, "default", "kube-jobs", "team-with-a-name-that-is-much-too-long-for-a-team", "ml")
		local := fmt.Sprintf(pick(w, "jobs-%d-%d", "five.parts.of.jobs.%d-%d"), i, j)
		w.add("LocalQueue", namespace, local, &v1beta2.LocalQueue{
			Spec: v1beta2.LocalQueueSpec{
				ClusterQueue: v1beta2.ClusterQueueReference(name), FairSharing: w.weight(), StopPolicy: w.stop(),
			},
		})
	}
}

// preemption returns nil if a queue evicts nobody.
func (w *world) preemption(lends bool) *v1beta2.ClusterQueuePreemption {
	never, lower := v1beta2.PreemptionPolicyNever, v1beta2.PreemptionPolicyLowerPriority
	p := v1beta2.ClusterQueuePreemption{
		WithinClusterQueue:  pick(w, never, lower, v1beta2.PreemptionPolicyLowerOrNewerEqualPriority),
		ReclaimWithinCohort: never,
	}
	if lends && !w.some(3) {
		p.ReclaimWithinCohort = pick(w, lower, v1beta2.PreemptionPolicyAny)
		if w.some(2) {
			p.BorrowWithinCohort = &v1beta2.BorrowWithinCohort{Policy: v1beta2.BorrowWithinCohortPolicyLowerPriority}
			if w.some(2) {
				p.BorrowWithinCohort.MaxPriorityThreshold = new(pick[int32](w, 0, 100, -1))
			}
		}
	}
	if p.WithinClusterQueue == never && p.ReclaimWithinCohort == never {
		return nil
	}
	return &p
}

// fungibility returns when workloads go on to the next flavor, nil for the defaults.
func (w *world) fungibility() *v1beta2.FlavorFungibility {
	next, stop := v1beta2.TryNextFlavor, v1beta2.MayStopSearch
	switch w.IntN(6) {
	case 0:
		return &v1beta2.FlavorFungibility{WhenCanBorrow: next, WhenCanPreempt: next}
	case 1:
		return &v1beta2.FlavorFungibility{WhenCanBorrow: next, WhenCanPreempt: stop}
	case 2:
		return &v1beta2.FlavorFungibility{WhenCanBorrow: stop, WhenCanPreempt: stop}
	case 3:
		return &v1beta2.FlavorFungibility{
			WhenCanBorrow: next, WhenCanPreempt: next, Preference: new(v1beta2.PreemptionOverBorrowing),
		}
	}
	return nil
}

// checks returns AdmissionChecks of others, each for all flavors or for some.
func (w *world) checks(q *v1beta2.ClusterQueue) *v1beta2.AdmissionChecksStrategy {
	var flavors []v1beta2.ResourceFlavorReference
	for _, g := range q.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			flavors = append(flavors, f.Name)
		}
	}
	out := &v1beta2.AdmissionChecksStrategy{}
	for _, name := range pickSome[v1beta2.AdmissionCheckReference](w, "budget", "others.provisioning") {
		rule := v1beta2.AdmissionCheckStrategyRule{Name: name}
		if len(flavors) > 0 && w.some(2) {
			rule.OnFlavors = pickSome(w, flavors...)
		}
		out.AdmissionChecks = append(out.AdmissionChecks, rule)
	}
	return out
}

func (w *world) selector() *metav1.LabelSelector {
	switch w.IntN(6) {
	case 0:
		return nil
	case 1:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a", "example.com/stage": "prod"}}
	case 2:
		return &metav1.LabelSelector{MatchExpressions: pickSome(w,
			metav1.LabelSelectorRequirement{
				Key: "campus", Operator: metav1.LabelSelectorOpIn, Values: []string{"south", "north"},
			},
			metav1.LabelSelectorRequirement{Key: "frozen", Operator: metav1.LabelSelectorOpDoesNotExist},
			metav1.LabelSelectorRequirement{Key: "owner", Operator: metav1.LabelSelectorOpExists},
			metav1.LabelSelectorRequirement{
				Key: "stage", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"test"},
			})}
	case 3:
		return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "ml"}}
	case 4:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: []string{"default", "ml"},
		}}}
	}
	return &metav1.LabelSelector{}
}

// sortGroups sorts the groups of a cohort and their flavors, whose order has no meaning.
func sortGroups(groups []v1beta2.ResourceGroup) {
	byName := func(a, b v1beta2.FlavorQuotas) int { return strings.Compare(string(a.Name), string(b.Name)) }
	for _, g := range groups {
		slices.SortFunc(g.Flavors, byName)
	}
	slices.SortFunc(groups, func(a, b v1beta2.ResourceGroup) int { return byName(a.Flavors[0], b.Flavors[0]) })
}
