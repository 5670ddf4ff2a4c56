package monitoring

import (
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
)

// adminSections returns the administrator's sections, with only the panels for which
// this platform has data.
func adminSections(p *ir.Platform) []Section {
	s := schedulerOf(p)
	return presentSections(p,
		append(s.admin(p), nodeSection(), capacitySection(p), acceleratorSection(p), costSection(p), s.controller(p)))
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

// noteLargest returns the panel with a note if it shows only the largest series.
func (p Panel) noteLargest() Panel {
	if strings.HasPrefix(p.Queries[0].expr, "topk(") {
		p.Note = strings.TrimSpace("Shows at most the " + strconv.Itoa(largest) + " largest at each time. " + p.Note)
	}
	return p
}

// presentSections returns the sections without skipped panels, without Kueue's panels
// if the platform has another scheduler, and without sections that are then empty.
func presentSections(p *ir.Platform, all []Section) []Section {
	exports := schedulerOf(p).exports
	var out []Section
	for _, s := range all {
		kept := Section{Title: s.Title, Folded: s.Folded}
		for _, panel := range s.Panels {
			if !panel.skip && exports(panel) {
				kept.Panels = append(kept.Panels, panel.noteLargest())
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
	return Section{Title: "Overview", Panels: []Panel{
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
			Title: "Active workloads",
			Note:  "Admitted workloads that have not finished.",
			Shape: Number, Unit: count,
			Queries: []Query{{expr: `sum(kueue_admitted_active_workloads{@kueue})`}},
		},
		{
			Title: "Pending workloads",
			Shape: Number, Unit: count,
			Queries: []Query{{expr: `sum(kueue_pending_workloads{@kueue}) or vector(0)`}},
		},
		{
			Title: "Inactive ClusterQueues",
			Note:  "Kueue admits no workload of an inactive queue.",
			Shape: Number, Unit: count, Thresholds: anyIsCritical,
			Queries: []Query{{expr: `count(kueue_cluster_queue_status{@kueue,status!="active"} == 1) or vector(0)`}},
		},
		notReadyPanel(),
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
	return Section{Title: "Quota", Panels: []Panel{
		{
			Title: "Reserved quota by ClusterQueue",
			Shape: Stack, Unit: count,
			Queries: largestOf("cluster_queue", `sum by (cluster_queue) (`+reserved+`)`),
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
			Queries: largestOf("cluster_queue", `sum by (cluster_queue) (`+borrowed+`)`),
			skip:    noCohorts,
		},
		{
			Title: "Cohort quota in use, by flavor",
			Note:  "The quota of a cohort includes its child cohorts. Do not add a parent to its children.",
			Shape: Lines, Unit: share,
			Queries: []Query{{
				By: []string{"cohort", "flavor"},
				expr: topOf(
					`sum by (cohort, flavor) (kueue_cohort_subtree_resource_reservations{@kueue,@resource})` +
						` / (sum by (cohort, flavor) (kueue_cohort_subtree_quota{@kueue,@resource}) > 0)`),
			}},
			skip: noCohorts,
		},
		memoryPanel(p, "Memory quota", `sum`, ``),
		{
			Title: "Quota by ClusterQueue and flavor",
			Note:  "The queues with the most reserved quota stand at the top.",
			Shape: Table, Unit: count, SortBy: "reserved",
			Queries: []Query{
				{Name: "nominal", By: row, expr: each + `(` + nominal + `)`},
				{Name: "reserved", By: row, expr: each + `(` + reserved + `)`},
				{Name: "admitted", By: row, expr: each + `(` + used + `)`},
				{Name: "borrowed", By: row, expr: each + `(` + borrowed + `)`},
			},
		},
	}}
}

// memoryPanel returns the memory quota. The other panels on quota do not show memory,
// because its unit is another. sum aggregates, and among restricts the series.
func memoryPanel(p *ir.Platform, title, sum, among string) Panel {
	const memory = `{@kueue,resource="memory"}`
	var by []string
	if among != "" {
		by = []string{"cluster_queue"}
	}
	quota := func(name, metric string, dashed bool) Query {
		return Query{Name: name, By: by, Dashed: dashed, expr: sum + ` (` + metric + memory + among + `)`}
	}
	return Panel{
		Title: title,
		Shape: Lines, Unit: bytes,
		Queries: []Query{
			quota("nominal", `kueue_cluster_queue_nominal_quota`, true),
			quota("reserved", `kueue_cluster_queue_resource_reservation`, false),
		},
		skip: !coversMemory(p),
	}
}

// coversMemory reports whether any queue has a quota of memory.
func coversMemory(p *ir.Platform) bool {
	covers := func(q ir.Queue) bool { return slices.Contains(q.Resources, ir.Memory) }
	return slices.ContainsFunc(p.Teams, func(t ir.Team) bool { return slices.ContainsFunc(t.Queues, covers) }) ||
		slices.ContainsFunc(p.SharedQueues, func(q ir.SharedQueue) bool { return covers(q.Queue) })
}

func queueSection(p *ir.Platform) Section {
	byQueue := []string{"cluster_queue"}
	return Section{Title: "Queues", Panels: []Panel{
		{
			Title: "Active workloads by ClusterQueue",
			Shape: Stack, Unit: count,
			Queries: largestOf("cluster_queue", `sum by (cluster_queue) (kueue_admitted_active_workloads{@kueue})`),
		},
		{
			Title: "Pending workloads by ClusterQueue",
			Shape: Stack, Unit: count,
			Queries: largestOf("cluster_queue", `sum by (cluster_queue) (kueue_pending_workloads{@kueue})`),
		},
		{
			Title: "Pending workloads by status",
			Note:  inadmissibleNote,
			Shape: Stack, Unit: count,
			Queries: []Query{{
				By: []string{"status"}, expr: `sum by (status) (kueue_pending_workloads{@kueue})`,
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
			Note: "Of the workloads of all queues: half of them wait no longer than the median. A wait longer than " +
				"40960 s is shown as 40960 s.",
			Shape: Lines, Unit: waiting, Thresholds: waitsTooLong,
			Queries: quantileQueries(nil, `kueue_admission_wait_time_seconds_bucket{@kueue}[@window]`),
		},
		{
			Title: "ClusterQueues with the longest waiting times (p95)",
			Note:  "Of the workloads of a queue, 95% wait no longer.",
			Shape: Lines, Unit: waiting, Thresholds: waitsTooLong,
			Queries: []Query{{By: byQueue, expr: topOf(quantileOf("0.95", byQueue,
				`kueue_admission_wait_time_seconds_bucket{@kueue}[@window]`))}},
		},
		{
			Title: "Waiting time for admission checks (p95)",
			Note:  "A wait longer than 10240 s is shown as 10240 s.",
			Shape: Lines, Unit: waiting,
			Queries: []Query{
				{
					By: byQueue,
					expr: topOf(quantileOf("0.95", byQueue,
						`kueue_admission_checks_wait_time_seconds_bucket{@kueue}[@window]`)),
				},
			},
			skip: len(p.AdmissionChecks) == 0,
		},
		{
			Title: "Admitted and finished workloads per hour",
			Shape: Lines, Unit: count,
			Queries: []Query{
				{
					Name: "admitted",
					expr: `sum(` + eventsWithin(`kueue_admitted_workloads_total{@kueue}`, "1h") + `)`,
				},
				{
					Name: "finished",
					expr: `sum(` + eventsWithin(`kueue_finished_workloads_total{@kueue}`, "1h") + `)`,
				},
			},
		},
		{
			Title: "Admitted workloads per hour by ClusterQueue",
			Shape: Stack, Unit: count,
			Queries: largestOf("cluster_queue", `sum by (cluster_queue) (`+
				eventsWithin(`kueue_admitted_workloads_total{@kueue}`, "1h")+`)`),
		},
	}}
}

func churnSection(*ir.Platform) Section {
	return Section{Title: "Evictions and interruptions", Folded: true, Panels: []Panel{
		{
			Title: "Preemptions per hour",
			Note:  "By the reason of the ClusterQueue that preempts.",
			Shape: Stack, Unit: count,
			Queries: []Query{{
				By:   []string{"reason"},
				expr: `sum by (reason) (` + eventsWithin(`kueue_preempted_workloads_total{@kueue}`, "1h") + `)`,
			}},
		},
		{
			Title: "Preemptions per hour by preempting ClusterQueue",
			Note:  "By the ClusterQueue that preempts, not by the one that loses workloads.",
			Shape: Stack, Unit: count,
			Queries: largestOf("preempting_cluster_queue", `sum by (preempting_cluster_queue) (`+
				eventsWithin(`kueue_preempted_workloads_total{@kueue}`, "1h")+`)`),
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
	return Section{Title: "Capacity", Folded: true, Panels: []Panel{
		{
			Title: "Reservations: used and reserved",
			Note:  "All reservations of the project. The data can be 30 minutes old.",
			Shape: Lines, Unit: count,
			Queries: []Query{
				{Name: "used", By: reservation, expr: reservationUsed},
				{Name: "reserved", By: reservation, Dashed: true, expr: reservationSize},
			},
			skip: !metrics,
		},
		{
			Title: "Idle share of reservations",
			Note:  "The project pays for this share and does not use it.",
			Shape: Lines, Unit: share, Thresholds: []Threshold{{From: 0.5}},
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
			Shape: Lines, Unit: amount,
			Queries: []Query{
				{
					Name: "requested", Dashed: true,
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
		node  = `{monitored_resource="k8s_node",@system}`
		duty  = `kubernetes_io:node_accelerator_duty_cycle` + node
		used  = `kubernetes_io:node_accelerator_memory_used` + node
		total = `kubernetes_io:node_accelerator_memory_total` + node
		each  = `by (node_name, accelerator_id, model) `
		day   = `[24h]`
		idle  = `bottomk(20, avg ` + each + `(avg_over_time(` + duty + day + `)))`

		memoryOfDay = `100 * sum ` + each + `(avg_over_time(` + used + day + `)) / sum ` + each +
			`(avg_over_time(` + total + day + `))`
	)
	chip, model := []string{"node_name", "accelerator_id", "model"}, []string{"model"}
	chipped := p.AnyCapacity(ir.Capacity.HasAccelerators)
	return Section{Title: "Accelerators", Folded: true, Panels: []Panel{
		{
			Title: "Duty cycle by model",
			Note:  "The average of all chips of a model, including idle chips.",
			Shape: Lines, Unit: percent,
			Queries: []Query{{By: model, expr: `avg by (model) (` + duty + `)`}},
			skip:    !chipped,
		},
		{
			Title: "Duty cycle of all chips",
			Shape: Heatmap, Unit: percent,
			Queries: []Query{{By: chip, expr: `avg ` + each + `(` + duty + `)`}},
			skip:    !chipped,
		},
		{
			Title: "Memory in use by model",
			Shape: Lines, Unit: percent,
			Queries: []Query{{
				By: model, expr: `100 * sum by (model) (` + used + `) / sum by (model) (` + total + `)`,
			}},
			skip: !chipped,
		},
		{
			Title: "Memory in use on all chips",
			Shape: Heatmap, Unit: percent,
			Queries: []Query{{
				By: chip, expr: `100 * sum ` + each + `(` + used + `) / sum ` + each + `(` + total + `)`,
			}},
			skip: !chipped,
		},
		{
			Title: "Memory of all chips",
			Shape: Lines, Unit: bytes,
			Queries: []Query{
				{Name: "used", expr: `sum(` + used + `)`},
				{Name: "total", Dashed: true, expr: `sum(` + total + `)`},
			},
			skip: !chipped,
		},
		{
			Title: "The 20 chips with the lowest duty cycle of 24 hours",
			Note:  "Both columns are averages of the last 24 hours.",
			Shape: Table, Unit: percent, SortBy: "duty cycle", Ascending: true,
			Queries: []Query{
				{Name: "duty cycle", By: chip, expr: idle},
				{Name: "memory in use", By: chip, expr: memoryOfDay + ` and ` + idle},
			},
			skip: !chipped,
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
	return Section{Title: "Controller", Folded: true, Panels: []Panel{
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
	return Section{Title: "My quota", Panels: []Panel{
		{
			Title: "Used quota by LocalQueue",
			Shape: Stack, Unit: count,
			Queries: []Query{{
				By:   []string{"name", "flavor", "resource"},
				expr: `sum by (name, flavor, resource) (kueue_local_queue_resource_usage{@kueue,@resource,@team})`,
			}},
		},
		memoryPanel(p, "Memory quota of my queues", `sum by (cluster_queue)`, mine),
		{
			Title: "Nominal, reserved and borrowed",
			Note:  note,
			Shape: Table, Unit: count, SortBy: "reserved",
			Queries: []Query{
				{Name: "nominal", By: by, expr: sum(nominal)},
				{Name: "reserved", By: by, expr: sum(reserved)},
				{Name: "borrowed", By: by, expr: sum(`clamp_min(` + reserved + ` - ` + nominal + `, 0)`)},
			},
		},
	}}
}

func myQueueSection(*ir.Platform) Section {
	return Section{Title: "My queue", Panels: []Panel{
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
				By:   []string{"reason", "underlying_cause"},
				expr: `sum by (reason, underlying_cause) (kueue_local_queue_unadmitted_workloads{@kueue,@team})`,
			}},
		},
		{
			Title: "Waiting time until admission",
			Note: "Half of the workloads wait no longer than the median. A wait longer than 10240 s is shown as " +
				"10240 s.",
			Shape: Lines, Unit: waiting, Thresholds: waitsTooLong,
			Queries: quantileQueries([]string{"name"},
				`kueue_local_queue_admission_wait_time_seconds_bucket{@kueue,@team}[@window]`),
		},
	}}
}

func myJobsSection(p *ir.Platform) Section {
	const container = `{monitored_resource="k8s_container",namespace_name="@namespace",@system}`
	pod := []string{"pod_name"}
	chipped := p.AnyCapacity(ir.Capacity.HasAccelerators)
	panels := []Panel{
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
	}
	for _, c := range kinds.Controllers() {
		panels = append(panels, failuresPanel(c))
	}
	panels = append(panels, []Panel{
		{
			Title: "Accelerator duty cycle by pod",
			Shape: Lines, Unit: percent,
			Queries: []Query{
				{
					By:   pod,
					expr: topOf(`avg by (pod_name) (kubernetes_io:container_accelerator_duty_cycle` + container + `)`),
				},
			},
			skip: !chipped,
		},
		{
			Title: "Accelerator memory in use by pod",
			Shape: Lines, Unit: percent,
			Queries: []Query{{
				By: pod,
				expr: topOf(`100 * sum by (pod_name) (kubernetes_io:container_accelerator_memory_used` + container +
					`) / sum by (pod_name) (kubernetes_io:container_accelerator_memory_total` + container + `)`),
			}},
			skip: !chipped,
		},
		{
			Title: "Accelerator hours within 30 days",
			Note:  "What the pods of the team requested. Cloud Billing divides costs by the same requests.",
			Shape: Number, Unit: amount,
			Queries: []Query{{expr: hoursOf(`sum(`+acceleratorRequest+container+`)`, month)}},
			skip:    !chipped,
		},
	}...)
	for _, c := range kinds.Controllers() {
		if c.Component != "" && chipped {
			panels = append(panels, goodputPanel(c))
		}
	}
	return Section{Title: "My jobs", Panels: panels}
}

// failuresPanel returns the panel on the jobs of a kind that started again or failed.
func failuresPanel(c kinds.Controller) Panel {
	name := c.Field + "_name"
	return Panel{
		Title: c.Kind + " restarts and failures",
		Note:  `The series "failures" counts the ` + c.Kind + "s that failed within the last hour.",
		Shape: Lines, Unit: count,
		Queries: []Query{
			{
				Name: "restarts", By: []string{name},
				expr: `max by (` + name + `) (kube_` + c.Field + `_restarts{@scraped,namespace="@namespace"})`,
			},
			// A job fails only once, and increase() alone misses the first event.
			{
				Name: "failures",
				expr: `count(` + bornOrRisen(c.Field+`_failed_total{@scraped,@team}`) + `) or vector(0)`,
			},
		},
	}
}

// goodputPanel returns the panel on the goodput of the jobs of a kind, which GKE measures.
func goodputPanel(c kinds.Controller) Panel {
	query := func(name, metric string) Query {
		return Query{Name: name, By: []string{"entity_name"}, expr: `avg by (entity_name) (kubernetes_io:` + c.Field +
			metric + `{monitored_resource="k8s_entity",entity_type="` + c.Field +
			`",entity_namespace="@namespace",@system})`}
	}
	return Panel{
		Title: c.Kind + " goodput",
		Note:  "Exists only for " + c.Kind + "s with exactly one replicated job that uses accelerators.",
		Shape: Lines, Unit: share,
		Queries: []Query{query("scheduling", "_scheduling_goodput"), query("runtime", "_proxy_runtime_goodput")},
	}
}
