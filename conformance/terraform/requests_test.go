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
	r := open(t, "batch-platform")
	r.prepare(t)
	const reserved = "resource \"google_container_node_pool\" \"l4_reserved\" {\n"
	for _, test := range []struct {
		name string
		edit edit
		want error
	}{
		{"public nodes", edit{"node_pools.tf", "    enable_private_nodes = true\n", ""}, errPublicNodes},
		{"compact nodes from a reservation without a policy", edit{
			"node_pools.tf", reserved, "$0  placement_policy {\n    type = \"COMPACT\"\n  }\n\n",
		}, errOtherPlacement},
	} {
		t.Run(test.name, func(t *testing.T) {
			r.edit(t, test.edit)
			if got := r.plan(t, "apply", "-auto-approve"); !strings.Contains(strings.Join(got.said, "\n"),
				test.want.Error()) {
				t.Errorf("terraform says %q, want %q", got.said, test.want)
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
