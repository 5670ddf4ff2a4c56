package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/markdown"
)

// jsonVersion is the version of the form that JSON writes.
const jsonVersion = 1

// JSON writes a report as one JSON object on a line.
func JSON(w io.Writer, r *Report) error {
	var buf bytes.Buffer
	err := console.EncodeJSON(&buf, struct {
		Version int    `json:"version"`
		Type    string `json:"type"`
		*Report
	}{jsonVersion, "rehearsal", r}, "")
	if err != nil {
		return err
	}
	_, err = w.Write(buf.Bytes())
	return err
}

// Table is a part of a printed report: a heading, and a table or a list below it.
type Table struct {
	Heading string
	Head    []string   // nil for a list
	Texts   int        // first columns, which have texts; the others have numbers
	Rows    [][]string // rows of the table, or lines of each item of the list
	After   string     // sentences below, a line each
}

// Tables returns the tables of the jobs by tier, of the jobs by team and tier, and of the
// capacities. A table without rows is omitted. Unlike Text, Tables returns every team.
func Tables(r *Report) []Table {
	return withRows(tierTable(r), teamTable(r, len(r.Teams)), capacityTable(r))
}

// withRows returns the tables that have rows.
func withRows(tables ...Table) []Table {
	return slices.DeleteFunc(tables, func(t Table) bool { return len(t.Rows) == 0 })
}

// Sentences returns the sentences below the table.
func (t Table) Sentences() []string {
	return strings.FieldsFunc(t.After, func(c rune) bool { return c == '\n' })
}

// Text writes a report for a terminal: what matters most comes first.
func Text(w io.Writer, r *Report) error {
	var buf bytes.Buffer
	fmt.Fprintf(&buf, "%s\n%s\n", console.Inline(headline(r)), console.Inline(Result(r)))
	for _, lines := range outcomes(r) {
		for i, line := range lines {
			buf.WriteString(strings.Repeat("  ", min(i+1, 2)) + console.Inline(line) + "\n")
		}
	}
	for _, t := range allTables(r) {
		buf.WriteString("\n" + console.Inline(t.Heading) + "\n")
		t.print(&buf)
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// print prints the rows of a table and the sentences below them.
func (t Table) print(buf *bytes.Buffer) {
	table := console.Table{Texts: t.Texts}
	table.Add(t.Head...)
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = console.Inline(cell)
		}
		if t.Head == nil {
			buf.WriteString(strings.Join(cells, "\n    ") + "\n")
		} else {
			table.Add(cells...)
		}
	}
	if t.Head != nil {
		table.Print(buf)
	}
	if t.After != "" {
		buf.WriteString(t.After + "\n")
	}
}

// Markdown writes a report for a comment on a pull request: what matters most, and the
// tables folded below it.
func Markdown(w io.Writer, r *Report) error {
	var buf bytes.Buffer
	fmt.Fprintf(&buf, "**%s**: %s\n", markdown.Text(headline(r)), markdown.Text(Result(r)))
	if lines := outcomes(r); len(lines) > 0 {
		buf.WriteString("\n")
		for _, line := range lines {
			fmt.Fprintf(&buf, "- %s\n", markdown.Text(strings.Join(line, "; ")))
		}
	}
	buf.WriteString("\n<details>\n<summary>What happened</summary>\n")
	for _, t := range allTables(r) {
		fmt.Fprintf(&buf, "\n**%s**\n\n", markdown.Text(t.Heading))
		writeTable(&buf, t)
		for line := range strings.Lines(t.After) {
			fmt.Fprintf(&buf, "\n%s\n", markdown.Text(line))
		}
	}
	buf.WriteString("\n</details>\n")
	_, err := w.Write(buf.Bytes())
	return err
}

// writeTable writes the rows of a table: a table, or a list without a head.
func writeTable(buf *bytes.Buffer, t Table) {
	if t.Head == nil {
		for _, row := range t.Rows {
			fmt.Fprintf(buf, "- %s\n", markdown.Text(strings.Join(row, "; ")))
		}
		return
	}
	rules := make([]string, len(t.Head))
	for i := range t.Head {
		rules[i] = "---"
		if i >= t.Texts {
			rules[i] = "--:"
		}
	}
	fmt.Fprintf(buf, "| %s |\n| %s |\n", strings.Join(t.Head, " | "), strings.Join(rules, " | "))
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = strings.ReplaceAll(string(markdown.Text(cell)), "|", `\|`)
		}
		fmt.Fprintf(buf, "| %s |\n", strings.Join(cells, " | "))
	}
}

