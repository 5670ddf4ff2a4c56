package ir

import (
	"cmp"
	"slices"
	"strconv"
)

// HasAccelerators tells whether the machines have any.
func (c Capacity) HasAccelerators() bool { return c.Machine.Resource != "" }

// CountedIn is the resource that quota of the capacity is counted in: its
// accelerators, or CPU.
func (c Capacity) CountedIn() string { return cmp.Or(c.Machine.Resource, CPU) }

// CountedIn is the resource that quota of the capacity of some name is counted in,
// or "" if there is no such capacity.
func (p *Platform) CountedIn(name string) string {
	for _, c := range p.Capacities {
		if c.Name == name {
			return c.CountedIn()
		}
	}
	return ""
}

// HasGPUs tells whether the machines have NVIDIA GPUs.
func (c Capacity) HasGPUs() bool { return c.Machine.Resource == GPU }

// HasTPUs tells whether the machines have Cloud TPUs.
func (c Capacity) HasTPUs() bool { return c.Machine.Resource == TPU }

// HasAcceleratorNetworks tells whether pods claim the networks of the machines'
// accelerators by dynamic resource allocation.
func (c Capacity) HasAcceleratorNetworks() bool { return c.Machine.AcceleratorNetworks }

// Queued tells whether the capacity starts all nodes of a workload at once.
func (c Capacity) Queued() bool { return c.Flex != nil && c.Flex.Queued }

// OwnsPools tells whether the platform makes the capacity's node pools, rather
// than GKE as pods need them.
func (c Capacity) OwnsPools() bool { return !c.AutoProvisioned && !c.ComputeClass }

// SSDs is how many local SSDs a node has: those that come with its machine, and
// those that are asked for.
func (c Capacity) SSDs() int { return c.Machine.BundledSSDs + c.LocalSSDs }

// Pools returns the names of a capacity's node pools: none where GKE creates
// them, one for each slice of multi-host TPUs, else the capacity's own.
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

// Sliced tells whether the capacity consists of multi-host TPU slices.
func (c Capacity) Sliced() bool { return c.Machine.Slice != nil && c.Machine.Slice.Hosts > 1 }

// ByCalendar tells whether the capacity consumes a reservation that was booked
// for some days.
func (c Capacity) ByCalendar() bool {
	return c.Reservation != nil && c.Reservation.Kind == CalendarReservation
}

// OwnsReservation tells whether the capacity consumes a reservation of the
// platform's own project. Cloud Monitoring keeps the metrics of a reservation
// in the project that owns it.
func (c Capacity) OwnsReservation() bool {
	return c.Reservation != nil && c.Reservation.Owner == ""
}

// HasReservationMetrics tells whether Cloud Monitoring keeps metrics of what the
// capacity consumes in the platform's own project: of the reservation that it
// names, or of the project's, of which it takes any.
func (c Capacity) HasReservationMetrics() bool {
	return c.OwnsReservation() || c.AnyReservation != nil
}

// OnlyReserved tells whether all nodes of the capacity come from reservations.
func (c Capacity) OnlyReserved() bool {
	return c.Reservation != nil || c.AnyReservation != nil && !c.AnyReservation.OnDemand
}

// Borrows tells whether some of the resource may be borrowed.
func (q ResourceQuota) Borrows() bool {
	return q.BorrowsAll || q.Borrowing != nil && !q.Borrowing.IsZero()
}

// AnyCapacity tells whether some capacity of the platform satisfies f.
func (p *Platform) AnyCapacity(f func(Capacity) bool) bool {
	return slices.ContainsFunc(p.Capacities, f)
}

// NonPreemptible tells whether KAI Scheduler never evicts jobs of a PriorityClass.
func (p *Platform) NonPreemptible(class string) bool {
	i := slices.IndexFunc(p.PriorityClasses, func(c PriorityClass) bool { return c.Name == class })
	return i >= 0 && p.PriorityClasses[i].Value >= KAINonPreemptible
}

// CountedResources are the resources that quota is counted in, sorted: the
// accelerators of the platform, or cpu on a platform without any.
func (p *Platform) CountedResources() []string {
	var names []string
	for _, c := range p.Capacities {
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
