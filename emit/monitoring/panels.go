package monitoring

import (
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// adminSections returns the administrator's sections, with only the panels for which
// this platform has data.
func adminSections(p *ir.Platform) []Section {
	s := schedulerOf(p)
	return presentSections(p, append(s.admin(p), capacitySection(p), acceleratorSection(p), s.controller(p)))
}

// kueueAdminSections returns the administrator's sections on the queues.
func kueueAdminSections(p *ir.Platform) []Section {
	return []Section{overviewSection(p), quotaSection(p), queueSection(p), churnSection(p)}
}

// kueueTeamSections returns a team's sections on its queues.
func kueueTeamSections(p *ir.Platform) []Section {
	return []Section{myQuotaSection(p), myQueueSection(p)}
}

// teamSections returns the sections of a team's board.
func teamSections(p *ir.Platform) []Section {
	return presentSections(p, append(schedulerOf(p).team(p), myJobsSection(p)))
}

// presentSections returns the sections without skipped panels, without Kueue's panels
// if the platform has another scheduler, and without sections that are then empty.
func presentSections(p *ir.Platform, all []Section) []Section {
	exports := schedulerOf(p).exports
	var out []Section
	for _, s := range all {
		kept := Section{Title: s.Title}
		for _, panel := range s.Panels {
			if !panel.skip && exports(panel) {
				kept.Panels = append(kept.Panels, panel)
			}
		}
		if len(kept.Panels) > 0 {
			out = append(out, kept)
		}
	}
	return out
}

// inadmissibleNote explains the label status of a pending workload.
const inadmissibleNote = "Inadmissible: Kueue tried to admit these workloads and failed. It tries again when quota " +
	"becomes free or a queue changes."

func overviewSection(*ir.Platform) Section {
	return Section{"Overview", []Panel{
		{
			Title: "Nominal quota",
			Note:  "Sum over all ClusterQueues.",
			Shape: Number, Unit: count,
			Queries: []Query{{expr: `sum(kueue_cluster_queue_nominal_quota{@kueue,@resource})`}},
		},
		{
			Title: "Reserved quota",
			Note:  "Quota that workloads hold.",
			Shape: Number, Unit: count,
			Queries: []Query{{expr: `sum(kueue_cluster_queue_resource_reservation{@kueue,@resource})`}},
		},
		{
			Title: "Quota in use",
			Shape: Gauge, Unit: share,
			Queries: []Query{{expr: `sum(kueue_cluster_queue_resource_reservation{@kueue,@resource})` +
				` / sum(kueue_cluster_queue_nominal_quota{@kueue,@resource})`}},
		},
		{
			Title: "Requested quota",
			Note:  "Quota that pending workloads request.",
			Shape: Number, Unit: count,
			Queries: []Query{{expr: `sum(kueue_cluster_queue_resource_pending{@kueue,@resource}) or vector(0)`}},
		},
		{
			Title: "Pending workloads",
			Shape: Number, Unit: count,
			Queries: []Query{{expr: `sum(kueue_pending_workloads{@kueue}) or vector(0)`}},
		},
		{
			Title: "Inactive ClusterQueues",
			Shape: Number, Unit: count,
			Queries: []Query{{expr: `count(kueue_cluster_queue_status{@kueue,status!="active"} == 1) or vector(0)`}},
		},
	}}
}

func quotaSection(p *ir.Platform) Section {
	const (
		nominal  = `kueue_cluster_queue_nominal_quota{@kueue,@resource}`
		reserved = `kueue_cluster_queue_resource_reservation{@kueue,@resource}`
		used     = `kueue_cluster_queue_resource_usage{@kueue,@resource}`
		borrowed = `clamp_min(` + reserved + ` - ` + nominal + `, 0)`
		unused   = `clamp_min(` + nominal + ` - ` + reserved + `, 0)`
		each     = `sum by (cohort, cluster_queue, flavor, resource) `
	)
	noCohorts := len(p.Cohorts) == 0
	row := []string{"cohort", "cluster_queue", "flavor", "resource"}
	return Section{"Quota", []Panel{
		{
			Title: "Reserved quota by ClusterQueue",
			Shape: Stack, Unit: count,
			Queries: []Query{{By: []string{"cluster_queue"}, expr: `sum by (cluster_queue) (` + reserved + `)`}},
		},
		{
			Title: "Unused nominal quota by flavor",
			Note:  "Nominal quota that no workload holds.",
			Shape: Stack, Unit: count,
			Queries: []Query{{By: []string{"flavor"}, expr: `sum by (flavor) (` + unused + `)`}},
		},
		{
			Title: "Borrowed quota by ClusterQueue",
			Note:  "Reserved quota above the nominal quota of each flavor.",
			Shape: Stack, Unit: count,
			Queries: []Query{{By: []string{"cluster_queue"}, expr: `sum by (cluster_queue) (` + borrowed + `)`}},
			skip:    noCohorts,
		},
		{
			Title: "Cohort quota in use, by flavor",
			Note:  "The quota of a cohort includes its child cohorts. Do not add a parent to its children.",
			Shape: Lines, Unit: share,
			Queries: []Query{{
				By: []string{"cohort", "flavor"},
				expr: `sum by (cohort, flavor) (kueue_cohort_subtree_resource_reservations{@kueue,@resource})` +
					` / (sum by (cohort, flavor) (kueue_cohort_subtree_quota{@kueue,@resource}) > 0)`,
			}},
			skip: noCohorts,
		},
		{
			Title: "Quota by ClusterQueue and flavor",
			Shape: Table, Unit: count,
			Queries: []Query{
				{Name: "nominal", By: row, expr: each + `(` + nominal + `)`},
				{Name: "reserved", By: row, expr: each + `(` + reserved + `)`},
				{Name: "admitted", By: row, expr: each + `(` + used + `)`},
				{Name: "borrowed", By: row, expr: each + `(` + borrowed + `)`},
			},
		},
	}}
}

func queueSection(p *ir.Platform) Section {
	byQueue := []string{"cluster_queue"}
	return Section{"Queues", []Panel{
		{
			Title: "Pending workloads by ClusterQueue",
			Note:  inadmissibleNote,
			Shape: Stack, Unit: count,
			Queries: []Query{{
				By:   []string{"cluster_queue", "status"},
				expr: `sum by (cluster_queue, status) (kueue_pending_workloads{@kueue})`,
			}},
		},
		{
			Title: "Why workloads wait",
			Shape: Stack, Unit: count,
			Queries: []Query{{
				By:   []string{"reason", "underlying_cause"},
				expr: `sum by (reason, underlying_cause) (kueue_unadmitted_workloads{@kueue})`,
			}},
		},
		{
			Title: "Waiting time until admission",
			Note:  "A wait longer than 40960 s is shown as 40960 s.",
			Shape: Lines, Unit: seconds,
			Queries: quantileQueries(byQueue, `kueue_admission_wait_time_seconds_bucket{@kueue}[@window]`),
		},
		{
			Title: "Waiting time for admission checks (p95)",
			Note:  "A wait longer than 10240 s is shown as 10240 s.",
			Shape: Lines, Unit: seconds,
			Queries: []Query{
				{
					By: byQueue,
					expr: quantileOf("0.95", byQueue,
						`kueue_admission_checks_wait_time_seconds_bucket{@kueue}[@window]`),
				},
			},
			skip: len(p.AdmissionChecks) == 0,
		},
		{
			Title: "Admitted and finished workloads per hour",
			Shape: Lines, Unit: count,
			Queries: []Query{
				{
					Name: "admitted", By: byQueue,
					expr: `sum by (cluster_queue) (` +
						eventsWithin(`kueue_admitted_workloads_total{@kueue}`, "1h") + `)`,
				},
				{
					Name: "finished", By: byQueue,
					expr: `sum by (cluster_queue) (` +
						eventsWithin(`kueue_finished_workloads_total{@kueue}`, "1h") + `)`,
				},
			},
		},
	}}
}

func churnSection(*ir.Platform) Section {
	return Section{"Evictions and interruptions", []Panel{
		{
			Title: "Preemptions per hour",
			Note:  "By the ClusterQueue that preempts, not by the one that loses workloads.",
			Shape: Stack, Unit: count,
			Queries: []Query{{
				By: []string{"preempting_cluster_queue", "reason"},
				expr: `sum by (preempting_cluster_queue, reason) (` +
					eventsWithin(`kueue_preempted_workloads_total{@kueue}`, "1h") + `)`,
			}},
		},
		{
			Title: "Evictions per hour",
			Shape: Stack, Unit: count,
			Queries: []Query{{
				By: []string{"reason", "underlying_cause"},
				expr: `sum by (reason, underlying_cause) (` +
					eventsWithin(`kueue_evicted_workloads_total{@kueue}`, "1h") + `)`,
			}},
		},
		{
			Title: "Time from eviction to release of quota (p95)",
			Shape: Lines, Unit: seconds,
			Queries: []Query{{
				By: []string{"reason"},
				expr: quantileOf("0.95", []string{"reason"},
					`kueue_workload_eviction_latency_seconds_bucket{@kueue}[@window]`),
			}},
		},
		interruptionPanel(),
	}}
}

func interruptionPanel() Panel {
	return Panel{
		Title: "Node interruptions per hour",
		Note:  "A PreemptionEvent means that Compute Engine took back a Spot node.",
		Shape: Stack, Unit: count,
		Queries: []Query{{
			By: []string{"interruption_type", "interruption_reason"},
			// The metric is a gauge, so a rate would be meaningless.
			expr: `sum by (interruption_type, interruption_reason) (sum_over_time(` +
				`kubernetes_io:node_interruption_count{monitored_resource="k8s_node",@system}[1h]))`,
		}},
	}
}

func capacitySection(p *ir.Platform) Section {
	const (
		chips     = `kubernetes_io:node_accelerator_duty_cycle{monitored_resource="k8s_node",@system}`
		provision = `"metadata_user_cloud.google.com/gke-provisioning"`
	)
	reservation := []string{"reservation_id", "reserved_resource_type"}
	var reserved []string
	for _, c := range p.Capacities {
		if c.OnlyReserved() {
			reserved = append(reserved, c.Name)
		}
	}
	flavors := `,flavor=~"` + strings.Join(reserved, "|") + `"}`
	metrics := p.AnyCapacity(ir.Capacity.HasReservationMetrics)
	chipped := p.AnyCapacity(ir.Capacity.HasAccelerators)
	return Section{"Capacity", []Panel{
		{
			Title: "Reservations: used and reserved",
			Note:  "All reservations of the project. The data can be 30 minutes old.",
			Shape: Lines, Unit: count,
			Queries: []Query{
				{Name: "used", By: reservation, expr: reservationUsed},
				{Name: "reserved", By: reservation, expr: reservationSize},
			},
			skip: !metrics,
		},
		{
			Title: "Idle share of reservations",
			Note:  "The project pays for this share and does not use it.",
			Shape: Lines, Unit: share,
			Queries: []Query{{By: reservation, expr: `1 - ` + reservationUsed + ` / ` + reservationSize}},
			skip:    !metrics,
		},
		{
			Title: "Unused quota of flavors with reservations",
			Note:  "Nominal quota minus reserved quota, over all ClusterQueues.",
			Shape: Lines, Unit: count,
			Queries: []Query{{
				By: []string{"flavor", "resource"},
				expr: `sum by (flavor, resource) (kueue_cluster_queue_nominal_quota{@kueue,@resource` + flavors + `)` +
					` - sum by (flavor, resource) (kueue_cluster_queue_resource_reservation{@kueue,@resource` +
					flavors + `)`,
			}},
			skip: reserved == nil,
		},
		{
			Title: "Accelerators by model",
			Note:  "All chips of existing nodes, including idle chips.",
			Shape: Stack, Unit: count,
			Queries: []Query{{By: []string{"model"}, expr: `count by (model) (` + chips + `)`}},
			skip:    !chipped,
		},
		{
			Title: "Accelerators by provisioning model",
			Note:  "The label gke-provisioning says whether a node is standard, Spot, reserved or flex-start.",
			Shape: Stack, Unit: count,
			Queries: []Query{{
				By:   []string{"model", "metadata_user_cloud.google.com/gke-provisioning"},
				expr: `count by (model, ` + provision + `) (` + chips + `)`,
			}},
			skip: !chipped,
		},
		{
			Title: "Accelerators requested and busy",
			Note:  "Busy is the sum of the duty cycles: two chips at 50% count as one busy chip.",
			Shape: Lines, Unit: count,
			Queries: []Query{
				{
					Name: "requested",
					expr: `sum(kubernetes_io:container_accelerator_request{` +
						`monitored_resource="k8s_container",@system})`,
				},
				{Name: "busy", expr: `sum(` + chips + `) / 100`},
			},
			skip: !chipped,
		},
	}}
}

func acceleratorSection(p *ir.Platform) Section {
	const (
		node   = `{monitored_resource="k8s_node",@system}`
		each   = `sum by (node_name, accelerator_id) `
		memory = `100 * ` + each + `(kubernetes_io:node_accelerator_memory_used` + node + `)` +
			` / ` + each + `(kubernetes_io:node_accelerator_memory_total` + node + `)`
	)
	chip := []string{"node_name", "accelerator_id"}
	chipped := p.AnyCapacity(ir.Capacity.HasAccelerators)
	return Section{"Accelerators", []Panel{
		{
			Title: "Duty cycle of all chips",
			Shape: Heatmap, Unit: percent,
			Queries: []Query{
				{
					By:   chip,
					expr: `avg by (node_name, accelerator_id) (kubernetes_io:node_accelerator_duty_cycle` + node + `)`,
				},
			},
			skip: !chipped,
		},
		{
			Title: "Memory in use on all chips",
			Shape: Heatmap, Unit: percent,
			Queries: []Query{{By: chip, expr: memory}},
			skip:    !chipped,
		},
		{
			Title: "TensorCore utilisation",
			Shape: Lines, Unit: percent,
			Queries: []Query{{
				By: []string{"model", "tpu_topology"},
				expr: `avg by (model, tpu_topology) (kubernetes_io:node_accelerator_tensorcore_utilization` + node +
					`)`,
			}},
			skip: !p.AnyCapacity(ir.Capacity.HasTPUs),
		},
		{
			Title: "Tensor pipe and SM activity",
			Note:  "If SM activity is high and the tensor pipe is idle, jobs do not use the tensor cores.",
			Shape: Lines, Unit: share,
			Queries: []Query{
				{
					Name: "tensor", By: []string{"modelName"},
					expr: `avg by (modelName) (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{@scraped})`,
				},
				{Name: "SM", By: []string{"modelName"}, expr: `avg by (modelName) (DCGM_FI_PROF_SM_ACTIVE{@scraped})`},
			},
			skip: !p.AnyCapacity(ir.Capacity.HasGPUs),
		},
		{
			Title: "Busy GPUs below 1 GHz",
			Note: "Heat or power throttles these GPUs. Only A100, H100 and H200 count, because healthy GPUs of other " +
				"models can run below 1 GHz.",
			Shape: Lines, Unit: count,
			Queries: []Query{{
				Name: "GPUs",
				expr: `count(` + throttledGPUs + `) or vector(0)`,
			}},
			skip: !p.AnyCapacity(ir.Capacity.HasSteadyGPUs),
		},
	}}
}

func controllerSection(*ir.Platform) Section {
	return Section{"Controller", []Panel{
		{
			Title: "Admission attempts per second",
			Shape: Lines, Unit: perSecond,
			Queries: []Query{
				{
					By:   []string{"result"},
					expr: `sum by (result) (rate(kueue_admission_attempts_total{@kueue}[@window]))`,
				},
			},
		},
		{
			Title: "Duration of an admission attempt (p99)",
			Shape: Lines, Unit: seconds,
			Queries: []Query{
				{
					Name: "p99",
					expr: quantileOf("0.99", nil, `kueue_admission_attempt_duration_seconds_bucket{@kueue}[@window]`),
				},
			},
		},
		{
			Title: "Reconcile errors per second",
			Shape: Lines, Unit: perSecond,
			Queries: []Query{{
				By: []string{"controller"},
				expr: `sum by (controller) (rate(controller_runtime_reconcile_errors_total` +
					`{@job,@scraped}[@window]))`,
			}},
		},
	}}
}

func myQuotaSection(p *ir.Platform) Section {
	const (
		nominal  = `kueue_cluster_queue_nominal_quota{@kueue,@resource}`
		reserved = `kueue_cluster_queue_resource_reservation{@kueue,@resource}`
	)
	mine, note := ` and on (cluster_queue) `+teamQueues(p, "cluster_queue"), ""
	if len(p.SharedQueues) > 0 {
		note = "A shared queue shows the quota of all its teams."
	}
	by := []string{"cluster_queue", "flavor", "resource"}
	sum := func(expr string) string { return `sum by (cluster_queue, flavor, resource) (` + expr + mine + `)` }
	return Section{"My quota", []Panel{
		{
			Title: "Nominal, reserved and borrowed",
			Note:  note,
			Shape: Lines, Unit: count,
			Queries: []Query{
				{Name: "nominal", By: by, expr: sum(nominal)},
				{Name: "reserved", By: by, expr: sum(reserved)},
				{Name: "borrowed", By: by, expr: sum(`clamp_min(` + reserved + ` - ` + nominal + `, 0)`)},
			},
		},
		{
			Title: "Used quota by LocalQueue",
			Shape: Stack, Unit: count,
			Queries: []Query{{
				By:   []string{"name", "flavor", "resource"},
				expr: `sum by (name, flavor, resource) (kueue_local_queue_resource_usage{@kueue,@resource,@team})`,
			}},
		},
	}}
}

func myQueueSection(*ir.Platform) Section {
	return Section{"My queue", []Panel{
		{
			Title: "Pending workloads",
			Note:  inadmissibleNote,
			Shape: Stack, Unit: count,
			Queries: []Query{{
				By:   []string{"name", "status"},
				expr: `sum by (name, status) (kueue_local_queue_pending_workloads{@kueue,@team})`,
			}},
		},
		{
			Title: "Why my workloads wait",
			Shape: Stack, Unit: count,
			Queries: []Query{{
				By:   []string{"name", "reason", "underlying_cause"},
				expr: `sum by (name, reason, underlying_cause) (kueue_local_queue_unadmitted_workloads{@kueue,@team})`,
			}},
		},
		{
			Title: "Waiting time until admission",
			Note:  "A wait longer than 10240 s is shown as 10240 s.",
			Shape: Lines, Unit: seconds,
			Queries: quantileQueries([]string{"name"},
				`kueue_local_queue_admission_wait_time_seconds_bucket{@kueue,@team}[@window]`),
		},
	}}
}

func myJobsSection(p *ir.Platform) Section {
	const (
		container = `{monitored_resource="k8s_container",namespace_name="@namespace",@system}`
		jobset    = `{monitored_resource="k8s_entity",entity_type="jobset",entity_namespace="@namespace",@system}`
		failed    = `jobset_failed_total{@scraped,@team}`
	)
	pod := []string{"pod_name"}
	entity := []string{"entity_name"}
	chipped := p.AnyCapacity(ir.Capacity.HasAccelerators)
	return Section{"My jobs", []Panel{
		{
			Title: "Running workloads",
			Shape: Lines, Unit: count,
			Queries: []Query{
				{
					By:   []string{"name"},
					expr: `sum by (name) (kueue_local_queue_admitted_active_workloads{@kueue,@team})`,
				},
			},
		},
		{
			Title: "Evictions of my workloads per hour",
			Shape: Stack, Unit: count,
			Queries: []Query{{
				By: []string{"reason", "underlying_cause"},
				expr: `sum by (reason, underlying_cause) (` +
					eventsWithin(`kueue_local_queue_evicted_workloads_total{@kueue,@team}`, "1h") + `)`,
			}},
		},
		{
			Title: "Preemptions by my queues per hour",
			Shape: Stack, Unit: count,
			Queries: []Query{{
				By: []string{"preempting_cluster_queue", "reason"},
				expr: `sum by (preempting_cluster_queue, reason) ((` +
					eventsWithin(`kueue_preempted_workloads_total{@kueue}`, "1h") + `)` +
					` and on (preempting_cluster_queue) ` + teamQueues(p, "preempting_cluster_queue") + `)`,
			}},
		},
		{
			Title: "JobSet restarts and failures",
			Note:  "The series \"failures\" counts the JobSets that failed within the last hour.",
			Shape: Lines, Unit: count,
			Queries: []Query{
				{
					Name: "restarts", By: []string{"jobset_name"},
					expr: `max by (jobset_name) (kube_jobset_restarts{@scraped,namespace="@namespace"})`,
				},
				// A JobSet fails only once, and increase() alone misses the first event.
				{
					Name: "failures",
					expr: `count(` + bornOrRisen(failed) + `) or vector(0)`,
				},
			},
		},
		{
			Title: "Accelerator duty cycle by pod",
			Shape: Lines, Unit: percent,
			Queries: []Query{
				{By: pod, expr: `avg by (pod_name) (kubernetes_io:container_accelerator_duty_cycle` + container + `)`},
			},
			skip: !chipped,
		},
		{
			Title: "Accelerator memory in use by pod",
			Shape: Lines, Unit: percent,
			Queries: []Query{{
				By: pod,
				expr: `100 * sum by (pod_name) (kubernetes_io:container_accelerator_memory_used` + container + `)` +
					` / sum by (pod_name) (kubernetes_io:container_accelerator_memory_total` + container + `)`,
			}},
			skip: !chipped,
		},
		{
			Title: "JobSet goodput",
			Note:  "Exists only for JobSets with exactly one replicated job that uses accelerators.",
			Shape: Lines, Unit: share,
			Queries: []Query{
				{
					Name: "scheduling", By: entity,
					expr: `avg by (entity_name) (kubernetes_io:jobset_scheduling_goodput` + jobset + `)`,
				},
				{
					Name: "runtime", By: entity,
					expr: `avg by (entity_name) (kubernetes_io:jobset_proxy_runtime_goodput` + jobset + `)`,
				},
			},
			skip: !chipped,
		},
	}}
}
