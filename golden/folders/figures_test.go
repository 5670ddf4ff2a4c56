package folders_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler"
	"github.com/batchwright/batchwright/emit/monitoring"
	"github.com/batchwright/batchwright/golden/compile"
	"github.com/batchwright/batchwright/golden/fixture"
)

// TestFiguresOfPhases checks what the dashboards show after phases of demonstrations. The
// numbers are added up by hand, from the jobs: a pod has 2 L4 GPUs or 1 A100 GPU, and a job
// has two pods.
func TestFiguresOfPhases(t *testing.T) {
	const jobs, chips = "Kueue Dashboard: Overview: ", "NVIDIA GPU Monitoring Overview (GCE & GKE): Capacity: "
	for _, test := range []struct {
		blueprint, phase string
		want             map[string]int
	}{
		{"batch-platform", "low-priority", map[string]int{
			jobs + "Active workloads": 16, jobs + "Pending workloads": 0, jobs + "Reserved quota": 16 * 4,
			chips + "Accelerators requested and busy: requested": 28 * 2,
		}},
		{"batch-platform", "high-priority", map[string]int{
			jobs + "Active workloads": 20, jobs + "Pending workloads": 12, jobs + "Reserved quota": 20 * 4,
			"Kueue Dashboard: Evictions and interruptions: Evictions per hour: Preempted": 4,
			chips + "Accelerators requested and busy: requested":                          36 * 2,
		}},
		{"batch-platform", "compact", map[string]int{
			jobs + "Active workloads": 24, jobs + "Pending workloads": 24, jobs + "Reserved quota": 20*4 + 4*2,
			chips + "Accelerators requested and busy: requested": 36*2 + 8,
		}},
	} {
		_, res := compile.Input(t, compiler.Input{
			Files: os.DirFS(fixture.Root()), Paths: fixture.BlueprintDirs("blueprints", test.blueprint),
		})
		plan := res.Plan
		for i, phase := range plan.Demonstration {
			if phase.Name != test.phase {
				continue
			}
			got := map[string]int{}
			for _, f := range monitoring.Figures(plan, i) {
				key := f.Board + ": " + f.Section + ": " + f.Chart
				if f.Series != "" {
					key += ": " + f.Series
				}
				got[key] = f.Value
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s, phase %s (-want +got):\n%s", test.blueprint, test.phase, diff)
			}
		}
	}
}
