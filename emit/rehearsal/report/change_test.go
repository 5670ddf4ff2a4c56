package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/markdown"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
)

// newChange returns the change between two histories of the scenario. After it the urgent
// job starts 100 seconds later, and evicts nobody.
func newChange() *report.Change {
	expect := []ir.RehearsalExpectation{
		{Template: "fix", StartsWithin: 60, Percentile: 100},
		{Index: 1, Tier: "batch", Evictions: new(int)},
		{Index: 2, Tier: "urgent", Evictions: new(int)},
	}
	h := history()
	h.Jobs[0].Runs = []rehearsal.Run{{Ran: true, Started: 100, Flavors: h.Jobs[0].Runs[0].Flavors}}
	h.Jobs[2].Runs[0].Reserved, h.Jobs[2].Runs[0].Started = 300, 300
	return report.Compare(
		report.Of(platform(), scenario(), history(), expect), report.Of(platform(), scenario(), h, expect))
}

func TestCompare(t *testing.T) {
	const days = 1000.0 / 86400
	atLeast := report.Bound{Seconds: 790, AtLeast: true}
	percent := func(x float64) *float64 { return &x }
	want := &report.Change{
		Verdicts: []report.VerdictChange{
			{
				Name: `all jobs of workload "fix" start within 60s`, Before: "met", After: "not met",
				Message: `0 of 1 job of workload "fix" started within 60s; the longest wait was 100s`,
			},
			{
				Name: `jobs of tier "batch" have at most 0 evictions`, Before: "not met", After: "met",
				Message: `3 jobs of tier "batch" had 0 evictions, expected at most 0`,
			},
		},
		Groups: []report.GroupChange{
			{
				Team: "speech", Tier: "batch",
				Before: report.GroupSide{
					Jobs: 3, Wait: atLeast, Longest: atLeast, Evictions: 1 / days, Hours: 1200.0 / 3600 / days,
				},
				After: report.GroupSide{Jobs: 3, Wait: atLeast, Longest: atLeast, Hours: 2000.0 / 3600 / days},
			},
			{
				Team: "vision", Tier: "urgent",
				Before: report.GroupSide{Jobs: 1, Hours: 600.0 / 3600 / days},
				After: report.GroupSide{
					Jobs: 1, Wait: report.Bound{Seconds: 100}, Longest: report.Bound{Seconds: 100},
					Hours: 400.0 / 3600 / days,
				},
			},
		},
		Capacities: []report.CapacityChange{
			{Name: "l4", Before: percent(100 * 1800.0 / 2600), After: percent(100 * 2400.0 / 2600)},
		},
	}
	near := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })
	if d := cmp.Diff(want, newChange(), near); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestLines checks the texts of the lines and their order.
func TestLines(t *testing.T) {
	all := []string{
		`all jobs of workload "fix" start within 60s: met -> not met: ` +
			`0 of 1 job of workload "fix" started within 60s; the longest wait was 100s`,
		`jobs of tier "batch" have at most 0 evictions: not met -> met: ` +
			`3 jobs of tier "batch" had 0 evictions, expected at most 0`,
		"vision: p95 wait of urgent 0s -> 100s",
		"vision: longest wait of urgent 0s -> 100s",
		"speech: evictions of batch 86.4 -> 0.0 a day",
		"speech: accelerator hours of batch 28.8 -> 48.0 a day",
		"vision: accelerator hours of urgent 14.4 -> 9.6 a day",
		"l4: utilization 69.2% -> 92.3%",
	}
	for n := range len(all) + 2 {
		if got := newChange().Lines(n); !slices.Equal(got, all[:min(n, len(all))]) {
			t.Errorf("%d lines: %q", n, got)
		}
	}
}

// TestWaits checks that waits count in proportion, and that a team without jobs on one
// side has a row, but no line.
func TestWaits(t *testing.T) {
	waits := func(team, tier string, p95 report.Bound) report.Group {
		return report.Group{Team: team, Tier: tier, Submitted: 4, Wait: report.Spread{P95: p95}}
	}
	before := &report.Report{Teams: []report.Group{
		waits("gone", "lp", report.Bound{}), waits("b", "hp", report.Bound{Seconds: 720}),
		waits("b", "lp", report.Bound{Seconds: 36000}), waits("c", "lp", report.Bound{Seconds: 5}),
	}}
	after := &report.Report{Teams: []report.Group{
		waits("b", "hp", report.Bound{Seconds: 2820, AtLeast: true}), waits("b", "lp", report.Bound{Seconds: 39600}),
		waits("c", "lp", report.Bound{Seconds: 5}), waits("new", "lp", report.Bound{}),
	}}
	change := report.Compare(before, after)
	want := []string{"b: p95 wait of hp 12m -> >=47m", "b: p95 wait of lp 10h -> 11h"}
	if d := cmp.Diff(want, change.Lines(10)); d != "" {
		t.Errorf("lines: -want +got:\n%s", d)
	}
	var rows []string
	for _, g := range change.Groups {
		rows = append(rows, g.Team+" "+g.Tier)
	}
	if d := cmp.Diff([]string{"b hp", "b lp", "new lp", "gone lp"}, rows); d != "" {
		t.Errorf("groups: -want +got:\n%s", d)
	}
}

