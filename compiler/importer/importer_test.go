package importer_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/importer"
	"github.com/batchwright/batchwright/compiler/kinds"
)

// importText imports one file.
func importText(t testing.TB, name, content string) importer.Result {
	t.Helper()
	res, err := importer.Import([]importer.File{{Name: name, Content: []byte(content)}}, importer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

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

func TestBadInput(t *testing.T) {
	for _, c := range badInputs() {
		t.Run(c.name, func(t *testing.T) {
			res := importText(t, "f", c.content)
			found := res.Findings.Sorted()
			if len(found) != 1 || found[0].Code != c.code || !strings.HasPrefix(found[0].Span.String(), c.place) {
				t.Fatalf("want one %s at %s, got %+v", c.code, c.place, found)
			}
			if (res.Blueprint == nil) != (found[0].Severity == diag.Error) {
				t.Errorf("a blueprint with errors, or none without: %s", res.Blueprint)
			}
			if found[0].Help == "" {
				t.Error("no help")
			}
		})
	}
}

// TestRead: a comparison has the findings of an import, except that it reads objects of
// every kind and no blueprints of Cluster Toolkit.
func TestRead(t *testing.T) {
	read := func(content string) (importer.Export, []diag.Finding) {
		t.Helper()
		export, findings, err := importer.Read([]importer.File{{Name: "f", Content: []byte(content)}})
		if err != nil {
			t.Fatal(err)
		}
		return export, findings.Sorted()
	}
	for _, c := range badInputs() {
		_, found := read(c.content)
		switch {
		case c.name == "a blueprint of Cluster Toolkit without GKE": // see below
		case c.name == "another kind" || c.name == "two clusters":
			if len(found) > 0 {
				t.Errorf("%s: %+v", c.name, found)
			}
		case len(found) != 1 || found[0].Code != c.code || !strings.HasPrefix(found[0].Span.String(), c.place):
			t.Errorf("%s: want one %s at %s, got %+v", c.name, c.code, c.place, found)
		}
	}
	if _, found := read("blueprint_name: a\ndeployment_groups: []\n"); len(found) != 1 || found[0].Code != "E0921" {
		t.Errorf("a blueprint of Cluster Toolkit: %+v", found)
	}
}

// TestReadObjects: what a comparison reads has the form of v1beta2.
func TestReadObjects(t *testing.T) {
	export, findings, err := importer.Read([]importer.File{
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
	})
	if err != nil || findings.HasErrors() || len(findings.Sorted()) != 1 {
		t.Fatalf("%v, %+v", err, findings.Sorted())
	}
	var got []string
	for _, o := range export.Objects {
		got = append(got, o.Group+" "+o.Kind+" "+o.Namespace+" "+o.Name+" "+o.Place.String())
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

// TestSecrets: nothing of a Secret is in the blueprint, the report or an excerpt, even if
// the file is one line or is cut off.
func TestSecrets(t *testing.T) {
	const secret = "aHVudGVyMg"
	bad := `{"apiVersion": "kueue.x-k8s.io/v1", "kind": "Cohort", "metadata": {"name": "b"}}`
	object := `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "annotations": {"x": "` + secret +
		`"}}, "data": {"k": "` + secret + `"}}`
	for name, content := range map[string]string{
		"one line":        `{"apiVersion": "v1", "kind": "List", "items": [` + object + `, ` + bad + `]}`,
		"the other order": `{"apiVersion": "v1", "kind": "List", "items": [` + bad + `, ` + object + `]}`,
		"in a List in a List": `{"apiVersion": "v1", "kind": "List", "items": [{"kind": "List", "items": [` + object +
			`]}, ` + bad + `]}`,
		"a List of unnamed kind": `{"apiVersion": "v1", "kind": "SecretList", "items": [{"metadata": {"name": "a"}, ` +
			`"data": {"k": "` + secret + `"}}]}`,
		"an alias": "x: &s " + object + "\napiVersion: v1\nkind: List\nitems: [*s, " + bad + "]\n",
		"a cluster": `{"name": "c", "masterAuth": {"password": "` + secret +
			`"}, "autopilot": {"enabled": true}}`,
		"cut off":         `{"apiVersion": "v1", "kind": "List", "items": [` + object + `, {"a`,
		"YAML, cut off":   "apiVersion: v1\nkind: Secret\nstringData:\n  k: \"" + secret,
		"beside a cohort": cohort + "---\n" + object,
		"a List in a List": `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": ` +
			`"List", "items": [` + object + `]}]}`,
		"a client's key": `{"name": "c", "masterAuth": {"clientKey": "` + secret + `", "password": "` + secret +
			`"}, "nodePools": [], "autopilot": {"enabled": true}}`,
		"a List of Secrets": `{"apiVersion": "v1", "kind": "SecretList", "items": [` + object + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			res := importText(t, "f", content)
			var out bytes.Buffer
			for _, err := range []error{
				diag.WriteText(&out, &res.Findings, diag.TextOptions{}), diag.WriteJSON(&out, &res.Findings),
				res.Report.WriteText(&out), res.Report.WriteJSON(&out),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			out.Write(res.Blueprint)
			export, findings, err := importer.Read([]importer.File{{Name: "f", Content: []byte(content)}})
			if err := errors.Join(err, diag.WriteText(&out, &findings, diag.TextOptions{})); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%v", export)
			if strings.Contains(out.String(), secret) {
				t.Errorf("the output contains the Secret:\n%s", &out)
			}
			if res.Findings.Len() == 0 {
				t.Error("no finding")
			}
		})
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

// TestCutOff: an export that is cut off anywhere gives a finding at a place, or a
// blueprint of what is left.
func TestCutOff(t *testing.T) {
	content := exportOf(1) + "---\n" + cohort
	for cut := range content {
		res := importText(t, "f", content[:cut])
		if res.Findings.HasErrors() == (res.Blueprint != nil) {
			t.Fatalf("cut at %d: neither findings nor a blueprint, or both", cut)
		}
		for _, f := range res.Findings.Sorted() {
			if cut > 0 && !strings.HasPrefix(f.Span.String(), "f:") {
				t.Errorf("cut at %d: no place: %s", cut, f.Message)
			}
		}
	}
}

// TestYAML: YAML that kubectl accepts is read in all its forms.
func TestYAML(t *testing.T) {
	want := string(importText(t, "f", exportOf(2)).Blueprint)
	items := exportOf(2)[strings.Index(exportOf(2), "- "):]
	for name, content := range map[string]string{
		"Windows line endings": strings.ReplaceAll(exportOf(2), "\n", "\r\n"),
		"a byte order mark":    "\ufeff" + exportOf(2),
		"UTF-16":               utf16Text(exportOf(2)),
		"a last separator":     exportOf(2) + "---\n",
		"a first separator":    "# comment\n---\n---\n" + exportOf(2),
		"a merged mapping": "apiVersion: v1\nkind: List\nx: &v {apiVersion: kueue.x-k8s.io/v1beta2}\nitems:\n" +
			strings.ReplaceAll(items, "- apiVersion: kueue.x-k8s.io/v1beta2", "- <<: *v"),
	} {
		t.Run(name, func(t *testing.T) {
			res := importText(t, "f", content)
			if got := string(res.Blueprint); got != want {
				t.Errorf("got:\n%s\nwant:\n%s\n%+v", got, want, res.Findings.Sorted())
			}
		})
	}
}

// TestAmounts: amounts of any size and form are read without overflow.
func TestAmounts(t *testing.T) {
	for _, amount := range []string{
		"99999999999999999999999999", "9999999999999999Ei", "-5", "1e30", "0.0000001", "1.5", "5n",
	} {
		content := strings.ReplaceAll(exportOf(1), `nominalQuota: "1"`, `nominalQuota: "`+amount+`"`)
		content = strings.ReplaceAll(content, `nominalQuota: 8Gi`, `nominalQuota: "`+amount+`"`)
		res := importText(t, "f", content)
		if res.Findings.HasErrors() || bytes.Contains(res.Blueprint, []byte(": -")) {
			t.Errorf("%s: %+v\n%s", amount, res.Findings.Sorted(), res.Blueprint)
		}
	}
}

// TestVariables: variables of Cluster Toolkit that contain each other end.
func TestVariables(t *testing.T) {
	var vars strings.Builder
	for i := range 30 {
		fmt.Fprintf(&vars, "  v%d: [$(vars.v%d), $(vars.v%d), $(vars.v%d)]\n", i, i+1, i+1, (i+7)%30)
	}
	res := importText(t, "f", "blueprint_name: a\nvars:\n"+vars.String()+"deployment_groups:\n- modules:\n"+
		"  - {id: p, source: modules/compute/gke-node-pool, settings: {machine_type: $(vars.v0), zones: $(vars.v1)}}\n")
	if res.Blueprint == nil {
		t.Errorf("%+v", res.Findings.Sorted())
	}
}

// TestReleases: the version of a controller is in the tag of its image.
func TestReleases(t *testing.T) {
	for image, want := range map[string]string{
		"registry.k8s.io/kueue/kueue:v0.19.2":                       `version: "0.19.2"`,
		"localhost:5000/kueue:v0.19.2@sha256:" + "0123456789abcdef": `version: "0.19.2"`,
		"localhost:5000/kueue@sha256:0123456789abcdef":              `// FILL IN: the version of Kueue.`,
		"registry.k8s.io/kueue/kueue:v0.20.0-rc.1":                  `version: "0.20.0"`,
		"registry.k8s.io/kueue/kueue:main":                          `// FILL IN: the version of Kueue.`,
	} {
		res := importText(t, "f", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: kueue-controller-manager, "+
			"namespace: kueue-system}\nspec: {template: {spec: {containers: [{name: manager, image: "+
			"\""+image+"\"}]}}}\n")
		if !strings.Contains(string(res.Blueprint), want) {
			t.Errorf("%s: want %s, got\n%s", image, want, res.Blueprint)
		}
	}
}

// TestOldReleases: the report says that vet refuses a controller exactly if vet does.
func TestOldReleases(t *testing.T) {
	for _, c := range []struct {
		name, version string
		refused       bool
	}{
		{"kueue", catalog.OldestExistingKueue, false}, {"kueue", "0.14.9", true},
		{"jobset", kinds.Composite().Controller.OldestExisting, false}, {"jobset", "0.5.2", true},
	} {
		res := importText(t, "f", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: "+c.name+
			"-controller-manager, namespace: "+c.name+"-system}\nspec: {template: {spec: {containers: [{name: "+
			"manager, image: 'a/b:v"+c.version+"'}]}}}\n")
		report := fmt.Sprintf("%+v", res.Report)
		if got := strings.Contains(report, "vet refuses"); got != c.refused {
			t.Errorf("%s %s: refused %v, want %v:\n%s", c.name, c.version, got, c.refused, report)
		}
	}
}

// TestHostileNames: names and values of an export are data in the blueprint.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{`a"\nproject: "evil`, "a\nb: 1", `\(x)`, "// x", strings.Repeat("n", 300), "", "ä",
		"@tag(x)"} {
		content := strings.Replace(cohort, "research", fmt.Sprintf("%q", name), 1)
		res := importText(t, "f", content)
		if bytes.Count(res.Blueprint, []byte("\nproject:")) > 1 {
			t.Errorf("%q:\n%s", name, res.Blueprint)
		}
	}
}

// exportOf returns an export with n queues of n teams.
func exportOf(n int) string {
	var out strings.Builder
	out.WriteString("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: kueue.x-k8s.io/v1beta2, kind: " +
		"ResourceFlavor, " +
		"metadata: {name: l4}, spec: {nodeLabels: {cloud.google.com/gke-accelerator: nvidia-l4}}}\n")
	for i := range n {
		fmt.Fprintf(&out, `- apiVersion: kueue.x-k8s.io/v1beta2
  kind: ClusterQueue
  metadata: {name: queue-%d, resourceVersion: "1"}
  spec:
    cohortName: all
    namespaceSelector: {}
    resourceGroups:
    - coveredResources: [cpu, memory, nvidia.com/gpu]
      flavors:
      - name: l4
        resources:
        - {name: cpu, nominalQuota: "2"}
        - {name: memory, nominalQuota: 8Gi}
        - {name: nvidia.com/gpu, nominalQuota: "1"}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: LocalQueue
  metadata: {name: jobs, namespace: team-%d}
  spec: {clusterQueue: queue-%d}
`, i, i, i)
	}
	return out.String()
}

// BenchmarkImport shows that the time is in proportion to the number of queues.
func BenchmarkImport(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		content := exportOf(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				importText(b, "f", content)
			}
		})
	}
}

