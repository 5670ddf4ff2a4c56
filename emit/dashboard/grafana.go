package dashboard

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// object is an object of Grafana's classic dashboard schema, with the values that Grafana's
// own export has. Its keys are printed in order, as Grafana sorts them. conformance/dashboards
// reads every golden board with Grafana's library, which rejects a key that Grafana does not
// have.
//
// Source: Grafana Foundation SDK v0.0.18, packages dashboard, common, prometheus, stat,
// gauge, heatmap, table and timeseries.
type object = map[string]any

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
func newGrafanaBoard(p *ir.Platform, b monitoring.Board, boards []monitoring.Board) object {
	var panels []object
	id, line := 0, 0
	for _, s := range b.Sections {
		id++
		row := object{
			"collapsed": s.Folded, "gridPos": gridPos(box{0, line, columns, 1}), "id": id, "panels": []object{},
			"title": s.Title, "type": "row",
		}
		places, end := placeBoxes(s.Panels, line+1)
		var inRow []object
		for i, panel := range s.Panels {
			id++
			inRow = append(inRow, newGrafanaPanel(panel, id, places[i]))
		}
		line = end
		if s.Folded { // a folded row holds its panels
			row["panels"], inRow = inRow, nil
		}
		panels = append(append(panels, row), inRow...)
	}
	out := object{
		"annotations": object{}, "description": b.Description, "editable": true, "fiscalYearStartMonth": 0,
		"graphTooltip": 1, // the crosshair is on all panels
		"panels":       panels, "refresh": "1m", "schemaVersion": 42,
		"tags":       []string{string(p.Scheduler), p.Name, b.File},
		"templating": object{"list": grafanaVariables(b.Variables)}, "time": object{"from": "now-6h", "to": "now"},
		"timezone": "browser", "title": b.Title, "uid": p.Name + "-" + b.File,
	}
	var links []object
	for _, other := range boards {
		if other.File != b.File {
			links = append(links, boardLink(p, other))
		}
	}
	if links != nil {
		out["links"] = links
	}
	return out
}

// boardLink returns a link to another board of the platform, which Grafana finds by
// its tags. The other board shows the same time and cluster.
func boardLink(p *ir.Platform, to monitoring.Board) object {
	return object{
		"asDropdown": false, "icon": "", "includeVars": true, "keepTime": true, "placement": "inControlsMenu",
		"tags": []string{p.Name, to.File}, "targetBlank": false, "title": to.Title, "tooltip": "", "type": "dashboards",
	}
}

// grafanaVariables returns the variables that the reader sets above a dashboard. The
// data source is a variable, so that the file does not name a data source that
// exists only in one Grafana.
func grafanaVariables(variables []monitoring.Variable) []object {
	source := newVariable("datasource", "datasource", "Data source")
	source["query"] = "prometheus"
	out := []object{source}
	for _, v := range variables {
		switch series := v.Values(grafanaNotation); {
		case v.Follows != "":
		case series == "": // the reader types the value
			box := newVariable("textbox", v.Name, v.Title)
			box["query"], box["current"] = v.Chosen[0], chosenValue(v)
			out = append(out, box)
		default:
			out = append(out, labelValues(v, series))
		}
	}
	return out
}

// newVariable returns a variable with Grafana's defaults.
func newVariable(kind, name, label string) object {
	return object{
		"allowCustomValue": true, "auto": false, "auto_count": 30, "auto_min": "10s", "includeAll": false,
		"label": label, "multi": false, "name": name, "skipUrlSync": false, "type": kind,
	}
}

// labelValues returns a variable whose values are the values of a label in a set of
// series. They are sorted, and read when the board opens.
func labelValues(v monitoring.Variable, series string) object {
	query := "label_values(" + series + ", " + v.Label + ")"
	out := newVariable("query", v.Name, v.Title)
	out["query"], out["definition"], out["datasource"] = query, query, promDatasource()
	out["current"], out["refresh"], out["sort"], out["multi"] = chosenValue(v), 1, 1, v.Many
	if v.Without != "" {
		out["regex"] = "/^(?!" + v.Without + "$).*/"
	}
	return out
}

