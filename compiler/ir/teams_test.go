package ir

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestClusterQueues: every ClusterQueue comes once, with the teams that use it, and a
// loop can end early.
func TestClusterQueues(t *testing.T) {
	shared := Queue{ClusterQueue: "cq-shared", Shared: true}
	p := &Platform{
		SharedQueues: []SharedQueue{{Queue: shared, Teams: []SharingTeam{{Name: "a", Namespace: "na"}, {Name: "b", Namespace: "nb"}}}},
		Teams: []Team{
			{Name: "a", Namespace: "na", Queues: []Queue{{ClusterQueue: "cq-a"}, shared}},
			{Name: "b", Namespace: "nb", Queues: []Queue{shared, {ClusterQueue: "cq-b"}}},
			{Name: "c", Namespace: "nc"},
		},
	}
	var got []string
	for q, teams := range p.ClusterQueues() {
		got = append(got, fmt.Sprint(q.ClusterQueue, teams))
	}
	want := []string{"cq-shared[{a na false} {b nb false}]", "cq-a[{a na false}]", "cq-b[{b nb false}]"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, last := range want {
		for q, teams := range p.ClusterQueues() {
			if fmt.Sprint(q.ClusterQueue, teams) == last {
				break
			}
		}
	}
}

func TestRootCohorts(t *testing.T) {
	p := &Platform{Cohorts: []Cohort{{Name: "x"}, {Name: "y", Parent: "x"}, {Name: "z", Parent: "y"}, {Name: "v"}}}
	want := map[string]string{"x": "x", "y": "x", "z": "x", "v": "v"}
	if d := cmp.Diff(want, p.RootCohorts()); d != "" {
		t.Error(d)
	}
}
