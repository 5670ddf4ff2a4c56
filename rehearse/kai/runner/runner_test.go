package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/kai/runner"
	"github.com/batchwright/batchwright/rehearse/stage"
	"github.com/google/go-cmp/cmp"
)

// TestRelease checks that the release that the history names is the one in go.mod.
func TestRelease(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "github.com/NVIDIA/KAI-scheduler").Output()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "release of KAI Scheduler", "v"+runner.KAI, strings.TrimSpace(string(out)))
}

// TestJobs checks that a job waits for the end of another one, and says why.
func TestJobs(t *testing.T) {
	s := scenario(t, 2, "a")
	nodes(s, rehearsal.Pool{Min: 1, Max: 1})
	first := submit(t, s, "a", "train", 1, 2, rehearsal.Job{At: 0, Runs: 100})
	second := submit(t, s, "a", "train", 1, 2, rehearsal.Job{At: 10, Runs: 100})
	s.Looks = []int64{50}
	h := play(t, s)
	equal(t, "first", runs(h, first), [][3]int64{{0, 0, 100}})
	equal(t, "second", runs(h, second), [][3]int64{{100, 100, 200}})
	equal(t, "state", h.States, []rehearsal.State{{
		At:     50,
		Queues: []rehearsal.QueueState{{ClusterQueue: "department"}, {ClusterQueue: "a", Pending: 1, Admitted: 1}},
		Pods:   map[string]int{"h100": 1}, Pending: 1, Nodes: [][]string{{"job-0"}},
	}})
	if waits := h.Jobs[second].Waits; !strings.Contains(waits, "no nodes with enough resources were found") {
		t.Errorf("the second job waited because: %s", waits)
	}
}

// TestReclaim checks that a team takes back its guarantee: KAI evicts a job that borrows,
// and the history names the job that takes the place. The evicted job goes on from its last
// checkpoint.
func TestReclaim(t *testing.T) {
	s := scenario(t, 2, "a", "b")
	nodes(s, rehearsal.Pool{Min: 2, Max: 2})
	submit(t, s, "b", "train", 1, 2, rehearsal.Job{At: 0, Runs: 1000})
	borrowed := submit(t, s, "b", "train", 1, 2, rehearsal.Job{At: 1, Runs: 1000, Checkpoint: 60})
	owner := submit(t, s, "a", "train", 1, 2, rehearsal.Job{At: 200, Runs: 100})
	h := play(t, s)
	first := h.Jobs[borrowed].Runs[0]
	equal(t, "reason, by, redone", []any{first.Evicted, first.By, first.Redone},
		[]any{rehearsal.EvictionReason("reclaim"), "a/" + s.Jobs[owner].Name, int64(199 % 60)})
	equal(t, "borrowed", runs(h, borrowed), [][3]int64{{1, 1, 200}, {301, 301, 301 + 1000 - 180}})
	equal(t, "owner", runs(h, owner), [][3]int64{{201, 201, 301}})
	equal(t, "nodes", first.Flavors, []rehearsal.PodSetFlavor{{PodSet: "main", Flavor: "h100", Pods: 1}})
	if !strings.Contains(first.Message, "was preempted by") && !strings.Contains(first.Message, "reclaim") {
		t.Errorf("message %q", first.Message)
	}
}

// TestPreempt checks that a job evicts a job of lower priority in its own queue.
func TestPreempt(t *testing.T) {
	s := scenario(t, 2, "a")
	nodes(s, rehearsal.Pool{Min: 1, Max: 1})
	low := submit(t, s, "a", "train", 1, 2, rehearsal.Job{At: 0, Runs: 1000})
	high := submit(t, s, "a", "build", 1, 2, rehearsal.Job{At: 100, Runs: 100})
	h := play(t, s)
	first := h.Jobs[low].Runs[0]
	equal(t, "reason and by", []any{first.Evicted, first.By},
		[]any{rehearsal.EvictionReason("preempt"), "a/" + s.Jobs[high].Name})
	equal(t, "high", runs(h, high), [][3]int64{{101, 101, 201}})
}

