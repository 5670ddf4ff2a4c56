package live

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/batchwright/batchwright/emit/terraform"
)

// notCompared are the arguments of the folder that have no row, by the reason.
var notCompared = map[string][]string{
	"identifies the resource": {
		typeCluster + ".name", typeCluster + ".location", typePool + ".name", typePool + ".cluster",
		typePool + ".location",
	},
	"exists only in Terraform": {typeCluster + ".deletion_protection", typeCluster + ".remove_default_node_pool"},
	"applies only at the creation": {
		typeCluster + ".min_master_version", typeCluster + ".node_config", typePool + ".initial_node_count",
		typeCluster + ".maintenance_policy.recurring_window.start_time",
		typeCluster + ".maintenance_policy.recurring_window.end_time",
	},
	"not printed by gcloud as it was set": {
		typeCluster + ".node_pool_defaults", typeCluster + ".node_pool_auto_config",
		typeCluster + ".maintenance_policy.maintenance_exclusion", typeCluster + ".notification_config",
		typeCluster + ".cluster_autoscaling.auto_provisioning_defaults.management",
		typeCluster + ".cluster_autoscaling.auto_provisioning_defaults.upgrade_settings",
		typeCluster + ".cluster_autoscaling.auto_provisioning_defaults.shielded_instance_config",
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
	rows := map[string]map[string]bool{typeCluster: {}, typePool: {}}
	for kind, list := range map[string][]settingRow{typeCluster: clusterRows(), typePool: poolRows()} {
		for _, r := range list {
			if rows[kind][r.path] {
				t.Errorf("%s has two rows for %s", kind, r.path)
			}
			rows[kind][r.path] = true
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

type schemaBlock struct {
	Attributes map[string]struct{ Optional, Computed, Required bool }
	BlockTypes map[string]struct{ Block schemaBlock } `json:"block_types"`
}

// TestRowsOfTheProvider: the rows name arguments that the provider has, and the arguments
// that it computes.
func TestRowsOfTheProvider(t *testing.T) {
	var doc struct {
		Providers map[string]struct {
			Resources map[string]struct{ Block schemaBlock } `json:"resource_schemas"`
		} `json:"provider_schemas"`
	}
	var forceNew map[string][]string
	for name, into := range map[string]any{"google-schema.json": &doc, "force-new.json": &forceNew} {
		content, err := os.ReadFile(filepath.Join("../../../golden/testdata/provider", name))
		if err := errors.Join(err, json.Unmarshal(content, into)); err != nil {
			t.Fatal(err)
		}
	}
	resources := doc.Providers["registry.terraform.io/hashicorp/google"].Resources
	for kind, rows := range map[string][]settingRow{typeCluster: clusterRows(), typePool: poolRows()} {
		settings := settingsOf(rows)
		for _, r := range rows {
			names := strings.Split(r.path, ".")
			block, ok := resources[kind].Block, true
			for i, name := range names {
				if i == len(names)-1 && !r.block {
					break
				}
				next, found := block.BlockTypes[name]
				block, ok = next.Block, ok && found
			}
			a, isArgument := block.Attributes[names[len(names)-1]]
			switch {
			case r.path == "description": // the schema omits all arguments of this name
			case !ok, !r.block && !isArgument:
				t.Errorf("%s has no %s", kind, r.path)
			case !r.block && r.Computed != (a.Optional && a.Computed):
				t.Errorf("%s: %s is computed: %t", kind, r.path, !r.Computed)
			}
			for i := range names[1:] {
				if _, ok := settings[strings.Join(names[:i+1], ".")]; !ok {
					t.Errorf("%s has no row for the block around %s", kind, r.path)
				}
			}
		}
		// Everything that replaces a resource is compared.
		known := slices.Collect(maps.Keys(settings))
		for _, a := range slices.Concat(terraform.ReplacingArguments(kind), terraform.ForeignArguments(kind)) {
			if !slices.ContainsFunc(known, func(path string) bool { return path == a.Path }) &&
				!slices.ContainsFunc(slices.Collect(maps.Values(notCompared)), func(paths []string) bool {
					return slices.ContainsFunc(paths,
						func(e string) bool { return strings.HasPrefix(kind+"."+a.Path+".", e+".") })
				}) {
				t.Errorf("%s: %s replaces the resource, and is not compared", kind, a.Path)
			}
		}
	}
}
