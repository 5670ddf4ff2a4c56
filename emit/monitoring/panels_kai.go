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
	return Section{Name: "overview", Title: "Overview", Panels: []Panel{
		newPanel("Guaranteed GPUs", "Sum over all teams.", Number, count, single(`sum(`+kaiGuaranteed+`)`)),
		newPanel("Allocated GPUs", "", Number, count, single(`sum(`+kaiAllocated+`)`)),
		newPanel("Teams above their guarantee",
			"KAI Scheduler takes back the GPUs above a guarantee when another team needs its own guarantee.",
			Number, count,
			single(`count(max by (queue_name) (`+kaiAllocated+`) > max by (queue_name) (`+kaiGuaranteed+
				`)) or vector(0)`)),
		notReadyPanel(),
	}}
}

// shareQueries returns queries for the GPUs that each queue is guaranteed and has, and for
// its current fair share of all GPUs.
func shareQueries() []Query {
	return []Query{
		grouped("max", kaiAllocated, "queue_name").named("allocated"),
		grouped("max", kaiGuaranteed, "queue_name").named("guaranteed").dashed(),
		grouped("max", kaiFairShare, "queue_name").named("fair share"),
	}
}

func kaiCohortSection(p *ir.Platform) Section {
	return Section{Name: "cohorts", Title: "Cohorts", Panels: []Panel{
		newPanel("GPUs by cohort",
			"The fair share is the number of GPUs that a cohort can have now, given the requests of all cohorts.",
			Lines, count, shareQueries()...).when(len(p.Cohorts) > 0),
	}}
}

func kaiTeamSection(*ir.Platform) Section {
	return Section{Name: "teams", Title: "Teams", Panels: []Panel{
		newPanel("Allocated GPUs by team", "", Stack, count,
			grouped("max", kaiAllocated, "queue_name").largest()),
		newPanel("GPUs above the guarantee, by team", "", Stack, count,
			Query{By: []string{"queue_name"}, expr: `clamp_min(max by (queue_name) (` + kaiAllocated +
				`) - max by (queue_name) (` + kaiGuaranteed + `), 0)`}.largest()),
		newPanel("GPUs by team", "", Table, count, shareQueries()...).sortedBy("allocated", false),
	}}
}

func kaiChurnSection(*ir.Platform) Section {
	return Section{Name: "evictions", Title: "Evictions and interruptions", Folded: true, Panels: []Panel{
		newPanel("Evicted pods per hour",
			"Reclaim returns guaranteed GPUs to their team, preempt makes room for a higher priority, and "+
				"consolidation moves jobs together.", Stack, count,
			grouped("sum", eventsWithin(`kai_pod_group_evicted_pods_total{@scraped}`, "1h"), "action")),
		newPanel("Preemption attempts per hour", "", Lines, count,
			single(`sum(increase(kai_total_preemption_attempts{@scraped}[1h]))`).named("attempts")),
		interruptionPanel(),
	}}
}

func kaiControllerSection(*ir.Platform) Section {
	return Section{Name: "controller", Title: "Scheduler", Folded: true, Panels: []Panel{
		newPanel("Duration of a scheduling cycle", "", Lines, milliseconds,
			single(`max(kai_e2e_scheduling_latency_milliseconds{@scraped})`).named("cycle")),
		newPanel("Duration of each action", "", Lines, milliseconds,
			grouped("max", `kai_action_scheduling_latency_milliseconds{@scraped}`, "action")),
		newPanel("Jobs started per hour", "", Stack, count,
			grouped("sum", eventsWithin(`kai_podgroups_scheduled_by_action{@scraped}`, "1h"), "action")),
		newPanel("Time to schedule a pod", "A time longer than 2560 ms is shown as 2560 ms.", Lines, milliseconds,
			quantileQueries(`kai_task_scheduling_latency_milliseconds_bucket{@scraped}[@window]`)...),
	}}
}

// kaiMySections returns a team's section on its queue.
func kaiMySections(*ir.Platform) []Section {
	return []Section{ofQueues(",@queue", Section{Title: "My queue", Panels: []Panel{
		newPanel("My GPUs",
			"The fair share is the number of GPUs that your team can have now, given the requests of all teams.",
			Lines, count, shareQueries()...),
		newPanel("My CPUs", "", Lines, count,
			grouped("max", `kai_queue_allocated_cpu_cores{@scraped@queues}`, "queue_name")),
		newPanel("My evicted pods per hour", "", Stack, count,
			grouped("sum", eventsWithin(`kai_pod_group_evicted_pods_total{@scraped,@team}`, "1h"), "podgroup",
				"action")),
	}})}
}
