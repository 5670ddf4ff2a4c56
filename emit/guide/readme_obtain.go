package guide

import (
	"github.com/batchwright/batchwright/compiler/ir"
)

// describeMachine describes the machine of a node.
func describeMachine(c ir.Capacity) markup {
	m := codeSpan(c.Machine.Type)
	if slice := c.Machine.Slice; slice != nil {
		m += ", TPU topology " + codeSpan(slice.Topology)
	}
	if n := c.SSDs(); n > 0 {
		m += ", " + countNoun(n, "local SSD") + " of " + formatNumber(c.Machine.SSDSizeGB) + " GB"
	}
	return m
}

// describeOption describes how a capacity is obtained.
func describeOption(c ir.Capacity) markup {
	m := markup(c.Option.Facts().Summary)
	if c.Reservation != nil {
		m = describeReservation(c)
	}
	if c.MaxRunSeconds > 0 {
		m += ", for " + formatDuration(c.MaxRunSeconds) + " at most"
	}
	if c.Compact {
		m += ", close together"
	}
	return m
}

// describeReservation names a capacity's reservation, and the block of it that the
// capacity uses.
func describeReservation(c ir.Capacity) markup {
	r := c.Reservation
	m := "reservation " + codeSpan(r.Name)
	if r.Owner != "" {
		m += " of project " + codeSpan(r.Owner)
	}
	if r.Block != "" {
		m += ", block " + codeSpan(r.Block)
	}
	if r.SubBlock != "" {
		m += ", sub-block " + codeSpan(r.SubBlock)
	}
	switch {
	case r.Create:
		m += ", created by the build"
	case c.ByCalendar():
		m = "calendar " + m
		if r.Days > 0 {
			m += ", for " + countNoun(r.Days, "day")
		}
	case c.Waiting:
	case r.Owner == "":
		m += ", created before the build"
	}
	if c.Waiting {
		m += ", not yet begun"
	}
	return m
}

// describeNodes describes how many nodes a capacity has.
func describeNodes(c ir.Capacity) markup {
	if c.SlicesOff() {
		return "none now; a slice has " + formatNumber(c.Machine.Slice.Hosts)
	}
	m := formatNumber(c.MaxNodes)
	if !c.Static {
		m = formatNumber(c.MinNodes) + " to " + m
	}
	if c.Sliced() {
		m += ", in slices of " + formatNumber(c.Machine.Slice.Hosts)
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

// explainCapacity explains what an administrator must know about the kinds of
// capacity that the platform has.
func explainCapacity(d *document, p *ir.Platform) {
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
		item := "For " + codeList(names) + ": "
		for _, part := range parts {
			item += part
		}
		items = append(items, item)
	}
	kind := func(is func(c ir.Capacity, r *ir.ReservationUse) bool) func(c ir.Capacity) bool {
		return func(c ir.Capacity) bool { return c.Reservation != nil && is(c, c.Reservation) }
	}

	about(ir.Capacity.Sliced, "each TPU slice is a node pool, which has all of its nodes or none. If the number of ",
		"slices in the blueprint changes, the build creates or deletes the pools with the highest numbers, and leaves ",
		"the others alone. Deleting a pool ends every pod on it. The number can be 0: then jobs wait in their queue.")
	about(ir.Capacity.SlicesOff, "there are no slices now, and no quota on them. To get slices, write their number ",
		"into the blueprint (`slices`, or `maxSlices` if they start with the jobs), or set the tag for it, and ",
		"compile. Request the quota that ", linkTo(referencePage, quotaHeading), " then lists, and run ",
		"`./create-platform.sh`. The waiting jobs start when the slices are ready.")
	about(kind(func(c ir.Capacity, r *ir.ReservationUse) bool { return !r.Create && !c.Waiting }),
		"the reservation must exist before the build, in each zone of the capacity, with the same machine type, ",
		"accelerators and local SSDs, and only for instances that name it. A node that differs gets no machine of the ",
		"reservation.")
	about(kind(func(_ ir.Capacity, r *ir.ReservationUse) bool { return r.Owner != "" }),
		"the project that owns the reservation must share it with ", codeSpan(p.Project), ".")
	about(func(c ir.Capacity) bool { return c.Waiting },
		"the reservation has not begun, so there are no nodes and no quota yet. Jobs wait, or run on the other ",
		"capacities of their tier. When the reservation has begun, set `active: true` on it in the blueprint, compile ",
		"and build: the pool and the quotas get their size, and no pool is replaced.")
	about(ir.Capacity.ByCalendar,
		"when the calendar reservation ends, Compute Engine deletes it and takes the machines ",
		"back, with everything that runs on them. Before that day, stop the queues that use the capacity. Then delete ",
		"the capacity from the blueprint, or name the next reservation.")
	about(func(c ir.Capacity) bool { return c.Option.Facts().AnyReservation },
		"nodes come from the reservations of this project that are open to all instances and have the same machine ",
		"type, accelerators and local SSDs. Nodes never use a reservation that accepts only instances which name it.")
	about(func(c ir.Capacity) bool { return c.ComputeClass },
		"GKE creates node pools, with names of its own, for pods ",
		"that select the ComputeClass with the capacity's name, and deletes the pools when they are empty. Jobs need ",
		"not select the ComputeClass: Kueue makes their pods select it.")
	about(func(c ir.Capacity) bool { return c.Machine.Arm },
		"the nodes are Arm machines, so images must be built for arm64.")
	about(func(c ir.Capacity) bool { return c.SSDs() > 0 },
		"local SSDs hold the nodes' images, logs and `emptyDir` volumes. They are erased when the node is deleted.")
	if items != nil {
		d.List(items...)
	}
}
