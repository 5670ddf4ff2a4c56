package kueue_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kueue"
)

// TestDependsOn: a flavor comes after its topology, and a queue after the checks of the platform; it
// waits for no check of others, which the platform does not apply.
func TestDependsOn(t *testing.T) {
	p := &ir.Platform{AdmissionChecks: []ir.AdmissionCheck{{Name: "dws-h100"}}}
	flavor := &v1beta2.ResourceFlavor{}
	flavor.Spec.TopologyName = new(v1beta2.TopologyReference("racks"))
	queue := &v1beta2.ClusterQueue{}
	queue.Spec.AdmissionChecksStrategy = &v1beta2.AdmissionChecksStrategy{
		AdmissionChecks: []v1beta2.AdmissionCheckStrategyRule{{Name: "dws-h100"}, {Name: "others"}},
	}
	for _, c := range []struct {
		object any
		want   string
	}{{flavor, "kueue.x-k8s.io/Topology/racks"}, {queue, "kueue.x-k8s.io/AdmissionCheck/dws-h100"}} {
		if diff := cmp.Diff([]string{c.want}, kueue.DependsOn(p, c.object)); diff != "" {
			t.Errorf("%T (-want +got):\n%s", c.object, diff)
		}
	}
}
