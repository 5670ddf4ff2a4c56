package rules

import (
	"fmt"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
)

// Rules on how machines are obtained. Sources: the GKE documentation of each
// consumption option, and the provider's and autoscaler's own checks.

func consumptionRules() []Rule {
	return []Rule{
		{Code: "E0401", Severity: diag.Error, Title: "the machine is not offered that way", check: offered},
		{Code: "W0402", Severity: diag.Warning, Title: "nobody verified that the machine is offered that way", check: unverified, whole: true},
		{Code: "N0410", Severity: diag.Note, Title: "flex-start that is not queued", check: unqueuedFlex},
		{Code: "E0403", Severity: diag.Error, Title: "a reservation without zones", check: reservationZones},
		{Code: "E0404", Severity: diag.Error, Title: "a reservation cannot be created like that", check: createdReservations},
		{Code: "E0405", Severity: diag.Error, Title: "flex-start with standing nodes", check: flexCounts},
		{Code: "E0406", Severity: diag.Error, Title: "auto-provisioned capacity that GKE would not create", check: autoProvisioned},
		{Code: "E0408", Severity: diag.Error, Title: "the nodes of two capacities cannot be told apart", check: sameNodes},
		{Code: "E0409", Severity: diag.Error, Title: "auto-provisioned nodes are all alike in this", check: sharedByAutoProvisioning},
		{Code: "E0407", Severity: diag.Error, Title: "compact placement that is not to be had", check: compact},
	}
}

// optionField is the consumption field of an option, and its name in a
// sentence.
var optionField = map[ir.Option][2]string{
	ir.OnDemand:    {"onDemand", "on demand"},
	ir.Spot:        {"spot", "as Spot nodes"},
	ir.Reservation: {"reservation", "from a reservation"},
	ir.FlexStart:   {"flexStart", "by flex-start"},
}

// supports returns whether a machine is offered as a capacity asks; nil is
// unverified.
func supports(c ir.Capacity, m catalog.Machine) *bool {
	switch {
	case c.Option == ir.OnDemand:
		return m.Options.OnDemand
	case c.Option == ir.Spot:
		return m.Options.Spot
	case c.Option == ir.Reservation:
		return m.Options.Reservation
	case c.Queued():
		return m.Options.Queued
	default:
		return m.Options.FlexStart
	}
}

func (r *report) eachCapacity(visit func(c ir.Capacity, m catalog.Machine)) {
	for _, c := range r.Plan.Capacities {
		if m, ok := catalog.Usable(c.Machine.Type); ok {
			visit(c, m)
		}
	}
}

func offered(r *report) {
	r.eachCapacity(func(c ir.Capacity, m catalog.Machine) {
		if ok := supports(c, m); ok != nil && !*ok {
			var others []string
			for _, o := range []struct {
				name string
				ok   *bool
			}{{"onDemand", m.Options.OnDemand}, {"spot", m.Options.Spot}, {"reservation", m.Options.Reservation}, {"flexStart", m.Options.FlexStart}} {
				if o.ok != nil && *o.ok {
					others = append(others, o.name)
				}
			}
			field := optionField[c.Option]
			r.addKey(at("capacity", c.Name, "consumption", field[0]), fmt.Sprintf("%s cannot be had %s", m.Type, field[1]),
				label("want one of %s", quoted(others)))
		}
	})
}

func unverified(r *report) {
	r.eachCapacity(func(c ir.Capacity, m catalog.Machine) {
		if supports(c, m) == nil {
			field := optionField[c.Option]
			r.addKey(at("capacity", c.Name, "consumption", field[0]), fmt.Sprintf("it is not verified that %s can be had %s", m.Type, field[1]),
				help("check the GKE documentation of the option for this machine"))
		}
	})
}

