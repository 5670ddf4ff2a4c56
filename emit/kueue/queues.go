package kueue

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// clusterQueue holds the quota of a tier of the team, or teams, whose namespaces
// are given. What is left to the API's
// defaults: no preemption where the queue does not preempt, and the next
// flavor being tried before another workload is preempted.
func clusterQueue(p *ir.Platform, q ir.Queue, namespaces ...string) *v1beta2.ClusterQueue {
	c := &v1beta2.ClusterQueue{
		TypeMeta:   kubeyaml.Kind(v1beta2.SchemeGroupVersion, "ClusterQueue"),
		ObjectMeta: kubeyaml.Meta(p.Name, "", q.ClusterQueue),
		Spec: v1beta2.ClusterQueueSpec{
			CohortName:              v1beta2.CohortReference(q.Cohort),
			QueueingStrategy:        v1beta2.QueueingStrategy(q.Strategy),
			NamespaceSelector:       selectNamespaces(namespaces),
			AdmissionChecksStrategy: checksOf(q),
		},
	}
	if q.Preempts {
		c.Spec.Preemption = &v1beta2.ClusterQueuePreemption{
			WithinClusterQueue:  v1beta2.PreemptionPolicyLowerPriority,
			ReclaimWithinCohort: v1beta2.PreemptionPolicyLowerPriority,
		}
	}
	if len(q.Flavors) > 0 {
		group := v1beta2.ResourceGroup{}
		for _, name := range q.Resources {
			group.CoveredResources = append(group.CoveredResources, corev1.ResourceName(name))
		}
		for _, f := range q.Flavors {
			group.Flavors = append(group.Flavors, flavorQuotas(f))
		}
		c.Spec.ResourceGroups = []v1beta2.ResourceGroup{group}
	}
	return c
}

func selectNamespaces(names []string) *metav1.LabelSelector {
	if len(names) == 1 {
		return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: names[0]}}
	}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: names},
	}}
}

// flavorQuotas is a queue's quota of one flavor: none of it while there are no
// nodes to come, so that workloads wait or go on to the next flavor.
func flavorQuotas(f ir.FlavorQuota) v1beta2.FlavorQuotas {
	out := v1beta2.FlavorQuotas{Name: v1beta2.ResourceFlavorReference(f.Flavor)}
	for _, q := range f.Quotas {
		quota := v1beta2.ResourceQuota{
			Name:           corev1.ResourceName(q.Resource),
			NominalQuota:   kubeyaml.Canonical(q.Nominal),
			BorrowingLimit: limit(q.Borrowing),
			LendingLimit:   limit(q.Lending),
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

func limit(amount *resource.Quantity) *resource.Quantity {
	if amount == nil {
		return nil
	}
	return new(kubeyaml.Canonical(*amount))
}

// checksOf names the admission checks of a queue, each with the flavors that
// need it; nil for a queue without. A check without flavors would hold up the
// workloads of every flavor.
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
			rules = append(rules, v1beta2.AdmissionCheckStrategyRule{Name: v1beta2.AdmissionCheckReference(f.AdmissionCheck)})
		}
		rules[i].OnFlavors = append(rules[i].OnFlavors, v1beta2.ResourceFlavorReference(f.Flavor))
	}
	if rules == nil {
		return nil
	}
	return &v1beta2.AdmissionChecksStrategy{AdmissionChecks: rules}
}

// localQueue is the team's way into a ClusterQueue.
func localQueue(p *ir.Platform, t ir.Team, q ir.Queue) *v1beta2.LocalQueue {
	return &v1beta2.LocalQueue{
		TypeMeta:   kubeyaml.Kind(v1beta2.SchemeGroupVersion, "LocalQueue"),
		ObjectMeta: kubeyaml.Meta(p.Name, t.Namespace, q.LocalQueue),
		Spec:       v1beta2.LocalQueueSpec{ClusterQueue: v1beta2.ClusterQueueReference(q.ClusterQueue)},
	}
}
