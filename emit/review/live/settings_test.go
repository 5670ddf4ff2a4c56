package live

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/batchwright/batchwright/compiler/gke"
)

// notCompared are the arguments of the folder that have no row, by the reason.
var notCompared = map[string][]string{
	"identifies the resource": {
		gke.Cluster + ".name", gke.Cluster + ".location", gke.NodePool + ".name", gke.NodePool + ".cluster",
		gke.NodePool + ".location",
	},
	"exists only in Terraform": {gke.Cluster + ".deletion_protection", gke.Cluster + ".remove_default_node_pool"},
	"applies only at the creation": {
		gke.Cluster + ".min_master_version", gke.Cluster + ".node_config", gke.NodePool + ".initial_node_count",
		gke.Cluster + ".maintenance_policy.recurring_window.start_time",
		gke.Cluster + ".maintenance_policy.recurring_window.end_time",
	},
	"not printed by gcloud as it was set": {
		gke.Cluster + ".node_pool_defaults", gke.Cluster + ".node_pool_auto_config",
		gke.Cluster + ".maintenance_policy.maintenance_exclusion", gke.Cluster + ".notification_config",
		gke.Cluster + ".cluster_autoscaling.auto_provisioning_defaults.management",
		gke.Cluster + ".cluster_autoscaling.auto_provisioning_defaults.upgrade_settings",
		gke.Cluster + ".cluster_autoscaling.auto_provisioning_defaults.shielded_instance_config",
	},
}

// argumentPaths yields the paths of the arguments in a block.
func argumentPaths(at string, body *hclsyntax.Body, yield func(path string)) {
	for name := range body.Attributes {
		yield(at + name)
	}
	for _, b := range body.Blocks {
		name, inner := b.Type, b.Body
		if name == "dynamic" {
			name, inner = b.Labels[0], b.Body.Blocks[0].Body
		}
		argumentPaths(at+name+".", inner, yield)
	}
}

// TestRowsCoverTheFolder: each argument of a cluster or a node pool of the golden folders
// is compared, or the list says why not.
func TestRowsCoverTheFolder(t *testing.T) {
	files, err := filepath.Glob("../../../golden/*/terraform/*.tf")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	rows := map[string]map[string]bool{gke.Cluster: {}, gke.NodePool: {}}
	for kind, paths := range rows {
		for _, a := range gke.Arguments(kind) {
			paths[a.Path] = !a.Is(gke.Uncompared)
		}
	}
	var except []string
	for _, paths := range notCompared {
		except = append(except, paths...)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, diags := hclsyntax.ParseConfig(content, file, hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		for _, b := range parsed.Body.(*hclsyntax.Body).Blocks {
			if b.Type != "resource" || rows[b.Labels[0]] == nil {
				continue
			}
			argumentPaths("", b.Body, func(path string) {
				top, _, _ := strings.Cut(path, ".")
				isExcepted := slices.ContainsFunc(except, func(e string) bool {
					return strings.HasPrefix(b.Labels[0]+"."+path+".", e+".")
				})
				if !rows[b.Labels[0]][path] && !isExcepted && !slices.Contains([]string{"lifecycle",
					"depends_on", "for_each"}, top) {
					t.Errorf("%s: %s.%s is not compared", file, b.Labels[0], path)
				}
			})
		}
	}
}

// TestReplacementsAreCompared holds that everything that replaces a resource is compared, or
// that the list says why not.
func TestReplacementsAreCompared(t *testing.T) {
	for _, kind := range []string{gke.Cluster, gke.NodePool} {
		settings := settingsOf(kind)
		for _, a := range slices.Concat(gke.Replacements(kind), gke.ForeignReplacements(kind)) {
			_, compared := settings[a.Path]
			for _, paths := range notCompared {
				compared = compared || slices.ContainsFunc(paths, func(e string) bool {
					return strings.HasPrefix(kind+"."+a.Path+".", e+".")
				})
			}
			if !compared {
				t.Errorf("%s: %s replaces the resource, and is not compared", kind, a.Path)
			}
		}
	}
}
