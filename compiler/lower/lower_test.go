package lower

import (
	"fmt"
	"slices"
	"testing"

	"github.com/batchwright/batchwright/schema"
)

// TestUnknownScheduler checks that a scheduler that the plan does not know is an
// error. The plan is not made for another scheduler.
func TestUnknownScheduler(t *testing.T) {
	for _, scheduler := range []string{"", "slurm"} {
		p, err := Blueprint(&schema.Blueprint{Scheduler: scheduler})
		if p != nil || err == nil || err.Error() != fmt.Sprintf("unknown scheduler %q", scheduler) {
			t.Errorf("scheduler %q: plan %v, error %v", scheduler, p, err)
		}
	}
}

// TestMetricsFollowTheVersion holds that a cluster asks for no metrics component
// that the version it starts with does not have: GKE would refuse it.
func TestMetricsFollowTheVersion(t *testing.T) {
	for version, want := range map[string]bool{
		"": true, "1.31": false, "1.32.0-gke.1000000": false, "1.32": true, "1.36": true,
	} {
		b := &schema.Blueprint{}
		if version != "" {
			b.Cluster.MinVersion = &version
		}
		metrics := lowerCluster(b, false).Metrics
		if got := slices.Contains(metrics, "JOBSET"); got != want {
			t.Errorf("GKE %q collects metrics of JobSets: %v, want %v", version, got, want)
		}
		if !slices.Contains(metrics, "DCGM") || !slices.IsSorted(metrics) {
			t.Errorf("GKE %q: %q", version, metrics)
		}
	}
}
