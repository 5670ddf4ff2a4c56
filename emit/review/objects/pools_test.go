package objects

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/losses"
)

// TestPoolsThatStay checks which node pools lose nodes or get others although Terraform changes
// them in place, with the number of nodes that go.
func TestPoolsThatStay(t *testing.T) {
	const fixed = `resource "google_container_node_pool" "l4_a" {
  name           = "l4-a"
  node_locations = ["a", "b"]
  node_count     = 4

  node_config {
    machine_type = "g2-standard-4"
    disk_size_gb = 100
    labels       = { "a" = "b" }
  }
}
`
	scaled := strings.Replace(fixed, "  node_count     = 4\n",
		"\n  autoscaling {\n    total_max_node_count = 6\n  }\n", 1)
	plan := &ir.Platform{Capacities: []ir.Capacity{{Name: "l4-a", Hardware: "l4", MaxNodes: 8}}}
	for _, test := range []struct {
		name, before string
		edit         []string
		want         string
		lost         []losses.Why
	}{
		{"a label", fixed, []string{`{ "a" = "b" }`, `{ "a" = "c" }`}, "", nil},
		{"more nodes", fixed, []string{"= 4", "= 5"}, "", nil},
		{"another zone more", fixed, []string{`"b"]`, `"b", "c"]`}, "", nil},
		{"fewer nodes", fixed, []string{"= 4", "= 3"}, `
shrunk: l4 node pool l4_a 2 nodes
  node_count: 4 -> 3`, []losses.Why{losses.Fewer}},
		{"a zone less", fixed, []string{`, "b"]`, "]"}, `
shrunk: l4 node pool l4_a 4 nodes
  node_locations: a, b -> a`, []losses.Why{losses.Zone}},
		{"other zones", scaled, []string{`"a", "b"]`, `"c"]`}, `
shrunk: l4 node pool l4_a 6 nodes
  node_locations: a, b -> c`, []losses.Why{losses.Zone, losses.Zone}},
		{"a zone less, with an unknown number of nodes", scaled, []string{`, "b"]`, "]"}, `
shrunk: l4 node pool l4_a 0 nodes
  node_locations: a, b -> a`, []losses.Why{losses.Zone}},
		{"another machine and disk", fixed, []string{"standard-4", "standard-8", "100", "200"}, `
recreated: l4 node pool l4_a 8 nodes
  node_config.disk_size_gb: 100 -> 200
  node_config.machine_type: g2-standard-4 -> g2-standard-8`, []losses.Why{losses.Recreated}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tree := func(content string) emit.Tree {
				return emit.Tree{{Path: "terraform/main.tf", Content: []byte(content)}}
			}
			e := EffectsOf(tree(test.before), tree(strings.NewReplacer(test.edit...).Replace(test.before)), plan)
			if len(e.Replaced)+len(e.Removed) > 0 {
				t.Errorf("replaced %v, removed %v", e.Replaced, e.Removed)
			}
			var b strings.Builder
			for what, list := range map[string][]Replacement{"shrunk": e.Shrunk, "recreated": e.Recreated} {
				for _, r := range list {
					fmt.Fprintf(&b, "\n%s: %s %s %s %d nodes", what, r.Hardware, r.Noun(), r.Name(), r.Nodes)
					for _, f := range r.Because {
						fmt.Fprintf(&b, "\n  %s: %s -> %s", f.Path, f.From, f.To)
					}
				}
			}
			if diff := cmp.Diff(test.want, b.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			var lost []losses.Why
			for _, l := range e.Lost {
				if lost = append(lost, l.Why); l.Capacity != "l4-a" {
					t.Errorf("capacity %s", l.Capacity)
				}
			}
			if diff := cmp.Diff(test.lost, lost); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
}
