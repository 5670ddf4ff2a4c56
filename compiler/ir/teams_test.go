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
		SharedQueues: []SharedQueue{{
			Queue: shared, Teams: []SharingTeam{{Name: "a", Namespace: "na"}, {Name: "b", Namespace: "nb"}},
		}},
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

// TestSelectsLabels: every operator, and no selection by labels for the teams' own namespaces.
func TestSelectsLabels(t *testing.T) {
	labels := map[string]string{"campus": "north", "team": "vision"}
	one := func(label, operator string, values ...string) Namespaces {
		return Namespaces{Conditions: []NamespaceCondition{{Label: label, Operator: operator, Values: values}}}
	}
	for _, test := range []struct {
		selected Namespaces
		want     bool
	}{
		{Namespaces{}, false},
		{Namespaces{None: true}, false},
		{Namespaces{All: true}, true},
		{Namespaces{Labels: []KeyValue{{Key: "campus", Value: "north"}}}, true},
		{Namespaces{Labels: []KeyValue{{Key: "campus", Value: "south"}}}, false},
		{one("campus", LabelIn, "south", "north"), true},
		{one("campus", LabelIn, "south"), false},
		{one("frozen", LabelIn, ""), false},
		{one("campus", LabelNotIn, "south"), true},
		{one("campus", LabelNotIn, "north"), false},
		{one("frozen", LabelNotIn, ""), true},
		{one("campus", LabelExists), true},
		{one("frozen", LabelExists), false},
		{one("campus", LabelMissing), false},
		{one("frozen", LabelMissing), true},
	} {
		if got := test.selected.SelectsLabels(labels); got != test.want {
			t.Errorf("%+v selects %v: %v", test.selected, labels, got)
		}
	}
}
