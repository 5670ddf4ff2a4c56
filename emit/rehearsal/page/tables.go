package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/emit/rehearsal/report"
)

// The largest numbers of rows in tables.
const (
	maxEvictionRows = 40
	maxJobRows      = 200
)

// tables is the text of the page.
type tables struct {
	Platform, Name, Scheduler, Span, Unit string
	Counts                                []figure
	Interrupted, Reversed                 bool
	Notes                                 []string
	Shows, Result                         string
	Expectations                          []expectationRow
	Reports                               []report.Table
	Evictions                             []evictionRow
	MoreEvictions                         string // says how many rows are missing, "" for none
	Jobs                                  []jobRow
	JobsTitle                             string
}

// figure is a number of the headline.
type figure struct{ Number, Of string }

// expectationRow is what the blueprint expects of the rehearsal, and what happened.
type expectationRow struct{ Expectation, State, Seen string }

// evictionRow counts evictions of one kind.
type evictionRow struct {
	Reason, Cause, Evicted, By string
	Count                      int
}

// jobRow is what happened to a job.
type jobRow struct{ Job, Team, Tier, Arrived, Waited, Ran, Ended, Outcome, Evicted string }

// tables returns the text of the page.
func (d *digest) tables() tables {
	jobs, total := len(d.history.Jobs), d.report.Total
	t := tables{
		Platform: d.plan.Name, Name: d.scenario.Name, Scheduler: rehearsal.Decider(d.scenario, d.history),
		Span: words.FormatSeconds(d.end),
		Unit: d.unit.name, Interrupted: d.history.Interrupted, Reversed: d.scenario.ReversedTies,
		Counts: []figure{
			{strconv.Itoa(jobs), plain(jobs, "job", "jobs")},
			{strconv.Itoa(total.Finished), "finished"},
			{strconv.Itoa(total.Running), "running at the end"},
			{strconv.Itoa(jobs - total.Finished - total.Running - total.Deleted), "waiting at the end"},
		},
		Shows: d.report.Shows, Result: report.Result(d.report), Expectations: d.expectationRows(),
		Reports: report.Tables(d.report), Evictions: d.evictionRows(), Notes: d.notes(),
	}
	if total.Deleted > 0 {
		t.Counts = append(t.Counts, figure{strconv.Itoa(total.Deleted), "deleted"})
	}
	t.Counts = append(t.Counts, figure{strconv.Itoa(total.Evictions), plain(total.Evictions, "eviction", "evictions")})
	if hidden := len(t.Evictions) - maxEvictionRows; hidden > 0 {
		t.Evictions = t.Evictions[:maxEvictionRows]
		t.MoreEvictions = words.Plural(hidden, "row is omitted", "rows are omitted")
	}
	t.Jobs = d.jobRows()
	t.JobsTitle = words.Count(len(t.Jobs), "job")
	if len(t.Jobs) < len(d.history.Jobs) {
		t.JobsTitle = "The " + words.Count(len(t.Jobs), "job") + " that waited longest"
	}
	return t
}

// expectationRows returns the row of each expectation, and of each number that differs from
// what a phase of the demonstration expects.
func (d *digest) expectationRows() []expectationRow {
	var rows []expectationRow
	for _, v := range d.report.Verdicts {
		rows = append(rows, expectationRow{v.Expects, v.State(), v.Message})
	}
	for _, v := range d.report.Differences {
		row := expectationRow{fmt.Sprintf("phase %s: %s: %d", v.Phase, v.What, v.Want), "not met", strconv.Itoa(v.Got)}
		if v.Missing {
			row.State, row.Seen = "undecided", "unknown"
		}
		rows = append(rows, row)
	}
	return rows
}

