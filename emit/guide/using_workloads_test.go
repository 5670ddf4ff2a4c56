package guide

import "testing"

// TestLogsOfOtherTeams checks that a command names the namespace of a workload that the
// reader's team does not have.
func TestLogsOfOtherTeams(t *testing.T) {
	p := newPlatform(3)
	w := p.Workloads[0]
	w.Template, w.Name, w.Team, w.Namespace = "hello", "hello", p.Teams[1].Name, "it's"
	p.Workloads = append(p.Workloads, w)
	wantTexts(t, renderPages(t, p), map[string][]string{usingPage: {
		"NAMESPACE=team-000\n",
		"# hello of team-001\nkubectl logs -n 'it'\\''s' -c worker ",
		"| pods: STATUS `Completed` | the pod has succeeded |\n",
		"# low-priority-1\nkubectl logs -n \"$NAMESPACE\" -c worker ",
	}})
}
