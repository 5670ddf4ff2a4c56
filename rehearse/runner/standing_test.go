package runner_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/standing"
)

var everyScene = flag.Bool("every-scene", false, "compare every scene of every edit with a whole Kueue, to its end")

// sampledEdits are the edits that every run of the tests plays, the first of them also with a
// whole Kueue. Conformance plays all edits, and these with a whole Kueue.
var sampledEdits = []string{
	"never reclaim, undone", "namespace", "another cohort",
	"team gone", "queued flex-start", "no borrowing", "priority", "evict in the queue: newer", "queueing",
	"tier gone, with Argo CD", "comment",
}

// playedScene is a scene of an edit with what happened in it.
type playedScene struct {
	*standing.Scene
	history    *rehearsal.History // with the change
	outcomes   []standing.Outcome
	unaffected int
}

// playEdit plays all scenes of an edit. controls are histories of scenes without a change,
// which many edits have in common.
func playEdit(t *testing.T, before, after standing.State, controls map[string]*rehearsal.History) []playedScene {
	t.Helper()
	scenes, err := standing.Scenes(before, after)
	if err != nil {
		t.Fatal(err)
	}
	var out []playedScene
	for _, s := range scenes {
		raw, err := json.Marshal(s.Control)
		if err != nil {
			t.Fatal(err)
		}
		if controls[string(raw)] == nil {
			controls[string(raw)] = play(t, s.Control)
		}
		history := play(t, s.Changed)
		outcomes, unaffected := s.Outcomes(controls[string(raw)], history)
		out = append(out, playedScene{s, history, outcomes, unaffected})
	}
	return out
}

// TestEdits compares the engine with a whole Kueue in changes of the configuration: what
// becomes of every job.
func TestEdits(t *testing.T) {
	controls := map[string]*rehearsal.History{}
	all := edits()
	for _, name := range sampledEdits {
		if !slices.ContainsFunc(all, func(e edit) bool { return e.name == name }) {
			t.Errorf("there is no edit %q", name)
		}
	}
	for _, e := range all {
		place := slices.Index(sampledEdits, e.name)
		if place < 0 && sampled(0, 1) == 0 && !*everyScene {
			continue // make conformance plays all edits
		}
		t.Run(e.name, func(t *testing.T) {
			before, after := compileEdited(t, e.from), compileEdited(t, e.texts)
			scenes := playEdit(t, before, after, controls)
			if e.nothing != (len(scenes) == 0) {
				t.Fatalf("%d scenes", len(scenes))
			}
			compareWithRules(t, e, before, after, scenes)
			telling := 0 // the scene in which the most differs
			for i, s := range scenes {
				logOutcomes(t, s)
				if len(s.outcomes) > len(scenes[telling].outcomes) {
					telling = i
				}
			}
			for i, s := range scenes {
				if *everyScene || i == telling && place >= 0 && place < sampled(3, len(sampledEdits)) {
					compareWithWhole(t, s)
				}
			}
		})
	}
}

// logOutcomes logs how many jobs fare otherwise because of a change.
func logOutcomes(t *testing.T, s playedScene) {
	t.Helper()
	var order []string
	counts := map[string]int{}
	for _, o := range s.outcomes {
		what := fmt.Sprintf("%s %s", o.Standing, o.Fate.Kind)
		if counts[what] == 0 {
			order = append(order, what)
		}
		counts[what] += o.Jobs
	}
	for i, what := range order {
		order[i] = fmt.Sprintf("%d %s", counts[what], what)
	}
	order = append(order, fmt.Sprint(s.unaffected, " as without the change"))
	t.Logf("%-30s %2d jobs: %s", s.Name, len(s.history.Jobs), strings.Join(order, ", "))
	for _, line := range standing.Lines(s.outcomes) {
		t.Log("  " + line)
	}
}

// replays is how often a whole Kueue plays a scene at most. Where jobs of several queues wait for
// what one eviction frees, its goroutines decide by chance who gets it, and the engine must decide
// as one of the plays.
const replays = 12

// compareWithWhole compares what becomes of the jobs of a scene with a whole Kueue.
func compareWithWhole(t *testing.T, s playedScene) {
	t.Helper()
	played := *s.Changed
	if !*everyScene {
		played.Until = played.Looks[0]
	}
	got := s.Fates(s.history)
	for i := range got {
		got[i] = compared(got[i])
	}
	var want []standing.Fate
	for again := 0; again < replays && !slices.Equal(got, want); again++ {
		for i := range want {
			if want[i] != got[i] {
				t.Logf("%s, play %d, %s: the whole Kueue %+v, the engine %+v",
					s.Name, again, s.Changed.Jobs[i].Name, want[i], got[i])
			}
		}
		want = s.Fates(wholeHistory(t, &played))
		for i := range want {
			want[i] = compared(want[i])
		}
	}
	for i := range want {
		if want[i] != got[i] {
			t.Errorf("%s, %s: the whole Kueue %+v, the engine %+v", s.Name, s.Changed.Jobs[i].Name, want[i], got[i])
		}
	}
}

// compared returns what of a fate is compared. Without its end, a scene does not tell which
// jobs never start.
func compared(f standing.Fate) standing.Fate {
	f.How, f.Why = "", ""
	switch {
	case *everyScene:
	case f.Kind == standing.NeverRuns:
		f.Kind = standing.Waits
	case f.Kind == standing.StopsForever:
		f.Kind = standing.Stops
	}
	return f
}

// wholeHistory returns what a whole Kueue decides in a scenario, as a history.
func wholeHistory(t *testing.T, s *rehearsal.Scenario) *rehearsal.History {
	t.Helper()
	h := &rehearsal.History{}
	for i, decisions := range playWhole(t, s) {
		var j rehearsal.JobHistory
		for _, d := range decisions {
			if d.Reason == "" {
				run := rehearsal.Run{Reserved: d.At, Ended: d.At + s.Jobs[i].Runs}
				for _, f := range strings.Split(d.Flavors, ",") {
					podSet, flavor, _ := strings.Cut(f, "=")
					run.Flavors = append(run.Flavors, rehearsal.PodSetFlavor{PodSet: podSet, Flavor: flavor})
				}
				j.ClusterQueue, j.Runs = d.Queue, append(j.Runs, run)
				continue
			}
			last := &j.Runs[len(j.Runs)-1]
			last.Ended, last.Evicted = d.At, rehearsal.EvictionReason(d.Reason)
			if d.PreemptedBy != "" {
				var number int
				if _, err := fmt.Sscanf(d.PreemptedBy, "%08x", &number); err != nil {
					t.Fatal(err)
				}
				last.By = "/" + s.Jobs[number].Name
			}
		}
		if last := len(j.Runs) - 1; last >= 0 && j.Runs[last].Evicted == "" {
			j.End, j.Outcome = j.Runs[last].Ended, rehearsal.Finished
		}
		h.Jobs = append(h.Jobs, j)
	}
	return h
}
