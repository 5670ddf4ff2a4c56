package kubernetes_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

// classedPlan is a plan with one capacity that GKE obtains by a ComputeClass.
func classedPlan(edit func(*ir.Capacity)) *ir.Platform {
	c := ir.Capacity{
		Name: "l4-class", ComputeClass: true, Option: ir.OnDemand, Zones: []string{"us-central1-a", "us-central1-b"},
		Machine:  ir.Machine{Type: "g2-standard-24", Accelerator: "nvidia-l4", AcceleratorCount: 2, Resource: ir.GPU},
		DiskType: "pd-balanced", DiskSizeGiB: 100, GPUDriver: "DEFAULT",
	}
	edit(&c)
	return &ir.Platform{
		Scheduler: ir.Kueue,
		Name:      "demo", Project: "my-project", Zones: []string{"us-central1-a", "us-central1-b"},
		NodeAccount: ir.ServiceAccount{ID: "demo-nodes"},
		Capacities:  []ir.Capacity{{Option: ir.OnDemand, Name: "a-pool"}, c},
	}
}

func TestComputeClasses(t *testing.T) {
	const head = `apiVersion: cloud.google.com/v1
kind: ComputeClass
metadata:
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: demo
  name: l4-class
spec:
  nodePoolAutoCreation:
    enabled: true
  nodePoolConfig:
    serviceAccount: demo-nodes@my-project.iam.gserviceaccount.com
  priorities:
`
	const (
		gpu = `  - gpu:
      count: 2
      driverVersion: default
      type: nvidia-l4
`
		storage = `    storage:
      bootDiskSize: 100
      bootDiskType: pd-balanced
`
		tail = "  whenUnsatisfiable: DoNotScaleUp\n"
	)
	for _, test := range []struct {
		name string
		edit func(*ir.Capacity)
		want string
	}{
		{"on demand", func(*ir.Capacity) {}, head + gpu + `    machineType: g2-standard-24
    reservations:
      affinity: None
    spot: false
` + storage + tail},
		{"spot", func(c *ir.Capacity) { c.Option = ir.Spot }, head + gpu + `    machineType: g2-standard-24
    spot: true
` + storage + tail},
		{"reservation", func(c *ir.Capacity) {
			c.Option, c.Reservation = ir.Reservation, &ir.ReservationUse{Name: "ours"}
		}, head + gpu + `    machineType: g2-standard-24
    reservations:
      affinity: Specific
      specific:
      - name: ours
    spot: false
` + storage + tail},
		{"part of another project's reservation in one zone", func(c *ir.Capacity) {
			c.Option, c.Reservation = ir.Reservation, &ir.ReservationUse{
				Name: "theirs", Owner: "owner", Block: "b1", SubBlock: "s2",
			}
			c.Zones = c.Zones[1:]
		}, head + gpu + `    machineType: g2-standard-24
    reservations:
      affinity: Specific
      specific:
      - name: theirs
        project: owner
        reservationBlock:
          name: b1
          reservationSubBlock:
            name: s2
        zones:
        - us-central1-b
    spot: false
` + storage + tail},
		{"any reservation in one zone, else on demand", func(c *ir.Capacity) {
			c.Option, c.Zones = ir.AnyReservation, c.Zones[:1]
		}, head + gpu + `    location:
      zones:
      - us-central1-a
    machineType: g2-standard-24
    reservations:
      affinity: AnyBestEffort
    spot: false
` + storage + tail},
		{"any reservation, else none", func(c *ir.Capacity) {
			c.Option = ir.AnyReservationOnly
		}, head + gpu + `    machineType: g2-standard-24
    reservations:
      affinity: AnyThenFail
    spot: false
` + storage + tail},
		{"flex-start", func(c *ir.Capacity) {
			c.Option, c.MaxRunSeconds, c.GPUDriver = ir.FlexStart, 86400, "LATEST"
		}, strings.Replace(head, "nodePoolConfig:\n", "nodePoolConfig:\n    autoRepair: false\n", 1) + `  - flexStart:
      enabled: true
    gpu:
      count: 2
      driverVersion: latest
      type: nvidia-l4
    machineType: g2-standard-24
    maxRunDurationSeconds: 86400
    spot: false
` + storage + tail},
		{"any reservation of machines with local SSDs", func(c *ir.Capacity) {
			c.Option, c.Machine.BundledSSDs = ir.AnyReservationOnly, 2
		}, head + gpu + `    machineType: g2-standard-24
    reservations:
      affinity: AnyThenFail
    spot: false
` + storage + "      localSSDCount: 2\n" + tail},
		{"spot machines with local SSDs", func(c *ir.Capacity) {
			c.Option, c.Machine.BundledSSDs = ir.Spot, 2
		}, head + gpu + `    machineType: g2-standard-24
    spot: true
` + storage + tail},
		{"no GPUs, local SSDs", func(c *ir.Capacity) {
			c.Option, c.LocalSSDs, c.GPUDriver = ir.Spot, 4, ""
			c.Machine = ir.Machine{Type: "c3-standard-22"}
		}, head + `  - machineType: c3-standard-22
    spot: true
` + storage + "      localSSDCount: 4\n" + tail},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := renderFiles(t, classedPlan(test.edit))
			if diff := cmp.Diff(test.want, got["kubernetes/compute-classes.yaml"]); diff != "" {
				t.Errorf("compute class (-want +got):\n%s", diff)
			}
			if order := "- compute-classes.yaml\n- resource-flavors.yaml\n"; !strings.Contains(
				got["kubernetes/kustomization.yaml"], order) {
				t.Errorf("no %q in\n%s", order, got["kubernetes/kustomization.yaml"])
			}
		})
	}
	if _, there := renderFiles(t, testPlan())["kubernetes/compute-classes.yaml"]; there {
		t.Error("a plan without ComputeClasses has a file of them")
	}
}