// TestGang checks that the pods of a job start together.
func TestGang(t *testing.T) {
	s := scenario(t, 6, "a")
	nodes(s, rehearsal.Pool{Min: 3, Max: 3})
	submit(t, s, "a", "train", 1, 2, rehearsal.Job{At: 0, Runs: 100})
	gang := submit(t, s, "a", "build", 3, 2, rehearsal.Job{At: 10, Runs: 50})
	s.Templates[0].Object = []byte(strings.Replace(string(s.Templates[0].Object), `"train"`, `"build"`, 1))
	h := play(t, s)
	equal(t, "gang", runs(h, gang), [][3]int64{{100, 100, 150}})
	equal(t, "nodes", h.Jobs[gang].Runs[0].Flavors, []rehearsal.PodSetFlavor{{PodSet: "main", Flavor: "h100", Pods: 3}})
}

// TestAutoscaler checks that nodes start for pods that wait, also for those that wait for
// quota, and that idle nodes are deleted.
func TestAutoscaler(t *testing.T) {
	s := scenario(t, 2, "a")
	nodes(s, rehearsal.Pool{Min: 1, Max: 5, Startup: 60, Idle: 600})
	first := submit(t, s, "a", "build", 1, 2, rehearsal.Job{At: 0, Runs: 100})
	// The queue guarantees two GPUs, and a job of class build never gets more.
	second := submit(t, s, "a", "build", 1, 2, rehearsal.Job{At: 10, Runs: 100})
	third := submit(t, s, "a", "train", 2, 2, rehearsal.Job{At: 20, Runs: 100})
	h := play(t, s)
	equal(t, "on the node that exists", runs(h, first), [][3]int64{{0, 0, 100}})
	equal(t, "without quota", runs(h, second), [][3]int64{{100, 100, 200}})
	equal(t, "on new nodes", runs(h, third), [][3]int64{{80, 80, 180}})
	equal(t, "nodes", h.Pools[0].Nodes, []rehearsal.Count{
		{At: 0, N: 1}, {At: 70, N: 2}, {At: 80, N: 4}, {At: 680, N: 3}, {At: 780, N: 1},
	})
}

// TestAvailability checks the loss of nodes: a job with fewer pods than it needs stops, KAI
// evicts it after a minute, and it starts again when the nodes are back.
func TestAvailability(t *testing.T) {
	s := scenario(t, 4, "a")
	nodes(s, rehearsal.Pool{Min: 2, Max: 2, Available: []rehearsal.Availability{{From: 100, To: 400, Max: 1}}})
	gang := submit(t, s, "a", "train", 2, 2, rehearsal.Job{At: 0, Runs: 200})
	h := play(t, s)
	first := h.Jobs[gang].Runs[0]
	equal(t, "reason", first.Evicted, rehearsal.EvictionReason("stalegangeviction"))
	equal(t, "runs", runs(h, gang), [][3]int64{{0, 0, 160}, {400, 400, 600}})
	equal(t, "stopped and redone", [2]int64{first.Stopped, first.Redone}, [2]int64{60, 100})
	equal(t, "nodes", h.Pools[0].Nodes, []rehearsal.Count{{At: 0, N: 2}, {At: 100, N: 1}, {At: 400, N: 2}})
}

// TestNodeLost checks that a job that has lost all its nodes waits again.
func TestNodeLost(t *testing.T) {
	s := scenario(t, 2, "a")
	nodes(s, rehearsal.Pool{Max: 1, Startup: 10, Idle: 600, Available: []rehearsal.Availability{{From: 100, To: 400}}})
	job := submit(t, s, "a", "train", 1, 2, rehearsal.Job{At: 0, Runs: 200})
	h := play(t, s)
	equal(t, "reason", h.Jobs[job].Runs[0].Evicted, rehearsal.EvictionReason("NodeLost"))
	equal(t, "runs", runs(h, job), [][3]int64{{10, 10, 100}, {410, 410, 610}})
}

// TestDeleted checks that the deletion of a job frees its GPUs, and that its name can be
// used again.
func TestDeleted(t *testing.T) {
	s := scenario(t, 2, "a")
	nodes(s, rehearsal.Pool{Min: 1, Max: 1})
	first := submit(t, s, "a", "train", 1, 2, rehearsal.Job{At: 0, Deleted: 40})
	waiting := submit(t, s, "a", "train", 1, 2, rehearsal.Job{At: 10, Deleted: 30})
	again := submit(t, s, "a", "train", 1, 2, rehearsal.Job{At: 41, Runs: 5})
	s.Jobs[again].Name = s.Jobs[first].Name
	h := play(t, s)
	equal(t, "first", runs(h, first), [][3]int64{{0, 0, 40}})
	equal(t, "outcome", []any{h.Jobs[waiting].Outcome, h.Jobs[waiting].End}, []any{rehearsal.Deleted, int64(30)})
	equal(t, "again", runs(h, again), [][3]int64{{41, 41, 46}})
}