// chosenValue returns the value of a variable when the board opens.
func chosenValue(v monitoring.Variable) object {
	if v.Many {
		return object{"text": v.Chosen, "value": v.Chosen}
	}
	return object{"text": v.Chosen[0], "value": v.Chosen[0]}
}

// newGrafanaPanel returns a panel at a place.
func newGrafanaPanel(p monitoring.Panel, id int, at box) object {
	defaults := object{
		"color": panelColor(p), "thresholds": object{"mode": "absolute", "steps": thresholdSteps(p)},
		"unit": p.Unit.Grafana,
	}
	out := object{
		"datasource": promDatasource(), "gridPos": gridPos(at), "id": id, "repeatDirection": "h",
		"targets": grafanaTargets(p), "title": p.Title, "transparent": false,
	}
	if p.Note != "" {
		out["description"] = p.Note
	}
	if p.Unit.Whole && p.Shape != monitoring.Table {
		defaults["decimals"] = 0
	}
	overrides := []object{}
	switch p.Shape {
	case monitoring.Number:
		out["type"], out["options"] = "stat", statOptions(p)
	case monitoring.Gauge:
		defaults["min"], defaults["max"] = 0, 1
		out["type"], out["options"] = "gauge", object{
			"minVizHeight": 75, "minVizWidth": 75, "orientation": "auto", "reduceOptions": lastValue(),
			"showThresholdLabels": false, "showThresholdMarkers": true, "sizing": "auto",
		}
	case monitoring.Heatmap:
		out["type"], out["options"], defaults["custom"] = "heatmap", heatmapOptions(p), object{}
	case monitoring.Table:
		out["type"], out["options"], overrides = "table", tableOptions(p), columnFormats(p)
		out["transformations"] = joinQueries(p)
		defaults["custom"] = object{"align": "auto", "filterable": true, "inspect": false}
		defaults["unit"] = "string" // of the labels; the columns of the queries have their own
	default:
		out["type"], out["options"], overrides = "timeseries", chartOptions(), dashedLines(p)
		defaults["min"], defaults["custom"] = 0, chartStyle(p)
	}
	out["fieldConfig"] = object{"defaults": defaults, "overrides": overrides}
	return out
}

// grafanaTargets returns the queries of a panel.
func grafanaTargets(p monitoring.Panel) []object {
	table := p.Shape == monitoring.Table
	var out []object
	for i, q := range p.Queries {
		target := object{
			"datasource": promDatasource(), "editorMode": "code", "expr": q.PromQL(grafanaNotation), "instant": table,
			"legendFormat": legendFormat(q), "range": !table, "refId": refID(i),
		}
		if table {
			target["format"] = "table"
		}
		out = append(out, target)
	}
	return out
}

// statOptions returns the options of a panel that shows one number.
func statOptions(p monitoring.Panel) object {
	color := "value"
	if p.Thresholds != nil {
		color = "background"
	}
	return object{
		"colorMode": color, "graphMode": "area", "justifyMode": "auto", "orientation": "auto",
		"percentChangeColorMode": "standard", "reduceOptions": lastValue(), "showPercentChange": false,
		"textMode": "auto", "wideLayout": true,
	}
}

// panelColor returns the colour of a panel. The default of Grafana shows every figure from 80
// on in red. A figure is green, yellow or red only if it has thresholds, and the series of a
// chart have colours of their own.
func panelColor(p monitoring.Panel) object {
	switch p.Shape {
	case monitoring.Lines, monitoring.Stack:
		return object{"mode": "palette-classic"}
	case monitoring.Number, monitoring.Gauge:
		if p.Thresholds == nil {
			return object{"mode": "fixed", "fixedColor": "blue"}
		}
	}
	return object{"mode": "thresholds"}
}

// thresholdSteps returns the steps of a panel's colours. The first step has no value.
func thresholdSteps(p monitoring.Panel) []object {
	first := "green"
	if p.Thresholds == nil {
		first = "text"
	}
	steps := []object{{"color": first, "value": nil}}
	for _, t := range p.Thresholds {
		color := "yellow"
		if t.Critical {
			color = "red"
		}
		steps = append(steps, object{"color": color, "value": t.From})
	}
	return steps
}

