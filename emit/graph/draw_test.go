package graph

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/mermaid"
)

// newQuota returns a queue's quota of GPUs of the flavor l4. The borrowing limit "" is
// none, and "all" no limit.
func newQuota(nominal, borrowing string) ir.FlavorQuota {
	q := ir.ResourceQuota{Resource: ir.GPU, Nominal: resource.MustParse(nominal), BorrowsAll: borrowing == "all"}
	if borrowing != "" && !q.BorrowsAll {
		most := resource.MustParse(borrowing)
		q.Borrowing = &most
	}
	return ir.FlavorQuota{Flavor: "l4", Quotas: []ir.ResourceQuota{{Resource: ir.CPU}, q}}
}

// TestQuotaLabel checks that guarantees are added up, and borrowing limits are not.
func TestQuotaLabel(t *testing.T) {
	later := newQuota("2", "")
	later.Waiting = true
	for _, test := range []struct {
		quotas []ir.FlavorQuota
		want   string
	}{
		{[]ir.FlavorQuota{newQuota("1", "")}, "1 GPU"},
		{[]ir.FlavorQuota{newQuota("4", "2")}, "4 GPUs, may borrow 2"},
		{[]ir.FlavorQuota{newQuota("4", "all")}, "4 GPUs, may borrow all"},
		{[]ir.FlavorQuota{newQuota("0", "2")}, "may borrow 2 GPUs"},
		{[]ir.FlavorQuota{newQuota("0", "0")}, ""},
		{[]ir.FlavorQuota{newQuota("4", "2"), newQuota("4", "2")}, "4 GPUs each, 8 in all, may borrow 2 each"},
		{[]ir.FlavorQuota{newQuota("1", "2"), newQuota("4", "3")},
			"1 to 4 GPUs each, 5 in all, may borrow 2 to 3 each"},
		{[]ir.FlavorQuota{newQuota("0", "2"), newQuota("0", "3")}, "may borrow 2 to 3 GPUs each"},
		{[]ir.FlavorQuota{newQuota("4", ""), newQuota("4", "2")}, "4 GPUs each, 8 in all, some may borrow 2 each"},
		{[]ir.FlavorQuota{newQuota("4", ""), newQuota("4", "all")}, "4 GPUs each, 8 in all, some may borrow all"},
		{[]ir.FlavorQuota{newQuota("4", "all"), newQuota("4", "2")}, "4 GPUs each, 8 in all, borrowing differs"},
		{[]ir.FlavorQuota{later}, "not yet"},
		{[]ir.FlavorQuota{later, newQuota("2", "")}, "2 GPUs each, 4 in all, some not yet"},
	} {
		if got := quotaLabel(test.quotas, ir.GPU); got != test.want {
			t.Errorf("%v: the label is %q, want %q", test.quotas, got, test.want)
		}
	}
	if got := quotaLabel([]ir.FlavorQuota{newQuota("4", "")}, "google.com/tpu"); got != "" {
		t.Errorf("without quota of the counted resource the label is %q", got)
	}
}

// differ gives each team a queue that no other team has.
func differ(i int, t *ir.Team) {
	for j := range 6 {
		if i>>j&1 == 1 {
			q := t.Queues[0]
			q.Tier, q.ClusterQueue = fmt.Sprintf("tier-%d", j), fmt.Sprintf("cq-%s-%d", t.Name, j)
			t.Queues = append(t.Queues, q)
		}
	}
}

// crowd gives a platform more tiers and capacities than Mermaid has arrows.
func crowd(p *ir.Platform) *ir.Platform {
	const n = 30
	p.Capacities, p.Teams[0].Queues = nil, nil
	for i := range n {
		q := ir.Queue{Tier: fmt.Sprintf("tier-%02d", i), ClusterQueue: fmt.Sprintf("cq-%02d", i)}
		for j := range n {
			f := newQuota("1", "")
			f.Flavor = fmt.Sprintf("l4-%02d", j)
			q.Flavors = append(q.Flavors, f)
		}
		p.Teams[0].Queues = append(p.Teams[0].Queues, q)
		p.Capacities = append(p.Capacities, ir.Capacity{Name: fmt.Sprintf("l4-%02d", i), MaxNodes: 1})
	}
	return p
}

