package ir

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAdopted: a queue of an existing namespace is adopted if it counts existing or taken-over nodes,
// together with its flavors, cohorts and topologies. A queue that counts only new nodes is not.
func TestAdopted(t *testing.T) {
	queue := func(name, cohort, capacity string) Queue {
		return Queue{ClusterQueue: name, Cohort: cohort, Flavors: []FlavorQuota{{Flavor: capacity}}}
	}
	p := &Platform{
		Cluster:            Cluster{Existing: &ExistingCluster{}},
		ExistingCapacities: []Capacity{{Name: "any", Flavor: Flavor{Topology: "racks"}}},
		Capacities: []Capacity{
			{Name: "taken", TakeOver: &TakeOver{}}, {Name: "own", Flavor: Flavor{Topology: "blocks"}},
		},
		Topologies: []Topology{{Name: "racks"}, {Name: "blocks"}, {Name: "unused"}},
		Cohorts: []Cohort{
			{Name: "all"}, {Name: "other"}, {Name: "lab", Parent: "all"}, {Name: "unused"},
			{Name: "mine", Parent: "other"},
		},
		SharedQueues: []SharedQueue{{Queue: queue("lender", "lab", "any")}, {Queue: queue("spare", "mine", "own")}},
		Teams: []Team{
			{Name: "old", InExisting: true, Queues: []Queue{
				queue("cq-old", "lab", "taken"), queue("cq-spot", "mine", "own"),
			}},
			{Name: "new", Queues: []Queue{queue("cq-new", "other", "any")}},
		},
	}
	got := p.Adopted()
	for _, part := range []struct {
		what string
		got  map[string]bool
		want []string
	}{
		{"queues", got.Queues, []string{"cq-old", "lender"}},
		{"capacities", got.Capacities, []string{"any", "taken"}},
		{"cohorts", got.Cohorts, []string{"", "all", "lab", "unused"}},
		{"topologies", got.Topologies, []string{"racks", "unused"}},
	} {
		maps.DeleteFunc(part.got, func(_ string, is bool) bool { return !is })
		if diff := cmp.Diff(part.want, slices.Sorted(maps.Keys(part.got))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", part.what, diff)
		}
	}
	p.Cluster.Existing = nil
	if got := p.Adopted(); len(got.Queues)+len(got.Capacities)+len(got.Cohorts) > 0 {
		t.Errorf("a platform in its own cluster adopts %v", got)
	}
}
