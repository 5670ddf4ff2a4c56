package runner_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/emit/rehearsal/standing"
)

// edited is the blueprint that edits change: three teams in a cohort with a child cohort, two
// tiers and one that the teams share, and two capacities.
const edited = `package platform

name:    "edited"
project: "my-project"
region:  "us-central1"
zones: ["us-central1-a"]

hardware: l4: {machine: "g2-standard-24", perAccelerator: {cpu: 8, memory: "32Gi"}}
capacity: {
	"l4-od": {hardware: "l4", consumption: onDemand: {}, maxNodes: 24}
	"l4-spot": {hardware: "l4", consumption: spot: {}, maxNodes: 24}
}
tiers: {
	batch: {
		priority: 10
		default:  true
		capacity: ["l4-od", "l4-spot"]
		queueing: "BestEffortFIFO"
	}
	urgent: {priorities: {urgent: 20, critical: 30}, capacity: ["l4-od"], queueing: "StrictFIFO"}
	dev: {
		priority: 5
		capacity: ["l4-spot"]
		shared: {teams: ["vision", "nlp"], cohort: "research", quota: "l4-spot": accelerators: 2}
	}
}
cohorts: {
	research: {}
	lab: parent: "research"
	apart: {}
}
teams: {
	vision: {
		cohort: "research"
		quota: {
			batch: {"l4-od": {accelerators: 1, borrow: 2}, "l4-spot": {accelerators: 4, borrow: 4}}
			urgent: "l4-od": {accelerators: 2, borrow: 1}
		}
	}
	nlp: {
		cohort: "research"
		quota: {
			batch: "l4-spot": {accelerators: 4, borrow: "all"}
			urgent: "l4-od": {accelerators: 2, borrow: 2}
		}
	}
	speech: {
		cohort: "lab"
		quota: batch: "l4-spot": {accelerators: 3, borrow: 3}
	}
}
`

// edit is a change of the blueprint: pairs of a text and the text in its place.
type edit struct {
	name  string
	texts []string
	// from are the pairs that the earlier side has already, nil for the blueprint as it is.
	from []string
	// nothing reports whether the edit changes nothing that Kueue decides by.
	nothing bool
}

