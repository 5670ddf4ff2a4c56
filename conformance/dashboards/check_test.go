package dashboards

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// platform is the deploy folder of the batch reference platform.
const platform = "../../golden/batch-platform"

func TestPlatformPasses(t *testing.T) {
	for _, err := range Check(os.DirFS(platform)) {
		t.Error(err)
	}
}

func TestEmptyFolderFails(t *testing.T) {
	if errs := Check(fstest.MapFS{}); len(errs) != 3 {
		t.Errorf("got %v, want one error for each missing kind of file", errs)
	}
}

// TestQueries gives checkQuery queries that it must refuse, or must accept if want
// is "".
func TestQueries(t *testing.T) {
	for _, tt := range []struct{ query, want string }{
		{`sum by (cluster_queue) (kueue_pending_workloads{replica_role!="follower",cluster="c"})`, ""},
		{`sum(kueue_pending_workloads{replica_role=~"leader|standalone"})`, ""},
		{`kueue_build_info`, ""},
		{
			`histogram_quantile(0.95, sum by (le) ` +
				`(rate(kueue_admission_wait_time_seconds_bucket{replica_role!="follower"}[1h])))`, "",
		},
		{`sum(kubernetes_io:node_accelerator_duty_cycle{monitored_resource="k8s_node",cluster_name="c"})`, ""},
		{`label_replace(kueue_local_queue_status{replica_role!="follower"}, "q", "cq-$1", "name", "lq-(.*)") == 1`, ""},
		{`sum(kueue_pending_workloads`, "parse error"},
		{`kueue_pending_workloads`, "counts followers twice"},
		{`kueue_pending_workloads{replica_role=~".+"}`, "counts followers twice"},
		{`kueue_pending_jobs{replica_role!="follower"}`, "Kueue has no metric kueue_pending_jobs"},
		{
			`kueue_admission_wait_time_seconds{replica_role!="follower"}`,
			"Kueue has no metric kueue_admission_wait_time_seconds",
		},
		{
			`kueue_pending_workloads_bucket{replica_role!="follower"}`,
			"Kueue has no metric kueue_pending_workloads_bucket",
		},
		{`kueue_pending_workloads{replica_role!="follower",flavor="f"}`, "has no label flavor"},
		{`kueue_pending_workloads{replica_role!="follower",cluster_name="c"}`, "has no label cluster_name"},
		{`kueue_local_queue_status{replica_role!="follower",namespace="team-a"}`, "the queue's is exported_namespace"},
		{`max by (queue_name) (kai_queue_allocated_gpus{cluster="c"})`, ""},
		{`sum by (exported_namespace) (increase(kai_pod_group_evicted_pods_total{cluster="c"}[1h]))`, ""},
		{`kai_queue_pending{cluster="c"}`, "KAI Scheduler has no metric kai_queue_pending"},
		{`kai_queue_allocated_gpus{cluster="c",cohort="a"}`, "has no label cohort"},
		{`kai_pod_group_evicted_pods_total{namespace="team-a"}`, "namespace is KAI Scheduler's own"},
		{`jobset_failed_total{namespace="team-a"}`, "the JobSet's is exported_namespace"},
		{`sum by (flavor) (kueue_pending_workloads{replica_role!="follower"})`, "grouped by flavor"},
		{`max without (flavor) (kueue_pending_workloads{replica_role!="follower"})`, "grouped by flavor"},
		{`sum by (x) (sum by (le) (kueue_pending_workloads{replica_role!="follower"}))`, "grouped by le"},
		{
			`kueue_pending_workloads{replica_role!="follower"} and on (flavor) ` +
				`kueue_reserving_active_workloads{replica_role!="follower"}`, "matched on flavor",
		},
		{
			`histogram_quantile(0.95, sum by (cluster_queue) ` +
				`(rate(kueue_admission_wait_time_seconds_bucket{replica_role!="follower"}[1h])))`,
			"without the label le",
		},
		{`rate(kueue_pending_workloads{replica_role!="follower"}[1h])`, "which is a gauge"},
		{
			`increase(kubernetes_io:node_interruption_count{monitored_resource="k8s_node",cluster_name="c"}[1h])`,
			"use sum_over_time",
		},
		{`kubernetes_io:node_accelerator_duty_cycle{cluster_name="c"}`, "needs a matcher of monitored_resource"},
		{`kubernetes_io:node_accelerator_duty_cycle{monitored_resource="k8s_node"}`, "match cluster_name"},
		{
			`kubernetes_io:node_accelerator_duty_cycle{monitored_resource="k8s_node",cluster_name="c",cluster="c"}`,
			"calls the cluster cluster_name",
		},
	} {
		expect(t, tt.query, checkQuery(tt.query), tt.want)
	}
}

