package exports_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/importer"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubernetes"
	"github.com/batchwright/batchwright/golden/fixture"
)

const importInputs = "testdata/import"

// importFile imports a file, or all files of a folder, of the test data.
func importFile(t *testing.T, name string) importer.Result {
	t.Helper()
	res, err := importer.Import(importFiles(t, name), importer.Options{OwnPools: true})
	if err != nil {
		t.Fatal(err)
	}
	if res.Findings.HasErrors() {
		var out bytes.Buffer
		diag.WriteText(&out, &res.Findings, diag.TextOptions{})
		t.Fatalf("%s", &out)
	}
	return res
}

// importFiles reads a file, or all files of a folder, of the test data.
func importFiles(t *testing.T, name string) []exports.File {
	t.Helper()
	paths := []string{filepath.Join(importInputs, name)}
	if info, err := os.Stat(paths[0]); err == nil && info.IsDir() {
		paths, _ = filepath.Glob(filepath.Join(paths[0], "*"))
	}
	var files []exports.File
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, exports.File{Name: filepath.Base(path), Content: content})
	}
	return files
}

// importYAML returns the YAML files of an import.
func importYAML(t *testing.T, name string) []byte {
	t.Helper()
	var texts [][]byte
	for _, f := range importFiles(t, name) {
		if !strings.HasSuffix(f.Name, ".json") {
			texts = append(texts, f.Content)
		}
	}
	return bytes.Join(texts, []byte("\n---\n"))
}