func reservationZones(r *report) {
	for _, c := range r.Plan.Capacities {
		if c.Option == ir.Reservation && len(r.Blueprint.Capacity[c.Name].Zones) == 0 && len(c.Zones) > 1 {
			r.addKey(at("capacity", c.Name), fmt.Sprintf("capacity %q does not say in which zones its reservation is", c.Name),
				help("add zones: a reservation belongs to one zone, and must exist in each zone of the pool"))
		}
	}
}

func createdReservations(r *report) {
	creator := map[string]string{}
	r.eachCapacity(func(c ir.Capacity, m catalog.Machine) {
		if c.Reservation == nil || !c.Reservation.Create {
			return
		}
		path := at("capacity", c.Name, "consumption", "reservation", "create")
		first, taken := creator[c.Reservation.Name]
		switch {
		case c.Reservation.Owner != "":
			r.add(path, fmt.Sprintf("reservation %q belongs to project %q and cannot be created here", c.Reservation.Name, c.Reservation.Owner),
				help("leave create out: the owner creates a shared reservation"))
		case m.SSDs.Bundled > 0:
			r.add(path, fmt.Sprintf("a reservation of %s must name its %s, which is not done here yet", m.Type, plural(m.SSDs.Bundled, "local SSD")),
				help("create the reservation yourself, and leave create out"))
		case !c.Static:
			r.add(path, fmt.Sprintf("a reservation that is created needs a fixed size, and capacity %q scales", c.Name),
				help("set nodes instead of maxNodes: reserved machines are paid for whether they run or not"))
		case c.MaxNodes == 0:
			r.add(at("capacity", c.Name, "nodes"), "a reservation of no machines cannot be created", label("want at least 1"))
		case len(c.Zones) > 1:
			r.add(path, fmt.Sprintf("a reservation is created in one zone, and capacity %q has %d", c.Name, len(c.Zones)),
				help("split the capacity, one zone each"))
		case taken:
			r.add(path, fmt.Sprintf("reservation %q is created by capacity %q already", c.Reservation.Name, first),
				related(at("capacity", first), "the other capacity"), help("give it another name"))
		default:
			creator[c.Reservation.Name] = c.Name
		}
	})
}

func flexCounts(r *report) {
	for _, c := range r.Plan.Capacities {
		if c.Flex == nil {
			continue
		}
		if c.Static {
			r.add(at("capacity", c.Name, "nodes"), "flex-start nodes are started on demand and cannot stand",
				help("set maxNodes instead"))
		} else if c.MinNodes > 0 {
			r.add(at("capacity", c.Name, "minNodes"), "a flex-start pool scales down to 0", label("want 0"))
		}
	}
}

func autoProvisioned(r *report) {
	for _, c := range r.Plan.Capacities {
		if !c.AutoProvisioned {
			continue
		}
		switch {
		case c.Option != ir.OnDemand && c.Option != ir.Spot:
			r.add(at("capacity", c.Name, "autoProvisioned"), fmt.Sprintf("node pools %s are not auto-provisioned", optionField[c.Option][1]),
				help("remove autoProvisioned: the capacity then has a node pool of its own"))
		case c.Static:
			r.add(at("capacity", c.Name, "nodes"), "auto-provisioned pools come and go, so they have no fixed size", help("set maxNodes instead"))
		case c.MinNodes > 0:
			r.add(at("capacity", c.Name, "minNodes"), "auto-provisioned pools come and go, so they have no minimum", label("want 0"))
		}
	}
}

