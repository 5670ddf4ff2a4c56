package terraform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
	"go.yaml.in/yaml/v2"
)

const (
	repository = "../.."
	// facts is where what is known of the provider is expected.
	facts = repository + "/../shared/terraform"
)

// forms are the deploy folders that are planned: those under golden/, and one
// that Infrastructure Manager is to apply.
var forms = []string{"a3-ultra-flex", "batch-platform", "batch-platform-dws", "kai-departments", "tpu-training", managed}

// managedTag makes a folder for Infrastructure Manager, whose own Terraform plans it.
const (
	managedTag = "managed=true"
	managed    = "blueprints/tpu-training -t " + managedTag
)

// resources are how many of each type Terraform is to make of the forms, in
// their order, counted by hand: one for each team, role, bucket, alert and so on.
var resources = map[string][6]int{
	"google_compute_firewall":           {2, 1, 1, 1, 1, 1}, // webhooks; the second gVNIC network
	"google_compute_network":            {3, 1, 1, 1, 1, 1}, // a gVNIC and an RDMA network more
	"google_compute_reservation":        {0, 1, 1, 0, 0, 0},
	"google_compute_router":             {1, 1, 1, 1, 1, 1},
	"google_compute_router_nat":         {1, 1, 1, 1, 1, 1},
	"google_compute_subnetwork":         {10, 1, 1, 1, 1, 1}, // nodes, gVNIC, eight of RDMA
	"google_container_cluster":          {1, 1, 1, 1, 1, 1},
	"google_container_node_pool":        {2, 4, 6, 2, 4, 4},
	"google_monitoring_alert_policy":    {17, 18, 19, 10, 16, 16},
	"google_monitoring_dashboard":       {2, 2, 2, 2, 2, 2},    // for administrators, for teams
	"google_project_iam_member":         {9, 15, 15, 11, 9, 9}, // 3 of the nodes, 2 or 3 a team, one a group
	"google_service_account":            {3, 5, 5, 5, 3, 3},    // nodes, teams
	"google_service_account_iam_member": {2, 4, 4, 4, 2, 2},
	"google_storage_bucket":             {0, 4, 4, 0, 1, 1},
	"google_storage_bucket_iam_member":  {0, 8, 8, 0, 3, 3}, // 2 a bucket, and one of the nodes
	"google_vertex_ai_tensorboard":      {0, 0, 0, 0, 1, 1},
}

// TestPlan plans and applies every folder. After init and validate have nothing
// to say, all that the HCL declares is made, as often as counted by hand, and
// another plan finds that nothing is left to do.
func TestPlan(t *testing.T) {
	folders, err := filepath.Glob(repository + "/golden/*/terraform")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if name := filepath.Base(filepath.Dir(f)); !slices.Contains(forms, name) {
			t.Errorf("golden/%s is not planned", name)
		}
	}
	for i, name := range forms {
		t.Run(name, func(t *testing.T) {
			r := open(t, name)
			r.init(t)
			got := r.create(t)
			if d := cmp.Diff(r.declared(t), got.declared()); d != "" {
				t.Errorf("resources (-declared +planned):\n%s", d)
			}
			want := map[string]int{}
			for kind, n := range resources {
				if n[i] > 0 {
					want[kind] = n[i]
				}
			}
			if d := cmp.Diff(want, got.kinds()); d != "" {
				t.Errorf("resources (-by hand +planned):\n%s", d)
			}
			// Of what stands a variable changes what it should and no more.
			protect := r.plan(t, "plan", "-var", "deletion_protection=false")
			if d := cmp.Diff([]string{"update google_container_cluster.main 1"}, protect.summary()); len(protect.said) > 0 || d != "" {
				t.Errorf("without protection terraform says %q and plans (-want +got):\n%s", protect.said, d)
			}
			rename := r.plan(t, "plan", "-var", "cluster_name=other")
			maps.DeleteFunc(rename.actions, func(_, action string) bool { return action == "update" })
			another := map[string]int{"google_container_cluster": 1, "google_container_node_pool": want["google_container_node_pool"]}
			if d := cmp.Diff(another, rename.kinds()); len(rename.said) > 0 || d != "" {
				t.Errorf("for another cluster terraform says %q and replaces (-want +got):\n%s", rename.said, d)
			}
		})
	}
}

