package objects

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/gke"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// facts is the folder with the schema of the provider.
const facts = "../../../golden/testdata/provider"

// settings are fields of the blueprint that no golden folder has.
const settings = `package platform
cluster: {
	minVersion:        "1.35"
	dnsEndpoint:       false
	imageStreaming:    false
	multiNetworking:   true
	authorizedNetworks: office: "203.0.113.0/24"
	maintenance: exclusions: freeze: {start: "2026-12-18", end: "2027-01-06"}
}
security: {
	kmsKey:              "projects/my-project/locations/us-central1/keyRings/gke/cryptoKeys/nodes"
	bulletinTopic:       "projects/my-project/topics/gke"
	binaryAuthorization: true
	dataAccessLogs:      true
	firewallLogs:        true
	flowLogs:            true
	intraNodeVisibility: true
	noSerialPortLogs:    true
	posture:             true
}
labels: cost: "4711"
`

// TestReplacingArguments checks the table of package terraform against the
// provider's own schema and against the arguments that the golden folders and a folder with
// other settings set: no argument is missing, and none is invented.
func TestReplacingArguments(t *testing.T) {
	var forceNew map[string][]string
	readFact(t, "force-new.json", &forceNew)
	schema := readSchema(t)

	used := map[string]map[string]bool{}
	folders := goldenFolders(t)
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "settings.cue"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	folders["other settings"], _ = compile.Blueprint(t, "blueprints/batch-platform", other)
	for name, tree := range folders {
		r := openRoot(tree, nil)
		if r == nil {
			t.Fatalf("%s cannot be read", name)
		}
		for s, i := range r.instancesOf("") {
			if used[s.kind] == nil {
				used[s.kind] = map[string]bool{}
			}
			i.each("", func(path string) { used[s.kind][path] = true })
		}
	}
	if len(used) < 14 {
		t.Fatalf("golden folders have %d types of resources", len(used))
	}
	for kind, paths := range used {
		list := gke.Replacements(kind)
		for _, path := range forceNew[kind] {
			if paths[path] && !slices.ContainsFunc(list, func(a gke.Replacement) bool { return a.Path == path }) {
				t.Errorf("%s: %s is not in the table", kind, path)
			}
		}
		for i, a := range list {
			if slices.ContainsFunc(list[:i], func(other gke.Replacement) bool { return a.Path == other.Path }) {
				t.Errorf("%s: %s is in the table twice", kind, a.Path)
			}
			switch forces := slices.Contains(forceNew[kind], a.Path); {
			case a.Triggered && forces:
				t.Errorf("%s: %s forces replacement without a trigger", kind, a.Path)
			case !a.Triggered && a.Forces == nil && !forces:
				t.Errorf("%s: %s forces no replacement", kind, a.Path)
			}
			attribute := schema[kind].Block.attribute(strings.Split(a.Path, "."))
			if a.Computed != (attribute.Optional && attribute.Computed) {
				t.Errorf("%s: %s is computed: %t, want %t", kind, a.Path, a.Computed, !a.Computed)
			}
			var list []json.RawMessage
			if json.Unmarshal(attribute.Type, &list) == nil && len(list) > 0 && string(list[0]) == `"list"` {
				t.Errorf("%s: %s is a list, and compared as a set", kind, a.Path)
			}
		}
	}
}

// TestEvaluate: every expression of the golden folders that Terraform needs for
// its resources comes to something, except the policies of buckets and the dashboards, which replace nothing.
func TestEvaluate(t *testing.T) {
	for name, tree := range goldenFolders(t) {
		r := openRoot(tree, nil)
		evaluated := map[*managed]bool{}
		for s, i := range r.instancesOf("") {
			evaluated[s] = true
			delete(i.values, "policy_data")
			delete(i.values, "dashboard_json")
			i.all(func(v string) {
				if strings.Contains(v, mark+opaque) {
					t.Errorf("%s: %s: %s", name, i.address, readableValue(v))
				}
			})
		}
		for _, s := range r.resources {
			if !evaluated[s] && s.body.Attributes["for_each"] == nil {
				t.Errorf("%s: %s has no instance", name, s.address)
			}
		}
	}
}

// each yields the paths of all that is set.
func (a arguments) each(at string, yield func(path string)) {
	for name := range a.values {
		yield(at + name)
	}
	for name, blocks := range a.blocks {
		yield(at + name)
		for _, b := range blocks {
			b.each(at+name+".", yield)
		}
	}
}

// all yields all values.
func (a arguments) all(yield func(v string)) {
	for _, v := range a.values {
		yield(scalarText(v))
	}
	for _, blocks := range a.blocks {
		for _, b := range blocks {
			b.all(yield)
		}
	}
}

type schemaAttribute struct {
	Type               json.RawMessage
	Optional, Computed bool
}

type schemaBlock struct {
	Attributes map[string]schemaAttribute
	BlockTypes map[string]struct{ Block schemaBlock } `json:"block_types"`
}

