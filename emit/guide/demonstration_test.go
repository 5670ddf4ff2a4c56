package guide

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/ir"
)

// demonstrate gives a platform of newPlatform two phases, with s as their names.
func demonstrate(p *ir.Platform, s string) {
	var teams []string
	for i := range p.Teams {
		teams = append(teams, p.Teams[i].Name)
	}
	pending := 2
	first := ir.Phase{Name: "first" + s, Shows: "- " + s, Teams: teams, Submit: []string{p.Workloads[0].Template},
		Pods:    []ir.CapacityCount{{Capacity: p.Capacities[0].Name, Count: 4}, {Capacity: p.Capacities[1].Name}},
		Evicted: []ir.JobCount{{Template: p.Workloads[0].Template, Count: 1}}, Pending: &pending,
		Completed:   []string{p.Workloads[0].Template},
		Moved:       []ir.MovedCount{{Template: p.Workloads[0].Template, Capacity: "l4-spot", Count: 1}},
		WaitSeconds: 600,
		Queues:      []ir.QueueCount{{Tier: "lp", Admitted: 2}}}
	p.Demonstration = []ir.Phase{first, {Name: "second" + s, Teams: teams[:1], OneByOne: true, WaitSeconds: 1800,
		Cordon:   []ir.CapacityCount{{Capacity: p.Capacities[0].Name, Count: 1}},
		Uncordon: []string{p.Capacities[1].Name}, Delete: first.Submit, Submit: first.Submit,
		Nodes: [][]string{{s, s}}}}
}

func renderDemonstration(t *testing.T, teams int) string {
	t.Helper()
	p := newPlatform(teams)
	p.Capacities[0].NodeLabels = []ir.KeyValue{{Key: "capacity", Value: "l4-reserved"}, {Key: "x", Value: "y"}}
	demonstrate(p, "")
	return renderPages(t, p)[demonstrationPage]
}

