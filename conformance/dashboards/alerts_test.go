package dashboards

import (
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
)

// TestAlertsMeanWhatTheySay evaluates the emitted expressions over small
// histories, sampled every minute.
func TestAlertsMeanWhatTheySay(t *testing.T) {
	exprs := alertExpressions(t, platform)
	for _, test := range []struct {
		name   string
		alert  string
		series string // as of evaluate
		at     string
		want   string // series that fire, "" for none
	}{
		{
			name:  "a queue that starts nothing is stuck, and counted once in spite of two replicas",
			alert: "KueueQueueStuck", at: "2h",
			series: `kueue_pending_workloads{LEADER,cluster_queue="cq-a-lp",status="active"} 3x180
				kueue_pending_workloads{FOLLOWER,cluster_queue="cq-a-lp",status="active"} 3x180`,
			want: `{cluster_queue="cq-a-lp"} 3`,
		},
		{
			name:  "a queue whose first workload ever started within the hour is not",
			alert: "KueueQueueStuck", at: "2h",
			series: `kueue_pending_workloads{LEADER,cluster_queue="cq-a-lp",status="active"} 3x180
				kueue_quota_reserved_workloads_total{LEADER,cluster_queue="cq-a-lp",priority_class="lp"} _x90 1x90`,
		},
		{
			name:  "nor is one that started another workload",
			alert: "KueueQueueStuck", at: "2h",
			series: `kueue_pending_workloads{LEADER,cluster_queue="cq-a-lp",status="active"} 3x180
				kueue_quota_reserved_workloads_total{LEADER,cluster_queue="cq-a-lp",priority_class="lp"} 5x90 6x90`,
		},
		{
			name:  "what started longer than an hour ago does not help",
			alert: "KueueQueueStuck", at: "2h30m",
			series: `kueue_pending_workloads{LEADER,cluster_queue="cq-a-lp",status="active"} 3x180
				kueue_quota_reserved_workloads_total{LEADER,cluster_queue="cq-a-lp",priority_class="lp"} 5x30 6x150`,
			want: `{cluster_queue="cq-a-lp"} 3`,
		},
		{
			name:  "nor what started in another cluster",
			alert: "KueueQueueStuck", at: "2h",
			series: `kueue_pending_workloads{LEADER,cluster_queue="cq-a-lp",status="active"} 3x180
				kueue_quota_reserved_workloads_total{replica_role="leader",cluster="other",cluster_queue="cq-a-lp"} 0+1x180`,
			want: `{cluster_queue="cq-a-lp"} 3`,
		},
		{
			name:  "a Prometheus without a cluster label sees the same",
			alert: "KueueQueueStuck", at: "2h",
			series: `kueue_pending_workloads{replica_role="standalone",cluster_queue="cq-a-lp",status="active"} 3x180`,
			want:   `{cluster_queue="cq-a-lp"} 3`,
		},
		{
			name:  "an empty queue is not stuck",
			alert: "KueueQueueStuck", at: "2h",
			series: `kueue_pending_workloads{LEADER,cluster_queue="cq-a-lp",status="active"} 0x180`,
		},
		{
			name:  "a counter that is born at 1 is a failure",
			alert: "JobSetFailures", at: "2h",
			series: `jobset_failed_total{cluster="gke-batch",exported_namespace="team-a",jobset_name="x"} _x90 1x90`,
			want:   `{exported_namespace="team-a"} 1`,
		},
		{
			name:  "an old failure is not",
			alert: "JobSetFailures", at: "2h50m",
			series: `jobset_failed_total{cluster="gke-batch",exported_namespace="team-a",jobset_name="x"} _x90 1x90`,
		},
		{
			name:  "a workload that Kueue gave up, the first of its queue",
			alert: "KueueWorkloadDeactivated", at: "2h",
			series: `kueue_evicted_workloads_total{LEADER,cluster_queue="cq-a-lp",reason="Deactivated",underlying_cause="MaximumExecutionTimeExceeded"} _x90 1x90`,
			want:   `{cluster_queue="cq-a-lp",underlying_cause="MaximumExecutionTimeExceeded"} 1`,
		},
		{
			name:  "a workload that its owner stopped is no such thing",
			alert: "KueueWorkloadDeactivated", at: "2h",
			series: `kueue_evicted_workloads_total{LEADER,cluster_queue="cq-a-lp",reason="Deactivated",underlying_cause=""} _x90 1x90`,
		},
		{
			name:  "a queue waits for less than it is guaranteed and does not hold",
			alert: "KueueIdleQuotaWhileWaiting", at: "10m",
			series: quotas("4", "12", "4"),
			want:   `{cluster_queue="cq-a-lp",resource="nvidia.com/gpu"} 4`,
		},
		{
			name:  "a queue waits for more than its guarantee",
			alert: "KueueIdleQuotaWhileWaiting", at: "10m",
			series: quotas("4", "12", "10"),
		},
		{
			name:  "quota that another queue leaves idle is not this queue's",
			alert: "KueueIdleQuotaWhileWaiting", at: "10m",
			series: quotas("4", "4", "4") + `
				kueue_cluster_queue_nominal_quota{LEADER,cluster_queue="cq-b-lp",flavor="l4-spot",resource="nvidia.com/gpu"} 12x20
				kueue_cluster_queue_resource_reservation{LEADER,cluster_queue="cq-b-lp",flavor="l4-spot",resource="nvidia.com/gpu"} 0x20`,
		},
		{
			name:  "a controller that is not up is down",
			alert: "KueueControllerDown", at: "10m",
			series: `up{job="kueue",cluster="gke-batch"} 0x20
				up{job="kueue",cluster="other"} 1x20
				up{job="jobset",cluster="gke-batch"} 1x20`,
			want: `{} 1`,
		},
		{
			name:  "one replica of two is enough",
			alert: "KueueControllerDown", at: "10m",
			series: `up{job="kueue",cluster="gke-batch",instance="a"} 0x20
				up{job="kueue",cluster="gke-batch",instance="b"} 1x20`,
		},
		{
			name:  "where a ServiceMonitor scrapes, the job is the Service",
			alert: "KueueControllerDown", at: "10m",
			series: `up{job="kueue-controller-manager-metrics-service"} 1x20`,
		},
		{
			name:  "followers without a leader",
			alert: "KueueNoLeader", at: "10m",
			series: `kueue_cluster_queue_status{FOLLOWER,cluster_queue="cq-a-lp",status="active"} 1x20`,
			want:   `{} 1`,
		},
		{
			name:  "a leader",
			alert: "KueueNoLeader", at: "10m",
			series: `kueue_cluster_queue_status{LEADER,cluster_queue="cq-a-lp",status="active"} 1x20`,
		},
		{
			name:  "a queue that is going away is inactive",
			alert: "KueueClusterQueueInactive", at: "10m",
			series: `kueue_cluster_queue_status{LEADER,cluster_queue="cq-a-lp",status="active"} 0x20
				kueue_cluster_queue_status{LEADER,cluster_queue="cq-a-lp",status="terminating"} 1x20
				kueue_cluster_queue_status{LEADER,cluster_queue="cq-b-lp",status="active"} 1x20`,
			want: `{cluster_queue="cq-a-lp",status="terminating"} 1`,
		},
		{
			name:  "waits beyond the last bucket still fire",
			alert: "KueueAdmissionWaitHigh", at: "2h",
			series: `kueue_admission_wait_time_seconds_bucket{LEADER,cluster_queue="cq-a-lp",le="40960"} 0x180
				kueue_admission_wait_time_seconds_bucket{LEADER,cluster_queue="cq-a-lp",le="+Inf"} 0+1x180`,
			want: `{cluster_queue="cq-a-lp"} 40960`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			expr, ok := exprs[test.alert]
			if !ok {
				t.Fatalf("the platform has no alert %s", test.alert)
			}
			evaluate(t, expr, test.at, test.series, test.want)
		})
	}
}

