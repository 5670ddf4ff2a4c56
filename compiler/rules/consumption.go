package rules

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on how machines are obtained. Sources: the GKE documentation of each
// consumption option, and the provider's and autoscaler's own checks.

func consumptionRules() []Rule {
	return []Rule{
		rule("E0401", "consumption option is unavailable for the machine", onMachines(checkOffered)),
		rule("W0402", "consumption option is not verified for the machine", onMachines(reportUnverified), whole),
		rule("E0403", "reservation without zones", onEach(capacities, reservationZones)),
		rule("E0404", "reservation cannot be created", createdReservations),
		rule("E0405", "flex-start with standing nodes", onEach(capacities, flexCounts)),
		rule("E0425", "setting of node requests that does not hold", on("capacity.*", unqueuedRetries)),
		rule("E0406", "auto-provisioning is unavailable for the capacity", onEach(capacities, autoProvisioned)),
		rule("E0407", "compact placement is unavailable", onMachines(checkCompact)),
		rule("E0408", "nodes of two capacities look the same to Kueue", sameNodes),
		rule("E0409", "setting that auto-provisioned nodes cannot have", sharedByAutoProvisioning),
		rule("N0410", "flex-start without queueing", onMachines(unqueuedFlex), except(ir.KAI)),
		rule("E0414", "conflicting reservation fields", on("capacity.*", reservationParts)),
		rule("W0415", "zone is not known to offer the TPUs by calendar reservation or flex-start",
			onMachines(optionZones)),
		rule("E0416", "ComputeClass is unavailable for the capacity", onEach(capacities, computeClasses)),
		rule("E0424", "two machine types on one reservation", oneMachineType),
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

func checkOffered(r *report, c ir.Capacity, m catalog.Machine) {
	if knownToBe(supportsOption(c.Option, m), false) {
		var others []string
		for _, o := range ir.Options() {
			if o.Parameter == "" && !o.AnyReservation && knownToBe(supportsOption(o.Option, m), true) {
				others = append(others, o.Field)
			}
		}
		path, words := optionSpan(c)
		r.addKey(path, say("%s is unavailable %s", m.Type, words), choices(others))
	}
}

func reportUnverified(r *report, c ir.Capacity, m catalog.Machine) {
	if supportsOption(c.Option, m) == nil {
		path, words := optionSpan(c)
		r.addKey(path, say("%s is not verified to be available %s", m.Type, words),
			help("check in the GKE documentation that the option supports this machine, then add %s",
				r.accepting(path)))
	}
}

// reservationZones reports a capacity that names a reservation and has several
// zones, because a reservation is in one zone. For nodes that are linked with each
// other, linkedZone reports it.
func reservationZones(r *report, c ir.Capacity) {
	if c.Reservation != nil && !nodesLinked(c) && len(r.Blueprint.Capacity[c.Name].Zones) == 0 &&
		len(c.Zones) > 1 {
		r.addKey(at("capacity", c.Name), say("capacity %q has a reservation but no zones", c.Name),
			help("add zones, the zones in which the reservation exists: the node pool uses all of them"))
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
			r.add(path, say("reservation %q belongs to project %q, so the platform cannot create it",
				c.Reservation.Name, c.Reservation.Owner),
				help("remove create: the owner project creates a shared reservation"))
		case m.HasTPUs():
			r.add(path, "the platform cannot create reservations of TPUs",
				help("create the reservation outside the platform, write its name here, and remove create"))
		case knownToBe(m.Options.OnDemand, false):
			r.add(path, say("reservations of %s machines must be requested from Google", m.Type),
				help("request the reservation, write its name here, and remove create"))
		case c.Reservation.Kind != "standard":
			r.add(path,
				say("a %s reservation must be requested from Google, and begins on its date", c.Reservation.Kind),
				help("request the reservation, write the name that it gets, and remove create"))
		case c.Reservation.Block != "":
			r.add(path, "field block is unavailable for a reservation that the platform creates", help("remove block"))
		case c.Waiting:
			r.add(path, "field active is unnecessary: a reservation that the platform creates begins at once",
				help("remove active"))
		case fit.LacksSize(c):
		case !c.Static:
			r.add(path,
				say("a reservation that the platform creates needs a fixed size, but capacity %q scales", c.Name),
				help("set nodes instead of maxNodes: reserved machines cost the same whether they run or not"))
		case c.MaxNodes == 0:
			r.add(at("capacity", c.Name, "nodes"), "a reservation needs at least 1 machine", label("want at least 1"))
		case len(c.Zones) > 1 && len(r.Blueprint.Capacity[c.Name].Zones) == 0: // reservationZones reports it
		case len(c.Zones) > 1:
			r.add(path, say("a reservation is in one zone, but capacity %q has %d zones", c.Name, len(c.Zones)),
				help("split the capacity into one capacity per zone"))
		case taken:
			r.add(path, say("capacity %q already creates reservation %q", first, c.Reservation.Name),
				see(at("capacity", first), "the other capacity"), help("choose another name for the reservation"))
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
					say("reservation %q is created for capacity %q, whose nodes use all of it", c.Reservation.Name,
						first), see(at("capacity", first), "the other capacity"),
					help("merge the two capacities, or choose another reservation"))
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
					say("reservation %q cannot have two machine types: %q requires %s, and %q requires %s",
						here.name, other.Name, other.Machine.Type, c.Name, m.Type),
					see(at("capacity", other.Name), "the other capacity"),
					help("give both the machine type of the reservation, or choose another reservation"))
				return
			}
		}
	})
}

