package lower

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// TestDemonstration checks the numbers of pods that the phases expect, and that a phase
// leaves out what refers to an unknown name.
func TestDemonstration(t *testing.T) {
	p := &ir.Platform{
		Capacities: []ir.Capacity{{Name: "a100"}, {Name: "cpu"}, {Name: "l4"}},
		Workloads:  []ir.Workload{{Template: "train", Team: "vision", Capacities: []string{"cpu"}}},
	}
	expect := func(pods map[string]int) schema.Phase {
		return schema.Phase{Expect: schema.Expectation{Pods: pods, Evicted: map[string]int{"train": 1, "trian": 2}}}
	}
	for _, test := range []struct {
		name   string
		phases []schema.Phase
		want   [][]ir.CapacityCount
	}{
		{"any number", []schema.Phase{expect(nil)}, [][]ir.CapacityCount{nil}},
		{
			"the capacities of some phase",
			[]schema.Phase{expect(map[string]int{"l4": 2}), expect(map[string]int{"a100": 0})},
			[][]ir.CapacityCount{{{Capacity: "l4", Count: 2}}, {{Capacity: "l4"}}},
		},
		{
			"the capacities of the workloads",
			[]schema.Phase{expect(map[string]int{"l4": 2}), {Submit: []string{"train"},
				Expect: schema.Expectation{Evicted: map[string]int{"train": 1}}}},
			[][]ir.CapacityCount{{{Capacity: "cpu"}, {Capacity: "l4", Count: 2}}, nil},
		},
		{
			"no pods in any phase", []schema.Phase{expect(map[string]int{})},
			[][]ir.CapacityCount{{{Capacity: "a100"}, {Capacity: "cpu"}, {Capacity: "l4"}}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			phases := lowerDemonstration(&schema.Blueprint{Demonstration: test.phases}, p)
			for i, want := range test.want {
				if d := cmp.Diff(want, phases[i].Pods); d != "" {
					t.Errorf("pods of phase %d (-want +got):\n%s", i, d)
				}
				if d := cmp.Diff([]ir.JobCount{{Template: "train", Count: 1}}, phases[i].Evicted); d != "" {
					t.Errorf("evictions of phase %d (-want +got):\n%s", i, d)
				}
			}
		})
	}
}
