package rules

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/schema"
)

// What rules need of machines, zones and the capacities of a workload.

// findMachine returns the catalogue's facts of a hardware class's machine with its
// attached GPUs, and reports whether the catalogue has them.
func findMachine(h schema.Hardware) (catalog.Machine, bool) {
	accelerator, count := h.Attached()
	return catalog.Find(h.Machine, accelerator, count)
}

// eachCapacity calls visit for the capacities whose machines the catalogue knows.
func (r *report) eachCapacity(visit func(c ir.Capacity, m catalog.Machine)) {
	for _, c := range r.Plan.Capacities {
		if m, ok := findMachine(r.Blueprint.Hardware[c.Hardware]); ok {
			visit(c, m)
		}
	}
}

// givesOwnPool is the help for a capacity whose node pools GKE creates. It takes the
// field that asks for that.
const givesOwnPool = "remove %s: the capacity then gets its own node pool"

// countFields returns the fields of a capacity for a fixed number and for a number that
// scales.
func countFields(c ir.Capacity) (fixed, most string) {
	if c.HasTPUs() {
		return "slices", "maxSlices"
	}
	return "nodes", "maxNodes"
}

// creatorField returns the field of a capacity by which GKE creates its node pools.
func creatorField(c ir.Capacity) string {
	if c.ComputeClass {
		return "computeClass"
	}
	return "autoProvisioned"
}

// nodesLinked reports whether a capacity's nodes are linked by a network of their own.
func nodesLinked(c ir.Capacity) bool { return c.Sliced() || c.Machine.PlacementTopology != "" }

// acceleratorShare compares perAccelerator of some hardware with its machine.
type acceleratorShare struct {
	cpu, memory           resource.Quantity // of a node, for each of its accelerators
	wanted                resource.Quantity // memory that perAccelerator says
	aboveCPU, aboveMemory bool              // perAccelerator exceeds the node's share
}

// shareOf compares perAccelerator of some hardware with its machine. It reports
// false for hardware without perAccelerator or without accelerators, and for an
// amount that the grammar refuses.
func shareOf(h schema.Hardware, m catalog.Machine) (acceleratorShare, bool) {
	if h.PerAccelerator == nil || m.Count == 0 {
		return acceleratorShare{}, false
	}
	wanted, err := resource.ParseQuantity(h.PerAccelerator.Memory)
	if err != nil {
		return acceleratorShare{}, false
	}
	milli, mib := m.Allocatable()
	share := fit.CPUAndMemory(milli/int64(m.Count), mib/int64(m.Count))
	s := acceleratorShare{cpu: share[0].Quantity, memory: share[1].Quantity, wanted: wanted}
	s.aboveCPU = h.PerAccelerator.CPU > s.cpu.AsApproximateFloat64()
	s.aboveMemory = wanted.Value()>>20 > s.memory.Value()>>20
	return s, true
}

// meantAccelerator returns the known accelerator type that a name means, or else the
// nearest one, or "".
func meantAccelerator(name string, known []string) string {
	for _, a := range catalog.AcceleratorsNamed(name) {
		if slices.Contains(known, a) {
			return a
		}
	}
	return diag.Nearest(name, known)
}

// versionNeed is the GKE version that a capacity needs, with the reason.
type versionNeed struct{ version, capacity, reason string }

// newerNeed returns the newest version that a capacity needs. It considers only
// versions that are newer than the given one, and reports whether there is any.
func (r *report) newerNeed(version string) (newest versionNeed, found bool) {
	newest.version = version
	need := func(c ir.Capacity, from, reason string) {
		if from != "" && catalog.OlderGKE(newest.version, from) {
			newest, found = versionNeed{from, c.Name, reason}, true
		}
	}
	r.eachCapacity(func(c ir.Capacity, m catalog.Machine) {
		need(c, m.MinVersion, "it has "+m.Type)
		if c.AutoProvisioned {
			need(c, catalog.SameMinorGKE(version, m.AutoFrom), m.Type+" is auto-provisioned")
		}
		if c.ComputeClass {
			need(c, m.ClassFrom, "its ComputeClass has "+m.Type)
		}
		option := c.Option.Facts()
		older := func(o ir.OptionFacts) bool { return o.MinVersion != option.MinVersion }
		need(c, option.MinVersion, "it uses "+option.NameWithout(older))
		if c.HasTPUs() {
			need(c, option.TPUMinVersion, "it uses "+option.Name+" for TPUs")
		}
		if len(c.Networks) > 0 {
			need(c, catalog.SameMinorGKE(version, m.Networks.From), "it uses GPUDirect")
		}
		if c.Machine.AcceleratorNetworks {
			need(c, catalog.AcceleratorNetworksFrom, "its pods claim networks by dynamic resource allocation")
		}
	})
	return newest, found
}