// zonal identifies a reservation: another zone can have a reservation of the same
// name.
type zonal struct{ name, zone string }

// reservationParts checks the fields of a reservation other than its name.
func reservationParts(r *report, capacity fieldPath, c schema.Capacity) {
	in := c.Consumption.Reservation
	if in == nil {
		return
	}
	path := capacity.at("consumption", "reservation")
	if in.SubBlock != nil && in.Block == nil {
		r.addKey(path.at("subBlock"), "field subBlock needs field block", help("add block, or remove subBlock"))
	}
	if in.Days != nil && in.Kind != ir.CalendarReservation {
		r.addKey(path.at("days"), say("field days is unavailable for a %s reservation", in.Kind),
			help(`set kind: "calendar", or remove days`))
	}
}

// optionZones reports TPUs in zones where their option is unavailable: TPUs can be
// booked in calendar mode or started by flex-start only in a few zones. If no zone
// is known to have the machine, machineZones reports it.
func optionZones(r *report, c ir.Capacity, m catalog.Machine) {
	option := c.Option.Facts()
	known, all := m.OptionZones(option.Zones), m.Zones()
	unknown := slices.DeleteFunc(withoutNames(c.Zones, known), func(z string) bool {
		return all != nil && !slices.Contains(all, z) || missingZone(z)
	})
	if known == nil || len(unknown) == 0 {
		return
	}
	r.unknownZones(c, unknown, m.Type+" is not known to be available "+option.How+" in ",
		label("known zones: %s", quoteNames(known)),
		help("choose one of these, or check Google's table of zones for %s: it may have new zones",
			option.Name))
}

func flexCounts(r *report, c ir.Capacity) {
	in := r.Blueprint.Capacity[c.Name]
	option := c.Option.Facts()
	if !option.OnRequest || countedTwice(in) {
		return // oneCount reports both
	}
	if c.Static {
		fixed, most := countFields(c)
		r.add(at("capacity", c.Name, fixed),
			option.Nodes+" starts nodes when jobs request them, so their number cannot be fixed",
			help("set %s instead", most))
	} else if c.MinNodes > 0 {
		r.add(at("capacity", c.Name, "minNodes"), "a "+option.Nodes+" node pool scales down to 0", label("want 0"))
	}
}

