package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
)

// Rules on how machines are obtained. Sources: the GKE documentation of each
// consumption option, and the provider's and autoscaler's own checks.

func consumptionRules() []Rule {
	return []Rule{
		{Code: "E0401", Title: "consumption option is unavailable for the machine", check: checkOffered},
		{Code: "W0402", Title: "consumption option is not verified for the machine",
			check: reportUnverified, whole: true},
		{Code: "E0403", Title: "reservation without zones", check: reservationZones},
		{Code: "E0404", Title: "reservation cannot be created", check: createdReservations},
		{Code: "E0405", Title: "flex-start with standing nodes", check: flexCounts},
		{Code: "E0425", Title: "retries without queued provisioning", check: unqueuedRetries},
		{Code: "E0406", Title: "auto-provisioning is unavailable for the capacity", check: autoProvisioned},
		{Code: "E0407", Title: "compact placement is unavailable", check: checkCompact},
		{Code: "E0408", Title: "nodes of two capacities look the same to Kueue", check: sameNodes},
		{Code: "E0409", Title: "setting that auto-provisioned nodes cannot have", check: sharedByAutoProvisioning},
		{Code: "N0410", Title: "flex-start without queueing", check: unqueuedFlex, except: schedulers{ir.KAI}},
		{Code: "E0414", Title: "conflicting reservation fields", check: reservationParts},
		{Code: "W0415", Title: "zone is not known to offer the TPUs by calendar reservation or flex-start",
			check: optionZones},
		{Code: "E0416", Title: "ComputeClass is unavailable for the capacity", check: computeClasses},
		{Code: "E0424", Title: "two machine types on one reservation", check: oneMachineType},
	}
}

// supportsOption reports whether Google offers a machine with an option; nil means
// unverified.
func supportsOption(option ir.Option, m catalog.Machine) *bool {
	facts := option.Facts()
	if facts.AnyReservation {
		return anyReservation(facts, m)
	}
	return m.Options.Offered(facts.Column)
}

// anyReservation reports whether machines are available from any matching
// reservation; nil means unverified. A machine that is not offered on demand cannot
// fall back to on demand. Reservations of such machines, and of TPUs, are consumed
// by name: nobody has verified whether a pool gets machines without naming the
// reservation. Sources: Google Cloud documentation, AI Hypercomputer, "Consumption
// options"; GKE documentation, "About custom ComputeClasses".
func anyReservation(option ir.OptionFacts, m catalog.Machine) *bool {
	reserved := m.Options.Offered(option.Column)
	switch {
	case knownToBe(reserved, false):
	case knownToBe(m.Options.OnDemand, false) && !option.OnlyReserved:
		return m.Options.OnDemand
	case knownToBe(m.Options.OnDemand, false), m.HasTPUs():
		return nil
	}
	return reserved
}

// knownToBe reports whether known is set and equals so.
func knownToBe(known *bool, so bool) bool { return known != nil && *known == so }

// optionSpan returns the path of the field that decides how a capacity is obtained,
// and the field's name in a sentence.
func optionSpan(c ir.Capacity) (path fieldPath, words string) {
	option := c.Option.Facts()
	path = at("capacity", c.Name, "consumption", option.Field)
	if option.Parameter != "" {
		path = append(path, option.Parameter)
	}
	return path, option.How
}

func checkOffered(r *report) {
	r.eachCapacity(func(c ir.Capacity, m catalog.Machine) {
		if knownToBe(supportsOption(c.Option, m), false) {
			var others []string
			for _, o := range ir.Options() {
				if o.Parameter == "" && !o.AnyReservation && knownToBe(supportsOption(o.Option, m), true) {
					others = append(others, o.Field)
				}
			}
			path, words := optionSpan(c)
			r.addKey(path, fmt.Sprintf("%s is unavailable %s", m.Type, words),
				withChoices(len(others), quoteNames(others)))
		}
	})
}

