package dashboard

import (
	"regexp"
	"strconv"

	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// ruleFile returns the alerts that a Prometheus can evaluate, in their order, as a file of
// rules of Prometheus.
func ruleFile(alerts []monitoring.Alert) kubeyaml.Manifest {
	groups := []kubeyaml.Fields{}
	for rest := alerts; len(rest) > 0; {
		group, rules := rest[0].Group, []kubeyaml.Fields{}
		for ; len(rest) > 0 && rest[0].Group == group; rest = rest[1:] {
			if !rest[0].CloudOnly {
				rules = append(rules, prometheusRule(rest[0]))
			}
		}
		if len(rules) > 0 {
			groups = append(groups, kubeyaml.Fields{"name": group, "rules": rules})
		}
	}
	return kubeyaml.Manifest{Name: "alert-rules.yaml", Objects: []any{kubeyaml.Fields{"groups": groups}}}
}

func prometheusRule(a monitoring.Alert) kubeyaml.Fields {
	rule := kubeyaml.Fields{
		"alert": a.Name, "expr": a.Expr, "labels": map[string]string{"severity": a.Severity},
		"annotations": map[string]string{
			"summary":     a.Summary,
			"description": labelReference.ReplaceAllString(a.Action, "{{ $$labels.$1 }}"),
		},
	}
	if a.For > 0 {
		rule["for"] = promDuration(a.For)
	}
	return rule
}

// labelReference matches {{label}}, which stands for the value of a label in the
// text of an alert.
var labelReference = regexp.MustCompile(`\{\{(\w+)\}\}`)

// promDuration returns seconds in the largest unit of Prometheus that gives a whole
// number.
func promDuration(seconds int) string {
	switch {
	case seconds%3600 == 0:
		return strconv.Itoa(seconds/3600) + "h"
	case seconds%60 == 0:
		return strconv.Itoa(seconds/60) + "m"
	default:
		return strconv.Itoa(seconds) + "s"
	}
}
