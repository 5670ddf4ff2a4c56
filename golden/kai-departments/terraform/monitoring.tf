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
      summary  = "A pod holds accelerators and does not use them."
      action   = "The accelerators of pod $${metric_or_resource.label.pod_name} in namespace $${metric_or_resource.label.namespace_name} were busy for less than 3% of the last hour. Ask the owner of the pod whether it hangs."
    }
    GPUSilentThrottle = {
      group    = "capacity"
      severity = "WARNING"
      duration = "300s"
      query    = "(DCGM_FI_PROF_GR_ENGINE_ACTIVE{modelName=~\"NVIDIA (A100|H100|H200).*\",cluster=~\"kai-departments|\"} > 0.5) and (DCGM_FI_DEV_SM_CLOCK{modelName=~\"NVIDIA (A100|H100|H200).*\",cluster=~\"kai-departments|\"} < 1000)"
      summary  = "A busy GPU is throttled: its clock is below 1 GHz."
      action   = "GPU $${metric_or_resource.label.gpu} ($${metric_or_resource.label.modelName}) of node $${metric_or_resource.label.Hostname} is slow. Check its temperature and power. One slow GPU delays every worker of a training job."
    }
    HostErrors = {
      group    = "capacity"
      severity = "WARNING"
      duration = "0s"
      query    = "sum by (node_name) (sum_over_time(kubernetes_io:node_interruption_count{monitored_resource=\"k8s_node\",interruption_reason=\"HostError\",cluster_name=\"kai-departments\"}[1h])) > 0"
      summary  = "The machine of a node failed."
      action   = "Node $${metric_or_resource.label.node_name} restarted after a host error. If this happens again on the same reservation or block, report the host to Google Cloud support."
    }
    ReservationIdle = {
      group    = "capacity"
      severity = "WARNING"
      duration = "0s"
      query    = "count_over_time(((sum by (reservation_id, reserved_resource_type) (avg_over_time(compute_googleapis_com:reservation_used{monitored_resource=\"compute.googleapis.com/Reservation\"}[1h])) / sum by (reservation_id, reserved_resource_type) (avg_over_time(compute_googleapis_com:reservation_reserved{monitored_resource=\"compute.googleapis.com/Reservation\"}[1h]))) <= 0.5)[22h:1h]) > 12"
      summary  = "At least half of a reservation was unused in more than 12 of the last 23 hours."
      action   = "The project pays for reservation $${metric_or_resource.label.reservation_id} and does not use it. The alert watches all reservations of the project, also those that this platform does not consume. If this platform consumes it, give its capacity to more tiers, let teams borrow more of it, or make it smaller."
    }
    JobSetFailures = {
      group    = "jobset"
      severity = "WARNING"
      duration = "0s"
      query    = "count by (exported_namespace) ((jobset_failed_total{cluster=~\"kai-departments|\"} unless jobset_failed_total{cluster=~\"kai-departments|\"} offset 1h) or (increase(jobset_failed_total{cluster=~\"kai-departments|\"}[1h]) > 0)) > 0"
      summary  = "JobSets failed within the last hour."
      action   = "Look at the JobSets of namespace $${metric_or_resource.label.exported_namespace}. The condition Failed of a JobSet names the job that failed first."
    }
    KAIEvictionChurn = {
      group    = "kai"
      severity = "WARNING"
      duration = "0s"
      query    = "sum by (action) (increase(kai_pod_group_evicted_pods_total{cluster=~\"kai-departments|\"}[1h]) + (kai_pod_group_evicted_pods_total{cluster=~\"kai-departments|\"} unless kai_pod_group_evicted_pods_total{cluster=~\"kai-departments|\"} offset 1h) ^ 0 or increase(kai_pod_group_evicted_pods_total{cluster=~\"kai-departments|\"}[1h])) > 20"
      summary  = "KAI Scheduler evicted more than 20 pods within an hour."
      action   = "The action $${metric_or_resource.label.action} evicts pods so often that jobs lose work. Reclaim returns guaranteed GPUs to their team: let the other teams borrow less. Preempt makes room for a higher priority in the same queue: raise the guarantee of the queue. Consolidation moves jobs together to make room for others."
    }
    KAINothingStarts = {
      group    = "kai"
      severity = "WARNING"
      duration = "1800s"
      query    = "sum(increase(kai_podgroups_acted_on_by_action{cluster=~\"kai-departments|\"}[30m])) > 0 unless sum(increase(kai_podgroups_scheduled_by_action{cluster=~\"kai-departments|\"}[1h])) > 0"
      summary  = "Jobs wait, and KAI Scheduler started none within the last hour."
      action   = "The cluster may be full. If the dashboard shows idle GPUs, read the events of a waiting pod: the job's queue may be at its limit, or the free GPUs may not suffice for the job."
    }
    KAIQueueControllerDown = {
      group    = "kai"
      severity = "WARNING"
      duration = "300s"
      query    = "absent(up{job=\"queue-controller\",cluster=~\"kai-departments|\"} == 1)"
      summary  = "Prometheus cannot scrape KAI Scheduler's queue controller."
      action   = "The queue controller checks every change to a queue. While it is down, nobody can change queues, and the status of queues is out of date. Check the pods of namespace kai-scheduler."
    }
    KAISchedulerDown = {
      group    = "kai"
      severity = "CRITICAL"
      duration = "300s"
      query    = "absent(up{job=\"kai-scheduler-default\",cluster=~\"kai-departments|\"} == 1)"
      summary  = "Prometheus cannot scrape KAI Scheduler."
      action   = "While KAI Scheduler is down, no new job starts. Running jobs continue. Check the pods of namespace kai-scheduler. If they run, check the objects of the folder kubernetes/monitoring, which let Prometheus scrape them."
    }
    KAISchedulingSlow = {
      group    = "kai"
      severity = "WARNING"
      duration = "900s"
      query    = "max(kai_e2e_scheduling_latency_milliseconds{cluster=~\"kai-departments|\"}) > 30000"
      summary  = "A scheduling cycle of KAI Scheduler takes longer than 30 seconds."
      action   = "A new job waits until the current cycle ends. The dashboard shows how long each action of the cycle takes. If many jobs wait, consolidation and reclaim try many ways to make room."
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