func reportUnverified(r *report) {
	r.eachCapacity(func(c ir.Capacity, m catalog.Machine) {
		if supportsOption(c.Option, m) == nil {
			path, words := optionSpan(c)
			r.addKey(path, fmt.Sprintf("%s is not verified to be available %s", m.Type, words),
				withHelp("check in the GKE documentation that the option supports this machine, then add %s",
					r.accepting(path)))
		}
	})
}

// reservationZones reports a capacity that names a reservation and has several
// zones, because a reservation is in one zone. For nodes that are linked with each
// other, linkedZone reports it.
func reservationZones(r *report) {
	for _, c := range r.Plan.Capacities {
		if c.Reservation != nil && !nodesLinked(c) && len(r.Blueprint.Capacity[c.Name].Zones) == 0 &&
			len(c.Zones) > 1 {
			r.addKey(at("capacity", c.Name),
				fmt.Sprintf("capacity %q has a reservation but no zones", c.Name),
				withHelp("add zones, the zones in which the reservation exists: the node pool uses all of them"))
		}
	}
}

func createdReservations(r *report) {
	creator := map[zonal]string{}
	r.eachCapacity(func(c ir.Capacity, m catalog.Machine) {
		if c.Reservation == nil || !c.Reservation.Create || len(c.Zones) == 0 ||
			knownToBe(supportsOption(c.Option, m), false) {
			return
		}
		path := at("capacity", c.Name, "consumption", "reservation", "create")
		here := zonal{c.Reservation.Name, c.Zones[0]}
		first, taken := creator[here]
		switch {
		case c.Reservation.Owner != "":
			r.add(path,
				fmt.Sprintf("reservation %q belongs to project %q, so the platform cannot create it",
					c.Reservation.Name, c.Reservation.Owner),
				withHelp("remove create: the owner project creates a shared reservation"))
		case m.HasTPUs():
			r.add(path, "the platform cannot create reservations of TPUs",
				withHelp("create the reservation outside the platform, write its name here, and remove create"))
		case knownToBe(m.Options.OnDemand, false):
			r.add(path, fmt.Sprintf("reservations of %s machines must be requested from Google", m.Type),
				withHelp("request the reservation, write its name here, and remove create"))
		case c.Reservation.Kind != "standard":
			r.add(path,
				fmt.Sprintf("a %s reservation must be requested from Google, and begins on its date",
					c.Reservation.Kind),
				withHelp("request the reservation, write the name that it gets, and remove create"))
		case c.Reservation.Block != "":
			r.add(path, "field block is unavailable for a reservation that the platform creates",
				withHelp("remove block"))
		case c.Waiting:
			r.add(path, "field active is unnecessary: a reservation that the platform creates begins at once",
				withHelp("remove active"))
		case fit.LacksSize(c):
		case !c.Static:
			r.add(path,
				fmt.Sprintf("a reservation that the platform creates needs a fixed size, but capacity %q scales",
					c.Name),
				withHelp("set nodes instead of maxNodes: reserved machines cost the same whether they run or not"))
		case c.MaxNodes == 0:
			r.add(at("capacity", c.Name, "nodes"), "a reservation needs at least 1 machine",
				withLabel("want at least 1"))
		case len(c.Zones) > 1 && len(r.Blueprint.Capacity[c.Name].Zones) == 0: // reservationZones reports it
		case len(c.Zones) > 1:
			r.add(path,
				fmt.Sprintf("a reservation is in one zone, but capacity %q has %d zones", c.Name, len(c.Zones)),
				withHelp("split the capacity into one capacity per zone"))
		case taken:
			r.add(path, fmt.Sprintf("capacity %q already creates reservation %q", first, c.Reservation.Name),
				withRelated(at("capacity", first), "the other capacity"),
				withHelp("choose another name for the reservation"))
		default:
			creator[here] = c.Name
		}
	})
	usedUp(r, creator)
}

