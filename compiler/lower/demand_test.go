package lower

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
)

// demandL4 and demandA100 are the batch reference platform's machines.
var (
	demandL4 = ir.Machine{
		Type: "g2-standard-24", Family: "g2", VCPUs: 24, MemoryGiB: 96, Accelerator: "nvidia-l4", AcceleratorCount: 2,
		Resource: "nvidia.com/gpu",
	}
	demandA100 = ir.Machine{
		Type: "a2-highgpu-1g", Family: "a2", VCPUs: 12, MemoryGiB: 85, Accelerator: "nvidia-tesla-a100",
		AcceleratorCount: 1, Resource: "nvidia.com/gpu",
	}
)

// demandV6e is one of four hosts of a TPU slice.
var demandV6e = ir.Machine{Type: "ct6e-standard-4t", Family: "ct6e", VCPUs: 180, Accelerator: "tpu-v6e-slice",
	AcceleratorCount: 4, Resource: ir.TPU,
	Slice: &ir.Slice{Topology: "4x4", Chips: 16, Hosts: 4}}

func demandChips(n string) []ir.Amount {
	return []ir.Amount{{Resource: ir.TPU, Quantity: resource.MustParse(n)}}
}

// demandAmounts are accelerators, cpu and memory in the order of a plan.
func demandAmounts(gpu, cpu, memory string) []ir.Amount {
	return []ir.Amount{
		{Resource: "cpu", Quantity: resource.MustParse(cpu)},
		{Resource: "memory", Quantity: resource.MustParse(memory)},
		{Resource: "nvidia.com/gpu", Quantity: resource.MustParse(gpu)},
	}
}

// demandPlatform is the batch reference platform: four teams, each with 4 L4
// reserved, 4 on demand, 12 Spot and 2 Spot A100 of nominal quota.
func demandPlatform() *ir.Platform {
	node := demandAmounts("2", "22", "80Gi")
	return &ir.Platform{
		Scheduler: ir.Kueue,
		Zones:     []string{"us-central1-a", "us-central1-b", "us-central1-c"},
		SystemPool: ir.SystemPool{
			Machine: "e2-standard-4", Family: "e2", VCPUs: 4, MemoryGiB: 16, DiskType: "pd-balanced", DiskSizeGiB: 100,
			NodesPerZone: 2,
		},
		Capacities: []ir.Capacity{
			{Name: "a100-compact", Machine: demandA100, Option: ir.Spot, MaxNodes: 100, AutoProvisioned: true,
				DiskType: "pd-balanced", DiskSizeGiB: 100,
				PerNode: demandAmounts("1", "11", "70Gi"), Guaranteed: demandAmounts("8", "80", "480Gi")},
			{Name: "l4-ondemand", Machine: demandL4, Option: ir.OnDemand, MaxNodes: 24, DiskType: "pd-balanced",
				DiskSizeGiB: 100,
				PerNode:     node, Guaranteed: demandAmounts("16", "16", "80Gi")},
			{Name: "l4-reserved", Machine: demandL4, Option: ir.Reservation, Static: true, MaxNodes: 4,
				DiskType: "pd-balanced", DiskSizeGiB: 100,
				Reservation: &ir.ReservationUse{Name: "machine-reservation", Create: true},
				PerNode:     node, Guaranteed: demandAmounts("16", "16", "80Gi")},
			{Name: "l4-spot", Machine: demandL4, Option: ir.Spot, MaxNodes: 36, DiskType: "pd-balanced",
				DiskSizeGiB: 100,
				PerNode:     node, Guaranteed: demandAmounts("48", "48", "240Gi")},
		},
		AutoProvisioning: ir.AutoProvisioning{Create: true, Limits: []ir.ResourceLimit{
			{Type: "cpu", Min: 4, Max: 1000}, {Type: "memory", Min: 16, Max: 4000},
			{Type: "nvidia-l4", Max: 300}, {Type: "nvidia-tesla-a100", Max: 100},
		}},
	}
}

