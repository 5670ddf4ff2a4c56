package gke

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type schemaBlock struct {
	Attributes map[string]struct{ Optional, Computed, Required bool }
	BlockTypes map[string]struct{ Block schemaBlock } `json:"block_types"`
}

// readProvider returns the provider's schemas of resources, and the arguments that it cannot
// change in place, by type of resource.
func readProvider(t *testing.T) (schemas map[string]schemaBlock, forceNew map[string][]string) {
	t.Helper()
	var doc struct {
		Providers map[string]struct {
			Resources map[string]struct{ Block schemaBlock } `json:"resource_schemas"`
		} `json:"provider_schemas"`
	}
	for name, into := range map[string]any{"google-schema.json": &doc, "force-new.json": &forceNew} {
		content, err := os.ReadFile(filepath.Join("../../golden/testdata/provider", name))
		if err := errors.Join(err, json.Unmarshal(content, into)); err != nil {
			t.Fatal(err)
		}
	}
	schemas = map[string]schemaBlock{}
	for kind, r := range doc.Providers["registry.terraform.io/hashicorp/google"].Resources {
		schemas[kind] = r.Block
	}
	return schemas, forceNew
}

// find returns what the schema says of a path, and reports whether it has the path.
func (b schemaBlock) find(path string) (computed, isBlock, ok bool) {
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		next, found := b.BlockTypes[name]
		if !found {
			return false, false, false
		}
		b = next.Block
	}
	last := names[len(names)-1]
	if _, found := b.BlockTypes[last]; found {
		return false, true, true
	}
	a, found := b.Attributes[last]
	return a.Optional && a.Computed, false, found
}

// TestArguments holds the rows against the provider's schema: the rows name arguments that
// the provider has, those that it computes, and those that replace the resource.
func TestArguments(t *testing.T) {
	schemas, forceNew := readProvider(t)
	for _, kind := range []string{Cluster, NodePool} {
		seen := map[string]bool{}
		for _, a := range Arguments(kind) {
			if a.Path == "" {
				continue
			}
			if seen[a.Path] {
				t.Errorf("%s: %s has two rows", kind, a.Path)
			}
			seen[a.Path] = true
			if around, inside := cutLast(a.Path); inside && !seen[around] {
				t.Errorf("%s: no row for the block around %s precedes it", kind, a.Path)
			}
			computed, isBlock, ok := schemas[kind].find(a.Path)
			switch {
			case !ok || isBlock != a.Is(Block):
				t.Errorf("%s has no %s", kind, a.Path)
			case !isBlock && !a.Is(Uncompared) && computed != a.Is(Computed):
				t.Errorf("%s: %s is computed: %t", kind, a.Path, computed)
			}
			forces := slices.Contains(forceNew[kind], a.Path)
			if a.Is(Replaces) && !forces || a.Is(Triggered) && forces || a.Is(Foreign) && !a.Is(Replaces) {
				t.Errorf("%s: %s replaces the resource: %t", kind, a.Path, forces)
			}
			if a.Is(Foreign) && computed {
				t.Errorf("%s: %s is computed, so a resource that has it is not replaced", kind, a.Path)
			}
		}
	}
}

// TestForceNew checks that the rows have every argument that replaces a cluster or a node
// pool, except arguments that the provider computes.
func TestForceNew(t *testing.T) {
	schemas, forceNew := readProvider(t)
	// The provider computes these blocks, which the schema does not say. Source: the
	// provider's own code, resource_container_cluster.go and resource_container_node_pool.go.
	// It keeps the value of create_pod_range, which the API does not return.
	for kind, kept := range map[string][]string{
		Cluster: {
			"confidential_nodes", "ip_allocation_policy",
			// The importer refuses an Autopilot cluster, and pools are resources of their own.
			"enable_autopilot", "node_pool", "node_config",
		},
		NodePool: {
			"node_config.confidential_nodes", "network_config.pod_cidr_overprovision_config",
			"network_config.create_pod_range",
		},
	} {
		known := slices.Concat(Replacements(kind), ForeignReplacements(kind))
		for _, path := range forceNew[kind] {
			computed, _, _ := schemas[kind].find(path)
			isBelow := func(around string) bool { return path == around || strings.HasPrefix(path, around+".") }
			if !computed && !slices.ContainsFunc(kept, isBelow) &&
				!slices.ContainsFunc(known, func(r Replacement) bool { return isBelow(r.Path) }) {
				t.Errorf("%s: %s replaces a resource that sets it, and has no row", kind, path)
			}
		}
	}
}

func TestKeyPath(t *testing.T) {
	want := map[string]string{
		"node_config.machine_type":                    "config.machineType",
		"node_config.taint.key":                       "config.taints.key",
		"node_config.secondary_boot_disks.disk_image": "config.secondaryBootDisks.diskImage",
		"node_locations":                              "locations",
		"max_pods_per_node":                           "maxPodsConstraint.maxPodsPerNode",
		"":                                            "autoscaling.enabled",
	}
	for _, a := range Arguments(NodePool) {
		if key, ok := want[a.Path]; ok && KeyPath(NodePool, a) != key {
			t.Errorf("%q is %s, want %s", a.Path, KeyPath(NodePool, a), key)
		}
	}
}

func TestCoversRange(t *testing.T) {
	for _, test := range []struct {
		outer, inner string
		want         bool
	}{
		{"10.0.0.0/8", "10.1.0.0/16", true}, {"10.1.0.0/16", "10.0.0.0/8", false},
		{"10.0.0.0/16", "10.0.0.0/16", true}, {"10.0.0.0/16", "10.1.0.0/24", false}, {"x", "10.0.0.0/8", false},
	} {
		if got := coversRange(test.outer, test.inner); got != test.want {
			t.Errorf("coversRange(%s, %s) = %t", test.outer, test.inner, got)
		}
	}
}
