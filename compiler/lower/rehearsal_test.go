package lower

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// TestRehearsals checks the seconds and the teams of rehearsals, the order of their
// limits, and that a rehearsal leaves out unknown names.
func TestRehearsals(t *testing.T) {
	p := &ir.Platform{
		Capacities: []ir.Capacity{{Name: "a100"}, {Name: "l4"}},
		Workloads: []ir.Workload{
			{Template: "train", Team: "speech"}, {Template: "train", Team: "vision"},
			{Template: "train", Team: "vision"},
		},
	}
	text := func(s string) *string { return &s }
	evictions := 0
	b := &schema.Blueprint{Rehearsals: map[string]schema.Rehearsal{
		"week": {
			Shows: text("a week"), Until: "7d", Seed: 3,
			Arrivals: []schema.Arrival{
				{Workload: text("trian"), At: "0s", Count: 1, Runs: &schema.RunTime{Fixed: text("1h")}},
				{
					Workload: text("train"), At: "1h30m", Every: text("10m"), Random: true, Count: 5,
					Runs: &schema.RunTime{LogNormal: &schema.LogNormalTime{Median: "40m", P95: "3h"}},
				},
				{
					Workload: text("train"), Teams: []string{"vision", "unknown", "vision"}, At: "0s", Count: 1,
					Runs:            &schema.RunTime{Uniform: &schema.UniformTime{From: "1m", To: "2m"}},
					CheckpointEvery: text("30s"),
				},
			},
			Nodes: map[string][]schema.NodeLimit{
				"l4":   {{From: "2d", Available: 1}, {From: "0s", To: text("1d"), Preempts: true}},
				"a100": {{From: "3d", Available: 2}},
				"l5":   {{From: "0s"}},
			},
			Expect: []schema.RehearsalExpectation{
				{StartsWithin: text("10m"), Percentile: 90, Tier: text("lp")},
				{Workload: text("train"), Teams: []string{"vision"}, Percentile: 100, Evictions: &evictions},
			},
		},
		"broken": {}, // as a rehearsal that does not fit the grammar
	}}
	both := []string{"speech", "vision"}
	want := []ir.Rehearsal{
		{Name: "broken"},
		{
			Name: "week", Shows: "a week", Until: 604800, Seed: 3,
			Arrivals: []ir.Arrival{
				{
					Index: 1, Template: "train", Teams: both, At: 5400, Every: 600, Random: true, Count: 5,
					Runs: ir.RunTime{Median: 2400, P95: 10800},
				},
				{
					Index: 2, Template: "train", Teams: []string{"vision"}, Count: 1,
					Runs: ir.RunTime{From: 60, To: 120}, Checkpoint: 30,
				},
			},
			Limits: []ir.NodeLimit{
				{Capacity: "a100", From: 259200, Available: 2},
				{Capacity: "l4", To: 86400, Preempts: true},
				{Capacity: "l4", From: 172800, Available: 1},
			},
			Expect: []ir.RehearsalExpectation{
				{Tier: "lp", StartsWithin: 600, Percentile: 90},
				{Index: 1, Template: "train", Teams: []string{"vision"}, Percentile: 100, Evictions: &evictions},
			},
		},
	}
	if d := cmp.Diff(want, lowerRehearsals(b, p)); d != "" {
		t.Errorf("the rehearsals: -want +got:\n%s", d)
	}
}
