package objects

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/emit"
)

// objectTest compares two versions of one file.
type objectTest struct {
	name, file    string
	before, after string
	// want are the objects, a line each, with their fields below them; "" stands
	// for a change of the formatting.
	want string
}

const queueBefore = `apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: cq-a
spec:
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: l4
      resources:
      - name: cpu
        nominalQuota: "4"
      - name: memory
        nominalQuota: 20Gi
    - name: spot
      resources:
      - name: cpu
        nominalQuota: 1000m
`

var objectTests = []objectTest{
	{"one document of several", "kubernetes/a.yaml",
		"kind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: \"1\"\n---\nkind: ConfigMap\nmetadata:\n  name: " +
			"c\ndata:\n  k: \"1\"\n---\nkind: ConfigMap\nmetadata:\n  name: b\ndata:\n  k: \"1\"\n",
		"kind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: \"1\"\n---\nkind: ConfigMap\nmetadata:\n  name: " +
			"c\ndata:\n  k: \"1\"\n---\nkind: ConfigMap\nmetadata:\n  name: b\ndata:\n  k: \"2\"\n", `
kubernetes/a.yaml:13 ConfigMap "b" changed
  data.k: 1 -> 2`},
	{"one of two that are the same", "kubernetes/a.yaml",
		"kind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: \"1\"\n---\nkind: ConfigMap\nmetadata:\n  name: " +
			"b\ndata:\n  k: \"1\"\n---\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: \"1\"\n",
		"kind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: \"1\"\n---\nkind: ConfigMap\nmetadata:\n  name: " +
			"b\ndata:\n  k: \"1\"\n", `
kubernetes/a.yaml:13 ConfigMap "a" removed`},
	{
		"documents in another order", "kubernetes/a.yaml",
		"kind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: \"1\"\n---\nkind: ConfigMap\nmetadata:\n  name: " +
			"b\ndata:\n  k: \"1\"\n",
		"kind: ConfigMap\nmetadata:\n  name: b\ndata:\n  k: \"1\"\n---\nkind: ConfigMap\nmetadata:\n  name: " +
			"a\ndata:\n  k: \"1\"\n", "",
	},
	// Terraform.
	{"an argument", "terraform/a.tf", "resource \"t\" \"a\" {\n  count = 1\n}\n",
		"# Two.\nresource \"t\" \"a\" {\n  count = 2\n}\n", `
terraform/a.tf:2 resource t "a" changed
  count: 1 -> 2`},
	{"a block more, a block less", "terraform/a.tf", "variable \"a\" {\n}\noutput \"b\" {\n}\n",
		"variable \"a\" {\n}\n\nprovider \"c\" {\n}\n", `
terraform/a.tf:3 output "b" removed
terraform/a.tf:4 provider "c" added`},
	{"arguments come and go", "terraform/a.tf", "resource \"t\" \"a\" {\n  x = \"1\"\n  b {\n    y = true\n  }\n}\n",
		"resource \"t\" \"a\" {\n  z = [1, 2]\n}\n", `
terraform/a.tf:1 resource t "a" changed
  b: [{y: true}] -> 
  x: 1 -> 
  z:  -> [1, 2]`},
	{"a single block", "terraform/a.tf", "resource \"t\" \"a\" {\n  n {\n    m {\n      x = 1\n    }\n  }\n}\n",
		"resource \"t\" \"a\" {\n  n {\n    m {\n      x = 2\n    }\n  }\n}\n", `
terraform/a.tf:1 resource t "a" changed
  n.m.x: 1 -> 2`},
	{"blocks by key", "terraform/a.tf", `resource "t" "a" {
  taint {
    key   = "a"
    value = "1"
  }
  taint {
    key   = "b"
    value = "1"
  }
}
`, `resource "t" "a" {
  taint {
    key   = "c"
    value = "1"
  }
  taint {
    key   = "b"
    value = "2"
  }
}
`, `
terraform/a.tf:1 resource t "a" changed
  taint["c"]:  -> {key: c, value: 1}
  taint["b"].value: 1 -> 2
  taint["a"]: {key: a, value: 1} -> `},
	{"another type of the same value", "terraform/a.tf", "resource \"t\" \"a\" {\n  x = \"1\"\n}\n",
		"resource \"t\" \"a\" {\n  x = 1\n}\n", `
terraform/a.tf:1 resource t "a" changed
  x: "1" -> 1`},
	{"expressions", "terraform/a.tf",
		"resource \"t\" \"a\" {\n  x = f(a,\n    # Why.\n    b,\n  )\n  y = \"${a}-b\"\n}\n",
		"resource \"t\" \"a\" {\n  x = f(a, b)\n  y = \"${a}-c\"\n}\n", `
terraform/a.tf:1 resource t "a" changed
  y: "${a}-b" -> "${a}-c"`},
	{
		"escapes and heredocs", "terraform/a.tf", "resource \"t\" \"a\" {\n  x = \"a\\nb\\n\"\n}\n",
		"resource \"t\" \"a\" {\n  x = <<EOT\na\nb\nEOT\n}\n", "",
	},
	{"locals", "terraform/a.tf", "locals {\n  a = 1\n  b = { \"x-y\" = { z = 1 } }\n}\n",
		"locals {\n  a = 1\n}\nlocals {\n  b = { x-y = { z = 2 } }\n}\n", `
terraform/a.tf:5 local "b" changed
  b["x-y"].z: 1 -> 2`},
	{"terraform blocks", "terraform/a.tf",
		"terraform {\n  required_version = \">= 1.9\"\n  backend \"gcs\" {\n    bucket = \"a\"\n  }\n}\n",
		"terraform {\n  required_version = \">= 1.10\"\n  backend \"gcs\" {\n    bucket = \"b\"\n  }\n}\n", `
terraform/a.tf:3 terraform "backend gcs" changed
  backend.bucket: a -> b
terraform/a.tf:2 terraform "required_version" changed
  required_version: >= 1.9 -> >= 1.10`},
	{"variables", "terraform/terraform.tfvars",
		"region = \"a\"\nteams = {\n  team-a = {\n    bucket = \"x\"\n  }\n  b = {}\n}\n",
		"region = \"b\"\nteams = {\n  b = {}\n  team-a = {\n    bucket = \"y\"\n  }\n}\n", `
terraform/terraform.tfvars:1 value "region" changed
  region: a -> b
terraform/terraform.tfvars:2 value "teams" changed
  teams["team-a"].bucket: x -> y`},
	{"no HCL any more", "terraform/a.tf", "variable \"a\" {\n}\n", "variable \"a\" {\n}\n}\n", `
terraform/a.tf:3 file "terraform/a.tf" changed
  unreadable:  -> line 3: Argument or block definition required`},

	// Kubernetes.
	{"quota", "kubernetes/a.yaml", queueBefore, strings.Replace(queueBefore, "20Gi", "40Gi", 1), `
kubernetes/a.yaml:1 ClusterQueue "cq-a" changed
  spec.resourceGroups[0].flavors[l4].resources[memory].nominalQuota: 20Gi -> 40Gi`},
	{
		"a quota in another unit", "kubernetes/a.yaml", queueBefore,
		strings.Replace(strings.Replace(queueBefore, "1000m", `"1"`, 1), "20Gi", "20480Mi", 1), "",
	},
	{
		"covered resources in another order", "kubernetes/a.yaml", queueBefore,
		strings.Replace(queueBefore, "[cpu, memory]", "\n    - memory\n    - cpu", 1), "",
	},
	{"a version", "kubernetes/a.yaml", queueBefore, strings.Replace(queueBefore, "v1beta2", "v1beta1", 1), `
kubernetes/a.yaml:1 ClusterQueue "cq-a" changed
  apiVersion: kueue.x-k8s.io/v1beta2 -> kueue.x-k8s.io/v1beta1`},
	{"flavors in another order", "kubernetes/a.yaml",
		"kind: Q\nmetadata: {name: a}\nflavors: [{name: x, n: 1}, {name: y}, {name: z}]\n",
		"kind: Q\nmetadata: {name: a}\nflavors: [{name: z}, {name: x, n: 2}]\n", `
kubernetes/a.yaml:1 Q "a" changed
  flavors[x].n: 1 -> 2
  flavors[y]: {name: y} -> 
  flavors: order: x, z -> order: z, x`},
	{
		"tolerations in another order", "kubernetes/a.yaml",
		"kind: Q\nmetadata: {name: a}\ntolerations: [{key: x, effect: E}, {key: x, effect: F}]\n",
		"kind: Q\nmetadata: {name: a}\ntolerations: [{key: x, effect: F}, {key: x, effect: E}]\n", "",
	},
	{"objects", "kubernetes/a.yaml",
		"kind: A\nmetadata: {name: a, namespace: n}\n---\nkind: A\nmetadata: {name: a, namespace: m}\n",
		"kind: A\nmetadata: {name: a, namespace: m}\n---\n# Nothing.\n---\nkind: B\nmetadata: {name: b}\n", `
kubernetes/a.yaml:1 A "n/a" removed
kubernetes/a.yaml:6 B "b" added`},
	{"labels", "kubernetes/a.yaml", "kind: A\nmetadata: {name: a, labels: {a.b/c: x, d: \"1\"}}\n",
		"kind: A\nmetadata: {name: a, labels: {a.b/c: y, d: 1}}\n", `
kubernetes/a.yaml:1 A "a" changed
  metadata.labels.d: "1" -> 1
  metadata.labels[a.b/c]: x -> y`},
	{
		"null is nothing", "kubernetes/a.yaml", "kind: A\nmetadata: {name: a}\n",
		"kind: A\nmetadata: {name: a, creationTimestamp: null}\nx: ~\n", "",
	},
	{"YAML in a ConfigMap", "kubernetes/a.yaml",
		"kind: C\nmetadata: {name: a}\ndata:\n  c.yaml: |\n    kind: X\n    a:\n      b: 1\n",
		"kind: C\nmetadata: {name: a}\ndata:\n  c.yaml: |\n    a: {b: 2}\n    kind: X\n", `
kubernetes/a.yaml:1 C "a" changed
  data[c.yaml].a.b: 1 -> 2`},
	{"a script in a ConfigMap", "workloads/a.yaml",
		"kind: C\nmetadata: {name: a}\ndata:\n  a.py: |\n    import os\n    x = 1\n    y = 1\n",
		"kind: C\nmetadata: {name: a}\ndata:\n  a.py: |\n    import os\n    x = 2\n    y = 1\n    z = 1\n", `
workloads/a.yaml:1 C "a" changed
  data[a.py], line 2: x = 1 -> x = 2
  data[a.py], line 4:  -> z = 1`},
	{"a kustomization", "kubernetes/kustomization.yaml", "kind: Kustomization\nresources: [a.yaml, b.yaml]\n",
		"kind: Kustomization\nresources: [c.yaml, b.yaml]\n", `
kubernetes/kustomization.yaml:1 Kustomization "kubernetes" changed
  resources:  -> c.yaml
  resources: a.yaml -> `},
	{"no YAML any more", "kubernetes/a.yaml", "kind: A\nmetadata: {name: a}\n", "kind: A\nmetadata: {name: a\n", `
kubernetes/a.yaml:1 file "kubernetes/a.yaml" changed
  unreadable:  -> line 1: did not find expected ',' or '}'`},
	{"a field twice", "kubernetes/a.yaml", "kind: A\nmetadata: {name: a}\n", "kind: A\nmetadata: {name: a}\nkind: A\n",
		`
kubernetes/a.yaml:3 file "kubernetes/a.yaml" changed
  unreadable:  -> line 3: "kind" is there twice`},
	{"YAML again", "kubernetes/a.yaml", "- a\n b\nc", "kind: A\nmetadata: {name: a}\n", `
kubernetes/a.yaml:3 file "kubernetes/a.yaml" changed
  unreadable: line 3: could not find expected ':' -> `},

	// Builds, alerts, dashboards.
	{"steps", "cloudbuild/a.yaml",
		"timeout: 1s\nsubstitutions: {_A: x}\nsteps:\n- id: a\n  name: x\n- id: b\n  script: |\n    set -e\n    " +
			"one\n- id: c\n",
		"timeout: 1s\nsubstitutions: {_A: y}\nsteps:\n- id: c\n- id: b\n  script: |\n    set -e\n    two\n- id: d\n", `
cloudbuild/a.yaml:1 build "a" changed
  steps: order: b, c -> order: c, b
  substitutions._A: x -> y
cloudbuild/a.yaml:4 step "a" removed
cloudbuild/a.yaml:5 step "b" changed
  script, line 2: one -> two
cloudbuild/a.yaml:9 step "d" added`},
	{"alerts", "dashboards/alert-rules.yaml", "groups:\n- name: g\n  rules:\n  - alert: A\n    for: 5m\n  - alert: B\n",
		"groups:\n- name: g\n  rules:\n  - alert: A\n    for: 6m\n- name: h\n  rules:\n  - alert: B\n", `
dashboards/alert-rules.yaml:4 alert "A" changed
  for: 5m -> 6m
dashboards/alert-rules.yaml:8 alert "B" changed
  group.name: g -> h`},
	{"a dashboard of Grafana", "dashboards/grafana/a.json",
		`{"title": "T", "panels": [{"title": "x", "id": 1, "gridPos": {"y": 1}, "n": 1}]}`,
		`{"title": "T", "panels": [{"title": "w", "id": 1, "gridPos": {"y": 1}}, {"title": "x", "id": 2, ` +
			`"gridPos": {"y": 9}, "n": 2}]}`, `
dashboards/grafana/a.json:1 dashboard "T" changed
  panels[w]:  -> {title: w}
  panels[x].n: 1 -> 2`},
	{"a dashboard of Cloud Monitoring", "dashboards/cloud-monitoring/a.json",
		`{"displayName": "T", "mosaicLayout": {"tiles": [{"yPos": 1, "widget": {"title": "x", "n": true}}]}}`,
		`{"displayName": "T", "mosaicLayout": {"tiles": [{"yPos": 2, "widget": {"title": "x", "n": false}}]}}`, `
dashboards/cloud-monitoring/a.json:1 dashboard "T" changed
  mosaicLayout.tiles[x].widget.n: true -> false`},
	{
		"places of panels", "dashboards/grafana/a.json",
		`{"title": "T", "panels": [{"title": "x", "gridPos": {"y": 1}}]}`,
		`{"title": "T", "panels": [{"title": "x", "gridPos": {"y": 2}}]}`, "",
	},
	{"no JSON any more", "dashboards/grafana/a.json", "{\"title\": \"T\"}", "{\"title\": \"T\",\n}", `
dashboards/grafana/a.json:2 file "dashboards/grafana/a.json" changed
  unreadable:  -> line 2: invalid character '}' looking for beginning of object key string`},

	// Texts.
	{"the guide", "README.md", "# A\n\n| a | 1 |\n| b | 2 |\n\nend\n", "# A\n\n| a | 3 |\n| b | 2 |\n\nThe end.\n", `
README.md:1 file "README.md" changed
  line 3: | a | 1 | -> | a | 3 |
  line 6: end -> The end.`},
	{"many lines", "a.sh", strings.Repeat("x\n", 20), strings.Repeat("y\n", 15), `
a.sh:1 file "a.sh" changed
  line 1: x -> y
  line 2: x -> y
  line 3: x -> y
  line 4: x -> y
  line 5: x -> y
  line 6: x -> y
  line 7: x -> y
  line 8: x -> y
  lines not shown: 12 removed -> 7 added`},
	{"the manifest", ".batchwright/manifest.json", "{}", "{\"a\": 1}", "nothing"},
}

