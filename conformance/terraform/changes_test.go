package terraform

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestChanges applies changes to an existing platform, as a compiled blueprint or
// an edited tfvars makes them, and checks what Terraform does to the resources.
func TestChanges(t *testing.T) {
	t.Parallel()
	r := open(t, "batch-platform")
	r.prepare(t)
	r.create(t)
	for _, test := range []struct {
		name string
		edit edit
		want []string
	}{
		{"a comment", edit{"terraform.tfvars", "teams = {", "# Ours.\n$0"}, nil},
		{"a team more", edit{"terraform.tfvars", "teams = {", `$0
  team-e = {
    namespace    = "team-e"
    kube_account = "team-e-ksa"
    account      = "wi-team-e@my-project.iam.gserviceaccount.com"
    roles        = ["roles/logging.logWriter", "roles/monitoring.metricWriter"]
    bucket       = "my-project-gke-batch-team-e"
  }`}, []string{
			"create google_storage_bucket.team 1", "create google_storage_bucket_iam_policy.team 1",
			"update google_project_iam_binding.team 2",
		}},
		{
			"a team with nothing of its own",
			edit{
				"terraform.tfvars", "teams = {",
				"$0\n  team-e = { namespace = \"team-e\", kube_account = \"team-e-ksa\" }",
			}, nil,
		},
		{"a team's account", edit{"terraform.tfvars", `"wi-team-a@`, `"wi-research@`}, []string{
			"update google_project_iam_binding.team 2", "update google_storage_bucket_iam_policy.team 1",
		}},
		{"no account of a team",
			edit{"terraform.tfvars", `    account      = "wi-team-a@my-project.iam.gserviceaccount.com"` + "\n", ""},
			[]string{
				"update google_project_iam_binding.team 2", "update google_storage_bucket_iam_policy.team 1",
			}},
		{"a team's bucket", edit{"terraform.tfvars", "    bucket = \"my-project-gke-batch-team-a\"\n", ""}, []string{
			"delete google_storage_bucket.team 1", "delete google_storage_bucket_iam_policy.team 1",
		}},
		{
			"who reaches the control plane",
			edit{
				"terraform.tfvars", "authorized_networks   = {}", `authorized_networks = { office = "203.0.113.0/24" }`,
			}, []string{"update google_container_cluster.main 1"},
		},
		{
			"protection", edit{"terraform.tfvars", "deletion_protection   = true", "deletion_protection = false"},
			[]string{"update google_container_cluster.main 1"},
		},
		{
			"whom alerts reach",
			edit{
				"terraform.tfvars", "notification_channels = []",
				`notification_channels = ["projects/my-project/notificationChannels/1"]`,
			}, []string{"update google_monitoring_alert_policy.main 19"},
		},
		{
			"a zone less", edit{"terraform.tfvars", `, "us-central1-c"]`, "]"},
			[]string{
				"update google_container_cluster.main 1", "update google_container_node_pool.l4_ondemand 1",
				"update google_container_node_pool.l4_spot 1", "update google_container_node_pool.system 1",
			},
		},

		{"something read", edit{"outputs.tf", `output "`, "data \"google_project\" \"other\" {\n}\n\n$0"}, nil},

		// Arguments that count only when a pool is created are no reason to create it
		// again.
		{"nodes at first", edit{"node_pools.tf", "initial_node_count = 0", "initial_node_count = 1"}, nil},
		{"account of the first pool", edit{"cluster.tf", "    service_account = var.node_account\n", ""}, nil},
		{
			"nodes of the system", edit{"node_pools.tf", "node_count = 2", "node_count = 3"},
			[]string{"update google_container_node_pool.system 1"},
		},
		{
			"nodes at most", edit{"node_pools.tf", "total_max_node_count = 24", "total_max_node_count = 48"},
			[]string{"update google_container_node_pool.l4_ondemand 1"},
		},
		{
			"a pool from Spot", edit{"node_pools.tf", "    spot            = true\n", ""},
			[]string{"replace google_container_node_pool.l4_spot 1"},
		},
		{
			"a pool's GPUs", edit{"node_pools.tf", "      count = 2", "      count = 1"},
			[]string{"replace google_container_node_pool.l4_ondemand 1"},
		},
		{
			"an alert", edit{"monitoring.tf", `duration = "3600s"`, `duration = "1800s"`},
			[]string{"update google_monitoring_alert_policy.main 1"},
		},
		{
			"a limit of auto-provisioning", edit{"cluster.tf", "maximum       = 300", "maximum       = 200"},
			[]string{"update google_container_cluster.main 1"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r.edit(t, test.edit)
			got := r.plan(t, "plan")
			if d := cmp.Diff(test.want, got.summary()); len(got.said) > 0 || d != "" {
				t.Errorf("terraform says %q and plans (-want +got):\n%s", got.said, d)
			}
		})
	}
	t.Run("nodes at first, if not ignored", func(t *testing.T) {
		r.edit(t, edit{"node_pools.tf", "initial_node_count = 0", "initial_node_count = 1"})
		r.edit(t, edit{"node_pools.tf", "ignore_changes = [initial_node_count]", "ignore_changes = []"})
		if d := cmp.Diff([]string{"replace google_container_node_pool.l4_ondemand 1"},
			r.plan(t, "plan").summary()); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	})
}
