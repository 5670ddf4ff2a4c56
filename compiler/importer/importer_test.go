package importer_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/importer"
	"github.com/batchwright/batchwright/compiler/kinds"
)

// importText imports one file.
func importText(t testing.TB, name, content string) importer.Result {
	t.Helper()
	res, err := importer.Import([]exports.File{{Name: name, Content: []byte(content)}}, importer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

const cohort = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: research}\nspec: {}\n"

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
			files := []exports.File{{Name: "f", Content: []byte(content)}}
			export, findings, err := exports.Read(files, exports.Comparison)
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

// TestOldReleases: the report says that vet rejects a controller exactly if vet does.
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
		if got := strings.Contains(report, "vet rejects"); got != c.refused {
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
		res, err := importer.Import([]exports.File{{Name: "f", Content: content}}, importer.Options{})
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
		if _, _, err := exports.Read([]exports.File{{Name: "f", Content: content}}, exports.Comparison); err != nil {
			t.Fatalf("%v", err)
		}
	})
}
