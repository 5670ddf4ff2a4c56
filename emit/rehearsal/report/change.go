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
	var order []group
	sides := map[group]*GroupChange{}
	for side, r := range []*Report{after, before} {
		for _, g := range r.Teams {
			name := group{g.Team, g.Tier}
			if sides[name] == nil {
				sides[name] = &GroupChange{Team: g.Team, Tier: g.Tier}
				order = append(order, name)
			}
			if side == 0 {
				sides[name].After = r.sideOf(g)
			} else {
				sides[name].Before = r.sideOf(g)
			}
		}
	}
	out := []GroupChange{}
	for _, name := range order {
		if c := sides[name]; !slices.Equal(c.Before.texts(), c.After.texts()) {
			out = append(out, *c)
		}
	}
	return out
}

// sideOf returns the side of a change that is a group of the report.
func (r *Report) sideOf(g Group) GroupSide {
	side := GroupSide{Jobs: g.Submitted, Wait: g.Wait.P95, Longest: g.Wait.Max}
	if r.End > 0 {
		days := float64(r.End) / (24 * 60 * 60)
		side.Evictions, side.Hours = float64(g.Evictions)/days, float64(g.Used)/(60*60)/days
		side.VCPUHours = float64(g.UsedVCPU) / (60 * 60) / days
	}
	return side
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
	changes := map[string]*CapacityChange{}
	for side, r := range []*Report{before, after} {
		for _, c := range r.Capacities {
			if changes[c.Name] == nil {
				changes[c.Name] = &CapacityChange{Name: c.Name}
			}
			percent, known := c.Utilization()
			switch {
			case !known:
			case side == 0:
				changes[c.Name].Before = &percent
			default:
				changes[c.Name].After = &percent
			}
		}
	}
	out := []CapacityChange{}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if c := changes[name]; percentText(c.Before) != percentText(c.After) {
			out = append(out, *c)
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
	for i, number := range []struct {
		format        string
		before, after float64
		unit          float64
		worse         bool // if the number rises
	}{
		{"jobs of %s %s", float64(b.Jobs), float64(a.Jobs), 1, false},
		{"p95 wait of %s %s", float64(b.Wait.Seconds), float64(a.Wait.Seconds), 60, true},
		{"longest wait of %s %s", float64(b.Longest.Seconds), float64(a.Longest.Seconds), 60, true},
		{"evictions of %s %s a day", b.Evictions, a.Evictions, 1, true},
		{"accelerator hours of %s %s a day", b.Hours, a.Hours, 1, false},
		{"vCPU hours of %s %s a day", b.VCPUHours, a.VCPUHours, 1, false},
	} {
		if before[i] == after[i] {
			continue
		}
		l := changeLine{
			text: g.Team + ": " + fmt.Sprintf(number.format, g.Tier, arrow(before[i], after[i])), rank: rankOther,
			ratio: ratio(number.before, number.after, number.unit),
		}
		if number.worse && number.after > number.before {
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
	for _, t := range c.tables() {
		body := new(markdown.Document)
		body.Table(t.head, t.rows[:min(len(t.rows), mostTeams)])
		if hidden := len(t.rows) - mostTeams; hidden > 0 {
			body.Para("and ", markdown.Markup(words.Count(hidden, "more row")))
		}
		d.Fold("<b>"+t.title+"</b>", body)
	}
}

// changeTable is a table of FoldTables.
type changeTable struct {
	title string
	head  []markdown.Markup
	rows  [][]markdown.Markup
}

// add adds a row.
func (t *changeTable) add(cells ...string) {
	row := make([]markdown.Markup, len(cells))
	for i, cell := range cells {
		row[i] = markdown.Text(cell)
	}
	t.rows = append(t.rows, row)
}

// tables returns the tables of the change, some of which have no rows.
func (c *Change) tables() []changeTable {
	verdicts := changeTable{title: "Expectations", head: []markdown.Markup{"expectation", "verdict", "seen"}}
	for _, v := range c.Verdicts {
		verdicts.add(v.Name, arrow(v.Before, v.After), v.Message)
	}
	capacities := changeTable{title: "Capacities", head: []markdown.Markup{"capacity", "utilization"}}
	for _, u := range c.Capacities {
		capacities.add(u.Name, arrow(percentText(u.Before), percentText(u.After)))
	}
	return []changeTable{verdicts, c.groupTable(), capacities}
}

// groupTable returns the table of the groups. It omits the vCPU hours if nobody used any, and
// otherwise the accelerator hours if nobody used any of these.
func (c *Change) groupTable() changeTable {
	t := changeTable{title: "Teams"}
	used := func(hours func(GroupSide) float64) bool {
		return slices.ContainsFunc(c.Groups, func(g GroupChange) bool { return hours(g.Before)+hours(g.After) > 0 })
	}
	vcpus := used(func(s GroupSide) float64 { return s.VCPUHours })
	accelerators := !vcpus || used(func(s GroupSide) float64 { return s.Hours })
	t.head = []markdown.Markup{"team", "tier", "jobs", "wait p95", "longest wait", "evictions a day"}
	if accelerators {
		t.head = append(t.head, "hours a day")
	}
	if vcpus {
		t.head = append(t.head, "vCPU hours a day")
	}
	for _, g := range c.Groups {
		row, after := []string{g.Team, g.Tier}, g.After.texts()
		for i, before := range g.Before.texts() {
			if i == len(after)-2 && !accelerators || i == len(after)-1 && !vcpus {
				continue
			}
			row = append(row, arrow(before, after[i]))
		}
		t.add(row...)
	}
	return t
}
