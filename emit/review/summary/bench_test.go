package summary

import (
	"fmt"
	"slices"
	"testing"
)

// BenchmarkOf compares two platforms of a thousand teams, of which one has
// more quota.
func BenchmarkOf(b *testing.B) {
	before := summaryPlans(b)["batch"]
	team, jobs := before.Teams[0], before.Workloads[:len(before.Workloads)/len(before.Teams)]
	before.Teams, before.Workloads = nil, nil
	for i := range 1000 {
		team.Name = fmt.Sprintf("team-%04d", i)
		before.Teams = append(before.Teams, team)
		for _, w := range jobs {
			w.Team = team.Name
			before.Workloads = append(before.Workloads, w)
		}
	}
	after := copyOf(before)
	for i := range after.Teams {
		q := after.Teams[i].Queues[0].Flavors[0].Quotas
		q[len(q)-1].Nominal.Add(q[len(q)-1].Nominal)
	}
	after.Teams = slices.Delete(after.Teams, 500, 501)
	for b.Loop() {
		if len(Of(before, after)) == 0 {
			b.Fatal("nothing is said")
		}
	}
}
