package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on machines and their zones.

func hardwareRules() []Rule {
	return []Rule{
		rule("E0301", "machine type is unknown or unsupported", machineTypes, basic, fieldwise),
		rule("E0302", "zone is not in the platform's region", zonesInRegion),
		rule("E0303", "zone is not one of the platform's zones", on("capacity.*", capacityZones), fieldwise),
		rule("E0304", "machine does not boot from this disk type", bootDisks),
		rule("E0305", "more cpu or memory per accelerator than the machine has", on("hardware.*", perAccelerator)),
		rule("E0306", "perAccelerator for a machine without accelerators", on("hardware.*", perAcceleratorWithout)),
		rule("W0307", "unknown region", knownRegion),
		rule("W0308", "zone is not known to have the machine", onMachines(machineZones), resolved),
		rule("E0309", "these GPUs cannot be attached to the machine", on("hardware.*", attachedGPUs), basic),
		rule("E0310", "machine does not take this number of local SSDs", localSSDs),
		rule("W0322", "machine is not known to take local SSDs", unverifiedSSDs),
		rule("E0311", "TPU topology is unavailable for the machine", on("hardware.*", checkTopologies), basic),
		rule("W0323", "TPU topology is not known for the machine", on("hardware.*", unverifiedTopologies)),
		rule("E0313", "system pool cannot run system pods", systemPool, newCluster),
		rule("N0330", "tier runs jobs on Arm and on x86 machines", mixedTiers),
	}
}

// systemPool reports a system pool with accelerators or Arm machines: such nodes are
// tainted, so GKE's own pods and Kueue would find no node.
func systemPool(r *report) {
	name := r.Blueprint.Cluster.SystemPool.Machine
	m, known := catalog.Usable(name)
	if !known || m.Accelerator == "" && m.Arch == "amd64" {
		return
	}
	what := "has accelerators"
	if m.Accelerator == "" {
		what = "is an Arm machine"
	}
	r.add(at("cluster", "systemPool", "machine"),
		say("%s %s, and GKE taints such nodes, so system pods cannot run there", name, what),
		help("choose an x86 machine without accelerators, such as e2-standard-4"))
}

// mixedTiers reports tiers with Arm and x86 capacities: a job runs on whichever is
// free, so its images must exist for both.
func mixedTiers(r *report) {
	arm := map[string]bool{}
	r.eachCapacity(func(c ir.Capacity, _ catalog.Machine) { arm[c.Name] = c.Machine.Arm })
	for name, t := range sorted(r.Blueprint.Tiers) {
		capacities := t.Capacity
		for i, c := range capacities {
			isArm, known := arm[c]
			first, knownFirst := arm[capacities[0]]
			if !known || !knownFirst || isArm == first {
				continue
			}
			r.add(at("tiers", name, "capacity", diag.Index(i)),
				say("tier %q runs jobs on Arm and on x86 machines", name),
				see(at("tiers", name, "capacity", diag.Index(0)), "machines of the other architecture"),
				help("use images that are built for linux/amd64 and linux/arm64, or give each architecture its "+
					"own tier"))
			break
		}
	}
}

// attachedGPUs checks the number of GPUs on machine types whose number can be
// chosen.
func attachedGPUs(r *report, hardware fieldPath, h schema.Hardware) {
	m, known := catalog.Lookup(h.Machine)
	if !known || h.GPUs == nil {
		return
	}
	path := hardware.at("gpus")
	gpus := catalog.Attachments(h.Machine)
	var types, counts []string
	for _, a := range gpus {
		if !slices.Contains(types, a.Accelerator) {
			types = append(types, a.Accelerator)
		}
		if a.Accelerator == h.GPUs.Type {
			counts = append(counts, strconv.Itoa(a.Count))
		}
	}
	_, fits := findMachine(h)
	switch {
	case fits:
	case m.Accelerator != "":
		r.addKey(path, say("field gpus cannot be set for %s, which always has %d %s", m.Type, m.Count, m.Accelerator),
			help("remove gpus: the machine type includes them"))
	case len(gpus) == 0:
		r.addKey(path, say("no GPUs can be attached to %s", m.Type),
			help("remove gpus, or choose a machine type with GPUs: batchwright catalog"))
	case len(counts) == 0:
		cure := help("choose another GPU or machine type: batchwright catalog %s", m.Type)
		if named := catalog.MachinesWith(catalog.AcceleratorsNamed(h.GPUs.Type)); len(named) > 0 {
			cure = help("remove gpus, and choose a machine type that comes with these GPUs, such as %q",
				named[0].Type)
		}
		r.add(path.at("type"), say("no GPU of type %q can be attached to %s", h.GPUs.Type, m.Type),
			choices(types), didYouMean(meantAccelerator(h.GPUs.Type, types), cure))
	default:
		r.add(path.at("count"), say("%s does not take %d %s", m.Type, h.GPUs.Count, h.GPUs.Type),
			choicesIn(len(counts), strings.Join(counts, ", ")))
	}
}

