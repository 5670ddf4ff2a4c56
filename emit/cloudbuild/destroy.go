package cloudbuild

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

//go:embed scripts/drain.sh
var drainScript string

//go:embed scripts/release.sh
var releaseScript string

//go:embed scripts/unprotect.sh
var unprotectScript string

// stopMark is the line of drain.sh that gives way to what stops the queues.
const stopMark = "# STOP\n"

// destroy returns the build that empties the cluster and deletes all that
// Terraform has created. It copes with a platform of which only a part was ever
// built, and keeps the bucket of the state.
func destroy(p *ir.Platform) build {
	scheduler := schedulerOf(p)
	// "--prepare", because the whole script would build the platform again.
	access := awaitAccess(p, destroyPermissions(p), "./create-platform.sh --prepare")
	drain := script(p, 5400, "drain", strings.Replace(drainScript, stopMark, scheduler.stop, 1), append([]variable{
		{"PROJECT", p.Project}, {"REGION", p.Region}, {"CLUSTER", p.Cluster.Name}, {"ENDPOINT", endpoint(p)}, {"TEAMS", teamSelector(p)},
	}, scheduler.variables...)...)
	if p.Delivery.InfrastructureManager {
		return newBuild(p, "destroy", checkSettings(p), access, takeTurn(p), drain,
			infrastructureManager(p, 14400, "infrastructure", releaseScript, variable{"REGION", p.Region},
				variable{"CLUSTER", p.Cluster.Name}))
	}
	unprotect := terraform(p, 3600, "unprotect")
	unprotect.Script = unprotectScript
	return newBuild(p, "destroy", checkSettings(p), access, takeTurn(p), unlockState(p), terraformInit(p), drain, unprotect,
		terraform(p, 10800, "terraform-destroy", "destroy", "-input=false", "-auto-approve", "-lock-timeout=300s",
			"-var=deletion_protection=false"),
	)
}

// destroyRolePermissions is rolePermissions for the build that destroys.
var destroyRolePermissions = map[string]string{
	"roles/compute.networkAdmin":         "compute.networks.delete",
	"roles/compute.securityAdmin":        "compute.firewalls.delete",
	"roles/config.admin":                 "config.deployments.delete",
	"roles/container.admin":              "container.clusters.list",
	"roles/monitoring.alertPolicyEditor": "monitoring.alertPolicies.delete",
	"roles/monitoring.dashboardEditor":   "monitoring.dashboards.delete",
}

// destroyPermissions returns what the build that destroys waits for: what
// testedPermissions returns, except what makes or changes something.
func destroyPermissions(p *ir.Platform) []string {
	return slices.DeleteFunc(testedPermissions(p, destroyRolePermissions), func(permission string) bool {
		verb := permission[strings.LastIndex(permission, ".")+1:]
		return slices.Contains([]string{"create", "resize", "update"}, verb)
	})
}
