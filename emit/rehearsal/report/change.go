package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/markdown"
)

// Change is what differs between the rehearsals of two platforms. Lists are never nil, and
// hold only what differs.
type Change struct {
	Verdicts   []VerdictChange  `json:"verdicts"`   // expectations, then phases
	Groups     []GroupChange    `json:"groups"`     // as Report.Teams after the change, then those that are gone
	Capacities []CapacityChange `json:"capacities"` // by name
	// Interrupted reports whether one of the rehearsals was interrupted, so that its
	// numbers are those of a shorter time.
	Interrupted bool `json:"interrupted"`
}

// VerdictChange is a change between met, not met and undecided.
type VerdictChange struct {
	// Name is what the expectation says, or "phase fill" for a phase of the demonstration.
	Name    string `json:"name"`
	Before  string `json:"before"` // "met", "not met" or "undecided"
	After   string `json:"after"`
	Message string `json:"message"` // what was seen after the change
}

// GroupChange is the change of a team's tier. A side without jobs has only zeros.
type GroupChange struct {
	Team   string    `json:"team"`
	Tier   string    `json:"tier"`
	Before GroupSide `json:"before"`
	After  GroupSide `json:"after"`
}

// GroupSide is one side of a GroupChange.
type GroupSide struct {
	Jobs    int   `json:"jobs"`
	Wait    Bound `json:"waitP95"` // as in Group, and so is Longest
	Longest Bound `json:"waitLongest"`
	// Evictions, Hours of accelerators and VCPUHours are per day of the rehearsal.
	Evictions float64 `json:"evictionsPerDay"`
	Hours     float64 `json:"acceleratorHoursPerDay"`
	VCPUHours float64 `json:"vcpuHoursPerDay,omitempty"`
}

// CapacityChange is the change of the utilization of a capacity, as in Capacity. nil means
// that the capacity does not exist, or had no nodes.
type CapacityChange struct {
	Name   string   `json:"name"`
	Before *float64 `json:"before"`
	After  *float64 `json:"after"`
}

// Compare returns what differs between two reports of the same rehearsal. Expectations
// correspond by their index, phases and capacities by their names.
func Compare(before, after *Report) *Change {
	return &Change{
		Verdicts: compareVerdicts(before, after), Groups: compareGroups(before, after),
		Capacities: compareCapacities(before, after), Interrupted: before.Interrupted || after.Interrupted,
	}
}

func compareVerdicts(before, after *Report) []VerdictChange {
	out := []VerdictChange{}
	for _, a := range after.Verdicts {
		for _, b := range before.Verdicts {
			if a.Index == b.Index && a.State() != b.State() {
				out = append(out, VerdictChange{a.Expects, b.State(), a.State(), a.Message})
			}
		}
	}
	for _, a := range after.Phases {
		inBefore := func(b Phase) bool { return a.Name == b.Name }
		was, _ := before.phaseState(a.Name)
		is, differences := after.phaseState(a.Name)
		if was == is || !slices.ContainsFunc(before.Phases, inBefore) {
			continue
		}
		change := VerdictChange{Name: "phase " + a.Name, Before: was, After: is}
		if differences > 0 {
			change.Message = words.Plural(differences, "number differs", "numbers differ")
		}
		out = append(out, change)
	}
	return out
}

// The states of an expectation and of a phase.
const (
	stateMet       = "met"
	stateUnmet     = "not met"
	stateUndecided = "undecided"
)

// State returns "met", "not met" or "undecided".
func (v Verdict) State() string {
	switch {
	case v.Met:
		return stateMet
	case v.Undecided:
		return stateUndecided
	}
	return stateUnmet
}

// phaseState returns the state of a phase of the demonstration, and how many numbers
// differ from what the phase expects.
func (r *Report) phaseState(name string) (state string, differences int) {
	state = stateMet
	for _, d := range r.Differences {
		switch {
		case d.Phase != name:
			continue
		case !d.Missing:
			state = stateUnmet
		case state == stateMet:
			state = stateUndecided
		}
		differences++
	}
	return state, differences
}

func compareGroups(before, after *Report) []GroupChange {
	was, is := before.sides(), after.sides()
	out, seen := []GroupChange{}, map[group]bool{}
	for _, g := range slices.Concat(after.Teams, before.Teams) {
		name := group{g.Team, g.Tier}
		c := GroupChange{Team: g.Team, Tier: g.Tier, Before: was[name], After: is[name]}
		if !seen[name] && !slices.Equal(c.Before.texts(), c.After.texts()) {
			out = append(out, c)
		}
		seen[name] = true
	}
	return out
}

