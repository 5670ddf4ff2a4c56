package monitoring

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/compiler/words"
)

// checkScraping is the advice for a controller that runs and is not scraped.
const checkScraping = "If they run, check the objects of the folder kubernetes/monitoring, which let Prometheus " +
	"scrape them."

// Rule groups of the alerts.
const (
	alertsCapacity   = "capacity"
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

// Alert is a condition that an administrator should know about.
type Alert struct {
	Name  string // such as KueueQueueStuck
	Group string // rule group
	// Expr is PromQL as Google Managed Prometheus understands it.
	Expr     string
	For      int    // seconds the condition must hold
	Severity string // "warning" or "critical"
	Summary  string // one line: what happened
	// Action says what to do. "{{label}}" stands for the value of a label of Expr.
	Action string
	// CloudOnly marks an alert on Cloud Monitoring's own metrics, which a
	// Prometheus server does not have.
	CloudOnly bool

	skip bool // the condition cannot come true on this platform
}

// Alerts returns the conditions that an administrator should know about, sorted by
// group, then by name. It includes only conditions that can come true on this
// platform: nothing about reservations without a reservation, about TPUs without
// TPUs, or about admission checks without one.
//
// The expressions work on Google Managed Prometheus and, unless CloudOnly is set, on
// any Prometheus that scrapes the scheduler and the controllers of jobs: a series without the cluster
// label matches too.
//
// Controllers create a counter at 1, never at 0, and Managed Prometheus drops
// the first sample of a counter. increase() therefore never sees the first event of
// a series: see eventsWithin. If it only matters whether there was an event, the
// expression also selects series that did not exist an hour ago: see bornOrRisen.
func Alerts(p *ir.Platform) []Alert {
	list := slices.Concat(kindAlerts(), capacityAlerts(p), schedulerOf(p).alerts(p))
	list = slices.DeleteFunc(list, func(a Alert) bool { return a.skip })
	fixed := Notation{Matcher: func(v Variable) string { return fixedMatcher(p, v) }}
	for i := range list {
		list[i].Expr = fixed.fill(list[i].Expr)
	}
	slices.SortFunc(list, func(a, b Alert) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// fixedMatcher returns the matcher of a variable in an alert, which no reader
// chooses. It returns "" for a variable of a team's board.
func fixedMatcher(p *ir.Platform, v Variable) string {
	switch v.Name {
	case clusterVariable.Name:
		return v.Label + `=~"` + p.Cluster.Name + `|"`
	case systemClusterVariable.Name:
		return v.Label + `="` + p.Cluster.Name + `"`
	case resourceVariable.Name:
		return v.Label + `=~"` + strings.Join(p.CountedResources(), "|") + `"`
	default:
		return ""
	}
}

// kueueAlerts returns the alerts on Kueue's own metrics.
func kueueAlerts(p *ir.Platform) []Alert {
	return slices.Concat(queueAlerts(p), serviceAlerts(p), controllerAlerts(p))
}

// queueAlerts returns the alerts on queues that start no workloads.
func queueAlerts(p *ir.Platform) []Alert {
	return []Alert{
		{
			Name: "KueueClusterQueueInactive", Group: alertsQueues, For: 10 * 60, Severity: alertCritical,
			Expr:    `max by (cluster_queue, status) (kueue_cluster_queue_status{@kueue,status!="active"}) == 1`,
			Summary: "A ClusterQueue is inactive and admits no workloads.",
			Action: "ClusterQueue {{cluster_queue}} is {{status}}. Read its condition Active with kubectl " +
				"describe: a ResourceFlavor or AdmissionCheck of the queue is missing or inactive, or an " +
				"administrator stopped the queue.",
		},
		{
			Name: "KueueLocalQueueInactive", Group: alertsQueues, For: 10 * 60, Severity: alertWarning,
			Expr:    `max by (exported_namespace, name) (kueue_local_queue_status{@kueue,active="False"}) == 1`,
			Summary: "A LocalQueue is inactive, so its team cannot start jobs in it.",
			Action: "LocalQueue {{name}} in namespace {{exported_namespace}} is inactive. Read its condition " +
				"Active with kubectl describe: its ClusterQueue is missing, inactive or stopped.",
		},
		{
			Name: "KueueQueueStuck", Group: alertsQueues, For: 30 * 60, Severity: alertWarning,
			Expr: `sum by (cluster_queue) (kueue_pending_workloads{@kueue,status="active"}) > 0` +
				` unless on (cluster_queue) count by (cluster_queue) (` +
				bornOrRisen(`kueue_quota_reserved_workloads_total{@kueue}`) + `)`,
			Summary: "Workloads wait, and their queue has reserved no quota for an hour.",
			Action: "Find the oldest pending workload of ClusterQueue {{cluster_queue}}. Its condition " +
				"QuotaReserved says why it waits. With StrictFIFO, it blocks all younger workloads.",
		},
		{
			Name: "KueueWorkloadNeverFits", Group: alertsQueues, For: 30 * 60, Severity: alertWarning,
			Expr: `sum by (cluster_queue, underlying_cause) (kueue_unadmitted_workloads` +
				`{@kueue,underlying_cause=~"ExceedsMaxQuota|NoMatchingFlavor|Misconfigured"}) > 0`,
			Summary: "A workload waits in a queue that can never admit it.",
			Action: "ClusterQueue {{cluster_queue}} has a workload that cannot start ({{underlying_cause}}). Tell " +
				"its owner: the workload requests more than the quota and the borrowing limit together, requests " +
				"nodes that no flavor has, or is misconfigured.",
		},
		{
			Name: "KueueIdleQuotaWhileWaiting", Group: alertsQueues, For: 30 * 60, Severity: alertWarning,
			// The expression compares each queue with its own quota, because a queue may
			// have no right to the resources that another queue leaves idle.
			Expr: `(sum by (cluster_queue, resource) (kueue_cluster_queue_resource_pending{@kueue,@resource}) > 0)` +
				` <= on (cluster_queue, resource)` +
				` (sum by (cluster_queue, resource) (kueue_cluster_queue_nominal_quota{@kueue,@resource})` +
				` - sum by (cluster_queue, resource) (kueue_cluster_queue_resource_reservation{@kueue,@resource}))`,
			Summary: "Workloads wait although the unused guaranteed quota of their queue is enough for all of them.",
			Action: "Workloads of ClusterQueue {{cluster_queue}} wait for {{resource}}. Read the condition " +
				"QuotaReserved of one of them. Possible causes: another queue has borrowed the quota, and this queue " +
				"cannot preempt the borrower; no single flavor has enough quota; or cpu or memory is short.",
		},
		{
			// There is no alert on workloads with reserved quota that are not admitted,
			// because this is the same condition.
			Name: "KueueAdmissionCheckStuck", Group: alertsQueues, For: 60 * 60, Severity: alertWarning,
			Expr: `sum by (cluster_queue) ` +
				`(kueue_unadmitted_workloads{@kueue,reason="UnsatisfiedAdmissionChecks"}) > 0`,
			Summary: "Workloads hold quota and wait for an admission check.",
			Action: "The workloads of ClusterQueue {{cluster_queue}} have waited for nodes for an hour. Read their " +
				"ProvisioningRequests: the zone may be out of stock, or the project may be out of quota.",
			skip: len(p.AdmissionChecks) == 0,
		},
	}
}

// serviceAlerts returns the alerts on long waits and on workloads that lose work.
func serviceAlerts(p *ir.Platform) []Alert {
	return []Alert{
		{
			Name: "KueueAdmissionWaitHigh", Group: alertsService, For: 15 * 60, Severity: alertWarning,
			// The largest bucket ends at 40960 s: an alert with a higher threshold
			// could not fire.
			Expr: `histogram_quantile(0.95, sum by (le, cluster_queue) (rate(` +
				`kueue_admission_wait_time_seconds_bucket{@kueue}[1h]))) > ` + strconv.Itoa(longWait),
			Summary: "One workload in twenty waits longer than two hours for admission.",
			Action: "The workloads of ClusterQueue {{cluster_queue}} wait for quota, or for an admission check. " +
				"Raise the quota or the borrowing limit, or add capacity.",
		},
		{
			Name: "KueuePreemptionChurn", Group: alertsService, Severity: alertWarning,
			Expr: `sum by (preempting_cluster_queue, reason) (` +
				eventsWithin(`kueue_preempted_workloads_total{@kueue}`, "1h") + `) > 20`,
			Summary: "A queue preempted more than 20 workloads within an hour.",
			Action: "ClusterQueue {{preempting_cluster_queue}} preempts workloads ({{reason}}) so often that jobs " +
				"lose work. Guarantee it more quota, or let the tiers that it preempts borrow less.",
		},
		{
			Name: "KueueEvictionsByFailure", Group: alertsService, Severity: alertWarning,
			Expr: `sum by (cluster_queue, reason) (` +
				eventsWithin(`kueue_evicted_workloads_total{@kueue,`+
					`reason=~"PodsReadyTimeout|NodeFailures"}`, "30m") + `) > 3`,
			Summary: "Kueue evicts workloads because of failures, not because others need the quota.",
			Action: "ClusterQueue {{cluster_queue}} loses workloads to {{reason}}. Read the events of the evicted " +
				"workloads, and check the nodes on which they ran.",
		},
		{
			// A request that fails is repeated after 1, 2, 4, 8, 16 and 30 minutes.
			Name: "KueueProvisioningFails", Group: alertsService, Severity: alertWarning,
			Expr: `sum by (cluster_queue) (` +
				eventsWithin(`kueue_evicted_workloads_total{@kueue,reason="AdmissionCheck"}`, "3h") + `) > 6`,
			Summary: "Requests for nodes keep failing.",
			Action: "Kueue retries requests of ClusterQueue {{cluster_queue}} that fail. Read the " +
				"ProvisioningRequests of the waiting workloads: the node pool may be at its maximum, or the " +
				"project out of quota.",
			skip: len(p.AdmissionChecks) == 0,
		},
		{
			// Source: Kueue, issue 14811, in which the workload has both conditions.
			Name: "KueueQuotaKept", Group: alertsService, Severity: alertWarning,
			Expr: `count by (cluster_queue) (` +
				bornOrRisen(`kueue_evicted_workloads_total{@kueue,underlying_cause="WaitForRecovery"}`) + `) > 0`,
			Summary: "A workload that Kueue evicted after it lost pods may still hold quota.",
			Action: "Read the conditions of the workloads in ClusterQueue {{cluster_queue}}. If a workload " +
				"without pods has both Evicted and QuotaReserved with status True for ten minutes, it holds " +
				"quota: delete its job, and ask its owner to submit the job again.",
			skip: !p.HasDefect(ir.QuotaKept),
		},
		{
			Name: "KueueWorkloadDeactivated", Group: alertsService, Severity: alertWarning,
			Expr: `count by (cluster_queue, underlying_cause) (` +
				bornOrRisen(`kueue_evicted_workloads_total{@kueue,reason="Deactivated",underlying_cause!=""}`) +
				`) > 0`,
			Summary: "Kueue deactivated a workload and will not start it again.",
			Action: "A workload of ClusterQueue {{cluster_queue}} was deactivated ({{underlying_cause}}): an " +
				"admission check rejected it, or it ran longer than its owner allowed. Correct the cause, then set " +
				"spec.active of the Workload to true.",
		},
	}
}

// controllerAlerts returns the alerts on Kueue itself. There are none if the platform does
// not scrape Kueue: the alerts on missing metrics would never end, and others who run Kueue
// have alerts of their own.
func controllerAlerts(p *ir.Platform) []Alert {
	if !slices.ContainsFunc(Targets(p), func(t Target) bool { return t.Namespace == ir.KueueNamespace }) {
		return nil
	}
	const failed = `sum by (controller, instance) ` +
		`(rate(controller_runtime_reconcile_errors_total{@job,@scraped}[10m]))`
	return []Alert{
		{
			Name: "KueueControllerDown", Group: alertsController, For: 5 * 60, Severity: alertCritical,
			Expr:    `absent(up{@job,@scraped} == 1)`,
			Summary: "Prometheus can scrape no Kueue controller.",
			Action: "While Kueue is down, it admits no workloads, and the teams cannot create jobs. Check the pods " +
				"of namespace " + ir.KueueNamespace + ". " + checkScraping,
		},
		{
			Name: "KueueNoLeader", Group: alertsController, For: 5 * 60, Severity: alertCritical,
			Expr:    `absent(kueue_cluster_queue_status{replica_role=~"leader|standalone",@scraped})`,
			Summary: "No replica of Kueue is the leader.",
			Action: "Kueue runs but admits no workloads. Check the lease in namespace " + ir.KueueNamespace +
				" and the log of the controller.",
		},
		{
			Name: "KueueReconcileErrors", Group: alertsController, For: 15 * 60, Severity: alertWarning,
			// Kueue and Kubernetes write the same objects. A reconciliation that meets a newer
			// version of its object ends with an error, and the next one succeeds: when many jobs
			// start at once, one reconciliation in six of controller job (measured with the
			// demonstration of the batch platform). Such errors alone need no administrator. The
			// share is of each replica, because a replica that is not the leader postpones every
			// object without an error (Kueue, pkg/controller/core/leader_aware_reconciler.go).
			Expr: `max by (controller) (` + failed + ` / sum by (controller, instance) ` +
				`(rate(controller_runtime_reconcile_total{@job,@scraped}[10m])) > 0.5 and ` + failed + ` > 0.1)`,
			Summary: "More than half of the reconciliations of a Kueue controller fail.",
			Action: "Controller {{controller}} of Kueue fails. Read the log of Kueue, which names the " +
				"object and the reason.",
		},
	}
}

// kindAlerts returns the alerts on jobs whose controller exports metrics: NAME_failed_total
// with the name of the kind.
func kindAlerts() []Alert {
	var out []Alert
	for _, c := range kinds.Controllers() {
		out = append(out, Alert{
			Name: c.Kind + "Failures", Group: c.Field, Severity: alertWarning,
			// Each job has its own series, so increase() alone is always 0.
			Expr:    `count by (exported_namespace) (` + bornOrRisen(c.Field+`_failed_total{@scraped}`) + `) > 0`,
			Summary: c.Kind + "s failed within the last hour.",
			Action: "Look at the " + c.Kind + "s of namespace {{exported_namespace}}. The condition Failed of a " +
				c.Kind + " names the job that failed first.",
		})
	}
	return out
}

// capacityAlerts returns the alerts on nodes, accelerators and reservations.
func capacityAlerts(p *ir.Platform) []Alert {
	standing, preempted := standingSlices(p), words.Or(p.PreemptedNodes())
	return []Alert{
		{
			Name: "HostErrors", Group: alertsCapacity, Severity: alertWarning, CloudOnly: true,
			Expr: `sum by (node_name) (sum_over_time(kubernetes_io:node_interruption_count` +
				`{monitored_resource="k8s_node",interruption_reason="HostError",@system}[1h])) > 0`,
			Summary: "The machine of a node failed.",
			Action: "Node {{node_name}} restarted after a host error. If this happens again on the same " +
				"reservation or block, report the host to Google Cloud support.",
		},
		{
			Name: "AcceleratorAllocatedIdle", Group: alertsCapacity, For: 60 * 60, Severity: alertWarning,
			CloudOnly: true,
			Expr: `avg by (namespace_name, pod_name) (avg_over_time(kubernetes_io:container_accelerator_duty_cycle` +
				`{monitored_resource="k8s_container",@system}[1h])) < 3`,
			Summary: "A pod holds accelerators and does not use them.",
			Action: "The accelerators of pod {{pod_name}} in namespace {{namespace_name}} were busy for less than " +
				"3% of the last hour. Ask the owner of the pod whether it hangs.",
			skip: !p.AnyCapacity(ir.Capacity.HasAccelerators),
		},
		{
			Name: "GPUSilentThrottle", Group: alertsCapacity, For: 5 * 60, Severity: alertWarning,
			Expr:    throttledGPUs,
			Summary: "A busy GPU is throttled: its clock is below 1 GHz.",
			Action: "GPU {{gpu}} ({{modelName}}) of node {{Hostname}} is slow. Check its temperature and " +
				"power. One slow GPU delays every worker of a training job.",
			skip: !p.AnyCapacity(ir.Capacity.HasSteadyGPUs),
		},
		{
			Name: "TPUNodePoolUnavailable", Group: alertsCapacity, For: 30 * 60, Severity: alertWarning,
			CloudOnly: true,
			Expr: `min by (node_pool_name) (kubernetes_io:node_pool_multi_host_available` +
				`{monitored_resource="k8s_node_pool",@system,node_pool_name=~"` + strings.Join(standing, "|") +
				`"}) == 0`,
			Summary: "A TPU slice is incomplete.",
			Action: "A host of node pool {{node_pool_name}} is not ready, and no job can run on the slice. Check " +
				"the nodes and the repair operations of the pool.",
			skip: standing == nil,
		},
		{
			Name: "SpotPreemptionBurst", Group: alertsCapacity, Severity: alertWarning, CloudOnly: true,
			Expr: `sum(sum_over_time(kubernetes_io:node_interruption_count` +
				`{monitored_resource="k8s_node",interruption_type="PreemptionEvent",@system}[1h])) > 10`,
			Summary: "Compute Engine took back more than 10 " + preempted + " nodes within an hour.",
			Action: "Compute Engine is short of this hardware, and jobs on it restart. Move urgent jobs to a tier " +
				"without " + preempted + " capacity.",
			skip: preempted == "",
		},
		{
			Name: "ReservationIdle", Group: alertsCapacity, Severity: alertWarning, CloudOnly: true,
			// The metric may have a point only every 30 minutes, and a point is valid
			// for 5 minutes. The expression therefore averages the points of each
			// hour and counts the hours. Alert policies reject a range much longer
			// than 23 hours.
			Expr: `count_over_time(((` + reservationUsed + ` / ` + reservationSize + `) <= 0.5)[22h:1h]) > 12`,
			// The metrics do not show who owns a reservation.
			Summary: "At least half of a reservation was unused in more than 12 of the last 23 hours.",
			Action: "The project pays for reservation {{reservation_id}} and does not use it. The alert watches " +
				"all reservations of the project, also those that this platform does not consume. If this platform " +
				"consumes it, give its capacity to more tiers, let teams borrow more of it, or make it smaller.",
			skip: !p.AnyCapacity(ir.Capacity.HasReservationMetrics),
		},
	}
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