// TestPhaseChanges checks the phases of a demonstration before and after a change.
func TestPhaseChanges(t *testing.T) {
	phases := []report.Phase{{Name: "fill"}, {Name: "rest"}, {Name: "end"}}
	missing := rehearsal.Difference{Phase: "end", Missing: true}
	before := &report.Report{Phases: phases, Differences: []rehearsal.Difference{missing}}
	after := &report.Report{
		Phases: append(slices.Clone(phases), report.Phase{Name: "new"}),
		Differences: []rehearsal.Difference{
			{Phase: "fill", Got: 1}, {Phase: "fill", Missing: true}, {Phase: "new", Got: 1},
		},
	}
	want := []report.VerdictChange{
		{Name: "phase fill", Before: "met", After: "not met", Message: "2 numbers differ"},
		{Name: "phase end", Before: "undecided", After: "met"},
	}
	if d := cmp.Diff(want, report.Compare(before, after).Verdicts); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

const wantChange = `<details><summary><b>Expectations</b></summary>

| expectation | verdict | seen |
| --- | --- | --- |
| all jobs of workload "fix" start within 60s | met -&gt; not met | ` +
	`0 of 1 job of workload "fix" started within 60s; the longest wait was 100s |
| jobs of tier "batch" have at most 0 evictions | not met -&gt; met | ` +
	`3 jobs of tier "batch" had 0 evictions, expected at most 0 |

</details>

<details><summary><b>Teams</b></summary>

| team | tier | jobs | wait p95 | longest wait | evictions a day | hours a day |
| --- | --- | ---: | --- | --- | --- | --- |
| speech | batch | 3 | &gt;=13m10s | &gt;=13m10s | 86.4 -&gt; 0.0 | 28.8 -&gt; 48.0 |
| vision | urgent | 1 | 0s -&gt; 100s | 0s -&gt; 100s | 0.0 | 14.4 -&gt; 9.6 |

</details>

<details><summary><b>Capacities</b></summary>

| capacity | utilization |
| --- | --- |
| l4 | 69.2% -&gt; 92.3% |

</details>
`

func TestFoldTables(t *testing.T) {
	same := report.Of(platform(), scenario(), history(), nil)
	interrupted := report.Compare(same, same)
	interrupted.Interrupted = true
	for _, test := range []struct {
		change *report.Change
		want   string
	}{
		{newChange(), wantChange},
		{report.Compare(same, same), ""},
		{
			interrupted, "One of the rehearsals was interrupted, so their numbers are those of different times.\n",
		},
	} {
		d := new(markdown.Document)
		test.change.FoldTables(d)
		if d := cmp.Diff(test.want, string(d.Bytes())); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	}
}

// TestVCPUChanges checks that changes of accelerator hours and vCPU hours are told apart.
func TestVCPUChanges(t *testing.T) {
	for _, test := range []struct {
		both  bool // as for withoutAccelerators
		head  string
		lines []string
	}{
		{
			false, "| evictions a day | hours a day | vCPU hours a day |\n",
			[]string{
				"cpu: utilization 45.9% -> 30.6%", "vision: vCPU hours of urgent 21.6 -> 14.4 a day",
				"l4: utilization 46.2% -> 42.3%", "speech: accelerator hours of batch 28.8 -> 26.4 a day",
			},
		},
		{
			true, "| evictions a day | vCPU hours a day |\n",
			[]string{
				"vision: vCPU hours of urgent 21.6 -> 14.4 a day", "cpu: utilization 76.5% -> 58.7%",
				"speech: vCPU hours of batch 14.4 -> 13.2 a day",
			},
		},
	} {
		p, s, h := withoutAccelerators(test.both)
		before := report.Of(p, s, h, nil)
		h.Jobs[1].Runs[0].Ended -= 50
		h.Jobs[2].Runs[0].Ended -= 100
		change := report.Compare(before, report.Of(p, s, h, nil))
		if d := cmp.Diff(test.lines, change.Lines(9)); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
		d := new(markdown.Document)
		if change.FoldTables(d); !strings.Contains(string(d.Bytes()), test.head) {
			t.Errorf("no %q in:\n%s", test.head, d.Bytes())
		}
	}
}
