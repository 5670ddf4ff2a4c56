package terraform

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// takeOvers is what makes a blueprint take over its cluster and its node pools.
var takeOvers = regexp.MustCompile(`(?m)^.*\btakeOver:.*\n`)

// TestTakeOver plans and applies a platform that takes over a cluster and node pools, which
// were created with another state. Terraform must import them all and change nothing that
// runs, although the cluster had another number of nodes at first, and the nodes of one
// pool have settings that the blueprint keeps. If a resource differs in any other argument
// that replaces it, Terraform must refuse the plan. Without takeOver, it must then plan
// only the replacement of the pool that had kept its settings.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	const platform = "golden/testdata/platforms/adopted-cluster.cue"
	program := batchwright(t)
	text := read(t, filepath.Join(repository, platform))
	const cpu = "my-project/us-east5/research/cpu"
	for name, tag := range map[string]string{"build": "managed=false", "managed": managedTag} {
		t.Run(name, func(t *testing.T) {
			plain, with, without := filepath.Join(t.TempDir(), "plain.cue"), t.TempDir(), t.TempDir()
			write(t, plain, takeOvers.ReplaceAllString(text, ""))
			compile(t, program, with, filepath.Join(repository, platform), "-t", tag)
			compile(t, program, without, plain, "-t", tag)
			r := open(t, plain+" -t "+tag)
			if tag != managedTag { // removed blocks need Terraform 1.7
				former := root{dir: filepath.Join(with, "takeover"), program: r.program, env: r.env}
				former.must(t, "init", "-input=false")
				former.must(t, "validate")
			}
			r.prepare(t)
			r.create(t)
			existing := map[string]bool{}
			for line := range strings.Lines(string(r.must(t, "state", "list"))) {
				address := strings.TrimSpace(line)
				kind, label, _ := strings.Cut(address, ".")
				if kind == "google_container_cluster" || kind == "google_container_node_pool" && label != "system" {
					existing[address] = true
				}
			}
			if len(existing) != 5 {
				t.Fatalf("the cluster and its node pools are %v", existing)
			}
			if err := os.Remove(filepath.Join(r.dir, "terraform.tfstate")); err != nil {
				t.Fatal(err)
			}
			r.cloud.keep(func(kind, id string) bool { // what others have made
				return kind == "google_container_cluster" ||
					kind == "google_container_node_pool" && lastElement(id) != "system"
			})
			r.cloud.differs = map[[2]string]func(tftypes.Value) tftypes.Value{
				{cpu, "node_config.service_account"}: func(v tftypes.Value) tftypes.Value {
					return tftypes.NewValue(v.Type(), "other@my-project.iam.gserviceaccount.com")
				},
				{cpu, "node_config.reservation_affinity"}: func(v tftypes.Value) tftypes.Value {
					return tftypes.NewValue(v.Type(), []tftypes.Value{})
				},
			}
			r.become(t, with)
			planned := r.plan(t, "plan")
			for address, action := range planned.actions {
				if want := map[bool]string{true: "import", false: "create"}[existing[address]]; action != want {
					t.Errorf("terraform plans to %s %s, want %s", action, address, want)
				}
				delete(existing, address)
			}
			if len(existing)+len(planned.said) > 0 {
				t.Fatalf("terraform says %q, and does not import %v", planned.said, existing)
			}
			t.Run("refused", func(t *testing.T) { refuseReplacements(t, r) })
			if applied := r.plan(t, "apply", "-auto-approve"); len(applied.said) > 0 {
				t.Fatal(applied.said)
			}
			if again := r.plan(t, "plan"); len(again.said)+len(again.actions) > 0 {
				t.Errorf("after the import, terraform says %q and plans %v", again.said, again.actions)
			}
			t.Run("refused later", func(t *testing.T) {
				refuseReplacements(t, r)
				destroyed := r.plan(t, "plan", "-destroy", "-var=deletion_protection=false")
				if !refuses(destroyed) {
					t.Errorf("terraform destroys: it says %q", destroyed.said)
				}
			})
			r.become(t, without)
			last := r.plan(t, "plan")
			if d := cmp.Diff(map[string]string{"google_container_node_pool.cpu": "replace"}, last.actions); d != "" ||
				len(last.said) > 0 {
				t.Errorf("without takeOver, terraform says %q and plans (-want +got):\n%s", last.said, d)
			}
		})
	}
}

// refuses reports whether Terraform refuses to destroy a resource. Terraform 1.5 may report
// another error instead: if a cluster cannot be destroyed, it does not get as far as the
// instances of its pools, and says that it cannot import to them.
func refuses(o outcome) bool {
	said := strings.Join(o.said, "\n")
	return strings.Contains(said, "Instance cannot be destroyed") ||
		strings.Contains(said, "Cannot import to non-existent resource address")
}

// refuseReplacements checks that Terraform refuses every plan that would replace a resource
// that was taken over.
func refuseReplacements(t *testing.T, r root) {
	for name, e := range map[string]edit{
		"GPUs of a pool":        {"node_pools.tf", "nvidia-h100-80gb", "nvidia-h200-141gb"},
		"pool on demand":        {"node_pools.tf", "    spot            = true\n", ""},
		"subnet of the cluster": {"terraform.tfvars", `= "gke"`, `= "other"`},
	} {
		t.Run(name, func(t *testing.T) {
			r.edit(t, e)
			if got := r.plan(t, "plan"); !refuses(got) {
				t.Errorf("terraform says %q and plans %v", got.said, got.actions)
			}
		})
	}
}
