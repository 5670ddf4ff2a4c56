package dashboard

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	gaugepanel "github.com/grafana/grafana-foundation-sdk/go/gauge"
	heatmappanel "github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	tablepanel "github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"

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

// grafanaJSON renders a board for Grafana, with a row for each section. Keys are
// sorted, as in Grafana's own export.
func grafanaJSON(p *ir.Platform, b monitoring.Board, boards []monitoring.Board) ([]byte, error) {
	//lint:ignore SA1019 The sidecar loads the classic schema; version 2 is a resource of Grafana's API.
	builder := dashboard.NewDashboardBuilder(b.Title).
		Uid(p.Name+"-"+b.File).
		Description(b.Description).
		Tags([]string{string(p.Scheduler), p.Name, b.File}).
		Time("now-6h", "now").
		Refresh("1m").
		Tooltip(dashboard.DashboardCursorSyncCrosshair)
	for _, v := range grafanaVariables(b.Variables) {
		builder.WithVariable(v)
	}
	for _, other := range boards {
		if other.File != b.File {
			builder.Link(boardLink(p, other))
		}
	}
	id, line := uint32(0), 0
	for _, s := range b.Sections {
		id++
		row := dashboard.NewRowBuilder(s.Title).Id(id).Collapsed(s.Folded).GridPos(gridPos(box{0, line, columns, 1}))
		places, end := placeBoxes(s.Panels, line+1)
		var panels []cog.Builder[dashboard.Panel]
		for i, panel := range s.Panels {
			id++
			panels = append(panels, grafanaPanel(panel, id, places[i]))
		}
		line = end
		if !s.Folded {
			builder.WithRow(row)
		}
		for _, panel := range panels {
			if s.Folded { // a folded row holds its panels
				row.WithPanel(panel)
			} else {
				builder.WithPanel(panel)
			}
		}
		if s.Folded {
			builder.WithRow(row)
		}
	}
	built, err := builder.Build()
	if err != nil {
		return nil, fmt.Errorf("dashboard: %s for Grafana: %w", b.File, err)
	}
	content, err := boardJSON(plainBoard{built, plainPanels(built.Panels)}, sorted)
	if err != nil {
		return nil, fmt.Errorf("dashboard: %s for Grafana: %w", b.File, err)
	}
	return content, nil
}

// plainBoard has the same JSON as the library's type. The library's type marshals each
// panel by itself, and encoding/json then reads the result again.
type plainBoard struct {
	dashboard.Dashboard
	Panels []any `json:"panels"` // instead of the library's field
}

// plainPanels returns the panels and rows themselves.
func plainPanels(panels []dashboard.PanelOrRowPanel) []any {
	out := make([]any, len(panels))
	for i, p := range panels {
		out[i] = p.Panel
		if p.Panel == nil {
			out[i] = p.RowPanel
		}
	}
	return out
}

// boardLink returns a link to another board of the platform, which Grafana finds by
// its tags. The other board shows the same time and cluster.
func boardLink(p *ir.Platform, to monitoring.Board) cog.Builder[dashboard.DashboardLink] {
	return dashboard.NewDashboardLinkBuilder(to.Title).
		Type(dashboard.DashboardLinkTypeDashboards).
		Tags([]string{p.Name, to.File}).
		IncludeVars(true).
		KeepTime(true)
}

// grafanaVariables returns the variables that the reader sets above a dashboard. The
// data source is a variable, so that the file does not name a data source that
// exists only in one Grafana.
func grafanaVariables(variables []monitoring.Variable) []cog.Builder[dashboard.VariableModel] {
	out := []cog.Builder[dashboard.VariableModel]{
		dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus"),
	}
	for _, v := range variables {
		switch series := v.Values(grafanaNotation); {
		case v.Follows != "":
		case series == "":
			out = append(out, textBox(v))
		default:
			out = append(out, labelValues(v, series))
		}
	}
	return out
}

// textBox returns a variable whose value the reader types.
func textBox(v monitoring.Variable) *dashboard.TextBoxVariableBuilder {
	value := chosenValue(v)
	return dashboard.NewTextBoxVariableBuilder(v.Name).
		Label(v.Title).
		DefaultValue(dashboard.StringOrMap{String: value.String}).
		Current(dashboard.VariableOption{Text: value, Value: value})
}

// labelValues returns a variable whose values are the values of a label in a set of
// series.
func labelValues(v monitoring.Variable, series string) *dashboard.QueryVariableBuilder {
	query, value := "label_values("+series+", "+v.Label+")", chosenValue(v)
	builder := dashboard.NewQueryVariableBuilder(v.Name).
		Label(v.Title).
		Datasource(promDatasource()).
		Query(dashboard.StringOrMap{String: &query}).
		Definition(query).
		Current(dashboard.VariableOption{Text: value, Value: value}).
		Refresh(dashboard.VariableRefreshOnDashboardLoad).
		Sort(dashboard.VariableSortAlphabeticalAsc)
	if v.Many {
		builder.Multi(true)
	}
	if v.Without != "" {
		builder.Regex("/^(?!" + v.Without + "$).*/")
	}
	return builder
}

