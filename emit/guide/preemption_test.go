package guide

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// TestEviction holds what USING.md says of a tier: who may evict whom, and how a
// guarantee comes back. In a cohort of two teams, jobs of lp can borrow l4-reserved,
// which hp is guaranteed, and l4-spot, which lp itself is guaranteed. In the third
// case hp can borrow, too.
func TestEviction(t *testing.T) {
	const (
		inOrder = "by priority, then by age; the first job holds up the others | "
		byHP    = "while it uses borrowed quota, `hp` jobs"
		reclaim = "`lp` jobs that borrow this guarantee"
		lower   = " and have a lower priority"
	)
	for _, c := range []struct {
		name    string
		lp, hp  ir.Preemption
		cohorts bool
		borrow  int64 // limit of hp in l4-reserved
		want    []string
	}{
		{
			name: "the default", cohorts: true,
			lp: ir.Preemption{ToReclaim: ir.PreemptAny}, hp: ir.Preemption{ToReclaim: ir.PreemptAny},
			want: []string{
				"| `lp` | " + inOrder + reclaim +
					" | while it uses borrowed quota, `hp`, `lp` jobs | Kueue evicts the borrowing jobs |\n",
				"| `hp` | " + inOrder + reclaim + " | no job | Kueue evicts the borrowing jobs |\n",
				"If that is not enough, `lp` and `hp` jobs evict other jobs, as the table shows.",
			},
		},
		{
			name: "only lower priorities", cohorts: true,
			lp: ir.Preemption{InQueue: ir.PreemptLowerPriority, ToReclaim: ir.PreemptLowerPriority},
			hp: ir.Preemption{InQueue: ir.PreemptLowerPriority, ToReclaim: ir.PreemptLowerPriority},
			want: []string{
				"| `lp` | " + inOrder + "no job | " + byHP + " | when the borrowing jobs end |\n",
				"| `hp` | " + inOrder + reclaim + lower + " | no job | Kueue evicts the borrowing jobs |\n",
			},
		},
		{
			name: "both borrow", cohorts: true, borrow: 4, lp: ir.Preemption{InQueue: ir.PreemptNewer},
			hp: ir.Preemption{ToReclaim: ir.PreemptLowerPriority, ToBorrow: ir.PreemptLowerPriority},
			want: []string{
				"| `lp` | " + inOrder + "in its queue, newer jobs | in its queue, older jobs; " + byHP +
					" | when the borrowing jobs end |\n",
				"| `hp` | " + inOrder + reclaim + lower + "; to borrow, `lp` jobs that borrow" + lower +
					" | no job | Kueue evicts borrowing jobs with a lower priority; others must end first |\n",
			},
		},
		{
			name: "borrow up to a priority", cohorts: true, borrow: 4,
			hp: ir.Preemption{ToReclaim: ir.PreemptLowerPriority, ToBorrow: ir.PreemptLowerPriority,
				LimitsToBorrow: true, ToBorrowUpTo: 10},
			want: []string{"; to borrow, `lp` jobs that borrow" + lower + ", at most 10 |"},
		},
		{
			name: "borrow up to a priority below all", cohorts: true, borrow: 4,
			hp: ir.Preemption{ToReclaim: ir.PreemptLowerPriority, ToBorrow: ir.PreemptLowerPriority,
				LimitsToBorrow: true, ToBorrowUpTo: 9},
			want: []string{"| `hp` | " + inOrder + reclaim + lower + " | no job | "},
		},
		{
			name: "no cohorts", hp: ir.Preemption{InQueue: ir.PreemptLowerPriority},
			want: []string{
				"| `lp` | " + inOrder + "no job | no job |\n",
				"| `hp` | " + inOrder + "no job | no job |\n",
				"to start pods with `hp`, even if the evicted job is within its guarantee",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlatform(2)
			for i := range p.Teams {
				for j := range p.Teams[i].Queues {
					q := &p.Teams[i].Queues[j]
					if !c.cohorts {
						q.Cohort = ""
					}
					q.Preemption = c.lp
					if q.Tier == "hp" {
						q.Preemption = c.hp
						q.Flavors[0] = capacityShare("l4-reserved", 4, c.borrow)
					}
				}
			}
			got := renderUsing(t, p)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("USING.md lacks %q", want)
				}
			}
			if said := strings.Contains(got, "evict other jobs, as the table shows"); said != (c.name != "no cohorts") {
				t.Errorf("USING.md says when a job evicts: %v", said)
			}
		})
	}
}

// TestGoesOn: USING.md says when the jobs of a tier go on to the next capacity.
func TestGoesOn(t *testing.T) {
	for want, next := range map[string]ir.NextCapacity{
		"`hp` jobs look for idle quota on all capacities": {BeforeBorrowing: true},
		"`hp` jobs look at all capacities before":         {BeforeBorrowing: true, PrefersEvicting: true},
		"`hp` jobs borrow or evict on a capacity before":  {AfterEvicting: true},
		"`hp` jobs evict on a capacity before":            {BeforeBorrowing: true, AfterEvicting: true},
	} {
		p := newPlatform(2)
		for i := range p.Teams {
			for j := range p.Teams[i].Queues {
				if q := &p.Teams[i].Queues[j]; q.Tier == "hp" {
					q.NextCapacity = next
				}
			}
		}
		got := renderUsing(t, p)
		if !strings.Contains(got, want) || strings.Contains(got, "`lp` jobs look") {
			t.Errorf("USING.md lacks %q", want)
		}
	}
}
