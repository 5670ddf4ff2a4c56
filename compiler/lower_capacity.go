package compiler

import (
	"maps"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// Node labels and taints of GKE. Source: GKE documentation, "Provisioning
// models", "Node auto-provisioning", "Compact placement" and "GPU node pools".
const (
	labelNodePool      = "cloud.google.com/gke-nodepool"
	labelAccelerator   = "cloud.google.com/gke-accelerator"
	labelMachineFamily = "cloud.google.com/machine-family"
	labelProvisioning  = "cloud.google.com/gke-provisioning"
	labelSpot          = "cloud.google.com/gke-spot"
	labelQueued        = "cloud.google.com/gke-queued"

	// labelResourceType tells how a node was obtained.
	labelResourceType = "resource-type"

	noSchedule = "NoSchedule"
)

// optionTaint is the key of the taint that keeps other pods off the nodes of
// an option's pools; its value is "true".
var optionTaint = map[ir.Option]string{
	ir.OnDemand:    "ondemand",
	ir.Spot:        "spot",
	ir.Reservation: "reserved",
	ir.FlexStart:   "flex-start",
}

func lowerCapacity(b *schema.Blueprint, name string, zones []string) ir.Capacity {
	in := b.Capacity[name]
	hardware := b.Hardware[in.Hardware]
	machine, _ := catalog.Usable(hardware.Machine)

	c := ir.Capacity{
		Name:            name,
		Hardware:        in.Hardware,
		Machine:         lowerMachine(hardware.Machine, machine),
		Zones:           zones,
		Static:          in.Nodes != nil,
		MinNodes:        in.MinNodes,
		MaxNodes:        value(in.Nodes, value(in.MaxNodes, 0)),
		AutoProvisioned: in.AutoProvisioned,
		Compact:         in.Placement == "compact",
		DiskType:        value(hardware.Disk.Type, defaultDisk(machine)),
		DiskSizeGiB:     hardware.Disk.SizeGiB,
		Overcommit:      value(in.Overcommit, ""),
	}
	if c.Static {
		c.MinNodes = c.MaxNodes
	}
	if len(in.Zones) > 0 {
		c.Zones = sorted(in.Zones)
	}
	if c.Machine.Accelerator != "" {
		c.GPUDriver = hardware.GPUDriver
	}
	switch {
	case in.Consumption.Spot != nil:
		c.Option = ir.Spot
	case in.Consumption.Reservation != nil:
		r := in.Consumption.Reservation
		c.Option = ir.Reservation
		c.Reservation = &ir.ReservationUse{Name: r.Name, Create: r.Create}
		if owner := value(r.Project, b.Project); owner != b.Project {
			c.Reservation.Owner = owner
		}
	case in.Consumption.FlexStart != nil:
		f := in.Consumption.FlexStart
		c.Option = ir.FlexStart
		c.Flex = &ir.FlexUse{Queued: f.Queued, MaxRunSeconds: f.MaxRunSeconds}
		if f.Queued {
			c.AdmissionCheck = "dws-" + name
		}
	default:
		c.Option = ir.OnDemand
	}
	labelCapacity(&c)
	c.PerNode = perNode(c.Machine, machine)
	return c
}

func lowerMachine(name string, m catalog.Machine) ir.Machine {
	out := ir.Machine{
		Type: name, Family: m.Family, VCPUs: m.VCPUs, MemoryGiB: m.MemoryGiB,
		Accelerator: m.Accelerator, AcceleratorCount: m.Count,
	}
	if m.Accelerator != "" {
		out.Resource = ir.GPU
	}
	return out
}

// defaultDisk prefers pd-balanced to the machine's own default, which is a
// hard disk for some.
func defaultDisk(m catalog.Machine) string {
	if m.Disk == "" || slices.Contains(m.Disks, "pd-balanced") {
		return "pd-balanced"
	}
	return m.Disk
}

// labelCapacity decides by which labels nodes of a capacity are known, and
// which taints keep other pods off.
func labelCapacity(c *ir.Capacity) {
	labels, taints := map[string]string{}, []ir.Taint{}
	if c.Machine.Accelerator != "" {
		labels[labelAccelerator] = c.Machine.Accelerator
		taints = append(taints, ir.Taint{Key: ir.GPU, Value: "present", Effect: noSchedule})
	}
	switch {
	case c.AutoProvisioned && c.Option == ir.Spot:
		// Auto-provisioning taints a Spot pool by itself, for pods that both
		// select and tolerate the key.
		labels[labelMachineFamily] = c.Machine.Family
		labels[labelSpot] = "true"
		taints = append(taints, ir.Taint{Key: labelSpot, Value: "true", Effect: noSchedule})
	case c.AutoProvisioned:
		labels[labelMachineFamily] = c.Machine.Family
		labels[labelProvisioning] = "standard"
	default:
		labels[labelNodePool] = c.Name
		labels[labelResourceType] = string(c.Option)
		c.PoolLabels = []ir.KeyValue{{Key: labelResourceType, Value: string(c.Option)}}
		c.PoolTaints = []ir.Taint{{Key: optionTaint[c.Option], Value: "true", Effect: noSchedule}}
		taints = append(taints, c.PoolTaints...)
	}
	if c.Queued() {
		// GKE adds the taint by itself, but not the label.
		labels[labelQueued] = "true"
		c.PoolLabels = append([]ir.KeyValue{{Key: labelQueued, Value: "true"}}, c.PoolLabels...)
		taints = append(taints, ir.Taint{Key: labelQueued, Value: "true", Effect: noSchedule})
	}
	c.NodeLabels = keyValues(labels)
	sortTaints(taints)
	c.NodeTaints = taints
}

// perNode returns what one node offers to pods.
func perNode(m ir.Machine, facts catalog.Machine) []ir.Amount {
	if facts.Type == "" {
		return nil
	}
	milli, mib := facts.Allocatable()
	out := []ir.Amount{
		{Resource: ir.CPU, Quantity: *resource.NewMilliQuantity(milli, resource.DecimalSI)},
		{Resource: ir.Memory, Quantity: *resource.NewQuantity(mib<<20, resource.BinarySI)},
	}
	if m.Resource != "" {
		out = append(out, ir.Amount{Resource: m.Resource, Quantity: count(m.AcceleratorCount)})
	}
	return out
}

// share is what a team gets with one unit of quota, a unit being an
// accelerator or, on machines without, a vCPU.
func share(h schema.Hardware) []ir.Amount {
	facts, ok := catalog.Usable(h.Machine)
	if !ok {
		return nil
	}
	milli, mib := facts.Allocatable()
	if facts.Count == 0 {
		return []ir.Amount{
			{Resource: ir.CPU, Quantity: count(1)},
			{Resource: ir.Memory, Quantity: *resource.NewQuantity(mib/int64(facts.VCPUs)<<20, resource.BinarySI)},
		}
	}
	out := []ir.Amount{
		{Resource: ir.CPU, Quantity: count(int(milli) / 1000 / facts.Count)},
		{Resource: ir.Memory, Quantity: *resource.NewQuantity(mib/1024/int64(facts.Count)<<30, resource.BinarySI)},
		{Resource: ir.GPU, Quantity: count(1)},
	}
	if per := h.PerAccelerator; per != nil {
		out[0].Quantity = vcpus(per.CPU)
		out[1].Quantity = resource.MustParse(per.Memory) // the schema admits only what parses
	}
	return out
}

func count(n int) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }

