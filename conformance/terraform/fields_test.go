package terraform

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	noResource = "it reaches no resource"
	oneSubnet  = "the stand-in knows one subnet of others, which TestNetworkTeam reads"
)

// unedited says for a field of the blueprint, or for all fields below one, why no edit of
// allEdits changes it.
var unedited = map[string]string{
	"capacity.*.maxSlices":           "the tag autoscaled=true sets it",
	"capacity.*.takeOver":            "TestTakeOver",
	"cluster.existing.has":           "the edit of the multi-networking stands for them: they reach no resource",
	"cluster.existing.jobset":        noResource,
	"cluster.existing.kueue":         noResource,
	"cluster.existing.version":       noResource,
	"cluster.takeOver":               "TestTakeOver",
	"delivery.destination":           noResource,
	"delivery.gitops":                "batch-platform-argocd is created by TestBuilds, and has edits",
	"delivery.infrastructureManager": "it moves the state: the review says from where to where",
	"delivery.source":                noResource,
	"delivery.stateBucket":           "it moves the state: the review says from where to where",
	"hardware.*.perAccelerator":      noResource,
	"monitoring.grafanaNamespace":    noResource,
	"network.existing.network":       oneSubnet,
	"network.existing.pods":          oneSubnet,
	"network.existing.project":       oneSubnet,
	"network.existing.ranges":        oneSubnet,
	"network.existing.rdma.subnets":  "as network.existing.gvnic.subnet",
	"network.existing.services":      oneSubnet,
	"network.existing.subnet":        oneSubnet,
	"network.existing.tcpx":          "as network.existing.gvnic, for other machines",
	"network.tcpx":                   "as network.gvnic, for other machines",
	"project":                        "it moves the state: the review says from where to where",
	"teams.*.allow":                  noResource,
	"teams.*.priority":               noResource,
	"teams.*.queues":                 noResource,
	"teams.*.quota.*.*.borrow":       "as accelerators",
	"teams.*.quota.*.*.cpus":         "as accelerators",
	"teams.*.quota.*.*.lend":         "as accelerators",
	"versions.gcloud":                noResource,
	"versions.gib":                   noResource,
	"versions.googleProvider":        "the stand-in has the schema of one version",
	"versions.helm":                  noResource,
	"versions.jobset":                "as versions.kueue",
	"versions.kai":                   noResource,
	"versions.sha256":                "the pins of versions",
	"versions.terraform":             "the version of the program that runs the edits",
}

// TestEditedFields checks that an edit changes each field of the blueprint that can reach
// Terraform, as far as the name of the field tells, or that unedited says why none does.
func TestEditedFields(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), batchwright(t), "schema").Output()
	if err != nil {
		t.Fatal(err)
	}
	var schema property
	if err := json.Unmarshal(out, &schema); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, edits := range allEdits {
		for _, e := range edits {
			text.WriteString(e.old + "\n" + e.new + "\n" + strings.ReplaceAll(e.tag, "=", ":") + "\n")
		}
	}
	tops := []string{
		"capacity", "cluster", "delivery", "hardware", "images", "labels", "monitoring", "name", "network",
		"project", "region", "security", "teams", "versions", "zones",
	}
	used, fields := map[string]bool{}, 0
	schema.walk(nil, func(path []string) {
		if !slices.Contains(tops, path[0]) || slices.Contains(path, "accept") {
			return
		}
		fields++
		for i := range path {
			if above := strings.Join(path[:i+1], "."); unedited[above] != "" {
				used[above] = true
				return
			}
		}
		name := path[len(path)-1]
		for i := len(path) - 1; name == "*"; i-- {
			name = path[i]
		}
		if !regexp.MustCompile(`\b` + name + `"?:`).MatchString(text.String()) {
			t.Errorf("no edit has %s", strings.Join(path, "."))
		}
	})
	if fields < 100 {
		t.Errorf("the schema has %d fields", fields)
	}
	for path := range unedited {
		if !used[path] {
			t.Errorf("the blueprint has no field %s", path)
		}
	}
}

// property is a part of a JSON Schema.
type property struct {
	Properties           map[string]property
	PatternProperties    map[string]property
	AdditionalProperties json.RawMessage
	Items                *property
	AnyOf, OneOf, AllOf  []property
}

// walk visits the fields that hold values. A key of a map is "*" in a path.
func (p property) walk(path []string, visit func(path []string)) {
	leaf := true
	into := func(name string, inner property) {
		leaf = false
		inner.walk(append(slices.Clone(path), name), visit)
	}
	for name, inner := range p.Properties {
		into(name, inner)
	}
	for _, inner := range p.PatternProperties {
		into("*", inner)
	}
	var inner property
	if len(p.AdditionalProperties) > 0 && p.AdditionalProperties[0] == '{' &&
		json.Unmarshal(p.AdditionalProperties, &inner) == nil {
		into("*", inner)
	}
	for _, all := range [][]property{p.AnyOf, p.OneOf, p.AllOf} {
		for _, one := range all {
			if one.fields() {
				leaf = false
				one.walk(path, visit)
			}
		}
	}
	if p.Items != nil && p.Items.fields() {
		leaf = false
		p.Items.walk(path, visit)
	}
	if leaf && len(path) > 0 {
		visit(path)
	}
}

// fields reports whether a part has fields of its own.
func (p property) fields() bool {
	return len(p.Properties)+len(p.PatternProperties)+len(p.AnyOf)+len(p.OneOf)+len(p.AllOf) > 0
}
