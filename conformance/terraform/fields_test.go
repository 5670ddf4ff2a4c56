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
	oneSubnet  = "the stand-in has only one existing subnet; TestNetworkTeam reads it"
)

// unedited says for a field of the blueprint, or for all fields below one, why no edit of
// allEdits changes it.
var unedited = map[string]string{
	"capacity.*.consumption.flexStart.admissionCheck": noResource,

	"capacity.*.maxSlices":                     "the tag autoscaled=true sets it",
	"capacity.*.takeOver":                      "TestTakeOver",
	"capacity.*.consumption.flexStart.retries": noResource,
	"capacity.*.consumption.flexStart.retry":   noResource,
	"cluster.existing.has.dataplaneV2":         noResource,
	"cluster.existing.has.workloadIdentity":    noResource,
	"cluster.existing.jobset":                  noResource,
	"cluster.existing.kueue":                   noResource,
	"cluster.existing.version":                 noResource,
	"cluster.takeOver":                         "TestTakeOver",
	"delivery.destination":                     noResource,
	"delivery.gitops":                          "batch-platform-argocd is created by TestBuilds, and has edits",
	"delivery.infrastructureManager":           "it moves the state: the review says from where to where",
	"delivery.machine":                         noResource,
	"delivery.manifests":                       noResource,
	"delivery.source":                          noResource,
	"delivery.statePrefix":                     "it moves the state: the review says from where to where",
	"delivery.timeout":                         noResource,
	"delivery.stateBucket":                     "it moves the state: the review says from where to where",
	"hardware.*.perAccelerator":                noResource,
	"monitoring.grafanaNamespace":              noResource,
	"network.existing.network":                 oneSubnet,
	"network.existing.pods":                    oneSubnet,
	"network.existing.project":                 oneSubnet,
	"network.existing.ranges":                  oneSubnet,
	"network.existing.rdma.subnets":            "as network.existing.gvnic.subnet",
	"network.existing.services":                oneSubnet,
	"network.existing.subnet":                  oneSubnet,
	"network.existing.tcpx":                    "as network.existing.gvnic, for other machines",
	"network.tcpx":                             "as network.gvnic, for other machines",
	"project":                                  "it moves the state: the review says from where to where",
	"teams.*.allow":                            noResource,
	"teams.*.maxJobs":                          noResource,
	"teams.*.priority":                         noResource,
	"teams.*.queues":                           noResource,
	"teams.*.weight":                           noResource,
	"teams.*.quota.*.*.borrow":                 "as accelerators",
	"teams.*.quota.*.*.cpus":                   "as accelerators",
	"teams.*.quota.*.*.lend":                   "as accelerators",
	"versions.gcloud":                          noResource,
	"versions.gib":                             noResource,
	"versions.googleProvider":                  "the stand-in has the schema of one version",
	"versions.helm":                            noResource,
	"versions.jobset":                          "as versions.kueue",
	"versions.kai":                             noResource,
	"versions.sha256":                          "the pins of versions",
	"versions.terraform":                       "the version of the program that runs the edits",
}

// outside are the parts of the blueprint that reach no resource except dashboards.
var outside = []string{
	"accept", "cohorts", "demonstration", "kueue", "notes", "organisation", "rehearsals", "scheduler", "tiers",
	"workloads",
}

// setting is a field in the text of an edit, with the rest of its line as its value.
type setting struct{ name, value string }

var settingName = regexp.MustCompile(`([A-Za-z]\w*)"?: *([^,}\n]*)`)

// settingsIn returns the fields in a text, also those above others.
func settingsIn(text string) (out []setting) {
	for start := 0; ; {
		m := settingName.FindStringSubmatchIndex(text[start:])
		if m == nil {
			return out
		}
		out = append(out, setting{name: text[start+m[2] : start+m[3]], value: text[start+m[4] : start+m[5]]})
		start += m[3] // the value may begin with a field
	}
}

// TestEditedFields checks that an edit changes each field of the blueprint that can reach
// Terraform, as far as the last name in its path tells, or that unedited says why none does.
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
	edited := map[string]bool{}
	for _, edits := range allEdits {
		for _, e := range edits {
			was, is := settingsIn(e.old), settingsIn(e.new+"\n"+strings.ReplaceAll(e.tag, "=", ": "))
			for _, all := range [][]setting{was, is} {
				for _, s := range all {
					if !slices.Contains(was, s) || !slices.Contains(is, s) {
						edited[s.name] = true
					}
				}
			}
		}
	}
	used, fields := map[string]bool{}, 0
	schema.walk(nil, func(path []string) {
		if slices.Contains(outside, path[0]) || slices.Contains(path, "accept") {
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
		if !edited[name] {
			t.Errorf("no edit changes %s", strings.Join(path, "."))
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
