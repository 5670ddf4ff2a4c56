package rehearsal_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/emit/rehearsal"
)

// queueStates returns the counts of the queues of a tier of the batch platform's teams.
func queueStates(tier string, pending, admitted int) []rehearsal.QueueState {
	var out []rehearsal.QueueState
	for _, team := range []string{"team-a", "team-b", "team-c", "team-d"} {
		name := "cq-" + team + "-" + tier
		out = append(out, rehearsal.QueueState{ClusterQueue: name, Pending: pending, Admitted: admitted})
	}
	return out
}

// newHistory returns a history of the batch platform in which the first two phases are as
// expected and the others were not reached. The pool a100-compact never has pods.
func newHistory(s *rehearsal.Scenario) *rehearsal.History {
	h := &rehearsal.History{Interrupted: true, Jobs: make([]rehearsal.JobHistory, len(s.Jobs))}
	for i := range 4 { // the first job of each team
		h.Jobs[i].Runs = []rehearsal.Run{
			{Reserved: int64(i), Ended: 665, Evicted: "Preempted"},
			{Reserved: 670, Ended: 680, Evicted: "Preempted"}, // a job counts once
		}
	}
	h.Jobs[4].Runs = []rehearsal.Run{{Ended: 700, Evicted: "PodsReadyTimeout"}} // for no other job
	h.Jobs[5].Runs = []rehearsal.Run{{Ended: 1400, Evicted: "Preempted"}}       // in a later phase
	h.Jobs[6].Runs = []rehearsal.Run{{Reserved: 6}}                             // runs
	for _, pool := range s.Pools {
		h.Pools = append(h.Pools, rehearsal.PoolUse{Name: pool.Name})
	}
	h.States = []rehearsal.State{
		{
			At: s.Looks[0], Pending: 4, Queues: queueStates("lp", 0, 4),
			Pods: map[string]int{"l4-reserved": 4, "l4-spot": 24},
		},
		{
			At: s.Looks[1], Pending: 4, Queues: append(queueStates("lp", 1, 3), queueStates("hp", 2, 2)...),
			Pods: map[string]int{"l4-reserved": 4, "l4-ondemand": 8, "l4-spot": 24},
		},
	}
	return h
}

