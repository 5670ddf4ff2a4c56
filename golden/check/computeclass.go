package check

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/catalog"
)

// computeClass is the part of GKE's ComputeClass that a manifest may use: the
// documented fields for the kinds of capacity. Pointers distinguish written fields
// from missing ones.
type computeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		NodePoolAutoCreation struct {
			Enabled bool `json:"enabled"`
		} `json:"nodePoolAutoCreation"`
		NodePoolConfig struct {
			AutoRepair     *bool  `json:"autoRepair,omitempty"`
			ServiceAccount string `json:"serviceAccount"`
		} `json:"nodePoolConfig"`
		Priorities        []classPriority `json:"priorities"`
		WhenUnsatisfiable string          `json:"whenUnsatisfiable"`
	} `json:"spec"`
}

type classPriority struct {
	FlexStart *struct {
		Enabled bool `json:"enabled"`
	} `json:"flexStart,omitempty"`
	GPU *struct {
		Count         int64  `json:"count"`
		DriverVersion string `json:"driverVersion"`
		Type          string `json:"type"`
	} `json:"gpu,omitempty"`
	Location *struct {
		Zones []string `json:"zones"`
	} `json:"location,omitempty"`
	MachineType           string `json:"machineType"`
	MaxRunDurationSeconds *int   `json:"maxRunDurationSeconds,omitempty"`
	Reservations          *struct {
		Affinity string `json:"affinity"`
		Specific []struct {
			Name             string `json:"name"`
			Project          string `json:"project,omitempty"`
			ReservationBlock *struct {
				Name                string `json:"name"`
				ReservationSubBlock *struct {
					Name string `json:"name"`
				} `json:"reservationSubBlock,omitempty"`
			} `json:"reservationBlock,omitempty"`
			Zones []string `json:"zones,omitempty"`
		} `json:"specific,omitempty"`
	} `json:"reservations,omitempty"`
	Spot    *bool `json:"spot,omitempty"`
	Storage struct {
		BootDiskSize  int    `json:"bootDiskSize,omitempty"`
		BootDiskType  string `json:"bootDiskType,omitempty"`
		BootDiskKey   string `json:"bootDiskKMSKey,omitempty"`
		LocalSSDCount int    `json:"localSSDCount,omitempty"`
	} `json:"storage"`
}

// DeepCopyObject makes the type usable in a scheme. Nothing here copies objects.
func (c *computeClass) DeepCopyObject() runtime.Object { return c }

func addComputeClass(scheme *runtime.Scheme) error {
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "cloud.google.com", Version: "v1", Kind: "ComputeClass"},
		&computeClass{})
	return nil
}

const computeClassLabel = "cloud.google.com/compute-class"

// computeClass checks the rules of the API server for a ComputeClass, and that a
// flavor represents its nodes.
func (c *kubernetesCheck) computeClass(from objectKey, class *computeClass) {
	if !class.Spec.NodePoolAutoCreation.Enabled || class.Spec.WhenUnsatisfiable != "DoNotScaleUp" ||
		len(class.Spec.Priorities) != 1 {
		c.errorf("%s: GKE would create no nodes for it, or others than it says", from)
	}
	for _, p := range class.Spec.Priorities {
		r, spot, flex := p.Reservations, p.Spot != nil && *p.Spot, p.FlexStart != nil && p.FlexStart.Enabled
		m, _ := catalog.Lookup(p.MachineType)
		switch {
		case p.MachineType == "":
			c.errorf("%s: no machine type", from)
		case spot && flex:
			c.errorf("%s: flex-start nodes are not Spot nodes", from)
		case flex != (p.MaxRunDurationSeconds != nil) || flex != (class.Spec.NodePoolConfig.AutoRepair != nil):
			c.errorf("%s: flex-start nodes run for a time and are not repaired, others are", from)
		case r != nil && (spot || flex):
			c.errorf("%s: Spot and flex-start nodes come from no reservation", from)
		case r != nil && !slices.Contains([]string{"Specific", "AnyBestEffort", "AnyThenFail", "None"}, r.Affinity):
			c.errorf("%s: there is no affinity %q", from, r.Affinity)
		case r != nil && (r.Affinity == "Specific") != (len(r.Specific) > 0):
			c.errorf("%s: affinity %s and %d reservations", from, r.Affinity, len(r.Specific))
		case r != nil && r.Affinity == "Specific" && p.Location != nil:
			c.errorf("%s: a specific reservation has zones of its own", from)
		case r != nil && r.Affinity != "None" && p.Storage.LocalSSDCount < m.SSDs.Bundled:
			c.errorf("%s: a reservation of %s has %d local SSDs, and the class asks for %d", from, m.Type,
				m.SSDs.Bundled, p.Storage.LocalSSDCount)
		case r == nil && !spot && !flex:
			c.errorf("%s: nodes on demand would eat what others reserved", from)
		case p.GPU != nil && !slices.Contains([]string{"default", "latest"}, p.GPU.DriverVersion):
			c.errorf("%s: there is no driver version %q", from, p.GPU.DriverVersion)
		}
	}
	flavor, ok := findObject[*v1beta2.ResourceFlavor](c, from, "ResourceFlavor", "", class.Name)
	if ok && flavor.Spec.NodeLabels[computeClassLabel] != class.Name {
		c.errorf("%s: its nodes are not those of %s", from, keyOf(flavor))
	}
}

// classFlavor checks the flavor of a ComputeClass's nodes. GKE labels them with the
// class's name, and pods must select them only by this label.
func (c *kubernetesCheck) classFlavor(from objectKey, f *v1beta2.ResourceFlavor) {
	name, isClass := f.Spec.NodeLabels[computeClassLabel]
	if !isClass {
		return
	}
	class, ok := findObject[*computeClass](c, from, "ComputeClass", "", name)
	if !ok {
		return
	}
	if !maps.Equal(f.Spec.NodeLabels, map[string]string{computeClassLabel: f.Name}) {
		c.errorf("%s: pods of a ComputeClass select the class alone, not %v", from, f.Spec.NodeLabels)
	}
	want := []string{computeClassLabel + "=" + name + ":NoSchedule"}
	for _, p := range class.Spec.Priorities {
		if p.GPU != nil {
			want = append(want, "nvidia.com/gpu=present:NoSchedule")
		}
		if m, _ := catalog.Lookup(p.MachineType); m.Arch == "arm64" {
			want = append(want, "kubernetes.io/arch=arm64:NoSchedule")
		}
	}
	if got := flavorTaints(*f); !equalSets(got, want) {
		c.errorf("%s: GKE taints its nodes %q, not %q", from, want, got)
	}
}