func autoProvisioned(r *report, c ir.Capacity) {
	if !c.AutoProvisioned {
		return
	}
	switch {
	case c.ComputeClass:
		r.add(at("capacity", c.Name, "autoProvisioned"), "autoProvisioned and computeClass exclude each other",
			see(at("capacity", c.Name, "computeClass"), "the ComputeClass"), help("remove one of them"))
	case c.HasTPUs():
		r.add(at("capacity", c.Name, "autoProvisioned"), "field autoProvisioned is unavailable for TPU slices",
			help("remove autoProvisioned"))
	case c.LocalSSDs > 0:
		r.add(at("hardware", c.Hardware, "localSSDs"),
			say("auto-provisioning attaches no local SSDs, but capacity %q is auto-provisioned", c.Name),
			help("remove localSSDs; or "+givesOwnPool, "autoProvisioned"))
	case !c.Option.Facts().HasAutoProvisioning():
		r.add(at("capacity", c.Name, "autoProvisioned"), "auto-provisioning is unavailable for "+
			c.Option.Facts().NameWithout(ir.OptionFacts.HasAutoProvisioning), help(givesOwnPool, "autoProvisioned"))
	case c.Static:
		r.add(at("capacity", c.Name, "nodes"),
			"field nodes is unavailable with autoProvisioned, because GKE creates and deletes the node pools",
			help("set maxNodes instead"))
	case c.MinNodes > 0:
		r.add(at("capacity", c.Name, "minNodes"),
			"field minNodes is unavailable with autoProvisioned, because GKE creates and deletes the node pools",
			label("want 0"))
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
func computeClasses(r *report, c ir.Capacity) {
	if !c.ComputeClass || c.AutoProvisioned {
		return
	}
	path := at("capacity", c.Name, "computeClass")
	own := fmt.Sprintf(givesOwnPool, "computeClass")
	switch {
	case ownClass(c.Name):
		r.addKey(at("capacity", c.Name), say("ComputeClass %q is reserved for GKE", c.Name),
			help(`rename the capacity; the name must not be "default" and must not start with "gke" or `+
				`"autopilot"`))
	case c.HasTPUs():
		r.add(path, "field computeClass is unavailable for TPU slices", help("remove computeClass"))
	case c.Machine.PlacementTopology != "":
		r.add(path, say("field computeClass is unavailable for %s, because its nodes need a placement policy",
			c.Machine.Type), advise(own))
	case !c.Option.Facts().HasComputeClass():
		advice := own
		if parameter := c.Option.Facts().Parameter; parameter != "" {
			advice += "; or remove " + parameter
		}
		r.add(path, "field computeClass is unavailable for "+c.Option.Facts().Name, advise(advice))
	case c.Reservation != nil && c.Reservation.Create:
		r.add(path, "field computeClass is unavailable for a reservation that the platform creates", advise(own))
	case c.Waiting:
		r.add(path, "field computeClass is unavailable for a reservation that has not begun",
			help("%s; or set active: true once it has begun", own))
	case c.Compact:
		r.add(path, "compact placement is unavailable with computeClass", help("%s; or remove placement", own))
	case c.GPUDriver == "DISABLED":
		r.add(at("hardware", c.Hardware, "gpuDriver"),
			say("GPU nodes of a ComputeClass always get a driver, but gpuDriver of capacity %q sets none", c.Name),
			label(`want "DEFAULT" or "LATEST"`), help("choose one of these; or %s", own))
	case c.Static:
		r.add(at("capacity", c.Name, "nodes"),
			"field nodes is unavailable with computeClass, because GKE creates and deletes the node pools",
			help("set maxNodes instead"))
	case c.MinNodes > 0:
		r.add(at("capacity", c.Name, "minNodes"),
			"field minNodes is unavailable with computeClass, because GKE creates and deletes the node pools",
			label("want 0"))
	}
}

func checkCompact(r *report, c ir.Capacity, m catalog.Machine) {
	if !c.Compact {
		return
	}
	path := at("capacity", c.Name, "placement")
	switch {
	case c.ComputeClass: // computeClasses reports it
	case m.HasTPUs():
		r.add(path, "field placement is unnecessary: GKE always places the nodes of a TPU slice together",
			help("remove placement"))
	case m.CompactNodes != nil && *m.CompactNodes == 0:
		r.add(path, say("compact placement is unavailable for %s", m.Type),
			help(`remove placement, or choose another machine type`))
	case c.Reservation != nil && c.Reservation.Create:
		// The provider cannot create a reservation with a placement policy, and
		// GKE creates a policy of its own for the pool.
		r.add(path,
			say("compact placement is unavailable for %q, because the platform creates its reservation", c.Name),
			label("the new reservation has no placement policy"), help("remove placement"))
	case c.Queued():
		r.add(path, "compact placement is unavailable for GPU nodes of queued flex-start",
			help("remove placement, or queued"))
	case c.Option.Facts().OnRequest && !m.CompactFlexStart:
		r.add(path,
			say("compact placement with flex-start is available for A3 Ultra, A4 and H4D only, not for %s", m.Type),
			help("remove placement"))
	case !c.AutoProvisioned && len(c.Zones) > 1:
		r.add(path, say("compact placement needs one zone, but capacity %q has %d zones", c.Name, len(c.Zones)),
			help("give the capacity one zone: zones: [%q]", c.Zones[0]))
	case m.CompactNodes != nil && c.MaxNodes > *m.CompactNodes:
		r.add(path, say("a compact placement of %s holds %d nodes, but capacity %q has up to %d", m.Family,
			*m.CompactNodes, c.Name, c.MaxNodes), help("split the capacity, or reduce the number of its nodes"))
	}
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
				say("Kueue cannot distinguish the auto-provisioned nodes of %q and %q", other, c.Name),
				see(at("capacity", other), "the other capacity"),
				help("merge the two capacities; or remove autoProvisioned from one: it then gets its own node pool"))
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
		cure := help("remove this field; or "+givesOwnPool, "autoProvisioned")
		where := "of the platform"
		if !r.Plan.OwnsCluster() {
			where = "of the cluster"
			for _, field := range []string{"type", "sizeGiB"} {
				if path := at("hardware", c.Hardware, "disk", field); r.Written(path...) {
					r.add(path, say("the nodes of capacity %q are auto-provisioned, so the owners of the "+
						"cluster decide about their boot disks", c.Name), cure)
				}
			}
		}
		if len(c.Zones) < len(r.Plan.Zones) {
			r.add(at("capacity", c.Name, "zones"), "auto-provisioned nodes can be in every zone "+where, cure)
		}
		if hardware.GPUDriver != "DEFAULT" && c.GPUDriver != "" {
			r.add(at("hardware", c.Hardware, "gpuDriver"),
				say("auto-provisioned nodes get GKE's default driver, but the hardware of capacity %q sets %s",
					c.Name, c.GPUDriver), label(`want "DEFAULT"`), cure)
		}
		if first.Name == "" {
			first = c
		} else if r.Plan.OwnsCluster() && first.DiskType != c.DiskType || first.DiskSizeGiB != c.DiskSizeGiB {
			r.add(at("hardware", c.Hardware, "disk"),
				say("all auto-provisioned nodes have the same boot disk, but it is %s of %d GiB for %q and %s of %d "+
					"GiB for %q", first.DiskType, first.DiskSizeGiB, first.Name, c.DiskType, c.DiskSizeGiB, c.Name),
				see(at("hardware", first.Hardware), "the other hardware"),
				help("make the disks the same; or remove autoProvisioned from one capacity: it then gets its own "+
					"node pool"))
		}
	}
}

