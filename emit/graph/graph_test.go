package graph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
)

// newPlatform has teams with one queue each, of cohorts in turn.
func newPlatform(teams, cohorts int, change func(i int, t *ir.Team)) *ir.Platform {
	p := &ir.Platform{
		Name: "p", Capacities: []ir.Capacity{{Name: "l4", MaxNodes: 4, Machine: ir.Machine{Resource: ir.GPU}}},
	}
	for i := range cohorts {
		p.Cohorts = append(p.Cohorts, ir.Cohort{Name: fmt.Sprintf("c%02d", i)})
	}
	for i := range teams {
		t := ir.Team{Name: fmt.Sprintf("t%03d", i), Cohort: fmt.Sprintf("c%02d", i%cohorts), Queues: []ir.Queue{{
			Tier: "batch", ClusterQueue: fmt.Sprintf("cq-t%03d-batch", i),
			Flavors: []ir.FlavorQuota{{Flavor: "l4", Quotas: []ir.ResourceQuota{
				{Resource: ir.CPU, Nominal: resource.MustParse("10")},
				{Resource: ir.GPU, Nominal: resource.MustParse("2")},
			}}},
		}}}
		if change != nil {
			change(i, &t)
		}
		p.Teams = append(p.Teams, t)
	}
	return p
}

// drawnLines lists the boxes of cohorts and teams, and the arrows to flavors.
func drawnLines(g *Graph) []string {
	var out []string
	for _, n := range g.Nodes {
		if n.Kind.holds() {
			out = append(out, strings.TrimSpace(n.Name+" in "+n.Parent))
		}
	}
	for _, e := range g.Edges {
		if strings.HasPrefix(e.From, "queue") {
			out = append(out, e.From+": "+e.Label)
		}
	}
	return out
}

func TestFold(t *testing.T) {
	for _, test := range []struct {
		name     string
		platform *ir.Platform
		full     bool
		want     []string
	}{
		{
			"a dozen teams are drawn", newPlatform(12, 1, nil), false,
			append(append([]string{"c00 in"}, formatEach(12, "t%03d in cohort c00")...),
				formatEach(12, "queue cq-t%03d-batch: 2 GPUs")...),
		},
		{
			"more are not", newPlatform(13, 1, nil), false,
			[]string{"c00 in", "13 teams in cohort c00", "queue cq-t000-batch: 2 GPUs each, 26 in all"},
		},
		{
			"unless asked for", newPlatform(13, 1, nil), true,
			append(append([]string{"c00 in"}, formatEach(13, "t%03d in cohort c00")...),
				formatEach(13, "queue cq-t%03d-batch: 2 GPUs")...),
		},
		{"teams of several cohorts stay apart", newPlatform(13, 2, nil), false, []string{
			"c00 in", "c01 in", "7 teams in cohort c00", "6 teams in cohort c01",
			"queue cq-t000-batch: 2 GPUs each, 14 in all",
			"queue cq-t001-batch: 2 GPUs each, 12 in all",
		}},
		{
			"cohorts that are alike do not, if they are many", newPlatform(400, 20, nil), false,
			[]string{"20 cohorts in", "400 teams in cohort c00", "queue cq-t000-batch: 2 GPUs each, 800 in all"},
		},
		{"a team that borrows is another",
			newPlatform(13, 1, func(i int, t *ir.Team) { t.Queues[0].Flavors[0].Quotas[1].BorrowsAll = i == 4 }), false,
			[]string{
				"c00 in", "12 teams in cohort c00", "t004 in cohort c00", "queue cq-t000-batch: 2 GPUs each, 24 in all",
				"queue cq-t004-batch: 2 GPUs, may borrow all",
			}},
		{"and its cohort too",
			newPlatform(26, 13, func(i int, t *ir.Team) { t.Queues[0].Flavors[0].Quotas[1].BorrowsAll = i == 4 }),
			false, []string{
				"12 cohorts in", "c04 in", "24 teams in cohort c00", "t004 in cohort c04", "t017 in cohort c04",
				"queue cq-t000-batch: 2 GPUs each, 48 in all", "queue cq-t004-batch: 2 GPUs, may borrow all",
				"queue cq-t017-batch: 2 GPUs",
			}},
	} {
		if d := cmp.Diff(test.want, drawnLines(Of(test.platform, test.full))); d != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, d)
		}
	}
}

func formatEach(n int, format string) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(format, i))
	}
	return out
}

// TestQuote: no name can end its quotes, or be read as anything but a name.
func TestQuote(t *testing.T) {
	const hostile = "a\"]; b --> c #quot; <b>`x`</b> \\ | {y}\nclick"
	if got, want := dotQuote(hostile), `"a\"]; b --> c #quot; <b>`+"`x`"+`</b> \\ | {y}\nclick"`; got != want {
		t.Errorf("dot:\ngot  %s\nwant %s", got, want)
	}
}
