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
		kept := Section{Name: s.Name, Title: s.Title, Folded: s.Folded}
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
	return Section{Name: "overview", Title: "Overview", Panels: []Panel{
		newPanel("Nominal quota", "Sum over all ClusterQueues.", Number, count,
			single(`sum(kueue_cluster_queue_nominal_quota{@kueue,@resource})`)),
		newPanel("Reserved quota", "Quota that workloads hold.", Number, count,
			single(`sum(kueue_cluster_queue_resource_reservation{@kueue,@resource})`)),
		newPanel("Quota in use", "", Gauge, share,
			single(`sum(kueue_cluster_queue_resource_reservation{@kueue,@resource})`+
				` / sum(kueue_cluster_queue_nominal_quota{@kueue,@resource})`)),
		newPanel("Requested quota", "Quota that pending workloads request.", Number, count,
			single(`sum(kueue_cluster_queue_resource_pending{@kueue,@resource}) or vector(0)`)),
		newPanel("Active workloads", "Admitted workloads that have not finished.", Number, count,
			single(`sum(kueue_admitted_active_workloads{@kueue})`)),
		newPanel("Pending workloads", "", Number, count, single(`sum(kueue_pending_workloads{@kueue}) or vector(0)`)),
		newPanel("Inactive ClusterQueues", "Kueue admits no workload of an inactive queue.", Number, count,
			single(`count(kueue_cluster_queue_status{@kueue,status!="active"} == 1) or vector(0)`)).
			warns(anyIsCritical),
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
	row := []string{"cohort", "cluster_queue", "flavor", "resource"}
	return Section{Name: "quota", Title: "Quota", Panels: []Panel{
		newPanel("Reserved quota by ClusterQueue", "", Stack, count,
			grouped("sum", ``+reserved+``, "cluster_queue").largest()),
		newPanel("Unused nominal quota by flavor", "Nominal quota that no workload holds.", Stack, count,
			grouped("sum", unused, "flavor")),
		newPanel("Borrowed quota by ClusterQueue",
			"Reserved quota above the nominal quota of each flavor.", Stack, count,
			grouped("sum", ``+borrowed+``, "cluster_queue").largest()).when(len(p.Cohorts) > 0),
		newPanel("Cohort quota in use, by flavor",
			"The quota of a cohort includes its child cohorts. Do not add a parent to its children.", Lines, share,
			Query{By: []string{"cohort", "flavor"},
				expr: `sum by (cohort, flavor) (kueue_cohort_subtree_resource_reservations{@kueue,@resource})` +
					` / (sum by (cohort, flavor) (kueue_cohort_subtree_quota{@kueue,@resource}) > 0)`}.largest()).
			when(len(p.Cohorts) > 0),
		memoryPanel(p, "Memory quota", `sum`, ``),
		newPanel("Quota by ClusterQueue and flavor",
			"The queues with the most reserved quota stand at the top.", Table, count,
			Query{Name: "nominal", By: row, expr: each + `(` + nominal + `)`},
			Query{Name: "reserved", By: row, expr: each + `(` + reserved + `)`},
			Query{Name: "admitted", By: row, expr: each + `(` + used + `)`},
			Query{Name: "borrowed", By: row, expr: each + `(` + borrowed + `)`}).sortedBy("reserved", false),
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
	quota := func(name, metric string) Query {
		return Query{Name: name, By: by, expr: sum + ` (` + metric + memory + among + `)`}
	}
	return newPanel(title, "", Lines, bytes,
		quota("nominal", `kueue_cluster_queue_nominal_quota`).dashed(),
		quota("reserved", `kueue_cluster_queue_resource_reservation`)).when(coversMemory(p))
}

// coversMemory reports whether any queue has a quota of memory.
func coversMemory(p *ir.Platform) bool {
	covers := func(q ir.Queue) bool { return slices.Contains(q.Resources(), ir.Memory) }
	return slices.ContainsFunc(p.Teams, func(t ir.Team) bool { return slices.ContainsFunc(t.Queues, covers) }) ||
		slices.ContainsFunc(p.SharedQueues, func(q ir.SharedQueue) bool { return covers(q.Queue) })
}

func queueSection(p *ir.Platform) Section {
	return Section{Name: "queues", Title: "Queues", Panels: []Panel{
		newPanel("Active workloads by ClusterQueue", "", Stack, count,
			grouped("sum", `kueue_admitted_active_workloads{@kueue}`, "cluster_queue").largest()),
		newPanel("Pending workloads by ClusterQueue", "", Stack, count,
			grouped("sum", `kueue_pending_workloads{@kueue}`, "cluster_queue").largest()),
		newPanel("Pending workloads by status", inadmissibleNote, Stack, count,
			grouped("sum", `kueue_pending_workloads{@kueue}`, "status")),
		newPanel("Why workloads wait", "", Stack, count,
			grouped("sum", `kueue_unadmitted_workloads{@kueue}`, "reason", "underlying_cause")),
		newPanel("Waiting time until admission",
			"Of the workloads of all queues: half of them wait no longer than the median. A wait longer than "+
				"40960 s is shown as 40960 s.", Lines, waiting,
			quantileQueries(`kueue_admission_wait_time_seconds_bucket{@kueue}[@window]`)...).warns(waitsTooLong),
		newPanel("ClusterQueues with the longest waiting times (p95)",
			"Of the workloads of a queue, 95% wait no longer.", Lines, waiting,
			quantile("0.95", `kueue_admission_wait_time_seconds_bucket{@kueue}[@window]`, "cluster_queue").
				largest()).warns(waitsTooLong),
		newPanel("Waiting time for admission checks (p95)",
			"A wait longer than 10240 s is shown as 10240 s.", Lines, waiting,
			quantile("0.95", `kueue_admission_checks_wait_time_seconds_bucket{@kueue}[@window]`, "cluster_queue").
				largest()).when(len(p.AdmissionChecks) > 0),
		newPanel("Admitted and finished workloads per hour", "", Lines, count,
			single(`sum(`+eventsWithin(`kueue_admitted_workloads_total{@kueue}`, "1h")+`)`).named("admitted"),
			single(`sum(`+eventsWithin(`kueue_finished_workloads_total{@kueue}`, "1h")+`)`).named("finished")),
		newPanel("Admitted workloads per hour by ClusterQueue", "", Stack, count,
			grouped("sum", eventsWithin(`kueue_admitted_workloads_total{@kueue}`, "1h"), "cluster_queue").largest()),
	}}
}

func churnSection(*ir.Platform) Section {
	return Section{Name: "evictions", Title: "Evictions and interruptions", Folded: true, Panels: []Panel{
		newPanel("Preemptions per hour", "By the reason of the ClusterQueue that preempts.", Stack, count,
			grouped("sum", eventsWithin(`kueue_preempted_workloads_total{@kueue}`, "1h"), "reason")),
		newPanel("Preemptions per hour by preempting ClusterQueue",
			"By the ClusterQueue that preempts, not by the one that loses workloads.", Stack, count,
			grouped("sum", eventsWithin(`kueue_preempted_workloads_total{@kueue}`, "1h"), "preempting_cluster_queue").
				largest()),
		newPanel("Evictions per hour", "", Stack, count,
			grouped("sum", eventsWithin(`kueue_evicted_workloads_total{@kueue}`, "1h"), "reason", "underlying_cause")),
		newPanel("Time from eviction to release of quota (p95)", "", Lines, seconds,
			quantile("0.95", `kueue_workload_eviction_latency_seconds_bucket{@kueue}[@window]`, "reason")),
		interruptionPanel(),
	}}
}

func interruptionPanel() Panel {
	return newPanel("Node interruptions per hour",
		"A PreemptionEvent means that Compute Engine took back a Spot node.", Stack, count,
		// The metric is a gauge, so a rate would be meaningless.
		grouped("sum",
			`sum_over_time(kubernetes_io:node_interruption_count{monitored_resource="k8s_node",@system}[1h])`,
			"interruption_type", "interruption_reason"))
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
	flavors := `{@kueue,@resource,flavor=~"` + strings.Join(reserved, "|") + `"}`
	metrics := p.AnyCapacity(ir.Capacity.HasReservationMetrics)
	chipped := p.AnyCapacity(ir.Capacity.HasAccelerators)
	return Section{Name: "capacity", Title: "Capacity", Folded: true, Panels: []Panel{
		newPanel("Reservations: used and reserved",
			"All reservations of the project. The data can be 30 minutes old.", Lines, count,
			Query{Name: "used", By: reservation, expr: reservationUsed},
			Query{Name: "reserved", Dashed: true, By: reservation, expr: reservationSize}).when(metrics),
		newPanel("Idle share of reservations", "The project pays for this share and does not use it.", Lines, share,
			Query{By: reservation, expr: `1 - ` + reservationUsed + ` / ` + reservationSize}).
			warns(anyIsWarning).when(metrics),
		newPanel("Unused quota of flavors with reservations",
			"Nominal quota minus reserved quota, over all ClusterQueues.", Lines, count,
			Query{By: []string{"flavor", "resource"},
				expr: `sum by (flavor, resource) (kueue_cluster_queue_nominal_quota` + flavors + `)` +
					` - sum by (flavor, resource) (kueue_cluster_queue_resource_reservation` + flavors + `)`}).
			when(reserved != nil),
		newPanel("Accelerators by model", "All chips of existing nodes, including idle chips.", Stack, count,
			grouped("count", chips, "model")).when(chipped),
		newPanel("Accelerators by provisioning model",
			"The label gke-provisioning says whether a node is standard, Spot, reserved or flex-start.", Stack, count,
			Query{By: []string{"model", "metadata_user_cloud.google.com/gke-provisioning"}, expr: `count by (model, ` +
				provision + `) (` + chips + `)`}).when(chipped),
		newPanel("Accelerators requested and busy",
			"Busy is the sum of the duty cycles: two chips at 50% count as one busy chip.", Lines, amount,
			single(`sum(kubernetes_io:container_accelerator_request{`+
				`monitored_resource="k8s_container",@system})`).named("requested").dashed(),
			single(`sum(`+chips+`) / 100`).named("busy")).when(chipped),
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
	return Section{Name: "accelerators", Title: "Accelerators", Folded: true, Panels: []Panel{
		newPanel("Duty cycle by model", "The average of all chips of a model, including idle chips.", Lines, percent,
			grouped("avg", duty, "model")).when(chipped),
		newPanel("Duty cycle of all chips", "", Heatmap, percent,
			grouped("avg", duty, chip...)).when(chipped),
		newPanel("Memory in use by model", "", Lines, percent,
			Query{By: model, expr: `100 * sum by (model) (` + used + `) / sum by (model) (` + total + `)`}).
			when(chipped),
		newPanel("Memory in use on all chips", "", Heatmap, percent,
			Query{By: chip, expr: `100 * sum ` + each + `(` + used + `) / sum ` + each + `(` + total + `)`}).
			when(chipped),
		newPanel("Memory of all chips", "", Lines, bytes,
			single(`sum(`+used+`)`).named("used"),
			single(`sum(`+total+`)`).named("total").dashed()).when(chipped),
		newPanel("The 20 chips with the lowest duty cycle of 24 hours",
			"Both columns are averages of the last 24 hours.", Table, percent,
			Query{Name: "duty cycle", By: chip, expr: idle},
			Query{Name: "memory in use", By: chip, expr: memoryOfDay + ` and ` + idle}).
			sortedBy("duty cycle", true).when(chipped),
		newPanel("TensorCore utilisation", "", Lines, percent,
			grouped("avg", `kubernetes_io:node_accelerator_tensorcore_utilization`+node, "model", "tpu_topology")).
			when(p.AnyCapacity(ir.Capacity.HasTPUs)),
		newPanel("Tensor pipe and SM activity",
			"If SM activity is high and the tensor pipe is idle, jobs do not use the tensor cores.", Lines, share,
			grouped("avg", `DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{@scraped}`, "modelName").named("tensor"),
			grouped("avg", `DCGM_FI_PROF_SM_ACTIVE{@scraped}`, "modelName").named("SM")).
			when(p.AnyCapacity(ir.Capacity.HasGPUs)),
		newPanel("Busy GPUs below 1 GHz",
			"Heat or power throttles these GPUs. Only A100, H100 and H200 count, because healthy GPUs of other "+
				"models can run below 1 GHz.", Lines, count,
			single(`count(`+throttledGPUs+`) or vector(0)`).named("GPUs")).
			when(p.AnyCapacity(ir.Capacity.HasSteadyGPUs)),
	}}
}

func controllerSection(*ir.Platform) Section {
	return Section{Name: "controller", Title: "Controller", Folded: true, Panels: []Panel{
		newPanel("Admission attempts per second", "", Lines, perSecond,
			grouped("sum", `rate(kueue_admission_attempts_total{@kueue}[@window])`, "result")),
		newPanel("Duration of an admission attempt (p99)", "", Lines, seconds,
			quantile("0.99", `kueue_admission_attempt_duration_seconds_bucket{@kueue}[@window]`).named("p99")),
		newPanel("Reconcile errors per second", "", Lines, perSecond,
			grouped("sum", `rate(controller_runtime_reconcile_errors_total`+`{@job,@scraped}[@window])`,
				"controller")),
	}}
}

func myQuotaSection(p *ir.Platform) Section {
	const (
		nominal  = `kueue_cluster_queue_nominal_quota{@kueue,@resource}`
		reserved = `kueue_cluster_queue_resource_reservation{@kueue,@resource}`
	)
	mine, note := ` and on (cluster_queue) `+teamQueues(p, "cluster_queue"), selectNote(p)
	memory := memoryPanel(p, "Memory quota of my queues", `sum by (cluster_queue)`, mine)
	memory.Note = note
	if len(p.SharedQueues) > 0 {
		note = strings.TrimSpace(note + " A shared queue shows the quota of all its teams.")
	}
	by := []string{"cluster_queue", "flavor", "resource"}
	sum := func(expr string) string { return `sum by (cluster_queue, flavor, resource) (` + expr + mine + `)` }
	return Section{Title: "My quota", Panels: []Panel{
		newPanel("Used quota by LocalQueue", "", Stack, count,
			grouped("sum", `kueue_local_queue_resource_usage{@kueue,@resource,@team}`, "name", "flavor", "resource")),
		memory,
		newPanel("Nominal, reserved and borrowed", note, Table, count,
			Query{Name: "nominal", By: by, expr: sum(nominal)},
			Query{Name: "reserved", By: by, expr: sum(reserved)},
			Query{Name: "borrowed", By: by, expr: sum(`clamp_min(` + reserved + ` - ` + nominal + `, 0)`)}).
			sortedBy("reserved", false),
	}}
}

func myQueueSection(*ir.Platform) Section {
	return Section{Title: "My queue", Panels: []Panel{
		newPanel("Pending workloads", inadmissibleNote, Stack, count,
			grouped("sum", `kueue_local_queue_pending_workloads{@kueue,@team}`, "name", "status")),
		newPanel("Why my workloads wait", "", Stack, count,
			grouped("sum", `kueue_local_queue_unadmitted_workloads{@kueue,@team}`, "reason", "underlying_cause")),
		newPanel("Waiting time until admission",
			"Half of the workloads wait no longer than the median. A wait longer than 10240 s is shown as "+
				"10240 s.", Lines, waiting,
			quantileQueries(`kueue_local_queue_admission_wait_time_seconds_bucket{@kueue,@team}[@window]`, "name")...).
			warns(waitsTooLong),
	}}
}

func myJobsSection(p *ir.Platform) Section {
	const (
		container = `{monitored_resource="k8s_container",namespace_name="@namespace",@system}`
		memory    = `kubernetes_io:container_accelerator_memory`
	)
	chipped := p.AnyCapacity(ir.Capacity.HasAccelerators)
	panels := []Panel{
		newPanel("Running workloads", "", Lines, count,
			grouped("sum", `kueue_local_queue_admitted_active_workloads{@kueue,@team}`, "name")),
		newPanel("Evictions of my workloads per hour", "", Stack, count,
			grouped("sum", eventsWithin(`kueue_local_queue_evicted_workloads_total{@kueue,@team}`, "1h"), "reason",
				"underlying_cause")),
		newPanel("Preemptions by my queues per hour", selectNote(p), Stack, count,
			grouped("sum", `(`+eventsWithin(`kueue_preempted_workloads_total{@kueue}`, "1h")+`)`+
				` and on (preempting_cluster_queue) `+teamQueues(p, "preempting_cluster_queue"),
				"preempting_cluster_queue", "reason")),
	}
	for _, c := range kinds.Controllers() {
		panels = append(panels, failuresPanel(c))
	}
	panels = append(panels,
		newPanel("Accelerator duty cycle by pod", "", Lines, percent,
			grouped("avg", `kubernetes_io:container_accelerator_duty_cycle`+container, "pod_name").largest()).
			when(chipped),
		newPanel("Accelerator memory in use by pod", "", Lines, percent,
			Query{By: []string{"pod_name"}, expr: `100 * sum by (pod_name) (` + memory + `_used` + container +
				`) / sum by (pod_name) (` + memory + `_total` + container + `)`}.largest()).when(chipped),
		newPanel("Accelerator hours within 30 days",
			"What the pods of the team requested. Cloud Billing divides costs by the same requests.", Number, amount,
			single(hoursOf(`sum(`+acceleratorRequest+container+`)`, month))).when(chipped))
	for _, c := range kinds.Controllers() {
		if c.Component != "" && chipped {
			panels = append(panels, goodputPanel(c))
		}
	}
	return Section{Title: "My jobs", Panels: panels}
}

// failuresPanel returns the panel on the jobs of a kind that started again or failed.
func failuresPanel(c kinds.Controller) Panel {
	return newPanel(c.Kind+" restarts and failures",
		`The series "failures" counts the `+c.Kind+"s that failed within the last hour.", Lines, count,
		grouped("max", `kube_`+c.Field+`_restarts{@scraped,namespace="@namespace"}`, c.Field+"_name").named("restarts"),
		// A job fails only once, and increase() alone misses the first event.
		single(`count(`+bornOrRisen(c.Field+`_failed_total{@scraped,@team}`)+`) or vector(0)`).named("failures"))
}

// goodputPanel returns the panel on the goodput of the jobs of a kind, which GKE measures.
func goodputPanel(c kinds.Controller) Panel {
	query := func(name, metric string) Query {
		return grouped("avg", `kubernetes_io:`+c.Field+metric+`{monitored_resource="k8s_entity",entity_type="`+c.Field+
			`",entity_namespace="@namespace",@system}`, "entity_name").named(name)
	}
	return newPanel(c.Kind+" goodput",
		"Exists only for "+c.Kind+"s with exactly one replicated job that uses accelerators.", Lines, share,
		query("scheduling", "_scheduling_goodput"), query("runtime", "_proxy_runtime_goodput"))
}