// checkTopologies checks that a TPU machine type has a topology that it can form.
func checkTopologies(r *report, hardware fieldPath, h schema.Hardware) {
	m, known := catalog.Lookup(h.Machine)
	if !known {
		return
	}
	path := hardware.at("topology")
	switch {
	case !m.HasTPUs() && h.Topology != nil:
		r.addKey(path, say("%s has no TPUs", m.Type), help("remove topology"))
	case m.HasTPUs() && h.Topology == nil:
		r.addKey(hardware, say("%s needs the topology of its TPU slice", m.Type),
			labelShapes(m.Slices(), 0), help("add topology; batchwright catalog %s describes each one", m.Type))
	case m.HasTPUs():
		if _, ok := m.Slice(*h.Topology); !ok {
			r.checkTopology(path, m, *h.Topology)
		}
	}
}

// unverifiedTopologies reports topologies that no source lists for the machine type.
func unverifiedTopologies(r *report, hardware fieldPath, h schema.Hardware) {
	m, known := catalog.Lookup(h.Machine)
	if !known || h.Topology == nil {
		return
	}
	if s, ok := m.Slice(*h.Topology); ok && !m.Lists(*h.Topology) {
		path := hardware.at("topology")
		r.add(path, say("topology %q, with %d chips on %d nodes, is not known for %s", *h.Topology,
			s.Chips, s.Hosts, m.Type),
			helpOrAccept("if Google offers this one", "batchwright catalog %s lists the known topologies", m.Type))
	}
}

// checkTopology reports a topology that a machine type cannot form, and names the
// nearest ones that it can.
func (r *report) checkTopology(path fieldPath, m catalog.Machine, topology string) {
	all := m.Slices()
	chips := 1
	var sides []int
	for side := range strings.SplitSeq(topology, "x") {
		n, _ := strconv.Atoi(side) // the schema admits only numbers
		chips *= n
		sides = append(sides, n)
	}
	slices.Sort(sides)
	canonical := strings.ReplaceAll(strings.Trim(fmt.Sprint(sides), "[]"), " ", "x")
	cure := help("batchwright catalog %s lists all topologies", m.Type)
	if m.Lists(canonical) {
		cure = help("did you mean %q? sides are written in ascending order", canonical)
	} else if i := slices.IndexFunc(all, func(s catalog.Slice) bool { return s.Chips >= chips }); i >= 0 {
		cure = help("%q has %d chips", all[i].Topology, all[i].Chips)
	}
	near, _ := slices.BinarySearchFunc(all, chips, func(s catalog.Slice, chips int) int {
		return cmp.Compare(s.Chips, chips)
	})
	r.add(path, say("topology %q is not available for %s", topology, m.Type), labelShapes(all, near-3), cure)
}

// labelShapes returns a label that names the topologies of slices. If there are too
// many, it names a few of them, beginning at index from.
func labelShapes(all []catalog.Slice, from int) option {
	const most = 8
	var topologies []string
	from = max(0, min(from, len(all)-most))
	for _, s := range all[from:min(len(all), from+most)] {
		topologies = append(topologies, s.Topology)
	}
	if len(topologies) < len(all) {
		return label("want one such as %s", quoteNames(topologies))
	}
	return choices(topologies)
}