// The batch reference platform's own documentation asks for "about 60 L4, 30
// Spot A100 and up to 600 CPUs". Here that is 24 (admitted) to 56 (ceiling) L4
// besides 48 to 72 Spot L4, 8 to 100 Spot A100, and more vCPUs: a machine
// counts with all of its 24, of which the quotas hand out one a GPU.
func TestDemandOfBatchPlatform(t *testing.T) {
	const (
		capped = "node auto-provisioning limits the whole cluster to 1000"
		spot   = "Spot machines count in PREEMPTIBLE_CPUS if the project has this quota; "
	)
	want := []ir.DemandRow{
		// 8 reserved of the 16 guaranteed, which exceed the reservation, and 16 on demand.
		{
			Metric: "NVIDIA_L4_GPUS", What: "nvidia-l4, on demand and reserved", Standing: 8, Admitted: 24, Ceiling: 56,
			Unit: "GPUs",
		},
		{Metric: "PREEMPTIBLE_NVIDIA_A100_GPUS", What: "nvidia-tesla-a100, Spot and flex-start", Admitted: 8,
			Ceiling: 100, Unit: "GPUs",
			Note: "if the project does not have this quota, they count in NVIDIA_A100_GPUS"},
		{Metric: "PREEMPTIBLE_NVIDIA_L4_GPUS", What: "nvidia-l4, Spot and flex-start", Admitted: 48, Ceiling: 72,
			Unit: "GPUs",
			Note: "if the project does not have this quota, they count in NVIDIA_L4_GPUS"},
		{
			Metric: "A2_CPUS", What: "machines of family a2", Admitted: 96, Ceiling: 1000, Unit: "vCPUs",
			Note: spot + capped,
		},
		{Metric: "CPUS", What: "machines of family e2", Standing: 24, Admitted: 24, Ceiling: 24, Unit: "vCPUs",
			Note: "if the project has the quota E2_CPUS, e2 machines count there instead"},
		{What: "machines of family g2", Standing: 96, Admitted: 864, Ceiling: 1000, Unit: "vCPUs",
			Note: "the metric's name is not verified; Google's Cluster Toolkit checks no vCPU quota for this family; " +
				spot + capped},
		{
			Metric: "SSD_TOTAL_GB", What: "boot disks of type pd-balanced", Standing: 1000, Admitted: 5000,
			Ceiling: 17000, Unit: "GB",
		},
		{Metric: "GPUS_ALL_REGIONS", What: "GPUs of the project in all regions", Standing: 8, Admitted: 80,
			Ceiling: 228, Unit: "GPUs",
			Note: "newer projects do not have this quota; whether Spot GPUs count is not verified"},
	}
	if diff := cmp.Diff(want, lowerDemand(demandPlatform()).Rows); diff != "" {
		t.Errorf("demand (-want +got):\n%s", diff)
	}
}

func TestAutoProvisioningNeed(t *testing.T) {
	p := demandPlatform()
	// 36 g2-standard-24, of which the quotas admit 4 + 8 + 24, 8 a2-highgpu-1g
	// and 6 e2-standard-4.
	const wantCPUs, wantMemory = 36*24 + 8*12 + 6*4, 36*96 + 8*85 + 6*16
	if vcpus, memory := autoProvisioningNeed(p); vcpus != wantCPUs || memory != wantMemory {
		t.Errorf("autoProvisioningNeed = %d vCPUs, %d GiB, want %d, %d", vcpus, memory, wantCPUs, wantMemory)
	}
	if d := lowerDemand(p); d.VCPUs != wantCPUs || d.MemoryGiB != wantMemory {
		t.Errorf("demand = %d vCPUs, %d GiB, want %d, %d", d.VCPUs, d.MemoryGiB, wantCPUs, wantMemory)
	}
}