// headline says what was rehearsed.
func headline(r *Report) string {
	out := fmt.Sprintf("rehearsal %s of %s: %s, %s", r.Rehearsal, r.Platform, words.Span(r.Until),
		words.Count(r.Total.Submitted, "job"))
	if r.ReversedTies {
		out += ", ties reversed"
	}
	if decided := r.Scheduler.Version; decided != r.Installed {
		out += ", decided by " + r.Scheduler.Title() + " in place of " + r.Installed
	}
	return out
}

// Result says in one line whether everything is as expected.
func Result(r *Report) string {
	met, undecided := 0, 0
	for _, v := range r.Verdicts {
		switch {
		case v.Met:
			met++
		case v.Undecided:
			undecided++
		}
	}
	var out string
	switch n := len(r.Verdicts); {
	case len(r.Differences) > 0:
		out = words.Plural(len(r.Differences), "number differs from what the demonstration expects",
			"numbers differ from what the demonstration expects")
	case len(r.Phases) > 0:
		out = "every phase ends as the demonstration expects"
	case n == 0:
		out = "nothing is expected"
	case met == n:
		out = "everything is as expected"
	default:
		out = fmt.Sprintf("%d of %s met", met, words.Plural(n, "expectation is", "expectations are"))
		if undecided > 0 {
			out += fmt.Sprintf(", %d undecided", undecided)
		}
	}
	if r.Interrupted {
		out = "interrupted after " + words.Span(r.End) + "; until then " + out
	}
	return out
}

// outcomes say what has become of each expectation, first those that are not met, and which
// numbers of phases differ, each in one or more lines.
func outcomes(r *Report) [][]string {
	var out [][]string
	order := []string{stateUnmet, stateUndecided, stateMet}
	verdicts := slices.SortedStableFunc(slices.Values(r.Verdicts), func(a, b Verdict) int {
		return cmp.Compare(slices.Index(order, a.State()), slices.Index(order, b.State()))
	})
	for _, v := range verdicts {
		lines := []string{v.State() + ": " + v.Message}
		if v.Longest != nil {
			lines = append(lines, waitLines(*v.Longest)...)
		}
		out = append(out, lines)
	}
	for _, d := range r.Differences {
		got := strconv.Itoa(d.Got)
		if d.Missing {
			got = "unknown"
		}
		out = append(out, []string{fmt.Sprintf("phase %s: %s: %s, expected %d", d.Phase, d.What, got, d.Want)})
	}
	return out
}

// allTables returns the tables and lists that Text and Markdown print.
func allTables(r *Report) []Table {
	return withRows(append(phaseTables(r), tierTable(r), teamTable(r, mostTeams), capacityTable(r), evictionList(r),
		waitingList(r), waitList(r))...)
}

// phaseTables shows the state after each phase.
func phaseTables(r *Report) []Table {
	var out []Table
	for _, phase := range r.Phases {
		t := Table{
			Heading: "after phase " + phase.Name, Texts: 1,
			Head: []string{"tier", "queues", "waiting jobs", "admitted jobs"},
		}
		for _, q := range phase.Queues {
			expected := QueueCounts{q.Pending, q.Admitted}
			if q.Expected != nil {
				expected = *q.Expected
			}
			t.Rows = append(t.Rows, []string{
				q.Tier, strconv.Itoa(q.Queues), countText(q.Pending, &expected.Pending),
				countText(q.Admitted, &expected.Admitted),
			})
		}
		var pods []string
		for _, p := range phase.Pods {
			pods = append(pods, p.Capacity+" "+countText(p.Count, p.Expected))
		}
		var sentences []string
		if len(pods) > 0 {
			sentences = append(sentences, "running pods: "+strings.Join(pods, ", "))
		}
		if phase.Pending > 0 || phase.ExpectedPending != nil {
			sentences = append(sentences, "pods that wait for nodes: "+countText(phase.Pending, phase.ExpectedPending))
		}
		t.After = strings.Join(sentences, "; ")
		out = append(out, t)
	}
	return out
}

// countText returns a count, with the expected one if it differs. nil means that nothing is
// expected.
func countText(got int, expected *int) string {
	if expected == nil || *expected == got {
		return strconv.Itoa(got)
	}
	return fmt.Sprintf("%d (expected %d)", got, *expected)
}

// units returns whether the report counts accelerator hours, vCPU hours, or both. A report
// without capacities counts accelerator hours.
func (r *Report) units() (accelerators, vcpus bool) {
	for _, c := range r.Capacities {
		accelerators, vcpus = accelerators || c.VCPU == nil, vcpus || c.VCPU != nil
	}
	return accelerators || !vcpus, vcpus
}

