package dashboards

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"cloud.google.com/go/monitoring/dashboard/apiv1/dashboardpb"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// checkCloud checks a dashboard of Cloud Monitoring.
func checkCloud(content []byte) []error {
	var board dashboardpb.Dashboard
	// Strict: unknown fields, enum values and two members of a oneof.
	if err := protojson.Unmarshal(content, &board); err != nil {
		return []error{err}
	}
	layout := board.GetMosaicLayout()
	if layout == nil {
		return []error{fmt.Errorf("no mosaicLayout")}
	}
	errs := checkMosaic(layout)

	variables := cloudVariables(&board)
	for _, tile := range layout.GetTiles() {
		widget := tile.GetWidget()
		for _, err := range checkWidget(widget, variables) {
			errs = append(errs, fmt.Errorf("widget %q: %w", widget.GetTitle(), err))
		}
	}
	return errs
}

// checkMosaic checks that tiles stay on the grid and do not overlap. Groups
// cover what belongs to them.
func checkMosaic(layout *dashboardpb.MosaicLayout) []error {
	var errs []error
	var placed []rectangle
	for _, tile := range layout.GetTiles() {
		r := rectangle{
			tile.GetWidget().GetTitle(),
			int(tile.GetXPos()), int(tile.GetYPos()), int(tile.GetWidth()), int(tile.GetHeight()),
		}
		errs = append(errs, r.within(int(layout.GetColumns()))...)
		if tile.GetWidget().GetCollapsibleGroup() == nil && tile.GetWidget().GetSingleViewGroup() == nil {
			placed = append(placed, r)
		}
	}
	return append(errs, overlaps(placed)...)
}

func checkWidget(widget *dashboardpb.Widget, variables map[string]*dashboardpb.DashboardFilter) []error {
	var errs []error
	for _, set := range widget.GetXyChart().GetDataSets() {
		if set.GetPlotType() == dashboardpb.XyChart_DataSet_HEATMAP &&
			set.GetTimeSeriesQuery().GetPrometheusQuery() != "" {
			errs = append(errs, fmt.Errorf("a heatmap needs a distribution, which PromQL does not return"))
		}
	}
	for _, query := range timeSeriesQueries(widget.ProtoReflect()) {
		if query.GetTimeSeriesQueryLanguage() != "" {
			errs = append(errs, fmt.Errorf("MQL is out of support: use PromQL"))
			continue
		}
		promql, fillErrs := fillCloud(query.GetPrometheusQuery(), variables)
		errs = append(errs, fillErrs...)
		errs = append(errs, checkQuery(promql)...)
	}
	return errs
}

// timeSeriesQueries returns the queries below a message, wherever they are.
func timeSeriesQueries(message protoreflect.Message) []*dashboardpb.TimeSeriesQuery {
	if query, ok := message.Interface().(*dashboardpb.TimeSeriesQuery); ok {
		return []*dashboardpb.TimeSeriesQuery{query}
	}
	var out []*dashboardpb.TimeSeriesQuery
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Message() == nil || field.IsMap():
		case field.IsList():
			for i := range value.List().Len() {
				out = append(out, timeSeriesQueries(value.List().Get(i).Message())...)
			}
		default:
			out = append(out, timeSeriesQueries(value.Message())...)
		}
		return true
	})
	return out
}

var cloudVariable = regexp.MustCompile(`\$\{([^}]*)\}`)

// cloudVariables returns the filters by the name of their variable.
func cloudVariables(board *dashboardpb.Dashboard) map[string]*dashboardpb.DashboardFilter {
	variables := map[string]*dashboardpb.DashboardFilter{}
	for _, filter := range board.GetDashboardFilters() {
		variables[filter.GetTemplateVariable()] = filter
	}
	return variables
}

// fillCloud puts values in the place of variables, as Cloud Monitoring does:
// ${x} is the matcher of filter x, ${x.value} its value, ${__interval} a time.
func fillCloud(query string, variables map[string]*dashboardpb.DashboardFilter) (string, []error) {
	var errs []error
	filled := cloudVariable.ReplaceAllStringFunc(query, func(variable string) string {
		name := variable[2 : len(variable)-1]
		if name == "__interval" {
			return "5m"
		}
		name, wantsValue := strings.CutSuffix(name, ".value")
		filter, ok := variables[name]
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("variable %s is not defined", variable))
			return variable
		case wantsValue:
			return filter.GetStringValue()
		default:
			return filter.GetLabelKey() + "=" + strconv.Quote(filter.GetStringValue())
		}
	})
	return filled, errs
}
