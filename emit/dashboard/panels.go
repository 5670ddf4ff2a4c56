package dashboard

import (
	"cmp"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// section is a titled group of panels.
type section struct {
	title  string
	panels []panel
}

// panel is one chart. Its queries are PromQL with placeholders, which each format
// replaces in its own notation for variables:
//
//	@kueue      matchers of Kueue's own metrics
//	@scraped    matchers of every other metric that Prometheus scrapes
//	@system     matchers of Cloud Monitoring's own metrics
//	@resource   matcher of the resource that the reader has selected
//	@queue      matcher of the team's queue, for KAI Scheduler
//	@team       matcher of the team's namespace, for a scraped metric
//	@namespace  the team's namespace itself
//	@window     time between two points of the chart
type panel struct {
	title   string
	note    string // what to know before reading it, or ""
	shape   shape
	unit    unit
	queries []query
	skip    bool // the platform has nothing to show here
}

// onKueue reports whether the panel shows Kueue's own metrics.
func (p panel) onKueue() bool {
	return slices.ContainsFunc(p.queries, func(q query) bool { return strings.Contains(q.expr, "@kueue") })
}

// query selects a set of series of a panel.
type query struct {
	name string   // tells the queries of one panel apart, "" for the only one
	by   []string // labels that distinguish the series of the query
	expr string
}

type shape int

// The shapes of a panel.
const (
	number shape = iota
	gauge        // of a share between 0 and 1
	lines
	stack
	table // one column for each query
	// heatmap shows the distribution of the values of its only query's series.
	heatmap
)

// unit is the notation of a unit: for Grafana, and for Cloud Monitoring, which uses
// the Unified Code for Units of Measure.
type unit struct{ grafana, ucum string }

var (
	count     = unit{"short", "1"}
	seconds   = unit{"s", "s"}
	percent   = unit{"percent", "%"}
	share     = unit{"percentunit", "10^2.%"}
	perSecond = unit{"ops", "1/s"}
)

// myQueues returns a query with one series for each ClusterQueue of the selected
// team. The given label holds the queue's name. The names of a team's LocalQueue and
// ClusterQueue differ in the prefix, and the ClusterQueue of a shared tier does not
// contain the team's name. A match of ClusterQueues by the team's name would also
// find queues of teams whose names begin alike.
func myQueues(p *ir.Platform, label string) string {
	replace := func(expr, queue, local string) string {
		return `label_replace(` + expr + `, "` + label + `", "` + ir.ClusterQueuePrefix + queue + `", "name", "` +
			ir.LocalQueuePrefix + local + `")`
	}
	expr := replace(`kueue_local_queue_status{@kueue,@team}`, "$1", "(.*)")
	shared := map[string]bool{}
	for _, q := range p.SharedQueues {
		shared[q.Tier] = true
	}
	if len(shared) == 0 {
		return expr
	}
	var tiers []string
	for _, c := range p.PriorityClasses {
		if !slices.Contains(tiers, c.Tier) {
			tiers = append(tiers, c.Tier)
		}
	}
	// A name can end in another name. Sort by length, so that the last match, which
	// decides, is the longest.
	slices.SortFunc(tiers, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	for _, tier := range tiers {
		switch {
		case shared[tier]:
			expr = replace(expr, tier, ".*-"+tier)
		case slices.ContainsFunc(tiers, func(other string) bool {
			return shared[other] && strings.HasSuffix(tier, "-"+other)
		}):
			expr = replace(expr, "$1", "(.*-"+tier+")")
		}
	}
	return expr
}

// admin returns the administrator's sections, with only the panels for which this
// platform has data.
func admin(p *ir.Platform) []section {
	var reserved []string
	for _, c := range p.Capacities {
		if c.OnlyReserved() {
			reserved = append(reserved, c.Name)
		}
	}
	s := schedulerOf(p)
	return present(p, append(s.admin(p), capacity(p, reserved), accelerators(p), s.controller()))
}

// kueueAdmin returns the administrator's sections on the queues.
func kueueAdmin(p *ir.Platform) []section {
	return []section{overview(), quota(len(p.Cohorts) > 0), queues(len(p.AdmissionChecks) > 0), churn()}
}

// kueueTeam returns a team's sections on its queues.
func kueueTeam(p *ir.Platform) []section { return []section{myQuota(p), myQueue()} }

// team returns the sections of one team's dashboard.
func team(p *ir.Platform) []section {
	return present(p, append(schedulerOf(p).team(p), myJobs(p)))
}

// present returns the sections without skipped panels, without Kueue's panels if the
// platform has another scheduler, and without sections that are then empty.
func present(p *ir.Platform, all []section) []section {
	var out []section
	for _, s := range all {
		kept := section{title: s.title}
		for _, panel := range s.panels {
			if !panel.skip && (p.Scheduler != ir.KAI || !panel.onKueue()) {
				kept.panels = append(kept.panels, panel)
			}
		}
		if len(kept.panels) > 0 {
			out = append(out, kept)
		}
	}
	return out
}

func overview() section {
	return section{"Overview", []panel{
		{
			title: "Quota", note: "Nominal quota of all ClusterQueues.", shape: number, unit: count,
			queries: []query{{expr: `sum(kueue_cluster_queue_nominal_quota{@kueue,@resource})`}},
		},
		{
			title: "Reserved", note: "Quota held by workloads.", shape: number, unit: count,
			queries: []query{{expr: `sum(kueue_cluster_queue_resource_reservation{@kueue,@resource})`}},
		},
		{
			title: "Quota in use", shape: gauge, unit: share,
			queries: []query{{expr: `sum(kueue_cluster_queue_resource_reservation{@kueue,@resource})` +
				` / sum(kueue_cluster_queue_nominal_quota{@kueue,@resource})`}},
		},
		{
			title: "Waited for", note: "Requested by pending workloads.", shape: number, unit: count,
			queries: []query{{expr: `sum(kueue_cluster_queue_resource_pending{@kueue,@resource}) or vector(0)`}},
		},
		{
			title: "Pending workloads", shape: number, unit: count,
			queries: []query{{expr: `sum(kueue_pending_workloads{@kueue}) or vector(0)`}},
		},
		{
			title: "Inactive ClusterQueues", shape: number, unit: count,
			queries: []query{{expr: `count(kueue_cluster_queue_status{@kueue,status!="active"} == 1) or vector(0)`}},
		},
	}}
}

func quota(cohorts bool) section {
	const (
		nominal  = `kueue_cluster_queue_nominal_quota{@kueue,@resource}`
		reserved = `kueue_cluster_queue_resource_reservation{@kueue,@resource}`
		used     = `kueue_cluster_queue_resource_usage{@kueue,@resource}`
		borrowed = `clamp_min(` + reserved + ` - ` + nominal + `, 0)`
		unused   = `clamp_min(` + nominal + ` - ` + reserved + `, 0)`
		each     = `sum by (cohort, cluster_queue, flavor, resource) `
	)
	row := []string{"cohort", "cluster_queue", "flavor", "resource"}
	return section{"Quota", []panel{
		{
			title: "Reserved by ClusterQueue", shape: stack, unit: count,
			queries: []query{{by: []string{"cluster_queue"}, expr: `sum by (cluster_queue) (` + reserved + `)`}},
		},
		{
			title: "Unused nominal quota by flavor", note: "What could still be lent.", shape: stack, unit: count,
			queries: []query{{by: []string{"flavor"}, expr: `sum by (flavor) (` + unused + `)`}},
		},
		{
			title: "Borrowed by ClusterQueue", note: "Reserved above nominal quota, flavor by flavor.", shape: stack,
			unit:    count,
			queries: []query{{by: []string{"cluster_queue"}, expr: `sum by (cluster_queue) (` + borrowed + `)`}},
			skip:    !cohorts,
		},
		{
			title: "Cohort quota in use, by flavor",
			note:  "A cohort counts all cohorts below it: do not add a parent to its children.",
			shape: lines, unit: share,
			queries: []query{{
				by: []string{"cohort", "flavor"},
				expr: `sum by (cohort, flavor) (kueue_cohort_subtree_resource_reservations{@kueue,@resource})` +
					` / (sum by (cohort, flavor) (kueue_cohort_subtree_quota{@kueue,@resource}) > 0)`,
			}},
			skip: !cohorts,
		},
		{
			title: "Quota by ClusterQueue and flavor", shape: table, unit: count,
			queries: []query{
				{name: "nominal", by: row, expr: each + `(` + nominal + `)`},
				{name: "reserved", by: row, expr: each + `(` + reserved + `)`},
				{name: "admitted", by: row, expr: each + `(` + used + `)`},
				{name: "borrowed", by: row, expr: each + `(` + borrowed + `)`},
			},
		},
	}}
}

func queues(checks bool) section {
	byQueue := []string{"cluster_queue"}
	return section{"Queues", []panel{
		{
			title: "Pending workloads by ClusterQueue",
			note:  "Inadmissible ones were tried and wait for something to change.",
			shape: stack, unit: count,
			queries: []query{{
				by:   []string{"cluster_queue", "status"},
				expr: `sum by (cluster_queue, status) (kueue_pending_workloads{@kueue})`,
			}},
		},
		{
			title: "Why workloads wait", shape: stack, unit: count,
			queries: []query{{
				by:   []string{"reason", "underlying_cause"},
				expr: `sum by (reason, underlying_cause) (kueue_unadmitted_workloads{@kueue})`,
			}},
		},
		{
			title: "Wait until admission", note: "Longer waits than 40960 s read as 40960 s.", shape: lines,
			unit:    seconds,
			queries: quantiles(byQueue, `kueue_admission_wait_time_seconds_bucket{@kueue}[@window]`),
		},
		{
			title: "Wait for admission checks (p95)", note: "Longer waits than 10240 s read as 10240 s.", shape: lines,
			unit: seconds,
			queries: []query{
				{
					by:   byQueue,
					expr: quantile("0.95", byQueue, `kueue_admission_checks_wait_time_seconds_bucket{@kueue}[@window]`),
				},
			},
			skip: !checks,
		},
		{
			title: "Admitted and finished workloads per hour", shape: lines, unit: count,
			queries: []query{
				{
					name: "admitted", by: byQueue,
					expr: `sum by (cluster_queue) (` + ir.Events(`kueue_admitted_workloads_total{@kueue}`, "1h") + `)`,
				},
				{
					name: "finished", by: byQueue,
					expr: `sum by (cluster_queue) (` + ir.Events(`kueue_finished_workloads_total{@kueue}`, "1h") + `)`,
				},
			},
		},
	}}
}

func churn() section {
	return section{"Churn", []panel{
		{
			title: "Preemptions per hour", note: "By the queue that preempts.", shape: stack, unit: count,
			queries: []query{{
				by: []string{"preempting_cluster_queue", "reason"},
				expr: `sum by (preempting_cluster_queue, reason) (` +
					ir.Events(`kueue_preempted_workloads_total{@kueue}`, "1h") + `)`,
			}},
		},
		{
			title: "Evictions per hour", shape: stack, unit: count,
			queries: []query{{
				by: []string{"reason", "underlying_cause"},
				expr: `sum by (reason, underlying_cause) (` + ir.Events(`kueue_evicted_workloads_total{@kueue}`, "1h") +
					`)`,
			}},
		},
		{
			title: "From eviction to released quota (p95)", shape: lines, unit: seconds,
			queries: []query{{
				by: []string{"reason"},
				expr: quantile("0.95", []string{"reason"},
					`kueue_workload_eviction_latency_seconds_bucket{@kueue}[@window]`),
			}},
		},
		interruptions(),
	}}
}

func interruptions() panel {
	return panel{
		title: "Node interruptions per hour", note: "A PreemptionEvent is a Spot node taken back.", shape: stack,
		unit: count,
		queries: []query{{
			by: []string{"interruption_type", "interruption_reason"},
			// The metric is a gauge, so that rates would be meaningless.
			expr: `sum by (interruption_type, interruption_reason) (sum_over_time(` +
				`kubernetes_io:node_interruption_count{monitored_resource="k8s_node",@system}[1h]))`,
		}},
	}
}

func capacity(p *ir.Platform, reserved []string) section {
	const (
		resource = `{monitored_resource="compute.googleapis.com/Reservation"}[1h]`
		used     = `sum by (reservation_id, reserved_resource_type) ` +
			`(avg_over_time(compute_googleapis_com:reservation_used` + resource + `))`
		all = `sum by (reservation_id, reserved_resource_type) ` +
			`(avg_over_time(compute_googleapis_com:reservation_reserved` + resource + `))`
		chips     = `kubernetes_io:node_accelerator_duty_cycle{monitored_resource="k8s_node",@system}`
		provision = `"metadata_user_cloud.google.com/gke-provisioning"`
	)
	reservation := []string{"reservation_id", "reserved_resource_type"}
	flavors := `,flavor=~"` + strings.Join(reserved, "|") + `"}`
	metrics := p.AnyCapacity(ir.Capacity.HasReservationMetrics)
	chipped := p.AnyCapacity(ir.Capacity.HasAccelerators)
	return section{"Capacity", []panel{
		{
			title: "Reservations: used and reserved", note: "All reservations of the project. Up to 30 minutes late.",
			shape: lines, unit: count,
			queries: []query{
				{name: "used", by: reservation, expr: used}, {name: "reserved", by: reservation, expr: all},
			},
			skip: !metrics,
		},
		{
			title: "Idle share of reservations", note: "Paid for and not used.", shape: lines, unit: share,
			queries: []query{{by: reservation, expr: `1 - ` + used + ` / ` + all}},
			skip:    !metrics,
		},
		{
			title: "Reserved flavors: quota nobody holds", note: "Nominal less reserved quota over all queues.",
			shape: lines, unit: count,
			queries: []query{{
				by: []string{"flavor", "resource"},
				expr: `sum by (flavor, resource) (kueue_cluster_queue_nominal_quota{@kueue,@resource` + flavors + `)` +
					` - sum by (flavor, resource) (kueue_cluster_queue_resource_reservation{@kueue,@resource` +
					flavors + `)`,
			}},
			skip: reserved == nil,
		},
		{
			title: "Accelerators by model", note: "Chips on nodes that exist, idle ones included.", shape: stack,
			unit:    count,
			queries: []query{{by: []string{"model"}, expr: `count by (model) (` + chips + `)`}},
			skip:    !chipped,
		},
		{
			title: "Accelerators by provisioning",
			note:  "Standard, Spot, reserved or flex-start nodes, by GKE's own label.", shape: stack, unit: count,
			queries: []query{{
				by:   []string{"model", "metadata_user_cloud.google.com/gke-provisioning"},
				expr: `count by (model, ` + provision + `) (` + chips + `)`,
			}},
			skip: !chipped,
		},
		{
			title: "Accelerators requested and busy",
			note:  "Busy adds up the duty cycles: two chips at 50% count as one.", shape: lines, unit: count,
			queries: []query{
				{
					name: "requested",
					expr: `sum(kubernetes_io:container_accelerator_request{` +
						`monitored_resource="k8s_container",@system})`,
				},
				{name: "busy", expr: `sum(` + chips + `) / 100`},
			},
			skip: !chipped,
		},
	}}
}

func accelerators(p *ir.Platform) section {
	const (
		node   = `{monitored_resource="k8s_node",@system}`
		each   = `sum by (node_name, accelerator_id) `
		memory = `100 * ` + each + `(kubernetes_io:node_accelerator_memory_used` + node + `)` +
			` / ` + each + `(kubernetes_io:node_accelerator_memory_total` + node + `)`
	)
	chip := []string{"node_name", "accelerator_id"}
	chipped := p.AnyCapacity(ir.Capacity.HasAccelerators)
	return section{"Accelerators", []panel{
		{
			title: "Duty cycle over all chips", shape: heatmap, unit: percent,
			queries: []query{
				{
					by:   chip,
					expr: `avg by (node_name, accelerator_id) (kubernetes_io:node_accelerator_duty_cycle` + node + `)`,
				},
			},
			skip: !chipped,
		},
		{
			title: "Memory in use over all chips", shape: heatmap, unit: percent,
			queries: []query{{by: chip, expr: memory}},
			skip:    !chipped,
		},
		{
			title: "TensorCore utilisation", shape: lines, unit: percent,
			queries: []query{{
				by: []string{"model", "tpu_topology"},
				expr: `avg by (model, tpu_topology) (kubernetes_io:node_accelerator_tensorcore_utilization` + node +
					`)`,
			}},
			skip: !p.AnyCapacity(ir.Capacity.HasTPUs),
		},
		{
			title: "Tensor pipe and SM activity",
			note:  "High SM activity with an idle tensor pipe is work that does not use the tensor cores.",
			shape: lines, unit: share,
			queries: []query{
				{
					name: "tensor", by: []string{"modelName"},
					expr: `avg by (modelName) (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{@scraped})`,
				},
				{name: "SM", by: []string{"modelName"}, expr: `avg by (modelName) (DCGM_FI_PROF_SM_ACTIVE{@scraped})`},
			},
			skip: !p.AnyCapacity(ir.Capacity.HasGPUs),
		},
		{
			title: "Busy GPUs below 1 GHz",
			note:  "Throttled by heat or power. A100, H100 and H200 only: others run that slow in health.",
			shape: lines, unit: count,
			queries: []query{{
				name: "GPUs",
				expr: `count((DCGM_FI_PROF_GR_ENGINE_ACTIVE{` + ir.MatchSteadyGPU + `,@scraped} > 0.5)` +
					` and (DCGM_FI_DEV_SM_CLOCK{` + ir.MatchSteadyGPU + `,@scraped} < 1000)) or vector(0)`,
			}},
			skip: !p.AnyCapacity(ir.Capacity.HasSteadyGPUs),
		},
	}}
}

func controller() section {
	return section{"Controller", []panel{
		{
			title: "Admission attempts per second", shape: lines, unit: perSecond,
			queries: []query{
				{
					by:   []string{"result"},
					expr: `sum by (result) (rate(kueue_admission_attempts_total{@kueue}[@window]))`,
				},
			},
		},
		{
			title: "Admission attempt (p99)", shape: lines, unit: seconds,
			queries: []query{
				{
					name: "p99",
					expr: quantile("0.99", nil, `kueue_admission_attempt_duration_seconds_bucket{@kueue}[@window]`),
				},
			},
		},
		{
			title: "Reconcile errors per second", shape: lines, unit: perSecond,
			queries: []query{{
				by: []string{"controller"},
				expr: `sum by (controller) (rate(controller_runtime_reconcile_errors_total` +
					`{` + ir.MatchKueueJob + `,@scraped}[@window]))`,
			}},
		},
	}}
}

func myQuota(p *ir.Platform) section {
	const (
		nominal  = `kueue_cluster_queue_nominal_quota{@kueue,@resource}`
		reserved = `kueue_cluster_queue_resource_reservation{@kueue,@resource}`
	)
	mine, note := ` and on (cluster_queue) `+myQueues(p, "cluster_queue"), ""
	if len(p.SharedQueues) > 0 {
		note = "Of a shared queue that of all its teams."
	}
	by := []string{"cluster_queue", "flavor", "resource"}
	sum := func(expr string) string { return `sum by (cluster_queue, flavor, resource) (` + expr + mine + `)` }
	return section{"My quota", []panel{
		{
			title: "Nominal, reserved and borrowed", note: note, shape: lines, unit: count,
			queries: []query{
				{name: "nominal", by: by, expr: sum(nominal)},
				{name: "reserved", by: by, expr: sum(reserved)},
				{name: "borrowed", by: by, expr: sum(`clamp_min(` + reserved + ` - ` + nominal + `, 0)`)},
			},
		},
		{
			title: "Used by LocalQueue", shape: stack, unit: count,
			queries: []query{{
				by:   []string{"name", "flavor", "resource"},
				expr: `sum by (name, flavor, resource) (kueue_local_queue_resource_usage{@kueue,@resource,@team})`,
			}},
		},
	}}
}

func myQueue() section {
	return section{"My queue", []panel{
		{
			title: "Pending workloads", note: "Inadmissible ones were tried and wait for something to change.",
			shape: stack, unit: count,
			queries: []query{{
				by:   []string{"name", "status"},
				expr: `sum by (name, status) (kueue_local_queue_pending_workloads{@kueue,@team})`,
			}},
		},
		{
			title: "Why my workloads wait", shape: stack, unit: count,
			queries: []query{{
				by:   []string{"name", "reason", "underlying_cause"},
				expr: `sum by (name, reason, underlying_cause) (kueue_local_queue_unadmitted_workloads{@kueue,@team})`,
			}},
		},
		{
			title: "Wait until admission", note: "Longer waits than 10240 s read as 10240 s.", shape: lines,
			unit: seconds,
			queries: quantiles([]string{"name"},
				`kueue_local_queue_admission_wait_time_seconds_bucket{@kueue,@team}[@window]`),
		},
	}}
}

func myJobs(p *ir.Platform) section {
	const (
		container = `{monitored_resource="k8s_container",namespace_name="@namespace",@system}`
		jobset    = `{monitored_resource="k8s_entity",entity_type="jobset",entity_namespace="@namespace",@system}`
		failed    = `jobset_failed_total{@scraped,@team}`
	)
	pod := []string{"pod_name"}
	entity := []string{"entity_name"}
	chipped := p.AnyCapacity(ir.Capacity.HasAccelerators)
	return section{"My jobs", []panel{
		{
			title: "Running workloads", shape: lines, unit: count,
			queries: []query{
				{
					by:   []string{"name"},
					expr: `sum by (name) (kueue_local_queue_admitted_active_workloads{@kueue,@team})`,
				},
			},
		},
		{
			title: "My evictions per hour", shape: stack, unit: count,
			queries: []query{{
				by: []string{"reason", "underlying_cause"},
				expr: `sum by (reason, underlying_cause) (` +
					ir.Events(`kueue_local_queue_evicted_workloads_total{@kueue,@team}`, "1h") + `)`,
			}},
		},
		{
			title: "Preemptions by my queues per hour", shape: stack, unit: count,
			queries: []query{{
				by: []string{"preempting_cluster_queue", "reason"},
				expr: `sum by (preempting_cluster_queue, reason) ((` +
					ir.Events(`kueue_preempted_workloads_total{@kueue}`, "1h") + `)` +
					` and on (preempting_cluster_queue) ` + myQueues(p, "preempting_cluster_queue") + `)`,
			}},
		},
		{
			title: "JobSet restarts and failures",
			note:  "Failures counts the JobSets that failed within the last hour.",
			shape: lines, unit: count,
			queries: []query{
				{
					name: "restarts", by: []string{"jobset_name"},
					expr: `max by (jobset_name) (kube_jobset_restarts{@scraped,namespace="@namespace"})`,
				},
				// A JobSet fails only once, which increase() alone does not see.
				{
					name: "failures",
					expr: `count((` + failed + ` unless ` + failed + ` offset 1h) or (increase(` + failed +
						`[1h]) > 0)) or vector(0)`,
				},
			},
		},
		{
			title: "Duty cycle by pod", shape: lines, unit: percent,
			queries: []query{
				{by: pod, expr: `avg by (pod_name) (kubernetes_io:container_accelerator_duty_cycle` + container + `)`},
			},
			skip: !chipped,
		},
		{
			title: "Accelerator memory in use by pod", shape: lines, unit: percent,
			queries: []query{{
				by: pod,
				expr: `100 * sum by (pod_name) (kubernetes_io:container_accelerator_memory_used` + container + `)` +
					` / sum by (pod_name) (kubernetes_io:container_accelerator_memory_total` + container + `)`,
			}},
			skip: !chipped,
		},
		{
			title: "JobSet goodput", note: "Only of JobSets with exactly one replicated job that uses accelerators.",
			shape: lines, unit: share,
			queries: []query{
				{
					name: "scheduling", by: entity,
					expr: `avg by (entity_name) (kubernetes_io:jobset_scheduling_goodput` + jobset + `)`,
				},
				{
					name: "runtime", by: entity,
					expr: `avg by (entity_name) (kubernetes_io:jobset_proxy_runtime_goodput` + jobset + `)`,
				},
			},
			skip: !chipped,
		},
	}}
}

// quantiles returns queries for the median and the 95th percentile of a histogram.
// buckets is a range selector of its buckets.
func quantiles(by []string, buckets string) []query {
	return []query{
		{name: "p50", by: by, expr: quantile("0.50", by, buckets)},
		{name: "p95", by: by, expr: quantile("0.95", by, buckets)},
	}
}

// quantile returns a query that sums the buckets before it interpolates, because
// quantiles cannot be summed.
func quantile(q string, by []string, buckets string) string {
	return `histogram_quantile(` + q + `, sum by (` + strings.Join(append([]string{"le"}, by...), ", ") + `) (rate(` +
		buckets + `)))`
}