func TestCloud(t *testing.T) {
	const board = `{"displayName": "d", "dashboardFilters": [
		{"labelKey": "cluster", "templateVariable": "cluster", "filterType": "RESOURCE_LABEL"}],
		"mosaicLayout": {"columns": 48, "tiles": [TILES]}}`
	const chart = `{"xPos": X, "width": 24, "height": 8, "widget": {"title": "t", "xyChart": {"dataSets": [
		{"plotType": "PLOT", "timeSeriesQuery": {"prometheusQuery": "up{QUERY}[1m:]"}}]}}}`
	tile := func(x, plot, query string) string {
		return strings.NewReplacer("X", x, "PLOT", plot, "QUERY", query).Replace(chart)
	}
	for tiles, want := range map[string]string{
		tile("0", "LINE", "${cluster}"):                                  "",
		tile("0", "LINE", `x='${cluster.value}'`):                        "",
		tile("0", "LINE", "${team}"):                                     "variable ${team} is not defined",
		tile("0", "HEATMAP", "${cluster}"):                               "a heatmap needs a distribution",
		tile("0", "LINES", "${cluster}"):                                 "plotType",
		tile("25", "LINE", "${cluster}"):                                 "does not fit into 48 columns",
		tile("0", "LINE", "") + "," + tile("20", "LINE", ""):             "overlap",
		`{"width": 8, "height": 8, "widget": {"blank": {}, "text": {}}}`: "oneof",
		`{"width": 8, "height": 8, "widget": {"subtitle": "s"}}`:         "unknown field",
		`{"width": 48, "height": 9, "widget": {"title": "g", "collapsibleGroup": {}}},` +
			tile("0", "LINE", ""): "",
		`{"width": 8, "height": 8, "widget": {"scorecard": {"timeSeriesQuery": ` +
			`{"timeSeriesQueryLanguage": "fetch x"}}}}`: "MQL",
	} {
		expect(t, tiles, checkCloud([]byte(strings.Replace(board, "TILES", tiles, 1))), want)
	}
}

func TestGrafana(t *testing.T) {
	content, err := os.ReadFile(platform + "/dashboards/grafana/team.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ old, new, want string }{
		{"", "", ""},
		{`"uid": "${datasource}"`, `"uid": "P1809F7CD0C75ACF3"`, "is not a variable of the dashboard"},
		{`"name": "team"`, `"name": "tenant"`, "variable $team is not defined"},
		{`"title": "gke-batch: team"`, `"titel": "gke-batch: team"`, "titel"},
		{`"legendFormat"`, `"legend"`, "legend"},
		{`"x": 12`, `"x": 13`, "does not fit into 24 columns"},
		{`"x": 12`, `"x": 11`, "overlap"},
		{`replica_role!=\"follower\"`, `replica_role!=\"\"`, "counts followers twice"},
	} {
		broken := strings.ReplaceAll(string(content), test.old, test.new)
		if test.old == "" {
			broken = string(content)
		} else if broken == string(content) {
			t.Errorf("the dashboard has no %s", test.old)
		}
		expect(t, test.old+" to "+test.new, checkGrafana([]byte(broken)), test.want)
	}
}

