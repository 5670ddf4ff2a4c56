// Package dashboard renders the monitoring of a platform: dashboards for Cloud
// Monitoring and Grafana, Prometheus rules, and the objects that let Google Managed
// Prometheus scrape the scheduler and JobSet.
//
// Each panel is defined once, in panels.go; cloud.go and grafana.go render it in
// their formats. The plan holds the alerts completely resolved.
package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
)

// Files returns the folders dashboards and kubernetes/monitoring.
func Files(p *ir.Platform) ([]emit.File, error) {
	boards := []board{
		{file: "admin", title: p.Name + ": platform", sections: admin(p)},
		{file: "team", title: p.Name + ": team", sections: team(p), team: true},
	}
	var files []emit.File
	for _, b := range boards {
		content, err := indented(cloudDashboard(p, b))
		if err != nil {
			return nil, fmt.Errorf("dashboard: %s for Cloud Monitoring: %w", b.file, err)
		}
		files = append(files, emit.File{Path: p.CloudDashboards() + "/" + b.file + ".json", Content: content})
	}
	rules, err := ruleFile(p)
	if err != nil {
		return nil, err
	}
	files = append(files, rules)
	scraping, err := scrapeFiles(p)
	if err != nil {
		return nil, err
	}
	files = append(files, scraping...)
	if p.Monitoring.Grafana {
		grafana, err := grafanaFiles(p, boards)
		if err != nil {
			return nil, err
		}
		files = append(files, grafana...)
	}
	return files, nil
}

// board is one dashboard, independent of its format.
type board struct {
	file     string // name, without folder and extension
	title    string
	sections []section
	team     bool // the reader chooses a team
}

// firstTeam returns the namespace that a team's dashboard shows when it is opened,
// or "" for a platform without teams.
func firstTeam(p *ir.Platform) string {
	if len(p.Teams) == 0 {
		return ""
	}
	return p.Teams[0].Namespace
}

// firstQueue returns the queue of KAI Scheduler that a team's dashboard shows when
// it is opened, or "" for a platform without queues.
func firstQueue(p *ir.Platform) string {
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			return q.LocalQueue
		}
	}
	return ""
}

// indented returns a value as indented JSON. It does not escape < and >, which are
// frequent in PromQL and valid in JSON.
func indented(value any) ([]byte, error) {
	var out bytes.Buffer
	printer := json.NewEncoder(&out)
	printer.SetEscapeHTML(false)
	printer.SetIndent("", "  ")
	err := printer.Encode(value)
	return out.Bytes(), err
}
