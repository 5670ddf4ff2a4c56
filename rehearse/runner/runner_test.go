package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
	"github.com/batchwright/batchwright/rehearse/runner"
	"github.com/batchwright/batchwright/rehearse/stage"
	"github.com/google/go-cmp/cmp"
)

// runs returns the times of a job's runs: reserved, started, ended.
func runs(h *rehearsal.History, job int) [][3]int64 {
	var out [][3]int64
	for _, r := range h.Jobs[job].Runs {
		out = append(out, [3]int64{r.Reserved, r.Started, r.Ended})
	}
	return out
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestKueue checks that the program names the Kueue that it contains.
func TestKueue(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "sigs.k8s.io/kueue").Output()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "release of Kueue", "v"+runner.Kueue, strings.TrimSpace(string(out)))
}

// TestQueue checks that jobs wait for quota, and start a second after it was freed.
func TestQueue(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 2})
	first := submit(t, s, "a", "low", 2, rehearsal.Job{At: 0, Runs: 100})
	second := submit(t, s, "a", "low", 2, rehearsal.Job{At: 10, Runs: 100})
	never := submit(t, s, "a", "low", 3, rehearsal.Job{At: 20, Runs: 100})
	h := play(t, s)
	equal(t, "first", runs(h, first), [][3]int64{{0, 0, 100}})
	equal(t, "second", runs(h, second), [][3]int64{{101, 101, 201}})
	equal(t, "outcome", h.Jobs[never].Outcome, rehearsal.Waiting)
	if !strings.Contains(h.Jobs[never].Waits, "maximum capacity (2)") {
		t.Errorf("the job that never fits waits because: %q", h.Jobs[never].Waits)
	}
}

// TestReasons checks that the report knows the messages of this release of Kueue: another
// wording would appear in it as it is.
func TestReasons(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 4}, queue{team: "b", quota: 2, within: "LowerPriority"})
	jobs := []struct {
		team, priority string
		pods           int
		want           string
	}{
		{"a", "low", 3, "it waited behind other jobs of its queue"},
		{"a", "low", 4, "too little quota was unused: the job needed 3 more vCPUs of capacity standard"},
		{"a", "low", 5, "its queue can have at most 4 vCPUs of capacity standard, and the job requests 5"},
		{"b", "low", 1, "too little quota was unused: the job needed 1 more vCPU of capacity standard"},
		{"b", "high", 2, "too little quota was unused: the job needed 1 more vCPU of capacity standard; " +
			"it waited for the end of jobs that it preempts"},
	}
	for i, job := range jobs {
		submit(t, s, job.team, job.priority, job.pods, rehearsal.Job{At: int64(i), Runs: 1000})
	}
	h := play(t, s)
	for i, job := range jobs {
		equal(t, h.Jobs[i].Waits, report.Reason(h.Jobs[i].Waits, ""), job.want)
	}
	preempted := h.Jobs[3].Runs[0].Message
	equal(t, preempted, report.Reason(preempted, ""), "it was preempted, and waited again")
}

// TestEndlessPreemption checks that time goes on although Kueue admits a job and evicts it
// again for one that cannot be admitted itself, until another job ends. The scenario is one
// of those that are compared with a whole Kueue.
func TestEndlessPreemption(t *testing.T) {
	s := contendedScenario(t, 71)
	s.Until = 3000
	evictions := map[[2]int64]int64{} // of a job in a second
	most := int64(0)
	for i, j := range play(t, s).Jobs {
		for _, r := range j.Runs {
			if r.Evicted != "" {
				at := [2]int64{int64(i), r.Ended}
				evictions[at]++
				most = max(most, evictions[at])
			}
		}
	}
	if most < 2 || most > 5 {
		t.Errorf("a job is evicted %d times in one second", most)
	}
}

