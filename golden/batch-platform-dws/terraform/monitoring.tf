resource "google_monitoring_dashboard" "main" {
  for_each       = toset(["gpus", "kueue", "team"])
  dashboard_json = file("${path.module}/../dashboards/cloud-monitoring/${each.key}.json")
}

locals {
  alerts = {
    AcceleratorAllocatedIdle = {
      group    = "capacity"
      severity = "WARNING"
      duration = "3600s"
      query    = "avg by (namespace_name, pod_name) (avg_over_time(kubernetes_io:container_accelerator_duty_cycle{monitored_resource=\"k8s_container\",cluster_name=\"gke-batch\"}[1h])) < 3"
      summary  = "A pod holds accelerators and does not use them."
      action   = "The accelerators of pod $${metric_or_resource.label.pod_name} in namespace $${metric_or_resource.label.namespace_name} were busy for less than 3% of the last hour. Ask the owner of the pod whether it hangs."
    }
    GPUSilentThrottle = {
      group    = "capacity"
      severity = "WARNING"
      duration = "300s"
      query    = "(DCGM_FI_PROF_GR_ENGINE_ACTIVE{modelName=~\"NVIDIA (A100|H100|H200).*\",cluster=~\"gke-batch|\"} > 0.5) and (DCGM_FI_DEV_SM_CLOCK{modelName=~\"NVIDIA (A100|H100|H200).*\",cluster=~\"gke-batch|\"} < 1000)"
      summary  = "A busy GPU is throttled: its clock is below 1 GHz."
      action   = "GPU $${metric_or_resource.label.gpu} ($${metric_or_resource.label.modelName}) of node $${metric_or_resource.label.Hostname} is slow. Check its temperature and power. One slow GPU delays every worker of a training job."
    }
    HostErrors = {
      group    = "capacity"
      severity = "WARNING"
      duration = "0s"
      query    = "sum by (node_name) (sum_over_time(kubernetes_io:node_interruption_count{monitored_resource=\"k8s_node\",interruption_reason=\"HostError\",cluster_name=\"gke-batch\"}[1h])) > 0"
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
    SpotPreemptionBurst = {
      group    = "capacity"
      severity = "WARNING"
      duration = "0s"
      query    = "sum(sum_over_time(kubernetes_io:node_interruption_count{monitored_resource=\"k8s_node\",interruption_type=\"PreemptionEvent\",cluster_name=\"gke-batch\"}[1h])) > 10"
      summary  = "Compute Engine took back more than 10 Spot nodes within an hour."
      action   = "Compute Engine is short of this hardware, and jobs on it restart. Move urgent jobs to a tier without Spot capacity."
    }
    JobSetFailures = {
      group    = "jobset"
      severity = "WARNING"
      duration = "0s"
      query    = "count by (exported_namespace) ((jobset_failed_total{cluster=~\"gke-batch|\"} unless jobset_failed_total{cluster=~\"gke-batch|\"} offset 1h) or (increase(jobset_failed_total{cluster=~\"gke-batch|\"}[1h]) > 0)) > 0"
      summary  = "JobSets failed within the last hour."
      action   = "Look at the JobSets of namespace $${metric_or_resource.label.exported_namespace}. The condition Failed of a JobSet names the job that failed first."
    }
    KueueControllerDown = {
      group    = "kueue-controller"
      severity = "CRITICAL"
      duration = "300s"
      query    = "absent(up{job=~\"kueue|kueue-controller-manager-metrics-service\",cluster=~\"gke-batch|\"} == 1)"
      summary  = "Prometheus can scrape no Kueue controller."
      action   = "While Kueue is down, it admits no workloads, and the teams cannot create jobs. Check the pods of namespace kueue-system. If they run, check the objects of the folder kubernetes/monitoring, which let Prometheus scrape them."
    }
    KueueNoLeader = {
      group    = "kueue-controller"
      severity = "CRITICAL"
      duration = "300s"
      query    = "absent(kueue_cluster_queue_status{replica_role=~\"leader|standalone\",cluster=~\"gke-batch|\"})"
      summary  = "No replica of Kueue is the leader."
      action   = "Kueue runs but admits no workloads. Check the lease in namespace kueue-system and the log of the controller."
    }
    KueueReconcileErrors = {
      group    = "kueue-controller"
      severity = "WARNING"
      duration = "900s"
      query    = "max by (controller) (sum by (controller, instance) (rate(controller_runtime_reconcile_errors_total{job=~\"kueue|kueue-controller-manager-metrics-service\",cluster=~\"gke-batch|\"}[10m])) / sum by (controller, instance) (rate(controller_runtime_reconcile_total{job=~\"kueue|kueue-controller-manager-metrics-service\",cluster=~\"gke-batch|\"}[10m])) > 0.5 and sum by (controller, instance) (rate(controller_runtime_reconcile_errors_total{job=~\"kueue|kueue-controller-manager-metrics-service\",cluster=~\"gke-batch|\"}[10m])) > 0.1)"
      summary  = "More than half of the reconciliations of a Kueue controller fail."
      action   = "Controller $${metric_or_resource.label.controller} of Kueue fails. Read the log of Kueue, which names the object and the reason."
    }
    KueueAdmissionCheckStuck = {
      group    = "kueue-queues"
      severity = "WARNING"
      duration = "3600s"
      query    = "sum by (cluster_queue) (kueue_unadmitted_workloads{replica_role!=\"follower\",cluster=~\"gke-batch|\",reason=\"UnsatisfiedAdmissionChecks\"}) > 0"
      summary  = "Workloads hold quota and wait for an admission check."
      action   = "The workloads of ClusterQueue $${metric_or_resource.label.cluster_queue} have waited for nodes for an hour. Read their ProvisioningRequests: the zone may be out of stock, or the project may be out of quota."
    }
    KueueClusterQueueInactive = {
      group    = "kueue-queues"
      severity = "CRITICAL"
      duration = "600s"
      query    = "max by (cluster_queue, status) (kueue_cluster_queue_status{replica_role!=\"follower\",cluster=~\"gke-batch|\",status!=\"active\"}) == 1"
      summary  = "A ClusterQueue is inactive and admits no workloads."
      action   = "ClusterQueue $${metric_or_resource.label.cluster_queue} is $${metric_or_resource.label.status}. Read its condition Active with kubectl describe: a ResourceFlavor or AdmissionCheck of the queue is missing or inactive, or an administrator stopped the queue."
    }
    KueueIdleQuotaWhileWaiting = {
      group    = "kueue-queues"
      severity = "WARNING"
      duration = "1800s"
      query    = "(sum by (cluster_queue, resource) (kueue_cluster_queue_resource_pending{replica_role!=\"follower\",cluster=~\"gke-batch|\",resource=~\"nvidia.com/gpu\"}) > 0) <= on (cluster_queue, resource) (sum by (cluster_queue, resource) (kueue_cluster_queue_nominal_quota{replica_role!=\"follower\",cluster=~\"gke-batch|\",resource=~\"nvidia.com/gpu\"}) - sum by (cluster_queue, resource) (kueue_cluster_queue_resource_reservation{replica_role!=\"follower\",cluster=~\"gke-batch|\",resource=~\"nvidia.com/gpu\"}))"
      summary  = "Workloads wait although the unused guaranteed quota of their queue is enough for all of them."
      action   = "Workloads of ClusterQueue $${metric_or_resource.label.cluster_queue} wait for $${metric_or_resource.label.resource}. Read the condition QuotaReserved of one of them. Possible causes: another queue has borrowed the quota, and this queue cannot preempt the borrower; no single flavor has enough quota; or cpu or memory is short."
    }
    KueueLocalQueueInactive = {
      group    = "kueue-queues"
      severity = "WARNING"
      duration = "600s"
      query    = "max by (exported_namespace, name) (kueue_local_queue_status{replica_role!=\"follower\",cluster=~\"gke-batch|\",active=\"False\"}) == 1"
      summary  = "A LocalQueue is inactive, so its team cannot start jobs in it."
      action   = "LocalQueue $${metric_or_resource.label.name} in namespace $${metric_or_resource.label.exported_namespace} is inactive. Read its condition Active with kubectl describe: its ClusterQueue is missing, inactive or stopped."
    }
    KueueQueueStuck = {
      group    = "kueue-queues"
      severity = "WARNING"
      duration = "1800s"
      query    = "sum by (cluster_queue) (kueue_pending_workloads{replica_role!=\"follower\",cluster=~\"gke-batch|\",status=\"active\"}) > 0 unless on (cluster_queue) count by (cluster_queue) ((kueue_quota_reserved_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\"} unless kueue_quota_reserved_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\"} offset 1h) or (increase(kueue_quota_reserved_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\"}[1h]) > 0))"
      summary  = "Workloads wait, and their queue has reserved no quota for an hour."
      action   = "Find the oldest pending workload of ClusterQueue $${metric_or_resource.label.cluster_queue}. Its condition QuotaReserved says why it waits. With StrictFIFO, it blocks all younger workloads."
    }
    KueueWorkloadNeverFits = {
      group    = "kueue-queues"
      severity = "WARNING"
      duration = "1800s"
      query    = "sum by (cluster_queue, underlying_cause) (kueue_unadmitted_workloads{replica_role!=\"follower\",cluster=~\"gke-batch|\",underlying_cause=~\"ExceedsMaxQuota|NoMatchingFlavor|Misconfigured\"}) > 0"
      summary  = "A workload waits in a queue that can never admit it."
      action   = "ClusterQueue $${metric_or_resource.label.cluster_queue} has a workload that cannot start ($${metric_or_resource.label.underlying_cause}). Tell its owner: the workload requests more than the quota and the borrowing limit together, requests nodes that no flavor has, or is misconfigured."
    }
    KueueAdmissionWaitHigh = {
      group    = "kueue-slo"
      severity = "WARNING"
      duration = "900s"
      query    = "histogram_quantile(0.95, sum by (le, cluster_queue) (rate(kueue_admission_wait_time_seconds_bucket{replica_role!=\"follower\",cluster=~\"gke-batch|\"}[1h]))) > 7200"
      summary  = "One workload in twenty waits longer than two hours for admission."
      action   = "The workloads of ClusterQueue $${metric_or_resource.label.cluster_queue} wait for quota, or for an admission check. Raise the quota or the borrowing limit, or add capacity."
    }
    KueueEvictionsByFailure = {
      group    = "kueue-slo"
      severity = "WARNING"
      duration = "0s"
      query    = "sum by (cluster_queue, reason) (increase(kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\",reason=~\"PodsReadyTimeout|NodeFailures\"}[30m]) + (kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\",reason=~\"PodsReadyTimeout|NodeFailures\"} unless kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\",reason=~\"PodsReadyTimeout|NodeFailures\"} offset 30m) ^ 0 or increase(kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\",reason=~\"PodsReadyTimeout|NodeFailures\"}[30m])) > 3"
      summary  = "Kueue evicts workloads because of failures, not because others need the quota."
      action   = "ClusterQueue $${metric_or_resource.label.cluster_queue} loses workloads to $${metric_or_resource.label.reason}. Read the events of the evicted workloads, and check the nodes on which they ran."
    }
    KueuePreemptionChurn = {
      group    = "kueue-slo"
      severity = "WARNING"
      duration = "0s"
      query    = "sum by (preempting_cluster_queue, reason) (increase(kueue_preempted_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\"}[1h]) + (kueue_preempted_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\"} unless kueue_preempted_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\"} offset 1h) ^ 0 or increase(kueue_preempted_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\"}[1h])) > 20"
      summary  = "A queue preempted more than 20 workloads within an hour."
      action   = "ClusterQueue $${metric_or_resource.label.preempting_cluster_queue} preempts workloads ($${metric_or_resource.label.reason}) so often that jobs lose work. Guarantee it more quota, or let the tiers that it preempts borrow less."
    }
    KueueProvisioningFails = {
      group    = "kueue-slo"
      severity = "WARNING"
      duration = "0s"
      query    = "sum by (cluster_queue) (increase(kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\",reason=\"AdmissionCheck\"}[3h]) + (kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\",reason=\"AdmissionCheck\"} unless kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\",reason=\"AdmissionCheck\"} offset 3h) ^ 0 or increase(kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\",reason=\"AdmissionCheck\"}[3h])) > 6"
      summary  = "Requests for nodes keep failing."
      action   = "Kueue retries requests of ClusterQueue $${metric_or_resource.label.cluster_queue} that fail. Read the ProvisioningRequests of the waiting workloads: the node pool may be at its maximum, or the project out of quota."
    }
    KueueQuotaKept = {
      group    = "kueue-slo"
      severity = "WARNING"
      duration = "0s"
      query    = "count by (cluster_queue) ((kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\",underlying_cause=\"WaitForRecovery\"} unless kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\",underlying_cause=\"WaitForRecovery\"} offset 1h) or (increase(kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\",underlying_cause=\"WaitForRecovery\"}[1h]) > 0)) > 0"
      summary  = "A workload that Kueue evicted after it lost pods may still hold quota."
      action   = "Read the conditions of the workloads in ClusterQueue $${metric_or_resource.label.cluster_queue}. If a workload without pods has both Evicted and QuotaReserved with status True for ten minutes, it holds quota: delete its job, and ask its owner to submit the job again."
    }
    KueueWorkloadDeactivated = {
      group    = "kueue-slo"
      severity = "WARNING"
      duration = "0s"
      query    = "count by (cluster_queue, underlying_cause) ((kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\",reason=\"Deactivated\",underlying_cause!=\"\"} unless kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\",reason=\"Deactivated\",underlying_cause!=\"\"} offset 1h) or (increase(kueue_evicted_workloads_total{replica_role!=\"follower\",cluster=~\"gke-batch|\",reason=\"Deactivated\",underlying_cause!=\"\"}[1h]) > 0)) > 0"
      summary  = "Kueue deactivated a workload and will not start it again."
      action   = "A workload of ClusterQueue $${metric_or_resource.label.cluster_queue} was deactivated ($${metric_or_resource.label.underlying_cause}): an admission check rejected it, or it ran longer than its owner allowed. Correct the cause, then set spec.active of the Workload to true."
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
