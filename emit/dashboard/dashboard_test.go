package dashboard

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/batchwright/batchwright/compiler/ir"
)

// plan is a small platform that has something of everything.
func plan() *ir.Platform {
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
			Alerts: []ir.Alert{
				{Name: "HostErrors", Group: "capacity", Expr: `up`, CloudOnly: true},
				{
					Name: "QueueStuck", Group: "queues", Expr: `m{cluster=~"gke-batch|"} > 0`, For: 1800,
					Severity: "warning", Summary: "Stuck.", Action: "Look at {{cluster_queue}}.",
				},
				{
					Name: "QueueSlow", Group: "queues", Expr: `n > 0`, Severity: "critical", Summary: "Slow.",
					Action: "Wait.",
				},
			},
		},
	}
}

// bare is a platform of cpu machines alone: no checks, cohorts or teams.
func bare() *ir.Platform {
	return &ir.Platform{
		Name:       "plain",
		Capacities: []ir.Capacity{{Name: "c3", Option: ir.OnDemand}},
		Monitoring: ir.Monitoring{GrafanaNamespace: "monitoring"},
	}
}

// kaiPlan is plan with KAI Scheduler.
func kaiPlan() *ir.Platform {
	p := plan()
	p.Scheduler = ir.KAI
	p.Teams[1].Queues = []ir.Queue{{LocalQueue: "team-b"}}
	return p
}

