package lower

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// countedResources returns the resources that a quota counts on machines, sorted. By the
// ratio, pods are counted too: Kueue charges a pod that requests nothing to no other
// resource, would assign its job no flavor, and the pod could go to any node. Source:
// Kueue 0.19, pkg/scheduler/flavorassigner.
func countedResources(in schema.Quota, m ir.Machine) []string {
	var names []string
	if in.ByRatio() {
		names = []string{ir.CPU, ir.Memory, ir.Pods}
		if m.Resource != "" {
			names = append(names, m.Resource)
		}
	}
	for name := range in.Resources {
		names = append(names, name)
	}
	return sortResources(names)
}

// sortResources sorts resources as queues list them, each once: cpu, memory, accelerators,
// others by name, and pods.
func sortResources(names []string) []string {
	rank := func(name string) int {
		switch name {
		case ir.CPU:
			return 0
		case ir.Memory:
			return 1
		case ir.GPU, ir.TPU:
			return 2
		case ir.Pods:
			return 4
		}
		return 3
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
	})
	return slices.Compact(names)
}

// connect replaces each list with the union of the lists in its group. Two lists are in one
// group if they share a resource, directly or through other lists. Kueue allows a resource in
// one group only, and requires that all flavors of a group have quota for the same resources.
func connect(counted [][]string) [][]string {
	out := slices.Clone(counted)
	for changed := true; changed; {
		changed = false
		for i := range out {
			for j := range out[:i] {
				common := slices.ContainsFunc(out[i], func(name string) bool { return slices.Contains(out[j], name) })
				if common && !slices.Equal(out[i], out[j]) {
					out[i] = sortResources(slices.Concat(out[i], out[j]))
					out[j], changed = out[i], true
				}
			}
		}
	}
	return out
}

// lowerQuota returns the quota of one resource on a capacity, which the queue counts there or
// on another capacity of its group. Without a cohort there are no limits: Kueue refuses them.
func lowerQuota(in schema.Quota, o *offer, name, cohort string) ir.ResourceQuota {
	exact, given := in.Resources[name]
	if given || !in.ByRatio() {
		q := ir.ResourceQuota{Resource: name, Nominal: quantityOf(exact.Guaranteed)}
		if cohort == "" {
			return q
		}
		q.BorrowsAll = exact.Borrow == schema.BorrowAllOf || exact.Borrow == "" && in.Borrow == schema.BorrowAll
		if !q.BorrowsAll {
			q.Borrowing = new(quantityOf(exact.Borrow))
		}
		if exact.Lend != "" {
			q.Lending = new(quantityOf(exact.Lend))
		}
		return q
	}
	amount := func(units int) resource.Quantity {
		if name == ir.Pods {
			return wholeQuantity(ir.PodsPerUnit * units)
		}
		return multiplyShare(o.share, name, units)
	}
	units := valueOr(in.Accelerators, 0)
	if o.capacity.Machine.Resource == "" {
		units = valueOr(in.CPUs, 0)
	}
	q := ir.ResourceQuota{Resource: name, Nominal: amount(units), Follows: name != o.capacity.CountedIn()}
	if cohort == "" {
		return q
	}
	if q.BorrowsAll = in.Borrow == schema.BorrowAll; !q.BorrowsAll {
		q.Borrowing = new(amount(int(in.Borrow)))
	}
	if in.Lend != nil {
		q.Lending = new(amount(*in.Lend))
	}
	return q
}

// lowerFlavors resolves a quota on the named capacities, in their order. It omits a capacity
// without quota, and one that is unknown or invalid, which the rules report.
func lowerFlavors(
	names []string, quota map[string]schema.Quota, cohort string, offers map[string]*offer,
) []ir.FlavorQuota {
	var out []ir.FlavorQuota
	var counted [][]string
	for _, name := range names {
		in, given := quota[name]
		o := offers[name]
		if !given || o == nil || !o.serves(in) {
			continue
		}
		out = append(out, ir.FlavorQuota{
			Flavor: name, ResourceFlavor: flavorName(o.capacity), AdmissionCheck: o.capacity.AdmissionCheck,
			Waiting: o.capacity.Waiting,
		})
		counted = append(counted, countedResources(in, o.capacity.Machine))
	}
	for i, resources := range connect(counted) {
		f := &out[i]
		for _, name := range resources {
			f.Quotas = append(f.Quotas, lowerQuota(quota[f.Flavor], offers[f.Flavor], name, cohort))
		}
	}
	return out
}

// quantityOf returns an amount that the schema admits, 0 if it is not given.
func quantityOf(amount schema.Quantity) resource.Quantity {
	if amount == "" {
		return resource.Quantity{}
	}
	return resource.MustParse(string(amount))
}
