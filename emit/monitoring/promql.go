package ir

// Matchers of series that alerts and dashboards share, in PromQL.
const (
	// MatchLeader excludes the replicas of Kueue that wait for leadership: they
	// export the gauges too, and every figure would double.
	MatchLeader = `replica_role!="follower"`
	// MatchKueueJob matches Kueue's controller. The label job has the
	// PodMonitoring's name on Managed Prometheus, and the Service's name if a
	// ServiceMonitor scrapes.
	MatchKueueJob = `job=~"kueue|kueue-controller-manager-metrics-service"`
	// MatchSteadyGPU matches the GPUs for which HasSteadyGPUs is true, by the name
	// that the driver gives them.
	MatchSteadyGPU = `modelName=~"NVIDIA (A100|H100|H200).*"`
)

// HasSteadyGPUs reports whether healthy GPUs of the machines stay above 1 GHz under
// any load.
func (c Capacity) HasSteadyGPUs() bool { return c.Machine.SteadyGPUs }

// Events returns the PromQL expression for the number of events that a counter
// counted within a window. Kueue and KAI Scheduler create a series with its first
// event, which increase() does not count; so the expression adds one for each series
// that did not exist before the window.
func Events(selector, window string) string {
	increase := `increase(` + selector + `[` + window + `])`
	return increase + ` + (` + selector + ` unless ` + selector + ` offset ` + window + `) ^ 0 or ` + increase
}