// usedUp reports the capacities that name a reservation which the platform creates
// for another capacity, and which is exactly as large as that capacity.
func usedUp(r *report, creator map[zonal]string) {
	for _, c := range r.Plan.Capacities {
		if c.Reservation == nil || c.Reservation.Create || c.Reservation.Owner != "" {
			continue
		}
		for _, zone := range c.Zones {
			if first, taken := creator[zonal{c.Reservation.Name, zone}]; taken {
				r.add(at("capacity", c.Name, "consumption", "reservation", "name"),
					fmt.Sprintf("reservation %q is created for capacity %q, whose nodes use all of it",
						c.Reservation.Name, first),
					withRelated(at("capacity", first), "the other capacity"),
					withHelp("merge the two capacities, or choose another reservation"))
			}
		}
	}
}

// oneMachineType reports two capacities that consume the same reservation with different
// machine types. A reservation of TPUs can be for several types of a family. usedUp reports
// reservations that the platform creates.
//
// Source: Compute Engine API, AllocationAggregateReservation.
func oneMachineType(r *report) {
	type place struct{ owner, name, zone string }
	first := map[place]ir.Capacity{}
	r.eachCapacity(func(c ir.Capacity, m catalog.Machine) {
		if c.Reservation == nil || c.Reservation.Create {
			return
		}
		for _, zone := range c.Zones {
			here := place{c.Reservation.Owner, c.Reservation.Name, zone}
			other, taken := first[here]
			switch {
			case !taken:
				first[here] = c
			case other.Machine.Type != m.Type && (!m.HasTPUs() || other.Machine.Family != m.Family):
				r.add(at("capacity", c.Name, "consumption", "reservation", "name"),
					fmt.Sprintf("reservation %q cannot have two machine types: %q requires %s, and %q requires %s",
						here.name, other.Name, other.Machine.Type, c.Name, m.Type),
					withRelated(at("capacity", other.Name), "the other capacity"),
					withHelp("give both the machine type of the reservation, or choose another reservation"))
				return
			}
		}
	})
}

// zonal identifies a reservation: another zone can have a reservation of the same
// name.
type zonal struct{ name, zone string }

// reservationParts checks the fields of a reservation other than its name.
func reservationParts(r *report) {
	for name, c := range sorted(r.Blueprint.Capacity) {
		in := c.Consumption.Reservation
		if in == nil {
			continue
		}
		path := at("capacity", name, "consumption", "reservation")
		if in.SubBlock != nil && in.Block == nil {
			r.addKey(path.at("subBlock"), "field subBlock needs field block",
				withHelp("add block, or remove subBlock"))
		}
		if in.Days != nil && in.Kind != ir.CalendarReservation {
			r.addKey(path.at("days"), fmt.Sprintf("field days is unavailable for a %s reservation", in.Kind),
				withHelp(`set kind: "calendar", or remove days`))
		}
	}
}

// optionZones reports TPUs in zones where their option is unavailable: TPUs can be
// booked in calendar mode or started by flex-start only in a few zones. If no zone
// is known to have the machine, machineZones reports it.
func optionZones(r *report) {
	r.eachCapacity(func(c ir.Capacity, m catalog.Machine) {
		option := c.Option.Facts()
		known, all := m.OptionZones(option.Zones), m.Zones()
		unknown := slices.DeleteFunc(withoutNames(c.Zones, known), func(z string) bool {
			return all != nil && !slices.Contains(all, z) || missingZone(z)
		})
		if known == nil || len(unknown) == 0 {
			return
		}
		r.unknownZones(c, unknown, m.Type+" is not known to be available "+option.How+" in ",
			withLabel("known zones: %s", quoteNames(known)),
			withHelp("choose one of these, or check Google's table of zones for %s: it may have new zones",
				option.Name))
	})
}