// TestDraw checks which detail is drawn of platforms of several sizes, and that every
// drawing has a text that Mermaid draws.
func TestDraw(t *testing.T) {
	for _, test := range []struct {
		name     string
		platform *ir.Platform
		finest   Detail
		want     Detail
		texts    []string
	}{
		{"few teams", newPlatform(4, 2, nil), Each, Each, []string{
			`subgraph cohort_c01["cohort c01"]`,
			`queue_cq_t003_batch["tier batch of t003<br>cq-t003-batch<br>l4: 2 GPUs"]`,
			"queue_cq_t000_batch & queue_cq_t001_batch & queue_cq_t002_batch & queue_cq_t003_batch --> flavor_l4",
		}},
		{"few teams, folded", newPlatform(4, 2, nil), Alike, Alike, []string{
			`queue_cq_t001_batch["tier batch of 2 teams<br>t001, t003<br>l4: 2 GPUs each, 4 in all"]`,
		}},
		{"a page of teams", newPlatform(readable, 1, nil), Each, Each, nil},
		{"one more", newPlatform(readable+1, 1, nil), Each, Alike, nil},
		{"one more, in full", newPlatform(readable+1, 1, nil), Full, Full, nil},
		{"many cohorts", newPlatform(400, 20, nil), Each, Cohorts, []string{
			`subgraph cohort_c00["20 cohorts: c00, c01 … c19"]`,
			`["tier batch of 400 teams<br>t000, t001 … t399<br>l4: 2 GPUs each, 800 in all"]`,
		}},
		{"many teams that differ", newPlatform(64, 2, differ), Each, Tiers, []string{
			`subgraph teams["64 teams in 2 cohorts"]`, `["tier batch<br>64 queues<br>l4: 2 GPUs each, 128 in all"]`,
			`["tier tier-5<br>32 queues<br>l4: 2 GPUs each, 64 in all"]`,
		}},
		{"400 teams in full", newPlatform(400, 2, nil), Full, Full, nil},
		{"501 teams in full", newPlatform(501, 2, nil), Full, Alike, nil},
		{"many tiers", crowd(newPlatform(1, 1, nil)), Full, Counts, []string{
			`platform["p<br>1 team in 1 cohort<br>30 queues<br>30 capacities"]`,
		}},
	} {
		got := Draw(test.platform, test.finest)
		text := strings.Join(got.Lines, "\n") + "\n"
		if got.Detail != test.want {
			t.Errorf("%s: the detail is %d, want %d", test.name, got.Detail, test.want)
		}
		for _, want := range test.texts {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the drawing lacks %s:\n%s", test.name, want, text)
			}
		}
		if len(text) > mermaid.MaxText {
			t.Errorf("%s: the drawing has %d characters", test.name, len(text))
		}
	}
}

// TestDrawPhase checks that the expected jobs are those of the queues of the phase's teams.
func TestDrawPhase(t *testing.T) {
	counts := []ir.QueueCount{{Tier: "batch", Pending: 2, Admitted: 1}}
	for _, test := range []struct {
		teams []string
		want  string
	}{
		{nil, `["tier batch<br>1 admitted, 2 pending in each<br>4 queues<br>`},
		{[]string{"t001"}, `["tier batch<br>1 admitted, 2 pending in cq-t001-batch<br>4 queues<br>`},
		{[]string{"t001", "t003"},
			`["tier batch<br>1 admitted, 2 pending in cq-t001-batch and cq-t003-batch<br>4 queues<br>`},
	} {
		phase := ir.Phase{Teams: test.teams, Queues: counts}
		text := strings.Join(DrawPhase(newPlatform(4, 2, nil), phase).Lines, "\n")
		if !strings.Contains(text, test.want) {
			t.Errorf("teams %q: the drawing lacks %s:\n%s", test.teams, test.want, text)
		}
	}
}

