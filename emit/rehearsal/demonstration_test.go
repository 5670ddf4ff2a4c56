package rehearsal

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

// newStage returns a platform whose teams a and b each have two copies of the workload
// "train" on a pool that scales, and a scenario of it without jobs.
func newStage(phases ...ir.Phase) (*ir.Platform, *Scenario) {
	p, s := &ir.Platform{Demonstration: phases}, &Scenario{Pools: []Pool{{Name: "l4", Startup: scaleUpSeconds}}}
	for _, team := range []string{"a", "b"} {
		s.Templates = append(s.Templates, Template{Name: "train", Team: team})
		for _, name := range []string{"train-1", "train-2"} {
			p.Workloads = append(p.Workloads, ir.Workload{
				Template: "train", Name: name, Team: team, Namespace: team, Capacities: []string{"l4"},
			})
		}
	}
	return p, s
}

func TestPerformPhases(t *testing.T) {
	train := []string{"train"}
	for _, test := range []struct {
		name   string
		phases []ir.Phase
		want   []Job
		looks  []int64
	}{
		{
			"teams take turns", []ir.Phase{{Submit: train, WaitSeconds: 600}},
			[]Job{{Name: "train-1"}, {Name: "train-1", Template: 1, At: 1}, {Name: "train-2", At: 2},
				{Name: "train-2", Template: 1, At: 3}},
			[]int64{659},
		},
		{
			"one by one", []ir.Phase{{Submit: train, OneByOne: true, WaitSeconds: 600, Teams: []string{"b"}}},
			[]Job{{Name: "train-1", Template: 1}, {Name: "train-2", Template: 1, At: 240}},
			[]int64{1079},
		},
		{
			"a wait that is shorter than the start of nodes", []ir.Phase{{Submit: train, WaitSeconds: 60}},
			[]Job{{Name: "train-1"}, {Name: "train-1", Template: 1, At: 1}, {Name: "train-2", At: 2},
				{Name: "train-2", Template: 1, At: 3}},
			[]int64{299},
		},
		{
			"a phase that submits what exists, and one that deletes what does not",
			[]ir.Phase{
				{Delete: train, WaitSeconds: 600},
				{Submit: train, WaitSeconds: 600, Teams: []string{"a"}},
				{Submit: train, WaitSeconds: 600},
			},
			[]Job{{Name: "train-1", At: 600}, {Name: "train-2", At: 601}, {Name: "train-1", Template: 1, At: 1260},
				{Name: "train-2", Template: 1, At: 1261}},
			[]int64{599, 1259, 1919},
		},
		{
			"a phase that deletes and submits one workload",
			[]ir.Phase{
				{Submit: train, WaitSeconds: 597, Teams: []string{"a"}},
				{Delete: train, Submit: train, WaitSeconds: 600, Teams: []string{"a"}},
			},
			[]Job{{Name: "train-1", Deleted: 600}, {Name: "train-2", At: 1, Deleted: 600},
				{Name: "train-1-again-2", At: 660}, {Name: "train-2-again-2", At: 661}},
			[]int64{599, 1319},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, s := newStage(test.phases...)
			performPhases(p, s)
			if d := cmp.Diff(test.want, s.Jobs); d != "" {
				t.Errorf("the jobs: -want +got:\n%s", d)
			}
			if d := cmp.Diff(test.looks, s.Looks); d != "" {
				t.Errorf("the looks: -want +got:\n%s", d)
			}
			if last := test.looks[len(test.looks)-1]; s.Until != last+1 {
				t.Errorf("the rehearsal ends at %d", s.Until)
			}
		})
	}
}

// TestLimitNodes checks that the limits of node auto-provisioning are those that the pools
// could exceed, without what the system pool has.
func TestLimitNodes(t *testing.T) {
	p := &ir.Platform{
		Zones:      []string{"a", "b"},
		SystemPool: ir.SystemPool{NodesPerZone: 1, VCPUs: 4, MemoryGiB: 16},
		Capacities: []ir.Capacity{
			{Name: "large", Option: ir.OnDemand, MaxNodes: 2, Machine: ir.Machine{VCPUs: 24, MemoryGiB: 96}},
			{Name: "small", Option: ir.OnDemand, MaxNodes: 3, Machine: ir.Machine{VCPUs: 8, MemoryGiB: 31.5}},
		},
		AutoProvisioning: ir.AutoProvisioning{Create: true, Limits: []ir.ResourceLimit{
			{Type: ir.CPU, Max: 79}, {Type: ir.Memory, Max: 319}, {Type: "nvidia-l4", Max: 1},
		}},
	}
	s := &Scenario{Pools: poolsOf(p)}
	limitNodes(p, s)
	if d := cmp.Diff([]Limit{{Resource: ir.CPU, Most: 71}}, s.Limits); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if d := cmp.Diff(map[string]float64{ir.CPU: 24}, s.Pools[0].Machine); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	p.AutoProvisioning.Create = false
	s = &Scenario{Pools: poolsOf(p)}
	if limitNodes(p, s); s.Limits != nil {
		t.Errorf("limits although GKE creates no pools: %v", s.Limits)
	}
}

func TestStartup(t *testing.T) {
	slice := ir.Capacity{
		Option: ir.Options()[0].Option, MaxNodes: 8, Slices: 2,
		Machine: ir.Machine{Slice: &ir.Slice{Hosts: 4}},
	}
	waiting := slice
	waiting.Waiting, waiting.Name = true, "waiting"
	got := poolsOf(&ir.Platform{Capacities: []ir.Capacity{waiting, slice}})
	want := []Pool{
		{PerNode: map[string]string{}, Labels: map[string]string{}, Max: 8, Together: 4, Startup: 180, Idle: 600},
		{
			Name: "waiting", PerNode: map[string]string{}, Labels: map[string]string{}, Together: 4, Startup: 180,
			Idle: 600,
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