func flexCounts(r *report) {
	for _, c := range r.Plan.Capacities {
		in := r.Blueprint.Capacity[c.Name]
		option := c.Option.Facts()
		if !option.OnRequest || countedTwice(in) {
			continue // oneCount reports both
		}
		if c.Static {
			fixed, most := countFields(c)
			r.add(at("capacity", c.Name, fixed),
				option.Nodes+" starts nodes when jobs request them, so their number cannot be fixed",
				withHelp("set %s instead", most))
		} else if c.MinNodes > 0 {
			r.add(at("capacity", c.Name, "minNodes"), "a "+option.Nodes+" node pool scales down to 0",
				withLabel("want 0"))
		}
	}
}

func autoProvisioned(r *report) {
	for _, c := range r.Plan.Capacities {
		if !c.AutoProvisioned {
			continue
		}
		switch {
		case c.ComputeClass:
			r.add(at("capacity", c.Name, "autoProvisioned"),
				"autoProvisioned and computeClass exclude each other",
				withRelated(at("capacity", c.Name, "computeClass"), "the ComputeClass"),
				withHelp("remove one of them"))
		case c.HasTPUs():
			r.add(at("capacity", c.Name, "autoProvisioned"), "field autoProvisioned is unavailable for TPU slices",
				withHelp("remove autoProvisioned"))
		case c.LocalSSDs > 0:
			r.add(at("hardware", c.Hardware, "localSSDs"),
				fmt.Sprintf("auto-provisioning attaches no local SSDs, but capacity %q is auto-provisioned", c.Name),
				withHelp("remove localSSDs; or "+givesOwnPool, "autoProvisioned"))
		case !c.Option.Facts().HasAutoProvisioning():
			r.add(at("capacity", c.Name, "autoProvisioned"),
				"auto-provisioning is unavailable for "+
					c.Option.Facts().NameWithout(ir.OptionFacts.HasAutoProvisioning),
				withHelp(givesOwnPool, "autoProvisioned"))
		case c.Static:
			r.add(at("capacity", c.Name, "nodes"),
				"field nodes is unavailable with autoProvisioned, because GKE creates and deletes the node pools",
				withHelp("set maxNodes instead"))
		case c.MinNodes > 0:
			r.add(at("capacity", c.Name, "minNodes"),
				"field minNodes is unavailable with autoProvisioned, because GKE creates and deletes the node pools",
				withLabel("want 0"))
		}
	}
}

// ownClass reports whether GKE reserves the name of a ComputeClass: a prefix, or the
// name of the class for pods without one (GKE documentation: "About custom
// ComputeClasses", "About GKE ComputeClasses").
func ownClass(name string) bool {
	return name == "default" || strings.HasPrefix(name, "autopilot") || strings.HasPrefix(name, "gke")
}

// computeClasses reports settings that a capacity with a ComputeClass cannot have:
// GKE creates and removes its nodes, and the class's one priority rule describes
// them.
func computeClasses(r *report) {
	for _, c := range r.Plan.Capacities {
		if !c.ComputeClass || c.AutoProvisioned {
			continue
		}
		path := at("capacity", c.Name, "computeClass")
		own := fmt.Sprintf(givesOwnPool, "computeClass")
		switch {
		case ownClass(c.Name):
			r.addKey(at("capacity", c.Name), fmt.Sprintf("ComputeClass %q is reserved for GKE", c.Name),
				withHelp(`rename the capacity; the name must not be "default" and must not start with "gke" or `+
					`"autopilot"`))
		case c.HasTPUs():
			r.add(path, "field computeClass is unavailable for TPU slices", withHelp("remove computeClass"))
		case c.Machine.PlacementTopology != "":
			r.add(path,
				fmt.Sprintf("field computeClass is unavailable for %s, because its nodes need a placement policy",
					c.Machine.Type), withHelp("%s", own))
		case !c.Option.Facts().HasComputeClass():
			advice := own
			if parameter := c.Option.Facts().Parameter; parameter != "" {
				advice += "; or remove " + parameter
			}
			r.add(path, "field computeClass is unavailable for "+c.Option.Facts().Name, withHelp("%s", advice))
		case c.Reservation != nil && c.Reservation.Create:
			r.add(path, "field computeClass is unavailable for a reservation that the platform creates",
				withHelp("%s", own))
		case c.Waiting:
			r.add(path, "field computeClass is unavailable for a reservation that has not begun",
				withHelp("%s; or set active: true once it has begun", own))
		case c.Compact:
			r.add(path, "compact placement is unavailable with computeClass", withHelp("%s; or remove placement", own))
		case c.GPUDriver == "DISABLED":
			r.add(at("hardware", c.Hardware, "gpuDriver"),
				fmt.Sprintf("GPU nodes of a ComputeClass always get a driver, but gpuDriver of capacity %q sets none",
					c.Name),
				withLabel(`want "DEFAULT" or "LATEST"`), withHelp("choose one of these; or %s", own))
		case c.Static:
			r.add(at("capacity", c.Name, "nodes"),
				"field nodes is unavailable with computeClass, because GKE creates and deletes the node pools",
				withHelp("set maxNodes instead"))
		case c.MinNodes > 0:
			r.add(at("capacity", c.Name, "minNodes"),
				"field minNodes is unavailable with computeClass, because GKE creates and deletes the node pools",
				withLabel("want 0"))
		}
	}
}

