package ir_test

import (
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

func TestWorkloadsApart(t *testing.T) {
	queue := func(local, cluster string) ir.Queue { return ir.Queue{LocalQueue: local, ClusterQueue: cluster} }
	p := &ir.Platform{
		Teams: []ir.Team{
			{Queues: []ir.Queue{queue("a", "shared"), queue("own-a", "own-a")}},
			{Queues: []ir.Queue{queue("b", "shared"), queue("own-b", "own-b")}},
		},
		Workloads: []ir.Workload{
			{Template: "both", Queue: "a", Capacities: []string{"x", "y"}},
			{Template: "first", Queue: "a", Capacities: []string{"x"}},
			{Template: "lone", Queue: "own-a", Capacities: []string{"x"}},
			{Template: "second", Queue: "b", Capacities: []string{"y"}},
			{Template: "third", Queue: "b", Capacities: []string{"z"}},
			{Template: "other", Queue: "own-b", Capacities: []string{"y"}},
			{Template: "lost", Queue: "own-b"},
		},
	}
	apart := p.WorkloadsApart()
	if pair := apart["shared"]; len(apart) != 1 || pair[0].Template != "first" || pair[1].Template != "second" {
		t.Errorf("got %v", apart)
	}
}
