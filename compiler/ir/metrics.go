package ir

// Matchers of series that alerts and dashboards have in common, as PromQL
// spells them.
const (
	// MatchLeader leaves out the replicas of Kueue that wait for leadership:
	// they export the gauges too, and every figure would double.
	MatchLeader = `replica_role!="follower"`
	// MatchKueueJob finds Kueue's controller, which is the PodMonitoring's name
	// on Managed Prometheus and the Service's where a ServiceMonitor scrapes.
	MatchKueueJob = `job=~"kueue|kueue-controller-manager-metrics-service"`
	// MatchSteadyGPU finds the GPUs that HasSteadyGPUs tells of, by the name
	// that the driver gives them.
	MatchSteadyGPU = `modelName=~"NVIDIA (A100|H100|H200).*"`
)

// HasSteadyGPUs tells whether the machines' GPUs keep above 1 GHz under any load
// while they are healthy, because their base clock is higher: 1095 MHz of the
// A100 SXM4 and of the slowest H100, whose chip the H200 has too. The base clock
// of an L4 is 795 MHz, and with 72 W it nears that under load. Of the B200 and
// its kin no base clock is published. Source: the cards' specifications.
func (c Capacity) HasSteadyGPUs() bool {
	return c.HasGPUs() && (c.Machine.Family == "a2" || c.Machine.Family == "a3")
}

// Events counts what the series of a counter counted within a window. Kueue and
// KAI Scheduler create them with their first event, of which increase() knows
// nothing: a series that was not there before the window has had one more.
func Events(selector, window string) string {
	increase := `increase(` + selector + `[` + window + `])`
	return increase + ` + (` + selector + ` unless ` + selector + ` offset ` + window + `) ^ 0 or ` + increase
}
