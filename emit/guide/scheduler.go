package guide

import "github.com/batchwright/batchwright/compiler/ir"

// scheduler is what the README says of one scheduler of jobs, and not of another.
type scheduler struct {
	starts     func(*ir.Platform) markup              // who starts jobs
	applied    func(classes markup) markup            // what is applied; classes is a list of ComputeClasses, with its comma, or ""
	teams      func(*document, *ir.Platform)          // who they are and what each gets
	named      func(*document, *ir.Platform)          // what has the name of a capacity
	guarantees func(*document)                        // what becomes of those that the nodes do not meet
	install    func(*document, *ir.Platform)          // how it is installed by hand
	byHand     func(*document, *ir.Platform, ir.Team) // what a job needs that is not of the blueprint
	look       func(*ir.Platform) [][]markup          // by which commands queues and jobs are looked at
	remove     func(*document, *ir.Platform)          // how a team or a capacity is taken out

	tools          markup // the programs that install needs
	spare, lacking markup // what nodes are beyond the guarantees, or guarantees beyond the nodes
	ceiling        markup // what the Google Cloud quota of that name is
	kept           markup // what a build leaves as it is, "" for nothing
	moved          markup // what to delete by hand where teams go to another queue, "" for nothing
	apply          markup // how the queues are made
	stops          markup // what else ends the teams' jobs, "" for nothing
}

func schedulerOf(p *ir.Platform) scheduler {
	if p.Scheduler == ir.KAI {
		return scheduler{
			starts: kaiStarts, applied: kaiApplied, teams: kaiTeams, named: kaiNamed, guarantees: kaiGuarantees,
			install: kaiInstall, byHand: kaiByHand, look: kaiLook, remove: kaiRemove,
			tools:   "`helm` 3.8 or later",
			spare:   " for whoever asks",
			lacking: " too few",
			ceiling: "Ceiling is all pools at their maximum, which is the same: KAI Scheduler gives idle GPUs to " +
				"whoever asks.",
			apply: "Make the cohorts and the teams with their queues. KAI Scheduler may run before its webhook " +
				"answers: if it does not answer yet, repeat this.",
		}
	}
	return scheduler{
		starts: kueueStarts, applied: kueueApplied, teams: kueueTeams, named: kueueNamed, guarantees: kueueGuarantees,
		install: kueueInstall, byHand: kueueByHand, look: kueueLook, remove: kueueRemove,
		tools:   "`curl`",
		spare:   " beyond all quotas",
		lacking: " can be admitted without a node",
		ceiling: "Ceiling is all pools at their maximum, which only a change of the teams' quotas can reach.",
		kept: "What an administrator has stopped stays so: a build keeps the `stopPolicy` that was set on a " +
			"ClusterQueue by hand.",
		moved: "Where teams begin or cease to share a tier, first delete their LocalQueues in it, for they cannot be " +
			"led to another ClusterQueue: `kubectl delete localqueues -n NAMESPACE " + ir.LocalQueuePrefix +
			"TEAM-TIER`. ",
		apply: "Make the flavors, the cohorts and the teams with their queues. Kueue may run before its webhooks " +
			"answer: if one does not answer yet, repeat this.",
		stops: "the queues stop, ",
	}
}