func TestDemandMetrics(t *testing.T) {
	h200 := ir.Machine{
		Type: "a3-ultragpu-8g", Family: "a3", VCPUs: 224, Accelerator: "nvidia-h200-141gb", AcceleratorCount: 8,
		Resource: "nvidia.com/gpu",
	}
	gb200 := ir.Machine{
		Type: "a4x-highgpu-4g", Family: "a4x", VCPUs: 140, Accelerator: "nvidia-gb200", AcceleratorCount: 4,
		Resource: "nvidia.com/gpu",
	}
	tests := []struct {
		name string
		c    ir.Capacity
		want ir.DemandRow // looked up by its metric and what it counts
	}{
		{"newer GPU, reserved elsewhere",
			ir.Capacity{
				Machine: h200, Option: ir.Reservation, MaxNodes: 2,
				Reservation: &ir.ReservationUse{Name: "r", Owner: "other-project"},
			},
			ir.DemandRow{Metric: "gpus_per_gpu_family (gpu_family=NVIDIA_H200)",
				What: "nvidia-h200-141gb, on demand and reserved", Ceiling: 16, Unit: "GPUs",
				Note: "seen in projects, but not documented by Google; " +
					"includes reservation r of project other-project; " +
					"whether it uses quota of this project is not verified"}},
		{"flex-start spends preemptible quota",
			ir.Capacity{Machine: h200, Option: ir.QueuedFlexStart, MaxNodes: 2},
			ir.DemandRow{Metric: "PREEMPTIBLE_NVIDIA_H200_GPUS", What: "nvidia-h200-141gb, Spot and flex-start",
				Ceiling: 16, Unit: "GPUs",
				Note: "if the project does not have this quota, they count in " +
					"gpus_per_gpu_family (gpu_family=NVIDIA_H200)"}},
		{"queued provisioning",
			ir.Capacity{
				Machine: h200, Option: ir.QueuedFlexStart, MaxNodes: 2,
				PerNode: demandAmounts("8", "200", "1Ti"), Guaranteed: demandAmounts("512", "512", "1Ti"),
			},
			ir.DemandRow{Metric: "active_resize_requests",
				What:     "open requests of queued flex-start, one for each workload",
				Admitted: 512, Ceiling: 512, Unit: "requests",
				Note: "at most one for each accelerator of quota; the default quota of a project is 100"}},
		{"unverified GPU",
			ir.Capacity{Machine: gb200, Option: ir.Reservation, MaxNodes: 18},
			ir.DemandRow{
				What: "nvidia-gb200, on demand and reserved", Ceiling: 72, Unit: "GPUs",
				Note: "the metric's name is not verified",
			}},
		{"unverified family",
			ir.Capacity{Machine: gb200, Option: ir.Reservation, MaxNodes: 18},
			ir.DemandRow{
				What: "machines of family a4x", Ceiling: 2520, Unit: "vCPUs", Note: "the metric's name is not verified",
			}},
		{"TPU",
			ir.Capacity{
				Machine: ir.Machine{
					Type: "ct5lp-hightpu-4t", Family: "ct5lp", Accelerator: "tpu-v5-lite-podslice", AcceleratorCount: 4,
					Resource: "google.com/tpu",
				}, Option: ir.Spot, MaxNodes: 4,
			},
			ir.DemandRow{Metric: "PREEMPTIBLE_TPU_LITE_PODSLICE_V5", What: "tpu-v5-lite-podslice, Spot and flex-start",
				Ceiling: 16, Unit: "chips",
				Note: "if the project does not have this quota, they count in TPU_LITE_PODSLICE_V5"}},
		{"TPU slices count with all their hosts",
			ir.Capacity{
				Machine: demandV6e, Option: ir.OnDemand, MaxNodes: 8, Slices: 2, PerNode: demandChips("4"),
				Guaranteed: demandChips("4"),
			},
			ir.DemandRow{Metric: "tpus_per_tpu_family (tpu_family=CT6E)", What: "tpu-v6e-slice, on demand and reserved",
				Admitted: 16, Ceiling: 32, Unit: "chips",
				Note: "seen in projects, but not documented by Google"}},
		{"vCPUs beside TPUs",
			ir.Capacity{Machine: demandV6e, Option: ir.OnDemand, MaxNodes: 8, Slices: 2},
			ir.DemandRow{
				What: "machines of family ct6e", Ceiling: 1440, Unit: "vCPUs",
				Note: "whether machines with TPUs use vCPU quota is not verified",
			}},
		{"requests for TPU slices",
			ir.Capacity{
				Machine: demandV6e, Option: ir.QueuedFlexStart, MaxNodes: 8, Slices: 2,
				PerNode: demandChips("4"), Guaranteed: demandChips("32"),
			},
			ir.DemandRow{Metric: "active_resize_requests",
				What:     "open requests of queued flex-start, one for each workload",
				Admitted: 2, Ceiling: 2, Unit: "requests",
				Note: "at most one for each TPU slice of quota; the default quota of a project is 100"}},
		{"requests for machines without accelerators",
			ir.Capacity{
				Machine: ir.Machine{Family: "h4d", VCPUs: 192}, Option: ir.QueuedFlexStart, MaxNodes: 2,
				PerNode: demandAmounts("0", "190", "1Ti")[:2], Guaranteed: demandAmounts("0", "380", "1Ti")[:2]},
			ir.DemandRow{Metric: "active_resize_requests",
				What:     "open requests of queued flex-start, one for each workload",
				Admitted: 380, Ceiling: 380, Unit: "requests",
				Note: "at most one for each vCPU of quota; the default quota of a project is 100"}},
		{"any reservation",
			ir.Capacity{
				Name: "l4-any", Machine: demandL4, Option: ir.AnyReservation, MaxNodes: 2,
			},
			ir.DemandRow{Metric: "NVIDIA_L4_GPUS", What: "nvidia-l4, on demand and reserved", Ceiling: 4, Unit: "GPUs",
				Note: "includes l4-any, whose nodes from a reservation need no more quota than the reservation " +
					"already uses"}},
		{"future reservation that has not begun",
			ir.Capacity{
				Machine: demandL4, Option: ir.Reservation, Static: true, MinNodes: 2, MaxNodes: 2, Waiting: true,
				Reservation: &ir.ReservationUse{Name: "r", Kind: "future"},
			},
			ir.DemandRow{Metric: "NVIDIA_L4_GPUS", What: "nvidia-l4, on demand and reserved", Ceiling: 4, Unit: "GPUs",
				Note: "includes reservation r, which uses quota from the day on which it begins"}},
		{"CPUs of a reservation that has not begun",
			ir.Capacity{
				Machine: ir.Machine{Type: "c3-standard-8", Family: "c3", VCPUs: 8}, Option: ir.Reservation, MaxNodes: 2,
				Waiting: true, Reservation: &ir.ReservationUse{Name: "r"},
			},
			ir.DemandRow{
				Metric: "C3_CPUS", What: "machines of family c3", Ceiling: 16, Unit: "vCPUs",
				Note: "includes reservation r, which uses quota from the day on which it begins",
			}},
		{"ComputeClass",
			ir.Capacity{
				Machine: demandL4, Option: ir.Spot, ComputeClass: true, MaxNodes: 2,
				PerNode: demandAmounts("2", "22", "80Gi"), Guaranteed: demandAmounts("1", "1", "1Gi"),
			},
			ir.DemandRow{Metric: "PREEMPTIBLE_NVIDIA_L4_GPUS", What: "nvidia-l4, Spot and flex-start", Admitted: 2,
				Ceiling: 4, Unit: "GPUs",
				Note: "if the project does not have this quota, they count in NVIDIA_L4_GPUS"}},
		{"local SSDs, of the machine and asked for",
			ir.Capacity{
				Machine: ir.Machine{Family: "a2", BundledSSDs: 2, SSDSizeGB: 375}, Option: ir.Spot, LocalSSDs: 1,
				MaxNodes: 2,
			},
			ir.DemandRow{Metric: "LOCAL_SSD_TOTAL_GB", What: "local SSDs of machines of family a2", Ceiling: 2250,
				Unit: "GB",
				Note: "if the project has the quota local_ssd_total_storage_per_vm_family, they count there instead; " +
					"Spot machines count in PREEMPTIBLE_LOCAL_SSD_GB if the project has this quota"}},
		{"disk",
			ir.Capacity{
				Option: ir.OnDemand, Machine: h200, MaxNodes: 2, DiskType: "hyperdisk-balanced", DiskSizeGiB: 150,
			},
			ir.DemandRow{
				Metric: "HYPERDISK_BALANCED_TOTAL_GB", What: "boot disks of type hyperdisk-balanced", Ceiling: 300,
				Unit: "GB",
			}},
	}
	for _, tt := range tests {
		found := false
		for _, row := range lowerDemand(&ir.Platform{Scheduler: ir.Kueue, Capacities: []ir.Capacity{tt.c}}).Rows {
			if row.Metric == tt.want.Metric && row.What == tt.want.What {
				found = true
				if diff := cmp.Diff(tt.want, row); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tt.name, diff)
				}
			}
		}
		if !found {
			t.Errorf("%s: no row %q %q", tt.name, tt.want.Metric, tt.want.What)
		}
	}
}

