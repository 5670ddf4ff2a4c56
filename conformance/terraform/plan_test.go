package terraform

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// forms are the deploy folders that are planned: the folders under golden/, and one
// for Infrastructure Manager.
var forms = []string{
	"a3-ultra-flex", "batch-platform", "batch-platform-argocd", "batch-platform-dws", "existing", "kai-departments",
	"shared-vpc", "tpu-training", managed,
}

// managedTag is the tag that makes a folder for Infrastructure Manager, whose own
// Terraform plans it. What the folder has of its own is in
// golden/testdata/tpu-training-v4-managed.
const (
	managedTag = "managed=true"
	managed    = "blueprints/tpu-training -t type=v4 -t " + managedTag
)

// resources are the numbers of resources of each type that Terraform must create
// for the forms, in the order of forms. They are counted by hand: one for each
// team, role, bucket, alert and so on.
var resources = map[string][9]int{
	"google_compute_firewall":        {2, 1, 1, 1, 0, 1, 0, 1, 1}, // webhooks; the second gVNIC network
	"google_compute_network":         {3, 1, 1, 1, 0, 1, 0, 1, 1}, // a gVNIC and an RDMA network more
	"google_compute_reservation":     {0, 1, 1, 1, 0, 0, 0, 0, 0},
	"google_compute_router":          {1, 1, 1, 1, 0, 1, 0, 1, 1},
	"google_compute_router_nat":      {1, 1, 1, 1, 0, 1, 0, 1, 1},
	"google_compute_subnetwork":      {10, 1, 1, 1, 0, 1, 0, 1, 1}, // nodes, gVNIC, eight of RDMA
	"google_container_cluster":       {1, 1, 1, 1, 0, 1, 1, 1, 1},
	"google_container_node_pool":     {2, 4, 4, 6, 2, 2, 3, 4, 4},
	"google_monitoring_alert_policy": {19, 19, 19, 21, 14, 10, 19, 17, 17},
	"google_monitoring_dashboard":    {2, 3, 3, 3, 2, 2, 2, 2, 2}, // for administrators, for teams
	// One for each role: of teams' jobs and of members with accounts of their own, and in a
	// cluster of others of every job.
	"google_project_iam_binding": {2, 2, 2, 2, 4, 0, 2, 3, 3},
	// 3 for the nodes, 2 or 3 for every job in a cluster of the platform, 2 for the groups.
	"google_project_iam_member":        {7, 7, 7, 7, 5, 5, 5, 6, 6},
	"google_storage_bucket":            {2, 4, 4, 4, 0, 0, 0, 1, 1},
	"google_storage_bucket_iam_policy": {2, 4, 4, 4, 0, 0, 0, 1, 1}, // one for each bucket
	"google_vertex_ai_tensorboard":     {0, 0, 0, 0, 0, 0, 0, 1, 1},
	"terraform_data":                   {0, 0, 0, 0, 0, 0, 0, 1, 1}, // the topology of the slices
}

// TestPlan plans and applies every folder. After init and validate without
// complaints, Terraform must create everything that the HCL declares, as often as
// counted by hand. Another plan must then find nothing to do.
func TestPlan(t *testing.T) {
	t.Parallel()
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
			t.Parallel()
			r := open(t, name)
			r.prepare(t)
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
			// A variable changes only the existing resources that it should change.
			if name != ofOthers {
				protect := r.plan(t, "plan", "-var", "deletion_protection=false")
				if d := cmp.Diff([]string{"update google_container_cluster.main 1"},
					protect.summary()); len(protect.said) > 0 || d != "" {
					t.Errorf("without protection terraform says %q and plans (-want +got):\n%s", protect.said, d)
				}
			}
			rename := r.plan(t, "plan", "-var", "cluster_name=other")
			maps.DeleteFunc(rename.actions, func(_, action string) bool { return action == "update" })
			// The grants are the grants to the pods of the cluster, and those whose condition
			// names it.
			another := map[string]int{
				"google_container_cluster": 1, "google_container_node_pool": want["google_container_node_pool"],
				"google_project_iam_binding": [...]int{2, 2, 2, 2, 1, 0, 2, 3, 3}[i],
				"google_project_iam_member":  [...]int{4, 4, 4, 4, 1, 2, 2, 3, 3}[i],
			}
			maps.DeleteFunc(another, func(_ string, n int) bool { return n == 0 })
			if name == ofOthers {
				delete(another, "google_container_cluster")
			}
			if d := cmp.Diff(another, rename.kinds()); len(rename.said) > 0 || d != "" {
				t.Errorf("for another cluster terraform says %q and replaces (-want +got):\n%s", rename.said, d)
			}
			r.changeTopology(t)
		})
	}
}

var topology = regexp.MustCompile(`( = ")\d+x\d+(?:x\d+)?(")`)

// changeTopology gives the slices of a root another topology and applies it. The
// pools must then have that topology, and another plan must find nothing to do.
func (r root) changeTopology(t *testing.T) {
	t.Helper()
	name := filepath.Join(r.dir, "node_pools.tf")
	was := read(t, name)
	if !strings.Contains(was, "tpu_topology") {
		return
	}
	write(t, name, topology.ReplaceAllString(was, "${1}8x16$2"))
	if applied := r.plan(t, "apply", "-auto-approve"); len(applied.said) > 0 {
		t.Fatal(applied.said)
	}
	if again := r.plan(t, "plan"); len(again.said)+len(again.actions) > 0 {
		t.Errorf("after another topology is applied, terraform says %q and a second apply would do %v", again.said,
			again.actions)
	}
}

// TestForms plans and applies forms that no golden folder has: other ways to
// compile the TPU training environment, and all ways to obtain machines in
// docs/blueprint.md.
func TestForms(t *testing.T) {
	t.Parallel()
	_, options, _ := strings.Cut(read(t, repository+"/docs/blueprint.md"), "<!-- file: options.cue -->\n```cue\n")
	options, _, found := strings.Cut(options, "```")
	if !found {
		t.Fatal("docs/blueprint.md has no options.cue")
	}
	file := filepath.Join(t.TempDir(), "options.cue")
	write(t, file, options)
	const tpus = "blueprints/tpu-training"
	for name, form := range map[string]string{
		"options": file, "v4": tpus + " -t type=v4", "no slices": tpus + " -t slices=0 -t perTeam",
		"autoscaled": tpus + " -t autoscaled=true",
		"managed v4": tpus + " -t type=v4 -t autoscaled=true -t perTeam -t " + managedTag,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := open(t, form)
			r.prepare(t)
			r.create(t)
		})
	}
}

// TestSchema checks that the double has the schema it was given, in Terraform's own
// words.
func TestSchema(t *testing.T) {
	t.Parallel()
	r := open(t, "batch-platform")
	r.prepare(t)
	var got, want any
	served := r.must(t, "providers", "schema", "-json")
	given, err := os.ReadFile(facts + "/google-schema.json")
	if err := errors.Join(err, json.Unmarshal(served, &got), json.Unmarshal(given, &want)); err != nil {
		t.Fatal(err)
	}
	// The file of the schema has no descriptions.
	descriptions := cmp.FilterPath(func(p cmp.Path) bool {
		index, ok := p.Last().(cmp.MapIndex)
		return ok && index.Key().String() == "description_kind"
	}, cmp.Ignore())
	if d := cmp.Diff(want, got, descriptions); d != "" {
		t.Errorf("schema (-given +served):\n%s", d)
	}
}
