// Package dashboards checks the monitoring of a platform: the dashboards, alert
// rules, alert policies and scraping objects of a deploy folder. It checks each
// against the library or schema with which its consumer reads it, and every query in
// them against the metrics that Kueue really exports.
package dashboards

import (
	"fmt"
	"io/fs"

	"github.com/batchwright/batchwright/conformance/owners"
)

// Check returns the errors in a deploy folder, file by file. Every error begins with
// the file's path. A folder without dashboards is also an error: those for Cloud
// Monitoring are in Terraform's own folder, where nobody else reads them.
func Check(folder fs.FS) []error {
	var errs []error
	cloud := "dashboards/cloud-monitoring"
	if _, err := fs.Stat(folder, "terraform/dashboards"); err == nil {
		cloud = "terraform/dashboards"
	}
	for _, kind := range []struct {
		pattern  string
		required bool
		check    func(content []byte) []error
	}{
		{cloud + "/*.json", true, checkCloud},
		{"dashboards/grafana/*.json", false, checkGrafana},
		{"dashboards/alert-rules.yaml", true, checkRules},
		{"terraform/*.tf", false, checkPolicies},
		{"kubernetes/monitoring/*.yaml", !owners.OthersRunKueue(folder), checkScraping},
	} {
		paths, err := fs.Glob(folder, kind.pattern)
		if err != nil {
			errs = append(errs, err)
		}
		if kind.required && len(paths) == 0 {
			errs = append(errs, fmt.Errorf("%s: no such file", kind.pattern))
		}
		for _, path := range paths {
			content, err := fs.ReadFile(folder, path)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			for _, err := range kind.check(content) {
				errs = append(errs, fmt.Errorf("%s: %w", path, err))
			}
		}
	}
	return errs
}
