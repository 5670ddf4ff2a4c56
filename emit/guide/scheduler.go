package guide

import "github.com/batchwright/batchwright/compiler/ir"

// scheduler holds the parts of the README that differ between schedulers of jobs.
type scheduler struct {
	starts     func(*ir.Platform) markup              // how jobs start
	applied    func(classes markup) markup            // objects in kubernetes/; classes is "" or "ComputeClasses, "
	teams      func(*document, *ir.Platform)          // teams and their quota
	named      func(*document, *ir.Platform)          // objects with the name of a capacity
	guarantees func(*document)                        // what happens if guarantees and nodes differ
	install    func(*document, *ir.Platform)          // installation by hand
	byHand     func(*document, *ir.Platform, ir.Team) // settings of a job that is not in the blueprint
	look       func(*ir.Platform) [][]markup          // commands that show queues and jobs
	remove     func(*document, *ir.Platform)          // how to remove a team or a capacity

	tools          markup // the programs that install needs
	spare, lacking markup // words after the number of spare nodes' resources, and of missing ones
	ceiling        markup // the meaning of the column Ceiling
	kept           markup // what a build leaves unchanged, or ""
	moved          markup // what to delete by hand when teams change their queue, or ""
	apply          markup // how to create the queues
	stops          markup // what destroying does before it deletes namespaces, or ""
}

// schedulerOf returns the parts for the scheduler of a platform.
func schedulerOf(p *ir.Platform) scheduler {
	return ir.Choose(p.Scheduler,
		scheduler{
			starts: kueueStarts, applied: kueueApplied, teams: kueueTeams, named: kueueNamed,
			guarantees: kueueGuarantees, install: kueueInstall, byHand: kueueByHand, look: kueueLook,
			remove:  kueueRemove,
			tools:   "`curl`",
			spare:   " beyond all quotas",
			lacking: " can be admitted without a node",
			ceiling: "Ceiling is the use of all pools at their maximum. The platform can reach it only if you change " +
				"the teams' quotas.",
			kept: "A build keeps the `stopPolicy` that an administrator has set on a ClusterQueue: a stopped queue " +
				"stays stopped.",
			moved: "If teams start or stop sharing a tier, first delete their LocalQueues in the tier, because a " +
				"LocalQueue cannot move to another ClusterQueue: `kubectl delete localqueues -n NAMESPACE " +
				ir.LocalQueuePrefix + "TEAM-TIER`. ",
			apply: "Create the flavors, the cohorts and the teams with their queues. If a webhook of Kueue does not " +
				"answer yet, repeat the command:",
			stops: "stops the queues, ",
		},
		scheduler{
			starts: kaiStarts, applied: kaiApplied, teams: kaiTeams, named: kaiNamed, guarantees: kaiGuarantees,
			install: kaiInstall, byHand: kaiByHand, look: kaiLook, remove: kaiRemove,
			tools:   "`helm` 3.8 or later",
			spare:   " for whoever asks",
			lacking: " too few",
			ceiling: "Ceiling is the use of all pools at their maximum. It equals Admitted, because KAI Scheduler " +
				"gives idle GPUs to any team that asks.",
			apply: "Create the cohorts and the teams with their queues. If the webhook of KAI Scheduler does not " +
				"answer yet, repeat the command:",
		})
}