// localSSDs checks the number of a machine's local SSDs: it is fixed by the machine,
// or one of a few values.
func localSSDs(r *report) {
	r.eachLocalSSDs(func(path fieldPath, m catalog.Machine, count int) {
		switch {
		case !m.SSDs.Verified(), slices.Contains(m.SSDs.Allowed, count):
		case m.SSDs.Bundled > 0:
			r.add(path, say("%s always has %s", m.Type, words.Count(m.SSDs.Bundled, "local SSD")),
				help("remove localSSDs"))
		case len(m.SSDs.Allowed) == 0:
			cure := help("remove localSSDs, or choose another machine type")
			if with, ok := catalog.Usable(m.Type + "-lssd"); ok {
				cure = help("remove localSSDs, and choose machine type %q, which always has %s", with.Type,
					words.Count(with.SSDs.Bundled, "local SSD"))
			}
			r.add(path, m.Type+" takes no local SSDs", cure)
		default:
			var counts []string
			for _, n := range m.SSDs.Allowed {
				counts = append(counts, strconv.Itoa(n))
			}
			r.add(path, say("%s does not take %s", m.Type, words.Count(count, "local SSD")),
				choicesIn(len(counts), strings.Join(counts, ", ")))
		}
	})
}

// unverifiedSSDs reports local SSDs for machines of which no source says whether they
// take any.
func unverifiedSSDs(r *report) {
	r.eachLocalSSDs(func(path fieldPath, m catalog.Machine, _ int) {
		if !m.SSDs.Verified() {
			r.add(path, m.Type+" is not known to take local SSDs",
				helpOrAccept("if you know that it takes them", "remove localSSDs, or choose another machine type"))
		}
	})
}

// eachLocalSSDs calls f for each hardware class that requests local SSDs, with the
// path of their number.
func (r *report) eachLocalSSDs(f func(path fieldPath, m catalog.Machine, count int)) {
	for name, h := range sorted(r.Blueprint.Hardware) {
		if m, known := findMachine(h); known && h.LocalSSDs > 0 {
			f(at("hardware", name, "localSSDs"), m, h.LocalSSDs)
		}
	}
}

// knownRegion reports a region that the catalogue does not know. It is not an error,
// because the region may be new.
func knownRegion(r *report) {
	check := func(region string, path ...string) {
		if _, known := catalog.LookupRegion(region); known {
			return
		}
		accept := r.accepting(path)
		cure := help("check the spelling; if the region exists, add %s", accept)
		if near := diag.Nearest(region, catalog.Regions()); near != "" {
			cure = help("did you mean %q? if %q exists, accept the finding: %s", near, region, accept)
		}
		r.add(path, say("unknown region %q", region), cure)
	}
	b := r.Blueprint
	check(b.Region, "region")
	if region := b.Delivery.Region; region != nil {
		check(*region, "delivery", "region")
	}
	if t := b.Monitoring.TensorBoard; t != nil && t.Region != nil {
		check(*t.Region, "monitoring", "tensorBoard", "region")
	}
}

// machineZones reports zones without the machine, where GKE rejects a node pool. If
// GKE creates the pools itself, one zone with the machine is enough.
func machineZones(r *report, c ir.Capacity, m catalog.Machine) {
	known := m.Zones()
	unknown := slices.DeleteFunc(withoutNames(c.Zones, known), r.foreignZone)
	if known == nil || len(unknown) == 0 || len(unknown) < len(c.Zones) && !c.OwnsPools() {
		return
	}
	here := slices.DeleteFunc(slices.Clone(known), func(z string) bool {
		return !strings.HasPrefix(z, r.Plan.Region+"-")
	})
	wanted := label("known zones: %s", quoteNames(here))
	if len(here) == 0 {
		wanted = label("no zone of %s is known to have it, but zones of %s", r.Plan.Region,
			quoteNames(regionsOf(known)))
	}
	what, kind := m.Type, "machine-types"
	if h := r.Blueprint.Hardware[c.Hardware]; h.GPUs != nil {
		what, kind = h.GPUs.Type, "accelerator-types"
	}
	cure := fmt.Sprintf(`check with gcloud compute %s list --filter=name=%s; `+
		`if it is available, add %s`, kind, what, r.accepting(at("capacity", c.Name)))
	switch {
	case len(here) == 0:
		cure = "choose another machine or region, or " + cure
	case len(r.Blueprint.Capacity[c.Name].Zones) == 0:
		cure = "give the capacity zones that have it, or " + cure
	}
	r.unknownZones(c, unknown, what+" is not known to be available in ", wanted, advise(cure))
}

