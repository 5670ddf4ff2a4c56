package runner_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/runner"
	"github.com/batchwright/batchwright/rehearse/stage"
)

// TestParts checks that cohorts without common nodes, which are played side by side, have
// the same history as in a scenario that has nodes for all of them, and so is one part. With
// nodes, a job that is admitted and evicted in one second never runs.
func TestParts(t *testing.T) {
	for seed := range uint64(4) {
		s := randomScenario(t, seed)
		s.Looks = []int64{0, 100, 900, 5000}
		s.Holds = []rehearsal.Hold{{ClusterQueues: []string{"team-0", "team-1"}, From: 150, To: 400, Drain: true}}
		apart := play(t, s)
		nodes(s, rehearsal.Pool{Min: 1000, Max: 1000})
		together := play(t, s)
		equal(t, "decisions", decisionsOf(apart), decisionsOf(together))
		equal(t, "end", apart.End, together.End)
		equal(t, "looks", len(apart.States), len(s.Looks))
		for i := range apart.States {
			equal(t, "queues", apart.States[i].Queues, together.States[i].Queues)
		}
	}
}

// TestPartsWithPools checks that each pool is in the history once, in the order of the
// scenario, and that queues of different cohorts share the nodes of a common pool.
func TestPartsWithPools(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 2}, queue{team: "b", quota: 2})
	nodes(s, rehearsal.Pool{Max: 1, Idle: 10})
	idle := rehearsal.Pool{Name: "idle", PerNode: map[string]string{"cpu": "1"}, Min: 3, Max: 3}
	s.Pools = append([]rehearsal.Pool{idle}, s.Pools...)
	first := submit(t, s, "a", "low", 1, rehearsal.Job{At: 0, Runs: 100})
	second := submit(t, s, "b", "low", 1, rehearsal.Job{At: 0, Runs: 100})
	h := play(t, s)
	equal(t, "first", runs(h, first), [][3]int64{{0, 0, 100}})
	equal(t, "second", runs(h, second), [][3]int64{{0, 100, 200}})
	equal(t, "pools", []string{h.Pools[0].Name, h.Pools[1].Name}, []string{"idle", "standard"})
	equal(t, "idle nodes", h.Pools[0].Nodes, []rehearsal.Count{{At: 0, N: 3}})
}

// TestInterruptedParts checks that an interrupt ends all parts at about the same time.
func TestInterruptedParts(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 1}, queue{team: "b", quota: 1})
	for i := range int64(200) {
		submit(t, s, "a", "low", 1, rehearsal.Job{At: i * 5000, Runs: 1000})
		submit(t, s, "b", "low", 1, rehearsal.Job{At: i * 5000, Runs: 1000})
	}
	ctx, stop := context.WithCancel(context.Background())
	most := 0
	h, err := runner.Play(ctx, s, func(now int64, ended int) {
		most = max(most, ended)
		if now >= 300_000 {
			stop()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "interrupted", h.Interrupted, true)
	finished := map[string]int{}
	for _, j := range h.Jobs {
		if j.Outcome == rehearsal.Finished {
			finished[j.ClusterQueue]++
		}
	}
	if apart := finished["a"] - finished["b"]; finished["a"] < 50 || finished["a"] > 70 || apart < -1 || apart > 1 {
		t.Errorf("jobs that finished: %v", finished)
	}
	equal(t, "progress", most, finished["a"]+finished["b"])
}

// TestFailedPart checks that the other parts do not go on after a mistake in one part.
func TestFailedPart(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 1}, queue{team: "b", quota: 1})
	for range 2 {
		s.Jobs[submit(t, s, "a", "low", 1, rehearsal.Job{At: 10, Runs: 10})].Name = "twin"
	}
	for i := range int64(1000) {
		submit(t, s, "b", "low", 1, rehearsal.Job{At: i * 5000, Runs: 1000})
	}
	latest := int64(0)
	_, err := runner.Play(context.Background(), s, func(now int64, _ int) { latest = max(latest, now) })
	if err == nil || !strings.Contains(err.Error(), "two jobs have the name a/twin") {
		t.Error(err)
	}
	if latest > 1_000_000 {
		t.Errorf("the rehearsal went on until second %d", latest)
	}
}

// TestUnknownQueue checks that a hold of a queue that does not exist is refused.
func TestUnknownQueue(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 1})
	s.Holds = []rehearsal.Hold{{ClusterQueues: []string{"b"}}}
	_, err := runner.Play(context.Background(), s, func(int64, int) {})
	if !errors.Is(err, stage.ErrScenario) || !strings.Contains(err.Error(), `no ClusterQueue "b"`) {
		t.Error(err)
	}
}