// jobsTable returns a table of jobs without rows. names are the columns with names.
func jobsTable(r *Report, heading string, names ...string) Table {
	t := Table{Heading: heading, Texts: len(names), Head: append(names,
		"jobs", "finished", "deleted", "admitted", "waiting", "evictions", "wait p50", "p95", "longest")}
	accelerators, vcpus := r.units()
	if accelerators {
		t.Head = append(t.Head, "hours", "lost")
	}
	if vcpus {
		t.Head = append(t.Head, "vCPU hours", "lost")
	}
	return t
}

// addJobs adds the row of a group to a table of jobs. names are the cells with names.
func (t *Table) addJobs(r *Report, g Group, names ...string) {
	row := append(names,
		strconv.Itoa(g.Submitted), strconv.Itoa(g.Finished), strconv.Itoa(g.Deleted), strconv.Itoa(g.Running),
		strconv.Itoa(g.Waiting), strconv.Itoa(g.Evictions), g.Wait.P50.String(), g.Wait.P95.String(),
		g.Wait.Max.String())
	accelerators, vcpus := r.units()
	if accelerators {
		row = append(row, hours(g.Used), hours(g.Lost))
	}
	if vcpus {
		row = append(row, hours(g.UsedVCPU), hours(g.LostVCPU))
	}
	t.Rows = append(t.Rows, row)
}

// hasBound reports whether a wait of the jobs is a lower bound.
func (g Group) hasBound() bool { return g.Wait.P50.AtLeast || g.Wait.P95.AtLeast || g.Wait.Max.AtLeast }

// tierTable shows the jobs of each tier.
func tierTable(r *Report) Table {
	t := jobsTable(r, "jobs by tier", "tier")
	for _, g := range r.Tiers {
		t.addJobs(r, g, g.Tier)
	}
	if len(r.Tiers) > 1 {
		t.addJobs(r, r.Total, "all")
	}
	var counted []string
	accelerators, vcpus := r.units()
	if accelerators {
		counted = append(counted, "hours: accelerator hours of running pods")
	}
	if vcpus {
		counted = append(counted, "vCPU hours: of pods on capacities without accelerators, by their requests")
	}
	t.After = strings.Join(append(counted, "lost: the part that has to be done again"), "; ")
	if r.Total.Stopped > 0 {
		t.After += "\nstopped: jobs that had started did not run for " + hours(r.Total.Stopped) +
			" hours in all, because nodes were lost; no wait contains this time"
	}
	if slices.ContainsFunc(r.Tiers, Group.hasBound) {
		t.After += "\n>=: some jobs had not started at the end, so the wait is at least this long"
	}
	return t
}

// mostTeams is the number of rows of the table of teams that text shows.
const mostTeams = 24

// teamTable shows the jobs of each team and tier. If they have more than most rows, it
// shows those with the longest waits.
func teamTable(r *Report, most int) Table {
	t := jobsTable(r, "jobs by team and tier", "team", "tier")
	groups := r.Teams
	if omitted := len(groups) - most; omitted > 0 {
		groups = slices.SortedStableFunc(slices.Values(groups), func(a, b Group) int {
			return cmp.Compare(b.Wait.P95.Seconds, a.Wait.P95.Seconds)
		})[:most]
		t.After = fmt.Sprintf("the longest waits; %s omitted, which the format json has\n",
			words.Plural(omitted, "row is", "rows are"))
	}
	for _, g := range groups {
		t.addJobs(r, g, g.Team, g.Tier)
	}
	if r.Fairness != nil {
		t.After += fmt.Sprintf("fairness: %.2f "+
			"(Jain's index of the hours, each team's divided by its guarantee; 1 is even)\n", *r.Fairness)
	}
	if r.VCPUFairness != nil {
		t.After += fmt.Sprintf("fairness of vCPU hours: %.2f "+
			"(Jain's index of the vCPU hours, each team's divided by its guarantee; 1 is even)", *r.VCPUFairness)
	}
	t.After = strings.TrimSuffix(t.After, "\n")
	return t
}

