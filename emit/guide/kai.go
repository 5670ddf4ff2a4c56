package guide

import (
	"cmp"

	"github.com/batchwright/batchwright/compiler/ir"
)

// This file has the parts of the README that apply only to KAI Scheduler.

// kaiStarts explains how KAI Scheduler starts the teams' jobs.
func kaiStarts(p *ir.Platform) markup {
	return "A team submits Jobs and JobSets to its own queue. KAI Scheduler " + escapeText(p.Versions.KAI) +
		" starts them as quota allows, packs them onto nodes, and gives the unused GPUs of a team to other teams."
}

// kaiApplied lists the objects in the folder kubernetes/.
func kaiApplied(*ir.Platform, markup) markup { return "rights, priorities, cohorts, teams" }

// kaiNamed explains which objects have the name of a capacity.
func kaiNamed(d *document, _ *ir.Platform) {
	d.Para("A capacity is hardware of one kind that is obtained in one way. Its node pool has the same name.")
}

// kaiGuarantees explains what happens if guarantees and nodes differ.
func kaiGuarantees(d *document, _ *ir.Platform) {
	d.Para(
		"Guaranteed is the sum of the quotas of all teams. KAI Scheduler starts a job only if nodes have room for it. ",
		"If the guarantees exceed the nodes, guaranteed jobs wait for each other. If the nodes have more GPUs than ",
		"all guarantees together, teams that ask for more than their guarantee get the remaining GPUs.")
}

// kaiTeams lists the teams and their guarantees.
func kaiTeams(d *document, p *ir.Platform) {
	members := cohortMembers(p)
	inside := markup("")
	if len(members) > 0 {
		inside = ", inside the queue of its cohort"
	}
	d.Para("A team has one queue of KAI Scheduler, with the name of the team", inside, ". A queue counts GPUs of all ",
		"types, and does not limit cpu or memory.")
	guaranteed := map[string]int64{} // by cohort
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			guaranteed[t.Cohort] += q.GPUs().Guaranteed
		}
	}
	var cohorts [][]markup
	for _, c := range p.Cohorts[:min(len(p.Cohorts), maxGroups)] {
		cohorts = append(cohorts,
			[]markup{codeSpan(c.Name), formatNumber(c.Priority), formatNumber(int(guaranteed[c.Name])),
				cmp.Or(firstNames(members[c.Name]), "none")})
	}
	d.Table([]markup{"Cohort", "Priority", "GPUs guaranteed", "Teams"}, cohorts)
	if more := len(p.Cohorts) - maxGroups; more > 0 {
		d.Para(fileLink("kubernetes/cohorts.yaml"), " has ", countNoun(more, "more cohort"), ".")
	}
	if len(p.Teams) <= fewTeams {
		kaiEachTeam(d, p)
	} else {
		teamGroups(d, p, []string{ir.GPU}, []markup{"Tier", "Capacity", codeSpan(ir.GPU)})
	}
	d.Para(linkTo(usingPage, promisesHeading), " says who gets idle GPUs, and which jobs are evicted.")
}

// kaiEachTeam lists the quota of every team.
func kaiEachTeam(d *document, p *ir.Platform) {
	var quota [][]markup
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			g := q.GPUs()
			most := formatNumber(int(g.Most))
			if g.All {
				most = "no limit"
			}
			quota = append(quota, []markup{
				codeSpan(t.Name), codeSpan(q.LocalQueue), orNone(t.Cohort), formatNumber(t.Priority),
				formatNumber(int(g.Guaranteed)), most, codeList(quotaFlavors(q)),
			})
		}
	}
	d.Table([]markup{"Team", "Queue", "Cohort", "Priority", "GPUs guaranteed", "GPUs at most", "Capacities"}, quota)
}

