package runner_test

import (
	"testing"

	"github.com/batchwright/batchwright/emit/rehearsal"
)

// TestIndependentPods checks that each independent pod gives back its quota at its end, and
// that the job ends with its last pod.
func TestIndependentPods(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 4})
	sweep := submit(t, s, "a", "low", 3, rehearsal.Job{At: 0, PodRuns: []int64{100, 300, 200}})
	second := submit(t, s, "a", "low", 2, rehearsal.Job{At: 10, Runs: 50})
	third := submit(t, s, "a", "low", 2, rehearsal.Job{At: 20, Runs: 90})
	h := play(t, s)
	equal(t, "sweep", h.Jobs[sweep].Runs, []rehearsal.Run{{
		Ran: true, Ended: 300, Flavors: []rehearsal.PodSetFlavor{{PodSet: "main", Flavor: "standard", Pods: 3}},
		Pods: &rehearsal.PodRuns{
			Ran: 600, Finished: []rehearsal.Count{{At: 100, N: 1}, {At: 200, N: 2}, {At: 300, N: 3}},
		},
	}})
	equal(t, "outcome", h.Jobs[sweep].Outcome, rehearsal.Finished)
	equal(t, "second", runs(h, second), [][3]int64{{101, 101, 151}})
	equal(t, "third", runs(h, third), [][3]int64{{152, 152, 242}})
}

// TestIndependentPodsOnNodes checks that an independent pod starts as soon as it has a node,
// and gives the node back at its end.
func TestIndependentPodsOnNodes(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 4})
	nodes(s, rehearsal.Pool{Max: 2, Startup: 5, Idle: 10})
	sweep := submit(t, s, "a", "low", 4, rehearsal.Job{At: 0, PodRuns: []int64{100, 30, 50, 20}})
	h := play(t, s)
	// The second pod ends at 35, and the third at 85. The last one starts at 85.
	equal(t, "sweep", h.Jobs[sweep].Runs, []rehearsal.Run{{
		Ran: true, Started: 85, Ended: 105,
		Flavors: []rehearsal.PodSetFlavor{{PodSet: "main", Flavor: "standard", Pods: 4}},
		Pods: &rehearsal.PodRuns{
			Ran: 200, Finished: []rehearsal.Count{{At: 35, N: 1}, {At: 85, N: 2}, {At: 105, N: 4}},
		},
	}})
}

// TestIndependentPodsEvicted checks that only the pods that have not done their work run
// again after an eviction, from their last checkpoints.
func TestIndependentPodsEvicted(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 3, within: "LowerPriority"})
	sweep := submit(t, s, "a", "low", 3, rehearsal.Job{At: 0, PodRuns: []int64{100, 300, 40}, Checkpoint: 30})
	urgent := submit(t, s, "a", "high", 2, rehearsal.Job{At: 50, Runs: 20})
	h := play(t, s)
	equal(t, "urgent", runs(h, urgent), [][3]int64{{50, 50, 70}})
	got := h.Jobs[sweep].Runs
	if len(got) != 2 {
		t.Fatalf("runs: %+v", got)
	}
	// Of 50 seconds two pods have 30 at a checkpoint.
	equal(t, "first pods", got[0].Pods, &rehearsal.PodRuns{
		Ran: 140, Redone: 40, Finished: []rehearsal.Count{{At: 40, N: 1}},
	})
	equal(t, "second flavors", got[1].Flavors, []rehearsal.PodSetFlavor{{PodSet: "main", Flavor: "standard", Pods: 2}})
	equal(t, "second pods", got[1].Pods, &rehearsal.PodRuns{
		Ran: 340, Finished: []rehearsal.Count{{At: 141, N: 1}, {At: 341, N: 2}},
	})
	equal(t, "runs", runs(h, sweep), [][3]int64{{0, 0, 50}, {71, 71, 341}})
}

// TestIndependentPodsLoseNodes checks that the other pods go on while one that has lost its
// node waits for another, and that pods that run at the end have run until the end.
func TestIndependentPodsLoseNodes(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 2})
	s.Until = 500
	nodes(s, rehearsal.Pool{
		Max: 2, Startup: 5, Idle: 10,
		Available: []rehearsal.Availability{{From: 20, To: 60, Max: 1}},
	})
	sweep := submit(t, s, "a", "low", 2, rehearsal.Job{At: 0, PodRuns: []int64{100, 9000}})
	h := play(t, s)
	// The second pod runs from 5 to 20, and from 65 on.
	equal(t, "sweep", h.Jobs[sweep].Runs, []rehearsal.Run{{
		Ran: true, Started: 5, Flavors: []rehearsal.PodSetFlavor{{PodSet: "main", Flavor: "standard", Pods: 2}},
		Pods: &rehearsal.PodRuns{
			Ran: 100 + 15 + 435, Redone: 15, Finished: []rehearsal.Count{{At: 105, N: 1}},
		},
	}})
	equal(t, "outcome", h.Jobs[sweep].Outcome, rehearsal.Running)
}
