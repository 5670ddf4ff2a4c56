package ir

// OthersRunKueue reports whether the platform uses Kueue that others run in the cluster.
func (p *Platform) OthersRunKueue() bool { return !p.OwnsCluster() && p.Cluster.Existing.Kueue != nil }

// OthersRunJobSet reports whether the platform uses JobSet that others run in the cluster.
func (p *Platform) OthersRunJobSet() bool {
	return !p.OwnsCluster() && p.Cluster.Existing.JobSet != nil
}

// InstallsKueue reports whether Kueue is part of the platform: the build or the GitOps
// tool installs it, with the platform's configuration. Every emitter asks this function.
func (p *Platform) InstallsKueue() bool {
	return Choose(p.Scheduler, !p.OthersRunKueue(), false)
}

// ComparedPin returns the SHA-256 that the installer of a controller compares: of its
// manifest if the build installs it, and of its chart if a GitOps tool does. No SHA-256 is
// compared if a GitOps tool installs the manifest.
func (p *Platform) ComparedPin(manifest, chart string) string {
	switch {
	case !p.Delivery.GitOps.On():
		return manifest
	case p.FromCharts():
		return chart
	}
	return ""
}

// InstallsScheduler reports whether the scheduler is part of the platform.
func (p *Platform) InstallsScheduler() bool { return Choose(p.Scheduler, p.InstallsKueue(), true) }

// InstallsJobSet reports whether JobSet is part of the platform: the build or the GitOps
// tool installs it. Every emitter asks this function.
func (p *Platform) InstallsJobSet() bool { return !p.OthersRunJobSet() && !p.OnlyExisting() }

// ToolkitGroup is the group, and the folder, with which Cluster Toolkit's gcluster applies
// what is in the cluster.
const ToolkitGroup = "kubectl-apply"

// ToolkitApplies reports whether the folder has ToolkitGroup: the platform installs Kueue in
// a cluster of its own, from public releases, and neither Infrastructure Manager nor a
// GitOps tool applies a part of it.
func (p *Platform) ToolkitApplies() bool {
	return p.OwnsCluster() && p.InstallsKueue() && p.Images.Manifests == "" && p.Images.Mirror == "" &&
		!p.Delivery.InfrastructureManager && !p.Delivery.GitOps.On()
}
