package check

import (
	"testing"
)

// TestCheckPools breaks platforms in ways that the provider's schema would accept.
func TestCheckPools(t *testing.T) {
	const (
		pools        = "terraform/node_pools.tf"
		placement    = "terraform/placement.tf"
		reservations = "terraform/reservations.tf"
	)
	breaks{
		{"machine type", "spot", pools, `"g2-standard-24"`, `"g2-standard-25"`},
		{"accelerator", "spot", pools, `"nvidia-l4"`, `"nvidia-tesla-t4"`},
		{"number of accelerators", "spot", pools, "count = 2", "count = 1"},
		{"attached accelerators", "attached GPUs", pools, "count = 2", "count = 3"},
		{
			"accelerator of a TPU machine", "TPU hosts, static", pools, "reservation_affinity {",
			"guest_accelerator {\n type = \"tpu\"\n count = 4\n}\nreservation_affinity {",
		},
		{"GPU taint", "spot", pools, `"nvidia.com/gpu"`, `"gpu"`},
		{"TPU taint", "TPU hosts, static", pools, `"google.com/tpu"`, `"tpu"`},
		{"local SSDs", "local SSDs", pools, "local_ssd_count = 2", "local_ssd_count = 3"},
		{
			"the machine's local SSDs", "reservation, block", pools, "ephemeral_storage_local_ssd_config",
			"local_nvme_ssd_block_config",
		},

		{"half a slice", "TPU slices, static", pools, "node_count     = 4", "node_count     = 2"},
		{"slices that scale to half", "TPU slices, scaling", pools, "max_node_count  = 4", "max_node_count  = 2"},
		{"slices that keep a node", "TPU slices, scaling", pools, "min_node_count  = 0", "min_node_count  = 1"},
		{
			"slices that scale by the total", "TPU slices, scaling", pools, "max_node_count  = 4",
			"total_max_node_count = 4",
		},

		{"slices of one name", "TPU slices, static", pools, "each.key", `"some-0"`},
		{"names of slices", "TPU slices, static", pools, `"some-0-2"`, `"some-0-3"`},
		{"slice without topology", "TPU slices, static", pools, "tpu_topology", "topology"},
		{"slice of one host", "TPU slices, static", pools, `"4x4"`, `"1x1"`},
		{"slices in one pool", "TPU slices, static", pools, "for_each ", "count "},
		{"slice that is not compact", "TPU slices, static", pools, `"COMPACT"`, `"SPREAD"`},
		{
			"linked slice without policy", "TPU slices, linked by a policy", pools,
			"policy_name = google_compute_resource_policy.topology_2x2x2.name", `tpu_topology = "2x2x2"`,
		},
		{
			"policy beside topology", "TPU slices, linked by a policy", pools, "policy_name =",
			"tpu_topology = \"2x2x2\"\npolicy_name =",
		},
		{"linked nodes without policy", "A4X, reservation", pools, "policy_name", "policy"},
		{"policy of another kind", "A4X, reservation", placement, `"HIGH_THROUGHPUT"`, `"HIGH_AVAILABILITY"`},
		{"policy of another topology", "TPU slices, linked by a policy", placement, `"2x2x2"`, `"2x2x4"`},

		{"machines reserved", "batch", reservations, "count = 4", "count = 3"},
		{"machine type reserved", "batch", reservations, `"g2-standard-24"`, `"g2-standard-48"`},
		{"accelerators reserved", "batch", reservations, "accelerator_count = 2", "accelerator_count = 4"},
		{
			"reserved for all", "batch", reservations, "specific_reservation_required = true",
			"specific_reservation_required = false",
		},
		{"zone of a reservation", "batch", pools, `["us-central1-c"]`, "[google_compute_reservation.l4_reserved.zone]"},
		{
			"nobody consumes a reservation", "batch", pools, "[google_compute_reservation.l4_reserved.name]",
			`["machine-reservation"]`,
		},
		{"local SSDs reserved", "reservation, created, local SSDs", reservations, "range(2)", "range(1)"},
		{"interface of local SSDs", "reservation, created, local SSDs", reservations, `"NVME"`, `"SCSI"`},
		{"size of local SSDs", "reservation, created, local SSDs", reservations, "375", "3000"},
	}.checkEdits(t, Pools)
}
