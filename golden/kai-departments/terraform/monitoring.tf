resource "google_monitoring_dashboard" "main" {
  for_each       = toset(["admin", "team"])
  dashboard_json = file("${path.module}/../dashboards/cloud-monitoring/${each.key}.json")
}

locals {
  alerts = {
    AcceleratorAllocatedIdle = {
      group    = "capacity"
      severity = "WARNING"
      duration = "3600s"
      query    = "avg by (namespace_name, pod_name) (avg_over_time(kubernetes_io:container_accelerator_duty_cycle{monitored_resource=\"k8s_container\",cluster_name=\"kai-departments\"}[1h])) < 3"
      summary  = "A pod holds accelerators and leaves them idle."
      action   = "Pod $${metric_or_resource.label.pod_name} of namespace $${metric_or_resource.label.namespace_name} keeps its accelerators busy for less than 3% of the time, for more than an hour now. Ask its owner whether it hangs."
    }
    GPUSilentThrottle = {
      group    = "capacity"
      severity = "WARNING"
      duration = "300s"
      query    = "(DCGM_FI_PROF_GR_ENGINE_ACTIVE{modelName=~\"NVIDIA (A100|H100|H200).*\",cluster=~\"kai-departments|\"} > 0.5) and (DCGM_FI_DEV_SM_CLOCK{modelName=~\"NVIDIA (A100|H100|H200).*\",cluster=~\"kai-departments|\"} < 1000)"
      summary  = "A busy GPU runs below 1 GHz."
      action   = "GPU $${metric_or_resource.label.gpu} ($${metric_or_resource.label.modelName}) of node $${metric_or_resource.label.Hostname} is throttled: look at its temperature and power. One slow GPU holds back every worker of a training job."
    }
    HostErrors = {
      group    = "capacity"
      severity = "WARNING"
      duration = "0s"
      query    = "sum by (node_name) (sum_over_time(kubernetes_io:node_interruption_count{monitored_resource=\"k8s_node\",interruption_reason=\"HostError\",cluster_name=\"kai-departments\"}[1h])) > 0"
      summary  = "A machine failed under a node."
      action   = "Node $${metric_or_resource.label.node_name} was restarted after a host error. If it happens again on the same reservation or block, report the host to Google Cloud support."
    }
    ReservationIdle = {
      group    = "capacity"
      severity = "WARNING"
      duration = "0s"
      query    = "count_over_time(((sum by (reservation_id, reserved_resource_type) (avg_over_time(compute_googleapis_com:reservation_used{monitored_resource=\"compute.googleapis.com/Reservation\"}[1h])) / sum by (reservation_id, reserved_resource_type) (avg_over_time(compute_googleapis_com:reservation_reserved{monitored_resource=\"compute.googleapis.com/Reservation\"}[1h]))) <= 0.5)[22h:1h]) > 12"
      summary  = "At least half of a reservation of the project stood idle for more than 12 of the last 23 hours."
      action   = "Reservation $${metric_or_resource.label.reservation_id} is paid for and not used. It may be one that this platform does not consume: all of the project are watched. If it is the platform's, give its capacity to more tiers, let teams borrow more of it, or make it smaller."
    }
    JobSetFailures = {
      group    = "jobset"
      severity = "WARNING"
      duration = "0s"
      query    = "count by (exported_namespace) ((jobset_failed_total{cluster=~\"kai-departments|\"} unless jobset_failed_total{cluster=~\"kai-departments|\"} offset 1h) or (increase(jobset_failed_total{cluster=~\"kai-departments|\"}[1h]) > 0)) > 0"
      summary  = "JobSets failed within the last hour."
      action   = "Look at the JobSets of namespace $${metric_or_resource.label.exported_namespace}: the condition Failed names the job that failed first."
    }
    KAIEvictionChurn = {
      group    = "kai"
      severity = "WARNING"
      duration = "0s"
      query    = "sum by (action) (increase(kai_pod_group_evicted_pods_total{cluster=~\"kai-departments|\"}[1h]) + (kai_pod_group_evicted_pods_total{cluster=~\"kai-departments|\"} unless kai_pod_group_evicted_pods_total{cluster=~\"kai-departments|\"} offset 1h) ^ 0 or increase(kai_pod_group_evicted_pods_total{cluster=~\"kai-departments|\"}[1h])) > 20"
      summary  = "KAI Scheduler evicts more than 20 pods an hour."
      action   = "Pods are evicted so often by $${metric_or_resource.label.action} that work is lost: reclaim gives a team back what it is guaranteed, preempt makes room for a higher priority in the same queue, consolidation moves jobs together."
    }
    KAINothingStarts = {
      group    = "kai"
      severity = "WARNING"
      duration = "1800s"
      query    = "sum(increase(kai_podgroups_acted_on_by_action{cluster=~\"kai-departments|\"}[30m])) > 0 unless sum(increase(kai_podgroups_scheduled_by_action{cluster=~\"kai-departments|\"}[1h])) > 0"
      summary  = "Jobs wait and KAI Scheduler has started nothing for an hour."
      action   = "The cluster may just be full. If the dashboard shows idle GPUs, read the events of a pod that waits: its queue may be at its limit, or the job may not fit what is free."
    }
    KAIQueueControllerDown = {
      group    = "kai"
      severity = "WARNING"
      duration = "300s"
      query    = "absent(up{job=\"queue-controller\",cluster=~\"kai-departments|\"} == 1)"
      summary  = "KAI Scheduler's controller of queues cannot be scraped."
      action   = "Queues cannot be changed while it is down, because it checks every change, and what they show is old. Look at the pods of namespace kai-scheduler."
    }
    KAISchedulerDown = {
      group    = "kai"
      severity = "CRITICAL"
      duration = "300s"
      query    = "absent(up{job=\"kai-scheduler-default\",cluster=~\"kai-departments|\"} == 1)"
      summary  = "KAI Scheduler cannot be scraped."
      action   = "No job starts while it is down; what runs goes on. Look at the pods of namespace kai-scheduler; if they run, look at the scraping objects there."
    }
    KAISchedulingSlow = {
      group    = "kai"
      severity = "WARNING"
      duration = "900s"
      query    = "max(kai_e2e_scheduling_latency_milliseconds{cluster=~\"kai-departments|\"}) > 30000"
      summary  = "A scheduling cycle of KAI Scheduler takes more than half a minute."
      action   = "Every decision waits for the one before it. The dashboard shows which action takes the time: with many jobs that wait, consolidation and reclaim try many ways to make room."
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
