package dashboards

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"

	"cloud.google.com/go/monitoring/dashboard/apiv1/dashboardpb"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"google.golang.org/protobuf/encoding/protojson"
)

// Query is the query of one panel or alert. Its variables are replaced by the values
// that are selected at first.
type Query struct {
	File  string
	Name  string // of the panel or alert
	Alert bool
	Expr  string
	// Selectors are the series that the query reads: matchers without a range or
	// offset.
	Selectors []string
}

// Queries returns all queries of a deploy folder to a Prometheus, file by file.
// Check reports whether the files are valid.
func Queries(folder fs.FS) ([]Query, error) {
	var out []Query
	for _, kind := range []struct {
		pattern string
		read    func(content []byte) ([]Query, error)
	}{
		{"dashboards/cloud-monitoring/*.json", cloudQueries},
		{"terraform/dashboards/*.json", cloudQueries},
		{"dashboards/grafana/*.json", grafanaQueries},
		{"dashboards/alert-rules.yaml", ruleQueries},
		{"terraform/*.tf", policyQueries},
	} {
		paths, err := fs.Glob(folder, kind.pattern)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			content, err := fs.ReadFile(folder, path)
			if err != nil {
				return nil, err
			}
			queries, err := kind.read(content)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			for _, q := range queries {
				q.File = path
				if q.Selectors, err = selectors(q.Expr); err != nil {
					return nil, fmt.Errorf("%s: %s: query %s: %w", path, q.Name, q.Expr, err)
				}
				out = append(out, q)
			}
		}
	}
	return out, nil
}

// selectors returns the selectors in an expression, in its order.
func selectors(query string) ([]string, error) {
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		return nil, err
	}
	var out []string
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if s, ok := node.(*parser.VectorSelector); ok {
			plain := &parser.VectorSelector{Name: s.Name, LabelMatchers: s.LabelMatchers}
			if text := plain.String(); !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
		return nil
	})
	return out, nil
}

func cloudQueries(content []byte) ([]Query, error) {
	var board dashboardpb.Dashboard
	if err := protojson.Unmarshal(content, &board); err != nil {
		return nil, err
	}
	variables := cloudVariables(&board)
	var out []Query
	for _, tile := range board.GetMosaicLayout().GetTiles() {
		for _, query := range timeSeriesQueries(tile.GetWidget().ProtoReflect()) {
			expr, errs := fillCloud(query.GetPrometheusQuery(), variables)
			if len(errs) > 0 {
				return nil, errors.Join(errs...)
			}
			out = append(out, Query{Name: tile.GetWidget().GetTitle(), Expr: expr})
		}
	}
	return out, nil
}

// labelValues matches the query with which Grafana lists the values of a variable.
var labelValues = regexp.MustCompile(`^label_values\((.+), *(\w+)\)$`)

func grafanaQueries(content []byte) ([]Query, error) {
	board, err := decodeGrafana(content)
	if err != nil {
		return nil, err
	}
	var panels []dashboard.Panel
	for _, entry := range board.Panels {
		if entry.Panel != nil {
			panels = append(panels, *entry.Panel)
		} else if entry.RowPanel != nil {
			panels = append(panels, entry.RowPanel.Panels...)
		}
	}
	variables := grafanaVariables(board)
	var out []Query
	for _, v := range board.Templating.List {
		if v.Query == nil || v.Query.String == nil {
			continue
		}
		if m := labelValues.FindStringSubmatch(*v.Query.String); m != nil {
			expr, errs := fillGrafana(m[1], variables)
			if len(errs) > 0 {
				return nil, errors.Join(errs...)
			}
			out = append(out, Query{Name: "$" + v.Name, Expr: "group by (" + m[2] + ") (" + expr + ")"})
		}
	}
	for _, panel := range panels {
		for _, target := range panel.Targets {
			query, ok := target.(*prometheus.Dataquery)
			if !ok {
				return nil, fmt.Errorf("%s query, want prometheus", target.DataqueryType())
			}
			expr, errs := fillGrafana(query.Expr, variables)
			if len(errs) > 0 {
				return nil, errors.Join(errs...)
			}
			out = append(out, Query{Name: *panel.Title, Expr: expr})
		}
	}
	return out, nil
}

func ruleQueries(content []byte) ([]Query, error) {
	groups, errs := rulefmt.Parse(content, false, model.UTF8Validation, parser.NewParser(parser.Options{}),
		slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	var out []Query
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			out = append(out, Query{Name: rule.Alert, Alert: true, Expr: rule.Expr})
		}
	}
	return out, nil
}

func policyQueries(content []byte) ([]Query, error) {
	file, diags := hclsyntax.ParseConfig(content, "", hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	body := file.Body.(*hclsyntax.Body)
	constants := localValues(body)
	var out []Query
	for _, policy := range policies(body) {
		instances, err := instances(policy.Body, constants)
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(instances)) {
			for _, condition := range promqlConditions(policy.Body) {
				expr, err := constant(condition, "query", instances[name])
				if err != nil {
					return nil, err
				}
				out = append(out, Query{Name: strings.Trim(name, `["]`), Alert: true, Expr: expr})
			}
		}
	}
	return out, nil
}