func TestRules(t *testing.T) {
	const file = `groups:
- name: g
  rules:
  - alert: A
    expr: EXPR
    annotations: {summary: s, description: 'DESCRIPTION'}
`
	const fine = `sum by (status) (kueue_pending_workloads{replica_role!="follower"}) > 0`
	for _, test := range []struct{ expr, description, want string }{
		{fine, "{{ $labels.status }}", ""},
		{fine, "{{ $labels.cluster_queue }}", "speaks of label cluster_queue"},
		{fine, "{{ $label.status }}", "undefined variable"},
		{fine, "", "no description"},
		{"sum(", "d", "parse error"},
		{`kubernetes_io:a_b{monitored_resource="r",cluster_name="c"}`, "d", "has no metrics of Cloud Monitoring"},
	} {
		content := strings.NewReplacer("EXPR", test.expr, "DESCRIPTION", test.description).Replace(file)
		expect(t, test.expr+" "+test.description, checkRules([]byte(content)), test.want)
	}
}

func TestPolicies(t *testing.T) {
	const policy = `locals {
  alerts = {
    A = { query = "sum by (cluster) (kueue_pending_workloads{replica_role!=\"follower\"}) > 0" }
  }
}
resource "google_monitoring_alert_policy" "a" {
  for_each = local.alerts
  conditions {
    condition_prometheus_query_language {
      query                     = QUERY
      evaluation_interval       = "INTERVAL"
      disable_metric_validation = VALIDATION
    }
  }
  documentation {
    content = "CONTENT"
  }
}
`
	for _, test := range []struct{ query, interval, validation, content, want string }{
		{`each.value.query`, "60s", "true", "c", ""},
		{`each.value.query`, "60s", "true", "$${metric_or_resource.label.cluster}", ""},
		{`each.value.query`, "60s", "true", "$${metric_or_resource.label.status}", "speaks of label status"},
		{`each.value.query`, "60s", "true", "{{ $labels.cluster }}", "no templates"},
		{`"up =="`, "60s", "true", "c", "parse error"},
		{`"kueue_pending_workloads > 0"`, "60s", "true", "c", "counts followers twice"},
		{`var.query`, "60s", "true", "c", "is not constant"},
		{`"up == 0"`, "45s", "true", "c", "multiple of 30"},
		{`"up == 0"`, "60s", "false", "c", "disable_metric_validation"},
	} {
		content := strings.NewReplacer(
			"QUERY", test.query, "INTERVAL", test.interval, "VALIDATION", test.validation, "CONTENT", test.content,
		).Replace(policy)
		expect(t, content, checkPolicies([]byte(content)), test.want)
	}
	expect(t, "empty policy", checkPolicies([]byte(`resource "google_monitoring_alert_policy" "a" {}`)), "0 conditions")
	expect(t, "no alerts", checkPolicies([]byte(strings.Replace(policy, "local.alerts", "{}", 1))), "no elements")
}

func TestScraping(t *testing.T) {
	content, err := os.ReadFile(platform + "/kubernetes/monitoring/kueue.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ old, new, want string }{
		{"interval: 30s", "interval: 30s\n    honorLabels: true", "PodMonitoring has no field"},
		{"interval: 30s", "interval: often", "spec.endpoints[0].interval"},
		{"    interval: 30s\n", "", "interval: Required value"},
		{"interval: 30s", "interval: 30s\n    timeout: 40s", "timeout"},
		{"roleRef:", "roleref:", "unknown field"},
		{"          name: kueue-metrics-collector-token", "          name: other", "the file does not have"},
		{"kind: PodMonitoring", "kind: PodMonitor", "unexpected"},
	} {
		broken := strings.Replace(string(content), test.old, test.new, 1)
		if broken == string(content) {
			t.Errorf("the file has no %s", test.old)
		}
		expect(t, test.new, checkScraping([]byte(broken)), test.want)
	}
}

// expect fails the test unless one of the errors contains a text. For "" there must
// be no errors.
func expect(t *testing.T, what string, errs []error, want string) {
	t.Helper()
	if want == "" {
		if len(errs) > 0 {
			t.Errorf("%s\n%v, want no error", what, errs)
		}
		return
	}
	for _, err := range errs {
		if strings.Contains(err.Error(), want) {
			return
		}
	}
	t.Errorf("%s\n%v, want an error with %q", what, errs, want)
}
