package runner_test

import (
	"testing"

	"github.com/batchwright/batchwright/emit/folder"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
)

// TestRehearsals plays the rehearsals of the reference systems: what they expect must
// happen. A job that waits for its ProvisioningRequest is not evicted for that.
func TestRehearsals(t *testing.T) {
	for _, paths := range [][]string{
		{"batch-platform"}, {"batch-platform", "batch-platform-dws"}, {"a3-ultra-flex"}, {"tpu-training"},
	} {
		plan := compilePlan(t, paths...)
		if len(plan.Rehearsals) == 0 {
			t.Errorf("%s has no rehearsal", plan.Name)
		}
		tree, err := folder.Build(plan)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range plan.Rehearsals {
			s, err := rehearsal.OfRehearsal(plan, tree, r)
			if err != nil {
				t.Fatal(err)
			}
			got := report.Of(plan, s, play(t, s), r.Expect)
			for _, v := range got.Verdicts {
				if !v.Met {
					t.Errorf("%s of %s: %s", r.Name, plan.Name, v.Message)
				}
			}
			if plan.Name == "a3-ultra-flex" && got.Total.Evictions > 0 {
				t.Errorf("%d evictions of queued flex-start", got.Total.Evictions)
			}
		}
	}
}
