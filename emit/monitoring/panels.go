package monitoring

import (
	"cmp"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
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

// adminSections returns the administrator's sections, with only the panels for which this
// platform has data.
func adminSections(p *ir.Platform) []Section {
	var reserved []string
	for _, c := range p.Capacities {
		if c.OnlyReserved() {
			reserved = append(reserved, c.Name)
		}
	}
	s := schedulerOf(p)
	return presentSections(p, append(s.admin(p), capacitySection(p, reserved), acceleratorSection(p), s.controller()))
}

// kueueAdminSections returns the administrator's sections on the queues.
func kueueAdminSections(p *ir.Platform) []Section {
	return []Section{
		overviewSection(), quotaSection(len(p.Cohorts) > 0), queueSection(len(p.AdmissionChecks) > 0), churnSection(),
	}
}

// kueueTeamSections returns a team's sections on its queues.
func kueueTeamSections(p *ir.Platform) []Section {
	return []Section{myQuotaSection(p), myQueueSection()}
}

// teamSections returns the sections of a team's board.
func teamSections(p *ir.Platform) []Section {
	return presentSections(p, append(schedulerOf(p).team(p), myJobsSection(p)))
}

// presentSections returns the sections without skipped panels, without Kueue's panels if the
// platform has another scheduler, and without sections that are then empty.
func presentSections(p *ir.Platform, all []Section) []Section {
	var out []Section
	for _, s := range all {
		kept := Section{Title: s.Title}
		for _, panel := range s.Panels {
			if !panel.skip && (p.Scheduler != ir.KAI || !panel.onKueue()) {
				kept.Panels = append(kept.Panels, panel)
			}
		}
		if len(kept.Panels) > 0 {
			out = append(out, kept)
		}
	}
	return out
}

func overviewSection() Section {
	return Section{"Overview", []Panel{
		{
			Title: "Quota", Note: "Nominal quota of all ClusterQueues.", Shape: Number, Unit: count,
			Queries: []Query{{expr: `sum(kueue_cluster_queue_nominal_quota{@kueue,@resource})`}},
		},
		{
			Title: "Reserved", Note: "Quota held by workloads.", Shape: Number, Unit: count,
			Queries: []Query{{expr: `sum(kueue_cluster_queue_resource_reservation{@kueue,@resource})`}},
		},
		{
			Title: "Quota in use", Shape: Gauge, Unit: share,
			Queries: []Query{{expr: `sum(kueue_cluster_queue_resource_reservation{@kueue,@resource})` +
				` / sum(kueue_cluster_queue_nominal_quota{@kueue,@resource})`}},
		},
		{
			Title: "Waited for", Note: "Requested by pending workloads.", Shape: Number, Unit: count,
			Queries: []Query{{expr: `sum(kueue_cluster_queue_resource_pending{@kueue,@resource}) or vector(0)`}},
		},
		{
			Title: "Pending workloads", Shape: Number, Unit: count,
			Queries: []Query{{expr: `sum(kueue_pending_workloads{@kueue}) or vector(0)`}},
		},
		{
			Title: "Inactive ClusterQueues", Shape: Number, Unit: count,
			Queries: []Query{{expr: `count(kueue_cluster_queue_status{@kueue,status!="active"} == 1) or vector(0)`}},
		},
	}}
}

func quotaSection(cohorts bool) Section {
	const (
		nominal  = `kueue_cluster_queue_nominal_quota{@kueue,@resource}`
		reserved = `kueue_cluster_queue_resource_reservation{@kueue,@resource}`
		used     = `kueue_cluster_queue_resource_usage{@kueue,@resource}`
		borrowed = `clamp_min(` + reserved + ` - ` + nominal + `, 0)`
		unused   = `clamp_min(` + nominal + ` - ` + reserved + `, 0)`
		each     = `sum by (cohort, cluster_queue, flavor, resource) `
	)
	row := []string{"cohort", "cluster_queue", "flavor", "resource"}
	return Section{"Quota", []Panel{
		{
			Title: "Reserved by ClusterQueue", Shape: Stack, Unit: count,
			Queries: []Query{{By: []string{"cluster_queue"}, expr: `sum by (cluster_queue) (` + reserved + `)`}},
		},
		{
			Title: "Unused nominal quota by flavor", Note: "What could still be lent.", Shape: Stack, Unit: count,
			Queries: []Query{{By: []string{"flavor"}, expr: `sum by (flavor) (` + unused + `)`}},
		},
		{
			Title: "Borrowed by ClusterQueue", Note: "Reserved above nominal quota, flavor by flavor.", Shape: Stack,
			Unit:    count,
			Queries: []Query{{By: []string{"cluster_queue"}, expr: `sum by (cluster_queue) (` + borrowed + `)`}},
			skip:    !cohorts,
		},
		{
			Title: "Cohort quota in use, by flavor",
			Note:  "A cohort counts all cohorts below it: do not add a parent to its children.",
			Shape: Lines, Unit: share,
			Queries: []Query{{
				By: []string{"cohort", "flavor"},
				expr: `sum by (cohort, flavor) (kueue_cohort_subtree_resource_reservations{@kueue,@resource})` +
					` / (sum by (cohort, flavor) (kueue_cohort_subtree_quota{@kueue,@resource}) > 0)`,
			}},
			skip: !cohorts,
		},
		{
			Title: "Quota by ClusterQueue and flavor", Shape: Table, Unit: count,
			Queries: []Query{
				{Name: "nominal", By: row, expr: each + `(` + nominal + `)`},
				{Name: "reserved", By: row, expr: each + `(` + reserved + `)`},
				{Name: "admitted", By: row, expr: each + `(` + used + `)`},
				{Name: "borrowed", By: row, expr: each + `(` + borrowed + `)`},
			},
		},
	}}
}

func queueSection(checks bool) Section {
	byQueue := []string{"cluster_queue"}
	return Section{"Queues", []Panel{
		{
			Title: "Pending workloads by ClusterQueue",
			Note:  "Inadmissible ones were tried and wait for something to change.",
			Shape: Stack, Unit: count,
			Queries: []Query{{
				By:   []string{"cluster_queue", "status"},
				expr: `sum by (cluster_queue, status) (kueue_pending_workloads{@kueue})`,
			}},
		},
		{
			Title: "Why workloads wait", Shape: Stack, Unit: count,
			Queries: []Query{{
				By:   []string{"reason", "underlying_cause"},
				expr: `sum by (reason, underlying_cause) (kueue_unadmitted_workloads{@kueue})`,
			}},
		},
		{
			Title: "Wait until admission", Note: "Longer waits than 40960 s read as 40960 s.", Shape: Lines,
			Unit:    seconds,
			Queries: quantileQueries(byQueue, `kueue_admission_wait_time_seconds_bucket{@kueue}[@window]`),
		},
		{
			Title: "Wait for admission checks (p95)", Note: "Longer waits than 10240 s read as 10240 s.", Shape: Lines,
			Unit: seconds,
			Queries: []Query{
				{
					By:   byQueue,
					expr: quantileOf("0.95", byQueue, `kueue_admission_checks_wait_time_seconds_bucket{@kueue}[@window]`),
				},
			},
			skip: !checks,
		},
		{
			Title: "Admitted and finished workloads per hour", Shape: Lines, Unit: count,
			Queries: []Query{
				{
					Name: "admitted", By: byQueue,
					expr: `sum by (cluster_queue) (` + eventsWithin(`kueue_admitted_workloads_total{@kueue}`, "1h") + `)`,
				},
				{
					Name: "finished", By: byQueue,
					expr: `sum by (cluster_queue) (` + eventsWithin(`kueue_finished_workloads_total{@kueue}`, "1h") + `)`,
				},
			},
		},
	}}
}

func churnSection() Section {
	return Section{"Churn", []Panel{
		{
			Title: "Preemptions per hour", Note: "By the queue that preempts.", Shape: Stack, Unit: count,
			Queries: []Query{{
				By: []string{"preempting_cluster_queue", "reason"},
				expr: `sum by (preempting_cluster_queue, reason) (` +
					eventsWithin(`kueue_preempted_workloads_total{@kueue}`, "1h") + `)`,
			}},
		},
		{
			Title: "Evictions per hour", Shape: Stack, Unit: count,
			Queries: []Query{{
				By: []string{"reason", "underlying_cause"},
				expr: `sum by (reason, underlying_cause) (` + eventsWithin(`kueue_evicted_workloads_total{@kueue}`, "1h") +
					`)`,
			}},
		},
		{
			Title: "From eviction to released quota (p95)", Shape: Lines, Unit: seconds,
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
		Title: "Node interruptions per hour", Note: "A PreemptionEvent is a Spot node taken back.", Shape: Stack,
		Unit: count,
		Queries: []Query{{
			By: []string{"interruption_type", "interruption_reason"},
			// The metric is a gauge, so that rates would be meaningless.
			expr: `sum by (interruption_type, interruption_reason) (sum_over_time(` +
				`kubernetes_io:node_interruption_count{monitored_resource="k8s_node",@system}[1h]))`,
		}},
	}
}

func capacitySection(p *ir.Platform, reserved []string) Section {
	const (
		chips     = `kubernetes_io:node_accelerator_duty_cycle{monitored_resource="k8s_node",@system}`
		provision = `"metadata_user_cloud.google.com/gke-provisioning"`
	)
	reservation := []string{"reservation_id", "reserved_resource_type"}
	flavors := `,flavor=~"` + strings.Join(reserved, "|") + `"}`
	metrics := p.AnyCapacity(ir.Capacity.HasReservationMetrics)
	chipped := p.AnyCapacity(ir.Capacity.HasAccelerators)
	return Section{"Capacity", []Panel{
		{
			Title: "Reservations: used and reserved", Note: "All reservations of the project. Up to 30 minutes late.",
			Shape: Lines, Unit: count,
			Queries: []Query{
				{Name: "used", By: reservation, expr: reservationUsed}, {Name: "reserved", By: reservation, expr: reservationSize},
			},
			skip: !metrics,
		},
		{
			Title: "Idle share of reservations", Note: "Paid for and not used.", Shape: Lines, Unit: share,
			Queries: []Query{{By: reservation, expr: `1 - ` + reservationUsed + ` / ` + reservationSize}},
			skip:    !metrics,
		},
		{
			Title: "Reserved flavors: quota nobody holds", Note: "Nominal less reserved quota over all queues.",
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
			Title: "Accelerators by model", Note: "Chips on nodes that exist, idle ones included.", Shape: Stack,
			Unit:    count,
			Queries: []Query{{By: []string{"model"}, expr: `count by (model) (` + chips + `)`}},
			skip:    !chipped,
		},
		{
			Title: "Accelerators by provisioning",
			Note:  "Standard, Spot, reserved or flex-start nodes, by GKE's own label.", Shape: Stack, Unit: count,
			Queries: []Query{{
				By:   []string{"model", "metadata_user_cloud.google.com/gke-provisioning"},
				expr: `count by (model, ` + provision + `) (` + chips + `)`,
			}},
			skip: !chipped,
		},
		{
			Title: "Accelerators requested and busy",
			Note:  "Busy adds up the duty cycles: two chips at 50% count as one.", Shape: Lines, Unit: count,
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
			Title: "Duty cycle over all chips", Shape: Heatmap, Unit: percent,
			Queries: []Query{
				{
					By:   chip,
					expr: `avg by (node_name, accelerator_id) (kubernetes_io:node_accelerator_duty_cycle` + node + `)`,
				},
			},
			skip: !chipped,
		},
		{
			Title: "Memory in use over all chips", Shape: Heatmap, Unit: percent,
			Queries: []Query{{By: chip, expr: memory}},
			skip:    !chipped,
		},
		{
			Title: "TensorCore utilisation", Shape: Lines, Unit: percent,
			Queries: []Query{{
				By: []string{"model", "tpu_topology"},
				expr: `avg by (model, tpu_topology) (kubernetes_io:node_accelerator_tensorcore_utilization` + node +
					`)`,
			}},
			skip: !p.AnyCapacity(ir.Capacity.HasTPUs),
		},
		{
			Title: "Tensor pipe and SM activity",
			Note:  "High SM activity with an idle tensor pipe is work that does not use the tensor cores.",
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
			Note:  "Throttled by heat or power. A100, H100 and H200 only: others run that slow in health.",
			Shape: Lines, Unit: count,
			Queries: []Query{{
				Name: "GPUs",
				expr: `count(` + throttledGPUs + `) or vector(0)`,
			}},
			skip: !p.AnyCapacity(ir.Capacity.HasSteadyGPUs),
		},
	}}
}

func controllerSection() Section {
	return Section{"Controller", []Panel{
		{
			Title: "Admission attempts per second", Shape: Lines, Unit: perSecond,
			Queries: []Query{
				{
					By:   []string{"result"},
					expr: `sum by (result) (rate(kueue_admission_attempts_total{@kueue}[@window]))`,
				},
			},
		},
		{
			Title: "Admission attempt (p99)", Shape: Lines, Unit: seconds,
			Queries: []Query{
				{
					Name: "p99",
					expr: quantileOf("0.99", nil, `kueue_admission_attempt_duration_seconds_bucket{@kueue}[@window]`),
				},
			},
		},
		{
			Title: "Reconcile errors per second", Shape: Lines, Unit: perSecond,
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
	mine, note := ` and on (cluster_queue) `+myQueues(p, "cluster_queue"), ""
	if len(p.SharedQueues) > 0 {
		note = "Of a shared queue that of all its teams."
	}
	by := []string{"cluster_queue", "flavor", "resource"}
	sum := func(expr string) string { return `sum by (cluster_queue, flavor, resource) (` + expr + mine + `)` }
	return Section{"My quota", []Panel{
		{
			Title: "Nominal, reserved and borrowed", Note: note, Shape: Lines, Unit: count,
			Queries: []Query{
				{Name: "nominal", By: by, expr: sum(nominal)},
				{Name: "reserved", By: by, expr: sum(reserved)},
				{Name: "borrowed", By: by, expr: sum(`clamp_min(` + reserved + ` - ` + nominal + `, 0)`)},
			},
		},
		{
			Title: "Used by LocalQueue", Shape: Stack, Unit: count,
			Queries: []Query{{
				By:   []string{"name", "flavor", "resource"},
				expr: `sum by (name, flavor, resource) (kueue_local_queue_resource_usage{@kueue,@resource,@team})`,
			}},
		},
	}}
}

func myQueueSection() Section {
	return Section{"My queue", []Panel{
		{
			Title: "Pending workloads", Note: "Inadmissible ones were tried and wait for something to change.",
			Shape: Stack, Unit: count,
			Queries: []Query{{
				By:   []string{"name", "status"},
				expr: `sum by (name, status) (kueue_local_queue_pending_workloads{@kueue,@team})`,
			}},
		},
		{
			Title: "Why my workloads wait", Shape: Stack, Unit: count,
			Queries: []Query{{
				By:   []string{"name", "reason", "underlying_cause"},
				expr: `sum by (name, reason, underlying_cause) (kueue_local_queue_unadmitted_workloads{@kueue,@team})`,
			}},
		},
		{
			Title: "Wait until admission", Note: "Longer waits than 10240 s read as 10240 s.", Shape: Lines,
			Unit: seconds,
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
			Title: "Running workloads", Shape: Lines, Unit: count,
			Queries: []Query{
				{
					By:   []string{"name"},
					expr: `sum by (name) (kueue_local_queue_admitted_active_workloads{@kueue,@team})`,
				},
			},
		},
		{
			Title: "My evictions per hour", Shape: Stack, Unit: count,
			Queries: []Query{{
				By: []string{"reason", "underlying_cause"},
				expr: `sum by (reason, underlying_cause) (` +
					eventsWithin(`kueue_local_queue_evicted_workloads_total{@kueue,@team}`, "1h") + `)`,
			}},
		},
		{
			Title: "Preemptions by my queues per hour", Shape: Stack, Unit: count,
			Queries: []Query{{
				By: []string{"preempting_cluster_queue", "reason"},
				expr: `sum by (preempting_cluster_queue, reason) ((` +
					eventsWithin(`kueue_preempted_workloads_total{@kueue}`, "1h") + `)` +
					` and on (preempting_cluster_queue) ` + myQueues(p, "preempting_cluster_queue") + `)`,
			}},
		},
		{
			Title: "JobSet restarts and failures",
			Note:  "Failures counts the JobSets that failed within the last hour.",
			Shape: Lines, Unit: count,
			Queries: []Query{
				{
					Name: "restarts", By: []string{"jobset_name"},
					expr: `max by (jobset_name) (kube_jobset_restarts{@scraped,namespace="@namespace"})`,
				},
				// A JobSet fails only once, which increase() alone does not see.
				{
					Name: "failures",
					expr: `count(` + bornOrRisen(failed) + `) or vector(0)`,
				},
			},
		},
		{
			Title: "Duty cycle by pod", Shape: Lines, Unit: percent,
			Queries: []Query{
				{By: pod, expr: `avg by (pod_name) (kubernetes_io:container_accelerator_duty_cycle` + container + `)`},
			},
			skip: !chipped,
		},
		{
			Title: "Accelerator memory in use by pod", Shape: Lines, Unit: percent,
			Queries: []Query{{
				By: pod,
				expr: `100 * sum by (pod_name) (kubernetes_io:container_accelerator_memory_used` + container + `)` +
					` / sum by (pod_name) (kubernetes_io:container_accelerator_memory_total` + container + `)`,
			}},
			skip: !chipped,
		},
		{
			Title: "JobSet goodput", Note: "Only of JobSets with exactly one replicated job that uses accelerators.",
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
