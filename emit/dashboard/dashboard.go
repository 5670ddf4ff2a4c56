// Package dashboard renders the boards and alerts of a platform: dashboards for Cloud
// Monitoring and Grafana, and Prometheus rules. Package monitoring holds the panels
// and alerts as data; cloud.go, grafana.go and rules.go render them in their formats.
package dashboard

import (
	"fmt"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// Files returns the folder dashboards, and the dashboards that Infrastructure Manager
// reads in the folder terraform.
func Files(p *ir.Platform) ([]emit.File, error) {
	boards := monitoring.Boards(p)
	var files []emit.File
	for _, b := range boards {
		content, err := boardJSON(cloudDashboard(b, p.Project))
		if err != nil {
			return nil, fmt.Errorf("dashboard: %s for Cloud Monitoring: %w", b.File, err)
		}
		files = append(files, emit.File{Path: p.CloudDashboards() + "/" + b.File + ".json", Content: content})
	}
	rules, err := kubeyaml.Files("dashboards", ruleFile(monitoring.Alerts(p)))
	files = append(files, rules...)
	if err != nil || !p.Monitoring.Grafana {
		return files, err
	}
	grafana, err := grafanaFiles(p, boards)
	return append(files, grafana...), err
}