// sides returns the groups of the report as sides of changes.
func (r *Report) sides() map[group]GroupSide {
	out := map[group]GroupSide{}
	for _, g := range r.Teams {
		side := GroupSide{Jobs: g.Submitted, Wait: g.Wait.P95, Longest: g.Wait.Max}
		if r.End > 0 {
			days := float64(r.End) / (24 * 60 * 60)
			side.Evictions, side.Hours = float64(g.Evictions)/days, float64(g.Used)/(60*60)/days
			side.VCPUHours = float64(g.UsedVCPU) / (60 * 60) / days
		}
		out[group{g.Team, g.Tier}] = side
	}
	return out
}

// sideNumbers are the numbers of a GroupSide, in the order of numbers and texts.
var sideNumbers = []struct {
	head  string // of the table's column
	line  string // format of a line
	unit  float64
	worse bool // if the number rises
}{
	{"jobs", "jobs of %s %s", 1, false},
	{"wait p95", "p95 wait of %s %s", 60, true},
	{"longest wait", "longest wait of %s %s", 60, true},
	{"evictions a day", "evictions of %s %s a day", 1, true},
	{"hours a day", "accelerator hours of %s %s a day", 1, false},
	{"vCPU hours a day", "vCPU hours of %s %s a day", 1, false},
}

// numbers returns the numbers of a side.
func (s GroupSide) numbers() []float64 {
	return []float64{
		float64(s.Jobs), float64(s.Wait.Seconds), float64(s.Longest.Seconds), s.Evictions, s.Hours, s.VCPUHours,
	}
}

// texts returns the numbers of a side as they are printed.
func (s GroupSide) texts() []string {
	if s.Jobs == 0 {
		return []string{"0", "-", "-", "-", "-", "-"}
	}
	return []string{
		strconv.Itoa(s.Jobs), s.Wait.String(), s.Longest.String(), oneDecimal(s.Evictions), oneDecimal(s.Hours),
		oneDecimal(s.VCPUHours),
	}
}

func oneDecimal(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

func compareCapacities(before, after *Report) []CapacityChange {
	was, is := before.utilizations(), after.utilizations()
	names := maps.Clone(was)
	maps.Copy(names, is)
	out := []CapacityChange{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if percentText(was[name]) != percentText(is[name]) {
			out = append(out, CapacityChange{name, was[name], is[name]})
		}
	}
	return out
}

// utilizations returns the utilization of each capacity that had nodes.
func (r *Report) utilizations() map[string]*float64 {
	out := map[string]*float64{}
	for _, c := range r.Capacities {
		if percent, known := c.Utilization(); known {
			out[c.Name] = &percent
		}
	}
	return out
}

// percentText returns a percentage, "-" for nil.
func percentText(percent *float64) string {
	if percent == nil {
		return "-"
	}
	return oneDecimal(*percent) + "%"
}

// arrow returns two texts with an arrow between them, or one if they are equal.
func arrow(before, after string) string {
	if before == after {
		return before
	}
	return before + " -> " + after
}

// The ranks of lines, the most important first.
const (
	rankUnmet   = iota // a verdict that is "not met" after the change
	rankVerdict        // any other verdict
	rankWorse          // a longer wait, or more evictions
	rankOther
)

// changeLine is one of Change.Lines.
type changeLine struct {
	text  string
	rank  int
	ratio float64 // how much the numbers differ in proportion
}

// Lines returns the changes that matter most, at most n: first verdicts, and before the
// others those that are not met any more; then longer waits and more evictions; then all
// other numbers. Of these, the numbers that differ most in proportion come first. A line
// has no full stop.
func (c *Change) Lines(n int) []string {
	var lines []changeLine
	for _, v := range c.Verdicts {
		l := changeLine{text: v.Name + ": " + arrow(v.Before, v.After), rank: rankVerdict}
		if v.Message != "" {
			l.text += ": " + v.Message
		}
		if v.After == stateUnmet {
			l.rank = rankUnmet
		}
		lines = append(lines, l)
	}
	for _, g := range c.Groups {
		lines = append(lines, g.lines()...)
	}
	for _, u := range c.Capacities {
		l := changeLine{
			text: u.Name + ": utilization " + arrow(percentText(u.Before), percentText(u.After)), rank: rankOther,
		}
		if u.Before != nil && u.After != nil {
			l.ratio = ratio(*u.Before, *u.After, 1)
		}
		lines = append(lines, l)
	}
	slices.SortStableFunc(lines, func(a, b changeLine) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.ratio, a.ratio))
	})
	var out []string
	for _, l := range lines[:min(n, len(lines))] {
		out = append(out, l.text)
	}
	return out
}

