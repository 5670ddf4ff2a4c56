package ir

// InstallsKueue reports whether Kueue is part of the platform: the build or the GitOps
// tool installs it, with the platform's configuration. Every emitter asks this function.
func (p *Platform) InstallsKueue() bool {
	return Choose(p.Scheduler, p.OwnsCluster() || p.Cluster.Existing.Kueue == nil, false)
}

// InstallsScheduler reports whether the scheduler is part of the platform.
func (p *Platform) InstallsScheduler() bool { return Choose(p.Scheduler, p.InstallsKueue(), true) }

// InstallsJobSet reports whether JobSet is part of the platform: the build or the GitOps
// tool installs it. Every emitter asks this function.
func (p *Platform) InstallsJobSet() bool { return p.OwnsCluster() || p.Cluster.Existing.JobSet == nil }
