package folders_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/gke"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/golden/check"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// takeOvers is what makes the adopted cluster a platform that takes over.
var takeOvers = regexp.MustCompile(`(?m)^.*\btakeOver:.*\n`)

// compileAdopted compiles a platform that takes over its cluster and all of its node pools, with
// tags, after an edit of its text.
func compileAdopted(t *testing.T, edit func(string) string, tags ...string) emit.Tree {
	t.Helper()
	source := edit(fixture.ReadText(t, fixture.Path("golden/testdata/platforms/adopted-cluster.cue")))
	tree, res := compile.Input(t, compiler.Input{
		Dir: fixture.Root(), Paths: []string{"-"}, Stdin: strings.NewReader(source), Tags: tags,
	})
	for _, f := range res.Findings.Sorted() {
		t.Errorf("%s[%s]: %s", f.Severity, f.Code, f.Message)
	}
	return tree
}

func unedited(s string) string { return s }

// TestTakeOver compares what a takeover adds with the goldens: the imports, the blocks
// for the former owners, and the page. For Infrastructure Manager, it compares only the
// imports.
func TestTakeOver(t *testing.T) {
	for _, form := range []struct {
		golden string
		tags   []string
		kept   func(path string) bool
	}{
		{"adopted-cluster", nil, func(path string) bool {
			return path == "terraform/imports.tf" || strings.HasPrefix(path, "takeover/")
		}},
		{"adopted-cluster-managed", []string{"managed=true"}, func(path string) bool {
			return path == "terraform/imports.tf"
		}},
	} {
		t.Run(form.golden, func(t *testing.T) {
			tree := compileAdopted(t, unedited, form.tags...)
			checkFolder(t, fixture.FS(tree))
			if fixture.Updating() && !t.Failed() {
				runConformance(t, tree)
			}
			if !t.Failed() {
				fixture.CompareTree(t, fixture.Path("golden/testdata", form.golden), tree.Select(form.kept))
			}
		})
	}
}

// TestTakeOverLeavesNothing holds that a platform whose blueprint loses its takeOver has
// the folder of a platform that never had one: the resources keep their addresses and all
// arguments, and only the blocks and texts about the takeover go.
func TestTakeOverLeavesNothing(t *testing.T) {
	with := compileAdopted(t, unedited)
	without := compileAdopted(t, func(s string) string { return takeOvers.ReplaceAllString(s, "") })
	var changed []string
	for _, f := range otherFiles(with, without) {
		changed = append(changed, f.Path)
	}
	want := []string{
		"README.md", "REFERENCE.md", "cloudbuild/destroy.yaml", "destroy-platform.sh", "takeover/README.md",
		"takeover/removed.tf", "terraform/cluster.tf", "terraform/imports.tf", "terraform/node_pools.tf",
	}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	letGo := string(fixture.ReadFile(t, fixture.FS(with), "takeover/removed.tf"))
	removed, kept := strings.Count(letGo, "\nremoved {\n"), strings.Count(letGo, "\n    destroy = false\n")
	if removed == 0 || removed != kept {
		t.Errorf("former owners remove %d resources and keep %d:\n%s", removed, kept, letGo)
	}
	lifecycle := regexp.MustCompile(`(?ms)^  lifecycle \{.*?^  \}\n`)
	a, b := fixture.FS(with), fixture.FS(without)
	for _, path := range []string{"terraform/cluster.tf", "terraform/node_pools.tf"} {
		was, is := string(fixture.ReadFile(t, a, path)), string(fixture.ReadFile(t, b, path))
		if diff := cmp.Diff(lifecycle.ReplaceAllString(is, ""), lifecycle.ReplaceAllString(was, "")); diff != "" {
			t.Errorf("%s differs outside lifecycle (-without +with):\n%s", path, diff)
		}
		guarded := strings.Count(was, "prevent_destroy = true")
		if want := map[string]int{"terraform/cluster.tf": 1, "terraform/node_pools.tf": 3}[path]; guarded != want ||
			strings.Contains(is, "prevent_destroy") {
			t.Errorf("%s: %d resources cannot be destroyed, want %d, and none without takeOver", path, guarded, want)
		}
	}
}

