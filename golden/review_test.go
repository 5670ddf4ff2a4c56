package golden_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/emit/review"
)

// edit is a change of one line of a blueprint.
type edit struct {
	name      string
	blueprint string
	tags      []string
	file      string // below blueprints, "" for the blueprint's platform.cue
	old, new  string // what stands there once, and what takes its place
	// summary is what the change means, line by line, each after its topic.
	summary []string
	// replaced are the addresses of what Terraform has to replace.
	replaced []string
}

// TestReviewOfEdits holds what a review tells of edits against what they mean.
func TestReviewOfEdits(t *testing.T) {
	states := map[string]review.State{}
	for _, e := range slices.Concat(noEdits, edits) {
		t.Run(e.name, func(t *testing.T) {
			key := e.blueprint + " " + strings.Join(e.tags, " ")
			before, known := states[key]
			if !known {
				before = compileState(t, filepath.Join(root, "blueprints"), e)
				states[key] = before
			}
			dir := t.TempDir()
			for i, there := range directories(dir, e.blueprint) {
				here := directories(filepath.Join(root, "blueprints"), e.blueprint)[i]
				if err := os.CopyFS(there, os.DirFS(here)); err != nil {
					t.Fatal(err)
				}
			}
			e.apply(t, dir)
			r, err := review.Compare(before, compileState(t, dir, e))
			if err != nil {
				t.Fatal(err)
			}
			var summary, replaced []string
			for _, l := range r.Summary {
				summary = append(summary, string(l.Topic)+" | "+l.String())
			}
			for _, x := range r.Replacements {
				replaced = append(replaced, x.Address)
			}
			if os.Getenv("DUMP") != "" {
				for _, l := range summary {
					t.Log(l)
				}
				return
			}
			if diff := cmp.Diff(e.summary, summary); diff != "" {
				t.Errorf("the summary (-want +got):\n%s", diff)
			}
			_ = replaced
			if (len(e.summary) == 0) != r.Same() {
				t.Errorf("Same is %v, with %d lines of summary", r.Same(), len(e.summary))
			}
		})
	}
}

// apply changes the blueprint's file in a copy of the blueprints.
func (e edit) apply(t *testing.T, dir string) {
	t.Helper()
	file := e.file
	if file == "" {
		file = e.blueprint + "/platform.cue"
	}
	name := filepath.Join(dir, filepath.FromSlash(file))
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(content), e.old); n != 1 {
		t.Fatalf("%q stands %d times in %s, want once", e.old, n, file)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(content), e.old, e.new, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
}

// compileState compiles a blueprint below a folder.
func compileState(t *testing.T, dir string, e edit) review.State {
	t.Helper()
	abs, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	res, err := compiler.Compile(context.Background(), compiler.Input{Dir: abs, Paths: directories(abs, e.blueprint), Tags: e.tags})
	if err != nil {
		t.Fatal(err)
	}
	if res.Plan == nil {
		for _, f := range res.Findings.Sorted() {
			t.Errorf("%s[%s]: %s", f.Severity, f.Code, f.Message)
		}
		t.FailNow()
	}
	tree, err := folder.Build(res.Plan)
	if err != nil {
		t.Fatal(err)
	}
	return review.State{Label: e.name, Plan: res.Plan, Tree: tree}
}

