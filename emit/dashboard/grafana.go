package dashboard

import (
	"bytes"
	"encoding/json"
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
)

// grafanaMatchers replaces placeholders in queries for Grafana, where $x stands for
// the value of a variable. On a Prometheus without a cluster label, the variable has
// no values. Its matcher then selects the series without the label, which are all
// series.
var grafanaMatchers = strings.NewReplacer(
	"@kueue", ir.MatchLeader+`,cluster="$cluster"`,
	"@scraped", `cluster="$cluster"`,
	"@system", `cluster_name="$cluster"`,
	"@resource", `resource=~"$resource"`,
	"@queue", `queue_name="$queue"`,
	"@team", `exported_namespace="$team"`,
	"@namespace", `$team`,
	"@window", `$__rate_interval`,
)

// grafanaJSON renders a board for Grafana, with a row for each section. Keys are
// sorted, as in Grafana's own export.
func grafanaJSON(p *ir.Platform, b board) ([]byte, error) {
	//lint:ignore SA1019 The sidecar loads the classic schema; version 2 is a resource of Grafana's API.
	builder := dashboard.NewDashboardBuilder(b.title).
		Uid(p.Name+"-"+b.file).
		Description("Quota, queues and accelerators of platform "+p.Name+". The data source is a Prometheus that "+
			"scrapes "+p.Scheduler.Facts().Name+" and JobSet; panels on nodes, pods and reservations need Google "+
			"Managed Prometheus.").
		Tags([]string{string(p.Scheduler), p.Name}).
		Time("now-6h", "now").
		Refresh("1m").
		Tooltip(dashboard.DashboardCursorSyncCrosshair)
	for _, v := range grafanaVariables(p, b) {
		builder.WithVariable(v)
	}
	id, line := uint32(0), 0
	for _, s := range b.sections {
		id++
		builder.WithRow(dashboard.NewRowBuilder(s.title).Id(id).GridPos(gridPos(box{0, line, columns, 1})))
		places, end := flow(s.panels, line+1)
		for i, panel := range s.panels {
			id++
			builder.WithPanel(grafanaPanel(panel, id, places[i]))
		}
		line = end
	}
	built, err := builder.Build()
	if err != nil {
		return nil, fmt.Errorf("dashboard: %s for Grafana: %w", b.file, err)
	}
	content, err := json.Marshal(built)
	if err != nil {
		return nil, fmt.Errorf("dashboard: %s for Grafana: %w", b.file, err)
	}
	// The library's own marshalers escape < and >, whatever the encoder's settings.
	// Decoding and encoding the result again removes the escapes.
	var plain any
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	if err := decoder.Decode(&plain); err != nil {
		return nil, fmt.Errorf("dashboard: %s for Grafana: %w", b.file, err)
	}
	return indented(plain)
}

// grafanaVariables returns the variables that the reader sets above a dashboard. The
// data source is a variable, so that the file does not name a data source that
// exists only in one Grafana.
func grafanaVariables(p *ir.Platform, b board) []cog.Builder[dashboard.VariableModel] {
	source := dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus")
	return append([]cog.Builder[dashboard.VariableModel]{source}, schedulerOf(p).variables(p, b)...)
}

// kueueVariables returns the variables for Kueue. A team's dashboard has the team's
// namespace, from which its queues are found.
func kueueVariables(p *ir.Platform, b board) []cog.Builder[dashboard.VariableModel] {
	variables := []cog.Builder[dashboard.VariableModel]{
		labelValues("cluster", "Cluster", `label_values(kueue_cluster_queue_status, cluster)`, one(p.Name)),
		labelValues("resource", "Resource",
			`label_values(kueue_cluster_queue_nominal_quota{cluster="$cluster"}, resource)`,
			dashboard.StringOrArrayOfString{ArrayOfString: p.CountedResources()}).Multi(true),
	}
	if b.team {
		variables = append(variables, labelValues("team", "Team",
			`label_values(kueue_local_queue_status{cluster="$cluster"}, exported_namespace)`, one(firstTeam(p))))
	}
	return variables
}

// kaiVariables returns the variables for KAI Scheduler. A team's dashboard has
// separate variables for the queue and the namespace, because no metric of KAI
// Scheduler has both.
func kaiVariables(p *ir.Platform, b board) []cog.Builder[dashboard.VariableModel] {
	variables := []cog.Builder[dashboard.VariableModel]{
		labelValues("cluster", "Cluster", `label_values(kai_queue_info, cluster)`, one(p.Name)),
	}
	if b.team {
		namespace := firstTeam(p)
		variables = append(variables,
			labelValues("queue", "Queue", `label_values(kai_queue_info{cluster="$cluster"}, queue_name)`,
				one(firstQueue(p))),
			dashboard.NewTextBoxVariableBuilder("team").Label("Namespace").DefaultValue(dashboard.StringOrMap{
				String: &namespace,
			}).
				Current(dashboard.VariableOption{Text: one(namespace), Value: one(namespace)}))
	}
	return variables
}

