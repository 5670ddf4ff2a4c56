package kueue

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// clusterQueue returns the ClusterQueue with a tier's quota for the team or teams in
// the given namespaces. A field that equals the API's default is absent, such as the preemption
// of a queue that evicts nobody.
func clusterQueue(p *ir.Platform, q ir.Queue, adopted bool, namespaces ...string) *v1beta2.ClusterQueue {
	c := &v1beta2.ClusterQueue{
		TypeMeta:   kubeyaml.Kind(v1beta2.SchemeGroupVersion, "ClusterQueue"),
		ObjectMeta: metaOf(p, q.ClusterQueue, adopted),
		Spec: v1beta2.ClusterQueueSpec{
			CohortName:              v1beta2.CohortReference(q.Cohort),
			QueueingStrategy:        v1beta2.QueueingStrategy(q.Strategy),
			NamespaceSelector:       selectNamespaces(q.Namespaces, namespaces),
			AdmissionChecksStrategy: checksOf(q),
			Preemption:              preemptionOf(q.Preemption),
			FlavorFungibility:       fungibilityOf(q.NextCapacity),
			FairSharing:             fairSharing(q.Share),
		},
	}
	if q.Stop != "" {
		c.Spec.StopPolicy = new(v1beta2.StopPolicy(q.Stop))
	}
	c.Spec.ResourceGroups = resourceGroups(q.Groups())
	if q.ByUsage {
		c.Spec.AdmissionScope = &v1beta2.AdmissionScope{AdmissionMode: v1beta2.UsageBasedAdmissionFairSharing}
	}
	return c
}

// fairSharing returns a weight, nil for the API's default.
func fairSharing(weight *resource.Quantity) *v1beta2.FairSharing {
	if weight == nil {
		return nil
	}
	return &v1beta2.FairSharing{Weight: canonicalLimit(weight)}
}

// resourceGroups returns the quota of a queue or a cohort.
func resourceGroups(groups []ir.ResourceGroup) []v1beta2.ResourceGroup {
	var out []v1beta2.ResourceGroup
	for _, g := range groups {
		group := v1beta2.ResourceGroup{}
		for _, name := range g.Resources {
			group.CoveredResources = append(group.CoveredResources, corev1.ResourceName(name))
		}
		for _, f := range g.Flavors {
			group.Flavors = append(group.Flavors, flavorQuotas(f))
		}
		out = append(out, group)
	}
	return out
}

// preemptionOf returns the preemption of a queue, nil if its jobs evict nobody.
func preemptionOf(p ir.Preemption) *v1beta2.ClusterQueuePreemption {
	if !p.Any() {
		return nil
	}
	out := &v1beta2.ClusterQueuePreemption{
		WithinClusterQueue:  v1beta2.PreemptionPolicy(p.InQueue),
		ReclaimWithinCohort: v1beta2.PreemptionPolicy(p.ToReclaim),
	}
	if ir.Evicts(p.ToBorrow) {
		out.BorrowWithinCohort = &v1beta2.BorrowWithinCohort{Policy: v1beta2.BorrowWithinCohortPolicy(p.ToBorrow)}
		if p.LimitsToBorrow {
			out.BorrowWithinCohort.MaxPriorityThreshold = new(p.ToBorrowUpTo)
		}
	}
	return out
}

// fungibilityOf returns when a workload goes on to the next flavor, nil for the API's defaults.
func fungibilityOf(n ir.NextCapacity) *v1beta2.FlavorFungibility {
	if n == (ir.NextCapacity{}) {
		return nil
	}
	out := &v1beta2.FlavorFungibility{
		WhenCanBorrow: v1beta2.MayStopSearch, WhenCanPreempt: v1beta2.TryNextFlavor,
	}
	if n.BeforeBorrowing {
		out.WhenCanBorrow = v1beta2.TryNextFlavor
	}
	if n.AfterEvicting {
		out.WhenCanPreempt = v1beta2.MayStopSearch
	}
	if n.PrefersEvicting {
		out.Preference = new(v1beta2.PreemptionOverBorrowing)
	}
	return out
}