// quotas are the series of one queue in one flavor.
func quotas(pending, nominal, reserved string) string {
	return `kueue_cluster_queue_resource_pending{LEADER,cluster_queue="cq-a-lp",resource="nvidia.com/gpu"} ` + pending + `x20
		kueue_cluster_queue_resource_pending{FOLLOWER,cluster_queue="cq-a-lp",resource="nvidia.com/gpu"} ` + pending + `x20
		kueue_cluster_queue_nominal_quota{LEADER,cluster_queue="cq-a-lp",flavor="l4-spot",resource="nvidia.com/gpu"} ` + nominal + `x20
		kueue_cluster_queue_nominal_quota{FOLLOWER,cluster_queue="cq-a-lp",flavor="l4-spot",resource="nvidia.com/gpu"} ` + nominal + `x20
		kueue_cluster_queue_resource_reservation{LEADER,cluster_queue="cq-a-lp",flavor="l4-spot",resource="nvidia.com/gpu"} ` + reserved + `x20`
}

// TestKAIAlertsMeanWhatTheySay does the same for KAI Scheduler, whose counters
// are there from the first event on.
func TestKAIAlertsMeanWhatTheySay(t *testing.T) {
	exprs := alertExpressions(t, "../../golden/kai-departments")
	for _, test := range []struct{ name, alert, series, want string }{
		{
			name: "jobs are tried and none starts", alert: "KAINothingStarts",
			series: `kai_podgroups_acted_on_by_action{cluster="kai-departments",action="allocate"} 0+5x180
				kai_podgroups_scheduled_by_action{cluster="kai-departments",action="allocate"} 7x180`,
			want: `{} 150`,
		},
		{
			name: "one has started", alert: "KAINothingStarts",
			series: `kai_podgroups_acted_on_by_action{cluster="kai-departments",action="allocate"} 0+5x180
				kai_podgroups_scheduled_by_action{cluster="kai-departments",action="reclaim"} 7x90 8x90`,
		},
		{
			name: "nothing waits", alert: "KAINothingStarts",
			series: `kai_podgroups_acted_on_by_action{cluster="kai-departments",action="allocate"} 5x180
				kai_podgroups_scheduled_by_action{cluster="kai-departments",action="allocate"} 7x180`,
		},
		{
			name: "another cluster's jobs", alert: "KAINothingStarts",
			series: `kai_podgroups_acted_on_by_action{cluster="other",action="allocate"} 0+5x180`,
		},
		{
			name: "the scheduler is gone, and the controller of queues is not", alert: "KAISchedulerDown",
			series: `up{cluster="kai-departments",job="queue-controller"} 1x180`,
			want:   `{} 1`,
		},
		{
			name: "the scheduler is there", alert: "KAISchedulerDown",
			series: `up{cluster="kai-departments",job="kai-scheduler-default"} 1x180`,
		},
		{
			name: "a slow cycle", alert: "KAISchedulingSlow",
			series: `kai_e2e_scheduling_latency_milliseconds{cluster="kai-departments"} 45000x180`,
			want:   `{} 45000`,
		},
		{
			name: "evictions of one action", alert: "KAIEvictionChurn",
			series: `kai_pod_group_evicted_pods_total{cluster="kai-departments",podgroup="a",action="reclaim"} 0+1x180
				kai_pod_group_evicted_pods_total{cluster="kai-departments",podgroup="a",action="preempt"} 3x180`,
			want: `{action="reclaim"} 60`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			expr := exprs[test.alert]
			if expr == "" {
				t.Fatalf("there is no alert %s", test.alert)
			}
			evaluate(t, expr, "2h", test.series, test.want)
		})
	}
}

