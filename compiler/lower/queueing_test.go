package lower

import (
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// TestQueueingFollowsTheWorkloads holds that jobs overtake each other by default if
// two workloads of a queue have no capacity in common, in every queue of the tier, and
// that a written order stays.
func TestQueueingFollowsTheWorkloads(t *testing.T) {
	strict := ir.StrictFIFO
	b := &schema.Blueprint{Tiers: map[string]schema.Tier{"open": {}, "written": {Queueing: &strict}, "shared": {}}}
	queue := func(tier, name string, shared bool) ir.Queue {
		return ir.Queue{
			Tier: tier, LocalQueue: name, ClusterQueue: name, Strategy: strict, Shared: shared,
		}
	}
	for _, test := range []struct {
		other string // the capacity of the second workload of each queue
		want  map[string]string
	}{
		{"y", map[string]string{
			"open-a": ir.BestEffortFIFO, "open-b": ir.BestEffortFIFO, "written": strict, "shared": ir.BestEffortFIFO,
		}},
		{"x", map[string]string{"open-a": strict, "open-b": strict, "written": strict, "shared": strict}},
	} {
		p := &ir.Platform{
			Scheduler:    ir.Kueue,
			SharedQueues: []ir.SharedQueue{{Queue: queue("shared", "shared", true)}},
			Teams: []ir.Team{
				{Queues: []ir.Queue{
					queue("open", "open-a", false), queue("written", "written", false), queue("shared", "shared", true),
				}},
				{Queues: []ir.Queue{queue("open", "open-b", false)}},
			},
		}
		for _, q := range []string{"open-a", "written", "shared"} {
			p.Workloads = append(p.Workloads, ir.Workload{Template: q + "-1", Queue: q, Capacities: []string{"x"}},
				ir.Workload{Template: q + "-2", Queue: q, Capacities: []string{test.other}})
		}
		teams, shared := withQueueing(b, p)
		for _, q := range append(append(teams[0].Queues, teams[1].Queues...), shared[0].Queue) {
			if q.Strategy != test.want[q.ClusterQueue] {
				t.Errorf("other capacity %q: queue %q has %s, want %s", test.other, q.ClusterQueue, q.Strategy,
					test.want[q.ClusterQueue])
			}
		}
		if p.Teams[0].Queues[0].Strategy != strict {
			t.Error("the platform's own queues changed")
		}
	}
}
