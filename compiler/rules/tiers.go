package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
)

// Rules on tiers.

func tierRules() []Rule {
	return []Rule{
		{Code: "E0501", Severity: diag.Error, Title: "not exactly one default tier", check: defaultTier, whole: true},
		{Code: "W0502", Severity: diag.Warning, Title: "a tier preempts nothing", check: preemptsNothing, whole: true, scheduler: ir.Kueue},
		{Code: "E0503", Severity: diag.Error, Title: "a tier names a capacity twice", check: capacityTwice},
		{Code: "E0504", Severity: diag.Error, Title: "compact auto-provisioned capacity beside another", check: compactAlone, scheduler: ir.Kueue},
		{Code: "E0505", Severity: diag.Error, Title: "more flavors than Kueue takes", check: flavorLimit, scheduler: ir.Kueue},
		{Code: "E0506", Severity: diag.Error, Title: "a tier's name is reserved", check: reservedPriority},
		{Code: "E0507", Severity: diag.Error, Title: "a tier mixes accelerators that cannot be queued together", check: mixedAccelerators, resolved: true, scheduler: ir.Kueue},
	}
}

func defaultTier(r *report) {
	tiers := r.Blueprint.Tiers
	var defaults []string
	for _, name := range names(tiers) {
		if tiers[name].Default {
			defaults = append(defaults, name)
		}
	}
	switch {
	case len(tiers) == 0:
	case len(defaults) == 0 && r.Plan.Scheduler == ir.KAI: // which has a default itself
	case len(defaults) == 0:
		r.addKey(at("tiers"), "no tier is the default for pods that name no PriorityClass",
			help("set default: true on the tier whose priority such pods should have"))
	case len(defaults) > 1:
		for _, name := range defaults[1:] {
			r.add(at("tiers", name, "default"), fmt.Sprintf("tier %q is the default already", defaults[0]),
				related(at("tiers", defaults[0], "default"), "the first"), help("Kubernetes takes one global default: keep one"))
		}
	}
}

func preemptsNothing(r *report) {
	tiers := r.Blueprint.Tiers
	for _, name := range names(tiers) {
		if !tiers[name].Preempts {
			continue
		}
		own := tiers[name].PriorityClasses(name)
		lower := len(own) != 1 || slices.ContainsFunc(names(tiers), func(other string) bool {
			classes := tiers[other].PriorityClasses(other)
			return len(classes) > 0 && classes[0].Value < own[0].Value
		})
		if !lower && len(tiers) > 1 {
			r.add(at("tiers", name, "preempts"), fmt.Sprintf("tier %q has the lowest priority, so there is nothing it could preempt", name),
				help("raise its priority, or remove preempts"))
		}
	}
}

func capacityTwice(r *report) {
	for _, name := range names(r.Blueprint.Tiers) {
		seen := map[string]bool{}
		for i, c := range r.Blueprint.Tiers[name].Capacity {
			if seen[c] {
				r.add(at("tiers", name, "capacity", diag.Index(i)), fmt.Sprintf("tier %q tries capacity %q twice", name, c), help("remove one"))
			}
			seen[c] = true
		}
	}
}

// compactAlone: a pod asks auto-provisioning for its placement group by a node
// selector, which no other capacity's nodes meet.
func compactAlone(r *report) {
	for _, name := range names(r.Blueprint.Tiers) {
		tier := r.Blueprint.Tiers[name]
		for i, c := range tier.Capacity {
			capacity := r.Blueprint.Capacity[c]
			if capacity.AutoProvisioned && capacity.Placement == "compact" && len(tier.Capacity) > 1 {
				r.add(at("tiers", name, "capacity", diag.Index(i)), fmt.Sprintf("pods that select a placement group of %q fit no other capacity", c),
					help("give it a tier of its own"))
			}
		}
	}
}

func flavorLimit(r *report) {
	const most = 64 // of a ClusterQueue's resource group, kueue v1beta2
	for _, name := range names(r.Blueprint.Tiers) {
		if n := len(r.Blueprint.Tiers[name].Capacity); n > most {
			r.addKey(at("tiers", name, "capacity"), fmt.Sprintf("%d capacities, and a ClusterQueue takes %d flavors", n, most), help("split the tier"))
		}
	}
}

func reservedPriority(r *report) {
	for _, name := range names(r.Blueprint.Tiers) {
		if strings.HasPrefix(name, "system-") {
			r.addKey(at("tiers", name), fmt.Sprintf("PriorityClass %q: the prefix system- belongs to Kubernetes", name), help("rename the tier"))
		}
	}
}

// mixedAccelerators: all flavors of a ClusterQueue that cover cpu and memory
// cover the same resources, so one queue has GPUs or TPUs; and a workload is
// shaped for one kind of TPU slice.
func mixedAccelerators(r *report) {
	capacities := capacitiesByName(r.Plan)
	for _, name := range names(r.Blueprint.Tiers) {
		first, shape := "", ""
		for i, capacity := range r.Blueprint.Tiers[name].Capacity {
			c := capacities[capacity]
			path := at("tiers", name, "capacity", diag.Index(i))
			switch {
			case !c.HasAccelerators():
			case first == "":
				first = capacity
			case capacities[first].Machine.Resource != c.Machine.Resource:
				r.add(path, fmt.Sprintf("tier %q has both %s, of %q, and %s", name, capacities[first].Machine.Resource, first, c.Machine.Resource),
					help("Kueue counts cpu and memory in one group of flavors, which cover the same accelerator: make a tier of each"))
			}
			if !c.HasTPUs() || c.Machine.Slice == nil {
				continue
			}
			if here := fmt.Sprintf("%d chips on %s", c.Machine.Slice.Chips, plural(c.Machine.Slice.Hosts, "host")); shape == "" {
				shape = here
			} else if shape != here {
				r.add(path, fmt.Sprintf("slices of %q have %s, and those before it %s", capacity, here, shape),
					help("a workload is made for one shape of slice: make a tier of each"))
			}
		}
	}
}
