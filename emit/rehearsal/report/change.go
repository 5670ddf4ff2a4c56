package report

import (
	"cmp"
	"fmt"
	"io"
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
	Groups     []GroupChange    `json:"groups"`     // as Report.Groups after the change, then those that are gone
	Capacities []CapacityChange `json:"capacities"` // by name
	// Interrupted reports whether one of the rehearsals was interrupted, so that its
	// numbers are those of a shorter time.
	Interrupted bool `json:"interrupted"`
}

// VerdictChange is a change between met, not met and undecided.
type VerdictChange struct {
	// Name is "expect[0]" for the first expectation, or "phase fill" for a phase of the
	// demonstration.
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
	Jobs int    `json:"jobs"`
	Wait Length `json:"waitP95"` // as in Group
	// Evictions and Hours of accelerators are per day of the rehearsal.
	Evictions float64 `json:"evictionsPerDay"`
	Hours     float64 `json:"acceleratorHoursPerDay"`
}

// CapacityChange is the change of the utilization of a capacity, as in Capacity. nil means
// that the capacity does not exist, or had no accelerators.
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
			if a.Index == b.Index && a.label() != b.label() {
				out = append(out, VerdictChange{a.name(), b.label(), a.label(), a.Message})
			}
		}
	}
	for _, a := range after.Phases {
		for _, b := range before.Phases {
			if a.Name == b.Name && a.label() != b.label() {
				change := VerdictChange{Name: "phase " + a.Name, Before: b.label(), After: a.label()}
				if len(a.Differences) > 0 {
					change.Message = words.Count(len(a.Differences), "difference")
				}
				out = append(out, change)
			}
		}
	}
	return out
}

// label returns "met", "not met" or "undecided" for a phase.
func (p Phase) label() string {
	switch {
	case len(p.Differences) == 0:
		return labelMet
	case p.Reached:
		return labelUnmet
	}
	return labelUndecided
}

// groupName identifies a group.
type groupName struct{ team, tier string }

