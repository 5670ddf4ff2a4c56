package dashboard

import (
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// cloudNotation is the notation of variables in Cloud Monitoring. There, ${x} stands
// for the whole matcher of a filter, and ${x.value} for its value.
var cloudNotation = monitoring.Notation{
	Matcher: func(v monitoring.Variable) string { return "${" + v.Name + "}" },
	Value:   func(v monitoring.Variable) string { return "${" + v.Name + ".value}" },
	Window:  "${__interval}",
}

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
	Thresholds      []threshold     `json:"thresholds,omitempty"`
}

// threshold is a line of a chart, or the value above which a scorecard has a colour.
// A chart's threshold has neither colour nor direction.
type threshold struct {
	Value      float64 `json:"value"`
	Color      string  `json:"color,omitempty"`
	Direction  string  `json:"direction,omitempty"`
	TargetAxis string  `json:"targetAxis,omitempty"`
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
	DataSets   []dataSet   `json:"dataSets"`
	YAxis      axis        `json:"yAxis"`
	Thresholds []threshold `json:"thresholds,omitempty"`
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

// cloudDashboard renders a board of a project for Cloud Monitoring: a group for each
// section, and below the groups the notes on the charts.
func cloudDashboard(b monitoring.Board, project string) cloudBoard {
	tiles := []tile{}
	line := 0
	for _, s := range b.Sections {
		places, end := placeBoxes(s.Panels, line)
		tiles = append(tiles,
			tileAt(box{0, line, columns, end - line}, widget{
				Title: s.Title, CollapsibleGroup: &collapsibleGroup{Collapsed: s.Folded},
			}))
		for i, panel := range s.Panels {
			tiles = append(tiles, tileAt(places[i], cloudWidget(panel)))
		}
		line = end
	}
	notes := append(cloudNotes(b.Sections), boardsNote(project))
	tiles = append(tiles, tileAt(box{0, line, columns, 2 + len(notes)}, widget{
		Title: "About these charts",
		Text:  &text{Content: strings.Join(notes, "\n"), Format: "MARKDOWN"},
	}))
	return cloudBoard{
		DisplayName:      b.Title,
		DashboardFilters: cloudFilters(b.Variables),
		MosaicLayout:     mosaic{Columns: cloudGrid * columns, Tiles: tiles},
	}
}

// cloudFilters returns the filters for the variables of a board.
func cloudFilters(variables []monitoring.Variable) []cloudFilter {
	var filters []cloudFilter
	for _, v := range variables {
		kind := "METRIC_LABEL"
		if v.OfTarget {
			kind = "RESOURCE_LABEL"
		}
		filters = append(filters, cloudFilter{
			LabelKey: v.Label, TemplateVariable: v.Name, StringValue: v.Chosen[0], FilterType: kind,
		})
	}
	return filters
}

func cloudWidget(p monitoring.Panel) widget {
	w := widget{Title: p.Title}
	switch p.Shape {
	case monitoring.Number:
		w.Scorecard = &scorecard{
			TimeSeriesQuery: cloudQuery(p.Unit, p.Queries[0]), SparkChartView: &sparkChartView{"SPARK_LINE"},
			Thresholds: scorecardThresholds(p),
		}
	case monitoring.Gauge:
		w.Scorecard = &scorecard{
			TimeSeriesQuery: cloudQuery(p.Unit, p.Queries[0]), GaugeView: &gaugeView{1},
			Thresholds: scorecardThresholds(p),
		}
	case monitoring.Table:
		w.TimeSeriesTable = &timeSeriesTable{DataSets: cloudDataSets(p, p.Queries, ""), MetricVisualization: "NUMBER"}
	case monitoring.Stack:
		w.XYChart = cloudChart(p, "STACKED_AREA")
	case monitoring.Heatmap:
		// Cloud Monitoring draws heatmaps only for distributions. Neither PromQL nor an
		// aligner or reducer of a filter derives a distribution from gauges. Source:
		// google.monitoring.dashboard.v1, XyChart.DataSet.PlotType and Aggregation.
		w.XYChart = cloudChart(p.Bands(), "STACKED_AREA")
	default:
		w.XYChart = cloudChart(p, "LINE")
	}
	return w
}

// cloudChart returns a chart of a panel's queries and thresholds.
func cloudChart(p monitoring.Panel, plot string) *xyChart {
	chart := &xyChart{DataSets: cloudDataSets(p, p.Queries, plot), YAxis: axis{"LINEAR"}}
	for _, t := range p.Thresholds {
		chart.Thresholds = append(chart.Thresholds, threshold{Value: t.From, TargetAxis: "Y1"})
	}
	return chart
}

// scorecardThresholds returns the values above which a scorecard is yellow or red.
func scorecardThresholds(p monitoring.Panel) []threshold {
	var out []threshold
	for _, t := range p.Thresholds {
		color := "YELLOW"
		if t.Critical {
			color = "RED"
		}
		out = append(out, threshold{Value: t.From, Color: color, Direction: "ABOVE"})
	}
	return out
}

// cloudDataSets returns a data set for each query. If there are several queries, a
// label names the query of each series: a legend shows only labels, and without it
// the queries cannot be told apart.
func cloudDataSets(p monitoring.Panel, queries []monitoring.Query, plot string) []dataSet {
	var sets []dataSet
	for _, q := range queries {
		if len(queries) > 1 && q.Name != "" {
			q = q.Named()
		}
		sets = append(sets, dataSet{TimeSeriesQuery: cloudQuery(p.Unit, q), PlotType: plot})
	}
	return sets
}

func cloudQuery(u monitoring.Unit, q monitoring.Query) timeSeriesQuery {
	return timeSeriesQuery{PrometheusQuery: q.PromQL(cloudNotation), UnitOverride: u.UCUM}
}

// cloudNotes returns the panels' notes as a Markdown list, because a widget of Cloud
// Monitoring has no description.
func cloudNotes(sections []monitoring.Section) []string {
	var notes []string
	for _, s := range sections {
		for _, p := range s.Panels {
			if p.Note != "" {
				notes = append(notes, "- **"+p.Title+"** ("+s.Title+"): "+p.Note)
			}
		}
	}
	return notes
}

// boardsNote returns a note with a link to the project's list of dashboards. A link
// to another board itself cannot be known: the API chooses its identifier.
func boardsNote(project string) string {
	return "- **Other boards**: the [list of dashboards](" +
		words.ConsolePage(
			"monitoring/dashboards",
			project,
		) + ") has the boards of the platform and the board of a team."
}

func tileAt(at box, w widget) tile {
	return tile{
		XPos: cloudGrid * at.x, YPos: cloudGrid * at.y, Width: cloudGrid * at.w, Height: cloudGrid * at.h, Widget: w,
	}
}