func vcpus(n float64) resource.Quantity {
	return *resource.NewMilliQuantity(int64(math.Round(n*1000)), resource.DecimalSI)
}

func lowerSystemPool(in schema.SystemPool) ir.SystemPool {
	machine, _ := catalog.Usable(in.Machine)
	return ir.SystemPool{
		Name: "system", Machine: in.Machine, Family: machine.Family, VCPUs: machine.VCPUs, MemoryGiB: machine.MemoryGiB, DiskType: defaultDisk(machine), DiskSizeGiB: 100,
		NodesPerZone: in.NodesPerZone,
	}
}

func lowerAutoProvisioning(in schema.AutoProvisioning, capacities []ir.Capacity) ir.AutoProvisioning {
	out := ir.AutoProvisioning{Profile: in.Profile}
	// The limits bound the whole cluster, so node pools count as well.
	inUse, created := map[string]int{}, map[string]bool{}
	for _, c := range capacities {
		inUse[c.Machine.Accelerator] += c.MaxNodes * c.Machine.AcceleratorCount
		if c.AutoProvisioned {
			created[c.Machine.Accelerator] = true
		}
	}
	limits := maps.Clone(in.Accelerators)
	for accelerator := range created {
		if accelerator != "" {
			limits[accelerator] = max(limits[accelerator], inUse[accelerator])
		}
	}
	out.Create = len(created) > 0 || len(limits) > 0
	out.Limits = []ir.ResourceLimit{
		{Type: ir.CPU, Min: 4, Max: in.MaxCPU},
		{Type: ir.Memory, Min: 16, Max: in.MaxMemoryGiB},
	}
	for _, accelerator := range slices.Sorted(maps.Keys(limits)) {
		out.Limits = append(out.Limits, ir.ResourceLimit{Type: accelerator, Max: limits[accelerator]})
	}
	return out
}

func lowerAdmissionChecks(capacities []ir.Capacity) []ir.AdmissionCheck {
	var out []ir.AdmissionCheck
	for _, c := range capacities {
		if c.AdmissionCheck != "" {
			out = append(out, ir.AdmissionCheck{
				Name:  c.AdmissionCheck,
				Class: "queued-provisioning.gke.io", Resources: []string{c.Machine.Resource},
			})
		}
	}
	return out
}

// keyValues returns labels by key.
func keyValues(m map[string]string) []ir.KeyValue {
	var out []ir.KeyValue
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, ir.KeyValue{Key: k, Value: m[k]})
	}
	return out
}
