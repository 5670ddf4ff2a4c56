package dashboards

import (
	"fmt"
	"log/slog"
	"regexp"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// templateLabel finds a label's value in an annotation.
var templateLabel = regexp.MustCompile(`\$labels\.(\w+)`)

// checkRules checks a Prometheus rule file.
func checkRules(content []byte) []error {
	groups, errs := rulefmt.Parse(content, false, model.UTF8Validation, parser.NewParser(parser.Options{}),
		slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		return errs
	}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			have, queryErrs := queryLabels(rule.Expr)
			for _, err := range queryErrs {
				errs = append(errs, fmt.Errorf("alert %s: %w", rule.Alert, err))
			}
			if strings.Contains(rule.Expr, "kubernetes_io:") || strings.Contains(rule.Expr, "googleapis_com:") {
				errs = append(errs, fmt.Errorf("alert %s: a Prometheus has no metrics of Cloud Monitoring", rule.Alert))
			}
			for _, annotation := range []string{"summary", "description"} {
				text := rule.Annotations[annotation]
				if text == "" {
					errs = append(errs, fmt.Errorf("alert %s: no %s", rule.Alert, annotation))
				}
				for _, label := range templateLabel.FindAllStringSubmatch(text, -1) {
					if have != nil && !have[label[1]] {
						errs = append(errs,
							fmt.Errorf("alert %s: its %s speaks of label %s, which its expression drops", rule.Alert,
								annotation, label[1]))
					}
				}
			}
		}
	}
	return errs
}