// plain returns the noun that fits a number.
func plain(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// notes returns what the charts leave out.
func (d *digest) notes() []string {
	var out []string
	if hidden := len(d.holds) - maxRuns; hidden > 0 {
		out = append(out, "The timeline omits the shortest runs, "+strconv.Itoa(hidden)+" of "+
			strconv.Itoa(len(d.holds))+"; the other charts and the tables count them.")
	}
	active := 0
	for _, line := range d.used {
		if len(line) > 0 {
			active++
		}
	}
	if hidden := active - maxTeamCharts; hidden > 0 {
		out = append(out, "The "+strconv.Itoa(maxTeamCharts)+" teams with the most hours have charts; "+
			words.Plural(hidden, "other team is", "other teams are")+" in the table alone.")
	}
	return out
}

// waitOf returns the time from the arrival of a job until all its pods ran for the first
// time, and reports whether they ever did. If not, the time is that until its end.
func (d *digest) waitOf(job int, holds []hold) (seconds int64, started bool) {
	at := d.scenario.Jobs[job].At
	for _, v := range holds {
		if v.started >= 0 {
			return v.started - at, true
		}
	}
	if end := d.history.Jobs[job].End; end > 0 {
		return max(end-at, 0), false
	}
	return max(d.end-at, 0), false
}

// holdsByJob returns the holds of each job.
func (d *digest) holdsByJob() [][]hold {
	out := make([][]hold, len(d.history.Jobs))
	for _, v := range d.holds {
		out[v.job] = append(out[v.job], v)
	}
	return out
}

// printWait prints a wait. That of a job that never started is a lower bound.
func printWait(seconds int64, started bool) string {
	if started {
		return words.FormatSeconds(seconds)
	}
	return "over " + words.FormatSeconds(seconds)
}

// evictionRows counts the evictions by reason, and by team and tier of both jobs, most
// first.
func (d *digest) evictionRows() []evictionRow {
	counts := map[evictionRow]int{}
	for _, v := range d.holds {
		if v.run.Evicted == "" {
			continue
		}
		evictor, cause := evictorOf(v.run)
		row := evictionRow{Reason: string(v.run.Evicted), Evicted: d.queueOf(v.job)}
		if i, ok := d.jobs[evictor]; ok {
			row.By, row.Cause = d.queueOf(i), cause
		}
		counts[row]++
	}
	var rows []evictionRow
	for row, n := range counts {
		row.Count = n
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b evictionRow) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Evicted, b.Evicted),
			cmp.Compare(a.By, b.By), cmp.Compare(a.Cause, b.Cause))
	})
	return rows
}

// queueOf returns the team and the tier of a job.
func (d *digest) queueOf(job int) string {
	t := d.templateOf(job)
	return t.Team + " " + t.Tier
}

// jobRows returns the rows of the jobs, in their order. Of many jobs it returns those that
// waited longest.
func (d *digest) jobRows() []jobRow {
	holds := d.holdsByJob()
	shown := make([]int, len(holds))
	for i := range shown {
		shown[i] = i
	}
	if len(shown) > maxJobRows {
		slices.SortStableFunc(shown, func(a, b int) int {
			x, _ := d.waitOf(a, holds[a])
			y, _ := d.waitOf(b, holds[b])
			return cmp.Compare(y, x)
		})
		shown = shown[:maxJobRows]
	}
	rows := make([]jobRow, 0, len(shown))
	for _, i := range shown {
		rows = append(rows, d.jobRow(i, holds[i]))
	}
	return rows
}

// jobRow returns the row of a job.
func (d *digest) jobRow(i int, holds []hold) jobRow {
	j, h, t := d.scenario.Jobs[i], d.history.Jobs[i], d.templateOf(i)
	row := jobRow{
		Job: j.Name, Team: t.Team, Tier: t.Tier, Arrived: words.FormatSeconds(j.At),
		Waited: printWait(d.waitOf(i, holds)), Outcome: string(h.Outcome),
	}
	if h.End > 0 {
		row.Ended = words.FormatSeconds(h.End)
	}
	var capacities, evicted []string
	for _, v := range holds {
		if !slices.Contains(capacities, v.capacity) {
			capacities = append(capacities, v.capacity)
		}
		if v.run.Evicted == "" {
			continue
		}
		text := words.FormatSeconds(v.to) + ": " + string(v.run.Evicted)
		if v.run.By != "" {
			text += " by " + v.run.By
		}
		evicted = append(evicted, text)
	}
	row.Ran = words.First(capacities, len(capacities))
	row.Evicted = words.First(evicted, 3)
	return row
}
