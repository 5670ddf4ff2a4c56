package kubernetes

import (
	"maps"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// computeClasses returns a ComputeClass for each capacity that is obtained through
// one. GKE labels and taints the nodes with the name of the class, and adds the
// matching toleration to pods that select the class. Source: GKE documentation,
// "ComputeClass"; Google's repository compute-class-api has no release to depend on.
func computeClasses(p *ir.Platform) []any {
	var objects []any
	for _, c := range p.Capacities {
		if !c.ComputeClass {
			continue
		}
		config := kubeyaml.Fields{"serviceAccount": p.NodeAccount.Email(p.Project)}
		if !c.Repaired() {
			config["autoRepair"] = false
		}
		objects = append(objects, kubeyaml.NewObject("cloud.google.com/v1", "ComputeClass",
			kubeyaml.Meta(p.Name, "", c.Name), kubeyaml.Fields{
				"nodePoolAutoCreation": kubeyaml.Fields{"enabled": true},
				"nodePoolConfig":       config,
				"priorities":           []kubeyaml.Fields{priorityOf(p, c)},
				// Kueue has admitted the pods to this capacity and to no other.
				"whenUnsatisfiable": "DoNotScaleUp",
			}))
	}
	return objects
}

// priorityOf returns the only priority of a capacity's class. The queues, not the
// class, decide which capacity is tried after another.
func priorityOf(p *ir.Platform, c ir.Capacity) kubeyaml.Fields {
	option := c.Option.Facts()
	out := kubeyaml.Fields{"machineType": c.Machine.Type, "spot": false, "storage": nodeStorage(p, c)}
	if c.MaxRunSeconds > 0 {
		out["maxRunDurationSeconds"] = c.MaxRunSeconds
	}
	if c.HasGPUs() {
		out["gpu"] = kubeyaml.Fields{
			"type": c.Machine.Accelerator, "count": c.Machine.AcceleratorCount,
			"driverVersion": strings.ToLower(c.GPUDriver),
		}
	}
	// For pools that GKE creates, it uses all zones of the platform by default.
	var zones []string
	if !slices.Equal(c.Zones, p.Zones) {
		zones = c.Zones
	}
	switch option.ClassField {
	case "spot":
		out["spot"] = true
	case "flexStart":
		out["flexStart"] = kubeyaml.Fields{"enabled": true}
	case "":
	default:
		panic("priority of a ComputeClass has no field " + option.ClassField)
	}
	reservations := kubeyaml.Fields{"affinity": option.ClassAffinity}
	if c.Reservation != nil {
		// For a specific reservation, the API accepts zones only in this field.
		reservations["specific"] = []kubeyaml.Fields{specificReservation(*c.Reservation, zones)}
		zones = nil
	}
	if option.ClassAffinity != "" {
		out["reservations"] = reservations
	}
	if zones != nil {
		out["location"] = kubeyaml.Fields{"zones": zones}
	}
	return out
}

// nodeStorage returns the disks of a capacity's nodes.
func nodeStorage(p *ir.Platform, c ir.Capacity) kubeyaml.Fields {
	ssds := c.LocalSSDs
	if c.Option.Facts().TakesReservations() {
		// GKE requires the count if a reservation is consumed, even for local SSDs
		// that come with the machine (GKE documentation: "About custom
		// ComputeClasses").
		ssds = c.SSDs()
	}
	out := kubeyaml.Fields{
		"bootDiskSize": c.DiskSizeGiB, "bootDiskType": c.DiskType, "bootDiskKMSKey": p.Security.KMSKey,
		"localSSDCount": ssds, // as ephemeral storage
	}
	maps.DeleteFunc(out, func(_ string, value any) bool { return value == "" || value == 0 })
	return out
}

func specificReservation(r ir.ReservationUse, zones []string) kubeyaml.Fields {
	out := kubeyaml.Fields{"name": r.Name}
	if r.Owner != "" {
		out["project"] = r.Owner
	}
	if len(zones) > 0 {
		out["zones"] = zones
	}
	if r.Block != "" {
		block := kubeyaml.Fields{"name": r.Block}
		if r.SubBlock != "" {
			block["reservationSubBlock"] = kubeyaml.Fields{"name": r.SubBlock}
		}
		out["reservationBlock"] = block
	}
	return out
}
