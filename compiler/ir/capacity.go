package ir

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// HasAccelerators reports whether the machines have accelerators.
func (c Capacity) HasAccelerators() bool { return c.Machine.Resource != "" }

// CountedIn returns the resource in which quota of the capacity is counted: the
// resource of its accelerators, or CPU without accelerators.
func (c Capacity) CountedIn() string { return cmp.Or(c.Machine.Resource, CPU) }

// OfferedBy returns the amount of a resource that a number of the capacity's nodes
// offer to pods.
func (c Capacity) OfferedBy(nodes int, resourceName string) resource.Quantity {
	offered := AmountOf(c.PerNode, resourceName)
	offered.Mul(int64(nodes))
	return offered
}

// AllCapacities returns the capacities whose nodes the platform obtains and those whose nodes
// others own, by name.
func (p *Platform) AllCapacities() []Capacity {
	if p.ExistingCapacities == nil {
		return p.Capacities
	}
	all := slices.Concat(p.Capacities, p.ExistingCapacities)
	slices.SortFunc(all, func(a, b Capacity) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// NamedCapacities returns AllCapacities by name.
func (p *Platform) NamedCapacities() map[string]*Capacity {
	all := p.AllCapacities()
	named := make(map[string]*Capacity, len(all))
	for i := range all {
		named[all[i].Name] = &all[i]
	}
	return named
}

// Existing reports whether others own the nodes of the capacity.
func (c Capacity) Existing() bool { return c.Option.Existing() }

// KnowsNodes reports whether the machines of the nodes are known.
func (c Capacity) KnowsNodes() bool { return c.Hardware != "" }

// CountedIn returns the resource in which quota of the named capacity is counted, or
// "" if there is no such capacity.
func (p *Platform) CountedIn(name string) string {
	for _, c := range p.AllCapacities() {
		if c.Name == name {
			return c.CountedIn()
		}
	}
	return ""
}

// HasGPUs reports whether the machines have NVIDIA GPUs.
func (c Capacity) HasGPUs() bool { return c.Machine.Resource == GPU }

// HasTPUs reports whether the machines have Cloud TPUs.
func (c Capacity) HasTPUs() bool { return c.Machine.Resource == TPU }

// HasAcceleratorNetworks reports whether pods claim the networks of the machines'
// accelerators by dynamic resource allocation.
func (c Capacity) HasAcceleratorNetworks() bool { return c.Machine.AcceleratorNetworks }

// Queued reports whether the capacity starts all nodes of a workload at once.
func (c Capacity) Queued() bool { return c.Option.Facts().Queued }

// Excludes reports whether Kueue does not assign pods that select the label to the capacity.
// Kueue compares a label only with flavors that have its key. Source: Kueue 0.19,
// pkg/scheduler/flavorassigner.
func (c Capacity) Excludes(selected KeyValue) bool {
	return slices.ContainsFunc(c.NodeLabels, func(has KeyValue) bool {
		return has.Key == selected.Key && has.Value != selected.Value
	})
}

// IsApart reports whether the capacity has no accelerators, and pods that select all labels
// of its nodes keep off those capacities of a tier that have accelerators.
func (c Capacity) IsApart(tier []Capacity) bool {
	return !c.HasAccelerators() && !slices.ContainsFunc(tier, func(o Capacity) bool {
		return o.HasAccelerators() && !slices.ContainsFunc(c.NodeLabels, o.Excludes)
	})
}

// Apart returns the capacities of a tier for pods with these requests, which have no
// accelerators: those that are apart, and whose nodes hold such a pod.
func Apart(tier []Capacity, requests []Amount) []Capacity {
	return slices.DeleteFunc(slices.Clone(tier), func(c Capacity) bool {
		return !c.IsApart(tier) || c.PodsPerNode(requests) == 0
	})
}

// Mixed reports whether a tier has capacities with accelerators, and others that pods without
// accelerators can select.
func Mixed(tier []Capacity) bool {
	return slices.ContainsFunc(tier, Capacity.HasAccelerators) &&
		slices.ContainsFunc(tier, func(c Capacity) bool { return c.IsApart(tier) })
}

// HasMixedTier reports whether a queue of a team is Mixed.
func (p *Platform) HasMixedTier() bool {
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			tier := slices.DeleteFunc(slices.Clone(p.AllCapacities()), func(c Capacity) bool {
				return !slices.ContainsFunc(q.Flavors, func(f FlavorQuota) bool { return f.Flavor == c.Name })
			})
			if Mixed(tier) {
				return true
			}
		}
	}
	return false
}

// NodesPerJob reports whether each job has nodes for itself, because GKE starts them for the
// job. With queued flex-start, GKE starts them only for pods with accelerators.
func (c Capacity) NodesPerJob() bool { return c.Queued() || c.AutoProvisioned && c.Compact }

// LeastPerJob returns the amount of the resource in which quota is counted that a job must
// request in all of its pods, because it has nodes for itself, and quota does not count
// these: one accelerator, or half the vCPUs of a node without accelerators. It is 0 if jobs
// share nodes.
func (c Capacity) LeastPerJob() resource.Quantity {
	switch {
	case !c.NodesPerJob():
		return resource.Quantity{}
	case c.HasAccelerators():
		return *resource.NewQuantity(1, resource.DecimalSI)
	}
	whole := AmountOf(c.PerNode, CPU)
	return *resource.NewMilliQuantity(whole.MilliValue()/2, resource.DecimalSI)
}

// Repaired reports whether GKE repairs the nodes.
func (c Capacity) Repaired() bool { return !c.Unrepaired && !c.Option.Facts().NoRepair }