// chosenValue returns the value of a variable when the board opens.
func chosenValue(v monitoring.Variable) dashboard.StringOrArrayOfString {
	if v.Many {
		return dashboard.StringOrArrayOfString{ArrayOfString: v.Chosen}
	}
	return dashboard.StringOrArrayOfString{String: &v.Chosen[0]}
}

func grafanaPanel(p monitoring.Panel, id uint32, at box) cog.Builder[dashboard.Panel] {
	switch p.Shape {
	case monitoring.Number:
		builder := stat.NewPanelBuilder().
			GraphMode(common.BigValueGraphModeArea).
			Orientation(common.VizOrientationAuto).
			ReduceOptions(lastValue())
		if p.Thresholds != nil {
			builder.ColorMode(common.BigValueColorModeBackground)
		}
		return withCommon(builder, p, id, at)
	case monitoring.Gauge:
		return withCommon(gaugepanel.NewPanelBuilder().
			Min(0).Max(1).
			Orientation(common.VizOrientationAuto).
			ReduceOptions(lastValue()), p, id, at)
	case monitoring.Heatmap:
		return withCommon(heatmapBuilder(p), p, id, at)
	case monitoring.Table:
		return withCommon(tableBuilder(p), p, id, at)
	case monitoring.Stack:
		return withCommon(newChart(p).
			Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal)).
			FillOpacity(30), p, id, at)
	default:
		return withCommon(newChart(p), p, id, at)
	}
}

// panelColor returns the colours of a panel. The default of Grafana shows every
// figure from 80 on in red. A figure is green, yellow or red only if it has
// thresholds, and the series of a chart have colours of their own.
func panelColor(p monitoring.Panel) *dashboard.FieldColorBuilder {
	color := dashboard.NewFieldColorBuilder()
	switch p.Shape {
	case monitoring.Lines, monitoring.Stack:
		return color.Mode(dashboard.FieldColorModeIdPaletteClassic)
	case monitoring.Number, monitoring.Gauge:
		if p.Thresholds == nil {
			return color.Mode(dashboard.FieldColorModeIdFixed).FixedColor("blue")
		}
	}
	return color.Mode(dashboard.FieldColorModeIdThresholds)
}

// thresholdSteps returns the steps of a panel's colours. The first step has no value.
func thresholdSteps(p monitoring.Panel) *dashboard.ThresholdsConfigBuilder {
	first := "green"
	if p.Thresholds == nil {
		first = "text"
	}
	steps := []dashboard.Threshold{{Color: first}}
	for _, t := range p.Thresholds {
		color := "yellow"
		if t.Critical {
			color = "red"
		}
		steps = append(steps, dashboard.Threshold{Value: &t.From, Color: color})
	}
	return dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(steps)
}

// heatmapBuilder returns a heatmap of percentages with a row for every ten percent.
func heatmapBuilder(p monitoring.Panel) *heatmappanel.PanelBuilder {
	return heatmappanel.NewPanelBuilder().
		Calculate(true).
		Calculation(common.NewHeatmapCalculationOptionsBuilder().
			YBuckets(common.NewHeatmapCalculationBucketConfigBuilder().
				Mode(common.HeatmapCalculationModeSize).Value("10"))).
		Color(heatmappanel.NewHeatmapColorOptionsBuilder().
			Mode(heatmappanel.HeatmapColorModeScheme).Scheme("Blues").Steps(64)).
		YAxis(heatmappanel.NewYAxisConfigBuilder().Unit(p.Unit.Grafana).Min(0).Max(100)).
		Tooltip(heatmappanel.NewHeatmapTooltipBuilder().Mode(common.TooltipDisplayModeSingle))
}

// lastValue reduces a series to one number: its last value.
func lastValue() *common.ReduceDataOptionsBuilder {
	return common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})
}

// legendWidth is the width of a legend in pixels. Without it, long names leave no room
// for the chart.
const legendWidth = 320

