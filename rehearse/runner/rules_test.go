package runner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/emit/rehearsal/standing"
	"github.com/batchwright/batchwright/emit/review/jobs"
)

// knockOns are outcomes that no rule predicts, by edit, team, tier and standing: an edit lets
// other jobs start earlier or come back, and their use makes these jobs stop or wait.
var knockOns = map[string]bool{
	"evict in the queue: lower priority: nlp urgent waiting":    true,
	"capacity gone from a tier, undone: speech batch borrowing": true,
}

// compareWithRules compares what package jobs predicts of an edit with what became of the jobs
// of its scenes: no job fares worse without an effect that predicts it, and what stops or never
// starts for certain does so in a scene.
func compareWithRules(t *testing.T, e edit, before, after standing.State, scenes []playedScene) {
	t.Helper()
	unseen := map[string]bool{}
	for name := range knockOns {
		if strings.HasPrefix(name, e.name+": ") {
			unseen[name] = true
		}
	}
	effects := jobs.Of(before.Plan, after.Plan, nil)
	happened := make([]bool, len(effects))
	for _, s := range scenes {
		for _, o := range s.outcomes {
			predicted := !worse(o)
			for i, e := range effects {
				if concerns(e, o) && slices.Contains(predictions(o), outcomeOf(e, o).Kind) {
					predicted, happened[i] = true, true
				}
			}
			if name := fmt.Sprintf("%s: %s %s %s", e.name, o.Team, o.Tier, o.Standing); !predicted && knockOns[name] {
				delete(unseen, name)
			} else if !predicted {
				t.Errorf("%s: no effect predicts that %q", s.Name, standing.Lines([]standing.Outcome{o})[0])
			}
		}
	}
	for i, e := range effects {
		certain := func(o jobs.Outcome) bool { return o.Kind == jobs.Stop || o.Kind == jobs.NeverStart }
		// Nodes are not played, and no job is as large as the largest.
		played := e.Capacity == "" && !strings.HasPrefix(e.Cause, "largest job")
		if !happened[i] && played && (certain(e.Running) || certain(e.Waiting)) {
			t.Errorf("no job fares as predicted: %s", e)
		}
	}
	for name := range unseen {
		t.Errorf("a rule predicts %q, or it does not happen", name)
	}
	if t.Failed() {
		for _, e := range effects {
			t.Logf("effect: %s (%s, %s, %s)", e, e.Running.Kind, e.Waiting.Kind, e.New.Kind)
		}
	}
}

// worse reports whether jobs stop, or start later than without the change or never.
func worse(o standing.Outcome) bool {
	switch o.Fate.Kind {
	case standing.Runs:
		return false
	case standing.Restarts:
		return o.Without.Evicted == ""
	case standing.Waits:
		return o.Without.Kind == standing.Runs
	case standing.Stops:
		return o.Without.Kind != standing.StopsForever
	}
	return true
}

// concerns reports whether an effect is about jobs of the team and the tier.
func concerns(e jobs.Effect, o standing.Outcome) bool {
	return (len(e.Teams) == 0 || slices.Contains(e.Teams, o.Team)) && (e.Tier == "" || e.Tier == o.Tier)
}

// outcomeOf returns what an effect says of jobs that stand so.
func outcomeOf(e jobs.Effect, o standing.Outcome) jobs.Outcome {
	switch o.Standing {
	case standing.Waiting:
		return e.Waiting
	case standing.New:
		return e.New
	}
	return e.Running
}

// predictions returns the kinds that predict an outcome.
func predictions(o standing.Outcome) []jobs.Kind {
	switch o.Fate.Kind {
	case standing.Restarts, standing.Stops, standing.StopsForever:
		return []jobs.Kind{jobs.Stop, jobs.MayStop, jobs.RunOn}
	case standing.Waits:
		return []jobs.Kind{jobs.Wait, jobs.NeverStart, jobs.Rejected}
	}
	return []jobs.Kind{jobs.NeverStart, jobs.Rejected, jobs.Wait}
}
