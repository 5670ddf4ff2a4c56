package guide

import (
	"cmp"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// This file has the parts of the README that apply only to KAI Scheduler.

// kaiStarts explains how KAI Scheduler starts the teams' jobs.
func kaiStarts(p *ir.Platform) markup {
	return "A team submits Jobs and JobSets to its own queue. KAI Scheduler " + escapeText(p.Versions.KAI) +
		" starts them as quota allows, packs them onto nodes, and gives the unused GPUs of a team to other teams."
}

// kaiApplied lists the objects in the folder kubernetes/.
func kaiApplied(markup) markup { return "rights, priorities, cohorts, teams" }

// kaiNamed explains which objects have the name of a capacity.
func kaiNamed(d *document, _ *ir.Platform) {
	d.Para("A capacity is hardware of one kind that is obtained in one way. Its node pool has the same name.")
}

// kaiGuarantees explains what happens if guarantees and nodes differ.
func kaiGuarantees(d *document) {
	d.Para(
		"Guaranteed is the sum of the quotas of all teams. KAI Scheduler starts a job only if nodes have room for it. ",
		"If the guarantees exceed the nodes, guaranteed jobs wait for each other. If the nodes have more GPUs than ",
		"all guarantees together, teams that ask for more than their guarantee get the remaining GPUs.")
}

// kaiTeams lists the teams and their guarantees.
func kaiTeams(d *document, p *ir.Platform) {
	d.Para("A team has one queue of KAI Scheduler, with the name of the team, inside the queue of its cohort. A queue ",
		"counts GPUs of all types, and does not limit cpu or memory. The PriorityClasses of the tier decide ",
		"which jobs of a queue can be evicted:")
	var classes [][]markup
	for _, c := range p.PriorityClasses {
		evicted := markup("if another team needs its guarantee, or for a job with a higher value in the same queue")
		if c.Value >= ir.KAINonPreemptible {
			evicted = "never, so such jobs cannot exceed the guarantee of their team"
		}
		classes = append(classes, []markup{codeSpan(c.Tier), codeSpan(c.Name), formatNumber(int(c.Value)), evicted})
	}
	d.Table([]markup{"Tier", "PriorityClass", "Value", "A job of it is evicted"}, classes)

	members := cohortMembers(p)
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
	explainAccess(d, p)
	explainSeparation(d, p)
	d.Para("KAI Scheduler gives unused GPUs to teams that ask for more than their guarantee, up to the maximum of "+
		"each ",
		"team. The cohort with the highest priority comes first, and in a cohort the team with the highest priority. ",
		"When the owners need their GPUs again, KAI Scheduler evicts jobs that exceed the guarantee of their team.")
}

// kaiEachTeam lists every team with its quota.
func kaiEachTeam(d *document, p *ir.Platform) {
	var people, quota [][]markup
	for _, t := range p.Teams {
		people = append(people, []markup{
			codeSpan(t.Name), codeSpan(t.Namespace), orElse(t.Group, "cluster administrators only"), runsAs(p, t),
			orNone(t.Bucket),
		})
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
	d.Table([]markup{"Team", "Namespace", "Who submits", "Jobs run as", "Bucket"}, people)
	d.Table([]markup{"Team", "Queue", "Cohort", "Priority", "GPUs guaranteed", "GPUs at most", "Capacities"}, quota)
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

// kaiByHand explains what a job of a team needs that is not in the blueprint.
func kaiByHand(d *document, p *ir.Platform, t ir.Team) {
	q := t.Queues[0]
	d.Para("Any other Job or JobSet of ", codeSpan(t.Name), " needs these settings:")
	d.List(
		"on the object, the label "+codeSpan(ir.LabelKAIQueue+": "+q.LocalQueue)+"; a job without the queue of its "+
			"team is refused",
		"in its pods, "+codeSpan("schedulerName: "+ir.KAISchedulerName),
		"in its pods, "+codeSpan("priorityClassName")+" with one of these values: "+codeList(q.Classes),
		"in its containers, requests of cpu, memory and "+codeSpan(ir.GPU),
		"on a Job whose pods must start together, the annotation "+codeSpan(ir.AnnotationKAIMembers)+" with the "+
			"number of these pods, as a string; the pods of a JobSet always start together",
		actsAs(t),
		"in its pods, the node selector and the tolerations of its capacity, because KAI Scheduler adds none")
	var rows [][]markup
	for _, f := range q.Flavors {
		i := slices.IndexFunc(p.Capacities, func(c ir.Capacity) bool { return c.Name == f.Flavor })
		if i < 0 {
			continue
		}
		var selector, tolerations []string
		for _, l := range p.Capacities[i].NodeLabels {
			selector = append(selector, l.Key+": "+l.Value)
		}
		for _, taint := range p.Capacities[i].NodeTaints {
			tolerations = append(tolerations, taint.Key+"="+taint.Value+":"+taint.Effect)
		}
		rows = append(rows, []markup{codeSpan(f.Flavor), codeList(selector), codeList(tolerations)})
	}
	d.Table([]markup{"Capacity", "Node selector", "Tolerations"}, rows)
	d.Para(
		"KAI Scheduler evicts a job by deleting its pods, to return GPUs to their owner or to move the job to another ",
		"node. The Job or JobSet then creates new pods, which can count as a retry: let jobs save their progress.")
	listForbidden(d)
}

// listForbidden lists what the members of a team cannot do.
func listForbidden(d *document) {
	d.Para(
		"A team cannot create Secrets, PersistentVolumeClaims, or pods without a job in its namespace, and cannot run ",
		"`kubectl exec`: ask an administrator. The admission policies refuse two things to everybody, administrators ",
		"included: a Service that is not headless, and Jobs of a CronJob.")
	d.Para("A job is refused if one of its containers does not request cpu and memory, or if its pods do one of the ",
		"following: name a node, a RuntimeClass or another scheduler; tolerate or select the nodes of other "+
			"capacities; ",
		"mount claims, disks, file servers, folders of the node or buckets of others; have a longer grace ",
		"period than `maxGraceSeconds` of their tier. An administrator can allow some of these to a team with `allow` ",
		"in the blueprint.")
}

// kaiLook returns the commands that show queues and jobs.
func kaiLook(p *ir.Platform) [][]markup {
	const admin, team = "administrators", "the team"
	rows := [][]markup{
		{admin, codeSpan("kubectl get queues.scheduling.run.ai"), "every queue, with its priority and its cohort"},
		{admin, codeSpan("kubectl describe queues.scheduling.run.ai"),
			"the guarantee, the use and the requests of every queue"},
		{admin, codeSpan("kubectl get nodes -L " + ir.LabelNodePool), "the nodes that exist now, by node pool"},
	}
	if len(p.Teams) > 0 {
		ns := p.Teams[0].Namespace
		rows = append(rows,
			[]markup{team, codeSpan(shellCommand("kubectl", "get", "podgroups.scheduling.run.ai", "-n", ns)),
				"a team's jobs, as KAI Scheduler sees them"},
			[]markup{team, codeSpan(shellCommand("kubectl", "describe", "podgroups.scheduling.run.ai", "-n", ns)),
				"why a job waits"},
			[]markup{team, codeSpan(shellCommand("kubectl", "get", "pods", "-n", ns, "-o", "wide")),
				"the pods, and the nodes on which they run"},
		)
	}
	return rows
}

// kaiRemove explains how to remove a team, a cohort or a capacity.
func kaiRemove(d *document, p *ir.Platform) {
	d.Heading(2, "Remove a team, a cohort or a capacity")
	d.Para("Delete the team, cohort or capacity from the blueprint and compile: this removes its files, and every ",
		"mention of it in other files. For a removed team, the next build revokes the team's roles and ",
		"deletes its bucket. For a removed capacity, it deletes the node pool with every pod on it. ",
		"The build starts nothing more in queues that ",
		"this folder no longer has, gives their guarantees to the other queues, and prints the commands that delete ",
		"these queues. It deletes no Kubernetes object of the removed team, cohort or capacity.", explainBuckets(p))
	d.Para("Before you build without a capacity, cordon its nodes, and wait until their jobs have ended:")
	d.Code("sh",
		"kubectl cordon -l "+ir.LabelNodePool+"=CAPACITY",
		"kubectl get pods --all-namespaces -o wide")
	d.Para("After the build an administrator deletes the objects that remain, in this order, with the commands that ",
		"apply. Of a team, its namespace with everything in it and its queue remain. Of a cohort, its queue remains, ",
		"which can be deleted only after the queues of its teams. Of a priority, its PriorityClass remains.")
	d.Code("sh",
		"kubectl delete namespaces NAMESPACE",
		"kubectl delete queues.scheduling.run.ai TEAM",
		"kubectl delete queues.scheduling.run.ai COHORT",
		"kubectl delete priorityclasses PRIORITY")
}
