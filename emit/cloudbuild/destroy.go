package cloudbuild

import (
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// destroyBuild returns the build that empties the cluster and deletes everything that
// Terraform has created. It also works for a platform that was built only in part.
// It keeps the bucket of the state. If the platform has taken over a resource, the build
// ends before it changes anything.
func destroyBuild(p *ir.Platform) build {
	begin := []task{checkSettings(p)}
	if p.TakesOver() {
		begin = append(begin, scriptStep(p, 60, "taken-over", readScript("taken-over.sh"),
			variable{"TAKEN_OVER", takenOver(p)}))
	}
	scheduler := schedulerOf(p)
	// "--prepare", because the script without it would build the platform again.
	begin = append(begin, awaitAccess(p, destroyPermissions(p), "./create-platform.sh --prepare"), takeTurn(p))
	drain := []task{clusterStep(p, 5400, "drain", readScript("drain.sh", "STOP", scheduler.stop),
		append([]variable{{"TEAMS", teamSelector(p)}}, scheduler.variables...)...)}
	if !p.OwnsCluster() {
		drain = leaveCluster(p, scheduler)
	}
	drain = append(deleteOwn(p), drain...)
	if p.Delivery.InfrastructureManager {
		tasks := append(begin, drain...)
		own := "" // nobody else's cluster may be deleted
		if p.OwnsCluster() {
			own = p.Cluster.Name
		}
		return newBuild(p, "destroy", append(tasks,
			infrastructureManager(p, 14400, "infrastructure", readScript("release.sh"),
				variable{"REGION", p.Cluster.Location}, variable{"CLUSTER", own}))...)
	}
	tasks := append(append(begin, unlockState(p), terraformInit(p)), drain...)
	destroy := terraformStep(p, 10800, "terraform-destroy", "destroy", "-input=false", "-auto-approve",
		"-lock-timeout=300s")
	if p.OwnsCluster() {
		unprotect := terraformStep(p, 3600, "unprotect")
		unprotect.Script = readScript("unprotect.sh")
		tasks = append(tasks, unprotect)
		destroy.Args = append(destroy.Args, "-var=deletion_protection=false")
	}
	return newBuild(p, "destroy", append(tasks, destroy)...)
}

// clusterStep returns the step of a script that connects to the cluster.
func clusterStep(p *ir.Platform, seconds int, id, script string, variables ...variable) task {
	return scriptStep(p, seconds, id, script, append(clusterVariables(p), variables...)...)
}

// clusterVariables returns the variables of the commands that connect a step to the
// cluster.
func clusterVariables(p *ir.Platform) []variable {
	return []variable{
		{"PROJECT", p.Project}, {"REGION", p.Cluster.Location}, {"CLUSTER", p.Cluster.Name},
		{"ENDPOINT", endpointFlag(p)},
	}
}

// destroyPermissions returns the permissions for which the destroying build waits:
// those of testedPermissions, except permissions to create or change something.
func destroyPermissions(p *ir.Platform) []string {
	return slices.DeleteFunc(testedPermissions(p, destroying), func(permission string) bool {
		verb := permission[strings.LastIndex(permission, ".")+1:]
		return slices.Contains([]string{"create", "resize", "update"}, verb)
	})
}
