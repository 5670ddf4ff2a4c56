package dashboard

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// smallPlan is a small platform that has something of everything.
func smallPlan() *ir.Platform {
	return &ir.Platform{
		Name:      "gke-batch",
		Cluster:   ir.Cluster{Name: "gke-batch"},
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
		Teams: []ir.Team{
			{Name: "team-a", Namespace: "team-a", Queues: []ir.Queue{{Flavors: []ir.FlavorQuota{{
				Quotas: []ir.ResourceQuota{{Resource: ir.GPU}, {Resource: ir.Memory}},
			}}}}},
			{Name: "team-b", Namespace: "b-space"},
		},
		Monitoring: ir.Monitoring{
			Grafana:          true,
			GrafanaNamespace: "monitoring",
			Boards:           ir.DefaultBoards("gke-batch", ir.Kueue),
		},
	}
}

// barePlan is a platform of cpu machines alone: no checks, cohorts or teams.
func barePlan() *ir.Platform {
	return &ir.Platform{
		Name:       "plain",
		Scheduler:  ir.Kueue,
		Capacities: []ir.Capacity{{Name: "c3", Option: ir.OnDemand}},
		Monitoring: ir.Monitoring{GrafanaNamespace: "monitoring", Boards: ir.DefaultBoards("plain", ir.Kueue)},
	}
}

