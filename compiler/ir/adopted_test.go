package ir

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAdopted: what a namespace or nodes of others use stays, and so do the cohorts above it.
func TestAdopted(t *testing.T) {
	queue := func(name, cohort, capacity string) Queue {
		return Queue{ClusterQueue: name, Cohort: cohort, Flavors: []FlavorQuota{{Flavor: capacity}}}
	}
	lender := SharedQueue{Queue: queue("lender", "lab", "c")}
	p := &Platform{
		Cluster:            Cluster{Existing: &ExistingCluster{}},
		ExistingCapacities: []Capacity{{Name: "any"}},
		Cohorts:            []Cohort{{Name: "all"}, {Name: "other"}, {Name: "lab", Parent: "all"}},
		SharedQueues:       []SharedQueue{lender},
		Teams: []Team{
			{Name: "old", InExisting: true, Queues: []Queue{queue("cq-old", "lab", "a")}},
			{Name: "new", Queues: []Queue{queue("cq-new", "other", "b")}},
		},
	}
	got := p.Adopted()
	for _, part := range []struct {
		what string
		got  map[string]bool
		want []string
	}{
		{"queues", got.Queues, []string{"cq-old", "lender"}},
		{"capacities", got.Capacities, []string{"a", "any", "c"}},
		{"cohorts", got.Cohorts, []string{"", "all", "lab"}},
	} {
		if diff := cmp.Diff(part.want, slices.Sorted(maps.Keys(part.got))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", part.what, diff)
		}
	}
	p.Cluster.Existing = nil
	if got := p.Adopted(); len(got.Queues)+len(got.Capacities)+len(got.Cohorts) > 0 {
		t.Errorf("a platform in its own cluster adopts %v", got)
	}
}
