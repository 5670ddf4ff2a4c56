package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/cost"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
)

// gpus are the quotas of a queue with some guaranteed GPUs.
func gpus(n int64) []ir.FlavorQuota {
	return []ir.FlavorQuota{{Flavor: "l4", Quotas: []ir.ResourceQuota{
		{Resource: "cpu", Nominal: *resource.NewQuantity(96, resource.DecimalSI)},
		{Resource: ir.GPU, Nominal: *resource.NewQuantity(n, resource.DecimalSI)},
	}}}
}

// platform has two teams with one queue each, and one with nothing but a shared queue.
func platform() *ir.Platform {
	return &ir.Platform{
		Name:       "small",
		Capacities: []ir.Capacity{{Name: "l4", Machine: ir.Machine{Resource: ir.GPU}}, {Name: "cpu"}},
		Teams: []ir.Team{
			{Name: "speech", Queues: []ir.Queue{{Tier: "batch", ClusterQueue: "cq-speech-batch", Flavors: gpus(4)}}},
			{Name: "vision", Queues: []ir.Queue{{Tier: "urgent", ClusterQueue: "cq-vision-urgent", Flavors: gpus(2)}}},
			{Name: "guests", Queues: []ir.Queue{
				{Tier: "batch", ClusterQueue: "cq-batch", Flavors: gpus(8), Shared: true},
			}},
		},
		Demonstration: []ir.Phase{{
			Name: "first", Queues: []ir.QueueCount{{Tier: "batch", Pending: 0, Admitted: 1}},
		}},
	}
}

// scenario has four jobs of two GPUs each on nodes of two GPUs.
func scenario() *rehearsal.Scenario {
	template := func(name, team, tier string) rehearsal.Template {
		return rehearsal.Template{
			Name: name, Team: team, Tier: tier, Namespace: team, Capacities: []string{"l4"},
			PodAccelerators: map[string]int{"main": 1},
		}
	}
	return &rehearsal.Scenario{
		Name: "week", Scheduler: rehearsal.Scheduler{Name: ir.Kueue, Version: "0.19.2"}, Until: 1000,
		Looks:     []int64{500},
		Templates: []rehearsal.Template{template("sweep", "speech", "batch"), template("fix", "vision", "urgent")},
		Jobs: []rehearsal.Job{
			{Name: "sweep-1", Runs: 500, Checkpoint: 60},
			{Name: "sweep-2", At: 10, Runs: 100},
			{Name: "fix-1", Template: 1, At: 200, Runs: 300},
			{Name: "sweep-3", At: 400, Runs: 100},
			{Name: "sweep-4", At: 2000, Runs: 100}, // after the end
		},
		Pools: []rehearsal.Pool{
			{Name: "cpu", PerNode: map[string]string{"cpu": "4"}},
			{Name: "l4", PerNode: map[string]string{"cpu": "24", ir.GPU: "2"}},
		},
	}
}

// history evicts the first job for the third, and lets the last one wait.
func history() *rehearsal.History {
	flavors := []rehearsal.PodSetFlavor{{PodSet: "main", Flavor: "l4", Pods: 2}}
	return &rehearsal.History{
		Scheduler: rehearsal.Scheduler{Name: ir.Kueue, Version: "0.19.2"}, End: 900,
		Jobs: []rehearsal.JobHistory{
			{
				ClusterQueue: "cq-speech-batch", Outcome: rehearsal.Running,
				Waits: "Preempted to accommodate a workload",
				Runs: []rehearsal.Run{
					{
						Reserved: 0, Ran: true, Started: 100, Ended: 200, Flavors: flavors,
						Evicted: "Preempted", By: "vision/fix-1", Redone: 40,
					},
					{Reserved: 500, Ran: true, Started: 600, Flavors: flavors},
				},
			},
			{ClusterQueue: "cq-speech-batch", Outcome: rehearsal.Finished, End: 900, Waits: "insufficient unused quota",
				Runs: []rehearsal.Run{{Reserved: 700, Ran: true, Started: 800, Ended: 900, Flavors: flavors}}},
			{ClusterQueue: "cq-vision-urgent", Outcome: rehearsal.Finished, End: 500,
				Runs: []rehearsal.Run{{Reserved: 200, Ran: true, Started: 200, Ended: 500, Flavors: flavors}}},
			{ClusterQueue: "cq-speech-batch", Outcome: rehearsal.Waiting, Waits: "insufficient quota"},
			{},
		},
		States: []rehearsal.State{{
			At: 500, Queues: []rehearsal.QueueState{
				{ClusterQueue: "cq-speech-batch", Pending: 2, Admitted: 1}, {ClusterQueue: "cq-vision-urgent"},
			},
			Pods: map[string]int{"l4": 2}, Pending: 1,
		}},
		Pools: []rehearsal.PoolUse{
			{Name: "cpu"},
			{Name: "l4", Nodes: []rehearsal.Count{{At: 100, N: 1}, {At: 600, N: 2}}},
		},
	}
}

