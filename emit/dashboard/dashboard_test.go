package dashboard

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// smallPlan is a small platform that has something of everything.
func smallPlan() *ir.Platform {
	return &ir.Platform{
		Name:      "gke-batch",
		Project:   "my-project",
		Scheduler: ir.Kueue,
		Capacities: []ir.Capacity{
			{
				Name: "l4-reserved", Option: ir.Reservation, Machine: ir.Machine{Family: "g2", Resource: ir.GPU},
				Reservation: &ir.ReservationUse{Name: "r"},
			},
			{Name: "h100-spot", Option: ir.Spot, Machine: ir.Machine{Family: "a3", Resource: ir.GPU, SteadyGPUs: true}},
			{
				Name: "v5e-flex", Option: ir.QueuedFlexStart, Machine: ir.Machine{Resource: ir.TPU},
			},
		},
		AdmissionChecks: []ir.AdmissionCheck{{Name: "dws"}},
		Cohorts:         []ir.Cohort{{Name: "team-a-b"}},
		Teams:           []ir.Team{{Name: "team-a", Namespace: "team-a"}, {Name: "team-b", Namespace: "b-space"}},
		Monitoring: ir.Monitoring{
			Grafana:          true,
			GrafanaNamespace: "monitoring",
		},
	}
}

// barePlan is a platform of cpu machines alone: no checks, cohorts or teams.
func barePlan() *ir.Platform {
	return &ir.Platform{
		Name:       "plain",
		Scheduler:  ir.Kueue,
		Capacities: []ir.Capacity{{Name: "c3", Option: ir.OnDemand}},
		Monitoring: ir.Monitoring{GrafanaNamespace: "monitoring"},
	}
}

// kaiPlan is plan with KAI Scheduler.
func kaiPlan() *ir.Platform {
	p := smallPlan()
	p.Scheduler = ir.KAI
	p.Teams[1].Queues = []ir.Queue{{LocalQueue: "team-b"}}
	return p
}

func renderFiles(t testing.TB, p *ir.Platform) map[string]string {
	t.Helper()
	files, err := Files(p)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range files {
		if _, twice := out[f.Path]; twice {
			t.Errorf("%s is written twice", f.Path)
		}
		out[f.Path] = string(f.Content)
	}
	return out
}

