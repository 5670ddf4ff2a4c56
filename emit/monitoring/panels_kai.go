package monitoring

import (
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// The panels of KAI Scheduler's own metrics. Its queue controller reports the
// guarantees and allocations of queues; the figures of a cohort include its teams.
// The scheduler reports the queues' fair shares and its own actions. Source:
// KAI Scheduler 0.17, pkg/queuecontroller/metrics and pkg/scheduler/metrics.

// The GPUs of queues. ofQueues replaces @queues by a matcher.
const (
	kaiAllocated  = `kai_queue_allocated_gpus{@scraped@queues}`
	kaiGuaranteed = `kai_queue_deserved_gpus{@scraped@queues}`
	kaiFairShare  = `kai_queue_fair_share_gpu{@scraped@queues}`
)

var byQueueName = []string{"queue_name"}

// kaiAdminSections returns the administrator's sections on the scheduler.
func kaiAdminSections(p *ir.Platform) []Section {
	var cohorts []string
	for _, c := range p.Cohorts {
		cohorts = append(cohorts, c.Name)
	}
	teams, departments := "", ""
	if cohorts != nil {
		teams = `,queue_name!~"` + strings.Join(cohorts, "|") + `"`
		departments = `,queue_name=~"` + strings.Join(cohorts, "|") + `"`
	}
	return []Section{
		ofQueues(teams, kaiOverviewSection(p)),
		ofQueues(departments, kaiCohortSection(p)),
		ofQueues(teams, kaiTeamSection(p)),
		kaiChurnSection(p),
	}
}

// ofQueues restricts the panels of a section to the queues that the matcher selects.
func ofQueues(queues string, s Section) Section {
	for i := range s.Panels {
		for j := range s.Panels[i].Queries {
			s.Panels[i].Queries[j].expr = strings.ReplaceAll(s.Panels[i].Queries[j].expr, "@queues", queues)
		}
	}
	return s
}

func kaiOverviewSection(*ir.Platform) Section {
	return Section{Title: "Overview", Panels: []Panel{
		{
			Title: "Guaranteed GPUs",
			Note:  "Sum over all teams.",
			Shape: Number, Unit: count,
			Queries: []Query{{expr: `sum(` + kaiGuaranteed + `)`}},
		},
		{
			Title: "Allocated GPUs",
			Shape: Number, Unit: count,
			Queries: []Query{{expr: `sum(` + kaiAllocated + `)`}},
		},
		{
			Title: "Teams above their guarantee",
			Note:  "KAI Scheduler takes back the GPUs above a guarantee when another team needs its own guarantee.",
			Shape: Number, Unit: count,
			Queries: []Query{
				{
					expr: `count(max by (queue_name) (` + kaiAllocated + `) > max by (queue_name) (` + kaiGuaranteed +
						`)) or vector(0)`,
				},
			},
		},
		notReadyPanel(),
	}}
}

// shareQueries returns queries for the GPUs that each queue is guaranteed and has, and for
// its current fair share of all GPUs.
func shareQueries() []Query {
	return []Query{
		{Name: "allocated", By: byQueueName, expr: `max by (queue_name) (` + kaiAllocated + `)`},
		{Name: "guaranteed", By: byQueueName, Dashed: true, expr: `max by (queue_name) (` + kaiGuaranteed + `)`},
		{Name: "fair share", By: byQueueName, expr: `max by (queue_name) (` + kaiFairShare + `)`},
	}
}

func kaiCohortSection(p *ir.Platform) Section {
	return Section{Title: "Cohorts", Panels: []Panel{{
		Title: "GPUs by cohort",
		Note:  "The fair share is the number of GPUs that a cohort can have now, given the requests of all cohorts.",
		Shape: Lines, Unit: count,
		Queries: shareQueries(), skip: len(p.Cohorts) == 0,
	}}}
}

func kaiTeamSection(*ir.Platform) Section {
	return Section{Title: "Teams", Panels: []Panel{
		{
			Title: "Allocated GPUs by team",
			Shape: Stack, Unit: count,
			Queries: largestOf("queue_name", `max by (queue_name) (`+kaiAllocated+`)`),
		},
		{
			Title: "GPUs above the guarantee, by team",
			Shape: Stack, Unit: count,
			Queries: largestOf("queue_name", `clamp_min(max by (queue_name) (`+kaiAllocated+
				`) - max by (queue_name) (`+kaiGuaranteed+`), 0)`),
		},
		{
			Title: "GPUs by team",
			Shape: Table, Unit: count, SortBy: "allocated",
			Queries: shareQueries(),
		},
	}}
}

func kaiChurnSection(*ir.Platform) Section {
	byAction := []string{"action"}
	return Section{Title: "Evictions and interruptions", Folded: true, Panels: []Panel{
		{
			Title: "Evicted pods per hour",
			Note: "Reclaim returns guaranteed GPUs to their team, preempt makes room for a higher priority, and " +
				"consolidation moves jobs together.",
			Shape: Stack, Unit: count,
			Queries: []Query{
				{
					By:   byAction,
					expr: `sum by (action) (` + eventsWithin(`kai_pod_group_evicted_pods_total{@scraped}`, "1h") + `)`,
				},
			},
		},
		{
			Title: "Preemption attempts per hour",
			Shape: Lines, Unit: count,
			Queries: []Query{{Name: "attempts", expr: `sum(increase(kai_total_preemption_attempts{@scraped}[1h]))`}},
		},
		interruptionPanel(),
	}}
}

func kaiControllerSection(*ir.Platform) Section {
	byAction := []string{"action"}
	return Section{Title: "Scheduler", Folded: true, Panels: []Panel{
		{
			Title: "Duration of a scheduling cycle",
			Shape: Lines, Unit: milliseconds,
			Queries: []Query{{Name: "cycle", expr: `max(kai_e2e_scheduling_latency_milliseconds{@scraped})`}},
		},
		{
			Title: "Duration of each action",
			Shape: Lines, Unit: milliseconds,
			Queries: []Query{
				{By: byAction, expr: `max by (action) (kai_action_scheduling_latency_milliseconds{@scraped})`},
			},
		},
		{
			Title: "Jobs started per hour",
			Shape: Stack, Unit: count,
			Queries: []Query{
				{
					By:   byAction,
					expr: `sum by (action) (` + eventsWithin(`kai_podgroups_scheduled_by_action{@scraped}`, "1h") + `)`,
				},
			},
		},
		{
			Title: "Time to schedule a pod",
			Note:  "A time longer than 2560 ms is shown as 2560 ms.",
			Shape: Lines, Unit: milliseconds,
			Queries: quantileQueries(nil, `kai_task_scheduling_latency_milliseconds_bucket{@scraped}[@window]`),
		},
	}}
}

// kaiMySections returns a team's section on its queue.
func kaiMySections(*ir.Platform) []Section {
	return []Section{ofQueues(",@queue", Section{Title: "My queue", Panels: []Panel{
		{
			Title: "My GPUs",
			Note:  "The fair share is the number of GPUs that your team can have now, given the requests of all teams.",
			Shape: Lines, Unit: count,
			Queries: shareQueries(),
		},
		{
			Title: "My CPUs",
			Shape: Lines, Unit: count,
			Queries: []Query{
				{By: byQueueName, expr: `max by (queue_name) (kai_queue_allocated_cpu_cores{@scraped@queues})`},
			},
		},
		{
			Title: "My evicted pods per hour",
			Shape: Stack, Unit: count,
			Queries: []Query{{
				By: []string{"podgroup", "action"},
				expr: `sum by (podgroup, action) (` +
					eventsWithin(`kai_pod_group_evicted_pods_total{@scraped,@team}`, "1h") + `)`,
			}},
		},
	}})}
}