func TestObjects(t *testing.T) {
	for _, test := range objectTests {
		t.Run(test.name, func(t *testing.T) {
			objects, formatting := Compare(emit.Tree{{Path: test.file, Content: []byte(test.before)}},
				emit.Tree{{Path: test.file, Content: []byte(test.after)}})
			want := 0
			switch test.want {
			case "":
				want = 1
			case "nothing":
				test.want = ""
			}
			if d := cmp.Diff(test.want, listObjects(objects)); d != "" || formatting != want {
				t.Errorf("%d files of another layout; -want +got:\n%s", formatting, d)
			}
		})
	}
}

// listObjects writes objects for tests.
func listObjects(objects []Object) string {
	var b strings.Builder
	for _, o := range objects {
		fmt.Fprintf(&b, "\n%s:%d %s %q %s", o.File, o.Line, o.Kind, o.Name, o.Op)
		for _, f := range o.Fields {
			fmt.Fprintf(&b, "\n  %s: %s -> %s", f.Path, f.From, f.To)
		}
	}
	return b.String()
}

// TestTrees: what is compared across files.
func TestTrees(t *testing.T) {
	file := func(path, content string) emit.File { return emit.File{Path: path, Content: []byte(content)} }
	const object = "kind: A\nmetadata: {name: a}\n"
	for _, test := range []struct {
		name          string
		before, after emit.Tree
		want          string
		formatting    int
	}{
		{
			"an object moves to another file", emit.Tree{file("kubernetes/a.yaml", object)},
			emit.Tree{file("kubernetes/b.yaml", object)}, "", 2,
		},
		{
			"a block moves to another file",
			emit.Tree{file("terraform/a.tf", "variable \"a\" {\n}\n"), file("terraform/b.tf", "")},
			emit.Tree{file("terraform/a.tf", ""), file("terraform/b.tf", "variable \"a\" {\n}\n")}, "", 2,
		},
		{"a file is added", nil, emit.Tree{file("a.sh", "x\n"), file("kubernetes/a.yaml", object)}, `
a.sh:1 file "a.sh" added
kubernetes/a.yaml:1 A "a" added`, 0},
		{"a file is removed", emit.Tree{file("kubernetes/a.yaml", object)}, nil, `
kubernetes/a.yaml:1 A "a" removed`, 0},
		{"a broken file is removed", emit.Tree{file("kubernetes/a.yaml", "{")}, nil, `
kubernetes/a.yaml:1 file "kubernetes/a.yaml" removed
  unreadable: line 1: did not find expected node content -> `, 0},
		{"a script that runs no more", emit.Tree{{Path: "a.sh", Mode: 0o755}}, emit.Tree{{Path: "a.sh", Mode: 0o644}}, `
a.sh:1 file "a.sh" changed
  mode: executable -> not executable`, 0},
		{"steps of two builds",
			emit.Tree{
				file("cloudbuild/a.yaml", "steps: [{id: x, n: 1}]"),
				file("cloudbuild/b.yaml", "steps: [{id: x, n: 1}]"),
			}, emit.Tree{
				file("cloudbuild/a.yaml", "steps: [{id: x, n: 1}]"),
				file("cloudbuild/b.yaml", "steps: [{id: x, n: 2}]"),
			}, `
cloudbuild/b.yaml:1 step "x" changed
  n: 1 -> 2`, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			objects, formatting := Compare(test.before, test.after)
			if d := cmp.Diff(test.want, listObjects(objects)); d != "" || formatting != test.formatting {
				t.Errorf("%d files of another layout; -want +got:\n%s", formatting, d)
			}
		})
	}
}