func TestDifferences(t *testing.T) {
	p, s := build(t, "batch-platform")
	p.Demonstration, s.Looks = p.Demonstration[:3], s.Looks[:3]
	unreached := rehearsal.Difference{Phase: "compact", What: "state after the phase", Missing: true}
	for _, test := range []struct {
		name   string
		change func(*rehearsal.History)
		want   []rehearsal.Difference
	}{
		{"as expected", func(*rehearsal.History) {}, nil},
		{
			"a queue", func(h *rehearsal.History) {
				h.States[0].Queues[1].Pending, h.States[0].Queues[1].Admitted = 1, 3
			},
			[]rehearsal.Difference{
				{Phase: "low-priority", What: "queue cq-team-b-lp: pending", Got: 1},
				{Phase: "low-priority", What: "queue cq-team-b-lp: admitted", Want: 4, Got: 3},
			},
		},
		{
			"evictions", func(h *rehearsal.History) {
				h.Jobs[3].Runs = nil
				h.Jobs[4].Runs[0].Evicted = "Preempted"
			},
			[]rehearsal.Difference{
				{Phase: "high-priority", What: "jobs of low-priority that team-a has lost", Want: 1, Got: 2},
				{Phase: "high-priority", What: "jobs of low-priority that team-d has lost", Want: 1},
			},
		},
		{
			"pods", func(h *rehearsal.History) {
				h.States[1].Pods["l4-spot"], h.States[1].Pods["a100-compact"] = 22, 1
				h.States[1].Pending = 6
			},
			[]rehearsal.Difference{
				{Phase: "high-priority", What: "capacity a100-compact: running pods", Got: 1},
				{Phase: "high-priority", What: "capacity l4-spot: running pods", Want: 24, Got: 22},
				{Phase: "high-priority", What: "pods that wait for nodes", Want: 4, Got: 6},
			},
		},
		{
			"a history of another platform", func(h *rehearsal.History) {
				h.States[0].Queues = h.States[0].Queues[1:]
				h.Pools = h.Pools[1:]
				h.Jobs = h.Jobs[:3]
			},
			[]rehearsal.Difference{
				{Phase: "low-priority", What: "queue cq-team-a-lp: pending", Missing: true},
				{Phase: "low-priority", What: "queue cq-team-a-lp: admitted", Want: 4, Missing: true},
				{Phase: "low-priority", What: "capacity a100-compact: running pods", Missing: true},
				{Phase: "high-priority", What: "jobs of low-priority that team-a has lost", Want: 1, Missing: true},
				{Phase: "high-priority", What: "jobs of low-priority that team-b has lost", Want: 1, Missing: true},
				{Phase: "high-priority", What: "jobs of low-priority that team-c has lost", Want: 1, Missing: true},
				{Phase: "high-priority", What: "jobs of low-priority that team-d has lost", Want: 1, Missing: true},
				{Phase: "high-priority", What: "capacity a100-compact: running pods", Missing: true},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHistory(s)
			test.change(h)
			if d := cmp.Diff(append(test.want, unreached), rehearsal.Differences(p, s, h)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
	p.Demonstration, s.Looks = p.Demonstration[:2], s.Looks[:2]
	if got := rehearsal.Differences(p, s, newHistory(s)); got != nil {
		t.Errorf("the history is as expected, and differs in %v", got)
	}
}

// TestLimitedTeams checks that queues and evictions of teams that take no part, and
// evictions of jobs that somebody has deleted, are not compared.
func TestLimitedTeams(t *testing.T) {
	p, s := build(t, "batch-platform")
	p.Demonstration, s.Looks = p.Demonstration[:2], s.Looks[:2]
	p.Demonstration[1].Teams = []string{"team-b", "team-d"}
	for i := range s.Jobs {
		if s.Templates[s.Jobs[i].Template].Team == "team-d" {
			s.Jobs[i].Deleted = 1300
		}
	}
	h := newHistory(s)
	h.States[1].Queues = nil
	h.Jobs[0].Runs, h.Jobs[1].Runs, h.Jobs[3].Runs = nil, nil, nil
	want := []rehearsal.Difference{
		{Phase: "high-priority", What: "queue cq-team-b-hp: pending", Want: 2, Missing: true},
		{Phase: "high-priority", What: "queue cq-team-b-hp: admitted", Want: 2, Missing: true},
		{Phase: "high-priority", What: "queue cq-team-d-hp: pending", Want: 2, Missing: true},
		{Phase: "high-priority", What: "queue cq-team-d-hp: admitted", Want: 2, Missing: true},
		{Phase: "high-priority", What: "queue cq-team-b-lp: pending", Want: 1, Missing: true},
		{Phase: "high-priority", What: "queue cq-team-b-lp: admitted", Want: 3, Missing: true},
		{Phase: "high-priority", What: "queue cq-team-d-lp: pending", Want: 1, Missing: true},
		{Phase: "high-priority", What: "queue cq-team-d-lp: admitted", Want: 3, Missing: true},
		{Phase: "high-priority", What: "jobs of low-priority that team-b has lost", Want: 1},
	}
	if d := cmp.Diff(want, rehearsal.Differences(p, s, h)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestSharedNodes checks that nodes are compared by the workloads of their pods, whatever
// their order, and that an expectation that the history does not tell is missing.
func TestSharedNodes(t *testing.T) {
	p, s := build(t, "batch-platform")
	h := newHistory(s)
	p.Demonstration = p.Demonstration[:1]
	p.Demonstration[0].Nodes = [][]string{{"low-priority", "low-priority"}, {"low-priority", "low-priority"}}
	for _, test := range []struct {
		nodes [][]string
		want  []rehearsal.Difference
	}{
		{nil, []rehearsal.Difference{{Phase: "low-priority", What: "pods that share a node", Want: 2, Missing: true}}},
		{[][]string{{"low-priority", "low-priority"}, {"low-priority", "low-priority"}}, nil},
		{[][]string{{"low-priority", "low-priority"}, {"other"}}, []rehearsal.Difference{
			{Phase: "low-priority", What: "nodes that run low-priority, low-priority", Want: 2, Got: 1},
			{Phase: "low-priority", What: "nodes that run other", Got: 1},
		}},
	} {
		h.States[0].Nodes = test.nodes
		if d := cmp.Diff(test.want, rehearsal.Differences(p, s, h)); d != "" {
			t.Errorf("nodes %v: -want +got:\n%s", test.nodes, d)
		}
	}
}
