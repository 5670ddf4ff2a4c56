package ir

import "math"

// NodeCount holds three numbers of nodes of a capacity. The guide, the rules on
// money, the Google Cloud quota and the bill all use these numbers.
type NodeCount struct {
	// Standing is the number of nodes, or of reserved machines, that exist even if
	// no job runs.
	Standing int
	// Reached is the number of nodes that the quotas of all queues together can use,
	// in whole nodes and whole TPU slices. It can be less than Standing.
	Reached int
	// Ceiling is the number of nodes at the capacity's maximum size.
	Ceiling int
}

// Admitted returns the number of nodes that exist if all quota is used.
func (n NodeCount) Admitted() int { return max(n.Standing, n.Reached) }

// CountNodes counts the nodes of the capacities, in the order of the capacities.
//
// If quota is counted per capacity, a capacity never runs more than the nominal
// quota of all its queues together, because borrowing only moves what other queues
// leave unused. The quota of the resource that needs most nodes therefore bounds the
// nodes in use. Otherwise idle nodes are lent, and only the limits of all queues
// together bound them.
//
// A reservation stands from the day on which it begins, even while it is idle.
func (p *Platform) CountNodes() []NodeCount {
	limit := int64(math.MaxInt64)
	if !p.Scheduler.Facts().QuotaPerCapacity {
		limit = p.limitOfGPUs()
	}
	counts := make([]NodeCount, len(p.Capacities))
	for i, c := range p.Capacities {
		counts[i] = NodeCount{c.standingNodes(), c.MaxNodes, c.MaxNodes}
		switch {
		case p.Scheduler.Facts().QuotaPerCapacity:
			counts[i].Reached = min(c.guaranteedNodes(), c.MaxNodes)
		case c.HasGPUs() && !c.Waiting:
			if perNode := int64(c.Machine.AcceleratorCount); limit/perNode < int64(c.MaxNodes) {
				counts[i].Reached = int((limit + perNode - 1) / perNode)
			}
		}
	}
	return counts
}

// standingNodes returns the number of nodes, or of reserved machines, that exist even
// if no job runs.
func (c Capacity) standingNodes() int {
	if !c.Waiting && c.OwnsReservation() {
		return c.MaxNodes
	}
	return c.IdleNodes()
}

// IdleNodes returns the number of nodes that run even if there is no job. Reserved
// machines without a node do not count.
func (c Capacity) IdleNodes() int {
	switch {
	case c.Waiting:
		return 0
	case c.Static:
		return c.MaxNodes
	}
	return c.MinNodes
}

// guaranteedNodes returns the number of whole nodes, in whole TPU slices, that hold
// the guarantees.
func (c Capacity) guaranteedNodes() int {
	needed := 0
	for i := range min(len(c.Guaranteed), len(c.PerNode)) {
		needed = max(needed, wholeNodes(c.Guaranteed[i], c.PerNode[i]))
	}
	if c.Sliced() {
		hosts := c.Machine.Slice.Hosts
		needed = (needed + hosts - 1) / hosts * hosts
	}
	return needed
}

// wholeNodes returns the number of nodes that offer the total, if each node offers
// one.
func wholeNodes(total, one Amount) int {
	a, b := total.Quantity.Value(), one.Quantity.Value()
	if total.Resource == CPU { // the only resource with fractions
		a, b = total.Quantity.MilliValue(), one.Quantity.MilliValue()
	}
	if b <= 0 {
		return 0
	}
	return int((a + b - 1) / b)
}

// limitOfGPUs returns the most GPUs that all queues together can use, for a scheduler
// that counts the GPUs of all capacities together. It returns math.MaxInt64 if some
// queue has no limit, or if there are no queues.
func (p *Platform) limitOfGPUs() int64 {
	sum, queues := int64(0), 0
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			share := q.GPUs()
			if share.All {
				return math.MaxInt64
			}
			queues++
			sum += share.Most
		}
	}
	if queues == 0 {
		return math.MaxInt64
	}
	return sum
}

// SharesReservation reports whether another capacity names the same reservation, so
// that its machines can be nodes of either.
func (p *Platform) SharesReservation(c Capacity) bool {
	return p.AnyCapacity(func(other Capacity) bool { return other.Name != c.Name && SameReservation(c, other) })
}

// SameReservation reports whether two capacities name the same reservation.
func SameReservation(a, b Capacity) bool {
	return a.Reservation != nil && b.Reservation != nil &&
		a.Reservation.Name == b.Reservation.Name && a.Reservation.Owner == b.Reservation.Owner
}