// lines returns a line for each number that differs. It returns none if one side has no
// jobs: the change then says who submits jobs, and nothing about waiting.
func (g GroupChange) lines() []changeLine {
	b, a := g.Before, g.After
	if b.Jobs == 0 || a.Jobs == 0 {
		return nil
	}
	var out []changeLine
	before, after := b.texts(), a.texts()
	for i, number := range sideNumbers {
		if before[i] == after[i] {
			continue
		}
		was, is := b.numbers()[i], a.numbers()[i]
		l := changeLine{
			text: g.Team + ": " + fmt.Sprintf(number.line, g.Tier, arrow(before[i], after[i])), rank: rankOther,
			ratio: ratio(was, is, number.unit),
		}
		if number.worse && is > was {
			l.rank = rankWorse
		}
		out = append(out, l)
	}
	return out
}

// ratio returns how much two numbers differ in proportion, 0 if they are equal. Numbers
// much smaller than unit count as equal.
func ratio(before, after, unit float64) float64 {
	return math.Abs(math.Log((after + unit) / (before + unit)))
}

// FoldTables adds the tables of the change to a document, folded. Long ones are cut.
func (c *Change) FoldTables(d *markdown.Document) {
	if c.Interrupted {
		d.Para("One of the rehearsals was interrupted, so their numbers are those of different times.")
	}
	var verdicts, capacities [][]string
	for _, v := range c.Verdicts {
		verdicts = append(verdicts, []string{v.Name, arrow(v.Before, v.After), v.Message})
	}
	for _, u := range c.Capacities {
		capacities = append(capacities, []string{u.Name, arrow(percentText(u.Before), percentText(u.After))})
	}
	foldTable(d, "Expectations", []markdown.Markup{"expectation", "verdict", "seen"}, verdicts)
	head, groups := c.groupTable()
	foldTable(d, "Teams", head, groups)
	foldTable(d, "Capacities", []markdown.Markup{"capacity", "utilization"}, capacities)
}

// foldTable adds a table, folded. Without rows it adds nothing.
func foldTable(d *markdown.Document, title string, head []markdown.Markup, rows [][]string) {
	var shown [][]markdown.Markup
	for _, row := range rows[:min(len(rows), mostTeams)] {
		cells := make([]markdown.Markup, len(row))
		for i, cell := range row {
			cells[i] = markdown.Text(cell)
		}
		shown = append(shown, cells)
	}
	body := new(markdown.Document)
	body.Table(head, shown)
	if hidden := len(rows) - mostTeams; hidden > 0 {
		body.Para("and ", markdown.Markup(words.Count(hidden, "more row")))
	}
	d.Fold("<b>"+title+"</b>", body)
}

// groupTable returns the table of the groups. It omits the vCPU hours if nobody used any, and
// otherwise the accelerator hours if nobody used any of these.
func (c *Change) groupTable() (head []markdown.Markup, rows [][]string) {
	used := func(hours func(GroupSide) float64) bool {
		return slices.ContainsFunc(c.Groups, func(g GroupChange) bool { return hours(g.Before)+hours(g.After) > 0 })
	}
	vcpus := used(func(s GroupSide) float64 { return s.VCPUHours })
	accelerators := !vcpus || used(func(s GroupSide) float64 { return s.Hours })
	omitted := map[string]bool{"hours a day": !accelerators, "vCPU hours a day": !vcpus}
	head = []markdown.Markup{"team", "tier"}
	for _, number := range sideNumbers {
		if !omitted[number.head] {
			head = append(head, markdown.Markup(number.head))
		}
	}
	for _, g := range c.Groups {
		row, before, after := []string{g.Team, g.Tier}, g.Before.texts(), g.After.texts()
		for i, number := range sideNumbers {
			if !omitted[number.head] {
				row = append(row, arrow(before[i], after[i]))
			}
		}
		rows = append(rows, row)
	}
	return head, rows
}
