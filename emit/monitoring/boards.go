package monitoring

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/compiler/words"
)

// Board is one dashboard, independent of its format.
type Board struct {
	File        string // name of its files, without folder and extension
	Title       string
	Description string
	Variables   []Variable
	Sections    []Section
}

// Section is a titled group of panels.
type Section struct {
	Name   string // in the blueprint, "" for a section of a team's board
	Title  string
	Folded bool // the board opens with the section's title alone
	Panels []Panel
}

// Panel is one chart.
type Panel struct {
	Title   string
	Note    string // what to know before reading it, or ""
	Shape   Shape
	Unit    Unit
	Queries []Query
	// Thresholds are sorted by their values.
	Thresholds []Threshold
	// SortBy is the name of the query by which a table is sorted, or "". The largest
	// value is first, unless Ascending is set.
	SortBy    string
	Ascending bool

	skip bool // the platform has nothing to show here
}

// newPanel returns a panel. Its methods below add what few panels have.
func newPanel(title, note string, shape Shape, unit Unit, queries ...Query) Panel {
	return Panel{Title: title, Note: note, Shape: shape, Unit: unit, Queries: queries}
}

// when returns the panel for platforms on which there is something to show.
func (p Panel) when(present bool) Panel {
	p.skip = !present
	return p
}

// warns returns the panel with thresholds.
func (p Panel) warns(thresholds []Threshold) Panel {
	p.Thresholds = thresholds
	return p
}

// sortedBy returns a table that is sorted by a query, the largest value first unless it is
// ascending.
func (p Panel) sortedBy(query string, ascending bool) Panel {
	p.SortBy, p.Ascending = query, ascending
	return p
}

// Query selects a set of series of a panel.
type Query struct {
	Name string   // distinguishes the queries of one panel, "" for the only one
	By   []string // labels that distinguish the series of the query
	// Dashed marks series with which the reader compares the panel's other series.
	Dashed bool

	expr string // PromQL with placeholders; see Notation.fill
}

// Threshold is a value from which the figure of a panel needs attention.
type Threshold struct {
	From     float64
	Critical bool // the figure is an error, and not only a warning
}

// Thresholds that several panels have.
var (
	// Figures are whole numbers. A threshold between them is the same for a format
	// that compares with "at least" and for one that compares with "above".
	anyIsWarning  = []Threshold{{From: 0.5}}
	anyIsCritical = []Threshold{{From: 0.5, Critical: true}}
	waitsTooLong  = []Threshold{{From: longWait}}
)

// Shape is the form of a panel.
type Shape int

// The shapes of a panel.
const (
	Number Shape = iota
	Gauge        // of a share between 0 and 1
	Lines
	Stack
	Table // one column for each query
	// Heatmap shows the distribution of the values of its only query's series.
	Heatmap
)

// Unit is the notation of a unit: for Grafana, and for Cloud Monitoring, which uses
// the Unified Code for Units of Measure.
type Unit struct {
	Grafana, UCUM string
	Whole         bool // figures are whole numbers
}

var (
	amount       = Unit{Grafana: "short", UCUM: "1"}
	bytes        = Unit{Grafana: "bytes", UCUM: "By"}
	count        = Unit{Grafana: "locale", UCUM: "1", Whole: true}
	seconds      = Unit{Grafana: "s", UCUM: "s"}
	milliseconds = Unit{Grafana: "ms", UCUM: "ms"}
	percent      = Unit{Grafana: "percent", UCUM: "%"}
	share        = Unit{Grafana: "percentunit", UCUM: "10^2.%"}
	perSecond    = Unit{Grafana: "short", UCUM: "1/s"}
	// waiting is in seconds. Grafana shows it as hours, minutes and seconds: in its unit
	// of seconds, the marks of an axis are numbers such as 33.3 minutes.
	waiting = Unit{Grafana: "dthms", UCUM: "s"}
)

// Boards returns the dashboards of a platform: those for administrators, and one for a
// team, which the reader chooses.
func Boards(p *ir.Platform) []Board {
	s := schedulerOf(p)
	description := "Quota, queues and accelerators of platform " + p.Name + ". The data source must be a Prometheus " +
		"that scrapes " + words.And(kinds.WithControllers(p.Scheduler.Facts().Name)) + ". Panels on nodes, pods and " +
		"reservations need Google Managed Prometheus."
	boards := EmptyBoards(p)
	sections := adminSections(p)
	for i := range boards {
		b := &boards[i]
		b.Description, b.Variables = description, s.adminVariables(p)
		if b.File == ir.TeamBoard {
			b.Variables, b.Sections = append(b.Variables, s.teamVariables(p)...), teamSections(p)
			continue
		}
		b.Sections = sectionsNamed(sections, p.Monitoring.Boards[i].Sections)
	}
	return boards
}

// EmptyBoards returns the boards with nothing but their files and titles.
func EmptyBoards(p *ir.Platform) []Board {
	var boards []Board
	for _, b := range p.Monitoring.Boards {
		boards = append(boards, Board{File: b.Name, Title: b.Title})
	}
	return append(boards, Board{File: ir.TeamBoard, Title: ir.BoardTitle(p.Name, ir.TeamBoard)})
}

// sectionsNamed returns the sections of a board in its order. The first one is open.
func sectionsNamed(all []Section, names []string) []Section {
	var out []Section
	for _, name := range names {
		for _, s := range all {
			if s.Name == name {
				s.Folded = s.Folded && out != nil
				out = append(out, s)
			}
		}
	}
	return out
}

// onKueue reports whether the panel shows Kueue's own metrics.
func (p Panel) onKueue() bool {
	return slices.ContainsFunc(p.Queries, func(q Query) bool { return strings.Contains(q.expr, "@kueue") })
}

// PromQL returns the query in a notation.
func (q Query) PromQL(n Notation) string { return n.fill(q.expr) }

// Named returns the query with a label "series" that holds the name of the query.
func (q Query) Named() Query {
	q.expr = `label_replace(` + q.expr + `, "series", ` + strconv.Quote(q.Name) + `, "", "")`
	return q
}

// Bands returns a panel that stands for a heatmap of percentages in a format that
// cannot draw one: the number of series in each band of values, as a stack with the
// lowest band at the bottom.
func (p Panel) Bands() Panel {
	series := `(` + p.Queries[0].expr + `)`
	bands := []Query{{Name: "below 20%", expr: `count(` + series + ` < 20) or vector(0)`}}
	for from := 20; from < 100; from += 20 {
		name, expr := fmt.Sprintf("%d%% to %d%%", from, from+20), fmt.Sprintf("%s >= %d", series, from)
		if from+20 < 100 {
			expr = fmt.Sprintf("(%s) < %d", expr, from+20)
		}
		bands = append(bands, Query{Name: name, expr: `count(` + expr + `) or vector(0)`})
	}
	p.Shape, p.Unit, p.Queries = Stack, count, bands
	return p
}