// TestForms plans and applies what no golden folder has: other ways to compile
// the TPU training environment, and all ways to obtain machines of the README.
func TestForms(t *testing.T) {
	_, options, _ := strings.Cut(read(t, repository+"/README.md"), "<!-- file: options.cue -->\n```cue\n")
	options, _, found := strings.Cut(options, "```")
	if !found {
		t.Fatal("the README has no options.cue")
	}
	file := filepath.Join(t.TempDir(), "options.cue")
	write(t, file, options)
	const tpus = "blueprints/tpu-training"
	for name, form := range map[string]string{
		"options": file, "v4": tpus + " -t type=v4", "no slices": tpus + " -t slices=0 -t perTeam",
		"autoscaled": tpus + " -t autoscaled=true", "managed v4": tpus + " -t type=v4 -t autoscaled=true -t perTeam -t " + managedTag,
	} {
		t.Run(name, func(t *testing.T) {
			r := open(t, form)
			r.init(t)
			r.create(t)
		})
	}
}

// TestSchema: the double has the schema it was given, in Terraform's own words.
func TestSchema(t *testing.T) {
	r := open(t, "batch-platform")
	r.init(t)
	var got, want any
	served := r.must(t, "providers", "schema", "-json")
	given, err := os.ReadFile(facts + "/google-schema.json")
	if err := errors.Join(err, json.Unmarshal(served, &got), json.Unmarshal(given, &want)); err != nil {
		t.Fatal(err)
	}
	// What the file was stripped of.
	descriptions := cmp.FilterPath(func(p cmp.Path) bool {
		index, ok := p.Last().(cmp.MapIndex)
		return ok && index.Key().String() == "description_kind"
	}, cmp.Ignore())
	if d := cmp.Diff(want, got, descriptions); d != "" {
		t.Errorf("schema (-given +served):\n%s", d)
	}
}

// edit is a change of a file under terraform/ of a folder.
type edit struct{ file, old, new string }

