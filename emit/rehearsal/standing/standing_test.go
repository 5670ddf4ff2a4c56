package standing_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/standing"
)

// blueprint has two trees of cohorts.
const blueprint = `package platform

name:    "standing"
project: "my-project"
region:  "us-central1"
zones: ["us-central1-a"]

hardware: l4: machine: "g2-standard-24"
capacity: "l4-spot": {hardware: "l4", consumption: spot: {}, maxNodes: 24}
tiers: {
	batch: {priority: 10, default: true, capacity: ["l4-spot"]}
	urgent: {priorities: {urgent: 20, critical: 30}, capacity: ["l4-spot"]}
}
cohorts: {research: {}, apart: {}}
teams: {
	vision: {cohort: "research", quota: batch: "l4-spot": {accelerators: 7, borrow: 2}}
	nlp: {cohort: "research", quota: batch: "l4-spot": accelerators: 1}
	speech: {cohort: "apart", quota: urgent: "l4-spot": accelerators: 2}
}
`

// compile returns the blueprint with texts in the place of others.
func compile(t *testing.T, texts ...string) standing.State {
	t.Helper()
	text := strings.NewReplacer(texts...).Replace(blueprint)
	return build(t, compiler.Input{
		Files: fstest.MapFS{"platform.cue": {Data: []byte(text)}}, Paths: []string{"platform.cue"},
	})
}

func build(t *testing.T, in compiler.Input) standing.State {
	t.Helper()
	result, err := compiler.Compile(t.Context(), in)
	if err != nil || result.Plan == nil {
		t.Fatal(err, result.Findings.Sorted())
	}
	tree, err := folder.Build(result.Plan)
	if err != nil {
		t.Fatal(err)
	}
	return standing.State{Plan: result.Plan, Tree: tree}
}