// TestIndependentPods checks the hours of independent pods, and who holds accelerators while
// another job waits.
func TestIndependentPods(t *testing.T) {
	s, h := scenario(), history()
	// The first job has two pods of one GPU. The first run ends before all pods ran.
	first := &h.Jobs[0].Runs[0]
	first.Ran, first.Started, first.Redone = false, 0, 0
	first.Pods = &rehearsal.PodRuns{Ran: 70, Redone: 30}
	h.Jobs[0].Runs[1].Reserved = 300
	h.Jobs[0].Runs[1].Pods = &rehearsal.PodRuns{Ran: 300, Finished: []rehearsal.Count{{At: 650, N: 1}}}
	got := report.Of(platform(), s, h, nil)
	// The second job still uses 2 GPUs for 100 seconds, and the third for 300.
	if got.Total.Used != 370+200+600 || got.Total.Lost != 30 {
		t.Errorf("used %d, lost %d", got.Total.Used, got.Total.Lost)
	}
	if wait := got.Waits[0]; wait.Job != "sweep-2" || wait.Holders[0].Accelerators != 2 {
		t.Errorf("before a pod has finished: %+v", wait)
	}
	h.Jobs[0].Runs[1].Pods.Finished[0].At = 350
	if wait := report.Of(platform(), s, h, nil).Waits[0]; wait.Holders[1].Accelerators != 1 {
		t.Errorf("after a pod has finished: %+v", wait)
	}
}