// TestHold checks that a held queue admits nobody and lets its jobs run, that a drained one
// evicts them, and that both go on after the period. The other queue is not concerned.
func TestHold(t *testing.T) {
	for _, test := range []struct {
		name  string
		holds []rehearsal.Hold
		first [][3]int64
		next  [][3]int64
	}{
		{
			"hold", []rehearsal.Hold{{ClusterQueues: []string{"a"}, From: 20, To: 150}},
			[][3]int64{{0, 0, 100}}, [][3]int64{{150, 150, 250}},
		},
		{
			"drain", []rehearsal.Hold{{ClusterQueues: []string{"a"}, From: 20, To: 150, Drain: true}},
			[][3]int64{{0, 0, 20}, {150, 150, 250}}, [][3]int64{{251, 251, 351}},
		},
		{
			"a drain within a hold",
			[]rehearsal.Hold{
				{ClusterQueues: []string{"a"}, From: 20, To: 150},
				{ClusterQueues: []string{"a"}, From: 40, To: 50, Drain: true},
			},
			[][3]int64{{0, 0, 40}, {150, 150, 250}}, [][3]int64{{251, 251, 351}},
		},
		{
			"to the end", []rehearsal.Hold{{ClusterQueues: []string{"a"}, From: 20, Drain: true}},
			[][3]int64{{0, 0, 20}}, nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := scenario(t, queue{team: "a", quota: 2}, queue{team: "b", quota: 2})
			s.Holds = test.holds
			first := submit(t, s, "a", "low", 2, rehearsal.Job{At: 0, Runs: 100})
			next := submit(t, s, "a", "low", 2, rehearsal.Job{At: 30, Runs: 100})
			other := submit(t, s, "b", "low", 2, rehearsal.Job{At: 30, Runs: 100})
			h := play(t, s)
			equal(t, "first", runs(h, first), test.first)
			equal(t, "next", runs(h, next), test.next)
			equal(t, "other", runs(h, other), [][3]int64{{30, 30, 130}})
			if r := h.Jobs[first].Runs[0]; (len(test.first) > 1 || test.next == nil) &&
				(r.Evicted != "ClusterQueueStopped" || r.Message == "") {
				t.Errorf("the first job was evicted because %q: %q", r.Evicted, r.Message)
			}
		})
	}
}

// TestStopped checks that queues which the platform stops admit nobody, also after a period in
// which they are held.
func TestStopped(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 2, stop: "Hold"}, queue{team: "b", quota: 2, localStop: "HoldAndDrain"},
		queue{team: "c", quota: 2, stop: "None", localStop: "None"})
	s.Holds = []rehearsal.Hold{{ClusterQueues: []string{"a", "b", "c"}, From: 20, To: 50}}
	var jobs []int
	for _, team := range []string{"a", "b", "c"} {
		jobs = append(jobs, submit(t, s, team, "low", 2, rehearsal.Job{At: 30, Runs: 100}))
	}
	h := play(t, s)
	for i, want := range [][][3]int64{nil, nil, {{50, 50, 150}}} {
		equal(t, s.Templates[i].Team, runs(h, jobs[i]), want)
	}
}

// TestLimits checks that no node is created beyond the limits of the cluster, which count
// the nodes of all pools.
func TestLimits(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 9})
	nodes(s, rehearsal.Pool{Max: 9, Startup: 5, Idle: 10})
	s.Pools[0].Machine = map[string]float64{"cpu": 2, "memory": 7.5}
	s.Pools = append(s.Pools, rehearsal.Pool{
		Name: "other", PerNode: map[string]string{"cpu": "1"}, Min: 1, Max: 1,
		Machine: map[string]float64{"cpu": 4, "memory": 1},
	})
	s.Limits = []rehearsal.Limit{{Resource: "memory", Most: 100}, {Resource: "cpu", Most: 8}}
	first := submit(t, s, "a", "low", 2, rehearsal.Job{At: 0, Runs: 100})
	second := submit(t, s, "a", "low", 1, rehearsal.Job{At: 1, Runs: 100})
	h := play(t, s)
	equal(t, "first", runs(h, first), [][3]int64{{0, 5, 105}})
	equal(t, "second", runs(h, second), [][3]int64{{1, 105, 205}})
	equal(t, "nodes", h.Pools[0].Nodes, []rehearsal.Count{
		{At: 0, N: 0}, {At: 5, N: 2}, {At: 115, N: 1}, {At: 215, N: 0},
	})
}