func checkCompact(r *report) {
	r.eachCapacity(func(c ir.Capacity, m catalog.Machine) {
		if !c.Compact {
			return
		}
		path := at("capacity", c.Name, "placement")
		switch {
		case c.ComputeClass: // computeClasses reports it
		case m.HasTPUs():
			r.add(path, "field placement is unnecessary: GKE always places the nodes of a TPU slice together",
				withHelp("remove placement"))
		case m.CompactNodes != nil && *m.CompactNodes == 0:
			r.add(path, fmt.Sprintf("compact placement is unavailable for %s", m.Type),
				withHelp(`remove placement, or choose another machine type`))
		case c.Reservation != nil && c.Reservation.Create:
			// The provider cannot create a reservation with a placement policy, and
			// GKE creates a policy of its own for the pool.
			r.add(path,
				fmt.Sprintf("compact placement is unavailable for %q, because the platform creates its reservation",
					c.Name),
				withLabel("the new reservation has no placement policy"), withHelp("remove placement"))
		case c.Queued():
			r.add(path, "compact placement is unavailable for GPU nodes of queued flex-start",
				withHelp("remove placement, or queued"))
		case c.Option.Facts().OnRequest && !m.CompactFlexStart:
			r.add(path,
				fmt.Sprintf("compact placement with flex-start is available for A3 Ultra, A4 and H4D only, not for %s",
					m.Type),
				withHelp("remove placement"))
		case !c.AutoProvisioned && len(c.Zones) > 1:
			r.add(path,
				fmt.Sprintf("compact placement needs one zone, but capacity %q has %d zones", c.Name, len(c.Zones)),
				withHelp("give the capacity one zone: zones: [%q]", c.Zones[0]))
		case m.CompactNodes != nil && c.MaxNodes > *m.CompactNodes:
			r.add(path,
				fmt.Sprintf("a compact placement of %s holds %d nodes, but capacity %q has up to %d", m.Family,
					*m.CompactNodes, c.Name, c.MaxNodes),
				withHelp("split the capacity, or reduce the number of its nodes"))
		}
	})
}

// sameNodes reports two capacities with the same labels and taints: the scheduler
// could not distinguish their nodes, and both quotas would use the same nodes.
func sameNodes(r *report) {
	first := map[string]string{}
	for _, c := range r.Plan.Capacities {
		if !c.AutoProvisioned || !c.Option.Facts().HasAutoProvisioning() || c.Machine.VCPUs == 0 {
			continue // a node pool has a label of its own
		}
		key := fmt.Sprint(c.NodeLabels, c.NodeTaints)
		if other, taken := first[key]; taken {
			r.addKey(at("capacity", c.Name),
				fmt.Sprintf("Kueue cannot distinguish the auto-provisioned nodes of %q and %q", other, c.Name),
				withRelated(at("capacity", other), "the other capacity"),
				withHelp("merge the two capacities; or remove autoProvisioned from one: it then gets its own "+
					"node pool"))
			continue
		}
		first[key] = c.Name
	}
}