// TestMistakes: what is wrong in a root is found, by Terraform and not by the
// double.
func TestMistakes(t *testing.T) {
	r := open(t, "batch-platform")
	r.init(t)
	const nodes = "service_account = google_service_account.nodes.email"
	for _, test := range []struct {
		name string
		edit edit
		want string
	}{
		{"no such resource", edit{"node_pools.tf", nodes, "service_account = google_service_account.node.email"}, "Reference to undeclared resource"},
		{"no such attribute", edit{"node_pools.tf", nodes, "service_account = google_service_account.nodes.mail"}, "Unsupported attribute"},
		{"no such variable", edit{"node_pools.tf", "var.zones", "var.zone"}, "Reference to undeclared input variable"},
		{"no such local", edit{"storage.tf", "local.team_buckets", "local.buckets"}, "Reference to undeclared local value"},
		{"no such function", edit{"storage.tf", "var.teams :", "vals(var.teams) :"}, "Call to unknown function"},
		{"no such type", edit{"network.tf", `"google_compute_router"`, `"google_compute_routr"`}, "Invalid resource type"},
		{"no such argument", edit{"node_pools.tf", "disk_type  ", "disk_kind  "}, "Unsupported argument"},
		{"no such block", edit{"node_pools.tf", "upgrade_settings {", "upgrades {"}, "Unsupported block type"},
		{"one block too many", edit{"node_pools.tf", "  management {", "  management {\n  }\n\n  management {"}, "Too many management blocks"},
		{"missing argument", edit{"identities.tf", "  account_id   = each.value.account_id\n", ""}, "Missing required argument"},
		{"null for a required argument", edit{"identities.tf", "= each.value.account_id", "= null"}, "Null for a required argument"},
		{"computed argument", edit{"identities.tf", "  account_id   = each.value.account_id\n", "$0  email = \"a@b\"\n"}, "Value for a computed attribute: email"},
		{"deprecated argument", edit{"cluster.tf", "  deletion_protection ", "  binary_authorization {\n    enabled = true\n  }\n\n$0"}, "warning: Deprecated argument: enabled"},
		{"text for a number", edit{"node_pools.tf", "disk_size_gb    = 100", `disk_size_gb    = "large"`}, "Incorrect attribute value type"},
		{"one for many", edit{"node_pools.tf", "= var.zones", "= var.region"}, "Incorrect attribute value type"},
		{"no such key", edit{"storage.tf", "google_storage_bucket.team[each.key].name", `google_storage_bucket.team["nobody"].name`}, "Invalid index"},
		{"key of a resource that has none", edit{"node_pools.tf", "nodes.email", `nodes["a"].email`}, "Unexpected resource instance key"},
		{"for_each on what is unknown", edit{"storage.tf", "for_each                    = local.team_buckets", "for_each = toset([google_service_account.nodes.unique_id])"}, "Invalid for_each argument"},
		{"for_each on a list", edit{"storage.tf", "for_each                    = local.team_buckets", "for_each = values(local.team_buckets)"}, "Invalid for_each argument"},
		{"count on what is unknown", edit{"network.tf", "resource \"google_compute_firewall\" \"webhooks\" {\n", "$0  count = length(google_service_account.nodes.unique_id)\n"}, "Invalid count argument"},
		{"each without for_each", edit{"cluster.tf", "var.cluster_name", "each.key"}, `Reference to "each" in context without for_each`},
		{"the same key twice", edit{"identities.tf", `"${name}/${role}" => {`, `name => {`}, "Duplicate object key"},
		{"cycle", edit{"identities.tf", `"gke-batch-nodes"`, "google_project_iam_member.nodes[\"roles/artifactregistry.reader\"].id"}, "Cycle"},
		{"depends on nothing", edit{"node_pools.tf", "depends_on = [google_container_node_pool.system]", "depends_on = [google_container_node_pool.first]"}, "Reference to undeclared resource"},
		{"ignores nothing", edit{"node_pools.tf", "[initial_node_count]", "[initial_nodes]"}, "Unsupported attribute"},
		{"missing file", edit{"monitoring.tf", "/../dashboards/", "/../dashboard/"}, "Invalid function argument"},
		{"output of nothing", edit{"outputs.tf", "google_service_account.nodes.email", "google_service_account.other.email"}, "Reference to undeclared resource"},

		{"missing value", edit{"terraform.tfvars", `region `, `rgion `}, "No value for required variable"},
		{"value of nothing", edit{"terraform.tfvars", `region `, "zone = \"a\"\n$0"}, "warning: Value for undeclared variable"},
		{"value of another type", edit{"terraform.tfvars", `["us-central1-a", "us-central1-b", "us-central1-c"]`, `"us-central1-a"`}, "Invalid value for input variable"},
		{"value given twice", edit{"terraform.tfvars", "zones ", "region = \"us-central1\"\n$0"}, "Attribute redefined"},
		{"null value", edit{"terraform.tfvars", `= "us-central1"`, "= null"}, "Required variable not set"},
		{"region that is none", edit{"terraform.tfvars", `= "us-central1"`, `= "Iowa"`}, "A region looks like us-central1."},
		{"zone of another region", edit{"terraform.tfvars", `= "us-central1"`, `= "us-east4"`}, "At least one zone, each in the region."},
		{"range that is none", edit{"terraform.tfvars", "10.0.0.0/20", "10.0.0.0"}, "The range is CIDR notation"},
		{"control plane's range", edit{"terraform.tfvars", `/28"`, `/27"`}, "The control plane takes a /28"},
		{"account of a team", edit{"terraform.tfvars", `"wi-team-a"`, `"wi"`}, "The ID of a service account has 6 to 30"},
		{"team without a namespace", edit{"terraform.tfvars", "    namespace    = \"team-a\"\n", ""}, `attribute "namespace" is required`},
		{"later version", edit{"versions.tf", `">= 1.9"`, `">= 99"`}, "Unsupported Terraform Core version"},
		{"no such provider", edit{"versions.tf", `"hashicorp/google"`, `"hashicorp/gogle"`}, "provider"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r.edit(t, test.edit)
			if got := r.plan(t, "plan"); !strings.Contains(strings.Join(got.said, "\n"), test.want) {
				t.Errorf("terraform says %q, want %q, and plans %d changes", got.said, test.want, len(got.actions))
			}
		})
	}
}