// unqueuedFlex reports flex-start without queued provisioning: Kueue admits such a
// workload at once, and evicts it if its pods are not ready in time.
func unqueuedFlex(r *report, c ir.Capacity, m catalog.Machine) {
	option := c.Option.Facts()
	if option.OnRequest && !option.Queued && !knownToBe(m.Options.Offered(option.Column), false) &&
		!slices.ContainsFunc(requestSettings(), func(name string) bool { // unqueuedRetries says the same
			return r.Written(requestSetting(c.Name, name)...)
		}) {
		r.addKey(at("capacity", c.Name, "consumption", option.Field), say("Kueue evicts jobs on %q and queues "+
			"them again if flex-start has no nodes for them within %s", c.Name,
			words.Duration(r.Plan.PodsReady().Timeout)),
			help("set queued: true: jobs then wait for their nodes before Kueue admits them"))
	}
}

// unqueuedRetries reports settings of the requests for nodes on a capacity without queued
// provisioning, and two numbers of retries.
func unqueuedRetries(r *report, capacity fieldPath, c schema.Capacity) {
	f := c.Consumption.FlexStart
	if f == nil {
		return
	}
	for _, name := range requestSettings() {
		path := requestSetting(capacity.name(), name)
		if !f.Queued && r.Written(path...) {
			r.add(path, name+" requires queued: true", help("remove %s, or set queued: true", name))
		}
	}
	retries := requestSetting(capacity.name(), "retries")
	if limit := requestSetting(capacity.name(), "retry").at("limit"); f.Queued && r.Written(retries...) &&
		f.Retry != nil && f.Retry.Limit != nil {
		r.add(limit, "retry.limit and retries are the same number", see(retries, "retries"), help("remove retries"))
	}
}

// requestSettings returns the fields of flexStart that are for the requests of queued
// provisioning.
func requestSettings() []string { return []string{"retries", "retry", "admissionCheck"} }

// requestRetries yields how capacities repeat their requests for nodes, where the blueprint says so, with the
// path of the field.
func (r *report) requestRetries() iter.Seq2[fieldPath, schema.Retry] {
	return func(yield func(fieldPath, schema.Retry) bool) {
		for name, c := range sorted(r.Blueprint.Capacity) {
			f := c.Consumption.FlexStart
			if f != nil && f.Retry != nil && !yield(requestSetting(name, "retry"), *f.Retry) {
				return
			}
		}
	}
}

// requestSetting returns the path of such a field of a capacity.
func requestSetting(capacity, name string) fieldPath {
	return at("capacity", capacity, "consumption", "flexStart", name)
}
