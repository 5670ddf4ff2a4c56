package guide

import "github.com/batchwright/batchwright/compiler/ir"

// scheduler holds the parts of the pages that differ between schedulers of jobs.
type scheduler struct {
	// README.md
	starts     func(*ir.Platform) markup     // how jobs start
	look       func(*ir.Platform) [][]markup // commands that show queues
	named      func(*document, *ir.Platform) // objects with the name of a capacity
	guarantees func(*document, *ir.Platform) // what happens if guarantees and nodes differ
	removal    markup                        // heading of how to remove a team or a capacity
	remove     func(*document, *ir.Platform) // how to remove a team or a capacity

	// USING.md
	states   [][]markup                            // what kubectl shows of a job, and what it means
	waits    func(*document, *ir.Platform)         // why a job waits
	promises func(*document, *ir.Platform)         // whose jobs are evicted for whom
	refused  [][]markup                            // messages about refused jobs, and what to do
	settings func(*document, *ir.Platform, ownJob) // settings of a job that is not in the blueprint
	example  func(*ownJob)                         // completes the example of such a job

	// DEMONSTRATION.md
	moves [][]markup // commands that show jobs that move to other nodes, or nil

	// REFERENCE.md
	// objects in kubernetes/; classes is "" or "ComputeClasses, "
	applied func(p *ir.Platform, classes markup) markup
	teams   func(*document, *ir.Platform) // quota of the teams
	install func(*document, *ir.Platform) // installation by hand
	steps   buildSteps                    // steps of the build
	moved   func(*ir.Platform) markup     // what to delete by hand when teams change their queue, or nil

	tools markup // the programs that install needs
	// the balance of a capacity with spare resources, and with missing ones
	spare, lacking func(amount markup) markup

	ceiling markup // the meaning of the column Ceiling
	kept    markup // how to stop a queue, and what a build does to a stopped queue, or ""
	apply   markup // how to create the queues
	unready markup // what happens to a job whose pods do not get ready, or ""
	stops   markup // what destroying does before it deletes namespaces, or ""
}

// kueueRenames says that a new name of a ClusterQueue also needs new LocalQueues, if the
// blueprint names ClusterQueues.
func kueueRenames(p *ir.Platform) markup {
	own, shared := p.ClusterQueueExamples()
	if own == ir.ClusterQueuePrefix+"TEAM-TIER" && shared == ir.ClusterQueuePrefix+"TIER" {
		return ""
	}
	return ", or if a ClusterQueue gets another name"
}

// kueueMoved says what to delete by hand when teams change their queue.
func kueueMoved(p *ir.Platform) markup {
	return "If teams start or stop sharing a tier" + kueueRenames(p) + ", first delete their LocalQueues in the " +
		"tier, because a LocalQueue cannot move to another ClusterQueue: `kubectl delete localqueues -n NAMESPACE " +
		markup(p.LocalQueueExample()) + "`. "
}

// kueueUnready says what Kueue does with a job whose pods do not get ready.
func kueueUnready(p *ir.Platform) markup {
	after := podsReadyTimeout() + " after Kueue has admitted the job"
	if p.OthersRunKueue() {
		after = "in the time that Kueue's configuration gives them"
	}
	return "If the pods of a job are not all ready " + after + ", Kueue evicts the job and queues it again. "
}

// schedulerOf returns the parts for the scheduler of a platform.
func schedulerOf(p *ir.Platform) scheduler {
	return ir.Choose(p.Scheduler,
		scheduler{
			starts: kueueStarts, look: kueueLook, named: kueueNamed, guarantees: kueueGuarantees,
			removal: "Remove a team, a tier or a capacity", remove: kueueRemove,
			states: kueueStates(p), waits: kueueWaits, promises: kueuePromises, refused: kueueRefused(p),
			settings: kueueSettings, example: kueueExample,
			applied: kueueApplied, teams: kueueTeams, install: kueueInstall, steps: kueueSteps(p),
			tools:   downloadTool(p),
			spare:   func(amount markup) markup { return amount + " that no quota covers" },
			lacking: func(amount markup) markup { return "jobs for " + amount + " can get quota without nodes" },
			ceiling: kueueCeiling(p),
			kept: "To stop a queue, for example for maintenance, run " +
				"`kubectl patch clusterqueues QUEUE --type=merge --patch='{\"spec\":{\"stopPolicy\":\"Hold\"}}'`. " +
				"`QUEUE` is the name of a ClusterQueue. With `Hold`, running jobs continue. With `HoldAndDrain`, " +
				"Kueue evicts them. With `None`, the queue starts jobs again. A build keeps the setting: a stopped " +
				"queue stays stopped.",
			moved: kueueMoved,
			apply: "Create the " + kueueObjects(p) + " and the teams with their queues. If a webhook of Kueue does " +
				"not answer yet, repeat the command:",
			unready: kueueUnready(p),
			stops:   "stops the queues, ",
		},
		scheduler{
			starts: kaiStarts, look: kaiLook, named: kaiNamed, guarantees: kaiGuarantees,
			removal: "Remove a team, a cohort or a capacity", remove: kaiRemove,
			states: kaiStates(), waits: kaiWaits, promises: kaiPromises, refused: kaiRefused(),
			settings: kaiSettings, example: kaiExample,
			applied: kaiApplied, teams: kaiTeams, install: kaiInstall, steps: kaiSteps(),
			tools:   "`helm` 3.8 or later",
			spare:   func(amount markup) markup { return amount + " for whoever asks" },
			lacking: func(amount markup) markup { return amount + " too few" },
			ceiling: "Ceiling is the use of all pools at their maximum. It equals Admitted, because KAI Scheduler " +
				"gives idle GPUs to any team that asks.",
			kept: "To stop a queue, for example for maintenance, run `kubectl patch queues.scheduling.run.ai QUEUE " +
				"--type=merge --patch='{\"spec\":{\"resources\":{\"cpu\":{\"limit\":0},\"gpu\":{\"limit\":0}," +
				"\"memory\":{\"limit\":0}}}}'`. `QUEUE` is the name of a team. Running jobs continue, and no other " +
				"job of the queue starts. Every build sets the limits of this folder again: to start the queue, run " +
				"`./create-platform.sh`.",
			moves: kaiMoves(),
			apply: "Create the cohorts and the teams with their queues. If the webhook of KAI Scheduler does not " +
				"answer yet, repeat the command:",
		})
}