// TestDemandOfCalendarReservations checks that Google counts only their disks.
func TestDemandOfCalendarReservations(t *testing.T) {
	p := &ir.Platform{Scheduler: ir.Kueue, Capacities: []ir.Capacity{{
		Machine: demandL4, Option: ir.Calendar, Static: true, MinNodes: 2, MaxNodes: 2, DiskType: "pd-balanced",
		DiskSizeGiB: 100,
		Reservation: &ir.ReservationUse{Name: "r", Kind: ir.CalendarReservation},
	}}}
	want := []ir.DemandRow{
		{
			Metric: "SSD_TOTAL_GB", What: "boot disks of type pd-balanced", Standing: 200, Admitted: 200, Ceiling: 200,
			Unit: "GB",
		},
	}
	if diff := cmp.Diff(want, lowerDemand(p).Rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDemandOfCPUMachinesHasNoGPUs(t *testing.T) {
	p := &ir.Platform{
		Scheduler: ir.Kueue,
		Zones:     []string{"us-central1-a"},
		SystemPool: ir.SystemPool{
			Machine: "e2-standard-4", Family: "e2", VCPUs: 4, DiskType: "pd-standard", DiskSizeGiB: 100,
			NodesPerZone: 1,
		},
		Capacities: []ir.Capacity{
			{
				Machine: ir.Machine{Type: "n1-standard-8", Family: "n1", VCPUs: 8}, Option: ir.OnDemand, MaxNodes: 3,
				DiskType: "pd-standard",
			},
		},
	}
	want := []ir.DemandRow{
		{
			Metric: "CPUS", What: "machines of family e2, n1", Standing: 4, Admitted: 4, Ceiling: 28, Unit: "vCPUs",
			Note: "if the project has the quota E2_CPUS, e2 machines count there instead",
		},
		{
			Metric: "DISKS_TOTAL_GB", What: "boot disks of type pd-standard", Standing: 100, Admitted: 100,
			Ceiling: 100, Unit: "GB",
		},
	}
	if diff := cmp.Diff(want, lowerDemand(p).Rows); diff != "" {
		t.Errorf("demand (-want +got):\n%s", diff)
	}
}

func TestDemandLimitNeverCutsWhatStands(t *testing.T) {
	p := &ir.Platform{
		Scheduler: ir.Kueue,
		Capacities: []ir.Capacity{
			{Machine: demandA100, Option: ir.Spot, Static: true, MaxNodes: 10},
			{Machine: demandA100, Option: ir.Spot, MaxNodes: 10},
		},
		AutoProvisioning: ir.AutoProvisioning{
			Create: true, Limits: []ir.ResourceLimit{{Type: "nvidia-tesla-a100", Max: 5}},
		},
	}
	row := lowerDemand(p).Rows[0]
	if row.Standing != 10 || row.Admitted != 10 || row.Ceiling != 10 {
		t.Errorf("row = %+v, want 10, 10, 10", row)
	}
}

func TestDemandOfNetworks(t *testing.T) {
	p := &ir.Platform{Scheduler: ir.Kueue, Zones: []string{"us-central1-a"}}
	row := func() *ir.DemandRow {
		for _, r := range lowerDemand(p).Rows {
			if r.Metric == "NETWORKS" {
				return &r
			}
		}
		return nil
	}
	if r := row(); r != nil {
		t.Errorf("one network is %+v, want no row", r)
	}
	p.Network.GPUs = make([]ir.GPUNetwork, 2)
	if r := row(); r == nil || r.Standing != 3 || r.Ceiling != 3 {
		t.Errorf("with two networks between GPUs the row is %+v, want 3", r)
	}
}