// sharedByAutoProvisioning reports capacities that need different settings of node
// auto-provisioning, which has one set of zones, disks and drivers for the whole
// cluster. A ComputeClass has its own settings.
func sharedByAutoProvisioning(r *report) {
	var first ir.Capacity
	for _, c := range r.Plan.Capacities {
		if !c.AutoProvisioned || c.ComputeClass || !c.Option.Facts().HasAutoProvisioning() {
			continue
		}
		hardware := r.Blueprint.Hardware[c.Hardware]
		cure := withHelp("remove this field; or "+givesOwnPool, "autoProvisioned")
		where := "of the platform"
		if !r.Plan.OwnsCluster() {
			where = "of the cluster"
			for _, field := range []string{"type", "sizeGiB"} {
				if path := at("hardware", c.Hardware, "disk", field); r.Written(path...) {
					r.add(path, fmt.Sprintf("the nodes of capacity %q are auto-provisioned, so the owners of the "+
						"cluster decide about their boot disks", c.Name), cure)
				}
			}
		}
		if len(c.Zones) < len(r.Plan.Zones) {
			r.add(at("capacity", c.Name, "zones"), "auto-provisioned nodes can be in every zone "+where, cure)
		}
		if hardware.GPUDriver != "DEFAULT" && c.GPUDriver != "" {
			r.add(at("hardware", c.Hardware, "gpuDriver"),
				fmt.Sprintf("auto-provisioned nodes get GKE's default driver, but the hardware of capacity %q sets %s",
					c.Name, c.GPUDriver), withLabel(`want "DEFAULT"`), cure)
		}
		if first.Name == "" {
			first = c
		} else if r.Plan.OwnsCluster() && first.DiskType != c.DiskType || first.DiskSizeGiB != c.DiskSizeGiB {
			r.add(at("hardware", c.Hardware, "disk"),
				fmt.Sprintf("all auto-provisioned nodes have the same boot disk, but it is %s of %d GiB for %q and "+
					"%s of %d GiB for %q", first.DiskType, first.DiskSizeGiB, first.Name, c.DiskType, c.DiskSizeGiB,
					c.Name),
				withRelated(at("hardware", first.Hardware), "the other hardware"),
				withHelp("make the disks the same; or remove autoProvisioned from one capacity: it then gets its "+
					"own node pool"))
		}
	}
}

// unqueuedFlex reports flex-start without queued provisioning: Kueue admits such a
// workload at once, and evicts it if its pods are not ready in time.
func unqueuedFlex(r *report) {
	r.eachCapacity(func(c ir.Capacity, m catalog.Machine) {
		option := c.Option.Facts()
		if option.OnRequest && !option.Queued && !knownToBe(m.Options.Offered(option.Column), false) &&
			!r.Written(retriesOf(c.Name)...) { // unqueuedRetries says the same
			r.addKey(at("capacity", c.Name, "consumption", option.Field),
				fmt.Sprintf("Kueue evicts jobs on %q and queues them again if flex-start has no nodes for them "+
					"within %d minutes", c.Name, ir.PodsReadyMinutes),
				withHelp("set queued: true: jobs then wait for their nodes before Kueue admits them"))
		}
	})
}

// unqueuedRetries reports retries on a capacity without queued provisioning.
func unqueuedRetries(r *report) {
	for name, c := range sorted(r.Blueprint.Capacity) {
		path := retriesOf(name)
		if f := c.Consumption.FlexStart; f != nil && !f.Queued && r.Written(path...) {
			r.add(path, "retries requires queued: true",
				withHelp("remove retries, or set queued: true"))
		}
	}
}

// retriesOf returns the path of the retries of a capacity.
func retriesOf(capacity string) fieldPath {
	return at("capacity", capacity, "consumption", "flexStart", "retries")
}
