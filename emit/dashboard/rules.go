package dashboard

import (
	"regexp"
	"strconv"

	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// The types below are the format of Prometheus rule files.

type rulesFile struct {
	Groups []ruleGroup `json:"groups"`
}

type ruleGroup struct {
	Name  string `json:"name"`
	Rules []rule `json:"rules"`
}

type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for,omitempty"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// ruleFile returns the alerts that a Prometheus can evaluate, in their order.
func ruleFile(alerts []monitoring.Alert) (emit.File, error) {
	file := &rulesFile{Groups: []ruleGroup{}}
	for _, a := range alerts {
		if a.CloudOnly {
			continue
		}
		last := len(file.Groups) - 1
		if last < 0 || file.Groups[last].Name != a.Group {
			file.Groups = append(file.Groups, ruleGroup{Name: a.Group})
			last++
		}
		file.Groups[last].Rules = append(file.Groups[last].Rules, rule{
			Alert:  a.Name,
			Expr:   a.Expr,
			For:    promDuration(a.For),
			Labels: map[string]string{"severity": a.Severity},
			Annotations: map[string]string{
				"summary":     a.Summary,
				"description": labelReference.ReplaceAllString(a.Action, "{{ $$labels.$1 }}"),
			},
		})
	}
	content, err := kubeyaml.Marshal(file)
	return emit.File{Path: "dashboards/alert-rules.yaml", Content: content}, err
}

// labelReference matches {{label}}, which stands for the value of a label in the
// text of an alert.
var labelReference = regexp.MustCompile(`\{\{(\w+)\}\}`)

// promDuration returns seconds in the largest unit of Prometheus that gives a whole
// number. For 0 it returns "".
func promDuration(seconds int) string {
	switch {
	case seconds == 0:
		return ""
	case seconds%3600 == 0:
		return strconv.Itoa(seconds/3600) + "h"
	case seconds%60 == 0:
		return strconv.Itoa(seconds/60) + "m"
	default:
		return strconv.Itoa(seconds) + "s"
	}
}