// TestManyHeads checks that a job that fits starts although many before it do not fit.
func TestManyHeads(t *testing.T) {
	for _, strict := range []bool{false, true} {
		s := scenario(t, queue{team: "a", quota: 3, strict: strict})
		submit(t, s, "a", "low", 2, rehearsal.Job{})
		for range 20 {
			submit(t, s, "a", "low", 2, rehearsal.Job{At: 5})
		}
		small := submit(t, s, "a", "low", 1, rehearsal.Job{At: 5})
		s.Until = 60
		h := play(t, s)
		if strict {
			equal(t, "StrictFIFO", len(h.Jobs[small].Runs), 0)
		} else {
			equal(t, "BestEffortFIFO", runs(h, small), [][3]int64{{5, 5, 0}})
		}
	}
}

// TestPreemption checks who loses quota to whom, and that the job goes on from its last
// checkpoint.
func TestPreemption(t *testing.T) {
	s := scenario(t,
		queue{team: "a", cohort: "c", quota: 2, across: "Any"},
		queue{team: "b", cohort: "c", quota: 2, across: "Any"})
	borrower := submit(t, s, "a", "low", 4, rehearsal.Job{At: 0, Runs: 100, Checkpoint: 20})
	owner := submit(t, s, "b", "low", 2, rehearsal.Job{At: 50, Runs: 10})
	h := play(t, s)
	equal(t, "owner", runs(h, owner), [][3]int64{{50, 50, 60}})
	// 40 of 100 seconds are saved, so 60 remain.
	equal(t, "borrower", runs(h, borrower), [][3]int64{{0, 0, 50}, {61, 61, 121}})
	lost := h.Jobs[borrower].Runs[0]
	equal(t, "reason", lost.Evicted, rehearsal.EvictionReason("Preempted"))
	equal(t, "preemptor", lost.By, "b/job-1")
	if !strings.Contains(lost.Message, "due to reclamation within the cohort") {
		t.Errorf("message: %q", lost.Message)
	}
}

// TestNodes checks the autoscaler: nodes take time, at most Max exist, and empty ones go.
func TestNodes(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 10})
	nodes(s, rehearsal.Pool{Min: 1, Max: 3, Startup: 60, Idle: 600})
	first := submit(t, s, "a", "low", 1, rehearsal.Job{At: 0, Runs: 100})
	second := submit(t, s, "a", "low", 3, rehearsal.Job{At: 10, Runs: 100})
	s.Looks = []int64{69, 110}
	h := play(t, s)
	equal(t, "on the node that exists", runs(h, first), [][3]int64{{0, 0, 100}})
	// Two nodes are there after 60 seconds, and the third when the first job has ended.
	equal(t, "on new nodes", runs(h, second), [][3]int64{{10, 100, 200}})
	equal(t, "nodes", h.Pools[0].Nodes, []rehearsal.Count{{At: 0, N: 1}, {At: 70, N: 3}, {At: 800, N: 1}})
	for i, want := range []rehearsal.State{
		{At: 69, Pods: map[string]int{"standard": 1}, Pending: 3},
		{At: 110, Pods: map[string]int{"standard": 3}, Pending: 0},
	} {
		h.States[i].Queues = nil
		equal(t, fmt.Sprint("look ", i), h.States[i], want)
	}
}

// TestAvailability checks a stock-out, and the loss of Spot VMs.
func TestAvailability(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 10})
	nodes(s, rehearsal.Pool{Max: 4, Startup: 10, Idle: 600, Available: []rehearsal.Availability{
		{From: 0, To: 500, Max: 0, Keeps: true}, {From: 600, To: 700, Max: 1},
	}})
	job := submit(t, s, "a", "low", 2, rehearsal.Job{At: 0, Runs: 200})
	h := play(t, s)
	// The second node is lost at 600 and returns at 710; the work begins again.
	equal(t, "job", runs(h, job), [][3]int64{{0, 510, 910}})
	equal(t, "stopped and redone", [2]int64{h.Jobs[job].Runs[0].Stopped, h.Jobs[job].Runs[0].Redone}, [2]int64{110, 90})
}

