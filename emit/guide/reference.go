package guide

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/monitoring"
	"github.com/batchwright/batchwright/emit/page"
)

// Alerts returns the alerts of the platform.
func (v view) Alerts() []monitoring.Alert { return monitoring.Alerts(v.Platform) }

// MembersInIAM returns the principals to which Terraform grants the roles of members.
func (v view) MembersInIAM() []string {
	names := v.MemberAccounts()
	if v.HasGroups() {
		names = slices.Insert(names, 0, v.Cluster.SecurityGroup)
	}
	return names
}

// PoolsExceedQuotas reports whether the pools can have more than the quotas admit.
func (v view) PoolsExceedQuotas() bool {
	return slices.ContainsFunc(v.Demand.Rows, func(r ir.DemandRow) bool { return r.Ceiling > r.Admitted })
}

// NamesClusterQueues reports whether the blueprint names ClusterQueues.
func (v view) NamesClusterQueues() bool {
	examples := v.ClusterQueueExamples()
	return examples.Own != ir.ClusterQueuePrefix+"TEAM-TIER" || examples.Shared != ir.ClusterQueuePrefix+"TIER"
}

// UsesGPUDirect reports whether a capacity has GPUDirect of a kind.
func (v view) UsesGPUDirect(kind ir.GPUDirect) bool {
	return v.AnyCapacity(func(c ir.Capacity) bool { return c.GPUDirect == kind })
}

// labelsByGKE returns the labels that GKE sets on the nodes of a capacity.
func labelsByGKE(c ir.Capacity) []ir.KeyValue {
	return slices.DeleteFunc(slices.Clone(c.NodeLabels), func(l ir.KeyValue) bool {
		return slices.Contains(c.PoolLabels, l)
	})
}

// Download returns the command that downloads the manifest of a release to a file.
func (v view) Download(release ir.Release, file string) page.Command {
	if v.Images.Manifests != "" {
		return page.Command(shellCommand("gcloud", "storage", "cp", v.Images.Source(release), file,
			"--project="+v.Project))
	}
	return page.Command(shellCommand("curl", "--fail", "--location", "--output", file, release.Manifest))
}

// RenamedImage returns the lines of a Kustomization that replace the image of a release by
// its copy, as an argument of printf. It returns "" without a mirror.
func (v view) RenamedImage(release ir.Release) string {
	if v.Images.Mirror == "" {
		return ""
	}
	return `images: [{name: ` + release.Image + `, newName: ` + v.Images.Copy(release.Image) + `}]\n`
}

// ifIntact returns the beginning of a command that runs only if a file has the given
// SHA-256, or "" if none is given.
func ifIntact(file, sha256 string) page.Command {
	if sha256 == "" {
		return ""
	}
	return page.Command(shellCommand("echo", sha256+"  "+file) + " | sha256sum --check && ")
}