// TestRefused checks that what KAI's model cannot say is refused by its name.
func TestRefused(t *testing.T) {
	replace := func(before, after string) func(*rehearsal.Scenario) {
		return func(s *rehearsal.Scenario) {
			object := strings.Replace(string(s.Templates[0].Object), before, after, 1)
			if object == string(s.Templates[0].Object) {
				t.Fatalf("the template has no %s", before)
			}
			s.Templates[0].Object = []byte(object)
		}
	}
	const spec = `"spec":{"containers"`
	for _, test := range []struct {
		name, want string
		breaks     func(s *rehearsal.Scenario)
	}{
		{"queue", `there is no queue "other"`, replace(`"kai.scheduler/queue":"a"`, `"kai.scheduler/queue":"other"`)},
		{"kind", `jobs of kind "JobSet"`, replace(`"kind":"Job"`, `"kind":"JobSet"`)},
		{"field", `unknown field "spec.template.spec.host"`, replace(spec, `"spec":{"host":1,"containers"`)},
		{"devices", "pods that claim devices", replace(spec, `"spec":{"resourceClaims":[{"name":"c"}],"containers"`)},
		{"affinity", "affinity or topology", replace(spec, `"spec":{"affinity":{},"containers"`)},
		{"members", "whose pods start together", replace(`"parallelism":2`, `"parallelism":3`)},
		{"nodes", "select nodes that no capacity has", replace(`"capacity":"h100"`, `"capacity":"h200"`)},
		{"template", "there is no template 7", func(s *rehearsal.Scenario) { s.Jobs[0].Template = 7 }},
		{"node", "pool h100: cpu: ", func(s *rehearsal.Scenario) { s.Pools[0].PerNode["cpu"] = "many" }},
		{"change", "only the engine of Kueue plays a change", func(s *rehearsal.Scenario) {
			s.Changes = []rehearsal.Change{{At: 10, Objects: s.Objects}}
		}},
		{"object", `objects of kind "Cohort"`, func(s *rehearsal.Scenario) {
			s.Objects[0] = []byte(`{"kind": "Cohort"}`)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := scenario(t, 2, "a")
			nodes(s, rehearsal.Pool{Max: 1})
			submit(t, s, "a", "train", 2, 2, rehearsal.Job{})
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
	s := scenario(t, 2, "a")
	nodes(s, rehearsal.Pool{Min: 1, Max: 1})
	submit(t, s, "a", "train", 1, 2, rehearsal.Job{At: 0, Runs: 10})
	submit(t, s, "a", "train", 1, 2, rehearsal.Job{At: 1000, Runs: 10})
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
// KAI goes through maps and scores nodes in several goroutines. Its jobs have one pod: which
// node of a gang on several nodes KAI clears first follows from the random order of a map
// (getNodesOfJob in pkg/scheduler/actions/common/solvers), so gangs can have several histories.
func TestDeterminism(t *testing.T) {
	for seed := range uint64(4) {
		s := randomScenario(t, seed)
		for _, s.ReversedTies = range []bool{false, true} {
			var first []byte
			for range 3 {
				h, err := json.Marshal(play(t, s))
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = h
				}
				if string(h) != string(first) {
					t.Fatalf("seed %d, reversed ties: %t: two histories:\n%s", seed, s.ReversedTies,
						cmp.Diff(string(first), string(h)))
				}
			}
			if !strings.Contains(string(first), `"evicted":"reclaim"`) {
				t.Errorf("seed %d has no reclaim, which this test is about", seed)
			}
		}
	}
}

// randomScenario returns a scenario with four teams and 40 jobs, many of which are submitted
// in the same second, on nodes some of which are lost for a while.
func randomScenario(t testing.TB, seed uint64) *rehearsal.Scenario {
	random := rand.New(rand.NewPCG(seed, 0))
	teams := []string{"a", "b", "c", "d"}
	s := scenario(t, 4, teams...)
	nodes(s, rehearsal.Pool{
		Min: 6, Max: 8, Startup: 20, Idle: 100, Available: []rehearsal.Availability{{From: 300, To: 500, Max: 4}},
	})
	for range 40 {
		submit(t, s, teams[random.IntN(4)], []string{"train", "train", "build"}[random.IntN(3)], 1, 1+random.IntN(2),
			rehearsal.Job{At: int64(random.IntN(30)) * 20, Runs: int64(50 + 10*random.IntN(30))})
	}
	return s
}
