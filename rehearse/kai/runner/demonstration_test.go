package runner_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
	"github.com/batchwright/batchwright/rehearse/kai/runner"
)

// departments returns the plan of the reference system with KAI Scheduler, and its folder.
func departments(t *testing.T) (*ir.Platform, emit.Tree) {
	t.Helper()
	dir, err := filepath.Abs("../../../blueprints")
	if err != nil {
		t.Fatal(err)
	}
	result, err := compiler.Compile(context.Background(), compiler.Input{Dir: dir, Paths: []string{"kai-departments"}})
	if err != nil || result.Plan == nil {
		t.Fatal(err, result.Findings.Sorted())
	}
	tree, err := folder.Build(result.Plan)
	if err != nil {
		t.Fatal(err)
	}
	return result.Plan, tree
}

// TestInstalledRelease checks that the engine stands in for the release that platforms
// install.
func TestInstalledRelease(t *testing.T) {
	if plan, _ := departments(t); plan.Versions.KAI != runner.Plays {
		t.Errorf("platforms install KAI Scheduler %s, and the engine stands in for %s", plan.Versions.KAI, runner.Plays)
	}
}

// TestDemonstration plays the demonstration of the reference system. Each phase must end as
// the reference document says, whichever job ties prefer, and KAI moves one job.
func TestDemonstration(t *testing.T) {
	plan, tree := departments(t)
	s, err := rehearsal.OfDemonstration(plan, tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, s.ReversedTies = range []bool{false, true} {
		h := play(t, s)
		for _, d := range rehearsal.Differences(plan, s, h) {
			t.Errorf("reversed ties: %t: phase %s: %s: got %d, want %d", s.ReversedTies, d.Phase, d.What, d.Got, d.Want)
		}
		evictions := map[string]string{}
		for i, j := range h.Jobs {
			for _, run := range j.Runs {
				if run.Evicted != "" {
					evictions[s.Jobs[i].Name] = string(run.Evicted) + " by " + run.By
				}
			}
		}
		want := map[string]string{"training-job-2": "consolidation by project-c/training-job-a"}
		equal(t, "evictions", evictions, want)
	}
}

// TestChangedPlacement checks that the comparison notices another placement: without the
// cordon there is room for every job, and KAI moves none.
func TestChangedPlacement(t *testing.T) {
	plan, tree := departments(t)
	s, err := rehearsal.OfDemonstration(plan, tree)
	if err != nil {
		t.Fatal(err)
	}
	s.Pools[0].Cordoned = nil
	if differences := rehearsal.Differences(plan, s, play(t, s)); len(differences) == 0 {
		t.Error("the demonstration is as expected without its cordon")
	}
}

// TestRehearsals plays the rehearsals of the reference system: what they expect must happen.
func TestRehearsals(t *testing.T) {
	plan, tree := departments(t)
	if len(plan.Rehearsals) == 0 {
		t.Errorf("%s has no rehearsal", plan.Name)
	}
	for _, r := range plan.Rehearsals {
		s, err := rehearsal.OfRehearsal(plan, tree, r)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range report.Of(plan, s, play(t, s), r.Expect).Verdicts {
			if !v.Met {
				t.Errorf("%s: %s", r.Name, v.Message)
			}
		}
	}
}
