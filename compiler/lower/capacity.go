package lower

import (
	"maps"
	"math"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// Node labels and taints that GKE defines. Source: GKE documentation, "Provisioning
// models", "Node auto-provisioning", "Compact placement" and "GPU node pools".
const (
	labelAccelerator   = "cloud.google.com/gke-accelerator"
	labelMachineFamily = "cloud.google.com/machine-family"
	labelQueued        = "cloud.google.com/gke-queued"
	labelTPU           = "cloud.google.com/gke-tpu-accelerator"
	labelTopology      = "cloud.google.com/gke-tpu-topology"
	labelComputeClass  = "cloud.google.com/compute-class"
	labelArchitecture  = "kubernetes.io/arch"
	labelDRANetworks   = "cloud.google.com/gke-networking-dra-driver"

	noSchedule = "NoSchedule"
)

// lowerCapacities resolves the capacities, sorted by name: those whose nodes the platform
// obtains, and those whose nodes others own. Guaranteed is not set yet.
func lowerCapacities(b *schema.Blueprint, zones []string) (own, existing []ir.Capacity) {
	for name, in := range byName(b.Capacity) {
		if c := lowerCapacity(b, name, in, zones); c.Existing() {
			existing = append(existing, c)
		} else {
			own = append(own, c)
		}
	}
	return own, existing
}

func lowerCapacity(b *schema.Blueprint, name string, in schema.Capacity, zones []string) ir.Capacity {
	hardware := b.Hardware[in.HardwareClass()]
	machine := machineFacts(hardware)

	c := ir.Capacity{
		Name:            name,
		Hardware:        in.HardwareClass(),
		Machine:         lowerMachine(hardware, machine),
		Zones:           zones,
		AutoProvisioned: in.AutoProvisioned,
		ComputeClass:    in.ComputeClass,
		Compact:         in.Placement == "compact",
		DiskType:        valueOr(hardware.Disk.Type, machine.BootDisk()),
		DiskSizeGiB:     hardware.Disk.SizeGiB,
		LocalSSDs:       hardware.LocalSSDs,
		Overcommit:      in.OvercommitReason(),
	}
	if lowerConsumption(&c, b, in.Consumption); c.Existing() {
		return lowerExistingNodes(c, b, in, machine)
	}
	c.TakeOver, c.Kept = takeOverPools(in.TakeOver)
	sizeCapacity(&c, in)
	if len(in.Zones) > 0 {
		c.Zones = sortedUnique(in.Zones)
	}
	if c.HasGPUs() {
		c.GPUDriver = hardware.GPUDriver
	}
	switch {
	case c.Machine.AcceleratorNetworks:
		c.GPUDirect = ir.GPUDirect(machine.Networks.Direct)
	case hardware.GPUDirect && machine.Networks.Direct != "":
		c.GPUDirect = ir.GPUDirect(machine.Networks.Direct)
		c.Networks = networksOf(machine.Networks)
	}
	option := c.Option.Facts()
	upgrades := "window"
	if option.Booked { // its nodes exist for a booked number of days
		upgrades = "endOfSupport"
	}
	c.KeepsVersion = valueOr(in.Upgrades, upgrades) == "endOfSupport" && c.OwnsPools() && !option.ShortLived
	c.Unrepaired = option.NoRepair || !in.AutoRepair
	c.OwnLabels = keyValues(withFlavorLabels(in))
	c.OwnTaints = taintsOf(in.NodeTaints)
	sortTaints(c.OwnTaints)
	markNodes(&c)
	c.Flavor = ir.Flavor{Name: name, Taints: c.NodeTaints, Tolerations: tolerating(c.NodeTaints)}
	lowerFlavor(&c, in.Flavor)
	c.PerNode = perNode(c.Machine, machine)
	c.SystemPods = systemPods(c.Machine.Resource, b.Cluster.CSIDrivers)
	return c
}

// sizeCapacity sets the number of nodes of a capacity. The blueprint gives TPUs in
// slices.
func sizeCapacity(c *ir.Capacity, in schema.Capacity) {
	fixed, most, least := in.Nodes, in.MaxNodes, in.MinNodes
	hosts := 1
	if slice := c.Machine.Slice; slice != nil {
		fixed, most, least = in.Slices, in.MaxSlices, 0
		hosts = slice.Hosts
	}
	count := valueOr(fixed, valueOr(most, 0))
	c.Static = fixed != nil
	c.MinNodes, c.MaxNodes = least, count*hosts
	if c.Static {
		c.MinNodes = c.MaxNodes
	}
	if c.Sliced() {
		c.Slices = count
	}
}

// machineFacts returns the catalogue's facts of a hardware class's machine with its
// attached GPUs, or the zero Machine if the catalogue has no such machine.
func machineFacts(h schema.Hardware) catalog.Machine {
	accelerator, count := h.Attached()
	machine, _ := catalog.Find(h.Machine, accelerator, count)
	return machine
}

func lowerMachine(h schema.Hardware, m catalog.Machine) ir.Machine {
	out := ir.Machine{
		Type: h.Machine, Family: m.Family, VCPUs: m.VCPUs, MemoryGiB: m.MemoryGiB, Arm: m.Arch == "arm64",
		Accelerator: m.Accelerator, AcceleratorCount: m.Count, BundledSSDs: m.SSDs.Bundled, SSDSizeGB: m.SSDs.SizeGB,
	}
	switch {
	case m.HasTPUs():
		out.Resource = ir.TPU
		if slice, ok := m.Slice(valueOr(h.Topology, "")); ok {
			out.Slice = &ir.Slice{Topology: slice.Topology, Chips: slice.Chips, Hosts: slice.Hosts}
		}
	case m.Accelerator != "":
		out.Resource = ir.GPU
	}
	family := catalog.FamilyOf(m.Family)
	out.AcceleratorNetworks, out.LinkedNodes = family.ClaimsNetworks, family.LinkedNodes
	out.SteadyGPUs, out.CountsNoSSDs = family.SteadyGPUs, family.CountsNoSSDs
	out.PlacementTopology = family.LinkTopology
	if out.Slice != nil && family.TPUType != "" {
		out.TPUType = family.TPUType + "-" + strconv.Itoa(family.TensorCores*out.Slice.Chips)
	}
	if out.Slice != nil && out.Slice.Hosts > 1 && family.LinksSlices {
		out.PlacementTopology = out.Slice.Topology
	}
	return out
}

// markNodes sets the labels that identify the nodes of a capacity, and the taints
// that keep other pods off them.
func markNodes(c *ir.Capacity) {
	option := c.Option.Facts()
	labels, taints := map[string]string{}, []ir.Taint{}
	poolLabels := map[string]string{}
	if c.HasAccelerators() {
		taints = append(taints, ir.Taint{Key: c.Machine.Resource, Value: "present", Effect: noSchedule})
	}
	switch {
	case c.HasTPUs():
		labels[labelTPU] = c.Machine.Accelerator
		if c.Machine.Slice != nil {
			labels[labelTopology] = c.Machine.Slice.Topology
		}
	case c.HasGPUs():
		labels[labelAccelerator] = c.Machine.Accelerator
	}
	if c.Machine.Arm { // GKE itself sets this taint
		taints = append(taints, ir.Taint{Key: labelArchitecture, Value: "arm64", Effect: noSchedule})
	}
	switch {
	case c.ComputeClass:
		// Pods select only the class: the class defines everything else.
		labels = map[string]string{labelComputeClass: c.Name}
		taints = append(taints, ir.Taint{Key: labelComputeClass, Value: c.Name, Effect: noSchedule})
	case c.AutoProvisioned && option.HasAutoProvisioning():
		labels[labelMachineFamily] = c.Machine.Family
		if c.Machine.Arm { // GKE creates x86 nodes for pods that do not select Arm
			labels[labelArchitecture] = "arm64"
		}
		labels[option.AutoLabel.Key] = option.AutoLabel.Value
		if option.AutoTaint {
			taints = append(taints,
				ir.Taint{Key: option.AutoLabel.Key, Value: option.AutoLabel.Value, Effect: noSchedule})
		}
	default:
		for _, l := range c.OwnLabels {
			poolLabels[l.Key] = l.Value
		}
		poolLabels[ir.LabelCapacity] = c.Name
		poolLabels[ir.LabelResourceType] = option.ResourceType
		c.PoolTaints = append([]ir.Taint{{Key: option.Taint, Value: "true", Effect: noSchedule}}, c.OwnTaints...)
		taints = append(taints, c.PoolTaints...)
	}
	if c.Queued() {
		// GKE itself adds the taint, but not the label.
		poolLabels[labelQueued] = "true"
		taints = append(taints, ir.Taint{Key: labelQueued, Value: "true", Effect: noSchedule})
	}
	c.GKELabels = keyValues(labels)
	maps.Copy(labels, poolLabels)
	if c.Machine.AcceleratorNetworks {
		poolLabels[labelDRANetworks] = "true"
	}
	c.NodeLabels, c.PoolLabels = keyValues(labels), keyValues(poolLabels)
	sortTaints(taints)
	c.NodeTaints = taints
}

// perNode returns the amounts that one node offers to pods.
func perNode(m ir.Machine, facts catalog.Machine) []ir.Amount {
	if facts.Type == "" {
		return nil
	}
	out := cpuAndMemory(facts.Allocatable())
	if m.Resource != "" {
		out = append(out, ir.Amount{Resource: m.Resource, Quantity: wholeQuantity(m.AcceleratorCount)})
	}
	return out
}

// systemPods returns the amounts that GKE's own pods request on a node with the given
// resource of accelerators, "" for none.
func systemPods(accelerator string, drivers schema.CSIDrivers) []ir.Amount {
	pods := catalog.SystemPods(catalog.NodePlaces(accelerator, drivers.Filestore, drivers.GCSFuse)...)
	return cpuAndMemory(catalog.SumRequests(pods))
}

// cpuAndMemory returns amounts of thousandths of a vCPU, and of MiB.
func cpuAndMemory(milli, mib int64) []ir.Amount {
	return []ir.Amount{
		{Resource: ir.CPU, Quantity: *resource.NewMilliQuantity(milli, resource.DecimalSI)},
		{Resource: ir.Memory, Quantity: *resource.NewQuantity(mib<<20, resource.BinarySI)},
	}
}

// perUnitShare returns the amounts that a team gets with one unit of quota. A unit
// is an accelerator or, on machines without accelerators, a vCPU.
func perUnitShare(h schema.Hardware, m ir.Machine) []ir.Amount {
	facts := machineFacts(h)
	if facts.VCPUs == 0 {
		return nil
	}
	milli, mib := facts.Allocatable()
	if facts.Count == 0 {
		return cpuAndMemory(1000, mib/int64(facts.VCPUs))
	}
	n := int64(facts.Count)
	out := append(cpuAndMemory(roundDown(milli/n, 1000), roundDown(mib/n, 1024)),
		ir.Amount{Resource: m.Resource, Quantity: wholeQuantity(1)})
	if per := h.PerAccelerator; per != nil {
		out[0].Quantity = vcpuAmount(per.CPU)
		out[1].Quantity = resource.MustParse(per.Memory) // the schema admits only valid quantities
	}
	return out
}

// roundDown rounds an amount down to a multiple of unit. An amount below one unit
// stays as it is.
func roundDown(amount, unit int64) int64 {
	if amount < unit {
		return amount
	}
	return amount / unit * unit
}

func wholeQuantity(n int) resource.Quantity {
	return *resource.NewQuantity(int64(n), resource.DecimalSI)
}

func vcpuAmount(n float64) resource.Quantity {
	return *resource.NewMilliQuantity(int64(math.Round(n*1000)), resource.DecimalSI)
}

// lowerSystemPool resolves the node pool for everything except the teams' jobs. In a
// cluster that others own, their nodes run these pods, and the platform has no such pool.
func lowerSystemPool(c schema.Cluster) ir.SystemPool {
	if c.Existing != nil {
		return ir.SystemPool{}
	}
	in := c.SystemPool
	machine, _ := catalog.Usable(in.Machine)
	return ir.SystemPool{
		Name: "system", Machine: in.Machine, Family: machine.Family, VCPUs: machine.VCPUs, MemoryGiB: machine.MemoryGiB,
		DiskType: valueOr(in.Disk.Type, machine.BootDisk()), DiskSizeGiB: in.Disk.SizeGiB,
		NodesPerZone: in.NodesPerZone, MaxNodesPerZone: valueOr(in.MaxNodesPerZone, 0),
		CountsNoSSDs: catalog.FamilyOf(machine.Family).CountsNoSSDs,
	}
}

// lowerAutoProvisioning bounds the cluster of a plan whose teams are already
// lowered. A limit that the blueprint does not give is large enough for everything
// that the teams are guaranteed: GKE starts no node beyond the limits, in any pool. The
// limits of a cluster that others own are those of the blueprint.
func lowerAutoProvisioning(cluster schema.Cluster, p *ir.Platform) ir.AutoProvisioning {
	if e := cluster.Existing; e != nil {
		return existingLimits(e.Has.AutoProvisioning)
	}
	in := cluster.AutoProvisioning
	out := ir.AutoProvisioning{Profile: in.Profile}
	// The limits bound the whole cluster, so node pools count too.
	inUse, created := map[string]int{}, map[string]bool{}
	for _, c := range p.Capacities {
		inUse[c.Machine.Accelerator] += c.MaxNodes * c.Machine.AcceleratorCount
		if !c.OwnsPools() {
			created[c.Machine.Accelerator] = true
		}
	}
	limits := map[string]int{}
	maps.Copy(limits, in.Accelerators)
	for accelerator := range created {
		if accelerator != "" {
			limits[accelerator] = max(limits[accelerator], inUse[accelerator])
		}
	}
	out.Create = len(created) > 0 || len(limits) > 0
	vcpus, memoryGiB := autoProvisioningNeed(p)
	out.Limits = []ir.ResourceLimit{
		{Type: ir.CPU, Min: 4, Max: valueOr(in.MaxCPU, max(1000, vcpus))},
		{Type: ir.Memory, Min: 16, Max: valueOr(in.MaxMemoryGiB, max(4000, memoryGiB))},
	}
	out.Limits = append(out.Limits, acceleratorLimits(limits)...)
	return out
}

// existingLimits returns the limits of node auto-provisioning in a cluster that others
// own. in is nil if it is off.
func existingLimits(in *schema.ExistingLimits) ir.AutoProvisioning {
	if in == nil {
		return ir.AutoProvisioning{}
	}
	limits := []ir.ResourceLimit{{Type: ir.CPU, Max: in.MaxCPU}, {Type: ir.Memory, Max: in.MaxMemoryGiB}}
	return ir.AutoProvisioning{Create: true, Limits: append(limits, acceleratorLimits(in.Accelerators)...)}
}

func acceleratorLimits(most map[string]int) []ir.ResourceLimit {
	var out []ir.ResourceLimit
	for accelerator, n := range byName(most) {
		out = append(out, ir.ResourceLimit{Type: accelerator, Max: n})
	}
	return out
}

func lowerAdmissionChecks(capacities []ir.Capacity) []ir.AdmissionCheck {
	var out []ir.AdmissionCheck
	for _, c := range capacities {
		if c.AdmissionCheck == "" {
			continue
		}
		check := ir.AdmissionCheck{
			Name: c.AdmissionCheck, Class: "queued-provisioning.gke.io", Retries: c.Retries, Retry: c.Retry,
		}
		if c.HasAccelerators() {
			check.Resources = []string{c.Machine.Resource}
		}
		if c.Machine.Slice != nil {
			check.Topology = c.Machine.Slice.Topology
		}
		out = append(out, check)
	}
	return out
}

// keyValues returns the entries of a map, sorted by key.
func keyValues(m map[string]string) []ir.KeyValue {
	var out []ir.KeyValue
	for k, v := range byName(m) {
		out = append(out, ir.KeyValue{Key: k, Value: v})
	}
	return out
}
