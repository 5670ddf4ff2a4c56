package monitoring

import "github.com/batchwright/batchwright/compiler/ir"

// kaiAlerts returns the alerts on KAI Scheduler's own metrics. These metrics do not
// show which jobs wait in which queue.
func kaiAlerts(*ir.Platform) []Alert {
	return []Alert{
		{
			Name: "KAISchedulerDown", Group: alertsKAI, For: 5 * 60, Severity: alertCritical,
			Expr:    `absent(up{job="` + kaiSchedulerService + `",@scraped} == 1)`,
			Summary: "Prometheus cannot scrape KAI Scheduler.",
			Action: "While KAI Scheduler is down, no new job starts. Running jobs continue. Check the pods of " +
				"namespace " + ir.KAINamespace + ". " + checkScraping,
		},
		{
			Name: "KAIQueueControllerDown", Group: alertsKAI, For: 5 * 60, Severity: alertWarning,
			Expr:    `absent(up{job="` + kaiQueueService + `",@scraped} == 1)`,
			Summary: "Prometheus cannot scrape KAI Scheduler's queue controller.",
			Action: "The queue controller checks every change to a queue. While it is down, nobody can change " +
				"queues, and the status of queues is out of date. Check the pods of namespace " + ir.KAINamespace + ".",
		},
		{
			Name: "KAISchedulingSlow", Group: alertsKAI, For: 15 * 60, Severity: alertWarning,
			Expr:    `max(kai_e2e_scheduling_latency_milliseconds{@scraped}) > 30000`,
			Summary: "A scheduling cycle of KAI Scheduler takes longer than 30 seconds.",
			Action: "A new job waits until the current cycle ends. The dashboard shows how long each action of the " +
				"cycle takes. If many jobs wait, consolidation and reclaim try many ways to make room.",
		},
		{
			Name: "KAINothingStarts", Group: alertsKAI, For: 30 * 60, Severity: alertWarning,
			// In every cycle the metric counts each job that the scheduler tries to
			// place.
			Expr: `sum(increase(kai_podgroups_acted_on_by_action{@scraped}[30m])) > 0` +
				` unless sum(increase(kai_podgroups_scheduled_by_action{@scraped}[1h])) > 0`,
			Summary: "Jobs wait, and KAI Scheduler started none within the last hour.",
			Action: "The cluster may be full. If the dashboard shows idle GPUs, read the events of a waiting pod: " +
				"the job's queue may be at its limit, or the free GPUs may not suffice for the job.",
		},
		{
			Name: "KAIEvictionChurn", Group: alertsKAI, Severity: alertWarning,
			Expr: `sum by (action) (` +
				eventsWithin(`kai_pod_group_evicted_pods_total{@scraped}`, "1h") + `) > 20`,
			Summary: "KAI Scheduler evicted more than 20 pods within an hour.",
			Action: "The action {{action}} evicts pods so often that jobs lose work. Reclaim returns guaranteed GPUs " +
				"to their team: let the other teams borrow less. Preempt makes room for a higher priority in the " +
				"same queue: raise the guarantee of the queue. Consolidation moves jobs together to make room for " +
				"others.",
		},
	}
}