// TestDemonstration checks the commands and the tables of the phases.
func TestDemonstration(t *testing.T) {
	page := renderDemonstration(t, 2)
	for _, want := range []string{
		"\nThe script waits for at most 10 minutes.\n",
		"\nThe script waits for at most 30 minutes for each job that must run before the next one",
		"\n## Phase 1: first\n", "\n./demonstrate.sh first\n",
		"\nfor COPY in 1 2; do\n  for TEAM in team-000 team-001; do\n" +
			"    kubectl apply --server-side -f \"workloads/$TEAM/low-priority-$COPY.yaml\"\n  done\ndone\n",
		"\n| `cq-team-001-lp` | 0 | 2 |\n",
		"Each team with `low-priority` jobs has lost 1 of them to other jobs",
		"has 1 evicted job that Kueue has admitted again, on `l4-spot`.",
		"\n| `l4-reserved` | 4 |\n| `l4-spot` | 0 |\n",
		"\n2 more pods wait for nodes ([Before you begin](#before-you-begin))",
		"\nNODE=$(kubectl get nodes -l capacity=l4-reserved,x=y -o name | sort | tail -n 1)\n" +
			"kubectl label \"$NODE\" demonstration=cordoned\nkubectl cordon \"$NODE\"\n" +
			"kubectl uncordon -l demonstration=cordoned\n" +
			"kubectl label nodes -l demonstration=cordoned demonstration-\n",
		"and uncordons the nodes that the demonstration has cordoned.\n",
		"the cluster has 8 nodes: 4 of `system`, 4 of `l4-reserved`.",
		"\n  kubectl delete --ignore-not-found -f \"workloads/team-000/low-priority-$COPY.yaml\"\n",
		"\nkubectl apply --server-side -f workloads/team-000/low-priority-1.yaml\n" +
			"kubectl wait jobs/low-priority-1 -n team-000 '--for=jsonpath={.status.ready}=2' --timeout=1800s\n" +
			"kubectl apply --server-side -f workloads/team-000/low-priority-2.yaml\n",
		"\n## What happens to evicted jobs\n", "\n## If the numbers differ\n", "\n./demonstrate.sh clean-up\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
}

// TestDemonstrationOfManyTeams: the page does not grow with the number of teams.
func TestDemonstrationOfManyTeams(t *testing.T) {
	page := renderDemonstration(t, 400)
	for _, want := range []string{
		"  for TEAM in $(ls workloads); do\n", "\n| each of 400 queues of tier `lp` | 0 | 2 |\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(page, "team-"); n > 10 {
		t.Errorf("the page names teams %d times", n)
	}
}

// TestDemonstrationOfItsPlatform: the page speaks only of what the phases do.
func TestDemonstrationOfItsPlatform(t *testing.T) {
	render := func(edit func(*ir.Platform)) string {
		p := newPlatform(2)
		demonstrate(p, "")
		edit(p)
		return renderPages(t, p)[demonstrationPage]
	}
	for _, test := range []struct {
		name string
		edit func(*ir.Platform)
		text string
		want bool
	}{
		{"a Secret of a workload that no phase submits", func(p *ir.Platform) {
			p.Workloads = append(p.Workloads, ir.Workload{Template: "other", Name: "other", Kind: ir.Job,
				Team: p.Teams[0].Name, Namespace: p.Teams[0].Namespace, Pods: 1,
				SecretEnv: []ir.SecretEnv{{Secret: "token", Key: "key"}}})
		}, "need Secrets", false},
		{"a Secret", func(p *ir.Platform) {
			p.Workloads[0].SecretEnv = []ir.SecretEnv{{Secret: "token", Key: "key"}}
		}, "need Secrets", true},
		{"nodes for all", func(p *ir.Platform) { p.Capacities[0].MaxNodes = 100 }, ", the queues guarantee", false},
		{"too few nodes", func(p *ir.Platform) { p.Capacities[0].MaxNodes = 0 }, ", the queues guarantee", true},
		{"no pod waits", func(p *ir.Platform) {
			p.Capacities[0].MaxNodes = 0
			p.Demonstration[0].Pending = nil
		}, ", the queues guarantee", false},
		{"no node is cordoned", func(p *ir.Platform) { p.Demonstration = p.Demonstration[:1] }, "uncordons", false},
		{"two nodes are cordoned", func(p *ir.Platform) { p.Demonstration[1].Cordon[0].Count = 2 },
			" | tail -n 2); do\n" +
				"  kubectl label \"$NODE\" demonstration=cordoned\n  kubectl cordon \"$NODE\"\ndone\n", true},
		{"a TensorBoard", func(p *ir.Platform) { p.Monitoring.TensorBoard = "us-central1" },
			"[Watch it](README.md#watch-it) has the link", true},
		{"jobs do not move", func(*ir.Platform) {}, "--watch", false},
		{"jobs move", func(p *ir.Platform) { p.Scheduler = ir.KAI }, "reason=Evict", true},
	} {
		if page := render(test.edit); strings.Contains(page, test.text) != test.want {
			t.Errorf("%s: the page contains %q: %t\n%s", test.name, test.text, !test.want, page)
		}
	}
}

// TestNoDemonstrationPage: without phases no page has a word of it.
func TestNoDemonstrationPage(t *testing.T) {
	for name, page := range renderPages(t, newPlatform(2)) {
		if name == demonstrationPage || strings.Contains(page, "demonstrat") {
			t.Errorf("%s speaks of a demonstration", name)
		}
	}
}

// TestShellWord: the shell replaces only variables.
func TestShellWord(t *testing.T) {
	for text, want := range map[string]string{
		"a/b": "a/b", "a b": "'a b'",
		"a/" + variable("TEAM") + "/b":    `"a/$TEAM/b"`,
		"$TEAM/" + variable("TEAM"):       `'$TEAM/'"$TEAM"`,
		"a/" + variable("TEAM") + "/it's": `a/"$TEAM"'/it'\''s'`,
	} {
		if got := shellWord(text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// TestDemonstrationWithoutNodes: the page says which phases cannot be performed for now,
// and how jobs wait for the nodes of queued capacities.
func TestDemonstrationWithoutNodes(t *testing.T) {
	p := newPlatform(2)
	demonstrate(p, "")
	p.Capacities[0].Static, p.Capacities[0].Option = false, ir.QueuedFlexStart
	page := renderPages(t, p)[demonstrationPage]
	if !strings.Contains(page, "\nA job on `l4-reserved` has no pods until Dynamic Workload Scheduler has all") ||
		strings.Contains(page, "has no `l4-reserved` nodes") || strings.Contains(page, "`l4-reserved` grows") {
		t.Error(page)
	}
	p.Capacities[0].Machine.Slice = &ir.Slice{Hosts: 4}
	page = renderPages(t, p)[demonstrationPage]
	if !strings.Contains(page, "\nThe platform has no `l4-reserved` nodes now") {
		t.Error(page)
	}
}
