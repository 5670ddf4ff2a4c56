package report_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
)

// newQueue returns a queue with a guarantee of GPUs.
func newQueue(name, tier, class string, gpus int64) ir.Queue {
	return ir.Queue{
		Tier: tier, Classes: []string{class}, ClusterQueue: name, LocalQueue: tier,
		Flavors: []ir.FlavorQuota{{
			Flavor: "gpu", Quotas: []ir.ResourceQuota{{Resource: ir.GPU, Nominal: *resource.NewQuantity(gpus, "")}},
		}},
	}
}

// newPlatform returns a platform with teams a and b. Both submit the workload "train", and
// a submits "urgent", whose auxiliary has no GPU.
func newPlatform() *ir.Platform {
	return &ir.Platform{
		Name:            "two-teams",
		PriorityClasses: []ir.PriorityClass{{Name: "low"}, {Name: "high"}},
		Teams: []ir.Team{
			{Name: "a", Namespace: "ns-a", Queues: []ir.Queue{
				newQueue("cq-a-lp", "lp", "low", 4), newQueue("cq-a-hp", "hp", "high", 4),
			}},
			{Name: "b", Namespace: "ns-b", Queues: []ir.Queue{newQueue("cq-b-lp", "lp", "low", 8)}},
		},
		Workloads: []ir.Workload{{Template: "urgent", Team: "a", Auxiliaries: []ir.Auxiliary{{Name: "board"}}}},
	}
}

// newScenario returns a scenario of newPlatform.
func newScenario() *rehearsal.Scenario {
	return &rehearsal.Scenario{
		Name: "two-teams", Until: 1000,
		Templates: []rehearsal.Template{
			{Name: "train", Team: "a", Tier: "lp", Accelerators: 4},
			{Name: "urgent", Team: "a", Tier: "hp", Accelerators: 8},
			{Name: "train", Team: "b", Tier: "lp", Accelerators: 4},
		},
		Jobs: []rehearsal.Job{
			{Name: "train-1", Template: 0, At: 0, Runs: 300, Checkpoint: 100},
			{Name: "train-1", Template: 2, At: 10, Runs: 500},
			{Name: "urgent-1", Template: 1, At: 240, Runs: 300},
			{Name: "train-2", Template: 2, At: 500, Runs: 500},
			{Name: "urgent-2", Template: 1, At: 600, Runs: 300},
			{Name: "train-3", Template: 2, At: 900, Deleted: 950},
		},
		Pools: []rehearsal.Pool{
			{Name: "cpu", PerNode: map[string]string{ir.CPU: "4"}},
			{Name: "gpu", PerNode: map[string]string{ir.CPU: "4", ir.GPU: "4"}},
		},
	}
}

// newHistory returns a history of newScenario. The first job of a starts at once, and is
// evicted 50 seconds after a checkpoint.
func newHistory() *rehearsal.History {
	train := []rehearsal.PodSetFlavor{{PodSet: "main", Flavor: "gpu", Pods: 1}}
	urgent := []rehearsal.PodSetFlavor{
		{PodSet: "board", Flavor: "cpu", Pods: 1}, {PodSet: "main", Flavor: "gpu", Pods: 2},
	}
	return &rehearsal.History{
		Kueue: "0.19.2", End: 950,
		Jobs: []rehearsal.JobHistory{
			{ClusterQueue: "cq-a-lp", Outcome: rehearsal.Finished, End: 710, Runs: []rehearsal.Run{
				{Ended: 250, Flavors: train, Evicted: "Preempted", By: "ns-a/urgent-1"},
				{Reserved: 600, Started: 610, Ended: 710, Flavors: train},
			}},
			{ClusterQueue: "cq-b-lp", Outcome: rehearsal.Finished, End: 510, Runs: []rehearsal.Run{
				{Reserved: 10, Started: 10, Ended: 510, Flavors: train},
			}},
			{
				ClusterQueue: "cq-a-hp", Outcome: rehearsal.Finished, End: 600, Waits: "0 GPUs left",
				Runs: []rehearsal.Run{{Reserved: 250, Started: 300, Ended: 600, Flavors: urgent}},
			},
			{ClusterQueue: "cq-b-lp", Outcome: rehearsal.Waiting, Waits: "4 GPUs more needed"},
			{
				ClusterQueue: "cq-a-hp", Outcome: rehearsal.Running,
				Runs: []rehearsal.Run{{Reserved: 600, Flavors: urgent}},
			},
			{ClusterQueue: "cq-b-lp", Outcome: rehearsal.Deleted, End: 950},
		},
		Pools: []rehearsal.PoolUse{
			{Name: "cpu", Nodes: []rehearsal.Count{{At: 0, N: 1}}},
			{Name: "gpu", Nodes: []rehearsal.Count{{At: 0, N: 2}, {At: 300, N: 4}, {At: 800, N: 2}}},
		},
	}
}

