package terraform

import (
	"regexp"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestLabels checks that the platform's labels reach every node pool and the provider,
// that a team's labels reach its bucket, and that a platform without labels mentions
// none.
func TestLabels(t *testing.T) {
	files := emitFiles(t, editedPlan(func(p *ir.Platform) {
		p.Labels = []ir.KeyValue{{Key: "cost-center", Value: "4711"}, {Key: "for", Value: ""}}
		p.Teams[0].Bucket = "my-project-demo-a"
		p.Teams[0].Labels = []ir.KeyValue{{Key: "owner", Value: "research"}}
	}))
	pools := string(files["node_pools.tf"])
	want := strings.Count(pools, `resource "google_container_node_pool"`)
	if n := len(regexp.MustCompile(`resource_labels += var\.labels\n`).FindAllString(pools, -1)); n != want || n == 0 {
		t.Errorf("%d of %d pools have the labels\n%s", n, want, pools)
	}
	for name, texts := range map[string][]string{
		"providers.tf":     {"default_labels = merge(var.labels, {\n"},
		"variables.tf":     {"variable \"labels\" {", "labels       = optional(map(string), {})"},
		"terraform.tfvars": {"labels = {\n  cost-center = \"4711\"\n  \"for\"       = \"\"\n}", "owner = \"research\""},
		"storage.tf":       {"var.teams[each.key].labels"},
	} {
		for _, text := range texts {
			if !strings.Contains(string(files[name]), text) {
				t.Errorf("%s has no %q:\n%s", name, text, files[name])
			}
		}
	}
	for name, content := range emitFiles(t, editedPlan(func(*ir.Platform) {})) {
		if strings.Contains(string(content), "var.labels") || strings.Contains(string(content), "resource_labels") {
			t.Errorf("%s has labels without a label in the plan", name)
		}
	}
}
