package dashboard

import (
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// cloudMatchers fills placeholders for Cloud Monitoring, where ${x} stands for
// the whole matcher of a filter and ${x.value} for its value.
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

// The types below are the part of google.monitoring.dashboard.v1.Dashboard
// that is emitted, under the names of its REST documentation.

type cloudBoard struct {
	DisplayName      string        `json:"displayName"`
	DashboardFilters []cloudFilter `json:"dashboardFilters"`
	MosaicLayout     mosaic        `json:"mosaicLayout"`
}

// cloudFilter is a choice above the dashboard. Only queries that name its
// variable follow it.
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

// widget has exactly one of the pointers.
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

// gaugeView begins at 0. The API drops a lowerBound that says so, and every
// Terraform plan would put it back.
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

// cloudGrid is the scale from the layout's grid to Cloud Monitoring's 48
// columns.
const cloudGrid = 2

// cloudDashboard renders a board for Cloud Monitoring: a group for each
// section, and below them what to know about the charts.
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

// cloudFilters has the cluster twice, because scraped metrics call the label
// cluster and Cloud Monitoring's own cluster_name.
func cloudFilters(p *ir.Platform, b board) []cloudFilter {
	filters := []cloudFilter{
		{LabelKey: "cluster", TemplateVariable: "cluster", StringValue: p.Name, FilterType: "RESOURCE_LABEL"},
		{LabelKey: "cluster_name", TemplateVariable: "cluster_name", StringValue: p.Name, FilterType: "RESOURCE_LABEL"},
	}
	filters = append(filters, schedulerOf(p).filters(p, b)...)
	if b.team {
		// The namespace label of the scraped metric itself: the target's own
		// namespace is the scheduler's.
		filters = append(filters, cloudFilter{
			LabelKey: "exported_namespace", TemplateVariable: "team", StringValue: firstTeam(p),
			FilterType: "METRIC_LABEL",
		})
	}
	return filters
}

// kueueFilters lets the reader choose the resource that is counted.
func kueueFilters(p *ir.Platform, _ board) []cloudFilter {
	return []cloudFilter{
		{
			LabelKey: "resource", TemplateVariable: "resource", StringValue: p.CountedResources()[0],
			FilterType: "METRIC_LABEL",
		},
	}
}

// kaiFilters lets the reader of a team's dashboard choose the queue.
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

// bands turns the spread of a query's series into three lines. Cloud
// Monitoring draws heatmaps of distributions only, which PromQL cannot make of
// gauges.
func bands(q query) []query {
	return []query{
		{name: "p5", expr: `quantile(0.05, ` + q.expr + `)`},
		{name: "p50", expr: `quantile(0.50, ` + q.expr + `)`},
		{name: "p95", expr: `quantile(0.95, ` + q.expr + `)`},
	}
}

// cloudDataSets names the series of each query by a label where there are
// several queries: a legend shows labels, and nothing else tells them apart.
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

// cloudNotes returns the panels' notes as a Markdown list, because a widget
// has no description of its own.
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