// kaiPromises explains to the members of a team who gets idle GPUs, and which jobs are
// evicted.
func kaiPromises(d *document, p *ir.Platform) {
	first := markup("KAI Scheduler gives idle GPUs first to the team with the highest priority. ")
	if len(p.Cohorts) > 0 {
		first = "A cohort is a group of teams. KAI Scheduler gives idle GPUs first to the cohort with the highest " +
			"priority, and in a cohort to the team with the highest priority. "
	}
	d.Para("Your team has a guarantee, a number of GPUs. Jobs within the guarantee start as soon as nodes have room. ",
		"If other teams leave GPUs idle, your team may use more than its guarantee, up to its maximum. ", first,
		"When the owners need their GPUs again, KAI Scheduler evicts jobs that exceed the guarantee of their team. ",
		linkTo(referencePage, queuesHeading),
		" lists the guarantees and maxima.")
	var classes [][]markup
	for _, c := range p.PriorityClasses {
		evicted := markup("if another team needs its guarantee, or for a job with a higher value in the same queue")
		if c.Value >= ir.KAINonPreemptible {
			evicted = "never, so such jobs cannot exceed the guarantee of their team"
		}
		classes = append(classes, []markup{codeSpan(c.Tier), codeSpan(c.Name), formatNumber(int(c.Value)), evicted})
	}
	d.Table([]markup{"Tier", "PriorityClass", "Value", "A job of it is evicted"}, classes)
	d.Para(
		"KAI Scheduler evicts a job by deleting its pods, to return GPUs to their owner or to move the job to another ",
		"node. The Job or JobSet then creates new pods, which can count as a retry: let jobs save their progress.")
}

// kaiInstall shows how to install KAI Scheduler by hand.
func kaiInstall(d *document, p *ir.Platform) {
	d.Para("Install KAI Scheduler with Helm, and wait until it runs. The command leaves out the chart's default "+
		"queue. ",
		"Without this queue, a job that names no queue waits; with it, such a job would bypass every quota.")
	d.Code("sh",
		shellCommand("helm", "upgrade", "kai-scheduler", ir.KAIChart, "--install", "--version=v"+p.Versions.KAI,
			"--namespace="+ir.KAINamespace, "--create-namespace",
			"--set=defaultQueue.createDefaultQueue=false", "--wait"),
		"kubectl wait configs.kai.scheduler/kai-config --for=condition=Ready --timeout=600s")
}

// kaiLook returns the commands that show queues.
func kaiLook(*ir.Platform) [][]markup {
	return [][]markup{
		{codeSpan("kubectl get queues.scheduling.run.ai"), "every queue, with its priority and its cohort"},
		{codeSpan("kubectl describe queues.scheduling.run.ai"),
			"the guarantee, the use and the requests of every queue"},
	}
}

// kaiMoves returns the commands that show jobs that KAI Scheduler evicts or moves. Source:
// KAI Scheduler 0.17, pkg/scheduler/cache/status_updater and
// pkg/scheduler/api/unschedule_info.go. The event belongs to the PodGroup of the job.
func kaiMoves() [][]markup {
	return [][]markup{
		{codeSpan("kubectl get pods --all-namespaces -o wide -l batch.kubernetes.io/job-name --watch"),
			"every change of the pods: if a job moves, its pod ends, and a new pod starts on another node"},
		{codeSpan("kubectl get events --all-namespaces --field-selector=reason=Evict"),
			"the pods that KAI Scheduler has evicted, and why; of a pod that moves it says `bin packing (resource " +
				"consolidation)`"},
	}
}

// kaiRemove explains how to remove a team, a cohort or a capacity.
func kaiRemove(d *document, p *ir.Platform) {
	d.Para("Delete the team, cohort or capacity from the blueprint and compile: this removes its files, and every ",
		"mention of it in other files. For a removed team, the next build revokes the roles that the blueprint gave ",
		"its jobs", deletesBucket(p), ". For a removed capacity, it deletes the node pool with every pod on it. ",
		"The build starts nothing more in queues that ",
		"this folder no longer has, gives their guarantees to the other queues, and prints the commands that delete ",
		"these queues. It deletes the PriorityClass of a removed priority, and no other Kubernetes object of the ",
		"removed team, cohort or capacity.")
	explainBuckets(d, p)
	explainRightsThatStay(d, p)
	d.Para("Before the build that removes a capacity, cordon its nodes, and wait until their jobs have ended:")
	d.Code("sh",
		"kubectl cordon -l "+ir.LabelNodePool+"=CAPACITY",
		"kubectl get pods --all-namespaces -o wide")
	d.Para("After the build an administrator deletes the objects that remain, in this order, with the commands that ",
		"apply. A removed team leaves its namespace, with everything in it, and its queue. A removed cohort leaves ",
		"its queue: delete it after the queues of its teams.")
	d.Code("sh",
		"kubectl delete namespaces NAMESPACE",
		"kubectl delete queues.scheduling.run.ai TEAM",
		"kubectl delete queues.scheduling.run.ai COHORT")
}
