package kubernetes

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// computeClass is the emitted part of GKE's ComputeClass. Source: GKE documentation,
// "ComputeClass"; the types follow Google's repository compute-class-api, which has
// no release to depend on.
type computeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              computeClassSpec `json:"spec"`
}

type computeClassSpec struct {
	NodePoolAutoCreation enabled        `json:"nodePoolAutoCreation"`
	NodePoolConfig       nodePoolConfig `json:"nodePoolConfig"`
	Priorities           []priority     `json:"priorities"`
	WhenUnsatisfiable    string         `json:"whenUnsatisfiable"`
}

type enabled struct {
	Enabled bool `json:"enabled"`
}

type nodePoolConfig struct {
	AutoRepair     *bool  `json:"autoRepair,omitempty"`
	ServiceAccount string `json:"serviceAccount"`
}

// priority is one way of obtaining nodes.
type priority struct {
	FlexStart             *enabled      `json:"flexStart,omitempty"`
	GPU                   *gpu          `json:"gpu,omitempty"`
	Location              *location     `json:"location,omitempty"`
	MachineType           string        `json:"machineType"`
	MaxRunDurationSeconds int           `json:"maxRunDurationSeconds,omitempty"`
	Reservations          *reservations `json:"reservations,omitempty"`
	Spot                  bool          `json:"spot"`
	Storage               storage       `json:"storage"`
}

type gpu struct {
	Type          string `json:"type"`
	Count         int    `json:"count"`
	DriverVersion string `json:"driverVersion"`
}

type location struct {
	Zones []string `json:"zones"`
}

type reservations struct {
	Affinity string                `json:"affinity"`
	Specific []specificReservation `json:"specific,omitempty"`
}

type specificReservation struct {
	Name             string            `json:"name"`
	Project          string            `json:"project,omitempty"`
	ReservationBlock *reservationBlock `json:"reservationBlock,omitempty"`
	Zones            []string          `json:"zones,omitempty"`
}

type reservationBlock struct {
	Name                string               `json:"name"`
	ReservationSubBlock *reservationSubBlock `json:"reservationSubBlock,omitempty"`
}

type reservationSubBlock struct {
	Name string `json:"name"`
}

type storage struct {
	BootDiskSize  int    `json:"bootDiskSize,omitempty"` // GB
	BootDiskType  string `json:"bootDiskType,omitempty"`
	BootDiskKey   string `json:"bootDiskKMSKey,omitempty"`
	LocalSSDCount int    `json:"localSSDCount,omitempty"` // as ephemeral storage
}

// computeClasses returns a ComputeClass for each capacity that is obtained through
// one. GKE labels and taints the nodes with the name of the class, and adds the
// matching toleration to pods that select the class.
func computeClasses(p *ir.Platform) []any {
	var objects []any
	for _, c := range p.Capacities {
		if !c.ComputeClass {
			continue
		}
		config := nodePoolConfig{ServiceAccount: p.NodeAccount.Email(p.Project)}
		if c.Option.Facts().NoRepair {
			config.AutoRepair = new(false)
		}
		objects = append(objects, &computeClass{
			TypeMeta:   metav1.TypeMeta{APIVersion: "cloud.google.com/v1", Kind: "ComputeClass"},
			ObjectMeta: kubeyaml.Meta(p.Name, "", c.Name),
			Spec: computeClassSpec{
				NodePoolAutoCreation: enabled{true},
				NodePoolConfig:       config,
				Priorities:           []priority{priorityOf(p, c)},
				// Kueue has admitted the pods to this capacity and to no other.
				WhenUnsatisfiable: "DoNotScaleUp",
			},
		})
	}
	return objects
}

// priorityOf returns the only priority of a capacity's class. The queues, not the
// class, decide which capacity is tried after another.
func priorityOf(p *ir.Platform, c ir.Capacity) priority {
	option := c.Option.Facts()
	out := priority{
		MachineType:           c.Machine.Type,
		MaxRunDurationSeconds: c.MaxRunSeconds,
		Storage: storage{
			BootDiskSize: c.DiskSizeGiB, BootDiskType: c.DiskType, BootDiskKey: p.Security.KMSKey,
			LocalSSDCount: c.LocalSSDs,
		},
	}
	if c.HasGPUs() {
		out.GPU = &gpu{
			Type: c.Machine.Accelerator, Count: c.Machine.AcceleratorCount, DriverVersion: strings.ToLower(c.GPUDriver),
		}
	}
	// For pools that GKE creates, it uses all zones of the platform by default.
	var zones []string
	if !slices.Equal(c.Zones, p.Zones) {
		zones = c.Zones
	}
	switch option.ClassField {
	case "spot":
		out.Spot = true
	case "flexStart":
		out.FlexStart = &enabled{true}
	case "":
	default:
		panic("priority of a ComputeClass has no field " + option.ClassField)
	}
	if option.ClassAffinity != "" {
		out.Reservations = &reservations{Affinity: option.ClassAffinity}
	}
	if c.Reservation != nil {
		// For a specific reservation, the API accepts zones only in this field.
		out.Reservations.Specific = []specificReservation{specificReservationOf(*c.Reservation, zones)}
		zones = nil
	}
	if zones != nil {
		out.Location = &location{Zones: zones}
	}
	if option.TakesReservations() {
		// GKE requires the count if a reservation is consumed, even for local SSDs
		// that come with the machine (GKE documentation: "About custom
		// ComputeClasses").
		out.Storage.LocalSSDCount = c.SSDs()
	}
	return out
}

func specificReservationOf(r ir.ReservationUse, zones []string) specificReservation {
	out := specificReservation{Name: r.Name, Project: r.Owner, Zones: zones}
	if r.Block != "" {
		out.ReservationBlock = &reservationBlock{Name: r.Block}
		if r.SubBlock != "" {
			out.ReservationBlock.ReservationSubBlock = &reservationSubBlock{Name: r.SubBlock}
		}
	}
	return out
}
