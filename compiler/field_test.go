package compiler

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/batchwright/batchwright/compiler/blueprint"
	"github.com/batchwright/batchwright/compiler/diag"
)

// TestExplainEveryField follows the schema down to its last field: whatever can
// be written can be explained.
func TestExplainEveryField(t *testing.T) {
	if testing.Short() {
		t.Skip("explains every field")
	}
	fields := 0
	var visit func(path []string)
	visit = func(path []string) {
		f, _, err := ExplainField(context.Background(), Input{}, diag.Path(path))
		if err != nil {
			t.Fatal(err)
		}
		if f.Accepts == "" || len(f.Doc) == 0 && path[len(path)-1] != "x" {
			t.Errorf("%s: accepts %q, documentation %q", f.Path, f.Accepts, f.Doc)
		}
		for _, m := range f.Fields {
			fields++
			if m.Accepts == "" || m.Doc == "" {
				t.Errorf("%s: field %s accepts %q, documentation %q", f.Path, m.Name, m.Accepts, m.Doc)
			}
			visit(append(path[:len(path):len(path)], strings.Split(strings.ReplaceAll(m.Name, "*", "x"), ".")...))
		}
	}
	f, _, err := ExplainField(context.Background(), Input{}, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range f.Fields {
		visit([]string{m.Name})
	}
	if fields < 100 {
		t.Errorf("visited %d fields", fields)
	}
}

// TestExplainValue tells where values come from.
func TestExplainValue(t *testing.T) {
	const source = `
-- platform.cue --
package platform

import "example.com/platform/shared"

name:    _name
_name:   "small"
project: "my-project"
region:  "us-central1"
zones: [for z in ["a", "b"] {"us-central1-\(z)"}]
cluster: releaseChannel: *"RAPID" | string
cluster: minVersion:     "nonsense"
if false {cluster: imageStreaming: false}
hardware: l4: machine: "g2-standard-24"
teams: [string]: bucket: true
teams: {
	"team-a": {cohort: "x", roles: ["roles/viewer"]}
	"team-b": {}
}
_groups: {"team-c": "c@example.com"}
teams: {for n, g in _groups {(n): group: g}}
tiers: shared.tiers
network: _ @embed(file=network.yaml)
-- prod.cue --
package platform

cluster: releaseChannel: "STABLE"
-- shared/tiers.cue --
package shared

tiers: lp: {priority: 10, capacity: ["l4"]}
-- network.yaml --
pods: 10.8.0.0/14
-- cue.mod/module.cue --
module: "example.com/platform@v0"
language: version: "v0.17.0"
`
	dir := t.TempDir()
	archive := strings.Replace(source, "-- platform.cue --\n", "-- platform.cue --\n@extern(embed)\n\n", 1)
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path   string
		origin blueprint.Origin
		text   string
		places []string
	}{
		{"name", blueprint.Written, `"small"`, []string{"platform.cue:8:10", "platform.cue:7:10"}},
		{"zones", blueprint.Written, `["us-central1-a", "us-central1-b"]`, []string{"platform.cue:11:8"}},
		{"zones[1]", blueprint.Written, `"us-central1-b"`, []string{"platform.cue:11:8"}},
		{"cluster.releaseChannel", blueprint.Written, `"STABLE"`, []string{"prod.cue:3:26", "platform.cue:12:26"}},
		{"cluster.imageStreaming", blueprint.Defaulted, "true", nil},
		{"cluster.minVersion", blueprint.Unknown, "", []string{"platform.cue:13:26"}},
		{"cluster.securityGroup", blueprint.Unset, "", nil},
		{"versions.kueue", blueprint.Defaulted, `"0.19.2"`, nil},
		{"hardware.l4.disk.sizeGiB", blueprint.Defaulted, "100", nil},
		{"hardware.l4.disk", blueprint.Unset, "", nil},
		{"teams.team-b.bucket", blueprint.Written, "true", []string{"platform.cue:16:26"}},
		{"teams.team-a.roles[0]", blueprint.Written, `"roles/viewer"`, []string{"platform.cue:18:34"}},
		{"teams.team-c.group", blueprint.Written, `"c@example.com"`,
			[]string{"platform.cue:21:21", "platform.cue:22:42"}},
		{"teams.team-d.group", blueprint.Unset, "", nil},
		{"tiers.lp.priority", blueprint.Written, "10", []string{"shared/tiers.cue:3:23"}},
		{"network.pods", blueprint.Written, `"10.8.0.0/14"`, []string{"network.yaml:1:7"}},
		{"network.nodes", blueprint.Defaulted, `"10.0.0.0/20"`, nil},
	} {
		t.Run(c.path, func(t *testing.T) {
			f, findings, err := ExplainField(context.Background(), Input{Dir: dir, Paths: []string{"."}}, c.path)
			if err != nil {
				t.Fatal(err)
			}
			if f.Value == nil {
				t.Fatal(findings.Sorted())
			}
			var places []string
			for _, p := range f.Value.Places {
				places = append(places, p.Span.String())
			}
			if f.Value.Origin != c.origin || f.Value.Text != c.text {
				t.Errorf("got %s %s, want %s %s", f.Value.Origin, f.Value.Text, c.origin, c.text)
			}
			if d := cmp.Diff(c.places, places); d != "" {
				t.Errorf("places: %s", d)
			}
		})
	}
}