// selectNamespaces returns the selector of the namespaces that may use a queue. names are
// the namespaces of its teams.
func selectNamespaces(n ir.Namespaces, names []string) *metav1.LabelSelector {
	switch {
	case n.All:
		return &metav1.LabelSelector{} // Kueue: nil selects no namespace, {} selects all
	case n.None:
		return nil
	case n.Conditions != nil:
		selector := &metav1.LabelSelector{}
		for _, c := range n.Conditions {
			selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
				Key: c.Label, Operator: metav1.LabelSelectorOperator(c.Operator), Values: c.Values,
			})
		}
		return selector
	case n.Labels != nil:
		labels := map[string]string{}
		for _, l := range n.Labels {
			labels[l.Key] = l.Value
		}
		return &metav1.LabelSelector{MatchLabels: labels}
	}
	if len(names) == 0 { // a queue that only lends
		return nil
	}
	if len(names) == 1 {
		return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: names[0]}}
	}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: names},
	}}
}

// flavorQuotas returns a queue's quota of one flavor. If the flavor's nodes cannot
// be obtained yet, the quota is zero, so that workloads wait or continue with the
// next flavor.
func flavorQuotas(f ir.FlavorQuota) v1beta2.FlavorQuotas {
	out := v1beta2.FlavorQuotas{Name: v1beta2.ResourceFlavorReference(f.FlavorName())}
	for _, q := range f.Quotas {
		quota := v1beta2.ResourceQuota{
			Name:           corev1.ResourceName(q.Resource),
			NominalQuota:   kubeyaml.Canonical(q.Nominal),
			BorrowingLimit: canonicalLimit(q.Borrowing),
			LendingLimit:   canonicalLimit(q.Lending),
		}
		if f.Waiting {
			quota.NominalQuota, quota.LendingLimit = resource.Quantity{}, nil
			if quota.BorrowingLimit != nil {
				quota.BorrowingLimit = &resource.Quantity{}
			}
		}
		out.Resources = append(out.Resources, quota)
	}
	return out
}

func canonicalLimit(amount *resource.Quantity) *resource.Quantity {
	if amount == nil {
		return nil
	}
	return new(kubeyaml.Canonical(*amount))
}

// checksOf returns the admission checks of a queue, each with the flavors that need
// it, and then those of others; nil for a queue without checks. A check without flavors
// holds up the workloads of every flavor.
func checksOf(q ir.Queue) *v1beta2.AdmissionChecksStrategy {
	var rules []v1beta2.AdmissionCheckStrategyRule
	index := map[string]int{}
	for _, f := range q.Flavors {
		if f.AdmissionCheck == "" {
			continue
		}
		i, known := index[f.AdmissionCheck]
		if !known {
			i = len(rules)
			index[f.AdmissionCheck] = i
			rules = append(rules,
				v1beta2.AdmissionCheckStrategyRule{Name: v1beta2.AdmissionCheckReference(f.AdmissionCheck)})
		}
		rules[i].OnFlavors = append(rules[i].OnFlavors, v1beta2.ResourceFlavorReference(f.FlavorName()))
	}
	for _, c := range q.Checks {
		rule := v1beta2.AdmissionCheckStrategyRule{Name: v1beta2.AdmissionCheckReference(c.Name)}
		for _, f := range q.Flavors {
			if slices.Contains(c.Flavors, f.Flavor) {
				rule.OnFlavors = append(rule.OnFlavors, v1beta2.ResourceFlavorReference(f.FlavorName()))
			}
		}
		rules = append(rules, rule)
	}
	if rules == nil {
		return nil
	}
	return &v1beta2.AdmissionChecksStrategy{AdmissionChecks: rules}
}

// localQueues returns the LocalQueues through which a team uses a ClusterQueue.
func localQueues(p *ir.Platform, t ir.Team, q ir.Queue) (out []any) {
	for _, l := range q.AllLocalQueues() {
		meta := metaOf(p, l.Name, t.InExisting)
		meta.Namespace = t.Namespace
		o := &v1beta2.LocalQueue{
			TypeMeta:   kubeyaml.Kind(v1beta2.SchemeGroupVersion, "LocalQueue"),
			ObjectMeta: meta,
			Spec: v1beta2.LocalQueueSpec{
				ClusterQueue: v1beta2.ClusterQueueReference(q.ClusterQueue), FairSharing: fairSharing(l.Share),
			},
		}
		if l.Stop != "" {
			o.Spec.StopPolicy = new(v1beta2.StopPolicy(l.Stop))
		}
		out = append(out, o)
	}
	return out
}