// TestNestedCohorts checks that no group contains a group, and that the titles say what
// groups would have shown.
func TestNestedCohorts(t *testing.T) {
	p := newPlatform(2, 2, nil)
	p.Cohorts = append([]ir.Cohort{{Name: "all"}}, p.Cohorts...)
	p.Cohorts[1].Parent, p.Cohorts[2].Parent = "all", "all"
	got := strings.Join(Draw(p, Each).Lines, "\n")
	for _, want := range []string{`["cohort c00 in all"]`, `["cohort c01 in all"]`} {
		if !strings.Contains(got, want) {
			t.Errorf("the drawing lacks %s:\n%s", want, got)
		}
	}
	if n := strings.Count(got, "subgraph "); n != 2 {
		t.Errorf("the drawing has %d groups, want 2:\n%s", n, got)
	}
}

// TestCohortTitle checks that a title becomes shorter before it becomes too long.
func TestCohortTitle(t *testing.T) {
	long := strings.Repeat("x", longest)
	for _, test := range []struct {
		node Node
		want string
	}{
		{Node{Name: "a"}, "cohort a"},
		{Node{Name: "a", Lines: []string{"h100: 16 GPUs"}}, "cohort a, own quota h100: 16 GPUs"},
		{Node{Name: "a", Parent: "all"}, "cohort a in all"},
		{Node{Name: "2 cohorts", Names: []string{"a", "b"}, Lines: []string{"a, b"}}, "2 cohorts: a, b"},
		{Node{Name: "2 cohorts", Names: []string{"a", long}, Lines: []string{long}, Parent: "all"}, "2 cohorts in all"},
		{Node{Name: long}, "cohort " + long[:longest-len("cohort ")-1] + "…"},
	} {
		d := &drawing{nodes: map[string]Node{"all": {Name: "all"}}}
		if got := d.cohortTitle(test.node); got != test.want {
			t.Errorf("the title is %q, want %q", got, test.want)
		}
	}
}

// TestUnusable checks that no arrow leads to a capacity of which a queue has nothing.
func TestUnusable(t *testing.T) {
	p := newPlatform(1, 1, nil)
	p.Teams[0].Queues[0].Flavors = []ir.FlavorQuota{newQuota("0", "")}
	for _, e := range Of(p, false).Edges {
		if e.To == "flavor l4" {
			t.Errorf("there is an arrow from %s", e.From)
		}
	}
}

// TestDrawnIDs checks that names that differ in a dash have identifiers of their own.
func TestDrawnIDs(t *testing.T) {
	ids := drawnIDs([]Node{{ID: "localQueue a-b/c"}, {ID: "localQueue a/b-c"}, {ID: "localQueue a-b-c"}})
	seen := map[string]bool{}
	for _, id := range ids {
		seen[id] = true
	}
	if len(seen) != 3 {
		t.Errorf("three nodes have the identifiers %v", ids)
	}
}

// TestPoolsOfSlices checks that the drawing names the node pools that the build makes,
// and no pools while there are no slices.
func TestPoolsOfSlices(t *testing.T) {
	p := newPlatform(1, 1, nil)
	c := &p.Capacities[0]
	c.Option, c.Static = ir.OnDemand, true
	c.Machine = ir.Machine{Type: "ct5lp-hightpu-4t", Resource: ir.TPU, Slice: &ir.Slice{Hosts: 4}}
	for slices, want := range map[int]string{
		0: `(["l4<br>ct5lp-hightpu-4t, on-demand<br>no slices now"])`,
		1: `(["l4<br>ct5lp-hightpu-4t, on-demand<br>l4-0<br>1 slice of 4 nodes"])`,
		2: `(["l4<br>ct5lp-hightpu-4t, on-demand<br>l4-0, l4-1<br>2 slices of 4 nodes"])`,
	} {
		c.Slices = slices
		if got := strings.Join(Draw(p, Each).Lines, "\n"); !strings.Contains(got, want) {
			t.Errorf("%d slices: the drawing lacks %s:\n%s", slices, want, got)
		}
	}
}
