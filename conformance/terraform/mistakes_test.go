package terraform

import (
	"strings"
	"testing"
)

// TestMistakes checks that Terraform, and not the double, finds the mistakes in a
// root.
func TestMistakes(t *testing.T) {
	t.Parallel()
	r := open(t, "batch-platform")
	r.prepare(t)
	const nodes = "service_account = var.node_account"
	const pool = "google_container_cluster.main.workload_identity_config[0].workload_pool"
	for _, test := range []struct {
		name string
		edit edit
		want string
	}{
		{
			"no such resource", edit{"node_pools.tf", nodes, "service_account = google_service_account.node.email"},
			"Reference to undeclared resource",
		},
		{
			"no such attribute", edit{"identities.tf", pool, "google_container_cluster.main.pool"},
			"Unsupported attribute",
		},
		{"no such variable", edit{"node_pools.tf", "var.zones", "var.zone"}, "Reference to undeclared input variable"},
		{
			"no such local", edit{"storage.tf", "local.team_buckets", "local.buckets"},
			"Reference to undeclared local value",
		},
		{"no such function", edit{"storage.tf", "var.teams :", "vals(var.teams) :"}, "Call to unknown function"},
		{
			"no such type", edit{"modules/network/main.tf", `"google_compute_router"`, `"google_compute_routr"`},
			"Invalid resource type",
		},
		{"no such argument", edit{"node_pools.tf", "disk_type  ", "disk_kind  "}, "Unsupported argument"},
		{"no such block", edit{"node_pools.tf", "upgrade_settings {", "upgrades {"}, "Unsupported block type"},
		{
			"one block too many", edit{"node_pools.tf", "  management {", "  management {\n  }\n\n  management {"},
			"Too many management blocks",
		},
		{
			"missing argument", edit{"storage.tf", "  location                    = var.region\n", ""},
			"Missing required argument",
		},
		{"null for a required argument", edit{"storage.tf", "= var.region", "= null"}, "Null for a required argument"},
		{
			"computed argument",
			edit{"storage.tf", "  location                    = var.region\n", "$0  self_link = \"a\"\n"},
			"Value for a computed attribute: self_link",
		},
		{
			"deprecated argument",
			edit{"cluster.tf", "  deletion_protection ", "  binary_authorization {\n    enabled = true\n  }\n\n$0"},
			"warning: Deprecated argument: enabled",
		},
		{
			"text for a number", edit{"node_pools.tf", "disk_size_gb    = 100", `disk_size_gb    = "large"`},
			"Incorrect attribute value type",
		},
		{"one for many", edit{"node_pools.tf", "= var.zones", "= var.region"}, "Incorrect attribute value type"},
		{
			"no such key",
			edit{
				"storage.tf", "google_storage_bucket.team[each.key].name", `google_storage_bucket.team["nobody"].name`,
			}, "Invalid index",
		},
		{
			"key of a resource that has none", edit{"identities.tf", pool, `google_container_cluster.main["a"].id`},
			"Unexpected resource instance key",
		},
		{
			"no key",
			edit{"storage.tf", "google_storage_bucket.team[each.key].name", "google_storage_bucket.team.name"},
			"Missing resource instance key",
		},
		{
			"for_each on what is unknown",
			edit{
				"storage.tf", "for_each                    = local.team_buckets",
				"for_each = toset([google_container_cluster.main.id])",
			}, "Invalid for_each argument",
		},
		{
			"for_each on a list",
			edit{
				"storage.tf", "for_each                    = local.team_buckets",
				"for_each = values(local.team_buckets)",
			}, "Invalid for_each argument",
		},
		{
			"count on what is unknown",
			edit{
				"modules/network/main.tf", "resource \"google_compute_firewall\" \"webhooks\" {\n",
				"$0  count = length(google_compute_router.main.id)\n",
			}, "Invalid count argument",
		},
		{
			"each without for_each", edit{"cluster.tf", "var.cluster_name", "each.key"},
			`Reference to "each" in context without for_each`,
		},
		{"the same key twice", edit{"identities.tf", `"${name}/${role}" => {`, `name => {`}, "Duplicate object key"},
		{
			"cycle", edit{"storage.tf", "= var.region", "= google_storage_bucket_iam_policy.team[\"team-a\"].id"},
			"Cycle",
		},
		{
			"depends on nothing",
			edit{
				"node_pools.tf", "depends_on = [google_container_node_pool.system]",
				"depends_on = [google_container_node_pool.first]",
			}, "Reference to undeclared resource",
		},
		{"ignores nothing", edit{"node_pools.tf", "[initial_node_count]", "[initial_nodes]"}, "Unsupported attribute"},
		{"missing file", edit{"monitoring.tf", "/../dashboards/", "/../dashboard/"}, "Invalid function argument"},
		{
			"no such variable of a module",
			edit{"network.tf", "node_range           = var.node_range", "nodes_range = var.node_range"},
			"Unsupported argument",
		},
		{
			"no such output of a module", edit{"cluster.tf", "module.network.subnet_id", "module.network.subnet"},
			"Unsupported attribute",
		},
		{
			"no such name in a module", edit{"modules/network/main.tf", "var.subnet", "var.nodes"},
			"Reference to undeclared input variable",
		},
		{
			"output of nothing", edit{"outputs.tf", "var.node_account", "google_service_account.other.email"},
			"Reference to undeclared resource",
		},

		{"missing value", edit{"terraform.tfvars", `region `, `rgion `}, "No value for required variable"},
		{
			"value of nothing", edit{"terraform.tfvars", `region `, "zone = \"a\"\n$0"},
			"warning: Value for undeclared variable",
		},
		{
			"value of another type",
			edit{"terraform.tfvars", `["us-central1-a", "us-central1-b", "us-central1-c"]`, `"us-central1-a"`},
			"Invalid value for input variable",
		},
		{
			"value given twice", edit{"terraform.tfvars", "zones ", "region = \"us-central1\"\n$0"},
			"Attribute redefined",
		},
		{"null value", edit{"terraform.tfvars", `= "us-central1"`, "= null"}, "Required variable not set"},
		{
			"region that is none", edit{"terraform.tfvars", `= "us-central1"`, `= "Iowa"`},
			"A region looks like us-central1.",
		},
		{
			"zone of another region", edit{"terraform.tfvars", `= "us-central1"`, `= "us-east4"`},
			"Every zone must be in the region.",
		},
		{"range that is none", edit{"terraform.tfvars", "10.0.0.0/20", "10.0.0.0"}, "Write the range in CIDR notation"},
		{
			"control plane's range", edit{"terraform.tfvars", `/28"`, `/27"`},
			"The range of the control plane must be a /28",
		},
		{
			"namespace of a team", edit{"terraform.tfvars", `namespace    = "team-a"`, `namespace    = "Team A"`},
			"A namespace has at most 63",
		},
		{
			"account of the nodes",
			edit{"terraform.tfvars", `"gke-batch-nodes@my-project.iam.gserviceaccount.com"`, `"gke-batch-nodes"`},
			"An address looks like",
		},
		{
			"team without a namespace", edit{"terraform.tfvars", "    namespace    = \"team-a\"\n", ""},
			`attribute "namespace" is required`,
		},
		{"later version", edit{"versions.tf", `">= 1.9"`, `">= 99"`}, "Unsupported Terraform Core version"},
		{"no such provider", edit{"versions.tf", `"hashicorp/google"`, `"hashicorp/gogle"`}, "no version is selected"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r.edit(t, test.edit)
			if got := r.plan(t, "plan"); !strings.Contains(strings.Join(got.said, "\n"), test.want) {
				t.Errorf("terraform says %q, want %q, and plans %d changes", got.said, test.want, len(got.actions))
			}
		})
	}
}