// regionsOf returns the regions of sorted zones, sorted.
func regionsOf(zones []string) []string {
	var regions []string
	for _, z := range zones {
		regions = append(regions, catalog.RegionOf(z))
	}
	return slices.Compact(regions)
}

// zonesInRegion reports zones that are listed twice, and zones of other regions: once for
// all of them, because they have one cause.
func zonesInRegion(r *report) {
	b := r.Blueprint
	var foreign []int
	for i, z := range b.Zones {
		switch {
		case slices.Contains(b.Zones[:i], z):
			r.add(at("zones", diag.Index(i)), say("zone %q is listed twice", z), help("keep one"))
		case catalog.RegionOf(z) != b.Region:
			foreign = append(foreign, i)
		}
	}
	if len(foreign) == 0 {
		return
	}
	first := at("zones", diag.Index(foreign[0]))
	message := say("zone %q is not in region %q", b.Zones[foreign[0]], b.Region)
	if len(foreign) > 1 && len(foreign) == len(b.Zones) {
		message = say("the zones of the platform are not in region %q", b.Region)
	} else if len(foreign) > 1 {
		message = say("%d zones of the platform are not in region %q", len(foreign), b.Region)
	}
	r.add(first, message, see(at("region"), "the region"), r.zonesToChoose(first, len(foreign) == len(b.Zones)))
}

// zonesToChoose names zones of the platform's region for the field at a path, which may take
// its value from a tag. If the platform moves to the region with all its zones, these are
// zones that have its machines, and the finding has the edits for all lists of zones.
func (r *report) zonesToChoose(path fieldPath, moves bool) option {
	region := r.Blueprint.Region
	want, edits := label("want a zone such as %q", someZone(region)), together()
	zones, cure := []string{someZone(region)}, help("choose zones of the region")
	chosen, lacks, ok := fit.ChooseZones(r.Plan, region, nil)
	switch {
	case moves && ok:
		zones, cure = chosen.Platform, help("choose zones of the region with these machines, in all lists of zones")
		want, edits = label("want zones such as %s", quoteNames(zones)), r.editZones(chosen)
		if len(zones) == 1 {
			want = label("want a zone such as %q", zones[0])
		}
	case moves && lacks != nil:
		want = label("no zone of %s is known to have %s, but zones of %s", region, lacks.Machine.Type,
			quoteNames(regionsOf(fit.KnownZones(*lacks))))
		cure = help("choose another region or another machine")
	}
	if tag, _ := r.Tag(path...); tag != "" {
		cure = help("choose a zone of the region: -t %s=%s", tag, zones[0])
	}
	return together(want, cure, edits)
}

// editZones replaces the zones of the platform and of its capacities. There are no edits if
// one of the lists is not written as a list of texts.
func (r *report) editZones(chosen fit.Zones) option {
	return func(_ *report, _ fieldPath, f *diag.Finding) {
		edits := r.editList(at("zones"), r.Blueprint.Zones, chosen.Platform)
		whole := edits != nil
		for name, zones := range sorted(chosen.Capacity) {
			list := r.editList(at("capacity", name, "zones"), r.Blueprint.Capacity[name].Zones, zones)
			whole = whole && list != nil
			edits = append(edits, list...)
		}
		if whole {
			f.Edits = edits
		}
	}
}

// editList returns the edits that replace the texts of a list: each element if their number
// stays, or else the whole list. It returns nil if the list has other expressions.
func (r *report) editList(path fieldPath, old, replacement []string) (edits []diag.Edit) {
	for i, text := range old {
		span := r.Place(false, path.at(diag.Index(i))...)
		if written := span.Text(); written != strconv.Quote(text) && written != text { // YAML needs no quotes
			return nil
		}
		if i < len(replacement) {
			edits = append(edits, diag.Edit{Span: span, Text: strconv.Quote(replacement[i])})
		}
	}
	if len(old) == len(replacement) {
		return edits
	}
	span := r.Place(false, path...)
	if list := span.Text(); !strings.HasPrefix(list, "[") || !strings.HasSuffix(list, "]") {
		return nil
	}
	return []diag.Edit{{Span: span, Text: "[" + quoteNames(replacement) + "]"}}
}

