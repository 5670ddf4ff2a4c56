// Package dashboard renders what watches a platform: dashboards for Cloud
// Monitoring and Grafana, Prometheus rules, and the objects that let Google
// Managed Prometheus scrape the scheduler and JobSet.
//
// A panel is written once, in panels.go; cloud.go and grafana.go render it in
// their dialects. Alerts come resolved in the plan.
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

// A board is one dashboard, of whatever dialect.
type board struct {
	file     string // name, without folder and extension
	title    string
	sections []section
	team     bool // the reader chooses a team
}

// firstTeam is the namespace a team's dashboard shows when it is opened, or ""
// on a platform without teams.
func firstTeam(p *ir.Platform) string {
	if len(p.Teams) == 0 {
		return ""
	}
	return p.Teams[0].Namespace
}

// firstQueue is the queue of KAI Scheduler that a team's dashboard shows when it
// is opened, or "" on a platform without any.
func firstQueue(p *ir.Platform) string {
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			return q.LocalQueue
		}
	}
	return ""
}

// indented prints a value as JSON. PromQL is full of < and >, which JSON can
// hold as they are.
func indented(value any) ([]byte, error) {
	var out bytes.Buffer
	printer := json.NewEncoder(&out)
	printer.SetEscapeHTML(false)
	printer.SetIndent("", "  ")
	err := printer.Encode(value)
	return out.Bytes(), err
}
