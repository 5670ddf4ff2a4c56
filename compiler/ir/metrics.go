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

// HasSteadyGPUs reports whether healthy GPUs of the machines keep above 1 GHz under
// any load.
func (c Capacity) HasSteadyGPUs() bool { return c.Machine.SteadyGPUs }

// Events counts what the series of a counter counted within a window. Kueue and
// KAI Scheduler create them with their first event, of which increase() knows
// nothing: a series that was not there before the window has had one more.
func Events(selector, window string) string {
	increase := `increase(` + selector + `[` + window + `])`
	return increase + ` + (` + selector + ` unless ` + selector + ` offset ` + window + `) ^ 0 or ` + increase
}