// TestOf compares a report with numbers that were computed by hand.
func TestOf(t *testing.T) {
	got := report.Of(platform(), scenario(), history(), nil)
	exactly := func(seconds int64) report.Bound { return report.Bound{Seconds: seconds} }
	atLeast := func(seconds int64) report.Bound { return report.Bound{Seconds: seconds, AtLeast: true} }
	batch := report.Group{
		Submitted: 3, Started: 2, Finished: 1, Running: 1, Waiting: 1, Evictions: 1,
		// Waits: 100, 790, and at least 600.
		Wait: report.Spread{P50: atLeast(600), P95: atLeast(790), Max: atLeast(790)},
		// Completions: 890, and at least 600 and 1000.
		Completion: report.Spread{P50: atLeast(890), P95: atLeast(1000), Max: atLeast(1000)},
		Used:       2*(100+400) + 2*100, Lost: 2 * 40, // 100 seconds are one checkpoint and 40 seconds
	}
	urgent := report.Group{
		Submitted: 1, Started: 1, Finished: 1,
		Completion: report.Spread{P50: exactly(300), P95: exactly(300), Max: exactly(300)}, Used: 600,
	}
	total := report.Group{
		Submitted: 4, Started: 3, Finished: 2, Running: 1, Waiting: 1, Evictions: 1,
		Wait:       report.Spread{P50: exactly(100), P95: atLeast(790), Max: atLeast(790)},
		Completion: report.Spread{P50: atLeast(600), P95: atLeast(1000), Max: atLeast(1000)}, Used: 1800, Lost: 80,
	}
	named := func(g report.Group, team, tier string) report.Group { g.Team, g.Tier = team, tier; return g }
	// The shares are 1200/4 and 600/2: the same.
	fairness := 1.0
	want := &report.Report{
		Rehearsal: "week", Platform: "small",
		Scheduler: rehearsal.Scheduler{Name: ir.Kueue, Version: "0.19.2"}, Installed: "0.19.2",
		Until: 1000, End: 1000, Total: total,
		Tiers: []report.Group{named(batch, "", "batch"), named(urgent, "", "urgent")},
		Teams: []report.Group{named(batch, "speech", "batch"), named(urgent, "vision", "urgent")},
		Capacities: []report.Capacity{
			{Name: "cpu", VCPU: &report.VCPUUse{}},
			{Name: "l4", MeanNodes: 1.3, MostNodes: 2, NodeSeconds: 1300, Paid: 2 * (500 + 2*400), Used: 1800},
		},
		Fairness: &fairness,
		Evictions: []report.Evictions{
			{Reason: "Preempted", Team: "speech", Tier: "batch", ByTeam: "vision", ByTier: "urgent", Count: 1},
		},
		Waits: []report.Wait{
			{
				Job: "sweep-2", Team: "speech", Tier: "batch", At: 10, Seconds: 790, Quota: 690, Started: true,
				Why: "insufficient unused quota", Message: "insufficient unused quota",
				Holders: []report.Holder{{Team: "vision", Tier: "urgent", Accelerators: 2}},
			},
			{
				Job: "sweep-3", Team: "speech", Tier: "batch", At: 400, Seconds: 600, Quota: 600,
				Why: "insufficient quota", Message: "insufficient quota",
				Holders: []report.Holder{{Team: "speech", Tier: "batch", Accelerators: 4}},
			},
			{
				Job: "sweep-1", Team: "speech", Tier: "batch", Seconds: 100, Started: true,
				Message: "Preempted to accommodate a workload", Holders: []report.Holder{},
			},
		},
		Waiting: []report.Waiting{
			{
				Workload: "sweep", Team: "speech", Count: 1, Longest: 600,
				Why: "insufficient quota", Message: "insufficient quota",
			},
		},
		Phases: []report.Phase{}, Differences: []rehearsal.Difference{}, Verdicts: []report.Verdict{},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// withoutAccelerators gives the second team 8 vCPUs of the capacity without accelerators, and
// moves its job there: two pods of 1.5 vCPUs. If both teams move, so does the first, with pods
// of 0.5 vCPUs.
func withoutAccelerators(both bool) (*ir.Platform, *rehearsal.Scenario, *rehearsal.History) {
	p, s, h := platform(), scenario(), history()
	vcpus := []ir.FlavorQuota{{Flavor: "cpu", Quotas: []ir.ResourceQuota{
		{Resource: "cpu", Nominal: *resource.NewQuantity(8, resource.DecimalSI)},
	}}}
	p.Teams[1].Queues[0].Flavors = append(p.Teams[1].Queues[0].Flavors, vcpus...)
	moved := map[int]int{1: 1500}
	if both {
		moved[0] = 500
		p.Teams[0].Queues[0].Flavors = vcpus
		p.Capacities, s.Pools, h.Pools = p.Capacities[1:], s.Pools[:1], h.Pools[:1]
	}
	for template, milliCPU := range moved {
		t := &s.Templates[template]
		t.Capacities, t.PodAccelerators = []string{"cpu"}, nil
		t.PodMilliCPU = map[string]int{"main": milliCPU}
	}
	for i := range h.Jobs {
		if moved[s.Jobs[i].Template] == 0 {
			continue
		}
		for r := range h.Jobs[i].Runs {
			h.Jobs[i].Runs[r].Flavors = []rehearsal.PodSetFlavor{{PodSet: "main", Flavor: "cpu", Pods: 2}}
		}
	}
	s.Pools[0].PerNode["cpu"], s.Pools[0].Max = "3920m", 2
	h.Pools[0].Nodes = []rehearsal.Count{{At: 100, N: 1}, {At: 600}}
	return p, s, h
}

// TestVCPUs compares the numbers of capacities without accelerators with numbers that were
// computed by hand.
func TestVCPUs(t *testing.T) {
	expect := []ir.RehearsalExpectation{
		{Capacity: "cpu", Utilization: 45}, {Capacity: "cpu", Utilization: 46, Tier: "urgent"},
	}
	p, s, h := withoutAccelerators(false)
	r := report.Of(p, s, h, expect)
	// The node has 3.92 vCPUs for 500 seconds, and the pods 3 vCPUs for 300 seconds.
	want := &report.VCPUUse{Paid: 1960, Used: 900, Maximum: 7840}
	if d := cmp.Diff(want, r.Capacities[0].VCPU); d != "" || r.Capacities[0].Used != 0 {
		t.Errorf("-want +got:\n%s", d)
	}
	if g := r.Total; g.Used != 1200 || g.Lost != 80 || g.UsedVCPU != 900 || g.LostVCPU != 0 {
		t.Errorf("%+v", g)
	}
	if r.Fairness != nil || r.VCPUFairness != nil {
		t.Errorf("fairness of one team with accelerators and one with vCPUs: %v, %v", r.Fairness, r.VCPUFairness)
	}
	for i, message := range []string{
		`4 jobs used 45.9% of capacity "cpu", expected at least 45%`,
		`1 job of tier "urgent" used 45.9% of capacity "cpu", expected at least 46%`,
	} {
		if v := r.Verdicts[i]; v.Met != (i == 0) || v.Undecided || v.Message != message {
			t.Errorf("%+v", v)
		}
	}
	checkText(t, r,
		"tier    jobs  finished  deleted  admitted  waiting  evictions  wait p50       p95   longest  "+
			"hours  lost  vCPU hours  lost\n",
		"  0.3   0.0         0.2   0.0\n",
		"capacity  hours of      mean nodes  most nodes  hours  used  idle  utilization  of maximum\n"+
			"cpu       vCPUs                0.5           1    0.5   0.2   0.3          46%         11%\n"+
			"l4        accelerators         1.3           2    0.7   0.3   0.4          46%\n",
		"hours: accelerator or vCPU hours of the nodes that existed; ",
	)
}

// TestVCPUsOnly checks the numbers of a platform that has no accelerators at all.
func TestVCPUsOnly(t *testing.T) {
	p, s, h := withoutAccelerators(true)
	r := report.Of(p, s, h, nil)
	// The first team used 1 vCPU for 600 seconds and the second 3 for 300 seconds. The node has
	// room for neither, but nothing here looks at the node.
	if g := r.Total; g.Used != 0 || g.UsedVCPU != 600+900 || g.LostVCPU != 40 {
		t.Errorf("%+v", g)
	}
	// Both teams have 8 vCPUs: (600+900)^2 / (2 * (600^2+900^2)).
	if r.Fairness != nil || r.VCPUFairness == nil || fmt.Sprintf("%.3f", *r.VCPUFairness) != "0.962" {
		t.Errorf("fairness %v and %v", r.Fairness, r.VCPUFairness)
	}
	if d := cmp.Diff([]report.Holder{{Team: "vision", Tier: "urgent", VCPUs: 3}}, r.Waits[0].Holders); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	checkText(t, r,
		"longest  vCPU hours  lost\n",
		"\nvCPU hours: of pods on capacities without accelerators, by their requests; lost: ",
		"\nfairness of vCPU hours: 0.96 (Jain's index of the vCPU hours, ",
		"\nhours: vCPU hours of the nodes that existed; ",
		"\n    vCPUs with quota meanwhile, the largest shares: 3 by vision urgent\n",
	)
}

// checkText checks that the text of a report has some parts.
func checkText(t *testing.T, r *report.Report, parts ...string) {
	t.Helper()
	var text bytes.Buffer
	if err := report.Text(&text, r); err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if !strings.Contains(text.String(), part) {
			t.Errorf("the report has no %q:\n%s", part, text.String())
		}
	}
}

// TestStartAtOnce checks that a job whose pods run at time 0 has not waited, and that the
// time without a lost node is no use.
func TestStartAtOnce(t *testing.T) {
	h := history()
	h.Jobs[0].Runs[0].Started, h.Jobs[0].Runs[0].Stopped = 0, 50
	got := report.Of(platform(), scenario(), h, nil)
	if got.Waits[len(got.Waits)-1].Job == "sweep-1" || got.Total.Used != 1800+2*(100-50) {
		t.Errorf("%+v, %+v", got.Total, got.Waits)
	}
}

// TestPercentiles checks which percentiles of waits depend on jobs that still wait at the end.
// A wait with a "+" is such a lower bound.
func TestPercentiles(t *testing.T) {
	// 99 jobs waited 1 to 99 seconds, and one still waits after an hour.
	hundred := "3600+"
	for i := 1; i < 100; i++ {
		hundred += " " + strconv.Itoa(i)
	}
	for _, test := range []struct{ waits, p50, p95, longest string }{
		{hundred, "50s", "95s", ">=1h"},
		// In truth, the second wait is between 7 and 9.
		{"5 7+ 9", ">=7s", ">=9s", ">=9s"},
		// Wherever the job that waits is in truth, the second of these waits is 5.
		{"3+ 5 5 5", "5s", ">=5s", ">=5s"},
		{"5+ 5 5 8", "5s", ">=8s", ">=8s"},
		// In truth, the first wait is between 4 and 6.
		{"4+ 6", ">=4s", ">=6s", ">=6s"},
		{"4 6+", "4s", ">=6s", ">=6s"},
		{"9+ 8+", ">=8s", ">=9s", ">=9s"},
		{"8", "8s", "8s", "8s"},
	} {
		s, h := scenario(), history()
		s.Until, s.Jobs, h.Jobs = 3600, nil, nil
		for _, wait := range strings.Fields(test.waits) {
			text, waiting := strings.CutSuffix(wait, "+")
			seconds, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			job, outcome := rehearsal.Job{}, rehearsal.JobHistory{Outcome: rehearsal.Waiting}
			if waiting {
				job.At = s.Until - seconds
			} else {
				outcome = rehearsal.JobHistory{
					Outcome: rehearsal.Running, Runs: []rehearsal.Run{{Ran: true, Started: seconds}},
				}
			}
			s.Jobs, h.Jobs = append(s.Jobs, job), append(h.Jobs, outcome)
		}
		wait := report.Of(platform(), s, h, nil).Total.Wait
		got := [3]string{wait.P50.String(), wait.P95.String(), wait.Max.String()}
		if want := [3]string{test.p50, test.p95, test.longest}; got != want {
			t.Errorf("waits %.40s: %q, want %q", test.waits, got, want)
		}
	}
}

// TestWaitForNodes checks that a job waits for quota again after an eviction.
func TestWaitForNodes(t *testing.T) {
	h := history()
	first := rehearsal.Run{Reserved: 100, Ended: 400, Evicted: "PodsReadyTimeout"}
	h.Jobs[1].Runs = append([]rehearsal.Run{first}, h.Jobs[1].Runs...)
	h.Jobs[3].Runs = []rehearsal.Run{{Reserved: 450, Ended: 550}, {Reserved: 800}}
	waits := report.Of(platform(), scenario(), h, nil).Waits
	for i, want := range []int64{790 - 300 - 100, 600 - 100 - 200} {
		if waits[i].Quota != want {
			t.Errorf("%+v, want %d seconds without quota", waits[i], want)
		}
	}
}

// TestGuarantees checks that quota of a reservation that has not begun is no guarantee.
func TestGuarantees(t *testing.T) {
	p := platform()
	p.Teams[0].Queues[0].Flavors[0].Waiting = true
	if got := report.Of(p, scenario(), history(), nil); got.Fairness != nil {
		t.Errorf("only one team has a guarantee, and the index is %v", *got.Fairness)
	}
}

// TestDemonstration checks the states after phases, and what differs from them.
func TestDemonstration(t *testing.T) {
	s := scenario()
	s.Name = ir.DemonstrationRehearsal
	got := report.Of(platform(), s, history(), nil)
	want := []report.Phase{{
		Name: "first", Queues: []report.QueueRow{
			{Tier: "batch", Queues: 1, Pending: 2, Admitted: 1, Expected: &report.QueueCounts{Admitted: 1}},
		},
		Pods: []report.CountedRow{{Capacity: "l4", Count: 2}}, Pending: 1,
	}}
	if d := cmp.Diff(want, got.Phases); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if len(got.Differences) == 0 {
		t.Error("two waiting jobs are as none")
	}
	var text bytes.Buffer
	if err := report.Text(&text, got); err != nil || !strings.Contains(text.String(), "  2 (expected 0)  ") {
		t.Errorf("%v:\n%s", err, text.String())
	}
}

// TestVerdicts compares what is said of expectations.
func TestVerdicts(t *testing.T) {
	none, one := 0, 1
	for _, test := range []struct {
		expect         ir.RehearsalExpectation
		met, undecided bool
		message        string
	}{
		{
			ir.RehearsalExpectation{StartsWithin: 790, Percentile: 60}, true, false,
			"3 of 4 jobs started within 13m10s (75%, expected 60%); the longest wait was 13m10s",
		},
		{
			ir.RehearsalExpectation{StartsWithin: 790, Percentile: 100}, false, true,
			"3 of 4 jobs started within 13m10s; the longest wait was 13m10s; 1 job still waited at the end",
		},
		{
			ir.RehearsalExpectation{StartsWithin: 500, Percentile: 100, Tier: "batch"}, false, false,
			`1 of 3 jobs of tier "batch" started within 8m20s; the longest wait was 13m10s`,
		},
		{
			ir.RehearsalExpectation{StartsWithin: 1, Percentile: 100, Template: "fix"}, true, false,
			`1 of 1 job of workload "fix" started within 1s; the longest wait was 0s`,
		},
		{
			ir.RehearsalExpectation{StartsWithin: 1, Percentile: 100, Template: "none"}, false, true,
			"no such job was submitted",
		},
		{
			// A job that has waited for so long without a start is late.
			ir.RehearsalExpectation{StartsWithin: 600, Percentile: 75}, false, false,
			"2 of 4 jobs started within 10m (50%, expected 75%); the longest wait was 13m10s",
		},
		{ir.RehearsalExpectation{Evictions: &one}, true, false, "4 jobs had 1 eviction, expected at most 1"},
		{
			ir.RehearsalExpectation{Evictions: &none, Teams: []string{"speech"}}, false, false,
			`3 jobs of "speech" had 1 eviction, expected at most 0`,
		},
		{
			ir.RehearsalExpectation{Evictions: &none, StartsWithin: 790, Percentile: 100}, false, false,
			"3 of 4 jobs started within 13m10s; the longest wait was 13m10s; 1 job still waited at the end; " +
				"4 jobs had 1 eviction, expected at most 0",
		},
		{
			ir.RehearsalExpectation{Capacity: "l4", Utilization: 69}, true, false,
			`4 jobs used 69.2% of capacity "l4", expected at least 69%`,
		},
		{
			ir.RehearsalExpectation{Capacity: "l4", Utilization: 70}, false, false,
			`4 jobs used 69.2% of capacity "l4", expected at least 70%`,
		},
		{ir.RehearsalExpectation{Capacity: "cpu", Utilization: 70}, false, true, `capacity "cpu" had no nodes`},
	} {
		got := report.Of(platform(), scenario(), history(), []ir.RehearsalExpectation{test.expect}).Verdicts
		if longest := got[0].Longest; longest != nil && (test.met || longest.Seconds != 790) {
			t.Errorf("%+v: the longest wait is %+v", test.expect, longest)
		}
		got[0].Longest, got[0].Expects = nil, ""
		want := []report.Verdict{{Met: test.met, Undecided: test.undecided, Message: test.message}}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%+v: -want +got:\n%s", test.expect, d)
		}
	}
}

