resource "google_monitoring_dashboard" "main" {
  for_each       = toset(["admin", "team"])
  dashboard_json = file("${path.module}/../dashboards/cloud-monitoring/${each.key}.json")
}

# The build finds the TensorBoard by its display name, because Google Cloud assigns the
# ID.
resource "google_vertex_ai_tensorboard" "main" {
  display_name = var.cluster_name
  region       = var.tensorboard_region
}

locals {
  alerts = {
    AcceleratorAllocatedIdle = {
      group    = "capacity"
      severity = "WARNING"
      duration = "3600s"
      query    = "avg by (namespace_name, pod_name) (avg_over_time(kubernetes_io:container_accelerator_duty_cycle{monitored_resource=\"k8s_container\",cluster_name=\"tpu-training\"}[1h])) < 3"
      summary  = "A pod holds accelerators and leaves them idle."
      action   = "Pod $${metric_or_resource.label.pod_name} of namespace $${metric_or_resource.label.namespace_name} keeps its accelerators busy for less than 3% of the time, for more than an hour now. Ask its owner whether it hangs."
    }
    HostErrors = {
      group    = "capacity"
      severity = "WARNING"
      duration = "0s"
      query    = "sum by (node_name) (sum_over_time(kubernetes_io:node_interruption_count{monitored_resource=\"k8s_node\",interruption_reason=\"HostError\",cluster_name=\"tpu-training\"}[1h])) > 0"
      summary  = "A machine failed under a node."
      action   = "Node $${metric_or_resource.label.node_name} was restarted after a host error. If it happens again on the same reservation or block, report the host to Google Cloud support."
    }
    TPUNodePoolUnavailable = {
      group    = "capacity"
      severity = "WARNING"
      duration = "1800s"
      query    = "min by (node_pool_name) (kubernetes_io:node_pool_multi_host_available{monitored_resource=\"k8s_node_pool\",cluster_name=\"tpu-training\",node_pool_name=~\"slices-[0-9]+\"}) == 0"
      summary  = "A TPU slice is incomplete."
      action   = "Some host of node pool $${metric_or_resource.label.node_pool_name} is not ready, so that nothing can run on the slice. Look at the pool's nodes and its repair operations."
    }
    JobSetFailures = {
      group    = "jobset"
      severity = "WARNING"
      duration = "0s"
      query    = "count by (exported_namespace) ((jobset_failed_total{cluster=~\"tpu-training|\"} unless jobset_failed_total{cluster=~\"tpu-training|\"} offset 1h) or (increase(jobset_failed_total{cluster=~\"tpu-training|\"}[1h]) > 0)) > 0"
      summary  = "JobSets failed within the last hour."
      action   = "Look at the JobSets of namespace $${metric_or_resource.label.exported_namespace}: the condition Failed names the job that failed first."
    }
    KueueControllerDown = {
      group    = "kueue-controller"
      severity = "CRITICAL"
      duration = "300s"
      query    = "absent(up{job=~\"kueue|kueue-controller-manager-metrics-service\",cluster=~\"tpu-training|\"} == 1)"
      summary  = "No Kueue controller can be scraped."
      action   = "Nothing is admitted while Kueue is down, and jobs cannot be created. Look at the pods of namespace kueue-system; if they run, look at the scraping objects there."
    }
    KueueNoLeader = {
      group    = "kueue-controller"
      severity = "CRITICAL"
      duration = "300s"
      query    = "absent(kueue_cluster_queue_status{replica_role=~\"leader|standalone\",cluster=~\"tpu-training|\"})"
      summary  = "No replica of Kueue leads."
      action   = "Kueue runs but schedules nothing. Look at the lease in namespace kueue-system and at the controller's log."
    }
    KueueReconcileErrors = {
      group    = "kueue-controller"
      severity = "WARNING"
      duration = "900s"
      query    = "sum by (controller) (rate(controller_runtime_reconcile_errors_total{job=~\"kueue|kueue-controller-manager-metrics-service\",cluster=~\"tpu-training|\"}[10m])) > 0.1"
      summary  = "Kueue fails to reconcile, again and again."
      action   = "Controller $${metric_or_resource.label.controller} of Kueue reports errors: its log names the object and the reason."
    }
    KueueClusterQueueInactive = {
      group    = "kueue-queues"
      severity = "CRITICAL"
      duration = "600s"
      query    = "max by (cluster_queue, status) (kueue_cluster_queue_status{replica_role!=\"follower\",cluster=~\"tpu-training|\",status!=\"active\"}) == 1"
      summary  = "A ClusterQueue is not active and admits nothing."
      action   = "ClusterQueue $${metric_or_resource.label.cluster_queue} is $${metric_or_resource.label.status}. Read its Active condition with kubectl describe: a ResourceFlavor or AdmissionCheck it names is missing or inactive, or somebody stopped it."
    }
    KueueIdleQuotaWhileWaiting = {
      group    = "kueue-queues"
      severity = "WARNING"
      duration = "1800s"
      query    = "(sum by (cluster_queue, resource) (kueue_cluster_queue_resource_pending{replica_role!=\"follower\",cluster=~\"tpu-training|\",resource=~\"google.com/tpu\"}) > 0) <= on (cluster_queue, resource) (sum by (cluster_queue, resource) (kueue_cluster_queue_nominal_quota{replica_role!=\"follower\",cluster=~\"tpu-training|\",resource=~\"google.com/tpu\"}) - sum by (cluster_queue, resource) (kueue_cluster_queue_resource_reservation{replica_role!=\"follower\",cluster=~\"tpu-training|\",resource=~\"google.com/tpu\"}))"
      summary  = "A queue waits although its own guaranteed quota would hold all that waits."
      action   = "ClusterQueue $${metric_or_resource.label.cluster_queue} waits for $${metric_or_resource.label.resource} it is guaranteed. Other queues of the cohort may have borrowed it and this tier does not preempt, one flavor alone may be too small, or cpu or memory is short."
    }
    KueueLocalQueueInactive = {
      group    = "kueue-queues"
      severity = "WARNING"
      duration = "600s"
      query    = "max by (exported_namespace, name) (kueue_local_queue_status{replica_role!=\"follower\",cluster=~\"tpu-training|\",active=\"False\"}) == 1"
      summary  = "A LocalQueue is not active: its team cannot start jobs."
      action   = "LocalQueue $${metric_or_resource.label.name} in namespace $${metric_or_resource.label.exported_namespace} is inactive. Read its Active condition: its ClusterQueue is missing, inactive or stopped."
    }
    KueueQueueStuck = {
      group    = "kueue-queues"
      severity = "WARNING"
      duration = "1800s"
      query    = "sum by (cluster_queue) (kueue_pending_workloads{replica_role!=\"follower\",cluster=~\"tpu-training|\",status=\"active\"}) > 0 unless on (cluster_queue) count by (cluster_queue) ((kueue_quota_reserved_workloads_total{replica_role!=\"follower\",cluster=~\"tpu-training|\"} unless kueue_quota_reserved_workloads_total{replica_role!=\"follower\",cluster=~\"tpu-training|\"} offset 1h) or (increase(kueue_quota_reserved_workloads_total{replica_role!=\"follower\",cluster=~\"tpu-training|\"}[1h]) > 0))"
      summary  = "Workloads wait and the queue has started nothing for an hour."
      action   = "Look at the oldest pending workload of ClusterQueue $${metric_or_resource.label.cluster_queue}: its QuotaReserved condition says what it waits for. With StrictFIFO it holds up all younger ones."
    }
    KueueWorkloadNeverFits = {
      group    = "kueue-queues"
      severity = "WARNING"
      duration = "1800s"
      query    = "sum by (cluster_queue, underlying_cause) (kueue_unadmitted_workloads{replica_role!=\"follower\",cluster=~\"tpu-training|\",underlying_cause=~\"ExceedsMaxQuota|NoMatchingFlavor|Misconfigured\"}) > 0"
      summary  = "A workload waits that its queue can never admit."
      action   = "ClusterQueue $${metric_or_resource.label.cluster_queue} holds a workload that cannot start: $${metric_or_resource.label.underlying_cause}. Tell its owner: it asks for more than quota and borrowing limit together, for nodes no flavor has, or is misconfigured."
    }
    KueueAdmissionWaitHigh = {
      group    = "kueue-slo"
      severity = "WARNING"
      duration = "900s"
      query    = "histogram_quantile(0.95, sum by (le, cluster_queue) (rate(kueue_admission_wait_time_seconds_bucket{replica_role!=\"follower\",cluster=~\"tpu-training|\"}[1h]))) > 7200"
      summary  = "One workload in twenty waits longer than two hours to be admitted."
      action   = "ClusterQueue $${metric_or_resource.label.cluster_queue} has too little quota for what is submitted to it. Raise its quota or borrowing limit, or add capacity."
    }
    KueueEvictionsByFailure = {
      group    = "kueue-slo"
      severity = "WARNING"
      duration = "0s"
      query    = "sum by (cluster_queue, reason) (increase(kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"tpu-training|\",reason=~\"PodsReadyTimeout|NodeFailures|AdmissionCheck\"}[30m]) + (kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"tpu-training|\",reason=~\"PodsReadyTimeout|NodeFailures|AdmissionCheck\"} unless kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"tpu-training|\",reason=~\"PodsReadyTimeout|NodeFailures|AdmissionCheck\"} offset 30m) ^ 0 or increase(kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"tpu-training|\",reason=~\"PodsReadyTimeout|NodeFailures|AdmissionCheck\"}[30m])) > 3"
      summary  = "Workloads are evicted because nodes or pods fail, not because others need the quota."
      action   = "ClusterQueue $${metric_or_resource.label.cluster_queue} loses workloads to $${metric_or_resource.label.reason}. Look at the events of the evicted workloads and at the nodes they ran on."
    }
    KueuePreemptionChurn = {
      group    = "kueue-slo"
      severity = "WARNING"
      duration = "0s"
      query    = "sum by (preempting_cluster_queue, reason) (increase(kueue_preempted_workloads_total{replica_role!=\"follower\",cluster=~\"tpu-training|\"}[1h]) + (kueue_preempted_workloads_total{replica_role!=\"follower\",cluster=~\"tpu-training|\"} unless kueue_preempted_workloads_total{replica_role!=\"follower\",cluster=~\"tpu-training|\"} offset 1h) ^ 0 or increase(kueue_preempted_workloads_total{replica_role!=\"follower\",cluster=~\"tpu-training|\"}[1h])) > 20"
      summary  = "A queue preempts more than 20 workloads an hour."
      action   = "ClusterQueue $${metric_or_resource.label.preempting_cluster_queue} evicts others ($${metric_or_resource.label.reason}) so often that work is lost. Guarantee it more quota, or let the tiers it evicts borrow less."
    }
    KueueWorkloadDeactivated = {
      group    = "kueue-slo"
      severity = "WARNING"
      duration = "0s"
      query    = "count by (cluster_queue, underlying_cause) ((kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"tpu-training|\",reason=\"Deactivated\",underlying_cause!=\"\"} unless kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"tpu-training|\",reason=\"Deactivated\",underlying_cause!=\"\"} offset 1h) or (increase(kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"tpu-training|\",reason=\"Deactivated\",underlying_cause!=\"\"}[1h]) > 0)) > 0"
      summary  = "Kueue deactivated a workload: it does not run and will not be tried again."
      action   = "A workload of ClusterQueue $${metric_or_resource.label.cluster_queue} was deactivated ($${metric_or_resource.label.underlying_cause}): an admission check refused it, or it ran longer than the time its owner allowed it. Mend it, then set spec.active of the Workload to true."
    }
  }
}

resource "google_monitoring_alert_policy" "main" {
  for_each              = local.alerts
  display_name          = "${each.key} (${var.cluster_name})"
  combiner              = "OR"
  severity              = each.value.severity
  notification_channels = var.notification_channels

  conditions {
    display_name = each.key

    condition_prometheus_query_language {
      query               = each.value.query
      duration            = each.value.duration
      evaluation_interval = "60s"
      rule_group          = each.value.group
      alert_rule          = each.key

      # At the first apply the metrics do not exist yet, so their validation would fail.
      disable_metric_validation = true
    }
  }

  documentation {
    mime_type = "text/markdown"
    content   = "${each.value.summary}\n\n${each.value.action}"
  }

  # Cloud Monitoring closes an incident after seven days without data.
  alert_strategy {
    auto_close = "604800s"
  }
}
