package runner_test

import (
	"testing"

	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/runner"
)

// BenchmarkBusyWeek plays the rehearsal of the batch platform: some 1,400 jobs in a week.
func BenchmarkBusyWeek(b *testing.B) {
	p := compilePlan(b, "batch-platform")
	tree, err := folder.Build(p)
	if err != nil {
		b.Fatal(err)
	}
	s, err := rehearsal.OfRehearsal(p, tree, p.Rehearsals[0])
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := runner.Play(b.Context(), s, func(int64) {}); err != nil {
			b.Fatal(err)
		}
	}
}
