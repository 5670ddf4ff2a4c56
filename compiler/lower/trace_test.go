package lower

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// tracePlatform has two teams with queues in the tiers batch and urgent, on nodes with
// eight GPUs.
func tracePlatform() *ir.Platform {
	queues := func(team string, tiers ...string) ir.Team {
		out := ir.Team{Name: team, Namespace: team}
		for _, tier := range tiers {
			out.Queues = append(out.Queues, ir.Queue{
				Tier: tier, LocalQueue: tier, Flavors: []ir.FlavorQuota{{Flavor: "h100"}},
			})
		}
		return out
	}
	return &ir.Platform{
		Scheduler: ir.Kueue,
		Capacities: []ir.Capacity{{
			Name: "h100", Option: ir.Spot, Machine: ir.Machine{Resource: ir.GPU, AcceleratorCount: 8}, MaxNodes: 4,
		}},
		Teams: []ir.Team{queues("speech", "batch"), queues("vision", "batch", "urgent")},
	}
}

// TestTrace checks which jobs of a trace arrive, when, for whom, and as what.
func TestTrace(t *testing.T) {
	const columns = "submitted,seconds,team,tier,pods,accelerators,cpu,memory\n"
	text := func(s string) *string { return &s }
	b := &schema.Blueprint{
		Tiers: map[string]schema.Tier{"batch": {Default: true}, "urgent": {}},
		Teams: map[string]schema.Team{"speech": {}, "vision": {}},
	}
	type shape struct {
		Team, Queue string
		Pods        int
		Requests    string
	}
	for _, test := range []struct {
		name   string
		in     schema.Arrival
		jobs   []ir.TracedJob
		shapes []shape
	}{
		{
			name: "dates start at the first job, and equal jobs share a workload",
			in: schema.Arrival{At: "1h", Trace: &schema.Trace{CSV: columns +
				"2026-03-02T09:00:00Z,60,vision,urgent,2,16,32,64Gi\n" +
				"2026-03-02T08:00:00Z,90,vision,,1,1,,\n" +
				"2026-03-02T09:00:01Z,70,vision,urgent,2,16,32,64Gi\n"}},
			jobs: []ir.TracedJob{
				{Line: 3, Team: "vision", Tier: "batch", Workload: 0, At: 3600, Runs: 90},
				{Line: 2, Team: "vision", Tier: "urgent", Workload: 1, At: 7200, Runs: 60},
				{Line: 4, Team: "vision", Tier: "urgent", Workload: 1, At: 7201, Runs: 70},
			},
			shapes: []shape{
				{"vision", "batch", 1, " nvidia.com/gpu=1"},
				{"vision", "urgent", 2, " cpu=16 memory=32Gi nvidia.com/gpu=8"},
			},
		},
		{
			name: "seconds start at from, and jobs outside of the rehearsal are omitted",
			in: schema.Arrival{At: "0s", Trace: &schema.Trace{From: text("1h"), CSV: columns +
				"3599,60,vision,batch,1,1,,\n3600,60,vision,batch,1,1,,\n3600000,60,vision,batch,1,1,,\n"}},
			jobs:   []ir.TracedJob{{Line: 3, Team: "vision", Tier: "batch", Runs: 60}},
			shapes: []shape{{"vision", "batch", 1, " nvidia.com/gpu=1"}},
		},
		{
			name: "other names, and only one team",
			in: schema.Arrival{At: "0s", Teams: []string{"vision"}, Trace: &schema.Trace{
				Teams: map[string]string{"images": "vision"}, Tiers: map[string]string{"p1": "urgent"},
				CSV: columns + "0,60,images,p1,1,1,,\n0,60,speech,batch,1,1,,\n",
			}},
			jobs:   []ir.TracedJob{{Line: 2, Team: "vision", Tier: "urgent", Runs: 60}},
			shapes: []shape{{"vision", "urgent", 1, " nvidia.com/gpu=1"}},
		},
		{
			name: "without teams each team submits all, and pods fill nodes evenly",
			in: schema.Arrival{At: "0s", Trace: &schema.Trace{
				CSV: "submitted,seconds,accelerators\n0,60,20\n",
			}},
			jobs: []ir.TracedJob{
				{Line: 2, Team: "speech", Tier: "batch", Workload: 0, Runs: 60},
				{Line: 2, Team: "vision", Tier: "batch", Workload: 1, Runs: 60},
			},
			shapes: []shape{
				{"speech", "batch", 4, " nvidia.com/gpu=5"}, {"vision", "batch", 4, " nvidia.com/gpu=5"},
			},
		},
		{
			name: "jobs that no platform runs",
			in: schema.Arrival{At: "0s", Trace: &schema.Trace{CSV: columns +
				"0,60,nobody,batch,1,1,,\n0,60,speech,urgent,1,1,,\n0,60,speech,batch,3,4,,\n"}},
			jobs: []ir.TracedJob{
				{Line: 2, Team: "nobody", Tier: "batch", Workload: -1, Runs: 60},
				{Line: 3, Team: "speech", Tier: "urgent", Workload: -1, Runs: 60},
				{Line: 4, Team: "speech", Tier: "batch", Workload: -1, Runs: 60},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.in.Trace.Columns = schema.TraceColumns{Submitted: "submitted", Seconds: "seconds"}
			r := &ir.Rehearsal{Until: 86400}
			got := lowerTrace(b, tracePlatform(), r, 0, test.in)
			if d := cmp.Diff(test.jobs, got.Trace); d != "" {
				t.Errorf("the jobs: -want +got:\n%s", d)
			}
			var shapes []shape
			for _, w := range r.Workloads {
				requests := ""
				for _, a := range w.Requests {
					requests += " " + a.Resource + "=" + a.Quantity.String()
				}
				shapes = append(shapes, shape{w.Team, w.Queue, w.Pods, requests})
			}
			if d := cmp.Diff(test.shapes, shapes); d != "" {
				t.Errorf("the workloads: -want +got:\n%s", d)
			}
		})
	}
}

