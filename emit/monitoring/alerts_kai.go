package monitoring

import "github.com/batchwright/batchwright/compiler/ir"

// kaiAlerts returns the alerts on KAI Scheduler's own metrics. These metrics do not
// show which jobs wait in which queue.
func kaiAlerts(*ir.Platform) []Alert {
	return []Alert{
		{
			Name: "KAISchedulerDown", Group: alertsKAI, For: 5 * 60, Severity: alertCritical,
			Expr:    `absent(up{job="` + kaiSchedulerService + `",@scraped} == 1)`,
			Summary: "KAI Scheduler cannot be scraped.",
			Action: "No job starts while it is down; what runs goes on. Look at the pods of namespace " +
				ir.KAINamespace +
				"; if they run, look at the scraping objects there.",
		},
		{
			Name: "KAIQueueControllerDown", Group: alertsKAI, For: 5 * 60, Severity: alertWarning,
			Expr:    `absent(up{job="` + kaiQueueService + `",@scraped} == 1)`,
			Summary: "KAI Scheduler's controller of queues cannot be scraped.",
			Action: "Queues cannot be changed while it is down, because it checks every change, and what they show " +
				"is old. Look at the pods of namespace " + ir.KAINamespace + ".",
		},
		{
			Name: "KAISchedulingSlow", Group: alertsKAI, For: 15 * 60, Severity: alertWarning,
			Expr:    `max(kai_e2e_scheduling_latency_milliseconds{@scraped}) > 30000`,
			Summary: "A scheduling cycle of KAI Scheduler takes more than half a minute.",
			Action: "Every decision waits for the one before it. The dashboard shows which action takes the time: " +
				"with many jobs that wait, consolidation and reclaim try many ways to make room.",
		},
		{
			Name: "KAINothingStarts", Group: alertsKAI, For: 30 * 60, Severity: alertWarning,
			// In every cycle the metric counts each job that the scheduler tries to
			// place.
			Expr: `sum(increase(kai_podgroups_acted_on_by_action{@scraped}[30m])) > 0` +
				` unless sum(increase(kai_podgroups_scheduled_by_action{@scraped}[1h])) > 0`,
			Summary: "Jobs wait and KAI Scheduler has started nothing for an hour.",
			Action: "The cluster may just be full. If the dashboard shows idle GPUs, read the events of a pod that " +
				"waits: its queue may be at its limit, or the job may not fit what is free.",
		},
		{
			Name: "KAIEvictionChurn", Group: alertsKAI, Severity: alertWarning,
			Expr:    `sum by (action) (` + eventsWithin(`kai_pod_group_evicted_pods_total{@scraped}`, "1h") + `) > 20`,
			Summary: "KAI Scheduler evicts more than 20 pods an hour.",
			Action: "Pods are evicted so often by {{action}} that work is lost: reclaim gives a team back what it is " +
				"guaranteed, preempt makes room for a higher priority in the same queue, consolidation moves jobs " +
				"together.",
		},
	}
}
