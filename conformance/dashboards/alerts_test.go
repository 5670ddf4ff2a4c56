package dashboards

import (
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
)

// history is a short history of metrics, sampled every minute, in which an alert
// fires or does not fire.
type history struct {
	name   string
	alert  string
	series string // as of load
	at     string
	want   string // series that fire, "" for none
}

// TestAlertsMeanWhatTheySay lets Prometheus evaluate the emitted alerts every
// minute over histories, with the durations of the alerts.
func TestAlertsMeanWhatTheySay(t *testing.T) {
	testAlerts(t, "../../golden/batch-platform-dws", []history{
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
				kueue_quota_reserved_workloads_total{replica_role="leader",cluster="other",
					cluster_queue="cq-a-lp"} 0+1x180`,
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
			series: `kueue_evicted_workloads_total{LEADER,cluster_queue="cq-a-lp",reason="Deactivated",` +
				`underlying_cause="MaximumExecutionTimeExceeded"} _x90 1x90`,
			want: `{cluster_queue="cq-a-lp",underlying_cause="MaximumExecutionTimeExceeded"} 1`,
		},
		{
			name:  "a workload that its owner stopped is no such thing",
			alert: "KueueWorkloadDeactivated", at: "2h",
			series: `kueue_evicted_workloads_total{LEADER,cluster_queue="cq-a-lp",reason="Deactivated",` +
				`underlying_cause=""} _x90 1x90`,
		},
		{
			name:  "a queue waits for less than it is guaranteed and does not hold",
			alert: "KueueIdleQuotaWhileWaiting", at: "30m",
			series: quotas("4", "12", "4"),
			want:   `{cluster_queue="cq-a-lp",resource="nvidia.com/gpu"} 4`,
		},
		{
			name:  "a queue waits for more than its guarantee",
			alert: "KueueIdleQuotaWhileWaiting", at: "30m",
			series: quotas("4", "12", "10"),
		},
		{
			name:  "quota that another queue leaves idle is not this queue's",
			alert: "KueueIdleQuotaWhileWaiting", at: "30m",
			series: quotas("4", "4", "4") + `
				kueue_cluster_queue_nominal_quota{LEADER,cluster_queue="cq-b-lp",flavor="l4-spot",
					resource="nvidia.com/gpu"} 12x40
				kueue_cluster_queue_resource_reservation{LEADER,cluster_queue="cq-b-lp",flavor="l4-spot",
					resource="nvidia.com/gpu"} 0x40`,
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
		{
			name:  "waits of an hour at most",
			alert: "KueueAdmissionWaitHigh", at: "2h",
			series: `kueue_admission_wait_time_seconds_bucket{LEADER,cluster_queue="cq-a-lp",le="2560"} 0+1x180
				kueue_admission_wait_time_seconds_bucket{LEADER,cluster_queue="cq-a-lp",le="5120"} 0+1x180
				kueue_admission_wait_time_seconds_bucket{LEADER,cluster_queue="cq-a-lp",le="+Inf"} 0+1x180`,
		},
		{
			name:  "one that has been pending for eight minutes may be about to start",
			alert: "KueueClusterQueueInactive", at: "12m",
			series: `kueue_cluster_queue_status{LEADER,cluster_queue="cq-a-lp",status="pending"} 0x3 1x20
				kueue_cluster_queue_status{FOLLOWER,cluster_queue="cq-a-lp",status="pending"} 1x20`,
		},
		{
			name:  "a LocalQueue that points to nothing",
			alert: "KueueLocalQueueInactive", at: "10m",
			series: `kueue_local_queue_status{LEADER,exported_namespace="team-a",name="lq-a-lp",active="False"} 1x20
				kueue_local_queue_status{LEADER,exported_namespace="team-a",name="lq-a-lp",active="True"} 0x20
				kueue_local_queue_status{LEADER,exported_namespace="team-a",name="lq-a-hp",active="False"} 0x20`,
			want: `{exported_namespace="team-a",name="lq-a-lp"} 1`,
		},
		{
			name:  "nine minutes are not yet ten",
			alert: "KueueLocalQueueInactive", at: "9m",
			series: `kueue_local_queue_status{LEADER,exported_namespace="team-a",name="lq-a-lp",active="False"} 1x20`,
		},
		{
			name:  "a workload that asks for more than its queue may ever have",
			alert: "KueueWorkloadNeverFits", at: "30m",
			series: `kueue_unadmitted_workloads{LEADER,cluster_queue="cq-a-lp",reason="NoReservation",
					underlying_cause="ExceedsMaxQuota"} 2x40
				kueue_unadmitted_workloads{FOLLOWER,cluster_queue="cq-a-lp",reason="NoReservation",
					underlying_cause="ExceedsMaxQuota"} 2x40`,
			want: `{cluster_queue="cq-a-lp",underlying_cause="ExceedsMaxQuota"} 2`,
		},
		{
			name:  "one that waits for its turn",
			alert: "KueueWorkloadNeverFits", at: "30m",
			series: `kueue_unadmitted_workloads{LEADER,cluster_queue="cq-a-lp",reason="NoReservation",` +
				`underlying_cause="WaitingForQuota"} 2x40`,
		},
		{
			name:  "nodes that do not come for an hour",
			alert: "KueueAdmissionCheckStuck", at: "1h",
			series: `kueue_unadmitted_workloads{LEADER,cluster_queue="cq-dws",reason="UnsatisfiedAdmissionChecks",` +
				`underlying_cause=""} 1x80`,
			want: `{cluster_queue="cq-dws"} 1`,
		},
		{
			name:  "nodes that come after half an hour, and others that do not yet",
			alert: "KueueAdmissionCheckStuck", at: "1h",
			series: `kueue_unadmitted_workloads{LEADER,cluster_queue="cq-dws",reason="UnsatisfiedAdmissionChecks",` +
				`underlying_cause=""} 1x30 0 1x50`,
		},
		{
			name:  "nodes fail again and again",
			alert: "KueueEvictionsByFailure", at: "1h",
			series: `kueue_evicted_workloads_total{LEADER,cluster_queue="cq-a-lp",priority_class="lp",
					reason="NodeFailures",underlying_cause=""} 0+1x80
				kueue_evicted_workloads_total{LEADER,cluster_queue="cq-b-lp",priority_class="lp",reason="NodeFailures",
					underlying_cause=""} 1x40 3x40`,
			want: `{cluster_queue="cq-a-lp",reason="NodeFailures"} 30`,
		},
		{
			name:  "the first four failures ever, each of another series",
			alert: "KueueEvictionsByFailure", at: "1h40m",
			series: `kueue_evicted_workloads_total{LEADER,cluster_queue="cq-a-lp",priority_class="lp",
					reason="NodeFailures",underlying_cause=""} _x90 1x20
				kueue_evicted_workloads_total{LEADER,cluster_queue="cq-a-lp",priority_class="hp",reason="NodeFailures",
					underlying_cause=""} _x90 1x20
				kueue_evicted_workloads_total{LEADER,cluster_queue="cq-a-lp",priority_class="lp",reason="NodeFailures",
					underlying_cause="x"} _x90 1x20
				kueue_evicted_workloads_total{LEADER,cluster_queue="cq-a-lp",priority_class="hp",reason="NodeFailures",
					underlying_cause="x"} _x90 1x20`,
			want: `{cluster_queue="cq-a-lp",reason="NodeFailures"} 4`,
		},
		{
			name:  "jobs that make room are no failure",
			alert: "KueueEvictionsByFailure", at: "1h",
			series: `kueue_evicted_workloads_total{LEADER,cluster_queue="cq-a-lp",priority_class="lp",` +
				`reason="Preempted",underlying_cause=""} 0+1x80`,
		},
		{
			name:  "requests for nodes fail every 20 minutes",
			alert: "KueueProvisioningFails", at: "4h",
			series: `kueue_evicted_workloads_total{LEADER,cluster_queue="cq-a-lp",reason="AdmissionCheck",` +
				`underlying_cause=""} 0+0.05x300
				kueue_evicted_workloads_total{FOLLOWER,cluster_queue="cq-a-lp",reason="AdmissionCheck",` +
				`underlying_cause=""} 0+0.05x300`,
			want: `{cluster_queue="cq-a-lp"} 9`,
		},
		{
			name:  "a request that failed five times in three hours",
			alert: "KueueProvisioningFails", at: "4h",
			series: `kueue_evicted_workloads_total{LEADER,cluster_queue="cq-a-lp",reason="AdmissionCheck",` +
				`underlying_cause=""} _x70 1x30 2x30 3x30 4x30 5x110`,
		},
		{
			name:  "seven failures, the first of their queue",
			alert: "KueueProvisioningFails", at: "4h",
			series: `kueue_evicted_workloads_total{LEADER,cluster_queue="cq-a-lp",reason="AdmissionCheck",` +
				`underlying_cause=""} _x70 1x30 2x30 3x30 4x30 5x30 7x80`,
			want: `{cluster_queue="cq-a-lp"} 7.01765`,
		},
		{
			name:  "a queue's jobs are evicted for another reason",
			alert: "KueueProvisioningFails", at: "4h",
			series: `kueue_evicted_workloads_total{LEADER,cluster_queue="cq-a-lp",reason="Preempted",` +
				`underlying_cause=""} 0+0.05x300`,
		},
		{
			name:  "a workload lost pods for good, the first of its queue",
			alert: "KueueQuotaKept", at: "2h",
			series: `kueue_evicted_workloads_total{LEADER,cluster_queue="cq-a-lp",reason="PodsReadyTimeout",` +
				`underlying_cause="WaitForRecovery"} _x90 1x90`,
			want: `{cluster_queue="cq-a-lp"} 1`,
		},
		{
			name:  "another workload of a queue did",
			alert: "KueueQuotaKept", at: "2h",
			series: `kueue_evicted_workloads_total{LEADER,cluster_queue="cq-a-lp",reason="PodsReadyTimeout",` +
				`underlying_cause="WaitForRecovery"} 3x90 4x90`,
			want: `{cluster_queue="cq-a-lp"} 1`,
		},
		{
			name:  "one did more than an hour ago, and another never started",
			alert: "KueueQuotaKept", at: "2h40m",
			series: `kueue_evicted_workloads_total{LEADER,cluster_queue="cq-a-lp",reason="PodsReadyTimeout",` +
				`underlying_cause="WaitForRecovery"} _x90 1x90
				kueue_evicted_workloads_total{LEADER,cluster_queue="cq-a-lp",reason="PodsReadyTimeout",` +
				`underlying_cause="WaitForStart"} _x150 1x30`,
		},
		{
			name:  "a queue preempts every other minute",
			alert: "KueuePreemptionChurn", at: "2h",
			series: `kueue_preempted_workloads_total{LEADER,preempting_cluster_queue="cq-a-hp",
					reason="InCohortReclamation"} 0+0.5x180
				kueue_preempted_workloads_total{LEADER,preempting_cluster_queue="cq-b-hp",
					reason="InCohortReclamation"} 0+0.25x180`,
			want: `{preempting_cluster_queue="cq-a-hp",reason="InCohortReclamation"} 30`,
		},
		{
			name:  "what another cluster's queue preempts",
			alert: "KueuePreemptionChurn", at: "2h",
			series: `kueue_preempted_workloads_total{replica_role="leader",cluster="other",` +
				`preempting_cluster_queue="cq-a-hp",reason="InCohortReclamation"} 0+1x180`,
		},
		{
			name:  "a controller that fails every five seconds, and one that fails seldom",
			alert: "KueueReconcileErrors", at: "1h",
			series: reconciled("kueue", "a", "workload", 12, 3) + reconciled("kueue", "a", "job", 3, 0),
			want:   `{controller="workload"} 0.8`,
		},
		{
			name:  "conflicts when many jobs start, in the proportion of a real Kueue",
			alert: "KueueReconcileErrors", at: "1h",
			series: reconciled("kueue", "a", "job", 63, 342),
		},
		{
			name:  "a leader that fails, beside a replica that postpones every object",
			alert: "KueueReconcileErrors", at: "1h",
			series: reconciled("kueue", "a", "job", 12, 3) + reconciled("kueue", "b", "job", 0, 1000),
			want:   `{controller="job"} 0.8`,
		},
		{
			name:  "another program's errors beside few errors of Kueue",
			alert: "KueueReconcileErrors", at: "1h",
			series: reconciled("kueue", "a", "workload", 3, 0) + reconciled("jobset", "a", "workload", 12, 0),
		},
		{
			name:  "another program's errors beside conflicts of Kueue",
			alert: "KueueReconcileErrors", at: "1h",
			series: reconciled("kueue", "a", "workload", 63, 342) + reconciled("jobset", "a", "workload", 1000, 0),
		},
		{
			name:  "another program's success beside errors of Kueue",
			alert: "KueueReconcileErrors", at: "1h",
			series: reconciled("kueue", "a", "workload", 12, 3) + reconciled("jobset", "a", "workload", 0, 1000),
			want:   `{controller="workload"} 0.8`,
		},
		{
			name:  "a controller that began to fail eight minutes ago",
			alert: "KueueReconcileErrors", at: "1h",
			series: `controller_runtime_reconcile_errors_total{job="kueue",cluster="gke-batch",instance="a",
					controller="workload"} 0x50 0+70x5 350x40
				controller_runtime_reconcile_total{job="kueue",cluster="gke-batch",instance="a",
					controller="workload",result="error"} 0x50 0+70x5 350x40`,
		},
		{
			name:  "a busy GPU that is slow",
			alert: "GPUSilentThrottle", at: "10m",
			series: `DCGM_FI_PROF_GR_ENGINE_ACTIVE{cluster="gke-batch",gpu="0",modelName="NVIDIA H100 80GB HBM3"} 0.9x20
				DCGM_FI_DEV_SM_CLOCK{cluster="gke-batch",gpu="0",modelName="NVIDIA H100 80GB HBM3"} 700x20`,
			want: `{cluster="gke-batch",gpu="0",modelName="NVIDIA H100 80GB HBM3"} 0.9`,
		},
		{
			name:  "an idle one, and a model that is as slow as that",
			alert: "GPUSilentThrottle", at: "10m",
			series: `DCGM_FI_PROF_GR_ENGINE_ACTIVE{cluster="gke-batch",gpu="0",modelName="NVIDIA H100 80GB HBM3"} 0.1x20
				DCGM_FI_DEV_SM_CLOCK{cluster="gke-batch",gpu="0",modelName="NVIDIA H100 80GB HBM3"} 300x20
				DCGM_FI_PROF_GR_ENGINE_ACTIVE{cluster="gke-batch",gpu="1",modelName="NVIDIA L4"} 0.9x20
				DCGM_FI_DEV_SM_CLOCK{cluster="gke-batch",gpu="1",modelName="NVIDIA L4"} 700x20`,
		},
	})
}

// quotas returns the series of one queue in one flavor.
func quotas(pending, nominal, reserved string) string {
	const queue, gpus = `cluster_queue="cq-a-lp",`, `resource="nvidia.com/gpu"} `
	const flavor = queue + `flavor="l4-spot",` + gpus
	return `
		kueue_cluster_queue_resource_pending{LEADER,` + queue + gpus + pending + `x40
		kueue_cluster_queue_resource_pending{FOLLOWER,` + queue + gpus + pending + `x40
		kueue_cluster_queue_nominal_quota{LEADER,` + flavor + nominal + `x40
		kueue_cluster_queue_nominal_quota{FOLLOWER,` + flavor + nominal + `x40
		kueue_cluster_queue_resource_reservation{LEADER,` + flavor + reserved + `x40`
}

// TestKAIAlertsMeanWhatTheySay does the same for KAI Scheduler, whose counters
// appear with the first event.
func TestKAIAlertsMeanWhatTheySay(t *testing.T) {
	testAlerts(t, "../../golden/kai-departments", []history{
		{
			name: "jobs are tried and none starts", alert: "KAINothingStarts", at: "2h",
			series: `kai_podgroups_acted_on_by_action{cluster="kai-departments",action="allocate"} 0+5x180
				kai_podgroups_scheduled_by_action{cluster="kai-departments",action="allocate"} 7x180`,
			want: `{} 150`,
		},
		{
			name: "one has started", alert: "KAINothingStarts", at: "2h",
			series: `kai_podgroups_acted_on_by_action{cluster="kai-departments",action="allocate"} 0+5x180
				kai_podgroups_scheduled_by_action{cluster="kai-departments",action="reclaim"} 7x90 8x90`,
		},
		{
			name: "nothing waits", alert: "KAINothingStarts", at: "2h",
			series: `kai_podgroups_acted_on_by_action{cluster="kai-departments",action="allocate"} 5x180
				kai_podgroups_scheduled_by_action{cluster="kai-departments",action="allocate"} 7x180`,
		},
		{
			name: "another cluster's jobs", alert: "KAINothingStarts", at: "2h",
			series: `kai_podgroups_acted_on_by_action{cluster="other",action="allocate"} 0+5x180`,
		},
		{
			name: "the scheduler is gone, and the controller of queues is not", alert: "KAISchedulerDown", at: "2h",
			series: `up{cluster="kai-departments",job="queue-controller"} 1x180`,
			want:   `{} 1`,
		},
		{
			name: "the scheduler is there", alert: "KAISchedulerDown", at: "2h",
			series: `up{cluster="kai-departments",job="kai-scheduler-default"} 1x180`,
		},
		{
			name: "a slow cycle", alert: "KAISchedulingSlow", at: "2h",
			series: `kai_e2e_scheduling_latency_milliseconds{cluster="kai-departments"} 45000x180`,
			want:   `{} 45000`,
		},
		{
			name: "evictions of one action", alert: "KAIEvictionChurn", at: "2h",
			series: `kai_pod_group_evicted_pods_total{cluster="kai-departments",podgroup="a",action="reclaim"} 0+1x180
				kai_pod_group_evicted_pods_total{cluster="kai-departments",podgroup="a",action="preempt"} 3x180`,
			want: `{action="reclaim"} 60`,
		},
		{
			name: "fast cycles", alert: "KAISchedulingSlow", at: "2h",
			series: `kai_e2e_scheduling_latency_milliseconds{cluster="kai-departments"} 900x180`,
		},
		{
			name: "slow cycles for nine minutes", alert: "KAISchedulingSlow", at: "2h",
			series: `kai_e2e_scheduling_latency_milliseconds{cluster="kai-departments"} 900x110 45000x60`,
		},
		{
			name: "an eviction now and then", alert: "KAIEvictionChurn", at: "2h",
			series: `kai_pod_group_evicted_pods_total{cluster="kai-departments",podgroup="a",action="reclaim"} ` +
				`0+0.25x180`,
		},
		{
			name: "the controller of queues is gone, and the scheduler is not", alert: "KAIQueueControllerDown",
			at:     "2h",
			series: `up{cluster="kai-departments",job="kai-scheduler-default"} 1x180`,
			want:   `{} 1`,
		},
		{
			name: "the controller of queues is there", alert: "KAIQueueControllerDown", at: "2h",
			series: `up{cluster="kai-departments",job="queue-controller"} 1x180`,
		},
		{
			name: "a JobSet failed", alert: "JobSetFailures", at: "2h",
			series: `jobset_failed_total{cluster="kai-departments",exported_namespace="project-a",jobset_name="x"} ` +
				`_x90 1x90`,
			want: `{exported_namespace="project-a"} 1`,
		},
		{
			name: "another cluster's", alert: "JobSetFailures", at: "2h",
			series: `jobset_failed_total{cluster="other",exported_namespace="project-a",jobset_name="x"} _x90 1x90`,
		},
		{
			name: "a busy GPU that is slow", alert: "GPUSilentThrottle", at: "2h",
			series: `DCGM_FI_PROF_GR_ENGINE_ACTIVE{cluster="kai-departments",gpu="0",
					modelName="NVIDIA H100 80GB HBM3"} 0.9x180
				DCGM_FI_DEV_SM_CLOCK{cluster="kai-departments",gpu="0",modelName="NVIDIA H100 80GB HBM3"} 700x180`,
			want: `{cluster="kai-departments",gpu="0",modelName="NVIDIA H100 80GB HBM3"} 0.9`,
		},
		{
			name: "slow for three minutes", alert: "GPUSilentThrottle", at: "2h",
			series: `DCGM_FI_PROF_GR_ENGINE_ACTIVE{cluster="kai-departments",gpu="0",
					modelName="NVIDIA H100 80GB HBM3"} 0.9x180
				DCGM_FI_DEV_SM_CLOCK{cluster="kai-departments",gpu="0",
					modelName="NVIDIA H100 80GB HBM3"} 1700x116 700x60`,
		},
	})
}

// testAlerts evaluates the platform's rules over histories. Each alert needs a
// history in which it fires and one in which it does not.
func testAlerts(t *testing.T, platform string, histories []history) {
	content, err := os.ReadFile(platform + "/dashboards/alert-rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := parser.NewParser(parser.Options{})
	groups, errs := rulefmt.Parse(content, false, model.UTF8Validation, p, slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	emitted := map[string]rulefmt.Rule{}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			emitted[rule.Alert] = rule
			for _, fires := range []bool{true, false} {
				if !slices.ContainsFunc(histories, func(h history) bool {
					return h.alert == rule.Alert && (h.want != "") == fires
				}) {
					t.Errorf("%s has no history in which it fires is %t", rule.Alert, fires)
				}
			}
		}
	}
	for _, h := range histories {
		t.Run(h.alert+": "+h.name, func(t *testing.T) {
			rule, ok := emitted[h.alert]
			if !ok {
				t.Fatalf("the platform has no alert %s", h.alert)
			}
			expr, err := p.ParseExpr(rule.Expr)
			if err != nil {
				t.Fatal(err)
			}
			at, err := model.ParseDuration(h.at)
			if err != nil {
				t.Fatal(err)
			}
			alert := rules.NewAlertingRule(rule.Alert, expr, time.Duration(rule.For), 0, labels.EmptyLabels(),
				labels.EmptyLabels(), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler))
			query := rules.EngineQueryFunc(engine(t), promqltest.LoadedStorage(t, load(h.series)))
			for minute := time.Duration(0); minute <= time.Duration(at); minute += time.Minute {
				if _, err := alert.Eval(t.Context(), 0, time.Unix(0, 0).Add(minute), query, nil, 0); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, a := range alert.ActiveAlerts() {
				if a.State == rules.StateFiring {
					series := labels.NewBuilder(a.Labels).Del(model.AlertNameLabel).Labels()
					got = append(got, fmt.Sprintf("%s %.6g", strings.ReplaceAll(series.String(), ", ", ","), a.Value))
				}
			}
			slices.Sort(got)
			if got := strings.Join(got, "\n"); got != h.want {
				t.Errorf("at %s fires %q, want %q", h.at, got, h.want)
			}
		})
	}
}

// TestTeamSeesItsOwnQueues evaluates the query with which the team dashboard finds
// the ClusterQueue of a namespace. Another team's name begins with the same text.
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
	panel := slices.IndexFunc(board.Panels, func(p dashboard.PanelOrRowPanel) bool {
		return p.Panel != nil && *p.Panel.Title == title
	})
	if panel < 0 {
		t.Fatalf("the dashboard has no panel %q", title)
	}
	query := board.Panels[panel].Panel.Targets[0].(*prometheus.Dataquery).Expr
	expr, errs := fillGrafana(query,
		map[string]string{"cluster": "gke-batch", "resource": "nvidia.com/gpu", "team": "space-of-a"})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	evaluate(t, expr, "10m", `
		kueue_local_queue_status{LEADER,exported_namespace="space-of-a",name="lq-team-a-lp",active="True"} 1x20
		kueue_local_queue_status{LEADER,exported_namespace="space-of-a",name="lq-team-a-lp",active="False"} 0x20
		kueue_local_queue_status{LEADER,exported_namespace="team-a-b",name="lq-team-a-b-lp",active="True"} 1x20
		kueue_cluster_queue_nominal_quota{LEADER,cluster_queue="cq-team-a-lp",flavor="l4-spot",
			resource="nvidia.com/gpu"} 12x20
		kueue_cluster_queue_nominal_quota{LEADER,cluster_queue="cq-team-a-lp",flavor="l4-spot",resource="cpu"} 48x20
		kueue_cluster_queue_nominal_quota{FOLLOWER,cluster_queue="cq-team-a-lp",flavor="l4-spot",
			resource="nvidia.com/gpu"} 12x20
		kueue_cluster_queue_nominal_quota{LEADER,cluster_queue="cq-team-a-b-lp",flavor="l4-spot",
			resource="nvidia.com/gpu"} 7x20`,
		`{cluster_queue="cq-team-a-lp",flavor="l4-spot",resource="nvidia.com/gpu"} 12`)
}

// evaluate fails the test unless an expression has the result at a time.
func evaluate(t *testing.T, expr, at, series, want string) {
	t.Helper()
	promqltest.RunTest(t, load(series)+"\neval instant at "+at+" "+expr+"\n\t"+want+"\n", engine(t))
}

// load returns the command that loads series into promqltest. The text has one
// series on each line, sampled every minute. A comma at the end of a line continues
// the series. LEADER and FOLLOWER stand for the labels of two replicas of Kueue.
func load(series string) string {
	series = regexp.MustCompile(`,\n\s*`).ReplaceAllString(series, ",")
	series = strings.NewReplacer(
		"LEADER", `cluster="gke-batch",instance="a",replica_role="leader"`,
		"FOLLOWER", `cluster="gke-batch",instance="b",replica_role="follower"`,
	).Replace(series)
	script := "load 1m\n"
	for line := range strings.Lines(strings.TrimSpace(series)) {
		script += "\t" + strings.TrimSpace(line) + "\n"
	}
	return script
}

func engine(t *testing.T) *promql.Engine {
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1e6, Timeout: time.Minute, Parser: parser.NewParser(parser.Options{}),
		EnableAtModifier: true, EnableNegativeOffset: true, // promqltest uses both
	})
	t.Cleanup(func() { engine.Close() })
	return engine
}

// reconciled returns the series of a controller of a program's replica that fails and
// succeeds so many times a minute.
func reconciled(job, instance, controller string, failed, succeeded int) string {
	labels := fmt.Sprintf(`cluster="gke-batch",job=%q,instance=%q,controller=%q`, job, instance, controller)
	return fmt.Sprintf(`controller_runtime_reconcile_errors_total{%[1]s} 0+%[2]dx80
		controller_runtime_reconcile_total{%[1]s,result="error"} 0+%[2]dx80
		controller_runtime_reconcile_total{%[1]s,result="success"} 0+%[3]dx80
`, labels, failed, succeeded)
}