// TestExpects compares the words for expectations.
func TestExpects(t *testing.T) {
	for _, test := range []struct {
		expect ir.RehearsalExpectation
		want   string
	}{
		{ir.RehearsalExpectation{StartsWithin: 900, Percentile: 100}, "all jobs start within 15m"},
		{
			ir.RehearsalExpectation{StartsWithin: 900, Percentile: 90, Template: "fix", Evictions: new(int)},
			`90% of jobs of workload "fix" start within 15m; jobs of workload "fix" have at most 0 evictions`,
		},
		{
			ir.RehearsalExpectation{Tier: "batch", Utilization: 60, Capacity: "l4"},
			`jobs of tier "batch" use at least 60% of capacity "l4"`,
		},
	} {
		r := report.Of(platform(), scenario(), history(), []ir.RehearsalExpectation{test.expect})
		if got := r.Verdicts[0].Expects; got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

// TestWords checks what text says of waits: who preempted a job, accelerators first, what a
// bound is, and the time without nodes. It also checks the order of tiers and OfMaximum.
func TestWords(t *testing.T) {
	p, s, h := platform(), scenario(), history()
	p.PriorityClasses = []ir.PriorityClass{
		{Tier: "batch", Value: 10}, {Tier: "urgent", Value: 20}, {Tier: "batch", Value: 15},
	}
	h.Jobs[1].Runs = append([]rehearsal.Run{
		{Reserved: 20, Ended: 30, Evicted: "Preempted", By: "vision/fix-1"},
	}, h.Jobs[1].Runs...)
	h.Jobs[1].Waits = "Preempted to accommodate a workload (UID: 1)"
	h.Jobs[3].Waits = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor l4, " +
		"8 more needed, insufficient unused quota for nvidia.com/gpu in flavor l4, 2 more needed"
	h.Jobs[0].Runs[1].Stopped = 360
	s.Pools[1].Max = 2
	r := report.Of(p, s, h, []ir.RehearsalExpectation{{StartsWithin: 60, Percentile: 100, Tier: "urgent"}})
	var text bytes.Buffer
	if err := report.Text(&text, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"  met: 1 of 1 job of tier \"urgent\" started within 60s; the longest wait was 0s\n",
		"it was preempted for job vision/fix-1, and waited again",
		"    too little quota was unused: the job needed 2 more GPUs and 8 more vCPUs of capacity l4\n",
		"\n>=: some jobs had not started at the end",
		"\nstopped: jobs that had started did not run for 0.1 hours in all",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("there is no %q in\n%s", want, text.String())
		}
	}
	if r.Tiers[0].Tier != "urgent" {
		t.Errorf("the first tier is %s", r.Tiers[0].Tier)
	}
	if percent, known := r.Capacities[1].OfMaximum(); !known || percent != 100*float64(1800-720)/(2*2*1000) {
		t.Errorf("%v%% of the maximum", percent)
	}
}

// TestPrice checks the cost of nodes: 1,300 seconds of a node that costs 36 an hour.
func TestPrice(t *testing.T) {
	r := report.Of(platform(), scenario(), history(), nil)
	r.Price(&cost.Bill{Currency: "EUR", Capacities: []cost.CapacityCost{
		{Name: "cpu", Hourly: big.NewRat(1, 3)}, {Name: "l4", Hourly: big.NewRat(36, 1)},
		{Name: "system", Hourly: big.NewRat(1, 1)},
	}})
	var text bytes.Buffer
	if err := report.Text(&text, r); err != nil {
		t.Fatal(err)
	}
	if r.Capacities[0].Cost != "0.00" || r.Capacities[1].Cost != "13.00" || r.Cost != "13.00" ||
		!strings.Contains(text.String(), "69%              13.00\n") || !strings.Contains(text.String(), "  EUR\n") {
		t.Errorf("%q, %q, all %q:\n%s", r.Capacities[0].Cost, r.Capacities[1].Cost, r.Cost, text.String())
	}
}

// TestInterrupted checks that a rehearsal that was stopped decides only what cannot change.
func TestInterrupted(t *testing.T) {
	h := history()
	h.Interrupted, h.End = true, 900
	none := 0
	r := report.Of(platform(), scenario(), h, []ir.RehearsalExpectation{
		{Evictions: &none, Tier: "urgent"}, {Evictions: &none, Tier: "batch"}, {Capacity: "l4", Utilization: 1},
		{StartsWithin: 1, Percentile: 100, Tier: "urgent"}, {StartsWithin: 1, Percentile: 50, Tier: "batch"},
		{StartsWithin: 1, Percentile: 100, Tier: "batch"},
	})
	for i, undecided := range []bool{true, false, true, true, true, false} {
		if v := r.Verdicts[i]; v.Undecided != undecided || v.Met {
			t.Errorf("%+v", v)
		}
	}
	var text bytes.Buffer
	if err := report.Text(&text, r); err != nil || !strings.Contains(text.String(), "interrupted after 15m; ") {
		t.Errorf("%v:\n%s", err, text.String())
	}
}

// TestForms checks that the forms are safe: names and messages are no Markdown and no
// control characters, and JSON can be read.
func TestForms(t *testing.T) {
	s, h := scenario(), history()
	s.Templates[0].Team = "a|b<b>\x1b[31m*c*"
	h.Jobs[3].Waits = "| <img src=x> \n\x1b]0;title\x07"
	r := report.Of(platform(), s, h, []ir.RehearsalExpectation{{StartsWithin: 1, Percentile: 100}})
	var text, markdown, object bytes.Buffer
	if err := report.Text(&text, r); err != nil {
		t.Fatal(err)
	}
	if err := report.Markdown(&markdown, r); err != nil {
		t.Fatal(err)
	}
	if err := report.JSON(&object, r); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(text.String()+markdown.String()+object.String(), "\x1b\x07") {
		t.Error("a control character is printed")
	}
	if strings.Contains(markdown.String(), "<img") || strings.Contains(markdown.String(), "<b>") {
		t.Errorf("HTML in the Markdown:\n%s", markdown.String())
	}
	rows := 0
	for line := range strings.Lines(markdown.String()) {
		if strings.HasPrefix(line, "| a") && !strings.HasPrefix(line, "| all") {
			if rows++; strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 16 {
				t.Errorf("another number of columns: %s", line)
			}
		}
	}
	if rows != 1 {
		t.Errorf("%d rows of the team:\n%s", rows, markdown.String())
	}
	var read struct {
		Version int
		Type    string
		Total   report.Group
	}
	if err := json.Unmarshal(object.Bytes(), &read); err != nil || read.Version != 1 || read.Type != "rehearsal" ||
		read.Total.Submitted != 4 || bytes.Count(object.Bytes(), []byte("\n")) != 1 {
		t.Errorf("%v: %s", err, object.String())
	}
}

// TestManyTeams checks that text stays short: the table of teams has the longest waits.
func TestManyTeams(t *testing.T) {
	s, h := scenario(), history()
	s.Jobs, h.Jobs, s.Templates = nil, nil, nil
	for i := range 100 {
		name := "team-" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		s.Templates = append(s.Templates, rehearsal.Template{Name: "w", Team: name, Tier: "batch", Namespace: name})
		s.Jobs = append(s.Jobs, rehearsal.Job{Name: "w-1", Template: i, At: int64(i)})
		h.Jobs = append(h.Jobs, rehearsal.JobHistory{Outcome: rehearsal.Waiting})
	}
	var text bytes.Buffer
	r := report.Of(platform(), s, h, nil)
	if err := report.Text(&text, r); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text.String(), "\n"); n > 70 || !strings.Contains(text.String(), "76 rows are omitted") {
		t.Errorf("%d lines:\n%s", n, text.String())
	}
	if len(r.Teams) != 100 {
		t.Errorf("%d teams", len(r.Teams))
	}
}