func render(t testing.TB, p *ir.Platform) map[string]string {
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
		"kubernetes/monitoring/jobset.yaml",
		"kubernetes/monitoring/kueue.yaml",
		"kubernetes/monitoring/kustomization.yaml",
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
		"with Grafana":    {plan(), append(slices.Clone(always), grafana...)},
		"without Grafana": {bare(), always},
		"with KAI Scheduler": {kaiPlan(), append([]string{
			"dashboards/alert-rules.yaml",
			"dashboards/cloud-monitoring/admin.json",
			"dashboards/cloud-monitoring/team.json",
			"kubernetes/monitoring/jobset.yaml",
			"kubernetes/monitoring/kai-scheduler-default.yaml",
			"kubernetes/monitoring/kustomization.yaml",
			"kubernetes/monitoring/queue-controller.yaml",
		}, grafana...)},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for path, content := range render(t, test.plan) {
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
	for path, content := range render(t, kaiPlan()) {
		if strings.Contains(strings.ToLower(content), "kueue") {
			t.Errorf("%s speaks of Kueue", path)
		}
	}
	for path, content := range render(t, plan()) {
		if strings.Contains(content, "kai_") {
			t.Errorf("%s speaks of KAI Scheduler", path)
		}
	}
}

// TestKAIQueues: what a cohort's queue has is what its teams have, and must not be
// added to it.
func TestKAIQueues(t *testing.T) {
	p := kaiPlan()
	p.Cohorts = []ir.Cohort{{Name: "a"}, {Name: "b"}}
	for _, s := range admin(p) {
		for _, panel := range s.panels {
			for _, q := range panel.queries {
				switch {
				case !strings.Contains(q.expr, "kai_queue_"):
				case s.title == "Cohorts" && !strings.Contains(q.expr, `,queue_name=~"a|b"}`):
					t.Errorf("%s: not of cohorts alone: %s", panel.title, q.expr)
				case s.title != "Cohorts" && !strings.Contains(q.expr, `,queue_name!~"a|b"}`):
					t.Errorf("%s: not of teams alone: %s", panel.title, q.expr)
				}
			}
		}
	}
	p.Cohorts = nil
	if slices.ContainsFunc(admin(p), func(s section) bool { return s.title == "Cohorts" }) {
		t.Error("cohorts are shown where there are none")
	}
}

func TestSamePlanSameBytes(t *testing.T) {
	if diff := cmp.Diff(render(t, plan()), render(t, plan())); diff != "" {
		t.Errorf("second run differs (-first +second):\n%s", diff)
	}
}

// titles returns the panels of a board.
func titles(sections []section) []string {
	var out []string
	for _, s := range sections {
		for _, p := range s.panels {
			out = append(out, s.title+"/"+p.title)
		}
	}
	return out
}

func TestPanelsFollowThePlatform(t *testing.T) {
	all := append(titles(admin(plan())), titles(team(plan()))...)
	few := append(titles(admin(bare())), titles(team(bare()))...)
	var missing []string
	for _, title := range all {
		if !slices.Contains(few, title) {
			missing = append(missing, title)
		}
	}
	want := []string{
		"Quota/Borrowed by ClusterQueue",
		"Quota/Cohort quota in use, by flavor",
		"Queues/Wait for admission checks (p95)",
		"Capacity/Reservations: used and reserved",
		"Capacity/Idle share of reservations",
		"Capacity/Reserved flavors: quota nobody holds",
		"Capacity/Accelerators by model",
		"Capacity/Accelerators by provisioning",
		"Capacity/Accelerators requested and busy",
		"Accelerators/Duty cycle over all chips",
		"Accelerators/Memory in use over all chips",
		"Accelerators/TensorCore utilisation",
		"Accelerators/Tensor pipe and SM activity",
		"Accelerators/Busy GPUs below 1 GHz",
		"My jobs/Duty cycle by pod",
		"My jobs/Accelerator memory in use by pod",
		"My jobs/JobSet goodput",
	}
	if diff := cmp.Diff(want, missing); diff != "" {
		t.Errorf("panels of the full platform only (-want +got):\n%s", diff)
	}
	for _, s := range admin(bare()) {
		if s.title == "Capacity" || s.title == "Accelerators" {
			t.Errorf("section %s has no panel to show", s.title)
		}
	}
}

// TestMyQueues applies the replacements of the query to the names of LocalQueues.
func TestMyQueues(t *testing.T) {
	p := &ir.Platform{SharedQueues: []ir.SharedQueue{{Queue: ir.Queue{Tier: "dws"}}, {Queue: ir.Queue{Tier: "us-dws"}}}}
	for _, tier := range []string{"big-us-dws", "us-dws", "dws", "lp"} {
		p.PriorityClasses = append(p.PriorityClasses, ir.PriorityClass{Tier: tier})
	}
	replacement := regexp.MustCompile(`"cluster_queue", "([^"]*)", "name", "([^"]*)"`)
	for local, want := range map[string]string{
		"lq-a-lp": "cq-a-lp", "lq-a-dws": "cq-dws", "lq-a-b-dws": "cq-dws", "lq-a-us-dws": "cq-us-dws",
		"lq-a-big-us-dws": "cq-a-big-us-dws", "lq-a-lpdws": "cq-a-lpdws",
	} {
		got := ""
		for _, m := range replacement.FindAllStringSubmatch(myQueues(p, "cluster_queue"), -1) {
			if re := regexp.MustCompile("^(?:" + m[2] + ")$"); re.MatchString(local) {
				got = re.ReplaceAllString(local, m[1])
			}
		}
		if got != want {
			t.Errorf("%s leads into %q, want %q", local, got, want)
		}
	}
}

func TestThrottlingOfSteadyGPUsOnly(t *testing.T) {
	const title = "Accelerators/Busy GPUs below 1 GHz"
	p := plan()
	if !slices.Contains(titles(admin(p)), title) {
		t.Error("no panel of throttled H100")
	}
	p.Capacities = p.Capacities[:1]
	if slices.Contains(titles(admin(p)), title) {
		t.Error("an L4 below 1 GHz is not throttled")
	}
}

func TestReservationOfAnotherProject(t *testing.T) {
	p := plan()
	p.Capacities[0].Reservation.Owner = "other-project"
	got := titles(admin(p))
	if slices.Contains(got, "Capacity/Idle share of reservations") {
		t.Error("the metrics of another project's reservation are not there to be shown")
	}
	if !slices.Contains(got, "Capacity/Reserved flavors: quota nobody holds") {
		t.Error("Kueue's own view of the reserved flavor is missing")
	}
}

// TestAnyReservation: those of the project are watched, and quota is reserved
// where nothing else serves it.
func TestAnyReservation(t *testing.T) {
	for _, onDemand := range []bool{false, true} {
		p := bare()
		p.Capacities[0] = ir.Capacity{
			Name: "any", Option: ir.AnyReservationOnly,
		}
		if onDemand {
			p.Capacities[0].Option = ir.AnyReservation
		}
		got := titles(admin(p))
		if !slices.Contains(got, "Capacity/Idle share of reservations") {
			t.Errorf("on demand %v: the project's reservations are not watched", onDemand)
		}
		if slices.Contains(got, "Capacity/Reserved flavors: quota nobody holds") == onDemand {
			t.Errorf("on demand %v: the flavor counts as reserved: %v", onDemand, onDemand)
		}
	}
}

func TestCloudVariables(t *testing.T) {
	var got, kai cloudBoard
	if err := json.Unmarshal([]byte(render(t, plan())["dashboards/cloud-monitoring/team.json"]), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(render(t, kaiPlan())["dashboards/cloud-monitoring/team.json"]), &kai); err != nil {
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
	for path, content := range render(t, plan()) {
		if strings.HasPrefix(path, "dashboards/cloud-monitoring/") && strings.Contains(content, ": 0") {
			t.Errorf("%s writes a zero", path)
		}
	}
}

func TestDialects(t *testing.T) {
	const expr = `a{@kueue,@resource,@team}[@window] + b{@scraped,namespace="@namespace"} + c{@system}`
	for name, test := range map[string]struct {
		matchers *strings.Replacer
		want     string
	}{
		"Cloud Monitoring": {
			cloudMatchers,
			`a{replica_role!="follower",${cluster},${resource},${team}}[${__interval}] + ` +
				`b{${cluster},namespace="${team.value}"} + c{${cluster_name}}`,
		},
		"Grafana": {
			grafanaMatchers,
			`a{replica_role!="follower",cluster="$cluster",resource=~"$resource",` +
				`exported_namespace="$team"}[$__rate_interval]` +
				` + b{cluster="$cluster",namespace="$team"} + c{cluster_name="$cluster"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.matchers.Replace(expr)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestHeatmapIsBandsInCloudMonitoring(t *testing.T) {
	w := cloudWidget(panel{title: "Spread", shape: heatmap, unit: percent, queries: []query{{expr: `m{@system}`}}})
	var got []string
	for _, set := range w.XYChart.DataSets {
		if set.PlotType != "LINE" {
			t.Errorf("plot type %s, want LINE", set.PlotType)
		}
		got = append(got, set.TimeSeriesQuery.PrometheusQuery)
	}
	want := []string{
		`label_replace(quantile(0.05, m{${cluster_name}}), "series", "p5", "", "")`,
		`label_replace(quantile(0.50, m{${cluster_name}}), "series", "p50", "", "")`,
		`label_replace(quantile(0.95, m{${cluster_name}}), "series", "p95", "", "")`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
}

func TestFlow(t *testing.T) {
	panels := []panel{{shape: number}, {shape: number}, {shape: lines}, {shape: lines}, {shape: table}, {shape: stack}}
	got, end := flow(panels, 3)
	want := []box{{0, 3, 4, 4}, {4, 3, 4, 4}, {8, 3, 12, 8}, {0, 11, 12, 8}, {0, 19, 24, 8}, {0, 27, 12, 8}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(box{})); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if end != 35 {
		t.Errorf("first free line %d, want 35", end)
	}
}

func TestRules(t *testing.T) {
	got := render(t, plan())["dashboards/alert-rules.yaml"]
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
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("alert rules (-want +got):\n%s", diff)
	}
}

func TestDuration(t *testing.T) {
	for seconds, want := range map[int]string{0: "", 45: "45s", 90: "90s", 300: "5m", 3600: "1h", 5400: "90m"} {
		if got := duration(seconds); got != want {
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
		if err := json.Unmarshal([]byte(render(t, plan())["dashboards/grafana/"+board+".json"]), &got); err != nil {
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
	got := render(t, plan())["dashboards/kustomization.yaml"]
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

func TestScraping(t *testing.T) {
	files := render(t, plan())
	collectors := `subjects:
- kind: ServiceAccount
  name: collector
  namespace: gke-gmp-system
- kind: ServiceAccount
  name: collector
  namespace: gmp-system
`
	for _, target := range []string{"kueue", "jobset"} {
		var monitoring podMonitoring
		file := files["kubernetes/monitoring/"+target+".yaml"]
		if !strings.Contains(file, collectors) {
			t.Errorf("%s: not every collector may read the token:\n%s", target, file)
		}
		documents := strings.Split(file, "---\n")
		if err := yaml.UnmarshalStrict([]byte(documents[len(documents)-1]), &monitoring); err != nil {
			t.Fatal(err)
		}
		want := podMonitoringSpec{
			Endpoints: []scrapeEndpoint{{
				Port: 8443, Scheme: "https", Path: "/metrics", Interval: "30s",
				TLS: &tlsConfig{InsecureSkipVerify: true},
				Authorization: &authorization{
					"Bearer", credentials{secretKey{target + "-metrics-collector-token", "token"}},
				},
			}},
		}
		want.Selector.MatchLabels = map[string]string{
			"app.kubernetes.io/name": target, "control-plane": "controller-manager",
		}
		if diff := cmp.Diff(want, monitoring.Spec); diff != "" {
			t.Errorf("%s (-want +got):\n%s", target, diff)
		}
	}
	kai := render(t, kaiPlan())
	for _, target := range []string{"kai-scheduler-default", "queue-controller"} {
		var monitoring podMonitoring
		if err := yaml.UnmarshalStrict([]byte(kai["kubernetes/monitoring/"+target+".yaml"]), &monitoring); err != nil {
			t.Fatal(err)
		}
		want := podMonitoringSpec{
			Endpoints: []scrapeEndpoint{{Port: 8080, Scheme: "http", Path: "/metrics", Interval: "30s"}},
		}
		want.Selector.MatchLabels = map[string]string{"app": target}
		if diff := cmp.Diff(want, monitoring.Spec); diff != "" {
			t.Errorf("%s (-want +got):\n%s", target, diff)
		}
	}
}