// heatmapOptions returns the options of a heatmap of percentages with a row for every ten
// percent.
func heatmapOptions(p monitoring.Panel) object {
	return object{
		"calculate": true, "calculation": object{"yBuckets": object{"mode": "size", "value": "10"}}, "cellGap": 1,
		"color": object{
			"exponent": 0, "fill": "", "mode": "scheme", "reverse": false, "scheme": "Blues", "steps": 64,
		},
		"exemplars": object{"color": "rgba(255,0,255,0.7)"}, "filterValues": object{"le": json.Number("1e-9")},
		"legend": object{"show": true}, "selectionMode": "x", "showValue": "auto", "tooltip": object{"mode": "single"},
		"yAxis": object{"max": 100, "min": 0, "unit": p.Unit.Grafana},
	}
}

// lastValue reduces a series to one number: its last value.
func lastValue() object { return object{"calcs": []string{"lastNotNull"}} }

// legendWidth is the width of a legend in pixels. Without it, long names leave no room
// for the chart.
const legendWidth = 320

// chartOptions returns the options of a chart with a legend that also shows each series' last
// and largest value.
func chartOptions() object {
	return object{
		"legend": object{
			"calcs": []string{"lastNotNull", "max"}, "displayMode": "table", "placement": "right", "showLegend": true,
			"sortBy": "Last *", "sortDesc": true, "width": legendWidth,
		},
		"tooltip": object{"mode": "multi", "sort": "desc"},
	}
}

// chartStyle returns how a chart draws its series and thresholds.
func chartStyle(p monitoring.Panel) object {
	out := object{}
	if p.Unit.Whole {
		out["axisSoftMax"] = 1 // otherwise the axis of a series of 0 ends at 100
	}
	if p.Shape == monitoring.Stack {
		out["fillOpacity"], out["stacking"] = 30, object{"mode": "normal"}
	}
	if p.Thresholds != nil {
		out["thresholdsStyle"] = object{"mode": "dashed"}
	}
	return out
}

// dashedLines draws the series of some queries as dashed lines.
func dashedLines(p monitoring.Panel) []object {
	out := []object{}
	for i, q := range p.Queries {
		if q.Dashed {
			dashed := object{"fill": "dash", "dash": []int{8, 6}}
			out = append(out, override("byFrameRefID", refID(i), object{"id": "custom.lineStyle", "value": dashed}))
		}
	}
	return out
}

// override gives the series or columns that a matcher selects other properties.
func override(matcher, options string, properties ...object) object {
	return object{"matcher": object{"id": matcher, "options": options}, "properties": properties}
}

// joinQueries joins the queries of a table by their labels, so that each query becomes a
// column. It orders and names the columns: first the labels, then the queries.
func joinQueries(p monitoring.Panel) []object {
	order, names := object{}, object{}
	for i, label := range p.Queries[0].By {
		order[label], names[label] = i, strings.ReplaceAll(label, "_", " ")
	}
	for i, q := range p.Queries {
		column := "Value #" + refID(i)
		order[column], names[column] = len(p.Queries[0].By)+i, q.Name
	}
	return []object{{"id": "merge", "options": object{}}, {"id": "organize", "options": object{
		"excludeByName": object{"Time": true}, "indexByName": order, "renameByName": names,
	}}}
}

// columnFormats returns the formats of a table's figures.
func columnFormats(p monitoring.Panel) []object {
	var out []object
	for _, q := range p.Queries {
		format := []object{{"id": "unit", "value": p.Unit.Grafana}}
		if p.Unit.Whole {
			format = append(format, object{"id": "decimals", "value": 0})
		}
		out = append(out, override("byName", q.Name, format...))
	}
	return out
}

// tableOptions returns the options of a table.
func tableOptions(p monitoring.Panel) object {
	out := object{
		"cellHeight": "sm",
		// Without a reducer, the footer violates Grafana's schema.
		"footer":     object{"reducer": []string{"sum"}, "show": false},
		"frameIndex": 0, "showHeader": true, "showTypeIcons": false,
	}
	if p.SortBy != "" {
		out["sortBy"] = []object{{"desc": !p.Ascending, "displayName": p.SortBy}}
	}
	return out
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

func promDatasource() object { return object{"type": "prometheus", "uid": "${datasource}"} }

func gridPos(at box) object { return object{"h": at.h, "w": at.w, "x": at.x, "y": at.y} }