// capacityTable shows the use of the nodes.
func capacityTable(r *Report) Table {
	t := Table{Heading: "capacity", Texts: 1, Head: []string{"capacity"}}
	accelerators, vcpus := r.units()
	if vcpus {
		t.Texts, t.Head = 2, append(t.Head, "hours of")
	}
	t.Head = append(t.Head, "mean nodes", "most nodes", "hours", "used", "idle", "utilization", "of maximum")
	if r.Currency != "" {
		t.Head = append(t.Head, r.Currency)
	}
	for _, c := range r.Capacities {
		row := []string{c.Name}
		if vcpus {
			row = append(row, c.unit())
		}
		numbers := []string{fmt.Sprintf("%.1f", c.MeanNodes), strconv.Itoa(c.MostNodes), "", "", "", "", ""}
		if percent, known := c.Utilization(); known {
			times := c.times()
			copy(numbers[2:], []string{
				hours(times.Paid), hours(times.Used), hours(times.Paid - times.Used), fmt.Sprintf("%.0f%%", percent),
			})
		}
		if percent, known := c.OfMaximum(); known {
			numbers[6] = fmt.Sprintf("%.0f%%", percent)
		}
		row = append(row, numbers...)
		if r.Currency != "" {
			row = append(row, c.Cost)
		}
		t.Rows = append(t.Rows, row)
	}
	if r.Currency != "" && len(t.Rows) > 1 {
		all := make([]string, len(t.Head))
		all[0], all[len(all)-1] = "all", r.Cost
		t.Rows = append(t.Rows, all)
	}
	counted := "accelerator hours"
	switch {
	case vcpus && accelerators:
		counted = "accelerator or vCPU hours"
	case vcpus:
		counted = "vCPU hours"
	}
	t.After = "hours: " + counted + " of the nodes that existed; utilization: the used part of these\n" +
		"of maximum: the used part of what the most nodes would give, had they existed all the time"
	return t
}

// unit returns what the hours of a capacity count.
func (c Capacity) unit() string {
	if c.VCPU != nil {
		return "vCPUs"
	}
	return "accelerators"
}

// mostRows is the number of rows of each table below that text shows. JSON has all.
const mostRows = 10

// evictionList shows who was evicted for whom.
func evictionList(r *Report) Table {
	t := Table{Heading: "evictions"}
	for _, e := range r.Evictions[:min(len(r.Evictions), mostRows)] {
		line := fmt.Sprintf("%s of %s %s", words.Count(e.Count, "eviction"), e.Team, e.Tier)
		if e.ByTeam != "" {
			line += fmt.Sprintf(", for jobs of %s %s", e.ByTeam, e.ByTier)
		}
		line += fmt.Sprintf(" (%s)", e.Reason)
		t.Rows = append(t.Rows, []string{line})
	}
	return t
}

// waitingList shows the jobs that have never had quota.
func waitingList(r *Report) Table {
	t := Table{Heading: "jobs that have never had quota"}
	for _, w := range r.Waiting[:min(len(r.Waiting), mostRows)] {
		t.Rows = append(t.Rows, []string{fmt.Sprintf("%s of %s, %s, up to %s: %s", words.Count(w.Count, "job"),
			w.Team, w.Workload, words.Span(w.Longest), w.Why)})
	}
	return t
}

// waitList shows the longest waits.
func waitList(r *Report) Table {
	t := Table{Heading: "longest waits"}
	for _, w := range r.Waits[:min(len(r.Waits), mostRows/2)] {
		t.Rows = append(t.Rows, waitLines(w))
	}
	return t
}

// waitLines describes a wait: how long, why, and who held the accelerators or the vCPUs.
func waitLines(w Wait) []string {
	first := fmt.Sprintf("%s of %s %s, submitted at %s: %s", w.Job, w.Team, w.Tier, words.Span(w.At),
		words.Span(w.Seconds))
	if nodes := w.Seconds - w.Quota; nodes > 0 {
		first += ", " + words.Span(nodes) + " of it for nodes"
	}
	switch {
	case w.Deleted:
		first += ", until it was deleted"
	case !w.Started:
		first += ", and it still waits"
	}
	lines := []string{first}
	if w.Quota > 0 {
		lines = append(lines, w.Why)
	}
	var holders []string
	unit := "accelerators"
	for _, h := range w.Holders {
		held := strconv.Itoa(h.Accelerators)
		if h.VCPUs > 0 {
			unit, held = "vCPUs", strconv.FormatFloat(h.VCPUs, 'f', -1, 64)
		}
		holders = append(holders, held+" by "+h.Team+" "+h.Tier)
	}
	if len(holders) > 0 {
		lines = append(lines, unit+" with quota meanwhile, the largest shares: "+strings.Join(holders, ", "))
	}
	return lines
}

// String returns the time in two units, with ">=" in front of a lower bound.
func (b Bound) String() string {
	if b.AtLeast {
		return ">=" + words.Span(b.Seconds)
	}
	return words.Span(b.Seconds)
}

// hours returns seconds as hours.
func hours(seconds int64) string { return strconv.FormatFloat(float64(seconds)/3600, 'f', 1, 64) }