func TestShorten(t *testing.T) {
	long := strings.Repeat("a", 200)
	for _, test := range []struct{ from, to, wantFrom, wantTo string }{
		{"a", "b", "a", "b"},
		{"", "a\nb\x1b[31m\u202e", "", "a b␛[31m\ufffd"},
		{long, "b", strings.Repeat("a", 80) + "…", "b"},
		{long + "x", long + "y", "…" + strings.Repeat("a", 30) + "x", "…" + strings.Repeat("a", 30) + "y"},
		{"a\x00", "a\x01", "a␀", "a␁"},
		{"a\u202a", "a\u202b", `"a\u202a"`, `"a\u202b"`},
	} {
		if from, to := shortenPair(test.from, test.to); from != test.wantFrom || to != test.wantTo {
			t.Errorf("shorten(%q, %q) = %q, %q", test.from, test.to, from, to)
		}
	}
}

// FuzzCompare: whatever stands in a file is compared, in printable lines, and a
// folder is the same as itself.
func FuzzCompare(f *testing.F) {
	paths := []string{
		"terraform/a.tf", "terraform/terraform.tfvars", "kubernetes/a.yaml", "cloudbuild/a.yaml",
		"kubernetes/kustomization.yaml", "dashboards/a.json", "README.md",
	}
	for _, test := range objectTests {
		for kind, path := range paths {
			if path == test.file || test.file == "dashboards/grafana/a.json" && kind == 5 {
				f.Add(kind, test.before, test.after)
			}
		}
	}
	f.Add(2, "a: &a [x]\nb: [*a, *a]\n", "a: &a {b: *a}\n")
	f.Add(2, "? [a]\n: b\n", "<<: {a: b}\n")
	f.Add(0, strings.Repeat("[", 10000), strings.Repeat("(", 100000))
	f.Add(5, strings.Repeat("[", 20000), "{} {}")
	f.Fuzz(func(t *testing.T, kind int, before, after string) {
		path := paths[uint(kind)%uint(len(paths))]
		tree := func(content string) emit.Tree { return emit.Tree{{Path: path, Content: []byte(content)}} }
		for _, content := range []string{before, after} {
			if objects, formatting := Compare(tree(content), tree(content)); len(objects) > 0 || formatting > 0 {
				t.Errorf("%q differs from itself: %v", content, objects)
			}
		}
		EffectsOf(tree(before), tree(after), nil)
		objects, formatting := Compare(tree(before), tree(after))
		if before != after && len(objects) == 0 && formatting != 1 {
			t.Errorf("%q and %q differ in nothing", before, after)
		}
		for _, o := range objects {
			if o.Line < 1 {
				t.Errorf("%+v", o)
			}
			texts := []string{o.Kind, o.Name}
			for _, f := range o.Fields {
				texts = append(texts, f.Path, f.From, f.To)
				if utf8.RuneCountInString(f.From) > most+2 || utf8.RuneCountInString(f.To) > most+2 {
					t.Errorf("%+v is long", f)
				}
			}
			for _, s := range texts {
				if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }) || !utf8.ValidString(s) {
					t.Errorf("%q is not printable", s)
				}
			}
		}
	})
}