// IdentityLabels returns the labels that distinguish the nodes and that the blueprint does
// not set itself. Nodes with other identity labels are other nodes.
func (c Capacity) IdentityLabels() []KeyValue {
	return slices.DeleteFunc(
		slices.Clone(c.NodeLabels),
		func(l KeyValue) bool { return slices.Contains(c.OwnLabels, l) },
	)
}

// Selector returns the label selector of the capacity's nodes, in kubectl's form.
func (c Capacity) Selector() string {
	labels := make([]string, len(c.NodeLabels))
	for i, l := range c.NodeLabels {
		labels[i] = l.Key + "=" + l.Value
	}
	return strings.Join(labels, ",")
}

// OwnsPools reports whether the platform itself creates the capacity's node pools.
// If not, GKE creates them when pods need them, or others own them.
func (c Capacity) OwnsPools() bool { return !c.AutoProvisioned && !c.ComputeClass && !c.Existing() }

// SSDs returns the number of local SSDs of a node: those that come with its machine
// plus those that the blueprint asks for.
func (c Capacity) SSDs() int { return c.Machine.BundledSSDs + c.LocalSSDs }

// Pools returns the names of a capacity's node pools: none if GKE creates the pools,
// one for each slice of multi-host TPUs, otherwise the capacity's own name.
func (c Capacity) Pools() []string {
	switch {
	case !c.OwnsPools():
		return nil
	case c.Sliced():
		names := make([]string, c.Slices)
		for i := range names {
			names[i] = c.Name + "-" + strconv.Itoa(i)
		}
		return names
	}
	return []string{c.Name}
}

// Sliced reports whether the capacity consists of multi-host TPU slices.
func (c Capacity) Sliced() bool { return c.Machine.Slice != nil && c.Machine.Slice.Hosts > 1 }

// SlicedTiers returns the names of the tiers in which a team has quota of multi-host TPU slices.
func (p *Platform) SlicedTiers() map[string]bool {
	sliced := map[string]bool{} // names of capacities
	for _, c := range p.AllCapacities() {
		sliced[c.Name] = c.Sliced()
	}
	tiers := map[string]bool{}
	for i := range p.Teams {
		for _, q := range p.Teams[i].Queues {
			if slices.ContainsFunc(q.Flavors, func(f FlavorQuota) bool { return sliced[f.Flavor] }) {
				tiers[q.Tier] = true
			}
		}
	}
	return tiers
}

// SlicesOff reports whether the capacity has no TPU slices for now, because the
// blueprint sets their number to 0.
func (c Capacity) SlicesOff() bool { return c.Sliced() && c.Slices == 0 && !c.Waiting }

// Emptied reports whether the capacity has no nodes for the time being. Its jobs wait until
// it has nodes again.
func (c Capacity) Emptied() bool { return c.Static && c.MaxNodes == 0 }

// ByCalendar reports whether the capacity consumes a reservation that was booked for
// a number of days.
func (c Capacity) ByCalendar() bool { return c.Option.Facts().Booked }

// OwnsReservation reports whether the capacity consumes a reservation of the
// platform's own project. Cloud Monitoring keeps the metrics of a reservation in the
// project that owns it.
func (c Capacity) OwnsReservation() bool {
	return c.Reservation != nil && c.Reservation.Owner == ""
}

// HasReservationMetrics reports whether Cloud Monitoring keeps metrics of the
// capacity's reservations in the platform's own project. A capacity consumes either
// the reservation that it names or any reservation of the project.
func (c Capacity) HasReservationMetrics() bool {
	return c.OwnsReservation() || c.Option.Facts().AnyReservation
}

// OnlyReserved reports whether all nodes of the capacity come from reservations.
func (c Capacity) OnlyReserved() bool { return c.Option.Facts().OnlyReserved }

// HasSteadyGPUs reports whether healthy GPUs of the machines stay above 1 GHz under
// any load.
func (c Capacity) HasSteadyGPUs() bool { return c.Machine.SteadyGPUs }

// Usable reports whether the queue has quota of the resource, or can borrow it.
func (q ResourceQuota) Usable() bool { return !q.Nominal.IsZero() || q.Borrows() }

// Borrows reports whether the queue may borrow the resource.
func (q ResourceQuota) Borrows() bool {
	return q.BorrowsAll || q.Borrowing != nil && !q.Borrowing.IsZero()
}

// Absent reports whether the plan stands for a platform that does not exist, such as
// one side of a comparison. Such a plan has only a name.
func (p *Platform) Absent() bool { return p.Project == "" }

// AnyCapacity reports whether f is true for at least one capacity of the platform.
func (p *Platform) AnyCapacity(f func(Capacity) bool) bool {
	return slices.ContainsFunc(p.Capacities, f)
}

// PreemptedNodes returns the words for the platform's nodes that Compute Engine can
// take back at any time, in the order of the capacities.
func (p *Platform) PreemptedNodes() []string {
	var out []string
	for _, c := range p.Capacities {
		if option := c.Option.Facts(); option.Preempted && !slices.Contains(out, option.Nodes) {
			out = append(out, option.Nodes)
		}
	}
	return out
}

// NonPreemptible reports whether KAI Scheduler never evicts jobs of a PriorityClass.
func (p *Platform) NonPreemptible(class string) bool {
	i := slices.IndexFunc(p.PriorityClasses, func(c PriorityClass) bool { return c.Name == class })
	return i >= 0 && p.PriorityClasses[i].Value >= KAINonPreemptible
}

// CountedResources returns the resources in which quota is counted, sorted. A platform
// with accelerators counts accelerators; any other platform counts cpu.
func (p *Platform) CountedResources() []string {
	var names []string
	for _, c := range p.AllCapacities() {
		if c.HasAccelerators() {
			names = append(names, c.Machine.Resource)
		}
	}
	if names == nil {
		return []string{CPU}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