func capacityZones(r *report, capacity fieldPath, c schema.Capacity) {
	zones := c.Zones
	for i, z := range zones {
		if slices.Contains(zones[:i], z) {
			r.add(capacity.at("zones", diag.Index(i)), say("zone %q is listed twice", z), help("keep one"))
		} else if !slices.Contains(r.Blueprint.Zones, z) {
			cure := "add it to the platform's zones, or choose another"
			if catalog.RegionOf(z) != r.Blueprint.Region {
				cure = "choose a zone of the platform: a platform has one region"
			} else if missingZone(z) {
				cure = fmt.Sprintf("choose another: region %q is not known to have it", r.Blueprint.Region)
			}
			r.add(capacity.at("zones", diag.Index(i)),
				say("zone %q is not one of the platform's zones", z), choices(r.Blueprint.Zones), advise(cure))
		}
	}
}

func bootDisks(r *report) {
	for name, h := range sorted(r.Blueprint.Hardware) {
		m, ok := findMachine(h)
		if ok && h.Disk.Type != nil && len(m.Disks) > 0 && !slices.Contains(m.Disks, *h.Disk.Type) {
			r.add(at("hardware", name, "disk", "type"), say("%s does not boot from %s", m.Type, *h.Disk.Type),
				choices(m.Disks))
		}
	}
	pool := r.Blueprint.Cluster.SystemPool
	if m, ok := catalog.Usable(pool.Machine); ok && r.Plan.OwnsCluster() && pool.Disk.Type != nil && len(m.Disks) > 0 &&
		!slices.Contains(m.Disks, *pool.Disk.Type) {
		r.add(at("cluster", "systemPool", "disk", "type"), say("%s does not boot from %s", m.Type, *pool.Disk.Type),
			choices(m.Disks))
	}
}

func perAccelerator(r *report, hardware fieldPath, h schema.Hardware) {
	m, ok := findMachine(h)
	if !ok {
		return
	}
	s, ok := shareOf(h, m)
	if !ok {
		return
	}
	each := "its accelerator"
	if m.Count > 1 {
		each = fmt.Sprintf("each of its %d accelerators", m.Count)
	}
	path := hardware.at("perAccelerator")
	mostCPU, mostMemory := fit.Floor(ir.CPU, s.cpu), fit.Floor(ir.Memory, s.memory)
	memory := ir.PrintAlike(ir.Memory, s.wanted, s.memory)
	switch {
	case s.aboveCPU && s.aboveMemory:
		r.addKey(path, say("perAccelerator is %g vCPUs and %s, but a node of %s has only %s vCPUs and %s for %s",
			h.PerAccelerator.CPU, memory[0], m.Type, words.Decimal(mostCPU), memory[1], each),
			label("want at most cpu: %s and memory: %q", words.Decimal(mostCPU), mostMemory.String()))
	case s.aboveCPU:
		r.add(path.at("cpu"), say("perAccelerator.cpu is %g, but a node of %s has only %s vCPUs for %s",
			h.PerAccelerator.CPU, m.Type, words.Decimal(mostCPU), each),
			label("want at most %s", words.Decimal(mostCPU)))
	case s.aboveMemory:
		r.add(path.at("memory"), say("perAccelerator.memory is %s, but a node of %s has only %s for %s", memory[0],
			m.Type, memory[1], each), label("want at most %s", mostMemory.String()))
	}
}

func perAcceleratorWithout(r *report, hardware fieldPath, h schema.Hardware) {
	if m, ok := findMachine(h); ok && m.Count == 0 && h.PerAccelerator != nil {
		r.addKey(hardware.at("perAccelerator"), say("%s has no accelerators", m.Type),
			help("remove perAccelerator: quota on this hardware is counted in vCPUs, each with its share of "+
				"the "+"machine's memory"))
	}
}