// noEdits change nothing but how the blueprint is written.
var noEdits = []edit{
	{name: "a comment", blueprint: "batch-platform", old: "	// Room for the teams' own GPU pools besides the capacities below.\n", new: ""},
	{name: "order of fields", blueprint: "batch-platform", old: `{priority: 10, default: true, capacity: ["l4-reserved", "l4-spot"]}`, new: `{capacity: ["l4-reserved", "l4-spot"], default: true, priority: 10}`},
	{name: "order of teams", blueprint: "batch-platform", old: "	\"team-c\": cohort: \"team-c-d\"\n	\"team-d\": cohort: \"team-c-d\"\n", new: "	\"team-d\": cohort: \"team-c-d\"\n	\"team-c\": cohort: \"team-c-d\"\n"},
	{name: "formatting", blueprint: "a3-ultra-flex", old: "cluster: {\n", new: "cluster:    {\n\n\n"},
	{name: "quoting", blueprint: "kai-departments", old: "	interactive: {", new: "	\"interactive\": {", file: "kai-departments/workloads.cue"},
	{name: "a number in other words", blueprint: "batch-platform-dws", old: "14_400", new: "60 * 240", file: "batch-platform-dws/dws.cue"},
	{name: "a default given", blueprint: "tpu-training", old: "	preempts: true\n", new: "	preempts: true\n	queueing: \"StrictFIFO\"\n"},
}