// TestChanges: what becomes of a platform that stands, for changes such as a
// compiled blueprint or an edited tfvars brings.
func TestChanges(t *testing.T) {
	r := open(t, "batch-platform")
	r.init(t)
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
    account_id   = "wi-team-e"
    display_name = "Jobs of team-e"
    roles        = ["roles/logging.logWriter", "roles/monitoring.metricWriter"]
    group        = "team-e@example.com"
    bucket       = "my-project-gke-batch-team-e"
  }`}, []string{
			"create google_project_iam_member.members 1", "create google_project_iam_member.team 2", "create google_service_account.team 1",
			"create google_service_account_iam_member.team 1", "create google_storage_bucket.team 1", "create google_storage_bucket_iam_member.team 1",
			"create google_storage_bucket_iam_member.team_reader 1",
		}},
		{"a team by another name", edit{"terraform.tfvars", `"Jobs of team-a"`, `"Research"`}, []string{"update google_service_account.team 1"}},
		{"a team's account", edit{"terraform.tfvars", `"wi-team-a"`, `"wi-research"`}, []string{
			"replace google_project_iam_member.team 2", "replace google_service_account.team 1", "replace google_service_account_iam_member.team 1",
			"replace google_storage_bucket_iam_member.team 1", "replace google_storage_bucket_iam_member.team_reader 1",
		}},
		{"a team's bucket", edit{"terraform.tfvars", "    bucket = \"my-project-gke-batch-team-a\"\n", ""}, []string{
			"delete google_storage_bucket.team 1", "delete google_storage_bucket_iam_member.team 1", "delete google_storage_bucket_iam_member.team_reader 1",
		}},
		{"who reaches the control plane", edit{"terraform.tfvars", "authorized_networks   = {}", `authorized_networks = { office = "203.0.113.0/24" }`}, []string{"update google_container_cluster.main 1"}},
		{"protection", edit{"terraform.tfvars", "deletion_protection   = true", "deletion_protection = false"}, []string{"update google_container_cluster.main 1"}},
		{"whom alerts reach", edit{"terraform.tfvars", "notification_channels = []", `notification_channels = ["projects/my-project/notificationChannels/1"]`}, []string{"update google_monitoring_alert_policy.main 18"}},
		{"a zone less", edit{"terraform.tfvars", `, "us-central1-c"]`, "]"}, []string{"update google_container_cluster.main 1", "update google_container_node_pool.l4_ondemand 1", "update google_container_node_pool.l4_spot 1", "update google_container_node_pool.system 1"}},

		// What only counts when a pool is made is no reason to make it again.
		{"nodes at first", edit{"node_pools.tf", "initial_node_count = 0", "initial_node_count = 1"}, nil},
		{"account of the first pool", edit{"cluster.tf", "    service_account = google_service_account.nodes.email\n", ""}, nil},
		{"nodes of the system", edit{"node_pools.tf", "node_count = 2", "node_count = 3"}, []string{"update google_container_node_pool.system 1"}},
		{"nodes at most", edit{"node_pools.tf", "total_max_node_count = 24", "total_max_node_count = 48"}, []string{"update google_container_node_pool.l4_ondemand 1"}},
		{"a pool from Spot", edit{"node_pools.tf", "    spot            = true\n", ""}, []string{"replace google_container_node_pool.l4_spot 1"}},
		{"a pool's GPUs", edit{"node_pools.tf", "      count = 2", "      count = 1"}, []string{"replace google_container_node_pool.l4_ondemand 1"}},
		{"an alert", edit{"monitoring.tf", `duration = "3600s"`, `duration = "1800s"`}, []string{"update google_monitoring_alert_policy.main 1"}},
		{"a limit of auto-provisioning", edit{"cluster.tf", "maximum       = 300", "maximum       = 200"}, []string{"update google_container_cluster.main 1"}},
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
		if d := cmp.Diff([]string{"replace google_container_node_pool.l4_ondemand 1"}, r.plan(t, "plan").summary()); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	})
}

// TestBuilds runs what the builds run of Terraform: they make a platform, and
// destroy it although it is protected and its creation may have failed.
func TestBuilds(t *testing.T) {
	r := open(t, "batch-platform")
	r.init(t)
	script := step(t, "destroy", "unprotect").Script
	if script == "" {
		t.Fatal("the build switches no protection off")
	}
	unprotect := func(t *testing.T) string {
		c := exec.CommandContext(t.Context(), "sh", "-c", script)
		c.Dir, c.Env = r.dir, append(r.env, "TF_IN_AUTOMATION=true")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if said := unprotect(t); said != "Nothing has been built.\n" {
		t.Errorf("before anything is built: %s", said)
	}
	r.must(t, step(t, "provision", "terraform-plan").Args...)
	r.must(t, step(t, "provision", "terraform-apply").Args...)
	file := filepath.Join(r.dir, "terraform.tfstate")
	built := read(t, file)
	destroy := step(t, "destroy", "terraform-destroy").Args
	for name, before := range map[string][]string{
		"platform":              {"state", "list"},
		"failed cluster":        {"taint", "google_container_cluster.main"},
		"half of it is deleted": {"state", "rm", "google_project_iam_member.team"},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, file, built)
			r.must(t, before...)
			were := strings.Count(string(r.must(t, "state", "list")), "\n")
			unprotect(t)
			if are := strings.Count(string(r.must(t, "state", "list")), "\n"); are != were {
				t.Errorf("%d resources became %d before they are destroyed", were, are)
			}
			if out, ok := r.run(t, destroy...); !ok {
				t.Errorf("terraform destroy:\n%s", out)
			}
			if left := r.must(t, "state", "list"); len(left) > 0 {
				t.Errorf("left:\n%s", left)
			}
		})
	}
	t.Run("protected", func(t *testing.T) {
		write(t, file, built)
		if out, ok := r.run(t, destroy...); ok || !bytes.Contains(out, []byte("Protected from deletion")) {
			t.Errorf("the cluster is not protected:\n%s", out)
		}
	})
}

// buildStep is a step of a build.
type buildStep struct {
	ID, Script string
	Args       []string
}

// step reads a step of a build of the batch platform.
func step(t *testing.T, build, id string) buildStep {
	t.Helper()
	var doc struct{ Steps []buildStep }
	if err := yaml.Unmarshal([]byte(read(t, repository+"/golden/batch-platform/cloudbuild/"+build+".yaml")), &doc); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(doc.Steps, func(s buildStep) bool { return s.ID == id })
	if i < 0 {
		t.Fatalf("the build has no step %s", id)
	}
	return doc.Steps[i]
}

// root is a Terraform root in a directory of its own.
type root struct {
	dir     string
	program string
	env     []string
}

// open takes a deploy folder by its name under golden/, or makes it of what
// batchwright compile is given, and starts the double. It skips the test where
// Terraform or the provider's schema is absent.
func open(t *testing.T, form string) root {
	t.Helper()
	program, reattach, dir := program(t, form), attach(t), t.TempDir()
	golden := repository + "/golden/" + form
	if _, err := os.Stat(golden); err == nil {
		if err := os.CopyFS(dir, os.DirFS(golden)); err != nil {
			t.Fatal(err)
		}
	} else {
		c := exec.CommandContext(t.Context(), "go", append([]string{"run", "./cmd/batchwright", "compile", "-o", dir}, strings.Fields(form)...)...)
		c.Dir = repository
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if strings.Contains(form, managedTag) {
		// It is given this folder and no more.
		alone := t.TempDir()
		if err := os.Rename(filepath.Join(dir, "terraform"), filepath.Join(alone, "terraform")); err != nil {
			t.Fatal(err)
		}
		dir = alone
	}
	// Whatever wants the network finds an empty directory instead.
	config := filepath.Join(dir, "terraform.rc")
	write(t, config, fmt.Sprintf("disable_checkpoint = true\nprovider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", t.TempDir()))
	return root{
		dir: filepath.Join(dir, "terraform"), program: program,
		env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TF_CLI_CONFIG_FILE=" + config, "TF_IN_AUTOMATION=1", "TF_REATTACH_PROVIDERS=" + reattach},
	}
}

// program returns the Terraform for a form: Infrastructure Manager's own version
// where that was built, and the one that is installed for all others.
func program(t *testing.T, form string) string {
	t.Helper()
	if strings.Contains(form, managedTag) {
		name, err := filepath.Abs(repository + "/bin/terraform-1.5.7")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(name); err != nil {
			t.Skip("Infrastructure Manager's Terraform is not built, see make conformance: nothing was planned")
		}
		return name
	}
	name, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("terraform is not installed: nothing was planned")
	}
	return name
}

// attach starts the double, and skips the test where the schema is absent.
func attach(t *testing.T) string {
	t.Helper()
	schema, err := os.ReadFile(facts + "/google-schema.json")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the provider's schema is not at %s: nothing was planned", facts)
	} else if err != nil {
		t.Fatal(err)
	}
	replacing, err := os.ReadFile(facts + "/force-new.json")
	if err != nil {
		t.Fatal(err)
	}
	d := &double{}
	d.schemas, err = parseSchemas(schema)
	if err := errors.Join(err, json.Unmarshal(replacing, &d.replacing)); err != nil {
		t.Fatal(err)
	}
	reattach, err := d.serve(t.Context(), tf5server.WithLoggingSink(t))
	if err != nil {
		t.Fatal(err)
	}
	return reattach
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// init lets Terraform initialize and validate the root as it is, and then keep
// the state beside it.
func (r root) init(t *testing.T) {
	t.Helper()
	r.must(t, "init", "-input=false", "-backend=false")
	var valid struct {
		Diagnostics []struct{ Severity, Summary, Detail string }
	}
	if err := json.Unmarshal(r.must(t, "validate", "-json"), &valid); err != nil {
		t.Fatal(err)
	}
	for _, d := range valid.Diagnostics {
		t.Fatalf("terraform validate: %s: %s: %s", d.Severity, d.Summary, d.Detail)
	}
	write(t, filepath.Join(r.dir, "local_override.tf"), "terraform {\n  backend \"local\" {\n  }\n}\n")
	r.must(t, "init", "-input=false", "-reconfigure")
}

// create plans and applies the root, of which Terraform has nothing to say, and
// then finds nothing left to do. It returns the first plan.
func (r root) create(t *testing.T) outcome {
	t.Helper()
	first := r.plan(t, "plan")
	if len(first.said) > 0 || len(first.actions) == 0 {
		t.Fatalf("terraform says %q and plans %d changes", first.said, len(first.actions))
	}
	if applied := r.plan(t, "apply", "-auto-approve"); len(applied.said) > 0 {
		t.Fatal(applied.said)
	}
	if again := r.plan(t, "plan"); len(again.said)+len(again.actions) > 0 {
		t.Errorf("a second apply would do %v, and terraform says %q", again.actions, again.said)
	}
	return first
}

// edit changes the first place in a file, until the test is done. In what is new
// $0 stands for what is old.
func (r root) edit(t *testing.T, e edit) {
	t.Helper()
	name := filepath.Join(r.dir, e.file)
	was := read(t, name)
	if !strings.Contains(was, e.old) {
		t.Fatalf("%s has no %q", e.file, e.old)
	}
	write(t, name, strings.Replace(was, e.old, strings.ReplaceAll(e.new, "$0", e.old), 1))
	t.Cleanup(func() { write(t, name, was) })
}

// declared returns the resources of the root, as in "google_x.name", sorted.
func (r root) declared(t *testing.T) (out []string) {
	t.Helper()
	files, err := filepath.Glob(r.dir + "/*.tf")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, m := range regexp.MustCompile(`(?m)^resource "(.+)" "(.+)" \{$`).FindAllStringSubmatch(read(t, file), -1) {
			out = append(out, m[1]+"."+m[2])
		}
	}
	slices.Sort(out)
	return out
}

// run runs a command of Terraform and returns what it says, and whether it went
// well.
func (r root) run(t *testing.T, args ...string) ([]byte, bool) {
	t.Helper()
	c := exec.CommandContext(t.Context(), r.program, args...)
	c.Dir, c.Env = r.dir, r.env
	out, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out, err == nil
}

// must runs a command of Terraform that has to go well.
func (r root) must(t *testing.T, args ...string) []byte {
	t.Helper()
	out, ok := r.run(t, args...)
	if !ok {
		t.Fatalf("terraform %s:\n%s", strings.Join(args, " "), out)
	}
	return out
}

// outcome is what Terraform says of a plan.
type outcome struct {
	actions map[string]string // by address: "create", "update", "replace", "delete"
	said    []string          // errors and warnings
}

// plan lets Terraform plan, or apply, the root.
func (r root) plan(t *testing.T, args ...string) outcome {
	t.Helper()
	out, ok := r.run(t, append(args, "-json", "-input=false")...)
	o, failed := outcome{actions: map[string]string{}}, false
	for line := range bytes.Lines(out) {
		var message struct {
			Type   string
			Change struct {
				Resource struct{ Addr string }
				Action   string
			}
			Diagnostic struct{ Severity, Summary, Detail string }
		}
		if err := json.Unmarshal(line, &message); err != nil {
			t.Fatalf("%v in what terraform says:\n%s", err, out)
		}
		switch message.Type {
		case "planned_change":
			o.actions[message.Change.Resource.Addr] = message.Change.Action
		case "diagnostic":
			d := message.Diagnostic
			o.said = append(o.said, d.Severity+": "+d.Summary+": "+d.Detail)
			failed = failed || d.Severity == "error"
		}
	}
	if ok == failed {
		t.Fatalf("terraform %s: success is %t\n%s", strings.Join(args, " "), ok, out)
	}
	return o
}

// declared returns the resources without their keys, sorted.
func (o outcome) declared() []string {
	out := map[string]bool{}
	for addr := range o.actions {
		name, _, _ := strings.Cut(addr, "[")
		out[name] = true
	}
	return slices.Sorted(maps.Keys(out))
}

// kinds counts the resources by type.
func (o outcome) kinds() map[string]int {
	out := map[string]int{}
	for addr := range o.actions {
		kind, _, _ := strings.Cut(addr, ".")
		out[kind]++
	}
	return out
}

// summary says how often what is done to which resources, as in "update
// google_x.name 2", sorted.
func (o outcome) summary() (out []string) {
	n := map[string]int{}
	for addr, action := range o.actions {
		name, _, _ := strings.Cut(addr, "[")
		n[action+" "+name]++
	}
	for what, n := range n {
		out = append(out, fmt.Sprintf("%s %d", what, n))
	}
	slices.Sort(out)
	return out
}