// FuzzImport: no input makes Import fail.
func FuzzImport(f *testing.F) {
	f.Add([]byte(exportOf(2)))
	f.Add([]byte(cohort + "---\n" + cohort))
	f.Add([]byte(`[{"name": "p", "config": {"machineType": "g2-standard-4"}, "initialNodeCount": 1,
		"locations": ["a"]}]`))
	f.Add([]byte(`{"name": "c", "location": "us-central1", "nodePools": [{"name": "p", "config": {}}]}`))
	f.Add([]byte("blueprint_name: a\nvars: {zone: $(vars.zone)}\ndeployment_groups: [{modules: [{id: p, " +
		"source: modules/compute/gke-node-pool, settings: {machine_type: ct6e-standard-4t, zones: " +
		"[$(vars.zone)]}}]}]\n"))
	f.Add([]byte("vars: {a: {b: $(vars.a), c: $(vars.a)}}\n"))
	f.Add([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kueue-manager-config}\ndata: " +
		"{controller_manager_config.yaml: \"integrations: {frameworks: [batch/job]}\"}\n"))
	f.Add([]byte("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: kueue-controller-manager}\nspec: " +
		"{template: {spec: {containers: [{name: manager, image: 'a/b:v0.19.2'}]}}}\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		res, err := importer.Import([]importer.File{{Name: "f", Content: content}}, importer.Options{})
		if err != nil {
			t.Fatalf("%v", err)
		}
		var out bytes.Buffer
		if err := diag.WriteText(&out, &res.Findings, diag.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if !res.Findings.HasErrors() && res.Blueprint == nil {
			t.Fatal("neither findings nor a blueprint")
		}
		if _, _, err := importer.Read([]importer.File{{Name: "f", Content: content}}); err != nil {
			t.Fatalf("%v", err)
		}
	})
}
