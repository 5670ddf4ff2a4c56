package dashboards

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

// grafanaColumns is the width of Grafana's grid.
const grafanaColumns = 24

// classic is the schema that Grafana's sidecar and its provisioning load.
//
//lint:ignore SA1019 Version 2 is a resource of Grafana's API.
type classic = dashboard.Dashboard

// decodeGrafana decodes a dashboard strictly.
func decodeGrafana(content []byte) (classic, error) {
	plugins.RegisterDefaultPlugins()
	// The library's strict decoder returns an empty list of errors where there
	// is none, and loses the panels: what it decodes cannot be used.
	if err := new(classic).UnmarshalJSONStrict(content); err != nil && err.Error() != "" {
		return classic{}, err
	}
	var board classic
	if err := json.Unmarshal(content, &board); err != nil {
		return classic{}, err
	}
	if len(board.Panels) == 0 {
		return classic{}, errors.New("no panels")
	}
	return board, board.Validate()
}

// checkGrafana checks a dashboard of Grafana.
func checkGrafana(content []byte) []error {
	board, err := decodeGrafana(content)
	if err != nil {
		return []error{err}
	}

	variables := grafanaVariables(board)
	var errs []error
	var placed []rectangle
	place := func(title string, at *dashboard.GridPos) {
		if at == nil {
			errs = append(errs, fmt.Errorf("panel %q has no place", title))
			return
		}
		r := rectangle{title, int(at.X), int(at.Y), int(at.W), int(at.H)}
		errs = append(errs, r.within(grafanaColumns)...)
		placed = append(placed, r)
	}
	check := func(panel dashboard.Panel) {
		title := ""
		if panel.Title != nil {
			title = *panel.Title
		}
		place(title, panel.GridPos)
		for _, err := range checkGrafanaPanel(panel, variables) {
			errs = append(errs, fmt.Errorf("panel %q: %w", title, err))
		}
	}
	for _, entry := range board.Panels {
		switch {
		case entry.Panel != nil:
			check(*entry.Panel)
		case entry.RowPanel != nil:
			title := ""
			if entry.RowPanel.Title != nil {
				title = *entry.RowPanel.Title
			}
			place(title, entry.RowPanel.GridPos)
			for _, panel := range entry.RowPanel.Panels {
				check(panel)
			}
		}
	}
	return append(errs, overlaps(placed)...)
}

func checkGrafanaPanel(panel dashboard.Panel, variables map[string]string) []error {
	errs := checkDatasource(panel.Datasource, variables)
	if len(panel.Targets) == 0 {
		errs = append(errs, errors.New("no query"))
	}
	for _, target := range panel.Targets {
		query, ok := target.(*prometheus.Dataquery)
		if !ok {
			errs = append(errs, fmt.Errorf("%s query, want prometheus", target.DataqueryType()))
			continue
		}
		errs = append(errs, checkDatasource(query.Datasource, variables)...)
		promql, fillErrs := fillGrafana(query.Expr, variables)
		errs = append(errs, fillErrs...)
		errs = append(errs, checkQuery(promql)...)
	}
	return errs
}

// checkDatasource reports a data source that exists only in one Grafana.
func checkDatasource(ref *common.DataSourceRef, variables map[string]string) []error {
	if ref == nil || ref.Uid == nil {
		return []error{errors.New("no data source")}
	}
	name := strings.TrimSuffix(strings.TrimPrefix(*ref.Uid, "${"), "}")
	if _, ok := variables[name]; !ok || *ref.Uid != "${"+name+"}" {
		return []error{fmt.Errorf("data source %q is not a variable of the dashboard", *ref.Uid)}
	}
	return nil
}

// grafanaVariable finds $name and ${name}, but not the $1 of a regular
// expression.
var grafanaVariable = regexp.MustCompile(`\$\{?([A-Za-z_]\w*)\}?`)

// grafanaVariables returns the values of the variables that are selected at first.
func grafanaVariables(board classic) map[string]string {
	variables := map[string]string{}
	for _, v := range board.Templating.List {
		variables[v.Name] = value(v)
	}
	return variables
}

// fillGrafana puts values in the place of variables.
func fillGrafana(query string, variables map[string]string) (string, []error) {
	var errs []error
	filled := grafanaVariable.ReplaceAllStringFunc(query, func(variable string) string {
		name := strings.Trim(variable, "${}")
		// Source: Grafana documentation, global variables.
		if name == "__rate_interval" || name == "__interval" || name == "__range" {
			return "5m"
		}
		value, ok := variables[name]
		if !ok {
			errs = append(errs, fmt.Errorf("variable %s is not defined", variable))
		}
		return value
	})
	return filled, errs
}

// value returns what is chosen of a variable at first.
func value(v dashboard.VariableModel) string {
	switch {
	case v.Current == nil:
		return ""
	case v.Current.Value.String != nil:
		return *v.Current.Value.String
	default:
		return strings.Join(v.Current.Value.ArrayOfString, "|")
	}
}

// GrafanaFiller returns a function that replaces the variables in a query of a
// dashboard by the values that are selected at first.
func GrafanaFiller(content []byte) (func(query string) (string, error), error) {
	board, err := decodeGrafana(content)
	if err != nil {
		return nil, err
	}
	variables := grafanaVariables(board)
	return func(query string) (string, error) {
		filled, errs := fillGrafana(query, variables)
		return filled, errors.Join(errs...)
	}, nil
}