// alertExpressions reads the platform's rules, by alert, each on one line.
func alertExpressions(t *testing.T, platform string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(platform + "/dashboards/alert-rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.Parse(content, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	exprs := map[string]string{}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			exprs[rule.Alert] = rule.Expr
		}
	}
	return exprs
}

// TestTeamSeesItsOwnQueues evaluates the team dashboard's way from a namespace
// to its ClusterQueues, beside a team whose name begins alike.
func TestTeamSeesItsOwnQueues(t *testing.T) {
	content, err := os.ReadFile(platform + "/dashboards/grafana/team.json")
	if err != nil {
		t.Fatal(err)
	}
	board, err := decodeGrafana(content)
	if err != nil {
		t.Fatal(err)
	}
	const title = "Nominal, reserved and borrowed"
	panel := slices.IndexFunc(board.Panels, func(p dashboard.PanelOrRowPanel) bool { return p.Panel != nil && *p.Panel.Title == title })
	if panel < 0 {
		t.Fatalf("the dashboard has no panel %q", title)
	}
	query := board.Panels[panel].Panel.Targets[0].(*prometheus.Dataquery).Expr
	expr, errs := fillGrafana(query, map[string]string{"cluster": "gke-batch", "resource": "nvidia.com/gpu", "team": "space-of-a"})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	evaluate(t, expr, "10m", `
		kueue_local_queue_status{LEADER,exported_namespace="space-of-a",name="lq-team-a-lp",active="True"} 1x20
		kueue_local_queue_status{LEADER,exported_namespace="space-of-a",name="lq-team-a-lp",active="False"} 0x20
		kueue_local_queue_status{LEADER,exported_namespace="team-a-b",name="lq-team-a-b-lp",active="True"} 1x20
		kueue_cluster_queue_nominal_quota{LEADER,cluster_queue="cq-team-a-lp",flavor="l4-spot",resource="nvidia.com/gpu"} 12x20
		kueue_cluster_queue_nominal_quota{LEADER,cluster_queue="cq-team-a-lp",flavor="l4-spot",resource="cpu"} 48x20
		kueue_cluster_queue_nominal_quota{FOLLOWER,cluster_queue="cq-team-a-lp",flavor="l4-spot",resource="nvidia.com/gpu"} 12x20
		kueue_cluster_queue_nominal_quota{LEADER,cluster_queue="cq-team-a-b-lp",flavor="l4-spot",resource="nvidia.com/gpu"} 7x20`,
		`{cluster_queue="cq-team-a-lp",flavor="l4-spot",resource="nvidia.com/gpu"} 12`)
}

// evaluate wants an expression to have a result at a time. Series are one a
// line, sampled every minute; LEADER and FOLLOWER stand for the labels of two
// replicas of Kueue. No result is "".
func evaluate(t *testing.T, expr, at, series, want string) {
	t.Helper()
	series = strings.NewReplacer(
		"LEADER", `cluster="gke-batch",instance="a",replica_role="leader"`,
		"FOLLOWER", `cluster="gke-batch",instance="b",replica_role="follower"`,
	).Replace(series)
	script := "load 1m\n"
	for line := range strings.Lines(strings.TrimSpace(series)) {
		script += "\t" + strings.TrimSpace(line) + "\n"
	}
	script += "\neval instant at " + at + " " + expr + "\n"
	if want != "" {
		script += "\t" + want + "\n"
	}
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1e6, Timeout: time.Minute, Parser: parser.NewParser(parser.Options{}),
		EnableAtModifier: true, EnableNegativeOffset: true, // promqltest uses both
	})
	t.Cleanup(func() { engine.Close() })
	promqltest.RunTest(t, script, engine)
}
