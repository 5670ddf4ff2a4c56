package guide

import (
	"github.com/batchwright/batchwright/compiler/ir"
)

// machine says what a node is.
func machine(c ir.Capacity) markup {
	m := code(c.Machine.Type)
	if slice := c.Machine.Slice; slice != nil {
		m += ", TPU topology " + code(slice.Topology)
	}
	if n := c.SSDs(); n > 0 {
		m += ", " + countNoun(n, "local SSD") + " of " + digits(c.Machine.SSDSizeGB) + " GB"
	}
	return m
}

// obtained says how a capacity is obtained.
func obtained(c ir.Capacity) markup {
	var m markup
	switch c.Option {
	case ir.OnDemand:
		m = "on demand"
	case ir.Spot:
		m = "Spot"
	case ir.Reservation:
		m = reservation(c)
	case ir.AnyReservation:
		m = "any reservation that matches"
		if c.AnyReservation.OnDemand {
			m += ", else on demand"
		}
	case ir.FlexStart:
		m = "flex-start"
	}
	if f := c.Flex; f != nil {
		if f.Queued {
			m += ", all nodes of a job at once"
		}
		m += ", for " + digits(f.MaxRunSeconds) + " s at most"
	}
	if c.Compact {
		m += ", close together"
	}
	return m
}

// reservation names a capacity's reservation, and the part of it.
func reservation(c ir.Capacity) markup {
	r := c.Reservation
	m := "reservation " + code(r.Name)
	if r.Owner != "" {
		m += " of project " + code(r.Owner)
	}
	if r.Block != "" {
		m += ", block " + code(r.Block)
	}
	if r.SubBlock != "" {
		m += ", sub-block " + code(r.SubBlock)
	}
	switch {
	case r.Create:
		m += ", made here"
	case r.Kind == ir.CalendarReservation:
		m = "calendar " + m
		if r.Days > 0 {
			m += ", for " + countNoun(r.Days, "day")
		}
	case c.Waiting:
	case r.Owner == "":
		m += ", made before"
	}
	if c.Waiting {
		m += ", not begun"
	}
	return m
}

// nodes says how many nodes a capacity has.
func nodes(c ir.Capacity) markup {
	m := digits(c.MaxNodes)
	if !c.Static {
		m = digits(c.MinNodes) + " to " + m
	}
	if c.Sliced() {
		m += ", in slices of " + digits(c.Machine.Slice.Hosts)
	}
	switch {
	case c.AutoProvisioned:
		m += ", auto-provisioned"
	case c.ComputeClass:
		m += ", by a ComputeClass"
	case c.Waiting:
		m += ", none yet"
	}
	return m
}

// remarks says what an administrator does about capacities of some kinds: only
// of those that there are.
func remarks(d *document, p *ir.Platform) {
	var items []markup
	about := func(is func(c ir.Capacity) bool, parts ...markup) {
		var names []string
		for _, c := range p.Capacities {
			if is(c) {
				names = append(names, c.Name)
			}
		}
		if names == nil {
			return
		}
		item := "For " + codes(names) + ": "
		for _, part := range parts {
			item += part
		}
		items = append(items, item)
	}
	kind := func(is func(c ir.Capacity, r *ir.ReservationUse) bool) func(c ir.Capacity) bool {
		return func(c ir.Capacity) bool { return c.Reservation != nil && is(c, c.Reservation) }
	}

	about(ir.Capacity.Sliced, "each TPU slice is a node pool, which has all of its nodes or none. Another number of "+
		"slices in the blueprint, 0 too, makes or ",
		"deletes the pools of the highest numbers, with what runs on them, and leaves the others alone. Where there "+
			"are none, jobs wait in their queue.")
	about(kind(func(c ir.Capacity, r *ir.ReservationUse) bool { return !r.Create && !c.Waiting }),
		"the reservation must be there before the build, in each zone of the ",
		"capacity, for the same machine type, accelerators and local SSDs, and only for instances that name it. A "+
			"node that differs gets no machine of it.")
	about(kind(func(_ ir.Capacity, r *ir.ReservationUse) bool { return r.Owner != "" }),
		"the project that owns the reservation must share it with ", code(p.Project), ".")
	about(func(c ir.Capacity) bool { return c.Waiting }, "the reservation has not begun, so that there are no nodes "+
		"and no quota yet: jobs wait, or go to the other capacities of their ",
		"tier. Once it has begun, set `active: true` on it in the blueprint, compile and build: the pool and the "+
			"quotas get their size, and no pool is replaced.")
	about(ir.Capacity.ByCalendar, "when the calendar reservation ends, Compute Engine deletes it and takes ",
		"the machines back, with what runs on them. Stop the queues that use the capacity before that day, and then "+
			"take it out of the blueprint or name the next reservation.")
	about(func(c ir.Capacity) bool { return c.AnyReservation != nil },
		"nodes come from the reservations of this project that are open to all instances, and match in machine type, ",
		"accelerators and local SSDs. One that only instances which name it may consume is left alone.")
	about(func(c ir.Capacity) bool { return c.ComputeClass }, "GKE makes node pools, under names of its own, for "+
		"pods that select the ComputeClass of the capacity's name, and removes them when they ",
		"are empty. Jobs need not select it: Kueue lets their pods do so.")
	about(func(c ir.Capacity) bool { return c.Machine.Arm },
		"the nodes are Arm machines, so that images must be made for arm64.")
	about(func(c ir.Capacity) bool { return c.SSDs() > 0 },
		"local SSDs hold the nodes' images, logs and `emptyDir` volumes, and are erased with the node.")
	if items != nil {
		d.List(items...)
	}
}