// TestTimeout checks that Kueue evicts a job whose pods do not start in time, and tries
// again after its backoff.
func TestTimeout(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 10})
	configure(t, s, fields{"waitForPodsReady": fields{
		"timeout":           "5m",
		"requeuingStrategy": fields{"backoffBaseSeconds": 60, "timestamp": "Eviction"},
	}})
	nodes(s, rehearsal.Pool{
		Max: 1, Startup: 60, Idle: 600, Available: []rehearsal.Availability{{To: 320, Max: 0, Keeps: true}},
	})
	job := submit(t, s, "a", "low", 1, rehearsal.Job{At: 0, Runs: 100})
	h := play(t, s)
	equal(t, "job", runs(h, job), [][3]int64{{0, 0, 300}, {360, 420, 520}})
	equal(t, "reason", h.Jobs[job].Runs[0].Evicted, rehearsal.EvictionReason("PodsReadyTimeout"))
	equal(t, "words", report.Reason(h.Jobs[job].Runs[0].Message, ""),
		"it lost its quota because its pods did not start in time, and waited again")
}

// TestRecovery checks that Kueue evicts a job that has lost a node and gets no other in time,
// and that the job goes on from its last checkpoint.
func TestRecovery(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 10})
	configure(t, s, fields{"waitForPodsReady": fields{
		"timeout": "30m", "recoveryTimeout": "5m",
		"requeuingStrategy": fields{"backoffBaseSeconds": 60, "timestamp": "Eviction"},
	}})
	nodes(s, rehearsal.Pool{
		Max: 1, Startup: 10, Idle: 600, Available: []rehearsal.Availability{{From: 100, To: 1000, Max: 0}},
	})
	job := submit(t, s, "a", "low", 1, rehearsal.Job{At: 0, Runs: 200, Checkpoint: 40})
	h := play(t, s)
	first, last := h.Jobs[job].Runs[0], h.Jobs[job].Runs[len(h.Jobs[job].Runs)-1]
	equal(t, "first run", [5]int64{first.Started, first.Ended, first.Stopped, first.Redone}, [5]int64{10, 400, 300, 10})
	equal(t, "reason", first.Evicted, rehearsal.EvictionReason("PodsReadyTimeout"))
	equal(t, "the rest of the work", last.Ended-last.Started, int64(200-80))
}

// TestDeleted checks that the deletion of a job frees its quota, and that its name can be
// used again.
func TestDeleted(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 1})
	first := submit(t, s, "a", "low", 1, rehearsal.Job{At: 0, Deleted: 40})
	waiting := submit(t, s, "a", "low", 1, rehearsal.Job{At: 10, Deleted: 30})
	again := submit(t, s, "a", "low", 1, rehearsal.Job{At: 41, Runs: 5})
	s.Jobs[again].Name = s.Jobs[first].Name
	h := play(t, s)
	equal(t, "first", runs(h, first), [][3]int64{{0, 0, 40}})
	equal(t, "waiting", h.Jobs[waiting], rehearsal.JobHistory{
		ClusterQueue: "a", Outcome: rehearsal.Deleted, End: 30,
		Waits: "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor standard, " +
			"1 more needed",
	})
	equal(t, "again", runs(h, again), [][3]int64{{41, 41, 46}})
}

// TestRefused checks that a scenario with a mistake is refused by the name of the mistake.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		name, want string
		breaks     func(s *rehearsal.Scenario)
	}{
		{"queue", `namespace a has no LocalQueue "other"`, func(s *rehearsal.Scenario) {
			s.Templates[0].Object = []byte(strings.Replace(string(s.Templates[0].Object), `"jobs"`, `"other"`, 1))
		}},
		{"kind", `jobs of kind "RayJob"`, func(s *rehearsal.Scenario) {
			s.Templates[0].Object = []byte(`{"apiVersion": "ray.io/v1", "kind": "RayJob"}`)
		}},
		{"template", "there is no template 7", func(s *rehearsal.Scenario) { s.Jobs[0].Template = 7 }},
		{"pods", "job job-0: it has 1 pods, and run times for 2 of them", func(s *rehearsal.Scenario) {
			s.Jobs[0].PodRuns = []int64{1, 2}
		}},
		{"node", "pool standard: cpu: ", func(s *rehearsal.Scenario) { s.Pools[0].PerNode["cpu"] = "many" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := scenario(t, queue{team: "a", quota: 1})
			nodes(s, rehearsal.Pool{Max: 1})
			submit(t, s, "a", "low", 1, rehearsal.Job{})
			test.breaks(s)
			_, err := runner.Play(context.Background(), s, func(int64, int) {})
			if !errors.Is(err, stage.ErrScenario) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want: %s", err, test.want)
			}
		})
	}
}