// attribute returns the one at a path, which is empty for a block.
func (b schemaBlock) attribute(path []string) schemaAttribute {
	for _, name := range path[:len(path)-1] {
		b = b.BlockTypes[name].Block
	}
	return b.Attributes[path[len(path)-1]]
}

func readSchema(t *testing.T) map[string]struct{ Block schemaBlock } {
	var doc struct {
		Providers map[string]struct {
			Resources map[string]struct{ Block schemaBlock } `json:"resource_schemas"`
		} `json:"provider_schemas"`
	}
	readFact(t, "google-schema.json", &doc)
	return doc.Providers["registry.terraform.io/hashicorp/google"].Resources
}

func readFact(t *testing.T, name string, v any) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(facts, name))
	if err := errors.Join(err, json.Unmarshal(content, v)); err != nil {
		t.Fatal(err)
	}
}

// goldenFolders returns the deploy folders of the repository's blueprints by name.
func goldenFolders(t testing.TB) map[string]emit.Tree {
	t.Helper()
	out := map[string]emit.Tree{}
	for _, name := range fixture.Blueprints(t) {
		out[name] = compile.Reference(t, name)
	}
	return out
}

// TestRefusedRanges checks which ranges of a subnet cannot change while a cluster uses them.
func TestRefusedRanges(t *testing.T) {
	tree := compile.Reference(t, "batch-platform")
	pods := []string{`"10.4.0.0/14"`, `"10.32.0.0/14"`}
	services := []string{`"10.0.32.0/20"`, `"10.0.64.0/20"`}
	for _, test := range []struct {
		name    string
		changes []string // old and new values of variables
		want    []Field
	}{
		{"pods", pods, []Field{{Path: "pods", From: "10.4.0.0/14", To: "10.32.0.0/14"}}},
		{"Services", services, []Field{{Path: "services", From: "10.0.32.0/20", To: "10.0.64.0/20"}}},
		{"nodes, which can grow", []string{`"10.0.0.0/20"`, `"10.0.0.0/19"`}, nil},
		{"pods in another subnet", append(pods, `"10.0.0.0/20"`, `"10.64.0.0/20"`), nil},
	} {
		other := slices.Clone(tree)
		for i, f := range other {
			if f.Path == "terraform/terraform.tfvars" {
				other[i].Content = []byte(strings.NewReplacer(test.changes...).Replace(string(f.Content)))
				if string(other[i].Content) == string(f.Content) {
					t.Fatalf("no variable is %s", test.changes[0])
				}
			}
		}
		if diff := cmp.Diff(test.want, EffectsOf(tree, other, nil).Refused); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestGoldens: a folder is the same as itself, and as itself with other comments
// and order.
func TestGoldens(t *testing.T) {
	for name, tree := range goldenFolders(t) {
		t.Run(name, func(t *testing.T) {
			if objects, formatting := Compare(tree, tree); len(objects) > 0 || formatting > 0 {
				t.Errorf("%v", objects)
			}
			changed := 0
			other := slices.Clone(tree)
			for i, f := range other {
				content := otherLayout(f)
				if content != string(f.Content) {
					changed++
				}
				other[i].Content = []byte(content)
			}
			objects, formatting := Compare(tree, other)
			for _, o := range objects {
				t.Errorf("%+v", o)
			}
			if formatting != changed || changed < 20 {
				t.Errorf("%d files of another layout, %d changed", formatting, changed)
			}
			if e := EffectsOf(tree, other, nil); len(e.Replaced)+len(e.Removed) > 0 {
				t.Errorf("%+v %+v", e.Replaced, e.Removed)
			}
		})
	}
}

// otherLayout writes a file in another way.
func otherLayout(f emit.File) string {
	content := string(f.Content)
	switch filepath.Ext(f.Path) {
	case ".tf", ".tfvars":
		// Comments go, blocks change places, and lists stand in several lines.
		content = regexp.MustCompile(`(?m)^ *#.*\n`).ReplaceAllString(content, "")
		blocks := strings.Split(strings.TrimSpace(content), "\n}\n")
		if len(blocks) > 1 {
			blocks[len(blocks)-1] = strings.TrimSuffix(blocks[len(blocks)-1], "\n}")
			slices.Reverse(blocks)
			content = strings.Join(blocks, "\n}\n") + "\n}\n"
		}
		return "# Ours.\n" +
			strings.ReplaceAll(content, `["https://www.googleapis.com/auth/cloud-platform"]`,
				"[\n # All.\n \"https://www.googleapis.com/auth/cloud-platform\",\n]")
	case ".yaml":
		docs := strings.Split(strings.TrimSuffix(content, "\n"), "\n---\n")
		slices.Reverse(docs)
		return "# Ours.\n" + strings.Join(docs, "\n---\n") + "\n"
	case ".json":
		if f.Path != emit.ManifestPath {
			return strings.ReplaceAll(content, "\n", "\n\t")
		}
	}
	return content
}