func compareGroups(before, after *Report) []GroupChange {
	var order []groupName
	sides := map[groupName]*GroupChange{}
	for _, r := range []*Report{after, before} {
		for _, g := range r.Groups {
			name := groupName{g.Team, g.Tier}
			if sides[name] == nil {
				sides[name] = &GroupChange{Team: g.Team, Tier: g.Tier}
				order = append(order, name)
			}
			if r == after {
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
	side := GroupSide{Jobs: g.Submitted, Wait: g.Wait.P95}
	if r.End > 0 {
		days := float64(r.End) / (24 * 60 * 60)
		side.Evictions, side.Hours = float64(g.Evictions)/days, float64(g.Used)/(60*60)/days
	}
	return side
}

// texts returns the numbers of a side as they are printed.
func (s GroupSide) texts() []string {
	if s.Jobs == 0 {
		return []string{"0", "-", "-", "-"}
	}
	return []string{strconv.Itoa(s.Jobs), s.Wait.String(), oneDecimal(s.Evictions), oneDecimal(s.Hours)}
}

func oneDecimal(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

func compareCapacities(before, after *Report) []CapacityChange {
	names := map[string]*CapacityChange{}
	out := []CapacityChange{}
	for _, r := range []*Report{before, after} {
		for _, c := range r.Capacities {
			if names[c.Name] == nil {
				names[c.Name] = &CapacityChange{Name: c.Name}
			}
			if r == before {
				names[c.Name].Before = c.Utilization
			} else {
				names[c.Name].After = c.Utilization
			}
		}
	}
	for _, c := range names {
		if utilizationText(c.Before) != utilizationText(c.After) {
			out = append(out, *c)
		}
	}
	slices.SortFunc(out, func(a, b CapacityChange) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// utilizationText returns a percentage, rounded down as percentText does.
func utilizationText(percent *float64) string {
	if percent == nil {
		return "-"
	}
	return oneDecimal(math.Floor(*percent*10)/10) + "%"
}

// arrow returns two texts with an arrow between them, or one if they are equal.
func arrow(before, after string) string {
	if before == after {
		return before
	}
	return before + " -> " + after
}

// Lines returns the changes that matter most, at most n: first the verdicts, those that
// are not met any more before the others, then the numbers that differ most in
// proportion. A line has no full stop.
func (c *Change) Lines(n int) []string {
	type line struct {
		text  string
		score float64
	}
	var lines []line
	for _, v := range c.Verdicts {
		l := line{text: fmt.Sprintf("%s: %s", v.Name, arrow(v.Before, v.After)), score: math.MaxFloat64}
		if v.Message != "" {
			l.text += ": " + v.Message
		}
		if v.After == labelUnmet {
			l.score = math.Inf(1)
		}
		lines = append(lines, l)
	}
	for _, g := range c.Groups {
		b, a := g.Before, g.After
		before, after := b.texts(), a.texts()
		if b.Jobs == 0 || a.Jobs == 0 {
			continue // no change of the platform alone
		}
		for i, l := range []line{
			{"jobs of %s %s", ratio(float64(b.Jobs), float64(a.Jobs), 1)},
			{"p95 wait of %s %s", ratio(float64(b.Wait.Seconds), float64(a.Wait.Seconds), 60)},
			{"evictions of %s %s a day", ratio(b.Evictions, a.Evictions, 1)},
			{"accelerator hours of %s %s a day", ratio(b.Hours, a.Hours, 1)},
		} {
			if before[i] != after[i] {
				l.text = g.Team + ": " + fmt.Sprintf(l.text, g.Tier, arrow(before[i], after[i]))
				lines = append(lines, l)
			}
		}
	}
	for _, u := range c.Capacities {
		l := line{text: u.Name + ": utilization " + arrow(utilizationText(u.Before), utilizationText(u.After))}
		if u.Before != nil && u.After != nil {
			l.score = ratio(*u.Before, *u.After, 1)
		}
		lines = append(lines, l)
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.score, a.score) })
	var out []string
	for _, l := range lines[:min(n, len(lines))] {
		out = append(out, l.text)
	}
	return out
}

// ratio returns how much two numbers differ in proportion, 0 if they are equal. Numbers
// much smaller than unit count as equal.
func ratio(before, after, unit float64) float64 {
	return math.Abs(math.Log((after + unit) / (before + unit)))
}

// topLines is the number of lines that stand above the folded tables.
const topLines = 3

// Markdown writes the change for a comment on a pull request: the lines that matter most,
// and folded tables of which long ones are cut.
func (c *Change) Markdown(w io.Writer) error {
	d := new(markdown.Document)
	if c.Interrupted {
		d.Para("One of the rehearsals was interrupted, so their numbers are those of different times.")
	}
	lines := c.Lines(topLines)
	if len(lines) == 0 {
		d.Para("The rehearsal has the same result.")
	} else {
		items := make([]markdown.Markup, len(lines))
		for i, l := range lines {
			items[i] = markdown.Text(l)
		}
		d.List(items...)
	}
	for _, s := range c.sections() {
		if len(s.rows) > 0 {
			d.Fold("<b>"+s.title+"</b>"+countRows(len(s.rows)), s.document())
		}
	}
	_, err := w.Write(d.Bytes())
	return err
}

// sections returns the tables of the change.
func (c *Change) sections() []section {
	verdicts := section{title: "Expectations", head: []string{"expectation", "before -> after", "seen"}}
	for _, v := range c.Verdicts {
		verdicts.rows = append(verdicts.rows, []string{v.Name, arrow(v.Before, v.After), v.Message})
	}
	groups := section{
		title: "Teams", head: []string{"team", "tier", "jobs", "wait p95", "evictions a day", "accel. h a day"},
	}
	for _, g := range c.Groups {
		row := []string{g.Team, g.Tier}
		after := g.After.texts()
		for i, before := range g.Before.texts() {
			row = append(row, arrow(before, after[i]))
		}
		groups.rows = append(groups.rows, row)
	}
	capacities := section{title: "Capacities", head: []string{"capacity", "utilization"}}
	for _, u := range c.Capacities {
		capacities.rows = append(capacities.rows, []string{
			u.Name, arrow(utilizationText(u.Before), utilizationText(u.After)),
		})
	}
	return []section{verdicts, groups, capacities}
}