// TestTakeOverInClusterOfOthers holds that a platform in a cluster that others own can
// take over node pools of this cluster, and only them.
func TestTakeOverInClusterOfOthers(t *testing.T) {
	const own = `cluster: takeOver: from: "module.gke.google_container_cluster.primary"`
	tree := fixture.FS(compileAdopted(t, func(s string) string {
		const others = `cluster: existing: {name: "prod", location: "us-east5-a", version: "1.34", has: ` +
			`multiNetworking: true}`
		return strings.Replace(strings.Replace(s, own, others, 1), " default: true,", "", 1)
	}))
	for _, err := range check.Terraform(tree) {
		t.Error(err)
	}
	imports := string(fixture.ReadFile(t, tree, "terraform/imports.tf"))
	if strings.Count(imports, "\nimport {\n") != 3 || strings.Count(imports, "var.cluster_location") != 3 ||
		strings.Contains(imports, "google_container_cluster") {
		t.Errorf("the imports are\n%s", imports)
	}
	page := string(fixture.ReadFile(t, tree, "takeover/README.md"))
	if !strings.Contains(page, "clusters describe prod --location=us-east5-a ") ||
		strings.Contains(page, "default-pool") {
		t.Errorf("the page is\n%s", page)
	}
}

// TestTakeOverKeeps holds that each setting that a takeover can keep is an argument whose change
// replaces a pool, and that Terraform ignores it.
func TestTakeOverKeeps(t *testing.T) {
	for _, setting := range ir.KeptSettings() {
		argument := strings.Replace(setting.Argument(), "node_config.", "node_config[0].", 1)
		tree := compileAdopted(t, func(s string) string {
			return strings.Replace(s, `keep: ["serviceAccount", "shieldedInstanceConfig", "reservationAffinity"]`,
				`keep: ["`+string(setting)+`"]`, 1)
		})
		pools := string(fixture.ReadFile(t, fixture.FS(tree), "terraform/node_pools.tf"))
		if !strings.Contains(pools, "ignore_changes = [initial_node_count, "+argument+"]\n") {
			t.Errorf("keep %q: Terraform does not ignore %s", setting, argument)
		}
		if !slices.ContainsFunc(gke.Replacements("google_container_node_pool"),
			func(a gke.Replacement) bool {
				return a.Path == setting.Argument() || strings.HasPrefix(a.Path, setting.Argument()+".")
			}) {
			t.Errorf("keep %q: a change of %s replaces no pool", setting, argument)
		}
	}
}

// TestTakeOverPage holds that the page lists every argument whose difference makes
// Terraform replace what is taken over, except arguments that the import itself decides,
// that Terraform ignores, or that the words of the page cover.
func TestTakeOverPage(t *testing.T) {
	tree := compileAdopted(t, unedited)
	page := string(fixture.ReadFile(t, fixture.FS(tree), "takeover/README.md"))
	covered := map[string][]string{
		"google_container_node_pool": {
			"name", "cluster", "location", "initial_node_count", "node_config",
			// the other arguments of the consumption
			"queued_provisioning", "node_config.max_run_duration",
		},
		"google_container_cluster": {"name", "initial_node_count", "node_config", "description"},
	}
	for _, o := range ir.Options() {
		covered["google_container_node_pool"] = append(covered["google_container_node_pool"],
			"node_config."+o.NodeConfig)
	}
	for kind, known := range covered {
		for _, a := range gke.Replacements(kind) {
			listed := false
			for path := a.Path; path != ""; path = path[:max(0, strings.LastIndex(path, "."))] {
				listed = listed || strings.Contains(page, "`"+path+"`") || slices.Contains(known, path) &&
					(path != "node_config" || kind == "google_container_cluster" || path == a.Path)
			}
			if !listed {
				t.Errorf("the page does not name %s of %s", a.Path, kind)
			}
		}
	}
}
