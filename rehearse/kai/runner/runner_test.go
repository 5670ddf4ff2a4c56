package runner_test

import (
	"testing"

	"github.com/batchwright/batchwright/emit/rehearsal"
)

// TestJobs checks that a waiting job starts when another one ends, a period of KAI later at
// most.
func TestJobs(t *testing.T) {
	s := scenario(t, 2, "a")
	nodes(s, rehearsal.Pool{Min: 1, Max: 1})
	first := submit(t, s, "a", "train", 1, 2, rehearsal.Job{At: 0, Runs: 100})
	second := submit(t, s, "a", "train", 1, 2, rehearsal.Job{At: 10, Runs: 100})
	h := play(t, s)
	equal(t, "first", runs(h, first), [][3]int64{{0, 0, 100}})
	equal(t, "second", runs(h, second), [][3]int64{{100, 100, 200}})
	t.Log(h.Jobs[second].Waits)
}