// missingZone reports whether the catalogue knows the zone's region, but not the
// zone.
func missingZone(zone string) bool {
	region, known := catalog.LookupRegion(catalog.RegionOf(zone))
	return known && !slices.Contains(region.Zones, zone)
}

// foreignZone reports whether another rule reports the zone: it is in another region
// than the platform or not one of its zones, it does not exist, or its region is
// unknown.
func (r *report) foreignZone(zone string) bool {
	_, known := catalog.LookupRegion(r.Plan.Region)
	return !known || !strings.HasPrefix(zone, r.Plan.Region+"-") || missingZone(zone) ||
		!slices.Contains(r.Blueprint.Zones, zone)
}

// someZone returns the name of a zone of a region. If the catalogue does not know
// the region, it returns the likeliest name.
func someZone(name string) string {
	if region, known := catalog.LookupRegion(name); known {
		return region.Zones[0]
	}
	return name + "-a"
}

// unknownZones reports zones of a capacity: each one if the capacity names them, or
// all of them together at the capacity if they are the platform's zones.
func (r *report) unknownZones(c ir.Capacity, unknown []string, message string, options ...option) {
	written := r.Blueprint.Capacity[c.Name].Zones
	for i, z := range written {
		if slices.Contains(unknown, z) {
			r.add(at("capacity", c.Name, "zones", diag.Index(i)), message+strconv.Quote(z), options...)
		}
	}
	if len(written) == 0 {
		r.addKey(at("capacity", c.Name), message+quoteNames(unknown), options...)
	}
}

// runsOn returns the capacities that a workload names. If it names none, runsOn
// returns the capacities of its tier: those with accelerators if the workload asks
// for some, otherwise those without, otherwise all.
func (r *report) runsOn(w schema.Workload) []string {
	if w.Capacity != nil {
		return w.Capacity
	}
	tier := r.Blueprint.Tiers[w.Tier].Capacity
	if w.PerPod.Accelerators == 0 {
		if apart := r.apart(w, tier); len(apart) > 0 {
			return apart
		}
		return tier
	}
	if accelerated := slices.DeleteFunc(slices.Clone(tier), func(c string) bool {
		return !r.fit.Named[c].HasAccelerators()
	}); len(accelerated) > 0 {
		return accelerated
	}
	return tier
}

// apart returns which of some capacities have no accelerators and hold a pod of a workload, if
// labels direct its pods there. The result is nil with KAI Scheduler: its pods can share GPUs
// without requesting any.
func (r *report) apart(w schema.Workload, names []string) []string {
	memory, err := resource.ParseQuantity(w.PerPod.Memory)
	if err != nil || !r.Plan.Scheduler.Facts().QuotaPerCapacity {
		return nil // the schema reports the memory
	}
	cpu := *resource.NewMilliQuantity(int64(math.Round(w.PerPod.CPU*1000)), resource.DecimalSI)
	requests := []ir.Amount{{Resource: ir.CPU, Quantity: cpu}, {Resource: ir.Memory, Quantity: memory}}
	var tier []ir.Capacity
	for _, name := range names {
		tier = append(tier, r.fit.Named[name])
	}
	var out []string
	for _, c := range ir.Apart(tier, requests) {
		out = append(out, c.Name)
	}
	return out
}

// plainCapacities returns the capacities of a tier that have no accelerators.
func (r *report) plainCapacities(tier string) []string {
	var plain []string
	for _, c := range r.Blueprint.Tiers[tier].Capacity {
		if known, ok := r.fit.Named[c]; ok && !known.HasAccelerators() {
			plain = append(plain, c)
		}
	}
	return plain
}

// anyBroken reports whether the grammar of one of the capacities or of its hardware
// is wrong, so that its properties are unknown.
func (r *report) anyBroken(capacities []string) bool {
	return slices.ContainsFunc(capacities, func(c string) bool {
		return r.Broken[[2]string{"capacity", c}] ||
			r.Broken[[2]string{"hardware", r.Blueprint.Capacity[c].HardwareClass()}]
	})
}

// lacksAccelerators reports whether a workload asks for accelerators on capacities
// without any. podFitsNode reports such a workload.
func (r *report) lacksAccelerators(w schema.Workload, on []string) bool {
	return w.PerPod.Accelerators > 0 &&
		!slices.ContainsFunc(on, func(c string) bool { return r.fit.Named[c].HasAccelerators() })
}

// exchangesData reports whether the blueprint shows that the pods of a workload talk
// with each other. Pods of a composite job start again together if one fails, so they depend
// on each other; but a workload with auxiliary pods must be composite in any case. The
// pods of another Job can be independent of each other.
func exchangesData(w schema.Workload) bool {
	_, finds := w.Env[ir.EnvMasterAddr]
	return finds || w.Rendezvous != nil || kinds.Of(w.Kind).Composite && len(w.Auxiliary) == 0
}