func TestFiles(t *testing.T) {
	always := []string{
		"dashboards/alert-rules.yaml",
		"dashboards/cloud-monitoring/admin.json",
		"dashboards/cloud-monitoring/team.json",
	}
	grafana := []string{
		"dashboards/grafana/admin.json",
		"dashboards/grafana/team.json",
		"dashboards/kustomization.yaml",
	}
	for name, test := range map[string]struct {
		plan *ir.Platform
		want []string
	}{
		"with Grafana":       {smallPlan(), append(slices.Clone(always), grafana...)},
		"without Grafana":    {barePlan(), always},
		"with KAI Scheduler": {kaiPlan(), append(slices.Clone(always), grafana...)},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for path, content := range renderFiles(t, test.plan) {
				got = append(got, path)
				if strings.Contains(content, "@") {
					t.Errorf("%s has a placeholder nobody filled", path)
				}
			}
			slices.Sort(got)
			slices.Sort(test.want)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNothingOfKueueWithKAI: a panel on metrics that nothing exports is empty for
// ever.
func TestNothingOfKueueWithKAI(t *testing.T) {
	for path, content := range renderFiles(t, kaiPlan()) {
		if strings.Contains(strings.ToLower(content), "kueue") {
			t.Errorf("%s speaks of Kueue", path)
		}
	}
	for path, content := range renderFiles(t, smallPlan()) {
		if strings.Contains(content, "kai_") {
			t.Errorf("%s speaks of KAI Scheduler", path)
		}
	}
}

func TestSamePlanSameBytes(t *testing.T) {
	if diff := cmp.Diff(renderFiles(t, smallPlan()), renderFiles(t, smallPlan())); diff != "" {
		t.Errorf("second run differs (-first +second):\n%s", diff)
	}
}

func TestCloudVariables(t *testing.T) {
	var got, kai cloudBoard
	if err := json.Unmarshal([]byte(renderFiles(t, smallPlan())["dashboards/cloud-monitoring/team.json"]),
		&got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(renderFiles(t, kaiPlan())["dashboards/cloud-monitoring/team.json"]),
		&kai); err != nil {
		t.Fatal(err)
	}
	want := []cloudFilter{
		{"cluster", "cluster", "gke-batch", "RESOURCE_LABEL"},
		{"cluster_name", "cluster_name", "gke-batch", "RESOURCE_LABEL"},
		{"queue_name", "queue", "team-b", "METRIC_LABEL"},
		{"exported_namespace", "team", "team-a", "METRIC_LABEL"},
	}
	if diff := cmp.Diff(want, kai.DashboardFilters); diff != "" {
		t.Errorf("filters with KAI Scheduler (-want +got):\n%s", diff)
	}
	want = []cloudFilter{
		{"cluster", "cluster", "gke-batch", "RESOURCE_LABEL"},
		{"cluster_name", "cluster_name", "gke-batch", "RESOURCE_LABEL"},
		{"resource", "resource", "google.com/tpu", "METRIC_LABEL"},
		{"exported_namespace", "team", "team-a", "METRIC_LABEL"},
	}
	if diff := cmp.Diff(want, got.DashboardFilters); diff != "" {
		t.Errorf("filters (-want +got):\n%s", diff)
	}
}

// TestNothingIsZero holds that no number is written that the API drops: every
// Terraform plan would put it back.
func TestNothingIsZero(t *testing.T) {
	for path, content := range renderFiles(t, smallPlan()) {
		if strings.HasPrefix(path, "dashboards/cloud-monitoring/") && strings.Contains(content, ": 0") {
			t.Errorf("%s writes a zero", path)
		}
	}
}

// TestNotations holds how each format writes the variables of a board.
func TestNotations(t *testing.T) {
	for name, test := range map[string]struct {
		notation monitoring.Notation
		matchers []string
		value    string
	}{
		"Cloud Monitoring": {
			cloudNotation, []string{"${cluster}", "${cluster_name}", "${resource}", "${team}"}, "${team.value}",
		},
		"Grafana": {
			grafanaNotation,
			[]string{
				`cluster="$cluster"`, `cluster_name="$cluster"`, `resource=~"$resource"`, `exported_namespace="$team"`,
			},
			"$team",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var matchers []string
			value := ""
			for _, v := range monitoring.Boards(smallPlan())[1].Variables {
				matchers = append(matchers, test.notation.Matcher(v))
				value = test.notation.Value(v)
			}
			if diff := cmp.Diff(test.matchers, matchers); diff != "" {
				t.Errorf("matchers (-want +got):\n%s", diff)
			}
			if value != test.value {
				t.Errorf("value of the team %q, want %q", value, test.value)
			}
		})
	}
}

// TestHeatmapIsLinesInCloudMonitoring holds that a heatmap is three lines.
func TestHeatmapIsLinesInCloudMonitoring(t *testing.T) {
	heatmaps := 0
	for _, s := range monitoring.Boards(smallPlan())[0].Sections {
		for _, p := range s.Panels {
			if p.Shape != monitoring.Heatmap {
				continue
			}
			heatmaps++
			sets := cloudWidget(p).XYChart.DataSets
			if len(sets) != 3 {
				t.Errorf("%s has %d data sets, want 3", p.Title, len(sets))
			}
			for _, set := range sets {
				if set.PlotType != "LINE" {
					t.Errorf("%s: plot type %s, want LINE", p.Title, set.PlotType)
				}
			}
		}
	}
	if heatmaps == 0 {
		t.Error("no board has a heatmap")
	}
}

func TestFlow(t *testing.T) {
	panels := []monitoring.Panel{
		{Shape: monitoring.Number}, {Shape: monitoring.Number}, {Shape: monitoring.Lines}, {Shape: monitoring.Lines},
		{Shape: monitoring.Table}, {Shape: monitoring.Stack},
	}
	got, end := placeBoxes(panels, 3)
	want := []box{{0, 3, 4, 4}, {4, 3, 4, 4}, {8, 3, 12, 8}, {0, 11, 12, 8}, {0, 19, 24, 8}, {0, 27, 12, 8}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(box{})); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if end != 35 {
		t.Errorf("first free line %d, want 35", end)
	}
}

func TestRules(t *testing.T) {
	got, err := ruleFile([]monitoring.Alert{
		{Name: "HostErrors", Group: "capacity", Expr: `up`, CloudOnly: true},
		{
			Name: "QueueStuck", Group: "queues", Expr: `m{cluster=~"gke-batch|"} > 0`, For: 1800,
			Severity: "warning", Summary: "Stuck.", Action: "Look at {{cluster_queue}}.",
		},
		{
			Name: "QueueSlow", Group: "queues", Expr: `n > 0`, Severity: "critical", Summary: "Slow.",
			Action: "Wait.",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `groups:
- name: queues
  rules:
  - alert: QueueStuck
    annotations:
      description: Look at {{ $labels.cluster_queue }}.
      summary: Stuck.
    expr: m{cluster=~"gke-batch|"} > 0
    for: 30m
    labels:
      severity: warning
  - alert: QueueSlow
    annotations:
      description: Wait.
      summary: Slow.
    expr: n > 0
    labels:
      severity: critical
`
	if diff := cmp.Diff(want, string(got.Content)); diff != "" {
		t.Errorf("alert rules (-want +got):\n%s", diff)
	}
}

func TestDuration(t *testing.T) {
	for seconds, want := range map[int]string{0: "", 45: "45s", 90: "90s", 300: "5m", 3600: "1h", 5400: "90m"} {
		if got := promDuration(seconds); got != want {
			t.Errorf("duration(%d) = %q, want %q", seconds, got, want)
		}
	}
}

func TestGrafanaNeedsNoKnownDataSource(t *testing.T) {
	for _, board := range []string{"admin", "team"} {
		var got struct {
			Panels []struct {
				Datasource struct{ UID string }
				Targets    []struct{ Datasource struct{ UID string } }
			}
		}
		if err := json.Unmarshal([]byte(renderFiles(t, smallPlan())["dashboards/grafana/"+board+".json"]),
			&got); err != nil {
			t.Fatal(err)
		}
		targets := 0
		for _, p := range got.Panels {
			for _, target := range p.Targets {
				targets++
				if p.Datasource.UID != "${datasource}" || target.Datasource.UID != "${datasource}" {
					t.Errorf("%s: data source %q, want the variable", board, target.Datasource.UID)
				}
			}
		}
		if targets == 0 {
			t.Errorf("%s has no query", board)
		}
	}
}

func TestConfigMaps(t *testing.T) {
	got := renderFiles(t, smallPlan())["dashboards/kustomization.yaml"]
	want := `apiVersion: kustomize.config.k8s.io/v1beta1
configMapGenerator:
- files:
  - gke-batch-admin.json=grafana/admin.json
  name: gke-batch-admin-dashboard
- files:
  - gke-batch-team.json=grafana/team.json
  name: gke-batch-team-dashboard
generatorOptions:
  disableNameSuffixHash: true
  labels:
    app.kubernetes.io/managed-by: batchwright
    app.kubernetes.io/part-of: gke-batch
    grafana_dashboard: "1"
kind: Kustomization
namespace: monitoring
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kustomization (-want +got):\n%s", diff)
	}
}
