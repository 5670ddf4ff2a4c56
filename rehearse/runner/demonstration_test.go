package runner_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/emit/rehearsal"
)

// compilePlan returns the plan of a blueprint.
func compilePlan(t testing.TB, paths ...string) *ir.Platform {
	t.Helper()
	return compileForm(t, nil, paths...)
}

// compileForm returns the plan of a blueprint with tags.
func compileForm(t testing.TB, tags []string, paths ...string) *ir.Platform {
	t.Helper()
	dir, err := filepath.Abs("../../blueprints")
	if err != nil {
		t.Fatal(err)
	}
	result, err := compiler.Compile(context.Background(), compiler.Input{Dir: dir, Paths: paths, Tags: tags})
	if err != nil || result.Plan == nil {
		t.Fatal(err, result.Findings.Sorted())
	}
	return result.Plan
}

// demonstration returns the scenario of a platform's demonstration.
func demonstration(t testing.TB, plan *ir.Platform) *rehearsal.Scenario {
	t.Helper()
	tree, err := folder.Build(plan)
	if err != nil {
		t.Fatal(err)
	}
	s, err := rehearsal.OfDemonstration(plan, tree)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDemonstrations plays the demonstrations of the reference systems. Each phase must end
// as the reference documents say, which is what the control plane of the conformance tests
// shows too, whichever job Kueue's ties prefer.
func TestDemonstrations(t *testing.T) {
	for _, test := range []struct {
		name  string
		paths []string
		tags  []string
	}{
		{"batch-platform", []string{"batch-platform"}, nil},
		{"batch-platform-argocd", []string{"batch-platform", "batch-platform-argocd"}, nil},
		{"batch-platform-dws", []string{"batch-platform", "batch-platform-dws"}, nil},
		{"tpu-training", []string{"tpu-training"}, nil},
		{"tpu-training with one slice", []string{"tpu-training"}, []string{"slices=1"}},
		{"tpu-training with three slices", []string{"tpu-training"}, []string{"slices=3"}},
		{"tpu-training with eight slices", []string{"tpu-training"}, []string{"slices=8"}},
		{"tpu-training with slices that scale", []string{"tpu-training"}, []string{"slices=3", "autoscaled=true"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := compileForm(t, test.tags, test.paths...)
			s := demonstration(t, plan)
			for _, s.ReversedTies = range []bool{false, true} {
				for _, d := range rehearsal.Differences(plan, s, play(t, s)) {
					t.Errorf("reversed ties: %t: phase %s: %s: got %d, want %d", s.ReversedTies, d.Phase, d.What, d.Got,
						d.Want)
				}
			}
		})
	}
}

// TestChangedQuota checks that a rehearsal notices a change: without its jobs of
// high priority, nobody takes back the reservation.
func TestChangedQuota(t *testing.T) {
	plan := compilePlan(t, "batch-platform")
	s := demonstration(t, plan)
	for i := range s.Jobs {
		if s.Templates[s.Jobs[i].Template].Name == "high-priority" {
			s.Jobs[i].At, s.Jobs[i].Deleted = s.Until, 0
		}
	}
	if differences := rehearsal.Differences(plan, s, play(t, s)); len(differences) == 0 {
		t.Error("the demonstration is as expected without its jobs of high priority")
	}
}
