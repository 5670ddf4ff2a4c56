package dashboard

import (
	"cmp"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// grafanaNotation is the notation of variables in Grafana, where $x stands for the
// value of a variable. On a Prometheus without a cluster label, the variable of the
// cluster has no values. Its matcher then selects the series without the label, which
// are all series.
var grafanaNotation = monitoring.Notation{
	Matcher: func(v monitoring.Variable) string {
		operator := "="
		if v.Many {
			operator = "=~"
		}
		return v.Label + operator + `"$` + cmp.Or(v.Follows, v.Name) + `"`
	},
	Value:  func(v monitoring.Variable) string { return "$" + v.Name },
	Window: "$__rate_interval",
}

// newGrafanaBoard returns a board for Grafana, with a row for each section.
func newGrafanaBoard(p *ir.Platform, b monitoring.Board, boards []monitoring.Board) grafanaBoard {
	out := grafanaBoard{
		Description: b.Description, Editable: true, GraphTooltip: 1, Refresh: "1m", SchemaVersion: 42,
		Tags: []string{string(p.Scheduler), p.Name, b.File}, Timezone: "browser", Title: b.Title,
		UID: p.Name + "-" + b.File,
	}
	out.Time.From, out.Time.To = "now-6h", "now"
	out.Templating.List = grafanaVariables(b.Variables)
	for _, other := range boards {
		if other.File != b.File {
			out.Links = append(out.Links, boardLink(p, other))
		}
	}
	id, line := 0, 0
	for _, s := range b.Sections {
		id++
		row := grafanaRow{
			Collapsed: s.Folded, GridPos: gridPos(box{0, line, columns, 1}), ID: id, Panels: []any{},
			Title: s.Title, Type: "row",
		}
		places, end := placeBoxes(s.Panels, line+1)
		var panels []any
		for i, panel := range s.Panels {
			id++
			panels = append(panels, newGrafanaPanel(panel, id, places[i]))
		}
		line = end
		if s.Folded { // a folded row holds its panels
			row.Panels, panels = panels, nil
		}
		out.Panels = append(append(out.Panels, row), panels...)
	}
	return out
}

// boardLink returns a link to another board of the platform, which Grafana finds by
// its tags. The other board shows the same time and cluster.
func boardLink(p *ir.Platform, to monitoring.Board) grafanaLink {
	return grafanaLink{
		Title: to.Title, Type: "dashboards", Tags: []string{p.Name, to.File}, IncludeVars: true, KeepTime: true,
		Placement: "inControlsMenu",
	}
}

// grafanaVariables returns the variables that the reader sets above a dashboard. The
// data source is a variable, so that the file does not name a data source that
// exists only in one Grafana.
func grafanaVariables(variables []monitoring.Variable) []grafanaVariable {
	source := newVariable("datasource", "datasource", "Data source")
	source.Query = "prometheus"
	out := []grafanaVariable{source}
	for _, v := range variables {
		switch series := v.Values(grafanaNotation); {
		case v.Follows != "":
		case series == "": // the reader types the value
			box := newVariable("textbox", v.Name, v.Title)
			box.Query, box.Current = v.Chosen[0], chosenValue(v)
			out = append(out, box)
		default:
			out = append(out, labelValues(v, series))
		}
	}
	return out
}

// newVariable returns a variable with Grafana's defaults.
func newVariable(kind, name, label string) grafanaVariable {
	return grafanaVariable{
		Type: kind, Name: name, Label: label, AllowCustomValue: true, AutoCount: 30, AutoMin: "10s",
	}
}

// labelValues returns a variable whose values are the values of a label in a set of
// series.
func labelValues(v monitoring.Variable, series string) grafanaVariable {
	source := promDatasource()
	out := newVariable("query", v.Name, v.Title)
	out.Query = "label_values(" + series + ", " + v.Label + ")"
	out.Definition, out.Datasource, out.Current = out.Query, &source, chosenValue(v)
	out.Refresh, out.Sort, out.Multi = 1, 1, v.Many
	if v.Without != "" {
		out.Regex = "/^(?!" + v.Without + "$).*/"
	}
	return out
}

// chosenValue returns the value of a variable when the board opens.
func chosenValue(v monitoring.Variable) *grafanaCurrent {
	if v.Many {
		return &grafanaCurrent{v.Chosen, v.Chosen}
	}
	return &grafanaCurrent{v.Chosen[0], v.Chosen[0]}
}

// newGrafanaPanel returns a panel at a place.
func newGrafanaPanel(p monitoring.Panel, id int, at box) grafanaPanel {
	out := grafanaPanel{
		Datasource: promDatasource(), Description: p.Note, GridPos: gridPos(at), ID: id, RepeatDirection: "h",
		Title: p.Title,
	}
	out.FieldConfig.Overrides = []grafanaOverride{}
	field := &out.FieldConfig.Defaults
	field.Color.Mode, field.Color.FixedColor = panelColor(p)
	field.Thresholds.Mode, field.Thresholds.Steps = "absolute", thresholdSteps(p)
	field.Unit = p.Unit.Grafana
	if p.Unit.Whole && p.Shape != monitoring.Table {
		field.Decimals = new(int)
	}
	for i, q := range p.Queries {
		target := grafanaTarget{
			RefID: refID(i), Datasource: promDatasource(), EditorMode: "code", Expr: q.PromQL(grafanaNotation),
			LegendFormat: legendFormat(q), Range: true,
		}
		if p.Shape == monitoring.Table {
			target.Range, target.Instant, target.Format = false, true, "table"
		}
		out.Targets = append(out.Targets, target)
	}
	switch p.Shape {
	case monitoring.Number:
		out.showNumber(p)
	case monitoring.Gauge:
		one := 1
		field.Min, field.Max = new(int), &one
		out.Type, out.Options = "gauge", gaugeOptions{
			MinVizHeight: 75, MinVizWidth: 75, Orientation: "auto", ReduceOptions: lastValue(),
			ShowThresholdMarkers: true, Sizing: "auto",
		}
	case monitoring.Heatmap:
		out.showHeatmap(p)
	case monitoring.Table:
		out.showTable(p)
	default:
		out.showChart(p)
	}
	return out
}

// showNumber makes the panel one number.
func (g *grafanaPanel) showNumber(p monitoring.Panel) {
	color := "value"
	if p.Thresholds != nil {
		color = "background"
	}
	g.Type, g.Options = "stat", statOptions{
		ColorMode: color, GraphMode: "area", JustifyMode: "auto", Orientation: "auto",
		PercentChangeColorMode: "standard", ReduceOptions: lastValue(), TextMode: "auto", WideLayout: true,
	}
}

// panelColor returns the colour mode of a panel, and its colour if it is fixed. The default
// of Grafana shows every figure from 80 on in red. A figure is green, yellow or red only if
// it has thresholds, and the series of a chart have colours of their own.
func panelColor(p monitoring.Panel) (mode, fixed string) {
	switch p.Shape {
	case monitoring.Lines, monitoring.Stack:
		return "palette-classic", ""
	case monitoring.Number, monitoring.Gauge:
		if p.Thresholds == nil {
			return "fixed", "blue"
		}
	}
	return "thresholds", ""
}

// thresholdSteps returns the steps of a panel's colours. The first step has no value.
func thresholdSteps(p monitoring.Panel) []grafanaStep {
	first := "green"
	if p.Thresholds == nil {
		first = "text"
	}
	steps := []grafanaStep{{Color: first}}
	for _, t := range p.Thresholds {
		color := "yellow"
		if t.Critical {
			color = "red"
		}
		steps = append(steps, grafanaStep{color, &t.From})
	}
	return steps
}

// showHeatmap makes the panel a heatmap of percentages with a row for every ten percent.
func (g *grafanaPanel) showHeatmap(p monitoring.Panel) {
	o := heatmapOptions{
		Calculate: true, CellGap: 1, SelectionMode: "x", ShowValue: "auto", Tooltip: grafanaTooltip{Mode: "single"},
	}
	o.Calculation.YBuckets.Mode, o.Calculation.YBuckets.Value = "size", "10"
	o.Color.Mode, o.Color.Scheme, o.Color.Steps = "scheme", "Blues", 64
	o.Exemplars.Color = "rgba(255,0,255,0.7)"
	o.FilterValues.LE = "1e-9"
	o.Legend.Show = true
	o.YAxis.Max, o.YAxis.Unit = 100, p.Unit.Grafana
	g.Type, g.Options, g.FieldConfig.Defaults.Custom = "heatmap", o, struct{}{}
}

// lastValue reduces a series to one number: its last value.
func lastValue() grafanaReduce { return grafanaReduce{[]string{"lastNotNull"}} }

// legendWidth is the width of a legend in pixels. Without it, long names leave no room
// for the chart.
const legendWidth = 320

// showChart makes the panel a chart with a legend that also shows each series' last and
// largest value.
func (g *grafanaPanel) showChart(p monitoring.Panel) {
	o := chartOptions{Tooltip: grafanaTooltip{Mode: "multi", Sort: "desc"}}
	o.Legend.Calcs, o.Legend.DisplayMode, o.Legend.Placement = []string{"lastNotNull", "max"}, "table", "right"
	o.Legend.ShowLegend, o.Legend.SortBy, o.Legend.SortDesc = true, "Last *", true
	o.Legend.Width = legendWidth
	var custom chartCustom
	if p.Unit.Whole {
		custom.AxisSoftMax = 1 // otherwise the axis of a series of 0 ends at 100
	}
	if p.Shape == monitoring.Stack {
		custom.FillOpacity, custom.Stacking = 30, &grafanaStyle{"normal"}
	}
	if p.Thresholds != nil {
		custom.ThresholdsStyle = &grafanaStyle{"dashed"}
	}
	for i, q := range p.Queries {
		if q.Dashed {
			g.override("byFrameRefID", refID(i),
				grafanaProperty{"custom.lineStyle", map[string]any{"fill": "dash", "dash": []int{8, 6}}})
		}
	}
	g.Type, g.Options = "timeseries", o
	g.FieldConfig.Defaults.Min, g.FieldConfig.Defaults.Custom = new(int), custom
}

// override gives the series or columns that a matcher selects other properties.
func (g *grafanaPanel) override(matcher, options string, properties ...grafanaProperty) {
	o := grafanaOverride{Properties: properties}
	o.Matcher.ID, o.Matcher.Options = matcher, options
	g.FieldConfig.Overrides = append(g.FieldConfig.Overrides, o)
}

// showTable joins the queries by their labels, so that each query becomes a column. It
// orders and names the columns: first the labels, then the queries.
func (g *grafanaPanel) showTable(p monitoring.Panel) {
	order, names := map[string]any{}, map[string]any{}
	for i, label := range p.Queries[0].By {
		order[label], names[label] = i, strings.ReplaceAll(label, "_", " ")
	}
	for i, q := range p.Queries {
		column := "Value #" + refID(i)
		order[column], names[column] = len(p.Queries[0].By)+i, q.Name
		format := []grafanaProperty{{"unit", p.Unit.Grafana}}
		if p.Unit.Whole {
			format = append(format, grafanaProperty{"decimals", 0})
		}
		g.override("byName", q.Name, format...)
	}
	g.Transformations = []grafanaTransform{{"merge", map[string]any{}}, {"organize", map[string]any{
		"excludeByName": map[string]any{"Time": true}, "indexByName": order, "renameByName": names,
	}}}
	o := tableOptions{CellHeight: "sm", ShowHeader: true}
	o.Footer.Reducer = []string{"sum"} // without a reducer, the footer violates Grafana's schema
	if p.SortBy != "" {
		o.SortBy = []tableSort{{!p.Ascending, p.SortBy}}
	}
	g.Type, g.Options = "table", o
	g.FieldConfig.Defaults.Custom = tableCustom{Align: "auto", Filterable: true}
	g.FieldConfig.Defaults.Unit = "string" // of the labels; the columns of the queries have their own
}

// legendFormat returns the legend of a series: its query and labels.
func legendFormat(q monitoring.Query) string {
	var parts []string
	if q.Name != "" {
		parts = append(parts, q.Name)
	}
	for _, label := range q.By {
		parts = append(parts, "{{"+label+"}}")
	}
	return strings.Join(parts, " ")
}

// refID returns Grafana's name for the i-th query of a panel.
func refID(i int) string { return string(rune('A' + i)) }

func promDatasource() grafanaSource { return grafanaSource{"prometheus", "${datasource}"} }

func gridPos(at box) grafanaGrid { return grafanaGrid{X: at.x, Y: at.y, W: at.w, H: at.h} }
