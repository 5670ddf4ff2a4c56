package exports_test

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/exports"
)

const cohort = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: research}\nspec: {}\n"

// badInput is a file with a mistake, and its finding.
type badInput struct{ name, content, code, place string }

func badInputs() []badInput {
	return []badInput{
		{"cut off in a text", "apiVersion: v1\nkind: List\nitems:\n- kind: \"Coh", "E0920", "f:4:"},
		{"cut off in a list", "apiVersion: v1\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: a}}\n",
			"E0920", "f:1:1"},
		{"JSON that is cut off", `{"apiVersion": "v1", "kind": "List", "items": [{"kind": "Coh`, "E0920", "f:1:"},
		{"binary", "\x1f\x8b\x08\x00\x00\xff", "E0920", ""},
		{"empty", "", "E0921", ""},
		{"only a comment", "# nothing\n", "E0921", ""},
		{"only separators", "---\n---\n", "E0921", ""},
		{"a single value", "hello\n", "E0921", "f:1:1"},
		{"no known shape", "a: 1\n", "E0921", "f:1:1"},
		{"another kind", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", "E0921", "f:1:1"},
		{"List without items", "apiVersion: v1\nkind: List\nitems: []\n", "E0921", "f:1:1"},
		{"older version", strings.Replace(cohort, "v1beta2", "v1alpha1", 1), "E0922", "f:1:13"},
		{"newer version", strings.Replace(cohort, "v1beta2", "v1", 1), "E0922", "f:1:13"},
		{"two of one name", cohort + "---\n" + cohort, "E0923", "f:8:18"},
		{"Autopilot", `{"name": "a", "nodePools": [], "autopilot": {"enabled": true}}`, "E0924", "f:1:"},
		{"two clusters", `[{"name": "a", "nodePools": []}, {"name": "b", "nodePools": []}]`, "E0929", "f:1:"},
		{"a deployment file alone", "vars: {project_id: my-project}\n", "E0921", "f:1:1"},
		{
			"a blueprint of Cluster Toolkit without GKE", "blueprint_name: hpc\ndeployment_groups:\n- modules:\n" +
				"  - {id: a, source: modules/compute/vm-instance}\n", "E0921", "f:1:17",
		},
		{"a wrong value", strings.Replace(cohort, "spec: {}", "spec: {parentName: [a]}", 1), "E0920", "f:3:18"},
		{
			"a template",
			"apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\nspec:\n  resourceGroups:\n" +
				"  - coveredResources: [cpu]\n    flavors:\n    - name: a\n      resources:\n      - name: cpu\n" +
				"        nominalQuota: ${n}\n",
			"E0920", "f:11:23",
		},
		{
			"a template of names", strings.Replace(cohort, "research", "\"{{ .name }}\"", 1) + "---\n" +
				strings.Replace(cohort, "research", `"${other}"`, 1),
			"E0920", "f:3:18",
		},
		{"a template that is not YAML", "{% for c in cohorts %}\n---\n" + cohort + "{% endfor %}\n", "E0920", "f:7:1"},
		{"a tab", strings.Replace(cohort, "spec: {}", "spec:\n\tparentName: a", 1), "E0920", "f:5:1"},
		{"Windows line endings", strings.ReplaceAll(strings.Replace(cohort, "v1beta2", "v1", 1), "\n", "\r\n"), "E0922",
			"f:1:13"},
		{"a byte order mark", "\ufeff" + strings.Replace(cohort, "v1beta2", "v1", 1), "E0922", "f:1:13"},
		{"UTF-16", utf16Text(strings.Replace(cohort, "v1beta2", "v1", 1)), "E0922", "f:1:13"},
		{"a control character", strings.Replace(cohort, "research", "re\x07search", 1), "E0920", "f:3:20"},
		{"a key twice", strings.Replace(cohort, "spec: {}", "spec: {parentName: a, parentName: b}", 1), "E0920",
			"f:4:23"},
		{"an alias of itself", strings.Replace(cohort, "spec: {}", "spec: &a {parentName: *a}", 1), "E0920", "f:4:7"},
		{"deep nesting", strings.Replace(cohort, "{}", strings.Repeat("[", 300)+strings.Repeat("]", 300), 1), "E0920",
			"f:4:"},
		{"too deep for the parser", "a: " + strings.Repeat("[", 20_000), "E0920", "f:1:1"},
		{
			"an amount that is none",
			"apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\nspec:\n  resourceGroups:\n" +
				"  - coveredResources: [cpu]\n    flavors:\n    - name: a\n      resources: [{name: cpu, " +
				"nominalQuota: 8 cores}]\n",
			"E0920", "f:9:45",
		},
		{"a List of null", `{"apiVersion": "v1", "kind": "List", "items": null}`, "E0921", "f:1:1"},
		{"a null in a List", `{"apiVersion": "v1", "kind": "List", "items": [null]}`, "E0920", "f:1:48"},
		{"an unknown field", strings.Replace(cohort, "spec: {}", "spec: {wieght: 1}", 1), "W0925", "f:4:8"},
		{"a Secret", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {k: aHVudGVyMg==}\n---\n" + cohort,
			"W0926", "f:1:1"},
	}
}

func read(t *testing.T, purpose exports.Purpose, content string) (exports.Export, []diag.Finding) {
	t.Helper()
	export, findings, err := exports.Read([]exports.File{{Name: "f", Content: []byte(content)}}, purpose)
	if err != nil {
		t.Fatal(err)
	}
	return export, findings.Sorted()
}

// TestBadInput: a comparison has the findings of an import, except that it reads objects of
// every kind and no blueprints of Cluster Toolkit.
func TestBadInput(t *testing.T) {
	for _, c := range badInputs() {
		t.Run(c.name, func(t *testing.T) {
			check := func(purpose exports.Purpose) {
				export, found := read(t, purpose, c.content)
				if len(found) != 1 || found[0].Code != c.code || !strings.HasPrefix(found[0].Span.String(), c.place) {
					t.Fatalf("%s: want one %s at %s, got %+v", purpose, c.code, c.place, found)
				}
				if (len(export.All) == 0) != (found[0].Severity == diag.Error) {
					t.Errorf("%s: an export with errors, or none without", purpose)
				}
				if found[0].Help == "" {
					t.Error("no help")
				}
			}
			check(exports.Import)
			switch c.name {
			case "a blueprint of Cluster Toolkit without GKE": // see below
			case "another kind", "two clusters":
				if _, found := read(t, exports.Comparison, c.content); len(found) > 0 {
					t.Errorf("%+v", found)
				}
			default:
				check(exports.Comparison)
			}
		})
	}
	_, found := read(t, exports.Comparison, "blueprint_name: a\ndeployment_groups: []\n")
	if len(found) != 1 || found[0].Code != "E0921" {
		t.Errorf("a blueprint of Cluster Toolkit: %+v", found)
	}
}

// TestKindsOfOthers: a kind of another group may have the name of a kind of Kueue.
func TestKindsOfOthers(t *testing.T) {
	_, found := read(t, exports.Comparison,
		"apiVersion: kai.scheduler/v1alpha1\nkind: Topology\nmetadata: {name: a}\nspec: {other: 1}\n")
	if len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

// TestReadObjects: what a comparison reads has the form of v1beta2.
func TestReadObjects(t *testing.T) {
	export, findings, err := exports.Read([]exports.File{
		{Name: "queues.yaml", Content: []byte(`apiVersion: v1
kind: List
items:
- apiVersion: kueue.x-k8s.io/v1beta1
  kind: ClusterQueue
  metadata: {name: q}
  spec: {cohort: c, admissionChecks: [a], flavorFungibility: {whenCanBorrow: Borrow}, preemption: {}}
  status: {pendingWorkloads: 1}
- {apiVersion: v1, kind: Secret, metadata: {name: s}, data: {k: aHVudGVyMg==}}
- {apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, namespace: n}, rules: []}
`)},
		{Name: "one.json", Content: []byte(`{"name": "one", "nodePools":
			[{"name": "p", "config": {}, "status": "RUNNING"}],
			"selfLink": "https://container.googleapis.com/v1/projects/p/zones/us-central1-a/clusters/one"}`)},
		{Name: "two.json", Content: []byte(`{"name": "two", "nodePools": [{"name": "p", "config": {}}]}`)},
		{Name: "pools.json", Content: []byte(`[{"name": "p", "config": {}, "selfLink":
			"https://container.googleapis.com/v1/projects/p/locations/us-central1-a/clusters/one/nodePools/p"}]`)},
	}, exports.Comparison)
	if err != nil || findings.HasErrors() || len(findings.Sorted()) != 1 {
		t.Fatalf("%v, %+v", err, findings.Sorted())
	}
	var got []string
	for _, o := range export.Objects {
		got = append(got, o.Group+" "+o.Kind+" "+o.Namespace+" "+o.Name+" "+o.Place().String())
	}
	want := []string{
		"kueue.x-k8s.io ClusterQueue  q queues.yaml:6:20", "rbac.authorization.k8s.io Role n r queues.yaml:10:75",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	spec, err := json.Marshal(export.Objects[0].Fields["spec"])
	if err != nil {
		t.Fatal(err)
	}
	const wantSpec = `{"admissionChecksStrategy":{"admissionChecks":[{"name":"a"}]},"cohortName":"c",` +
		`"flavorFungibility":{"whenCanBorrow":"MayStopSearch"},"preemption":{}}`
	if string(spec) != wantSpec {
		t.Errorf("got %s\nwant %s", spec, wantSpec)
	}
	if export.Objects[0].Fields["status"] != nil {
		t.Error("the status is read")
	}
	var places []string
	for _, o := range append(export.Clusters, export.Pools...) {
		places = append(places, o.Name+" in "+o.Cluster)
	}
	const one = "projects/p/locations/us-central1-a/clusters/one"
	if want := []string{"one in " + one, "two in clusters/two", "p in " + one,
		"p in clusters/two"}; !slices.Equal(places, want) {
		t.Errorf("got %q, want %q", places, want)
	}
	if export.Pools[0].Fields["status"] != "RUNNING" {
		t.Error("the status of a node pool is missing")
	}
}

// utf16Text returns a text as PowerShell writes it.
func utf16Text(s string) string {
	out := []byte("\xff\xfe")
	for _, unit := range utf16.Encode([]rune(s)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return string(out)
}

// TestForms: JSON lines, and what the REST API of GKE answers, are read at their places.
func TestForms(t *testing.T) {
	cohort := func(name string) string {
		return `{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", ` +
			`"metadata": {"name": "` + name + `"}, "spec": {}}` + "\n"
	}
	lines := cohort("a") + cohort("b")
	cluster := `{"name": "prod", "location": "us-central1", "currentMasterVersion": "1.34.1-gke.100"}`
	for content, want := range map[string]string{
		lines:                             "a f:1:81, b f:2:81",
		`{"clusters": [` + cluster + `]}`: "prod f:1:24",
		lines + "{\"clusters\": [" + cluster + "]}": "a f:1:81, b f:2:81, prod f:3:24",
	} {
		out, findings, err := exports.Read([]exports.File{{Name: "f", Content: []byte(content)}}, exports.Import)
		var got []string
		for _, o := range out.All {
			got = append(got, o.Name+" "+o.Place().String())
		}
		if err != nil || findings.Len() > 0 || strings.Join(got, ", ") != want {
			t.Errorf("%s\ngot %q, want %q (%v %v)", content, got, want, err, findings.Sorted())
		}
	}
}

// TestPassedOver: import passes over a file that has nothing for it, unless no file has anything.
func TestPassedOver(t *testing.T) {
	cohort := exports.File{Name: "cohort", Content: []byte(
		"apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: a}\nspec: {}\n")}
	values := exports.File{Name: "values", Content: []byte("replicas: 3\n")}
	for _, c := range []struct {
		files   []exports.File
		purpose exports.Purpose
		want    string
	}{
		{[]exports.File{values, cohort}, exports.Import, "W0930"}, {[]exports.File{values}, exports.Import, "E0921"},
		{[]exports.File{values, cohort}, exports.Comparison, "E0921"},
	} {
		_, findings, err := exports.Read(c.files, c.purpose)
		if found := findings.Sorted(); err != nil || len(found) != 1 || found[0].Code != c.want {
			t.Errorf("%s of %d files: %v %v, want %s", c.purpose, len(c.files), found, err, c.want)
		}
	}
}