// edits returns edits of every kind that changes what Kueue decides.
func edits() []edit {
	var out []edit
	add := func(name string, texts ...string) { out = append(out, edit{name: name, texts: texts}) }
	undone := func(name string, texts ...string) { out = append(out, edit{name: name, from: texts}) }
	without := func(name string, texts ...string) {
		out = append(out, edit{name: name, texts: texts, nothing: true})
	}
	argoCD := []string{"package platform", "package platform\n" +
		`delivery: {gitops: "argocd", source: {repository: "https://github.com/example/batch", path: "."}}`}
	batch := `queueing: "BestEffortFIFO"`
	both := func(name string, texts ...string) {
		add(name, texts...)
		undone(name+", undone", texts...)
	}
	both("evict in the queue: lower priority",
		`queueing: "StrictFIFO"`, `queueing: "StrictFIFO", preempts: inQueue: "LowerPriority"`)
	both("evict in the queue: newer", batch, batch+"\npreempts: inQueue: \"LowerOrNewerEqualPriority\"")
	both("never reclaim", batch, batch+"\npreempts: toReclaim: \"Never\"")
	both("reclaim from lower priority", batch, batch+"\npreempts: toReclaim: \"LowerPriority\"")
	both("evict to borrow", `queueing: "StrictFIFO"`, `queueing: "StrictFIFO", preempts: toBorrow: "LowerPriority"`)
	add("namespace", "vision: {\n\t\tcohort", "vision: {\n\t\tnamespace: \"seeing\"\n\t\tcohort")
	add("no borrowing", `{accelerators: 4, borrow: "all"}`, `accelerators: 4`)
	both("less borrowing", `{accelerators: 4, borrow: 4}`, `{accelerators: 4, borrow: 1}`)
	both("limit on lending", `{accelerators: 4, borrow: 4}`, `{accelerators: 4, borrow: 4, lend: 1}`)
	add("lower limit on lending", `{accelerators: 4, borrow: 4}`, `{accelerators: 4, borrow: 4, lend: 0}`)
	add("another cohort", "nlp: {\n\t\tcohort: \"research\"", "nlp: {\n\t\tcohort: \"apart\"")
	add("no cohort", "nlp: {\n\t\tcohort: \"research\"", "nlp: {",
		`{accelerators: 4, borrow: "all"}`, `accelerators: 4`, `{accelerators: 2, borrow: 2}`, `accelerators: 2`)
	add("cohort renamed", "research", "science")
	both("cohort without parent", `lab: parent: "research"`, `lab: {}`)
	add("another parent", `lab: parent: "research"`, `lab: parent: "apart"`)
	both("team gone",
		"speech: {\n\t\tcohort: \"lab\"\n\t\tquota: batch: \"l4-spot\": {accelerators: 3, borrow: 3}\n\t}\n", "")
	both("tier gone",
		"urgent: {priorities: {urgent: 20, critical: 30}, capacity: [\"l4-od\"], queueing: \"StrictFIFO\"}\n", "",
		`urgent: "l4-od": {accelerators: 2, borrow: 1}`, "", `urgent: "l4-od": {accelerators: 2, borrow: 2}`, "")
	add("priority", "priority: 10", "priority: 25")
	add("priorities swapped", "priority: 10", "priority: 40", "{urgent: 20, critical: 30}", "{urgent: 2, critical: 3}")
	both("more quota", `{accelerators: 3, borrow: 3}`, `{accelerators: 6, borrow: 3}`)
	add("no quota", `{accelerators: 3, borrow: 3}`, `{accelerators: 0, borrow: 3}`)
	add("order of capacities", `capacity: ["l4-od", "l4-spot"]`, `capacity: ["l4-spot", "l4-od"]`)
	both("capacity gone from a tier", `capacity: ["l4-od", "l4-spot"]`, `capacity: ["l4-spot"]`,
		`"l4-od": {accelerators: 1, borrow: 2}, `, "")
	add("hardware",
		`machine: "g2-standard-24", perAccelerator: {cpu: 8, memory: "32Gi"}`,
		`machine: "a2-highgpu-1g", perAccelerator: {cpu: 10, memory: "60Gi"}`)
	add("amounts of an accelerator", `{cpu: 8, memory: "32Gi"}`, `{cpu: 6, memory: "24Gi"}`)
	both("queueing", `queueing: "BestEffortFIFO"`, `queueing: "StrictFIFO"`)
	for _, e := range slices.Clone(out) {
		if slices.Contains([]string{"team gone", "tier gone", "namespace", "no shared queue"}, e.name) {
			out = append(out, edit{
				name: e.name + ", with Argo CD", from: slices.Clone(argoCD), texts: slices.Concat(argoCD, e.texts),
			})
		}
	}
	without("limit on jobs", "nlp: {\n", "nlp: {\n\t\tmaxJobs: 10\n")
	both("no shared queue",
		`shared: {teams: ["vision", "nlp"], cohort: "research", quota: "l4-spot": accelerators: 2}`, "")
	both("queued flex-start", `"l4-spot": {hardware: "l4", consumption: spot: {}, maxNodes: 24}`,
		`"l4-spot": {hardware: "l4", consumption: flexStart: queued: true, maxNodes: 24}`)
	without("comment", "package platform", "// A comment.\npackage platform")
	return out
}

// compileEdited returns the blueprint with texts in the place of others.
func compileEdited(t testing.TB, texts []string) standing.State {
	t.Helper()
	blueprint := edited
	for i := 0; i < len(texts); i += 2 {
		if !strings.Contains(blueprint, texts[i]) {
			t.Fatalf("the blueprint does not contain %q", texts[i])
		}
		blueprint = strings.ReplaceAll(blueprint, texts[i], texts[i+1])
	}
	result, err := compiler.Compile(t.Context(), compiler.Input{
		Files: fstest.MapFS{"platform.cue": {Data: []byte(blueprint)}}, Paths: []string{"platform.cue"},
	})
	if err != nil || result.Plan == nil {
		t.Fatal(err, result.Findings.Sorted())
	}
	tree, err := folder.Build(result.Plan)
	if err != nil {
		t.Fatal(err)
	}
	return standing.State{Plan: result.Plan, Tree: tree}
}
