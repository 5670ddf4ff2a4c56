package dashboard

import (
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// The panels of KAI Scheduler's own metrics. Its queue controller reports the
// guarantees and allocations of queues; a cohort's queue includes those of its
// teams. The scheduler reports the queues' fair shares and its own actions. Source:
// KAI Scheduler 0.17, pkg/queuecontroller/metrics and pkg/scheduler/metrics.

var milliseconds = unit{"ms", "ms"}

// A queue's share of the GPUs. @queues is replaced by a matcher of queues.
const (
	kaiAllocated  = `kai_queue_allocated_gpus{@scraped@queues}`
	kaiGuaranteed = `kai_queue_deserved_gpus{@scraped@queues}`
	kaiFairShare  = `kai_queue_fair_share_gpu{@scraped@queues}`
)

var byQueueName = []string{"queue_name"}

// kaiAdmin returns the administrator's sections on the scheduler.
func kaiAdmin(p *ir.Platform) []section {
	var cohorts []string
	for _, c := range p.Cohorts {
		cohorts = append(cohorts, c.Name)
	}
	teams, departments := "", ""
	if cohorts != nil {
		teams = `,queue_name!~"` + strings.Join(cohorts, "|") + `"`
		departments = `,queue_name=~"` + strings.Join(cohorts, "|") + `"`
	}
	return []section{
		of(teams, kaiOverview()),
		of(departments, kaiCohorts(cohorts == nil)),
		of(teams, kaiTeams()),
		kaiChurn(),
	}
}

// of restricts the panels of a section to the queues that the matcher selects.
func of(queues string, s section) section {
	for i := range s.panels {
		for j := range s.panels[i].queries {
			s.panels[i].queries[j].expr = strings.ReplaceAll(s.panels[i].queries[j].expr, "@queues", queues)
		}
	}
	return s
}

func kaiOverview() section {
	return section{"Overview", []panel{
		{
			title: "GPUs guaranteed", note: "To all teams together.", shape: number, unit: count,
			queries: []query{{expr: `sum(` + kaiGuaranteed + `)`}},
		},
		{title: "GPUs allocated", shape: number, unit: count, queries: []query{{expr: `sum(` + kaiAllocated + `)`}}},
		{
			title: "Teams above their guarantee",
			note:  "What they have beyond it is taken back when its owners need it.", shape: number, unit: count,
			queries: []query{
				{
					expr: `count(max by (queue_name) (` + kaiAllocated + `) > max by (queue_name) (` + kaiGuaranteed +
						`)) or vector(0)`,
				},
			},
		},
	}}
}

// shares returns queries for the GPUs that each queue is guaranteed and has, and for
// its current fair share of all GPUs.
func shares() []query {
	return []query{
		{name: "allocated", by: byQueueName, expr: `max by (queue_name) (` + kaiAllocated + `)`},
		{name: "guaranteed", by: byQueueName, expr: `max by (queue_name) (` + kaiGuaranteed + `)`},
		{name: "fair share", by: byQueueName, expr: `max by (queue_name) (` + kaiFairShare + `)`},
	}
}

func kaiCohorts(none bool) section {
	return section{"Cohorts", []panel{{
		title: "GPUs by cohort", note: "The fair share is what a cohort could have now, given what all others ask for.",
		shape: lines, unit: count,
		queries: shares(), skip: none,
	}}}
}

func kaiTeams() section {
	return section{"Teams", []panel{
		{
			title: "GPUs allocated by team", shape: stack, unit: count,
			queries: []query{{by: byQueueName, expr: `max by (queue_name) (` + kaiAllocated + `)`}},
		},
		{
			title: "GPUs above the guarantee, by team", shape: stack, unit: count,
			queries: []query{{
				by: byQueueName,
				expr: `clamp_min(max by (queue_name) (` + kaiAllocated + `) - max by (queue_name) (` + kaiGuaranteed +
					`), 0)`,
			}},
		},
		{title: "GPUs by team", shape: table, unit: count, queries: shares()},
	}}
}

func kaiChurn() section {
	byAction := []string{"action"}
	return section{"Churn", []panel{
		{
			title: "Evicted pods per hour",
			note: "Reclaim gives a team back what it is guaranteed, preempt makes room for a higher priority, " +
				"consolidation moves jobs together.",
			shape: stack, unit: count,
			queries: []query{
				{
					by:   byAction,
					expr: `sum by (action) (` + ir.Events(`kai_pod_group_evicted_pods_total{@scraped}`, "1h") + `)`,
				},
			},
		},
		{
			title: "Attempts to preempt per hour", shape: lines, unit: count,
			queries: []query{{name: "attempts", expr: `sum(increase(kai_total_preemption_attempts{@scraped}[1h]))`}},
		},
		interruptions(),
	}}
}

func kaiController() section {
	byAction := []string{"action"}
	return section{"Scheduler", []panel{
		{
			title: "Scheduling cycle", shape: lines, unit: milliseconds,
			queries: []query{{name: "cycle", expr: `max(kai_e2e_scheduling_latency_milliseconds{@scraped})`}},
		},
		{
			title: "Time of each action", shape: lines, unit: milliseconds,
			queries: []query{
				{by: byAction, expr: `max by (action) (kai_action_scheduling_latency_milliseconds{@scraped})`},
			},
		},
		{
			title: "Jobs started per hour", shape: stack, unit: count,
			queries: []query{
				{
					by:   byAction,
					expr: `sum by (action) (` + ir.Events(`kai_podgroups_scheduled_by_action{@scraped}`, "1h") + `)`,
				},
			},
		},
		{
			title: "From a pod to its node", note: "Longer times than 2560 ms read as 2560 ms.", shape: lines,
			unit:    milliseconds,
			queries: quantiles(nil, `kai_task_scheduling_latency_milliseconds_bucket{@scraped}[@window]`),
		},
	}}
}

// kaiTeam returns a team's section on its queue.
func kaiTeam(*ir.Platform) []section {
	return []section{of(",@queue", section{"My queue", []panel{
		{
			title: "My GPUs", note: "The fair share is what your team could have now, given what all others ask for.",
			shape: lines, unit: count,
			queries: shares(),
		},
		{
			title: "My CPUs", shape: lines, unit: count,
			queries: []query{
				{by: byQueueName, expr: `max by (queue_name) (kai_queue_allocated_cpu_cores{@scraped@queues})`},
			},
		},
		{
			title: "My evicted pods per hour", shape: stack, unit: count,
			queries: []query{{
				by: []string{"podgroup", "action"},
				expr: `sum by (podgroup, action) (` +
					ir.Events(`kai_pod_group_evicted_pods_total{@scraped,@team}`, "1h") + `)`,
			}},
		},
	}})}
}
