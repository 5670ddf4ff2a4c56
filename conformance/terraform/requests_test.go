package terraform

import (
	"strings"
	"testing"
)

// TestPrivateNodes checks that every request for a pool asks for private nodes.
func TestPrivateNodes(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"a3-ultra-flex", "batch-platform"} {
		t.Run(form, func(t *testing.T) {
			r := open(t, form)
			r.prepare(t)
			pools := r.create(t).kinds()["google_container_node_pool"]
			if len(r.cloud.pools) != pools {
				t.Fatalf("%d requests for %d pools", len(r.cloud.pools), pools)
			}
			for _, pool := range r.cloud.pools {
				if private := pool.enablePrivateNodes; private == nil || !*private {
					t.Errorf("the request for %s does not contain enablePrivateNodes: true", pool.name)
				}
			}
		})
	}
}

// TestRefusals checks that the double refuses what Google's APIs refuse.
func TestRefusals(t *testing.T) {
	t.Parallel()
	// second returns an edit that puts another pool on a reservation.
	second := func(pool, machine, reservation string) edit {
		before := "resource \"google_container_node_pool\" \"" + pool + "\" {\n"
		return edit{"node_pools.tf", before, `resource "google_container_node_pool" "second" {
  name           = "second"
  cluster        = google_container_cluster.main.name
  location       = google_container_cluster.main.location
  node_locations = google_container_node_pool.` + pool + `.node_locations
  node_count     = 1

  node_config {
    machine_type = "` + machine + `"

    reservation_affinity {
      consume_reservation_type = "SPECIFIC_RESERVATION"
      key                      = "compute.googleapis.com/reservation-name"
      values                   = [` + reservation + `]
    }
  }

  depends_on = [google_container_node_pool.` + pool + `]
}

$0`}
	}
	const created = "google_compute_reservation.l4_reserved.name"
	for form, tests := range map[string][]struct {
		name string
		edit edit
		want error
	}{
		"batch-platform": {
			{"public nodes", edit{"node_pools.tf", "    enable_private_nodes = true\n", ""}, errPublicNodes},
			{"compact nodes from a reservation without a policy", edit{
				"node_pools.tf", "resource \"google_container_node_pool\" \"l4_reserved\" {\n",
				"$0  placement_policy {\n    type = \"COMPACT\"\n  }\n\n",
			}, errOtherPlacement},
			{"two machine types", second("l4_reserved", "g2-standard-48", created), errOtherMachine},
			{"a reservation that another pool fills", second("l4_reserved", "g2-standard-24", created), errFull},
		},
		"kai-departments": { // whose reservation is of somebody else
			{"two machine types", second("h100_reserved", "a3-megagpu-8g", `"h100-reservation"`), errOtherMachine},
		},
	} {
		t.Run(form, func(t *testing.T) {
			r := open(t, form)
			r.prepare(t)
			for _, test := range tests {
				t.Run(test.name, func(t *testing.T) {
					r.edit(t, test.edit)
					if got := r.plan(t, "apply", "-auto-approve"); !strings.Contains(strings.Join(got.said, "\n"),
						test.want.Error()) {
						t.Errorf("terraform says %q, want %q", got.said, test.want)
					}
				})
			}
		})
	}
}

// TestRights checks that a build can read exactly the resources that its script
// gives it a right to.
func TestRights(t *testing.T) {
	t.Parallel()
	const script = `ROLES=(
  'roles/compute.networkAdmin'
)
PERMISSIONS=(
  'compute.reservations.get'
)
`
	for _, test := range []struct{ script, kind, want string }{
		{script, "google_compute_network", ""},
		{script, "google_project_iam_member", ""},
		{script, "google_compute_reservation", "compute.reservationBlocks.list"},
		{script, "google_container_cluster", "container.clusters.get"},
		{
			strings.Replace(script, "compute.networkAdmin", "container.admin", 1), "google_container_node_pool",
			"compute.instanceGroupManagers.list",
		},
		{script, "google_compute_disk", "is not in readPermissions"},
	} {
		err := readRights(test.script).read(test.kind)
		if err == nil && test.want != "" ||
			err != nil && (test.want == "" || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.kind, err, test.want)
		}
	}
}
