package monitoring

import (
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// Board is one dashboard, independent of its format.
type Board struct {
	File        string // name of its files, without folder and extension
	Title       string
	Description string
	Variables   []Variable
	Sections    []Section
}

// TeamBoard is the file name of the dashboard for one team.
const TeamBoard = "team"

// Section is a titled group of panels.
type Section struct {
	Title  string
	Panels []Panel
}

// Panel is one chart.
type Panel struct {
	Title   string
	Note    string // what to know before reading it, or ""
	Shape   Shape
	Unit    Unit
	Queries []Query

	skip bool // the platform has nothing to show here
}

// Query selects a set of series of a panel.
type Query struct {
	Name string   // distinguishes the queries of one panel, "" for the only one
	By   []string // labels that distinguish the series of the query

	expr string // PromQL with placeholders; see Notation.replacer
}

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
type Unit struct{ Grafana, UCUM string }

var (
	count        = Unit{"short", "1"}
	seconds      = Unit{"s", "s"}
	milliseconds = Unit{"ms", "ms"}
	percent      = Unit{"percent", "%"}
	share        = Unit{"percentunit", "10^2.%"}
	perSecond    = Unit{"ops", "1/s"}
)

// Boards returns the dashboards of a platform: one for the administrator, and one for
// a team, which the reader chooses.
func Boards(p *ir.Platform) []Board {
	s := schedulerOf(p)
	description := "Quota, queues and accelerators of platform " + p.Name + ". The data source must be a Prometheus " +
		"that scrapes " + p.Scheduler.Facts().Name + " and JobSet. Panels on nodes, pods and " +
		"reservations need Google Managed Prometheus."
	return []Board{
		{
			File: "admin", Title: p.Name + ": platform", Description: description,
			Variables: s.adminVariables(p), Sections: adminSections(p),
		},
		{
			File: TeamBoard, Title: p.Name + ": team", Description: description,
			Variables: append(s.adminVariables(p), s.teamVariables(p)...), Sections: teamSections(p),
		},
	}
}

// onKueue reports whether the panel shows Kueue's own metrics.
func (p Panel) onKueue() bool {
	return slices.ContainsFunc(p.Queries, func(q Query) bool { return strings.Contains(q.expr, "@kueue") })
}

// PromQL returns the query in a notation.
func (q Query) PromQL(n Notation) string { return n.replacer().Replace(q.expr) }

// Named returns the query with a label "series" that holds the name of the query.
func (q Query) Named() Query {
	q.expr = `label_replace(` + q.expr + `, "series", ` + strconv.Quote(q.Name) + `, "", "")`
	return q
}

// Bands returns three queries for the distribution of the values of the query's
// series.
func (q Query) Bands() []Query {
	return []Query{
		{Name: "p5", expr: `quantile(0.05, ` + q.expr + `)`},
		{Name: "p50", expr: `quantile(0.50, ` + q.expr + `)`},
		{Name: "p95", expr: `quantile(0.95, ` + q.expr + `)`},
	}
}