// compileImport compiles an imported blueprint, which must have no errors.
func compileImport(t *testing.T, blueprint []byte) *ir.Platform {
	t.Helper()
	res, err := compiler.Compile(t.Context(), compiler.Input{
		Paths: []string{"platform.cue"}, Files: fstest.MapFS{"platform.cue": {Data: blueprint}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.Plan == nil {
		var out bytes.Buffer
		diag.WriteText(&out, &res.Findings, diag.TextOptions{})
		t.Fatalf("the imported blueprint does not compile:\n%s\n%s", blueprint, &out)
	}
	return res.Plan
}

// importNames returns the names of the files of the test data.
func importNames(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(importInputs)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// queueObjects are Kueue's objects by name; LocalQueues by namespace and name.
type queueObjects struct {
	clusterQueues map[string]v1beta2.ClusterQueue
	localQueues   map[string]v1beta2.LocalQueue
	flavors       map[string]v1beta2.ResourceFlavor
	cohorts       map[string]v1beta2.Cohort
	renamed       map[string]string // names of flavors in the blueprint
}

// readQueueObjects reads Kueue's objects of YAML texts. The fields that v1beta2 renamed
// are read by both names.
func readQueueObjects(t *testing.T, texts ...[]byte) queueObjects {
	t.Helper()
	o := queueObjects{
		map[string]v1beta2.ClusterQueue{}, map[string]v1beta2.LocalQueue{}, map[string]v1beta2.ResourceFlavor{},
		map[string]v1beta2.Cohort{}, map[string]string{},
	}
	for _, doc := range splitObjects(t, bytes.Join(texts, []byte("\n---\n"))) {
		doc = bytes.ReplaceAll(doc, []byte("\n  cohort: "), []byte("\n  cohortName: "))
		kind := regexp.MustCompile(`(?m)^kind: (\w+)$`).FindSubmatch(doc)
		if kind == nil || !bytes.Contains(doc, []byte("kueue.x-k8s.io/")) {
			continue
		}
		var err error
		switch string(kind[1]) {
		case "ClusterQueue":
			var v v1beta2.ClusterQueue
			err = yaml.Unmarshal(doc, &v)
			o.clusterQueues[v.Name] = v
		case "LocalQueue":
			var v v1beta2.LocalQueue
			err = yaml.Unmarshal(doc, &v)
			o.localQueues[v.Namespace+"/"+v.Name] = v
		case "ResourceFlavor":
			var v v1beta2.ResourceFlavor
			err = yaml.Unmarshal(doc, &v)
			o.flavors[v.Name] = v
		case "Cohort":
			var v v1beta2.Cohort
			err = yaml.Unmarshal(doc, &v)
			o.cohorts[v.Name] = v
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
	}
	return o
}

// splitObjects returns the objects of YAML documents, and the objects in their Lists.
func splitObjects(t *testing.T, text []byte) [][]byte {
	t.Helper()
	var out [][]byte
	for _, doc := range bytes.Split(text, []byte("\n---\n")) {
		if !regexp.MustCompile(`(?m)^kind: List$`).Match(doc) {
			out = append(out, doc)
			continue
		}
		var list struct{ Items []map[string]any }
		if err := yaml.Unmarshal(doc, &list); err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		for _, item := range list.Items {
			text, err := yaml.Marshal(item)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, text)
		}
	}
	return out
}

// renameFlavors gives the flavors the names that they have in the blueprint.
func (o queueObjects) renameFlavors(r importer.Report) {
	for _, object := range r.Objects {
		for _, f := range object.Fields {
			name, ok := strings.CutPrefix(f.Becomes, "capacity.")
			if object.Kind != "ResourceFlavor" || f.Field != "metadata.name" || !ok || name == object.Name {
				continue
			}
			o.renamed[object.Name] = name
			for _, q := range o.clusterQueues {
				for _, g := range q.Spec.ResourceGroups {
					for i := range g.Flavors {
						if string(g.Flavors[i].Name) == object.Name {
							g.Flavors[i].Name = v1beta2.ResourceFlavorReference(name)
						}
					}
				}
			}
		}
	}
}

// TestImport imports each file, compiles the blueprint, and compares the compiled
// objects with the file: a field that the report calls exact must be identical, and a
// quota that it calls approximated must differ.
func TestImport(t *testing.T) {
	for _, name := range importNames(t) {
		t.Run(name, func(t *testing.T) {
			res := importFile(t, name)
			plan := compileImport(t, res.Blueprint)
			files, err := kubernetes.Files(plan)
			if err != nil {
				t.Fatal(err)
			}
			var texts [][]byte
			for _, f := range files {
				texts = append(texts, f.Content)
			}
			was, is := readQueueObjects(t, importYAML(t, name)), readQueueObjects(t, texts...)
			was.renameFlavors(res.Report)
			for _, o := range res.Report.Objects {
				for _, f := range o.Fields {
					if f.Status == importer.Exact || strings.HasPrefix(f.Field, "resourceGroups[") {
						compareImported(t, was, is, o, f)
					}
				}
			}
		})
	}
}

// compareImported compares a field of an imported object with the compiled object.
func compareImported(t *testing.T, was, is queueObjects, o importer.ObjectReport, f importer.FieldReport) {
	t.Helper()
	var before, after string
	switch o.Kind {
	case "ClusterQueue":
		field := f.Field
		if m := quotaField.FindStringSubmatch(field); m != nil && was.renamed[m[1]] != "" {
			field = strings.Replace(field, "]."+m[1]+".", "]."+was.renamed[m[1]]+".", 1)
		}
		before = queueField(was.clusterQueues[o.Name], field)
		after = queueField(is.clusterQueues[o.Name], field)
	case "LocalQueue":
		local := is.localQueues[o.Namespace+"/"+o.Name]
		switch f.Field {
		case "metadata.name":
			for _, l := range is.localQueues {
				if l.Name == o.Name {
					local = l
				}
			}
			before, after = o.Name, local.Name
		case "metadata.namespace":
			before = o.Namespace
			for _, l := range is.localQueues {
				if l.Namespace == o.Namespace {
					after = l.Namespace
				}
			}
		case "clusterQueue":
			before = string(was.localQueues[o.Namespace+"/"+o.Name].Spec.ClusterQueue)
			for _, l := range is.localQueues {
				if l.Name == o.Name && string(l.Spec.ClusterQueue) == before {
					after = before
				}
			}
		}
	case "ResourceFlavor":
		if key, ok := strings.CutPrefix(f.Field, "nodeLabels."); ok {
			before = was.flavors[o.Name].Spec.NodeLabels[key]
			after = is.flavors[cmp.Or(was.renamed[o.Name], o.Name)].Spec.NodeLabels[key]
		} else {
			before, after = o.Name, is.flavors[o.Name].Name
		}
	case "Cohort":
		before, after = o.Name, is.cohorts[o.Name].Name
		if f.Field == "parentName" {
			before, after = string(was.cohorts[o.Name].Spec.ParentName), string(is.cohorts[o.Name].Spec.ParentName)
		}
	default:
		return
	}
	if f.Status == importer.Exact && (before != after || before == "") {
		t.Errorf("%s %s: the report calls %s exact: was %q, is %q", o.Kind, o.Name, f.Field, before, after)
	}
	if f.Status == importer.Approximated && before == after && before != "" {
		t.Errorf("%s %s: the report calls %s approximated, but it is the same: %q", o.Kind, o.Name, f.Field, before)
	}
}

// quotaField is the path of an amount in a report.
var quotaField = regexp.MustCompile(
	`^resourceGroups\[\d+\]\.([^.]+)\.(.+)\.(nominalQuota|borrowingLimit|lendingLimit)$`)

// queueField returns a field of a ClusterQueue as text, with the defaults of the API.
func queueField(q v1beta2.ClusterQueue, field string) string {
	if m := quotaField.FindStringSubmatch(field); m != nil {
		for _, g := range q.Spec.ResourceGroups {
			for _, f := range g.Flavors {
				for _, r := range f.Resources {
					if string(f.Name) != m[1] || string(r.Name) != m[2] {
						continue
					}
					switch {
					case m[3] == "nominalQuota":
						return fmt.Sprint(r.NominalQuota.AsApproximateFloat64())
					case m[3] == "borrowingLimit" && r.BorrowingLimit != nil:
						return fmt.Sprint(r.BorrowingLimit.AsApproximateFloat64())
					case m[3] == "lendingLimit" && r.LendingLimit != nil:
						return fmt.Sprint(r.LendingLimit.AsApproximateFloat64())
					}
				}
			}
		}
		return ""
	}
	p := q.Spec.Preemption
	if p == nil {
		p = &v1beta2.ClusterQueuePreemption{}
	}
	or := func(s, standard string) string {
		if s == "" {
			return standard
		}
		return s
	}
	switch field {
	case "metadata.name":
		return q.Name
	case "cohortName":
		return string(q.Spec.CohortName)
	case "queueingStrategy":
		return or(string(q.Spec.QueueingStrategy), "BestEffortFIFO")
	case "preemption.withinClusterQueue":
		return or(string(p.WithinClusterQueue), "Never")
	case "preemption.reclaimWithinCohort":
		return or(string(p.ReclaimWithinCohort), "Never")
	case "preemption.borrowWithinCohort.policy":
		if p.BorrowWithinCohort == nil {
			return "Never"
		}
		return or(string(p.BorrowWithinCohort.Policy), "Never")
	case "namespaceSelector":
		return metav1.FormatLabelSelector(q.Spec.NamespaceSelector)
	}
	return "unknown field " + field
}

// TestImportLosesNothing: the report names each object, and each field of a queue's spec.
func TestImportLosesNothing(t *testing.T) {
	for _, name := range importNames(t) {
		res := importFile(t, name)
		was := readQueueObjects(t, importYAML(t, name))
		for queue, q := range was.clusterQueues {
			i := slices.IndexFunc(res.Report.Objects, func(o importer.ObjectReport) bool {
				return o.Kind == "ClusterQueue" && o.Name == queue
			})
			if i < 0 {
				t.Errorf("%s: the report omits ClusterQueue %s", name, queue)
				continue
			}
			for _, g := range q.Spec.ResourceGroups {
				for _, f := range g.Flavors {
					for _, r := range f.Resources {
						want := "." + string(f.Name) + "." + string(r.Name)
						if !slices.ContainsFunc(res.Report.Objects[i].Fields, func(f importer.FieldReport) bool {
							return strings.Contains(f.Field, want)
						}) {
							t.Errorf("%s: the report of %s omits %s", name, queue, want)
						}
					}
				}
			}
		}
		for _, o := range res.Report.Objects {
			for _, f := range o.Fields {
				if (f.Consequence == "") != (f.Status == importer.Exact) {
					t.Errorf("%s: %s %s: %+v: only an exact field has no consequence", name, o.Kind, o.Name, f)
				}
			}
			if len(o.Fields) == 0 {
				t.Errorf("%s: the report says nothing about %s %s", name, o.Kind, o.Name)
			}
		}
	}
}

// importShapes describes the shapes of the test data, by file, for docs/import.md.
func importShapes() map[string]string {
	return map[string]string{
		"cohort.yaml":           "two teams of a cohort, on demand and Spot, with borrowing",
		"basic.yaml":            "one queue for two namespaces; a flavor without labels; ephemeral storage",
		"tpu.yaml":              "a TPU slice",
		"accelerator-only.yaml": "only GPUs counted; a Topology; namespace default; PriorityClasses",
		"old-field.yaml":        "v1beta2 with the v1beta1 field admissionChecks",
		"foreign-check.yaml":    "an admission check of another controller",
		"single.yaml":           "v1beta1, TPUs, preemption in the queue, PriorityClasses",
		"dws.yaml":              "queued provisioning on one flavor; a ComputeClass; taints",
		"lending.yaml":          "nested cohorts, lending, preemption while borrowing",
		"groups.yaml":           "two resource groups, own resources, fungibility, stopped queues",
		"preemption.yaml":       "v1beta1, two teams, preemption in the cohort, fair sharing",
		"many.yaml":             "five TPU flavors in one queue; MultiKueue",
		"donor.yaml":            "two teams of a cohort, and a queue that only lends to them",
		"mixed-nodes.yaml":      "GPUs on request and nodes without GPUs in one queue; two LocalQueues; taints",
		"no-limit.yaml":         "quotas so large that they mean no limit",
		"slices.yaml":           "TPU slices on request, and vCPUs for their controllers",
		"tokens.yaml":           "flavors of own resources only; Namespaces; an object of Argo CD",
		"partitions.yaml":       "v1beta2, MIG partitions, namespaces by label, WorkloadPriorityClasses",
		"linked.yaml":           "linked GPU nodes (A4X); a separator at the end of the file",
		"renamed.yaml":          "names of flavors and namespaces that a platform cannot have",
		"products.yaml":         "GPUs by product label; LocalQueues without a namespace; a missing flavor",
		"cluster.json":          "a cluster with its node pools (gcloud)",
		"cluster-gpus.json":     "a zonal cluster in a Shared VPC, with the networks of its GPU nodes (gcloud)",
		"controllers.yaml":      "Kueue's Deployment and configuration, and JobSet's Deployment",
		"shared":                "a cluster, its queues, and the controllers in it: three files",
		"pools.json":            "only the node pools of a cluster (gcloud): TPUs by flex-start",
		"toolkit.yaml":          "a blueprint of Cluster Toolkit",
		"toolkit-queued":        "a blueprint of Cluster Toolkit with its deployment file and queues: three files",
		"toolkit-tpu.yaml":      "a blueprint of Cluster Toolkit: TPU slices, maintenance, ranges",
		"toolkit-owned.yaml":    "a blueprint of Cluster Toolkit for a network of others",
		"toolkit-beside.yaml":   "a blueprint of Cluster Toolkit for a cluster of others",
	}
}

// TestImportTable: the table in docs/import.md has the numbers of the test data.
func TestImportTable(t *testing.T) {
	doc, err := os.ReadFile(fixture.Path("docs/import.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range importNames(t) {
		r := importFile(t, name).Report
		objects := len(slices.DeleteFunc(slices.Clone(r.Objects), func(o importer.ObjectReport) bool {
			return o.Kind == "platform"
		}))
		row := fmt.Sprintf("| %s | %d | %d | %d | %d |", importShapes()[name], objects, r.Count(importer.Exact),
			r.Count(importer.Approximated), r.Count(importer.NoPart))
		if importShapes()[name] == "" || !bytes.Contains(doc, []byte(row)) {
			t.Errorf("%s: docs/import.md lacks the row\n%s", name, row)
		}
	}
}
