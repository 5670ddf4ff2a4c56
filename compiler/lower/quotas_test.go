package lower

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// newBlueprint returns a blueprint with GPUs (l4), and with machines without (plain).
func newBlueprint() *schema.Blueprint {
	return &schema.Blueprint{
		Scheduler: string(ir.Kueue), Zones: []string{"us-central1-a"},
		Hardware: map[string]schema.Hardware{"l4": {Machine: "g2-standard-24"}, "plain": {Machine: "e2-standard-4"}},
		Capacity: map[string]schema.Capacity{
			"l4":    {Hardware: new("l4"), Consumption: schema.Consumption{Spot: &struct{}{}}},
			"plain": {Hardware: new("plain"), Consumption: schema.Consumption{Spot: &struct{}{}}},
		},
		Tiers: map[string]schema.Tier{"lp": {Capacity: []string{"l4", "plain"}}},
	}
}

func capacitiesOf(b *schema.Blueprint) []ir.Capacity {
	var capacities []ir.Capacity
	for _, name := range []string{"l4", "plain"} {
		capacities = append(capacities, lowerCapacity(b, name, b.Capacity[name], b.Zones))
	}
	return capacities
}

// newQueue lowers the quota of a team.
func newQueue(quota map[string]schema.Quota, cohort string) ir.Queue {
	b := newBlueprint()
	return lowerQueue(b, "lp", quota, cohort, offersOf(b, capacitiesOf(b)))
}

// TestPodsFollow holds that a queue has quota of pods for what the nodes of each capacity are
// counted in.
func TestPodsFollow(t *testing.T) {
	gpus, cpus, lend := 4, 2, 1
	q := newQueue(map[string]schema.Quota{
		"l4":    {Accelerators: &gpus},
		"plain": {CPUs: &cpus, Borrow: 3, Lend: &lend},
	}, "research")
	for i, want := range []string{"440 0 ", "220 330 110"} {
		quotas := q.Flavors[i].Quotas
		pods := quotas[len(quotas)-1]
		got := pods.Nominal.String() + " " + pods.Borrowing.String() + " "
		if pods.Lending != nil {
			got += pods.Lending.String()
		}
		if pods.Resource != ir.Pods || !pods.Follows || got != want {
			t.Errorf("%s: %+v has %q, want %q", q.Flavors[i].Flavor, pods, got, want)
		}
	}
}

// TestCohortQuota holds that a cohort has quota as a queue has it: by the ratio with pods,
// limited only below a parent, and counted in what its capacities guarantee.
func TestCohortQuota(t *testing.T) {
	units, lend, parent := 4, 6, "all"
	own := &schema.CohortQuota{ByCapacity: map[string]schema.Quota{
		"l4":    {Accelerators: &units, Lend: &lend},
		"plain": {Resources: map[string]schema.ResourceQuota{ir.CPU: {Guaranteed: "8", Borrow: "all"}}},
	}}
	b := newBlueprint()
	b.Cohorts = map[string]schema.Cohort{"all": {}, "lab": {Parent: &parent, Quota: own}}
	offers := offersOf(b, capacitiesOf(b))
	cohorts := lowerCohorts(b, offers)
	want := "l4: cpu=44+0-66 memory=176Gi+0-264Gi nvidia.com/gpu=4+0-6 pods=440+0-660\n" +
		"plain: cpu=8+all memory=0+0 nvidia.com/gpu=0+0 pods=0+0\n"
	if got := printQuotas(ir.Queue{Flavors: cohorts[1].Flavors}); got != want {
		t.Errorf("the quota of the cohort is %q, want %q", got, want)
	}
	for _, c := range withGuarantees(capacitiesOf(b), &ir.Platform{Cohorts: cohorts}) {
		want := map[string]int64{"l4": 4, "plain": 8}[c.Name]
		if got := ir.AmountOf(c.Guaranteed, c.CountedIn()); got.Value() != want {
			t.Errorf("%s guarantees %s", c.Name, got.String())
		}
	}
	b.Cohorts["lab"] = schema.Cohort{Quota: own}
	for _, f := range lowerCohorts(b, offers)[1].Flavors {
		for _, r := range f.Quotas {
			if r.Borrows() || r.Lending != nil {
				t.Errorf("without a parent, %s of %s has a limit: %+v", r.Resource, f.Flavor, r)
			}
		}
	}
	b.Scheduler = string(ir.KAI)
	if flavors := lowerCohorts(b, offers)[1].Flavors; flavors != nil {
		t.Errorf("KAI Scheduler has quota by capacity: %+v", flavors)
	}
}

