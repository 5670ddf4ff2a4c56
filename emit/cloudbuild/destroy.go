package cloudbuild

import (
	_ "embed"
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
	drain := script(p, 5400, "drain", strings.Replace(drainScript, stopMark, scheduler.stop, 1), append([]variable{
		{"PROJECT", p.Project}, {"REGION", p.Region}, {"CLUSTER", p.Cluster.Name}, {"ENDPOINT", endpoint(p)}, {"TEAMS", teamSelector(p)},
	}, scheduler.variables...)...)
	if p.Delivery.InfrastructureManager {
		return newBuild(p, "destroy", checkSettings(p), takeTurn(p), drain, infrastructureManager(p, 14400, "infrastructure", releaseScript,
			variable{"REGION", p.Region}, variable{"CLUSTER", p.Cluster.Name}))
	}
	unprotect := terraform(p, 3600, "unprotect")
	unprotect.Script = unprotectScript
	return newBuild(p, "destroy", checkSettings(p), takeTurn(p), unlockState(p), terraformInit(p), drain, unprotect,
		terraform(p, 10800, "terraform-destroy", "destroy", "-input=false", "-auto-approve", "-lock-timeout=300s", "-var=deletion_protection=false"),
	)
}