func compact(r *report) {
	r.eachCapacity(func(c ir.Capacity, m catalog.Machine) {
		if !c.Compact {
			return
		}
		path := at("capacity", c.Name, "placement")
		switch {
		case m.CompactNodes != nil && *m.CompactNodes == 0:
			r.add(path, fmt.Sprintf("%s has no compact placement", m.Type), help(`remove placement, or choose another machine`))
		case c.Queued():
			r.add(path, "GPU nodes that are started together by queued provisioning cannot be placed compactly",
				help("remove placement, or queued"))
		case c.Option == ir.FlexStart && m.Accelerator != "nvidia-h200-141gb" && m.Family != "a4" && m.Family != "h4d":
			r.add(path, fmt.Sprintf("flex-start places only A3 Ultra, A4 and H4D nodes compactly, not %s", m.Type), help("remove placement"))
		case !c.AutoProvisioned && len(c.Zones) > 1:
			r.add(path, fmt.Sprintf("compact placement is within one zone, and capacity %q has %d", c.Name, len(c.Zones)),
				help("give the capacity one zone: zones: [%q]", c.Zones[0]))
		case m.CompactNodes != nil && c.MaxNodes > *m.CompactNodes:
			r.add(path, fmt.Sprintf("a compact placement of %s holds %d nodes, and capacity %q has up to %d", m.Family, *m.CompactNodes, c.Name, c.MaxNodes),
				help("split the capacity, or lower its nodes"))
		}
	})
}

// sameNodes: two flavors of the same labels and taints would each be taken for
// the other, and both quotas would draw on the same nodes.
func sameNodes(r *report) {
	first := map[string]string{}
	for _, c := range r.Plan.Capacities {
		if !c.AutoProvisioned || c.Option != ir.OnDemand && c.Option != ir.Spot || c.Machine.VCPUs == 0 {
			continue // a node pool has a label of its own
		}
		key := fmt.Sprint(c.NodeLabels, c.NodeTaints)
		if other, taken := first[key]; taken {
			r.addKey(at("capacity", c.Name), fmt.Sprintf("auto-provisioned nodes of %q and %q look the same to Kueue", other, c.Name),
				related(at("capacity", other), "the other capacity"),
				help("make one capacity of them, or give one a node pool of its own: remove autoProvisioned"))
			continue
		}
		first[key] = c.Name
	}
}

// sharedByAutoProvisioning: node auto-provisioning has one set of zones, disks
// and drivers for the whole cluster.
func sharedByAutoProvisioning(r *report) {
	var first ir.Capacity
	for _, c := range r.Plan.Capacities {
		if !c.AutoProvisioned || c.Option != ir.OnDemand && c.Option != ir.Spot {
			continue
		}
		hardware := r.Blueprint.Hardware[c.Hardware]
		cure := help("leave it out, or give the capacity a node pool of its own: remove autoProvisioned")
		if len(c.Zones) < len(r.Plan.Zones) {
			r.add(at("capacity", c.Name, "zones"), "auto-provisioned nodes may stand in every zone of the platform", cure)
		}
		if hardware.GPUDriver != "DEFAULT" && c.GPUDriver != "" {
			r.add(at("hardware", c.Hardware, "gpuDriver"), fmt.Sprintf("auto-provisioned nodes get GKE's default driver, and capacity %q asks for %s", c.Name, c.GPUDriver), label(`want "DEFAULT"`), cure)
		}
		if first.Name == "" {
			first = c
		} else if first.DiskType != c.DiskType || first.DiskSizeGiB != c.DiskSizeGiB {
			r.add(at("hardware", c.Hardware, "disk"), fmt.Sprintf("auto-provisioned nodes have one kind of boot disk: %s of %d GiB for %q, %s of %d GiB for %q", first.DiskType, first.DiskSizeGiB, first.Name, c.DiskType, c.DiskSizeGiB, c.Name),
				related(at("hardware", first.Hardware), "the other hardware"), help("make the disks the same, or give one capacity a node pool of its own: remove autoProvisioned"))
		}
	}
}

// unqueuedFlex: Kueue admits such a workload at once, and takes it back when
// its pods are not ready in time.
func unqueuedFlex(r *report) {
	for _, c := range r.Plan.Capacities {
		if c.Flex != nil && !c.Flex.Queued {
			r.addKey(at("capacity", c.Name, "consumption", "flexStart"), fmt.Sprintf("jobs on %q are evicted and queued again when flex-start has no nodes for them within %d minutes", c.Name, ir.PodsReadyMinutes),
				help("set queued: true: then they wait before they are admitted"))
		}
	}
}