var edits = []edit{
	// Quota.
	{name: "quota of every team", blueprint: "batch-platform", old: `"l4-spot": {accelerators: 12, borrow: 4}`, new: `"l4-spot": {accelerators: 16, borrow: 4}`},
	{name: "quota of one team", blueprint: "batch-platform", old: `"team-a": cohort: "team-a-b"`, new: `"team-a": {cohort: "team-a-b", quota: compact: "a100-compact": lend: 1}`},
	{name: "borrowing limit", blueprint: "batch-platform", old: `"l4-ondemand": {accelerators: 4, borrow: 4}`, new: `"l4-ondemand": {accelerators: 4, borrow: 1}`},
	{name: "borrow all no more", blueprint: "kai-departments", old: `borrow: "all"`, new: "borrow: 8"},
	{name: "a capacity less", blueprint: "batch-platform", old: `lp: {"l4-reserved": borrow: 4, `, new: `lp: {`},
	{name: "cpu and memory of an accelerator", blueprint: "batch-platform", old: `perAccelerator: {cpu: 10, memory: "60Gi"}`, new: `perAccelerator: {cpu: 11, memory: "60Gi"}`},
	{name: "shared quota", blueprint: "a3-ultra-flex", old: "shared: {}", new: `shared: quota: "a3-ultra": accelerators: 256`},
	{name: "one number of shared quota", blueprint: "a3-ultra-flex", old: `{machine: "a3-ultragpu-8g", gpuDirect: true}`, new: `{machine: "a3-ultragpu-8g", gpuDirect: true, perAccelerator: {cpu: 26, memory: "360Gi"}}`},
	{name: "borrowing limit of TPUs", blueprint: "tpu-training", tags: []string{"perTeam"}, file: "tpu-training/per-team.cue", old: `slices: {accelerators: _half, borrow: "all"}`, new: `slices: {accelerators: _half, borrow: 16}`},
	{name: "quota of cpu", blueprint: "tpu-training", tags: []string{"perTeam"}, file: "tpu-training/per-team.cue", old: "cpus: 3", new: "cpus: 2"},

	// Teams.
	{name: "a team added", blueprint: "batch-platform", old: `"team-d": cohort: "team-c-d"`, new: `"team-d": cohort: "team-c-d", "team-e": cohort: "team-c-d"`},
	{name: "a team removed", blueprint: "batch-platform", old: "	\"team-d\": cohort: \"team-c-d\"\n", new: ""},
	{name: "a team added to a shared queue", blueprint: "a3-ultra-flex", old: `products: group: "products@example.com"`, new: `{products: group: "products@example.com", analytics: group: "analytics@example.com"}`},
	{name: "a team moved", blueprint: "batch-platform", old: `"team-b": cohort: "team-a-b"`, new: `"team-b": cohort: "team-c-d"`},
	{name: "a team without cohort", blueprint: "batch-platform", old: `"team-b": cohort: "team-a-b"`, new: `"team-b": {}`},
	{name: "no buckets", blueprint: "batch-platform", old: "	bucket: true\n", new: ""},
	{name: "a namespace", blueprint: "tpu-training", old: `"tpu-research": {}`, new: `"tpu-research": namespace: "research"`},
	{name: "sharing by few", blueprint: "batch-platform-dws", file: "batch-platform-dws/dws.cue", old: `shared: {teams: ["team-a", "team-b"]`, new: `shared: {teams: ["team-a", "team-b", "team-c"]`},
	{name: "a cohort in another", blueprint: "batch-platform", old: `"team-c-d": {}`, new: `"team-c-d": parent: "team-a-b"`},

	// Capacity.
	{name: "nodes", blueprint: "batch-platform", old: "maxNodes: 36", new: "maxNodes: 48"},
	{name: "nodes of a reservation", blueprint: "kai-departments", old: "	nodes: 4\n", new: "	nodes: 5\n"},
	{name: "fewer nodes than guaranteed", blueprint: "batch-platform", old: "		nodes: 4\n", new: "		nodes: 2\n"},
	{name: "auto-provisioned nodes", blueprint: "batch-platform", old: "		maxNodes:        100\n", new: "		maxNodes:        120\n"},
	{name: "machine type", blueprint: "batch-platform", old: `l4: {machine: "g2-standard-24"`, new: `l4: {machine: "g2-standard-48"`},
	{name: "Spot to on demand", blueprint: "batch-platform", old: `consumption: spot: {}, maxNodes: 36`, new: `consumption: onDemand: {}, maxNodes: 36`},
	{name: "region", blueprint: "kai-departments", old: "\"us-central1\"\nzones: [\"us-central1-a\"]", new: "\"us-east4\"\nzones: [\"us-east4-a\"]"},
	{name: "zone", blueprint: "a3-ultra-flex", old: `*"us-central1-b" | string @tag(zone)`, new: `*"us-central1-c" | string @tag(zone)`},
	{name: "zones", blueprint: "batch-platform", old: `zones: ["us-central1-a", "us-central1-b", "us-central1-c"]`, new: `zones: ["us-central1-a", "us-central1-c"]`},
	{name: "slices up", blueprint: "tpu-training", tags: []string{"slices=0"}, old: "{slices: _slices}", new: "{slices: 2}"},
	{name: "slices down", blueprint: "tpu-training", old: "{slices: _slices}", new: "{slices: 0}"},
	{name: "slices as jobs need them", blueprint: "tpu-training", old: "if !_autoscaled {slices: _slices}", new: "if !_autoscaled {maxSlices: _slices}"},
	{name: "TPU type", blueprint: "tpu-training", old: `*"v5e" | "v4" @tag(type)`, new: `*"v4" | "v5e" @tag(type)`},
	{name: "longest run of a node", blueprint: "batch-platform-dws", file: "batch-platform-dws/dws.cue", old: `"a100-dws": {hardware: "a100-pair", consumption: flexStart: queued: true, maxNodes: 2}`, new: `"a100-dws": {hardware: "a100-pair", consumption: flexStart: {queued: true, maxRunSeconds: 86400}, maxNodes: 2}`},
	{name: "reservation made elsewhere", blueprint: "batch-platform", old: `{name: "machine-reservation", create: true}`, new: `{name: "machine-reservation"}`},
	{name: "boot disk", blueprint: "kai-departments", old: `h100: machine: "a3-highgpu-8g"`, new: `h100: {machine: "a3-highgpu-8g", disk: sizeGiB: 200}`},
	{name: "GPUDirect off", blueprint: "a3-ultra-flex", old: "gpuDirect: true", new: "gpuDirect: false"},

	// Priority.
	{name: "priority of a department", blueprint: "kai-departments", old: `"department-2": priority: 100`, new: `"department-2": priority: 300`},
	{name: "priorities swapped", blueprint: "kai-departments", old: `{cohort: "department-1", priority: 150}`, new: `{cohort: "department-1", priority: 50}`},
	{name: "priority", blueprint: "batch-platform", old: "compact: {priority: 15", new: "compact: {priority: 25"},
	{name: "preemption off", blueprint: "batch-platform", old: "hp: {priority: 20, preempts: true", new: "hp: {priority: 20, preempts: false"},
	{name: "order of capacities", blueprint: "batch-platform", old: `capacity: ["l4-reserved", "l4-spot"]`, new: `capacity: ["l4-spot", "l4-reserved"]`},
	{name: "queueing", blueprint: "batch-platform-dws", file: "batch-platform-dws/dws.cue", old: `queueing: "BestEffortFIFO"`, new: `queueing: "StrictFIFO"`},
	{name: "a priority of its own", blueprint: "a3-ultra-flex", old: `medium: 500, `, new: ``},

	// Access.
	{name: "group", blueprint: "a3-ultra-flex", old: "research@example.com", new: "science@example.com"},
	{name: "authorised network", blueprint: "batch-platform", old: `	releaseChannel: "RAPID"`, new: `	releaseChannel: "RAPID", authorizedNetworks: office: "203.0.113.0/24"`},
	{name: "authorised network removed", blueprint: "a3-ultra-flex", old: `	authorizedNetworks: office: "203.0.113.0/24"`, new: ""},
	{name: "everybody authorised", blueprint: "a3-ultra-flex", old: `office: "203.0.113.0/24"`, new: `office: "0.0.0.0/0"`},
	{name: "roles of a team", blueprint: "tpu-training", old: `"tpu-research": {}`, new: `"tpu-research": roles: ["roles/bigquery.user"]`},

	// The cluster.
	{name: "release channel", blueprint: "batch-platform", old: `"RAPID"`, new: `"STABLE"`},
	{name: "Kueue", blueprint: "batch-platform", old: `region:  "us-central1"`, new: `region:  "us-central1", versions: kueue: "0.19.1"`},
	{name: "maintenance", blueprint: "batch-platform", old: `csiDrivers: filestore:    true`, new: `csiDrivers: filestore: true, maintenance: start: "22:00"`},
	{name: "deletion protection off", blueprint: "batch-platform", old: `csiDrivers: filestore:    true`, new: `csiDrivers: filestore: true, deletionProtection: false`},
	{name: "Grafana", blueprint: "batch-platform-dws", file: "batch-platform-dws/dws.cue", old: "monitoring: grafana: false", new: "monitoring: grafana: true"},
	{name: "TensorBoard", blueprint: "batch-platform", old: "cohorts: {\n", new: "monitoring: tensorBoard: {}\ncohorts: {\n"},
	{name: "name", blueprint: "kai-departments", old: `"kai-departments"`, new: `"kai"`},
	{name: "Infrastructure Manager", blueprint: "tpu-training", old: "infrastructureManager: _managed", new: "infrastructureManager: true"},

	// Workloads.
	{name: "image", blueprint: "batch-platform", file: "batch-platform/workloads.cue", old: "pytorch:2.8.0-cuda12.8", new: "pytorch:2.9.0-cuda12.8"},
	{name: "copies", blueprint: "batch-platform", file: "batch-platform/workloads.cue", old: "copies: 4", new: "copies: 3"},
	{name: "requests", blueprint: "kai-departments", file: "kai-departments/workloads.cue", old: `{teams: ["project-b"], perPod: accelerators: 6}`, new: `{teams: ["project-b"], perPod: accelerators: 7}`},
	{name: "priority of a workload", blueprint: "tpu-training", file: "tpu-training/workloads.cue", old: `priority: "medium"`, new: `priority: "low"`},
	{name: "a script", blueprint: "batch-platform", file: "batch-platform/train.py", old: "import os\n", new: "import os\n\n"},
	{name: "a workload removed", blueprint: "kai-departments", file: "kai-departments/workloads.cue", old: "	\"training-job-b\": {teams: [\"project-a\"], perPod: accelerators: 3}\n", new: ""},
}