// TestScenes checks which jobs stand in the scenes: only those of the tree that changes, at
// most four on a queue's quota, which use all of it.
func TestScenes(t *testing.T) {
	scenes, err := standing.Scenes(compile(t), compile(t, "borrow: 2", "borrow: 1"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, s := range scenes {
		change := s.Changed.Changes[0].At
		for i, j := range s.Control.Jobs {
			when := "before"
			if j.At > change {
				when = "after"
			} else if j.At+j.Runs < change {
				when = "ends"
			}
			template := s.Control.Templates[j.Template]
			got[s.Name] = append(got[s.Name], fmt.Sprint(when, " ", template.Team, " ", template.Pods))
			if !cmp.Equal(s.Changed.Jobs[i], s.Control.Jobs[i]) {
				t.Errorf("%s: job %d differs with the change", s.Name, i)
			}
		}
	}
	want := map[string][]string{
		"every queue uses its quota": {
			// 7 with the two jobs that follow
			"before nlp 1", "ends vision 1", "ends vision 1", "before vision 2", "before vision 3",
			"before nlp 1", "before vision 2", "before vision 1", "before vision 1",
			"after nlp 1", "after vision 1",
		},
		"half 2 of the teams borrows": {
			"before vision 4", "before vision 3", "before vision 1", "before vision 1", "before nlp 1",
			"after nlp 1", "after vision 3",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
}

// TestUntouched checks that a change of something else has no scenes.
func TestUntouched(t *testing.T) {
	for _, texts := range [][]string{
		{"package platform", "// A comment.\npackage platform"},
		{`cohort: "apart"`, `cohort: "apart", maxJobs: 10`},
		{"maxNodes: 24", "maxNodes: 30"},
	} {
		scenes, err := standing.Scenes(compile(t), compile(t, texts...))
		if err != nil || scenes != nil {
			t.Errorf("%q: %d scenes, %v", texts, len(scenes), err)
		}
	}
}

// TestUnplayable checks which changes cannot be played, and why.
func TestUnplayable(t *testing.T) {
	many := "teams: {\n"
	for i := range 101 {
		many += fmt.Sprintf("team%d: {cohort: \"research\", quota: batch: \"l4-spot\": borrow: 1}\n", i)
	}
	kai := build(t, compiler.Input{Files: os.DirFS("../../.."), Paths: []string{"blueprints/kai-departments"}})
	renamed := func(plan *ir.Platform) standing.State {
		other := *plan
		other.Name, other.Project, other.Region = "standing", "my-project", "us-central1"
		return standing.State{Plan: &other, Tree: kai.Tree}
	}(kai.Plan)
	for _, test := range []struct {
		name          string
		before, after standing.State
		want          string
	}{
		{"other platform", compile(t), compile(t, `"standing"`, `"sitting"`), "the new platform has no jobs yet"},
		{"KAI Scheduler", kai, kai, "the engine of KAI Scheduler cannot play a change"},
		{"scheduler", compile(t), renamed, "the platform gets another scheduler"},
		{"many queues", compile(t), compile(t, "teams: {\n", many), "103 ClusterQueues under one cohort; at most 40"},
	} {
		_, err := standing.Scenes(test.before, test.after)
		var unplayable rehearsal.Unplayable
		if !errors.As(err, &unplayable) || !strings.Contains(unplayable.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// TestObjects checks what stays of objects that the later side does not have: without a GitOps
// tool the build stops ClusterQueues that are gone.
func TestObjects(t *testing.T) {
	before := compile(t)
	after := compile(t, "\tspeech: {cohort: \"apart\", quota: urgent: \"l4-spot\": accelerators: 2}\n", "")
	scenes, err := standing.Scenes(before, after)
	if err != nil {
		t.Fatal(err)
	}
	stopped := func(raw json.RawMessage) bool {
		return strings.Contains(string(raw), `"cq-speech-urgent"`) && strings.Contains(string(raw), `"HoldAndDrain"`) &&
			!strings.Contains(string(raw), "resourceGroups")
	}
	objects := scenes[0].Changed.Changes[0].Objects
	if !slices.ContainsFunc(objects, stopped) {
		t.Errorf("no ClusterQueue is stopped in %s", objects)
	}
}

// TestLines checks how outcomes read.
func TestLines(t *testing.T) {
	outcome := func(team string, s standing.Standing, jobs, of int, fate, without standing.Fate) standing.Outcome {
		return standing.Outcome{
			Team: team, Tier: "batch", Standing: s, Jobs: jobs, Of: of, Fate: fate, Without: without,
		}
	}
	reclaimed := standing.Fate{
		Kind: standing.Stops, Evicted: "Preempted", For: "vision", How: "reclamation within the cohort",
	}
	restarted := reclaimed
	restarted.Kind, restarted.Capacity = standing.Restarts, "l4-spot"
	runs := standing.Fate{Kind: standing.Runs, Capacity: "l4-spot"}
	elsewhere := standing.Fate{Kind: standing.Runs, Capacity: "l4-od"}
	waits := standing.Fate{Kind: standing.Waits, Why: "too little quota of l4-spot is unused"}
	got := standing.Lines([]standing.Outcome{
		outcome("nlp", standing.Borrowing, 2, 4, reclaimed, runs),
		outcome("speech", standing.Borrowing, 2, 4, reclaimed, runs),
		outcome("nlp", standing.Borrowing, 1, 4, restarted, runs),
		outcome("nlp", standing.Guaranteed, 2, 2,
			standing.Fate{Kind: standing.StopsForever, Evicted: "ClusterQueueStopped"}, runs),
		outcome("nlp", standing.Guaranteed, 1, 1, standing.Fate{
			Kind: standing.StopsForever, Evicted: "Preempted", For: "nlp", How: "prioritization in the ClusterQueue",
			Why: "LocalQueue lq doesn't exist",
		}, runs),
		outcome("nlp", standing.Waiting, 3, 3, standing.Fate{
			Kind: standing.NeverRuns, Why: "jobs before it wait",
		}, waits),
		outcome("nlp", standing.Waiting, 1, 3, runs, waits),
		outcome("nlp", standing.New, 1, 1, waits, runs),
		outcome("nlp", standing.New, 1, 1, waits, standing.Fate{Kind: standing.NeverRuns}),
		outcome("nlp", standing.New, 1, 1, elsewhere, runs),
		outcome("nlp", standing.Borrowing, 1, 1, runs, reclaimed),
		outcome("nlp", standing.Waiting, 1, 1, standing.Fate{Kind: standing.Deleted}, waits),
	})
	want := []string{
		"2 of 4 borrowing jobs of nlp and speech in tier batch stop: Kueue preempts them for vision, which takes its " +
			"quota back; they wait again",
		"1 of 4 borrowing jobs of nlp in tier batch stops: Kueue preempts it for vision, which takes its quota back; " +
			"it starts again on l4-spot",
		"2 guaranteed jobs of nlp in tier batch stop, and do not start again: the platform no longer has the queue",
		"1 guaranteed job of nlp in tier batch stops, and does not start again: Kueue preempts it for nlp, whose job " +
			"comes first in the queue; LocalQueue lq doesn't exist",
		"3 waiting jobs of nlp in tier batch never start: jobs before it wait",
		"1 of 3 waiting jobs of nlp in tier batch starts on l4-spot",
		"1 new job of nlp in tier batch waits longer: too little quota of l4-spot is unused",
		"1 new job of nlp in tier batch waits, and can start when other jobs end: too little quota of l4-spot is " +
			"unused",
		"1 new job of nlp in tier batch starts on l4-od instead of l4-spot",
		"1 borrowing job of nlp in tier batch keeps running on l4-spot",
		"1 waiting job of nlp in tier batch is deleted with the namespace",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