// kaiPlan is plan with KAI Scheduler.
func kaiPlan() *ir.Platform {
	p := smallPlan()
	p.Scheduler = ir.KAI
	p.Monitoring.Boards = ir.DefaultBoards(p.Name, ir.KAI)
	p.Teams[0].Queues, p.Teams[1].Queues = nil, []ir.Queue{{LocalQueue: "team-b"}}
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
		"dashboards/provisioning/dashboards/boards.yaml", "dashboards/provisioning/datasources/metrics.yaml",
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
	zero := regexp.MustCompile(`": 0[,\n]`)
	for path, content := range renderFiles(t, smallPlan()) {
		if strings.HasPrefix(path, "dashboards/cloud-monitoring/") && zero.MatchString(content) {
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

// TestHeatmapIsBandsInCloudMonitoring checks that a heatmap is a stack of the numbers
// of chips, with the idle chips at the bottom.
func TestHeatmapIsBandsInCloudMonitoring(t *testing.T) {
	heatmaps := 0
	for _, s := range monitoring.Boards(smallPlan())[0].Sections {
		for _, p := range s.Panels {
			if p.Shape != monitoring.Heatmap {
				continue
			}
			heatmaps++
			sets := cloudWidget(p).XYChart.DataSets
			if len(sets) != 5 {
				t.Fatalf("%s has %d data sets, want 5", p.Title, len(sets))
			}
			if !strings.Contains(sets[0].TimeSeriesQuery.PrometheusQuery, `"below 20%"`) {
				t.Errorf("%s: the idle chips are not at the bottom", p.Title)
			}
			for _, set := range sets {
				if set.PlotType != "STACKED_AREA" || set.TimeSeriesQuery.UnitOverride != "1" {
					t.Errorf("%s: %s in unit %s, want a stack of numbers", p.Title, set.PlotType,
						set.TimeSeriesQuery.UnitOverride)
				}
			}
		}
	}
	if heatmaps == 0 {
		t.Error("no board has a heatmap")
	}
}

// grafanaPanels returns the panels of a board by their titles, and the titles of the
// folded rows.
func grafanaPanels(t *testing.T, p *ir.Platform, board string) (panels map[string]map[string]any, folded []string) {
	t.Helper()
	var got struct{ Panels []map[string]any }
	if err := json.Unmarshal([]byte(renderFiles(t, p)["dashboards/grafana/"+board+".json"]), &got); err != nil {
		t.Fatal(err)
	}
	panels = map[string]map[string]any{}
	for _, entry := range got.Panels {
		if entry["type"] != "row" {
			panels[entry["title"].(string)] = entry
			continue
		}
		inside, _ := entry["panels"].([]any)
		if (entry["collapsed"] == true) != (len(inside) > 0) {
			t.Errorf("row %v: folded %v, with %d panels", entry["title"], entry["collapsed"], len(inside))
		}
		for _, panel := range inside {
			panels[panel.(map[string]any)["title"].(string)] = panel.(map[string]any)
		}
		if entry["collapsed"] == true {
			folded = append(folded, entry["title"].(string))
		}
	}
	return panels, folded
}

// TestColours checks that only a figure with a threshold can turn yellow or red.
func TestColours(t *testing.T) {
	panels, folded := grafanaPanels(t, smallPlan(), "admin")
	if diff := cmp.Diff([]string{
		"Evictions and interruptions", "Nodes", "Capacity", "Accelerators", "Costs by team", "Controller",
	}, folded); diff != "" {
		t.Errorf("folded rows (-want +got):\n%s", diff)
	}
	for title, want := range map[string]string{
		"Nominal quota":                "text",
		"Inactive ClusterQueues":       "green red",
		"Nodes not ready":              "green yellow",
		"Quota in use":                 "text",
		"Waiting time until admission": "green yellow",
	} {
		got := ""
		defaults := panels[title]["fieldConfig"].(map[string]any)["defaults"].(map[string]any)
		for _, step := range defaults["thresholds"].(map[string]any)["steps"].([]any) {
			got = strings.TrimSpace(got + " " + step.(map[string]any)["color"].(string))
		}
		if got != want {
			t.Errorf("%s: colours %q, want %q", title, got, want)
		}
	}
	for _, s := range monitoring.Boards(smallPlan())[0].Sections {
		for _, p := range s.Panels {
			if card := cloudWidget(p).Scorecard; card != nil && (len(card.Thresholds) > 0) != (p.Thresholds != nil) {
				t.Errorf("%s: thresholds %v in Cloud Monitoring, want %v", p.Title, card.Thresholds, p.Thresholds)
			}
		}
	}
}

// TestMemoryIsNotSelectable checks that the reader of a board cannot add bytes to GPUs.
func TestMemoryIsNotSelectable(t *testing.T) {
	for _, board := range []string{"admin", "team"} {
		const regex = `"regex": "/^(?!memory$).*/"`
		if strings.Count(renderFiles(t, smallPlan())["dashboards/grafana/"+board+".json"], regex) != 1 {
			t.Errorf("board %s: the values of the variable for resources include memory", board)
		}
	}
}

// TestLinks checks that each board of Grafana leads to the other, and that each board of
// Cloud Monitoring leads to the list of boards.
func TestLinks(t *testing.T) {
	files := renderFiles(t, smallPlan())
	for board, other := range map[string]string{"admin": "team", "team": "admin"} {
		var got struct {
			Tags  []string
			Links []struct {
				Type string
				Tags []string
			}
		}
		if err := json.Unmarshal([]byte(files["dashboards/grafana/"+board+".json"]), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"kueue", "gke-batch", board}, got.Tags); diff != "" {
			t.Errorf("tags of board %s (-want +got):\n%s", board, diff)
		}
		if len(got.Links) != 1 || got.Links[0].Type != "dashboards" ||
			!slices.Equal(got.Links[0].Tags, []string{"gke-batch", other}) {
			t.Errorf("board %s has the links %v, want one to the dashboards with tag %s", board, got.Links, other)
		}
		const list = "https://console.cloud.google.com/monitoring/dashboards?project=my-project"
		if !strings.Contains(files["dashboards/cloud-monitoring/"+board+".json"], list) {
			t.Errorf("board %s has no link to the list of boards", board)
		}
	}
}

func TestFlow(t *testing.T) {
	panels := []monitoring.Panel{
		{Shape: monitoring.Number}, {Shape: monitoring.Number}, {Shape: monitoring.Lines}, {Shape: monitoring.Lines},
		{Shape: monitoring.Table}, {Shape: monitoring.Stack},
	}
	got, end := placeBoxes(panels, 3)
	want := []box{{0, 3, 6, 4}, {6, 3, 6, 4}, {12, 3, 12, 10}, {0, 13, 24, 10}, {0, 23, 24, 9}, {0, 32, 24, 10}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(box{})); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if end != 42 {
		t.Errorf("first free line %d, want 42", end)
	}
}

func TestRules(t *testing.T) {
	got, err := kubeyaml.Marshal(ruleFile([]monitoring.Alert{
		{Name: "HostErrors", Group: "capacity", Expr: `up`, CloudOnly: true},
		{
			Name: "QueueStuck", Group: "queues", Expr: `m{cluster=~"gke-batch|"} > 0`, For: 1800,
			Severity: "warning", Summary: "Stuck.", Action: "Look at {{cluster_queue}}.",
		},
		{
			Name: "QueueSlow", Group: "queues", Expr: `n > 0`, Severity: "critical", Summary: "Slow.",
			Action: "Wait.",
		},
	}).Objects...)
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
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("alert rules (-want +got):\n%s", diff)
	}
}

func TestDuration(t *testing.T) {
	for seconds, want := range map[int]string{45: "45s", 90: "90s", 300: "5m", 3600: "1h", 5400: "90m"} {
		if got := promDuration(seconds); got != want {
			t.Errorf("duration(%d) = %q, want %q", seconds, got, want)
		}
	}
}

func TestGrafanaNeedsNoKnownDataSource(t *testing.T) {
	for _, board := range []string{"admin", "team"} {
		panels, _ := grafanaPanels(t, smallPlan(), board)
		targets := 0
		for title, p := range panels {
			sources := []any{p["datasource"]}
			for _, target := range p["targets"].([]any) {
				targets++
				sources = append(sources, target.(map[string]any)["datasource"])
			}
			for _, source := range sources {
				if got := source.(map[string]any)["uid"]; got != "${datasource}" {
					t.Errorf("%s, %s: data source %q, want the variable", board, title, got)
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

// TestLocalGrafana holds what a Grafana on somebody's own machine reads: the boards, and
// the metrics of the project with a token that only the environment of Grafana has.
func TestLocalGrafana(t *testing.T) {
	files := renderFiles(t, smallPlan())
	for name, want := range map[string]string{
		"dashboards/boards.yaml": `apiVersion: 1
providers:
- name: gke-batch
  options:
    path: /var/lib/grafana/dashboards
  type: file
`,
		"datasources/metrics.yaml": `apiVersion: 1
datasources:
- access: proxy
  isDefault: true
  jsonData:
    httpHeaderName1: Authorization
    httpMethod: GET
  name: gke-batch
  secureJsonData:
    httpHeaderValue1: Bearer $TOKEN
  type: prometheus
  url: https://monitoring.googleapis.com/v1/projects/my-project/location/global/prometheus/
`,
	} {
		if diff := cmp.Diff(want, files["dashboards/provisioning/"+name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	p := smallPlan()
	p.Monitoring.Grafana = false
	for name := range renderFiles(t, p) {
		if strings.Contains(name, "provisioning") {
			t.Errorf("a platform without dashboards for Grafana has %s", name)
		}
	}
}