// TestInterrupt checks that an interrupt ends the rehearsal with the history so far.
func TestInterrupt(t *testing.T) {
	s := scenario(t, queue{team: "a", quota: 1})
	submit(t, s, "a", "low", 1, rehearsal.Job{At: 0, Runs: 10})
	submit(t, s, "a", "low", 1, rehearsal.Job{At: 1000, Runs: 10})
	ctx, stop := context.WithCancel(context.Background())
	h, err := runner.Play(ctx, s, func(now int64, _ int) {
		if now >= 10 {
			stop()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "interrupted", h.Interrupted, true)
	equal(t, "first", h.Jobs[0].Outcome, rehearsal.Finished)
	equal(t, "second", h.Jobs[1].Runs, []rehearsal.Run(nil))
}

// TestDeterminism checks that a random scenario has the same history each time, although
// Kueue goes through maps and writes evictions from several goroutines.
func TestDeterminism(t *testing.T) {
	for seed := range uint64(sampled(2, 6)) {
		s, reason := randomScenario(t, seed), "Preempted"
		if seed%2 == 1 {
			loseNodes(t, s)
			reason = "PodsReadyTimeout"
		}
		var first []byte
		for range sampled(2, 3) {
			h, err := json.Marshal(play(t, s))
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = h
			}
			if string(h) != string(first) {
				t.Fatalf("seed %d has two histories:\n%s", seed, cmp.Diff(string(first), string(h)))
			}
		}
		if !strings.Contains(string(first), `"evicted":"`+reason+`"`) {
			t.Errorf("seed %d has no eviction with reason %s, which this test is about", seed, reason)
		}
	}
}

// loseNodes lets all teams share nodes, most of which are lost several times. The jobs on
// them are evicted in one second.
func loseNodes(t testing.TB, s *rehearsal.Scenario) {
	t.Helper()
	configure(t, s, fields{"waitForPodsReady": fields{
		"timeout": "2m", "recoveryTimeout": "1m",
		"requeuingStrategy": fields{"backoffBaseSeconds": 10, "timestamp": "Eviction"},
	}})
	pool := rehearsal.Pool{Max: 24, Startup: 5, Idle: 600}
	for at := int64(50); at < 800; at += 300 {
		pool.Available = append(pool.Available, rehearsal.Availability{From: at, To: at + 150, Max: 4})
	}
	nodes(s, pool)
}

// randomScenario returns a scenario with six queues in two cohorts, and 80 jobs, many of
// which are submitted in the same second.
func randomScenario(t testing.TB, seed uint64) *rehearsal.Scenario {
	random := rand.New(rand.NewPCG(seed, 0))
	var queues []queue
	policies := []string{"Never", "LowerPriority", "Any"}
	for i := range 6 {
		queues = append(queues, queue{
			team: fmt.Sprint("team-", i), cohort: fmt.Sprint("cohort-", i%2), quota: 2 + random.IntN(6),
			strict: random.IntN(3) == 0, within: policies[random.IntN(2)], across: policies[1+random.IntN(2)],
		})
	}
	s := scenario(t, queues...)
	for range 80 {
		priority := []string{"low", "low", "high"}[random.IntN(3)]
		submit(t, s, queues[random.IntN(6)].team, priority, 1+random.IntN(6), rehearsal.Job{
			At: int64(random.IntN(40)) * 10, Runs: int64(50 + 10*random.IntN(20)),
		})
	}
	return s
}