// printQuotas returns the quotas of a queue, a line for each capacity: resource=nominal, then
// +borrowing or +all, and -lending.
func printQuotas(q ir.Queue) string {
	var out strings.Builder
	for i, g := range q.Groups() {
		for _, f := range g.Flavors {
			out.WriteString([]string{"", "; "}[min(i, 1)] + f.Flavor + ":")
			for _, r := range f.Quotas {
				out.WriteString(" " + r.Resource + "=" + r.Nominal.String())
				switch {
				case r.BorrowsAll:
					out.WriteString("+all")
				case r.Borrowing != nil:
					out.WriteString("+" + r.Borrowing.String())
				}
				if r.Lending != nil {
					out.WriteString("-" + r.Lending.String())
				}
			}
			out.WriteString("\n")
		}
	}
	return out.String()
}

// TestExactQuotas holds what a queue counts if its quota names resources.
func TestExactQuotas(t *testing.T) {
	gpus, lend := 2, 1
	exact := func(amounts ...string) map[string]schema.ResourceQuota {
		out := map[string]schema.ResourceQuota{}
		for _, a := range amounts {
			name, amount, _ := strings.Cut(a, "=")
			out[name] = schema.ResourceQuota{Guaranteed: schema.Quantity(amount)}
		}
		return out
	}
	for _, test := range []struct {
		name, cohort string
		quota        map[string]schema.Quota
		want         string
	}{
		{"beside accelerators", "", map[string]schema.Quota{
			"l4": {Accelerators: &gpus, Resources: exact("memory=1Ti", "ephemeral-storage=2Ti")},
		}, "l4: cpu=22 memory=1Ti nvidia.com/gpu=2 ephemeral-storage=2Ti pods=220\n"},
		{"instead of them", "", map[string]schema.Quota{
			"l4": {Resources: exact("pods=7", "nvidia.com/gpu=3", "cpu=500m")},
		}, "l4: cpu=500m nvidia.com/gpu=3 pods=7\n"},
		{"without a common resource", "", map[string]schema.Quota{
			"l4": {Resources: exact("nvidia.com/gpu=3")}, "plain": {Resources: exact("cpu=4", "memory=8Gi")},
		}, "l4: nvidia.com/gpu=3\n; plain: cpu=4 memory=8Gi\n"},
		{"with a common resource", "", map[string]schema.Quota{
			"l4": {Resources: exact("nvidia.com/gpu=3", "pods=5")}, "plain": {Resources: exact("cpu=4", "pods=9")},
		}, "l4: cpu=0 nvidia.com/gpu=3 pods=5\nplain: cpu=4 nvidia.com/gpu=0 pods=9\n"},
		{"beside the ratio of another capacity", "", map[string]schema.Quota{
			"l4": {Accelerators: &gpus}, "plain": {Resources: exact("cpu=4", "pods=9")},
		}, "l4: cpu=22 memory=88Gi nvidia.com/gpu=2 pods=220\nplain: cpu=4 memory=0 nvidia.com/gpu=0 pods=9\n"},
		{"limits", "lab", map[string]schema.Quota{
			"l4": {Accelerators: &gpus, Borrow: 1, Lend: &lend, Resources: map[string]schema.ResourceQuota{
				"memory": {Guaranteed: "64Gi", Borrow: "1Gi", Lend: "2Gi"}, "cpu": {Guaranteed: "9"},
				"ephemeral-storage": {Borrow: schema.BorrowAllOf},
			}},
		}, "l4: cpu=9+0 memory=64Gi+1Gi-2Gi nvidia.com/gpu=2+1-1 ephemeral-storage=0+all pods=220+110-110\n"},
		{"everything may be borrowed", "lab", map[string]schema.Quota{
			"l4": {Borrow: schema.BorrowAll, Resources: map[string]schema.ResourceQuota{
				"cpu": {Guaranteed: "9"}, "pods": {Guaranteed: "1", Borrow: "2"},
			}},
		}, "l4: cpu=9+all pods=1+2\n"},
	} {
		if diff := cmp.Diff(test.want, printQuotas(newQueue(test.quota, test.cohort))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestRatioWrittenOut holds that the amounts of the ratio, written out as resources, give the
// same queue.
func TestRatioWrittenOut(t *testing.T) {
	gpus := 6
	for _, borrow := range []schema.Borrow{0, schema.BorrowAll} {
		byRatio := newQueue(map[string]schema.Quota{"l4": {Accelerators: &gpus, Borrow: borrow}}, "lab")
		exact := map[string]schema.ResourceQuota{}
		for _, r := range byRatio.Flavors[0].Quotas {
			exact[r.Resource] = schema.ResourceQuota{Guaranteed: schema.Quantity(r.Nominal.String())}
		}
		writtenOut := newQueue(map[string]schema.Quota{"l4": {Borrow: borrow, Resources: exact}}, "lab")
		if diff := cmp.Diff(printQuotas(byRatio), printQuotas(writtenOut)); diff != "" {
			t.Errorf("borrow %d (-ratio +resources):\n%s", borrow, diff)
		}
	}
}