// TestHolds checks which ClusterQueues a hold stops.
func TestHolds(t *testing.T) {
	text := func(s string) *string { return &s }
	teams := []ir.Team{
		{Name: "speech", Queues: []ir.Queue{{Tier: "batch", ClusterQueue: "shared"}}},
		{Name: "vision", Queues: []ir.Queue{
			{Tier: "batch", ClusterQueue: "shared"}, {Tier: "urgent", ClusterQueue: "vision-urgent"},
		}},
	}
	got := lowerHolds([]schema.QueueHold{
		{From: "0s"},
		{Tier: text("batch"), From: "1h", To: text("2h"), Drain: true},
		{Tier: text("urgent"), Teams: []string{"speech"}, From: "0s"},
	}, teams)
	want := []ir.QueueHold{
		{ClusterQueues: []string{"shared", "vision-urgent"}},
		{ClusterQueues: []string{"shared"}, From: 3600, To: 7200, Drain: true},
		{},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestRehearsalJob checks that a job that only a rehearsal has arrives for every team with
// quota in its tier, under a name that no workload has.
func TestRehearsalJob(t *testing.T) {
	b := &schema.Blueprint{
		Workloads: map[string]schema.Workload{"job-1": {}},
		Rehearsals: map[string]schema.Rehearsal{"day": {Until: "1d", Arrivals: []schema.Arrival{{
			At: "0s", Count: 1, Job: &schema.RehearsalJob{Tier: "batch", Pods: 2},
		}}}},
	}
	r := lowerRehearsals(b, tracePlatform())[0]
	if len(r.Arrivals) != 1 || len(r.Workloads) != 2 {
		t.Fatalf("%d arrivals of %d workloads", len(r.Arrivals), len(r.Workloads))
	}
	if d := cmp.Diff([]string{"speech", "vision"}, r.Arrivals[0].Teams); d != "" {
		t.Errorf("the teams: -want +got:\n%s", d)
	}
	for _, w := range r.Workloads {
		if w.Template != "job-job-1" || w.Template != r.Arrivals[0].Template || w.Pods != 2 || len(w.Requests) != 0 {
			t.Errorf("%+v", w)
		}
	}
}