// newChart returns a chart with a legend that also shows each series' last and
// largest value.
func newChart(p monitoring.Panel) *timeseries.PanelBuilder {
	builder := timeseries.NewPanelBuilder().
		Min(0).
		Legend(common.NewVizLegendOptionsBuilder().
			ShowLegend(true).
			DisplayMode(common.LegendDisplayModeTable).
			Placement(common.LegendPlacementRight).
			Width(legendWidth).
			Calcs([]string{"lastNotNull", "max"}).
			SortBy("Last *").
			SortDesc(true)).
		Tooltip(common.NewVizTooltipOptionsBuilder().
			Mode(common.TooltipDisplayModeMulti).
			Sort(common.SortOrderDescending))
	if p.Unit.Whole {
		builder.AxisSoftMax(1) // otherwise the axis of a series of 0 ends at 100
	}
	for i, q := range p.Queries {
		if q.Dashed {
			builder.OverrideByQuery(refID(i), []dashboard.DynamicConfigValue{
				{Id: "custom.lineStyle", Value: map[string]any{"fill": "dash", "dash": []int{8, 6}}},
			})
		}
	}
	if p.Thresholds != nil {
		builder.ThresholdsStyle(
			common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed))
	}
	return builder
}

// tableBuilder joins the queries by their labels, so that each query becomes a
// column. It orders and names the columns: first the labels, then the queries.
func tableBuilder(p monitoring.Panel) *tablepanel.PanelBuilder {
	order, names := map[string]any{}, map[string]any{}
	for i, label := range p.Queries[0].By {
		order[label], names[label] = i, strings.ReplaceAll(label, "_", " ")
	}
	builder := tablepanel.NewPanelBuilder()
	for i, q := range p.Queries {
		column := "Value #" + refID(i)
		order[column], names[column] = len(p.Queries[0].By)+i, q.Name
		format := []dashboard.DynamicConfigValue{{Id: "unit", Value: p.Unit.Grafana}}
		if p.Unit.Whole {
			format = append(format, dashboard.DynamicConfigValue{Id: "decimals", Value: 0})
		}
		builder.OverrideByName(q.Name, format)
	}
	builder.
		// Without a reducer, the footer violates Grafana's schema.
		Footer(common.NewTableFooterOptionsBuilder().Reducer([]string{"sum"})).
		Filterable(true).
		WithTransformation(dashboard.DataTransformerConfig{Id: "merge", Options: map[string]any{}}).
		WithTransformation(dashboard.DataTransformerConfig{Id: "organize", Options: map[string]any{
			"excludeByName": map[string]any{"Time": true}, "indexByName": order, "renameByName": names,
		}})
	if p.SortBy != "" {
		builder.SortBy([]cog.Builder[common.TableSortByFieldState]{
			common.NewTableSortByFieldStateBuilder().DisplayName(p.SortBy).Desc(!p.Ascending),
		})
	}
	return builder
}

// panelBuilder is the common interface of the builders of all panel types.
type panelBuilder[B any] interface {
	cog.Builder[dashboard.Panel]
	Id(uint32) B
	Title(string) B
	Description(string) B
	Unit(string) B
	Decimals(float64) B
	ColorScheme(cog.Builder[dashboard.FieldColor]) B
	Thresholds(cog.Builder[dashboard.ThresholdsConfig]) B
	Datasource(common.DataSourceRef) B
	GridPos(dashboard.GridPos) B
	Targets([]cog.Builder[variants.Dataquery]) B
}

func withCommon[B panelBuilder[B]](builder B, p monitoring.Panel, id uint32, at box) cog.Builder[dashboard.Panel] {
	var targets []cog.Builder[variants.Dataquery]
	for i, q := range p.Queries {
		target := prometheus.NewDataqueryBuilder().
			RefId(refID(i)).
			Datasource(promDatasource()).
			EditorMode(prometheus.QueryEditorModeCode).
			Expr(q.PromQL(grafanaNotation)).
			LegendFormat(legendFormat(q))
		if p.Shape == monitoring.Table {
			target.Instant().Format(prometheus.PromQueryFormatTable)
		} else {
			target.Range()
		}
		targets = append(targets, target)
	}
	unit := p.Unit.Grafana
	if p.Shape == monitoring.Table {
		unit = "string" // of the labels; the columns of the queries have their own
	}
	builder = builder.Id(id).Title(p.Title).Unit(unit).Datasource(promDatasource()).
		ColorScheme(panelColor(p)).Thresholds(thresholdSteps(p)).GridPos(gridPos(at)).Targets(targets)
	if p.Note != "" {
		builder = builder.Description(p.Note)
	}
	if p.Unit.Whole && p.Shape != monitoring.Table {
		builder = builder.Decimals(0)
	}
	return builder
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

func promDatasource() common.DataSourceRef {
	kind, variable := "prometheus", "${datasource}"
	return common.DataSourceRef{Type: &kind, Uid: &variable}
}

func gridPos(at box) dashboard.GridPos {
	return dashboard.GridPos{X: uint32(at.x), Y: uint32(at.y), W: uint32(at.w), H: uint32(at.h)}
}
