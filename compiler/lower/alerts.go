package lower

import (
	"cmp"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Rule groups of the alerts.
const (
	alertsCapacity   = "capacity"
	alertsJobSet     = "jobset"
	alertsKAI        = "kai"
	alertsController = "kueue-controller"
	alertsQueues     = "kueue-queues"
	alertsService    = "kueue-slo"
)

// Severities of the alerts.
const (
	alertWarning  = "warning"
	alertCritical = "critical"
)

// alerts returns the conditions that an administrator should know about, sorted by
// group, then by name. It includes only conditions that can come true on this
// platform: nothing about reservations without a reservation, about TPUs without
// TPUs, or about admission checks without one.
//
// The expressions work on Google Managed Prometheus and, unless CloudOnly is set, on
// any Prometheus that scrapes the scheduler and JobSet: a series without the cluster
// label matches too.
//
// Kueue and JobSet create a counter at 1, never at 0, and Managed Prometheus drops
// the first sample of a counter. increase() therefore never sees the first event of
// a series: see ir.Events. If it only matters whether there was an event, the
// expression also selects series that did not exist an hour ago: (m unless m offset
// 1h) or (increase(m[1h]) > 0).
func alerts(p *ir.Platform) []ir.Alert {
	list := slices.Concat(jobSetAlerts(), nodeAlerts())
	if p.Scheduler == ir.KAI {
		list = append(list, kaiAlerts()...)
	} else {
		list = slices.Concat(list, queueAlerts(), serviceAlerts(), controllerAlerts())
	}
	if len(p.AdmissionChecks) > 0 {
		list = append(list, checkAlerts()...)
	}
	if p.AnyCapacity(ir.Capacity.HasAccelerators) {
		list = append(list, acceleratorAlerts()...)
	}
	if p.AnyCapacity(ir.Capacity.HasSteadyGPUs) {
		list = append(list, gpuAlerts()...)
	}
	if standing := standingSlices(p); standing != nil {
		list = append(list, tpuAlerts(standing)...)
	}
	if preempted := p.PreemptedNodes(); preempted != nil {
		list = append(list, preemptionAlerts(words.Or(preempted))...)
	}
	if p.AnyCapacity(ir.Capacity.HasReservationMetrics) {
		list = append(list, reservationAlerts()...)
	}

	matchers := strings.NewReplacer(
		"@kueue", ir.MatchLeader+`,cluster=~"`+p.Name+`|"`,
		"@scraped", `cluster=~"`+p.Name+`|"`,
		// Cloud Monitoring's own metrics spell the label differently.
		"@system", `cluster_name="`+p.Name+`"`,
		"@job", ir.MatchKueueJob,
		"@steady", ir.MatchSteadyGPU,
		"@resource", `resource=~"`+strings.Join(p.CountedResources(), "|")+`"`,
	)
	for i := range list {
		list[i].Expr = matchers.Replace(list[i].Expr)
	}
	slices.SortFunc(list, func(a, b ir.Alert) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// kaiAlerts returns the alerts on KAI Scheduler's own metrics. These metrics do not
// show which jobs wait in which queue.
func kaiAlerts() []ir.Alert {
	return []ir.Alert{
		{
			Name: "KAISchedulerDown", Group: alertsKAI, For: 5 * 60, Severity: alertCritical,
			Expr:    `absent(up{job="` + ir.KAISchedulerService + `",@scraped} == 1)`,
			Summary: "KAI Scheduler cannot be scraped.",
			Action: "No job starts while it is down; what runs goes on. Look at the pods of namespace " +
				ir.KAINamespace +
				"; if they run, look at the scraping objects there.",
		},
		{
			Name: "KAIQueueControllerDown", Group: alertsKAI, For: 5 * 60, Severity: alertWarning,
			Expr:    `absent(up{job="` + ir.KAIQueueService + `",@scraped} == 1)`,
			Summary: "KAI Scheduler's controller of queues cannot be scraped.",
			Action: "Queues cannot be changed while it is down, because it checks every change, and what they show " +
				"is old. Look at the pods of namespace " + ir.KAINamespace + ".",
		},
		{
			Name: "KAISchedulingSlow", Group: alertsKAI, For: 15 * 60, Severity: alertWarning,
			Expr:    `max(kai_e2e_scheduling_latency_milliseconds{@scraped}) > 30000`,
			Summary: "A scheduling cycle of KAI Scheduler takes more than half a minute.",
			Action: "Every decision waits for the one before it. The dashboard shows which action takes the time: " +
				"with many jobs that wait, consolidation and reclaim try many ways to make room.",
		},
		{
			Name: "KAINothingStarts", Group: alertsKAI, For: 30 * 60, Severity: alertWarning,
			// In every cycle the metric counts each job that the scheduler tries to
			// place.
			Expr: `sum(increase(kai_podgroups_acted_on_by_action{@scraped}[30m])) > 0` +
				` unless sum(increase(kai_podgroups_scheduled_by_action{@scraped}[1h])) > 0`,
			Summary: "Jobs wait and KAI Scheduler has started nothing for an hour.",
			Action: "The cluster may just be full. If the dashboard shows idle GPUs, read the events of a pod that " +
				"waits: its queue may be at its limit, or the job may not fit what is free.",
		},
		{
			Name: "KAIEvictionChurn", Group: alertsKAI, Severity: alertWarning,
			Expr:    `sum by (action) (` + ir.Events(`kai_pod_group_evicted_pods_total{@scraped}`, "1h") + `) > 20`,
			Summary: "KAI Scheduler evicts more than 20 pods an hour.",
			Action: "Pods are evicted so often by {{action}} that work is lost: reclaim gives a team back what it is " +
				"guaranteed, preempt makes room for a higher priority in the same queue, consolidation moves jobs " +
				"together.",
		},
	}
}

func queueAlerts() []ir.Alert {
	return []ir.Alert{
		{
			Name: "KueueClusterQueueInactive", Group: alertsQueues, For: 10 * 60, Severity: alertCritical,
			Expr:    `max by (cluster_queue, status) (kueue_cluster_queue_status{@kueue,status!="active"}) == 1`,
			Summary: "A ClusterQueue is not active and admits nothing.",
			Action: "ClusterQueue {{cluster_queue}} is {{status}}. Read its Active condition with kubectl describe: " +
				"a ResourceFlavor or AdmissionCheck it names is missing or inactive, or somebody stopped it.",
		},
		{
			Name: "KueueLocalQueueInactive", Group: alertsQueues, For: 10 * 60, Severity: alertWarning,
			Expr:    `max by (exported_namespace, name) (kueue_local_queue_status{@kueue,active="False"}) == 1`,
			Summary: "A LocalQueue is not active: its team cannot start jobs.",
			Action: "LocalQueue {{name}} in namespace {{exported_namespace}} is inactive. Read its Active condition: " +
				"its ClusterQueue is missing, inactive or stopped.",
		},
		{
			Name: "KueueQueueStuck", Group: alertsQueues, For: 30 * 60, Severity: alertWarning,
			Expr: `sum by (cluster_queue) (kueue_pending_workloads{@kueue,status="active"}) > 0` +
				` unless on (cluster_queue) count by (cluster_queue) (` +
				bornOrRisen(`kueue_quota_reserved_workloads_total{@kueue}`) + `)`,
			Summary: "Workloads wait and the queue has started nothing for an hour.",
			Action: "Look at the oldest pending workload of ClusterQueue {{cluster_queue}}: its QuotaReserved " +
				"condition says what it waits for. With StrictFIFO it holds up all younger ones.",
		},
		{
			Name: "KueueWorkloadNeverFits", Group: alertsQueues, For: 30 * 60, Severity: alertWarning,
			Expr: `sum by (cluster_queue, underlying_cause) (kueue_unadmitted_workloads` +
				`{@kueue,underlying_cause=~"ExceedsMaxQuota|NoMatchingFlavor|Misconfigured"}) > 0`,
			Summary: "A workload waits that its queue can never admit.",
			Action: "ClusterQueue {{cluster_queue}} holds a workload that cannot start: {{underlying_cause}}. Tell " +
				"its owner: it asks for more than quota and borrowing limit together, for nodes no flavor has, or is " +
				"misconfigured.",
		},
		{
			Name: "KueueIdleQuotaWhileWaiting", Group: alertsQueues, For: 30 * 60, Severity: alertWarning,
			// The comparison is made for each queue: another queue may have no right
			// to the resources that one queue leaves idle.
			Expr: `(sum by (cluster_queue, resource) (kueue_cluster_queue_resource_pending{@kueue,@resource}) > 0)` +
				` <= on (cluster_queue, resource)` +
				` (sum by (cluster_queue, resource) (kueue_cluster_queue_nominal_quota{@kueue,@resource})` +
				` - sum by (cluster_queue, resource) (kueue_cluster_queue_resource_reservation{@kueue,@resource}))`,
			Summary: "A queue waits although its own guaranteed quota would hold all that waits.",
			Action: "ClusterQueue {{cluster_queue}} waits for {{resource}} it is guaranteed. Other queues of the " +
				"cohort may have borrowed it and this tier does not preempt, one flavor alone may be too small, or " +
				"cpu or memory is short.",
		},
	}
}

func serviceAlerts() []ir.Alert {
	return []ir.Alert{
		{
			Name: "KueueAdmissionWaitHigh", Group: alertsService, For: 15 * 60, Severity: alertWarning,
			// The largest bucket ends at 40960 s: an alert with a higher threshold
			// could not fire.
			Expr: `histogram_quantile(0.95, sum by (le, cluster_queue) (rate(` +
				`kueue_admission_wait_time_seconds_bucket{@kueue}[1h]))) > 7200`,
			Summary: "One workload in twenty waits longer than two hours to be admitted.",
			Action: "ClusterQueue {{cluster_queue}} has too little quota for what is submitted to it. Raise its " +
				"quota or borrowing limit, or add capacity.",
		},
		{
			Name: "KueuePreemptionChurn", Group: alertsService, Severity: alertWarning,
			Expr: `sum by (preempting_cluster_queue, reason) (` +
				ir.Events(`kueue_preempted_workloads_total{@kueue}`, "1h") + `) > 20`,
			Summary: "A queue preempts more than 20 workloads an hour.",
			Action: "ClusterQueue {{preempting_cluster_queue}} evicts others ({{reason}}) so often that work is " +
				"lost. Guarantee it more quota, or let the tiers it evicts borrow less.",
		},
		{
			Name: "KueueEvictionsByFailure", Group: alertsService, Severity: alertWarning,
			Expr: `sum by (cluster_queue, reason) (` +
				ir.Events(`kueue_evicted_workloads_total{@kueue,`+
					`reason=~"PodsReadyTimeout|NodeFailures|AdmissionCheck"}`, "30m") + `) > 3`,
			Summary: "Workloads are evicted because nodes or pods fail, not because others need the quota.",
			Action: "ClusterQueue {{cluster_queue}} loses workloads to {{reason}}. Look at the events of the evicted " +
				"workloads and at the nodes they ran on.",
		},
		{
			Name: "KueueWorkloadDeactivated", Group: alertsService, Severity: alertWarning,
			Expr: `count by (cluster_queue, underlying_cause) (` +
				bornOrRisen(`kueue_evicted_workloads_total{@kueue,reason="Deactivated",underlying_cause!=""}`) +
				`) > 0`,
			Summary: "Kueue deactivated a workload: it does not run and will not be tried again.",
			Action: "A workload of ClusterQueue {{cluster_queue}} was deactivated ({{underlying_cause}}): an " +
				"admission check refused it, or it ran longer than the time its owner allowed it. Mend it, then set " +
				"spec.active of the Workload to true.",
		},
	}
}

func controllerAlerts() []ir.Alert {
	return []ir.Alert{
		{
			Name: "KueueControllerDown", Group: alertsController, For: 5 * 60, Severity: alertCritical,
			Expr:    `absent(up{@job,@scraped} == 1)`,
			Summary: "No Kueue controller can be scraped.",
			Action: "Nothing is admitted while Kueue is down, and jobs cannot be created. Look at the pods of " +
				"namespace " + ir.KueueNamespace + "; if they run, look at the scraping objects there.",
		},
		{
			Name: "KueueNoLeader", Group: alertsController, For: 5 * 60, Severity: alertCritical,
			Expr:    `absent(kueue_cluster_queue_status{replica_role=~"leader|standalone",@scraped})`,
			Summary: "No replica of Kueue leads.",
			Action: "Kueue runs but schedules nothing. Look at the lease in namespace " + ir.KueueNamespace +
				" and at the controller's log.",
		},
		{
			Name: "KueueReconcileErrors", Group: alertsController, For: 15 * 60, Severity: alertWarning,
			Expr:    `sum by (controller) (rate(controller_runtime_reconcile_errors_total{@job,@scraped}[10m])) > 0.1`,
			Summary: "Kueue fails to reconcile, again and again.",
			Action:  "Controller {{controller}} of Kueue reports errors: its log names the object and the reason.",
		},
	}
}

func jobSetAlerts() []ir.Alert {
	return []ir.Alert{{
		Name: "JobSetFailures", Group: alertsJobSet, Severity: alertWarning,
		// Each JobSet has its own series, so increase() alone is always 0.
		Expr:    `count by (exported_namespace) (` + bornOrRisen(`jobset_failed_total{@scraped}`) + `) > 0`,
		Summary: "JobSets failed within the last hour.",
		Action: "Look at the JobSets of namespace {{exported_namespace}}: the condition Failed names the job that " +
			"failed first.",
	}}
}

func nodeAlerts() []ir.Alert {
	return []ir.Alert{{
		Name: "HostErrors", Group: alertsCapacity, Severity: alertWarning, CloudOnly: true,
		Expr: `sum by (node_name) (sum_over_time(kubernetes_io:node_interruption_count` +
			`{monitored_resource="k8s_node",interruption_reason="HostError",@system}[1h])) > 0`,
		Summary: "A machine failed under a node.",
		Action: "Node {{node_name}} was restarted after a host error. If it happens again on the same reservation or " +
			"block, report the host to Google Cloud support.",
	}}
}

// checkAlerts returns the alerts for a platform with admission checks. It omits the
// alert on quota that is reserved and not admitted, because with these checks that
// is the same condition.
func checkAlerts() []ir.Alert {
	return []ir.Alert{{
		Name: "KueueAdmissionCheckStuck", Group: alertsQueues, For: 60 * 60, Severity: alertWarning,
		Expr:    `sum by (cluster_queue) (kueue_unadmitted_workloads{@kueue,reason="UnsatisfiedAdmissionChecks"}) > 0`,
		Summary: "Workloads hold quota and wait for an admission check.",
		Action: "Nodes for ClusterQueue {{cluster_queue}} have not come for an hour. Read the ProvisioningRequests " +
			"of the waiting workloads: the zone may be out of stock, or the project out of quota.",
	}}
}

func acceleratorAlerts() []ir.Alert {
	return []ir.Alert{{
		Name: "AcceleratorAllocatedIdle", Group: alertsCapacity, For: 60 * 60, Severity: alertWarning, CloudOnly: true,
		Expr: `avg by (namespace_name, pod_name) (avg_over_time(kubernetes_io:container_accelerator_duty_cycle` +
			`{monitored_resource="k8s_container",@system}[1h])) < 3`,
		Summary: "A pod holds accelerators and leaves them idle.",
		Action: "Pod {{pod_name}} of namespace {{namespace_name}} keeps its accelerators busy for less than 3% of " +
			"the time, for more than an hour now. Ask its owner whether it hangs.",
	}}
}

// gpuAlerts returns the alerts on GPUs that stay above 1 GHz.
func gpuAlerts() []ir.Alert {
	return []ir.Alert{{
		Name: "GPUSilentThrottle", Group: alertsCapacity, For: 5 * 60, Severity: alertWarning,
		Expr: `(DCGM_FI_PROF_GR_ENGINE_ACTIVE{@steady,@scraped} > 0.5) and ` +
			`(DCGM_FI_DEV_SM_CLOCK{@steady,@scraped} < 1000)`,
		Summary: "A busy GPU runs below 1 GHz.",
		Action: "GPU {{gpu}} ({{modelName}}) of node {{Hostname}} is throttled: look at its temperature and power. " +
			"One slow GPU holds back every worker of a training job.",
	}}
}

// standingSlices returns matchers of the node pools whose nodes must always exist
// together: the pools of static multi-host slices. Slices that scale have no nodes
// most of the time, and pools of single hosts are omitted.
func standingSlices(p *ir.Platform) []string {
	var out []string
	for _, c := range p.Capacities {
		if c.Static && c.Sliced() && !c.Waiting {
			out = append(out, c.Name+"-[0-9]+")
		}
	}
	return out
}

func tpuAlerts(standing []string) []ir.Alert {
	return []ir.Alert{{
		Name: "TPUNodePoolUnavailable", Group: alertsCapacity, For: 30 * 60, Severity: alertWarning, CloudOnly: true,
		Expr: `min by (node_pool_name) (kubernetes_io:node_pool_multi_host_available` +
			`{monitored_resource="k8s_node_pool",@system,node_pool_name=~"` + strings.Join(standing, "|") + `"}) == 0`,
		Summary: "A TPU slice is incomplete.",
		Action: "Some host of node pool {{node_pool_name}} is not ready, so that nothing can run on the slice. Look " +
			"at the pool's nodes and its repair operations.",
	}}
}

func preemptionAlerts(nodes string) []ir.Alert {
	return []ir.Alert{{
		Name: "SpotPreemptionBurst", Group: alertsCapacity, Severity: alertWarning, CloudOnly: true,
		Expr: `sum(sum_over_time(kubernetes_io:node_interruption_count` +
			`{monitored_resource="k8s_node",interruption_type="PreemptionEvent",@system}[1h])) > 10`,
		Summary: "More than 10 " + nodes + " nodes were taken back within an hour.",
		Action: "Compute Engine is short of this hardware. Expect restarts until it is over; move urgent jobs to a " +
			"tier without " + nodes + " capacity.",
	}}
}

func reservationAlerts() []ir.Alert {
	const resource = `monitored_resource="compute.googleapis.com/Reservation"`
	return []ir.Alert{{
		Name: "ReservationIdle", Group: alertsCapacity, Severity: alertWarning, CloudOnly: true,
		// The metric may have a point only every 30 minutes, and a point is valid
		// for 5 minutes. The expression therefore averages the points of each hour
		// and counts the hours. Alert policies reject a range much longer than 23
		// hours.
		Expr: `count_over_time(((` +
			`sum by (reservation_id, reserved_resource_type) (avg_over_time(compute_googleapis_com:reservation_used{` +
			resource + `}[1h]))` +
			` / sum by (reservation_id, reserved_resource_type) ` +
			`(avg_over_time(compute_googleapis_com:reservation_reserved{` + resource + `}[1h]))` +
			`) <= 0.5)[22h:1h]) > 12`,
		// The metrics do not show who owns a reservation.
		Summary: "At least half of a reservation of the project stood idle for more than 12 of the last 23 hours.",
		Action: "Reservation {{reservation_id}} is paid for and not used. It may be one that this platform does not " +
			"consume: all of the project are watched. If it is the platform's, give its capacity to more tiers, let " +
			"teams borrow more of it, or make it smaller.",
	}}
}

// bornOrRisen returns an expression for the series of a counter that counted an
// event within the last hour, including the first event of a series.
func bornOrRisen(selector string) string {
	return `(` + selector + ` unless ` + selector + ` offset 1h) or (increase(` + selector + `[1h]) > 0)`
}
