package lower

import (
	"fmt"
	"slices"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
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

// TestArmNodes holds that pods on Arm nodes tolerate GKE's taint, and that pods on
// nodes which GKE provisions for them select the architecture: GKE would otherwise
// create x86 nodes.
func TestArmNodes(t *testing.T) {
	arch := ir.KeyValue{Key: "kubernetes.io/arch", Value: "arm64"}
	taint := ir.Taint{Key: arch.Key, Value: arch.Value, Effect: "NoSchedule"}
	for _, c := range []struct {
		machine           string
		auto              bool
		selects, tolerate bool
	}{
		{"c4a-standard-16", true, true, true},
		{"c4a-standard-16", false, false, true},
		{"n4-standard-16", true, false, false},
	} {
		b := &schema.Blueprint{
			Hardware: map[string]schema.Hardware{"some": {Machine: c.machine}},
			Capacity: map[string]schema.Capacity{"some": {
				Hardware: new("some"), AutoProvisioned: c.auto, Consumption: schema.Consumption{Spot: &struct{}{}},
			}},
		}
		got := lowerCapacity(b, "some", b.Capacity["some"], []string{"us-central1-a"})
		if slices.Contains(got.NodeLabels, arch) != c.selects || slices.Contains(got.NodeTaints, taint) != c.tolerate {
			t.Errorf("%+v: labels %v, taints %v", c, got.NodeLabels, got.NodeTaints)
		}
	}
}