// exactly and atLeast return times.
func exactly(seconds int64) report.Length { return report.Length{Seconds: seconds} }
func atLeast(seconds int64) report.Length { return report.Length{Seconds: seconds, AtLeast: true} }

// TestOf compares all parts of a report with numbers that were computed by hand.
func TestOf(t *testing.T) {
	got := report.Of(newPlatform(), newScenario(), newHistory(), nil)
	utilization, fairness := 100*5800.0/12000, 725.0*725/(2*(475*475+250*250))
	a := report.Group{
		Team: "a", Submitted: 3, Started: 2, Finished: 2, Running: 1,
		Wait:       report.Times{Jobs: 3, P50: exactly(60), P95: atLeast(400), Max: atLeast(400)},
		Completion: report.Times{Jobs: 3, P50: atLeast(400), P95: atLeast(710), Max: atLeast(710)},
		Evictions:  1, Used: 3800, Lost: 200,
	}
	hp := report.Group{
		Team: "a", Tier: "hp", Submitted: 2, Started: 1, Finished: 1, Running: 1,
		Wait:       report.Times{Jobs: 2, P50: exactly(60), P95: atLeast(400), Max: atLeast(400)},
		Completion: report.Times{Jobs: 2, P50: exactly(360), P95: atLeast(400), Max: atLeast(400)},
		Used:       2400,
	}
	lp := report.Group{
		Team: "a", Tier: "lp", Submitted: 1, Started: 1, Finished: 1,
		Wait:       report.Times{Jobs: 1},
		Completion: report.Times{Jobs: 1, P50: exactly(710), P95: exactly(710), Max: exactly(710)},
		Evictions:  1, Used: 1400, Lost: 200,
	}
	b := report.Group{
		Team: "b", Tier: "lp", Submitted: 3, Started: 1, Finished: 1, Waiting: 1, Deleted: 1,
		Wait:       report.Times{Jobs: 3, P50: atLeast(50), P95: atLeast(500), Max: atLeast(500)},
		Completion: report.Times{Jobs: 2, P50: exactly(500), P95: atLeast(500), Max: atLeast(500)},
		Used:       2000,
	}
	allOfB, allOfHP := b, hp
	allOfB.Tier, allOfHP.Team = "", ""
	want := &report.Report{
		Name: "two-teams", Kueue: "0.19.2", Until: 1000, End: 1000,
		Groups: []report.Group{hp, lp, b}, Teams: []report.Group{a, allOfB},
		Tiers: []report.Group{allOfHP, {
			Tier: "lp", Submitted: 4, Started: 2, Finished: 2, Waiting: 1, Deleted: 1,
			Wait:       report.Times{Jobs: 4, P95: atLeast(500), Max: atLeast(500)},
			Completion: report.Times{Jobs: 3, P50: atLeast(500), P95: atLeast(710), Max: atLeast(710)},
			Evictions:  1, Used: 3400, Lost: 200,
		}},
		Total: report.Group{
			Submitted: 6, Started: 3, Finished: 3, Running: 1, Waiting: 1, Deleted: 1,
			Wait:       report.Times{Jobs: 6, P50: atLeast(50), P95: atLeast(500), Max: atLeast(500)},
			Completion: report.Times{Jobs: 5, P50: atLeast(500), P95: atLeast(710), Max: atLeast(710)},
			Evictions:  1, Used: 5800, Lost: 200,
		},
		Capacities: []report.Capacity{
			{Name: "cpu", Nodes: 1, MeanNodes: 1},
			{
				Name: "gpu", Nodes: 4, MeanNodes: 3, Accelerators: 4, Available: 12000, Used: 5800, Idle: 6200,
				Utilization: &utilization,
			},
		},
		Evictions: []report.Evictions{
			{Reason: "Preempted", Team: "a", Tier: "lp", ByTeam: "a", ByTier: "hp", Count: 1},
		},
		Fairness: &fairness,
		Longest: []report.Wait{
			{
				Job: "ns-b/train-2", Team: "b", Tier: "lp", Wait: atLeast(500), Quota: 500,
				Message: "4 GPUs more needed", Holders: []report.Holder{{Team: "a", Tier: "hp", Accelerators: 8}},
			},
			{Job: "ns-a/urgent-2", Team: "a", Tier: "hp", Wait: atLeast(400), Holders: []report.Holder{}},
			{
				Job: "ns-a/urgent-1", Team: "a", Tier: "hp", Wait: exactly(60), Started: true, Quota: 10,
				Message: "0 GPUs left", Holders: []report.Holder{{Team: "b", Tier: "lp", Accelerators: 4}},
			},
			{
				Job: "ns-b/train-3", Team: "b", Tier: "lp", Wait: atLeast(50), Quota: 50,
				Holders: []report.Holder{{Team: "a", Tier: "hp", Accelerators: 8}},
			},
		},
		WithoutQuota: []report.WithoutQuota{
			{Team: "b", Tier: "lp", Workload: "train", Jobs: 1, Message: "4 GPUs more needed"},
		},
		Phases: []report.Phase{}, Verdicts: []report.Verdict{},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestInterrupted checks that nothing after an interrupt counts.
func TestInterrupted(t *testing.T) {
	s, h := newScenario(), newHistory()
	h.Interrupted, h.End = true, 505
	for i, j := range h.Jobs {
		if j.End > h.End {
			h.Jobs[i] = rehearsal.JobHistory{
				ClusterQueue: j.ClusterQueue, Outcome: rehearsal.Running, Runs: j.Runs[:min(1, len(j.Runs))],
			}
		}
	}
	h.Jobs[1].Runs[0].Ended, h.Jobs[2].Runs[0].Ended = 0, 0
	h.Jobs[4].Runs, h.Jobs[4].Outcome = nil, rehearsal.Waiting
	expect := []ir.RehearsalExpectation{{StartsWithin: 1, Percentile: 100}}
	r := report.Of(newPlatform(), s, h, expect)
	if r.End != 505 || r.Total.Submitted != 4 || r.Total.Used != 4*(250+495)+8*205 || r.Longest[1].Wait != atLeast(5) {
		t.Errorf("until %d: %+v, %+v", r.End, r.Total, r.Longest)
	}
	want := []report.Verdict{{Undecided: true, Message: "the rehearsal was interrupted at 8m25s of 16m40s"}}
	if d := cmp.Diff(want, r.Verdicts); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestFairness checks the bounds of the index, and when there is none.
func TestFairness(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*ir.Platform, *rehearsal.Scenario)
		want   float64 // NaN for none
	}{
		{"only one team has used any", func(_ *ir.Platform, s *rehearsal.Scenario) {
			s.Templates[0].Accelerators, s.Templates[1].Accelerators = 0, 0
		}, 0.5},
		{"use in proportion to the guarantee", func(p *ir.Platform, _ *rehearsal.Scenario) {
			p.Teams[0].Queues[0].Flavors[0].Quotas[0].Nominal = resource.MustParse("34")
			p.Teams[1].Queues[0].Flavors[0].Quotas[0].Nominal = resource.MustParse("20")
		}, 1},
		{"nobody has used any", func(_ *ir.Platform, s *rehearsal.Scenario) {
			for i := range s.Templates {
				s.Templates[i].Accelerators = 0
			}
		}, math.NaN()},
		{"one guarantee is shared", func(p *ir.Platform, _ *rehearsal.Scenario) {
			p.Teams[1].Queues[0].Shared = true
		}, math.NaN()},
		{"one guarantee has not begun", func(p *ir.Platform, _ *rehearsal.Scenario) {
			p.Teams[1].Queues[0].Flavors[0].Waiting = true
		}, math.NaN()},
	} {
		p, s := newPlatform(), newScenario()
		test.change(p, s)
		got := report.Of(p, s, newHistory(), nil).Fairness
		if (got == nil) != math.IsNaN(test.want) || got != nil && math.Abs(*got-test.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// TestVerdicts checks each kind of expectation.
func TestVerdicts(t *testing.T) {
	zero, one := 0, 1
	for _, test := range []struct {
		expect ir.RehearsalExpectation
		want   string // state and message
	}{
		{
			ir.RehearsalExpectation{Teams: []string{"a"}, StartsWithin: 60, Percentile: 60},
			"met: 60% of 3 jobs started within 1m, expected 1m; the slowest has waited for at least 6m40s",
		},
		{
			ir.RehearsalExpectation{Teams: []string{"a"}, StartsWithin: 59, Percentile: 60},
			"unmet: 60% of 3 jobs started within 1m, expected 59s; the slowest has waited for at least 6m40s",
		},
		{
			ir.RehearsalExpectation{Template: "train", Teams: []string{"a"}, StartsWithin: 60, Percentile: 100},
			"met: 1 job started within 0s, expected 1m",
		},
		{
			ir.RehearsalExpectation{Tier: "hp", StartsWithin: 300, Percentile: 100},
			"unmet: 1 of 2 jobs started, expected 100% within 5m; the slowest has waited for at least 6m40s",
		},
		{
			// The job that waits at the end may still start in time.
			ir.RehearsalExpectation{Tier: "hp", StartsWithin: 401, Percentile: 100},
			"undecided: 1 of 2 jobs started, expected 100% within 6m41s; the slowest has waited for at least 6m40s",
		},
		{
			ir.RehearsalExpectation{Tier: "lp", Evictions: &zero},
			"unmet: 1 eviction among 4 jobs, expected at most 0",
		},
		{
			ir.RehearsalExpectation{Tier: "lp", Evictions: &one},
			"met: 1 eviction among 4 jobs, expected at most 1",
		},
		{
			ir.RehearsalExpectation{Utilization: 48, Capacity: "gpu"},
			"met: the jobs used 48.3% of the 3.3 accelerator hours of gpu, expected 48%",
		},
		{
			ir.RehearsalExpectation{Tier: "hp", Utilization: 48, Capacity: "gpu"},
			"unmet: the jobs used 20.0% of the 3.3 accelerator hours of gpu, expected 48%",
		},
		{
			ir.RehearsalExpectation{Utilization: 10, Capacity: "cpu"},
			"undecided: cpu had 0 accelerator hours, expected a use of 10%",
		},
		{ir.RehearsalExpectation{Template: "other", Evictions: &zero}, "undecided: 0 jobs match the expectation"},
		{
			// Only the broken limit is told.
			ir.RehearsalExpectation{
				Tier: "lp", Teams: []string{"a"}, StartsWithin: 1, Percentile: 100, Evictions: &zero,
			},
			"unmet: 1 eviction among 1 job, expected at most 0",
		},
	} {
		v := report.Of(newPlatform(), newScenario(), newHistory(), []ir.RehearsalExpectation{test.expect}).Verdicts[0]
		state := map[[2]bool]string{{true, false}: "met", {false, false}: "unmet", {false, true}: "undecided"}
		if got := state[[2]bool{v.Met, v.Undecided}] + ": " + v.Message; got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}
