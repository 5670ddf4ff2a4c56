package dashboard

import (
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// cloudMatchers replaces placeholders in queries for Cloud Monitoring. There, ${x}
// stands for the whole matcher of a filter, and ${x.value} for its value.
var cloudMatchers = strings.NewReplacer(
	"@kueue", ir.MatchLeader+`,${cluster}`,
	"@scraped", `${cluster}`,
	"@system", `${cluster_name}`,
	"@resource", `${resource}`,
	"@queue", `${queue}`,
	"@team", `${team}`,
	"@namespace", `${team.value}`,
	"@window", `${__interval}`,
)

// The types below are the emitted part of google.monitoring.dashboard.v1.Dashboard.
// Their fields have the names of its REST documentation.

type cloudBoard struct {
	DisplayName      string        `json:"displayName"`
	DashboardFilters []cloudFilter `json:"dashboardFilters"`
	MosaicLayout     mosaic        `json:"mosaicLayout"`
}

// cloudFilter is a filter that the reader sets above the dashboard. It applies only
// to queries that use its variable.
type cloudFilter struct {
	LabelKey         string `json:"labelKey"`
	TemplateVariable string `json:"templateVariable"`
	StringValue      string `json:"stringValue,omitempty"`
	FilterType       string `json:"filterType"`
}

type mosaic struct {
	Columns int    `json:"columns"`
	Tiles   []tile `json:"tiles"`
}

type tile struct {
	XPos   int    `json:"xPos,omitempty"`
	YPos   int    `json:"yPos,omitempty"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Widget widget `json:"widget"`
}

// widget is one element of a dashboard. Exactly one of the pointers is set.
type widget struct {
	Title            string            `json:"title"`
	CollapsibleGroup *collapsibleGroup `json:"collapsibleGroup,omitempty"`
	Scorecard        *scorecard        `json:"scorecard,omitempty"`
	XYChart          *xyChart          `json:"xyChart,omitempty"`
	TimeSeriesTable  *timeSeriesTable  `json:"timeSeriesTable,omitempty"`
	Text             *text             `json:"text,omitempty"`
}

type collapsibleGroup struct {
	Collapsed bool `json:"collapsed,omitempty"`
}

type scorecard struct {
	TimeSeriesQuery timeSeriesQuery `json:"timeSeriesQuery"`
	GaugeView       *gaugeView      `json:"gaugeView,omitempty"`
	SparkChartView  *sparkChartView `json:"sparkChartView,omitempty"`
}

// gaugeView begins at 0. It has no lowerBound of 0, because the API drops it, and
// every Terraform plan would add it again.
type gaugeView struct {
	UpperBound float64 `json:"upperBound"`
}

type sparkChartView struct {
	SparkChartType string `json:"sparkChartType"`
}

type xyChart struct {
	DataSets []dataSet `json:"dataSets"`
	YAxis    axis      `json:"yAxis"`
}

type axis struct {
	Scale string `json:"scale"`
}

type timeSeriesTable struct {
	DataSets            []dataSet `json:"dataSets"`
	MetricVisualization string    `json:"metricVisualization"`
}

type dataSet struct {
	TimeSeriesQuery timeSeriesQuery `json:"timeSeriesQuery"`
	PlotType        string          `json:"plotType,omitempty"`
}

type timeSeriesQuery struct {
	PrometheusQuery string `json:"prometheusQuery"`
	UnitOverride    string `json:"unitOverride"`
}

type text struct {
	Content string `json:"content"`
	Format  string `json:"format"`
}

// cloudGrid is the number of Cloud Monitoring's 48 columns for each column of the
// layout's grid.
const cloudGrid = 2

// cloudDashboard renders a board for Cloud Monitoring: a group for each section, and
// below the groups the notes on the charts.
func cloudDashboard(p *ir.Platform, b board) cloudBoard {
	tiles := []tile{}
	line := 0
	for _, s := range b.sections {
		places, end := flow(s.panels, line)
		tiles = append(tiles,
			tileAt(box{0, line, columns, end - line}, widget{Title: s.title, CollapsibleGroup: &collapsibleGroup{}}))
		for i, panel := range s.panels {
			tiles = append(tiles, tileAt(places[i], cloudWidget(panel)))
		}
		line = end
	}
	if notes := cloudNotes(b.sections); notes != nil {
		tiles = append(tiles, tileAt(box{0, line, columns, 2 + len(notes)}, widget{
			Title: "About these charts",
			Text:  &text{Content: strings.Join(notes, "\n"), Format: "MARKDOWN"},
		}))
	}
	return cloudBoard{
		DisplayName:      b.title,
		DashboardFilters: cloudFilters(p, b),
		MosaicLayout:     mosaic{Columns: cloudGrid * columns, Tiles: tiles},
	}
}

// cloudFilters returns the filters of a board. The cluster has two filters, because
// scraped metrics call the label cluster and Cloud Monitoring's own metrics call it
// cluster_name.
func cloudFilters(p *ir.Platform, b board) []cloudFilter {
	filters := []cloudFilter{
		{LabelKey: "cluster", TemplateVariable: "cluster", StringValue: p.Name, FilterType: "RESOURCE_LABEL"},
		{LabelKey: "cluster_name", TemplateVariable: "cluster_name", StringValue: p.Name, FilterType: "RESOURCE_LABEL"},
	}
	filters = append(filters, schedulerOf(p).filters(p, b)...)
	if b.team {
		// Filter on the metric's own namespace label, because the namespace of the
		// scrape target is the scheduler's.
		filters = append(filters, cloudFilter{
			LabelKey: "exported_namespace", TemplateVariable: "team", StringValue: firstTeam(p),
			FilterType: "METRIC_LABEL",
		})
	}
	return filters
}

// kueueFilters returns the filter for the counted resource.
func kueueFilters(p *ir.Platform, _ board) []cloudFilter {
	return []cloudFilter{
		{
			LabelKey: "resource", TemplateVariable: "resource", StringValue: p.CountedResources()[0],
			FilterType: "METRIC_LABEL",
		},
	}
}

// kaiFilters returns the filter for the queue on a team's dashboard, and nil for
// other dashboards.
func kaiFilters(p *ir.Platform, b board) []cloudFilter {
	if !b.team {
		return nil
	}
	return []cloudFilter{
		{LabelKey: "queue_name", TemplateVariable: "queue", StringValue: firstQueue(p), FilterType: "METRIC_LABEL"},
	}
}

func cloudWidget(p panel) widget {
	w := widget{Title: p.title}
	switch p.shape {
	case number:
		w.Scorecard = &scorecard{
			TimeSeriesQuery: cloudQuery(p.unit, p.queries[0].expr), SparkChartView: &sparkChartView{"SPARK_LINE"},
		}
	case gauge:
		w.Scorecard = &scorecard{TimeSeriesQuery: cloudQuery(p.unit, p.queries[0].expr), GaugeView: &gaugeView{1}}
	case table:
		w.TimeSeriesTable = &timeSeriesTable{DataSets: cloudDataSets(p, p.queries, ""), MetricVisualization: "NUMBER"}
	case stack:
		w.XYChart = &xyChart{DataSets: cloudDataSets(p, p.queries, "STACKED_AREA"), YAxis: axis{"LINEAR"}}
	case heatmap:
		w.XYChart = &xyChart{DataSets: cloudDataSets(p, bands(p.queries[0]), "LINE"), YAxis: axis{"LINEAR"}}
	default:
		w.XYChart = &xyChart{DataSets: cloudDataSets(p, p.queries, "LINE"), YAxis: axis{"LINEAR"}}
	}
	return w
}

// bands replaces a query by three queries for the spread of its series. Cloud
// Monitoring draws heatmaps only for distributions, which PromQL cannot derive from
// gauges.
func bands(q query) []query {
	return []query{
		{name: "p5", expr: `quantile(0.05, ` + q.expr + `)`},
		{name: "p50", expr: `quantile(0.50, ` + q.expr + `)`},
		{name: "p95", expr: `quantile(0.95, ` + q.expr + `)`},
	}
}

// cloudDataSets returns a data set for each query. If there are several queries, a
// label names the query of each series: a legend shows only labels, and without it
// the queries cannot be told apart.
func cloudDataSets(p panel, queries []query, plot string) []dataSet {
	var sets []dataSet
	for _, q := range queries {
		expr := q.expr
		if len(queries) > 1 {
			expr = `label_replace(` + expr + `, "series", ` + strconv.Quote(q.name) + `, "", "")`
		}
		sets = append(sets, dataSet{TimeSeriesQuery: cloudQuery(p.unit, expr), PlotType: plot})
	}
	return sets
}

func cloudQuery(u unit, expr string) timeSeriesQuery {
	return timeSeriesQuery{PrometheusQuery: cloudMatchers.Replace(expr), UnitOverride: u.ucum}
}

// cloudNotes returns the panels' notes as a Markdown list, because a widget of Cloud
// Monitoring has no description.
func cloudNotes(sections []section) []string {
	var notes []string
	for _, s := range sections {
		for _, p := range s.panels {
			if p.note != "" {
				notes = append(notes, "- **"+p.title+"** ("+s.title+"): "+p.note)
			}
		}
	}
	return notes
}

func tileAt(at box, w widget) tile {
	return tile{
		XPos: cloudGrid * at.x, YPos: cloudGrid * at.y, Width: cloudGrid * at.w, Height: cloudGrid * at.h, Widget: w,
	}
}
