package report_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
)

// newChange returns the change between two histories of newScenario. After it, the first
// urgent job starts later, and evicts nobody.
func newChange() *report.Change {
	expect := []ir.RehearsalExpectation{
		{Template: "urgent", StartsWithin: 60, Percentile: 50},
		{Index: 1, Tier: "lp", Evictions: new(int)},
		{Index: 2, Teams: []string{"b"}, Evictions: new(int)},
	}
	before := report.Of(newPlatform(), newScenario(), newHistory(), expect)
	h := newHistory()
	train := h.Jobs[0].Runs[1].Flavors
	h.Jobs[0].Runs, h.Jobs[0].End = []rehearsal.Run{{Ended: 300, Flavors: train}}, 300
	h.Jobs[2].Runs[0].Reserved, h.Jobs[2].Runs[0].Started = 300, 360
	return report.Compare(before, report.Of(newPlatform(), newScenario(), h, expect))
}

func TestCompare(t *testing.T) {
	got := newChange()
	percent := func(x float64) *float64 { return &x }
	day := 86400.0 / 1000
	want := &report.Change{
		Verdicts: []report.VerdictChange{
			{
				Name: "expect[0]", Before: "met", After: "not met",
				Message: "50% of 2 jobs started within 2m, expected 1m; the slowest has waited for at least 6m40s",
			},
			{
				Name: "expect[1]", Before: "not met", After: "met",
				Message: "0 evictions among 4 jobs, expected at most 0",
			},
		},
		Groups: []report.GroupChange{
			{
				Team: "a", Tier: "hp",
				Before: report.GroupSide{Jobs: 2, Wait: atLeast(400), Hours: 2400.0 / 3600 * day},
				After:  report.GroupSide{Jobs: 2, Wait: atLeast(400), Hours: 1920.0 / 3600 * day},
			},
			{
				Team: "a", Tier: "lp",
				Before: report.GroupSide{Jobs: 1, Evictions: day, Hours: 1400.0 / 3600 * day},
				After:  report.GroupSide{Jobs: 1, Hours: 1200.0 / 3600 * day},
			},
		},
		Capacities: []report.CapacityChange{
			{Name: "gpu", Before: percent(5800.0 / 120), After: percent(5120.0 / 120)},
		},
	}
	near := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })
	if d := cmp.Diff(want, got, near); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestLines checks the order of the lines.
func TestLines(t *testing.T) {
	all := []string{
		"expect[0]: met -> not met: 50% of 2 jobs started within 2m, expected 1m; " +
			"the slowest has waited for at least 6m40s",
		"expect[1]: not met -> met: 0 evictions among 4 jobs, expected at most 0",
		"a: evictions of lp 86.4 -> 0.0 a day",
		"a: accelerator hours of hp 57.6 -> 46.1 a day",
		"a: accelerator hours of lp 33.6 -> 28.8 a day",
		"gpu: utilization 48.3% -> 42.6%",
	}
	for n := range len(all) + 2 {
		if got := newChange().Lines(n); !slices.Equal(got, all[:min(n, len(all))]) {
			t.Errorf("%d lines: %q", n, got)
		}
	}
}

// TestWaits checks the line of a wait, and that teams on one side have rows, but no lines.
func TestWaits(t *testing.T) {
	before, after := new(report.Report), new(report.Report)
	before.Groups = []report.Group{
		{Team: "gone", Tier: "lp", Submitted: 1},
		{Team: "b", Tier: "hp", Submitted: 4, Wait: report.Times{Jobs: 4, P95: exactly(720)}},
		{Team: "b", Tier: "lp", Submitted: 4, Wait: report.Times{Jobs: 4, P95: exactly(36000)}},
		{Team: "c", Tier: "lp", Submitted: 4, Wait: report.Times{Jobs: 4, P95: exactly(5)}},
	}
	after.Groups = slices.Clone(before.Groups[1:])
	after.Groups[0].Wait.P95, after.Groups[1].Wait.P95 = atLeast(2820), exactly(39600)
	after.Groups = append(after.Groups, report.Group{Team: "new", Tier: "lp", Submitted: 1})
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

// TestPhaseChange checks the phases of a demonstration before and after a change.
func TestPhaseChange(t *testing.T) {
	before, after := newDemonstration(), newDemonstration()
	before.Phases[0].Differences, after.Phases[2].Differences = nil, nil
	want := []report.VerdictChange{
		{Name: "phase fill", Before: "met", After: "not met", Message: "6 differences"},
		{Name: "phase end", Before: "undecided", After: "met"},
	}
	if d := cmp.Diff(want, report.Compare(before, after).Verdicts); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestChangeMarkdown(t *testing.T) {
	same := report.Compare(newDemonstration(), newDemonstration())
	same.Interrupted = true
	for want, change := range map[string]*report.Change{
		"One of the rehearsals was interrupted, so their numbers are those of different times.\n\n" +
			"The rehearsal has the same result.\n": same,
		`- expect\[0\]: met -&gt; not met: 50% of 2 jobs started within 2m, expected 1m; the slowest has waited for ` +
			`at least 6m40s
- expect\[1\]: not met -&gt; met: 0 evictions among 4 jobs, expected at most 0
- a: evictions of lp 86.4 -&gt; 0.0 a day

<details><summary><b>Expectations</b> (2)</summary>

| expectation | before -&gt; after | seen |
| --- | --- | --- |
| expect\[0\] | met -&gt; not met | 50% of 2 jobs started within 2m, expected 1m; ` +
			`the slowest has waited for at least 6m40s |
| expect\[1\] | not met -&gt; met | 0 evictions among 4 jobs, expected at most 0 |

</details>

<details><summary><b>Teams</b> (2)</summary>

| team | tier | jobs | wait p95 | evictions a day | accel. h a day |
| --- | --- | ---: | --- | --- | --- |
| a | hp | 2 | &gt;=6m40s | 0.0 | 57.6 -&gt; 46.1 |
| a | lp | 1 | 0s | 86.4 -&gt; 0.0 | 33.6 -&gt; 28.8 |

</details>

<details><summary><b>Capacities</b> (1)</summary>

| capacity | utilization |
| --- | --- |
| gpu | 48.3% -&gt; 42.6% |

</details>
`: newChange(),
	} {
		if d := cmp.Diff(want, printed(t, change.Markdown)); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	}
	if err := newChange().Markdown(failingWriter{}); err == nil {
		t.Error("a failed write gives no error")
	}
}