func one(value string) dashboard.StringOrArrayOfString {
	return dashboard.StringOrArrayOfString{String: &value}
}

// labelValues returns a variable whose values are those of a label. current is
// selected at first.
func labelValues(name, label, query string, current dashboard.StringOrArrayOfString) *dashboard.QueryVariableBuilder {
	return dashboard.NewQueryVariableBuilder(name).
		Label(label).
		Datasource(datasource()).
		Query(dashboard.StringOrMap{String: &query}).
		Definition(query).
		Current(dashboard.VariableOption{Text: current, Value: current}).
		Refresh(dashboard.VariableRefreshOnDashboardLoad).
		Sort(dashboard.VariableSortAlphabeticalAsc)
}

func grafanaPanel(p panel, id uint32, at box) cog.Builder[dashboard.Panel] {
	switch p.shape {
	case number:
		return withCommon(stat.NewPanelBuilder().
			GraphMode(common.BigValueGraphModeArea).
			Orientation(common.VizOrientationAuto).
			ReduceOptions(latest()), p, id, at)
	case gauge:
		return withCommon(gaugepanel.NewPanelBuilder().
			Min(0).Max(1).
			Orientation(common.VizOrientationAuto).
			ReduceOptions(latest()), p, id, at)
	case heatmap:
		return withCommon(heatmappanel.NewPanelBuilder().
			Calculate(true).
			Tooltip(heatmappanel.NewHeatmapTooltipBuilder().Mode(common.TooltipDisplayModeSingle)), p, id, at)
	case table:
		return withCommon(tableBuilder(p), p, id, at)
	case stack:
		return withCommon(chart().
			Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal)).
			FillOpacity(30), p, id, at)
	default:
		return withCommon(chart(), p, id, at)
	}
}

// latest reduces a series to one number: its last value.
func latest() *common.ReduceDataOptionsBuilder {
	return common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})
}

func chart() *timeseries.PanelBuilder {
	return timeseries.NewPanelBuilder().
		Legend(common.NewVizLegendOptionsBuilder().
			ShowLegend(true).
			DisplayMode(common.LegendDisplayModeList).
			Placement(common.LegendPlacementBottom)).
		Tooltip(common.NewVizTooltipOptionsBuilder().
			Mode(common.TooltipDisplayModeMulti).
			Sort(common.SortOrderDescending))
}

// tableBuilder joins the queries by their labels, so that each query becomes a
// column, and names the columns.
func tableBuilder(p panel) *tablepanel.PanelBuilder {
	builder := tablepanel.NewPanelBuilder().
		// Without a reducer, the footer violates Grafana's schema.
		Footer(common.NewTableFooterOptionsBuilder().Reducer([]string{"sum"})).
		WithTransformation(dashboard.DataTransformerConfig{Id: "merge", Options: map[string]any{}}).
		WithTransformation(dashboard.DataTransformerConfig{Id: "organize", Options: map[string]any{
			"excludeByName": map[string]any{"Time": true},
		}})
	for i, q := range p.queries {
		builder.OverrideByName("Value #"+refID(i), []dashboard.DynamicConfigValue{{Id: "displayName", Value: q.name}})
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
	Datasource(common.DataSourceRef) B
	GridPos(dashboard.GridPos) B
	Targets([]cog.Builder[variants.Dataquery]) B
}

func withCommon[B panelBuilder[B]](builder B, p panel, id uint32, at box) cog.Builder[dashboard.Panel] {
	var targets []cog.Builder[variants.Dataquery]
	for i, q := range p.queries {
		target := prometheus.NewDataqueryBuilder().
			RefId(refID(i)).
			Datasource(datasource()).
			EditorMode(prometheus.QueryEditorModeCode).
			Expr(grafanaMatchers.Replace(q.expr)).
			LegendFormat(legend(q))
		if p.shape == table {
			target.Instant().Format(prometheus.PromQueryFormatTable)
		} else {
			target.Range()
		}
		targets = append(targets, target)
	}
	builder = builder.Id(id).Title(p.title).Unit(p.unit.grafana).Datasource(datasource()).GridPos(gridPos(at)).Targets(
		targets)
	if p.note != "" {
		builder = builder.Description(p.note)
	}
	return builder
}

// legend returns the legend of a series: its query and labels.
func legend(q query) string {
	var parts []string
	if q.name != "" {
		parts = append(parts, q.name)
	}
	for _, label := range q.by {
		parts = append(parts, "{{"+label+"}}")
	}
	return strings.Join(parts, " ")
}

// refID returns Grafana's name for the i-th query of a panel.
func refID(i int) string { return string(rune('A' + i)) }

func datasource() common.DataSourceRef {
	kind, variable := "prometheus", "${datasource}"
	return common.DataSourceRef{Type: &kind, Uid: &variable}
}

func gridPos(at box) dashboard.GridPos {
	return dashboard.GridPos{X: uint32(at.x), Y: uint32(at.y), W: uint32(at.w), H: uint32(at.h)}
}
