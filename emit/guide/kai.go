package guide

import (
	"cmp"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// What is different in the README of a platform whose jobs KAI Scheduler starts.

// kaiStarts says that KAI Scheduler starts the teams' jobs.
func kaiStarts(p *ir.Platform) markup {
	return "A team submits Jobs and JobSets to a queue of its own; KAI Scheduler " + text(p.Versions.KAI) +
		" starts them as quota allows, packs them onto nodes, and gives away what teams leave unused."
}

// kaiApplied names what is in the folder kubernetes/.
func kaiApplied(markup) markup { return "rights, priorities, cohorts, teams" }

// kaiNamed says what has the name of a capacity.
func kaiNamed(d *document, _ *ir.Platform) {
	d.Para("A capacity is some hardware obtained in one way. Its node pool has its name.")
}

// kaiGuarantees says what becomes of guarantees that the nodes do not meet.
func kaiGuarantees(d *document) {
	d.Para("Guaranteed is the quota of all teams together. KAI Scheduler starts a job only on nodes that have room "+
		"for it. Where more is guaranteed than there is, ",
		"guarantees wait for each other; where less is, the rest goes to whoever asks for more than the guarantee.")
}

// kaiTeams shows who the teams are and what each is guaranteed.
func kaiTeams(d *document, p *ir.Platform) {
	d.Para("A team has one queue of KAI Scheduler, by its own name, in the queue of its cohort. A queue counts GPUs, "+
		"whatever their type; cpu and memory are free. ",
		"The tier's PriorityClasses tell the jobs of a queue apart:")
	var classes [][]markup
	for _, c := range p.PriorityClasses {
		evicted := markup("for what other teams are guaranteed, and for higher values in its queue")
		if c.Value >= ir.KAINonPreemptible {
			evicted = "never, and so never has more than its team is guaranteed"
		}
		classes = append(classes, []markup{code(c.Tier), code(c.Name), digits(int(c.Value)), evicted})
	}
	d.Table([]markup{"Tier", "PriorityClass", "Value", "A job of it is evicted"}, classes)

	members := members(p)
	guaranteed := map[string]int64{} // by cohort
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			guaranteed[t.Cohort] += q.GPUs().Guaranteed
		}
	}
	var cohorts [][]markup
	for _, c := range p.Cohorts[:min(len(p.Cohorts), maxGroups)] {
		cohorts = append(cohorts, []markup{code(c.Name), digits(c.Priority), digits(int(guaranteed[c.Name])),
			cmp.Or(some(members[c.Name]), "none")})
	}
	d.Table([]markup{"Cohort", "Priority", "GPUs guaranteed", "Teams"}, cohorts)
	if more := len(p.Cohorts) - maxGroups; more > 0 {
		d.Para("There are ", digits(more), " cohorts more, in ", file("kubernetes/cohorts.yaml"), ".")
	}
	if len(p.Teams) <= fewTeams {
		kaiEachTeam(d, p)
	} else {
		teamGroups(d, p, []string{ir.GPU}, []markup{"Tier", "Capacity", code(ir.GPU)})
	}
	access(d, p)
	separation(d, p)
	d.Para("GPUs that nobody needs go to the teams that ask for more than they are guaranteed: those of the cohort "+
		"of the highest priority first, and in it to the team of the ",
		"highest, up to what a team has at most. They come back when their owners need them: a job that has more "+
			"than its team is guaranteed is evicted then.")
}

// kaiEachTeam shows every team with its quota.
func kaiEachTeam(d *document, p *ir.Platform) {
	var people, quota [][]markup
	for _, t := range p.Teams {
		people = append(people, []markup{
			code(t.Name), code(t.Namespace), orElse(t.Group, "cluster administrators only"), runsAs(p, t), orNone(t.Bucket),
		})
		for _, q := range t.Queues {
			g := q.GPUs()
			most := digits(int(g.Most))
			if g.All {
				most = "all that there are"
			}
			quota = append(quota, []markup{
				code(t.Name), code(q.LocalQueue), orNone(t.Cohort), digits(t.Priority), digits(int(g.Guaranteed)), most, codes(flavors(q)),
			})
		}
	}
	d.Table([]markup{"Team", "Namespace", "Who submits", "Jobs run as", "Bucket"}, people)
	d.Table([]markup{"Team", "Queue", "Cohort", "Priority", "GPUs guaranteed", "GPUs at most", "Capacities"}, quota)
}

// kaiInstall says how KAI Scheduler is installed by hand.
func kaiInstall(d *document, p *ir.Platform) {
	d.Para("Install KAI Scheduler with Helm, and wait until it runs. Without the chart's default queue a job that "+
		"names no queue waits; with it, it would ",
		"start past every quota.")
	d.Code("sh",
		command("helm", "upgrade", "kai-scheduler", ir.KAIChart, "--install", "--version=v"+p.Versions.KAI,
			"--namespace="+ir.KAINamespace, "--create-namespace",
			"--set=defaultQueue.createDefaultQueue=false", "--wait"),
		"kubectl wait configs.kai.scheduler/kai-config --for=condition=Ready --timeout=600s")
}

// kaiByHand says what a job of a team needs that is not of the blueprint.
func kaiByHand(d *document, p *ir.Platform, t ir.Team) {
	q := t.Queues[0]
	d.Para("Any other Job or JobSet needs a queue, and what belongs to it. For ", code(t.Name), " that is:")
	d.List(
		"on the object, the label "+code(ir.LabelKAIQueue+": "+q.LocalQueue)+"; without the queue of its team a "+
			"job is refused",
		"in its pods, "+code("schedulerName: "+ir.KAISchedulerName),
		"in its pods, a "+code("priorityClassName")+": "+codes(q.Classes),
		"in its containers, requests of cpu, memory and "+code(ir.GPU),
		"on a Job of several pods that need each other, the annotation "+code(ir.AnnotationKAIMembers)+": how "+
			"many start together, as a string; those of a JobSet always do",
		actsAs(t),
		"in its pods, a node selector and the tolerations of the capacity it runs on: KAI Scheduler adds none")
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
		rows = append(rows, []markup{code(f.Flavor), codes(selector), codes(tolerations)})
	}
	d.Table([]markup{"Capacity", "Node selector", "Tolerations"}, rows)
	d.Para("To evict a job KAI Scheduler deletes its pods, be it to give GPUs back to their owner or to move the job "+
		"to another node. A Job or JobSet makes them anew, which may ",
		"count as a retry: let jobs save their progress.")
	cannot(d)
}

// cannot says what a team's people cannot do.
func cannot(d *document) {
	d.Para("A team cannot make pods without a job, Secrets or PersistentVolumeClaims in its namespace, nor run "+
		"`kubectl exec`: ask an administrator. ",
		"Not even an administrator can make a Service that is not headless there, or Jobs through a CronJob: the "+
			"admission policies refuse both to everybody.")
	d.Para("Jobs are refused whose containers request no cpu or memory, or whose pods name a node, a RuntimeClass or "+
		"another scheduler, tolerate or select the nodes of ",
		"other capacities, mount claims, disks, file servers, folders of the node or others' buckets, or may take "+
			"longer to end than `maxGraceSeconds` of their tier. ",
		"An administrator allows some of that to a team by `allow` in the blueprint.")
}

// kaiLook are the commands by which queues and jobs are looked at.
func kaiLook(p *ir.Platform) [][]markup {
	const admin, team = "administrators", "the team"
	rows := [][]markup{
		{admin, code("kubectl get queues.scheduling.run.ai"), "every queue: its priority, and its cohort"},
		{admin, code("kubectl describe queues.scheduling.run.ai"), "what each queue is guaranteed, has and asks for"},
		{admin, code("kubectl get nodes -L " + ir.LabelNodePool), "the nodes that exist now, by node pool"},
	}
	if len(p.Teams) > 0 {
		ns := p.Teams[0].Namespace
		rows = append(rows,
			[]markup{team, code(command("kubectl", "get", "podgroups.scheduling.run.ai", "-n", ns)),
				"a team's jobs, as KAI Scheduler sees them"},
			[]markup{team, code(command("kubectl", "describe", "podgroups.scheduling.run.ai", "-n", ns)),
				"why a job waits"},
			[]markup{team, code(command("kubectl", "get", "pods", "-n", ns, "-o", "wide")),
				"which pods run, and on which nodes"},
		)
	}
	return rows
}

// kaiRemove says how a team, a cohort or a capacity is taken out.
func kaiRemove(d *document, p *ir.Platform) {
	d.Heading(2, "Remove a team, a cohort or a capacity")
	d.Para("Take it out of the blueprint and compile: that removes its files, and what other files say of it. A "+
		"build deletes a dropped team's bucket ",
		"and revokes its roles, and deletes a dropped capacity's node pool with what runs on it. It lets nothing "+
			"more start in queues that this folder no longer has, ",
		"gives what they were guaranteed to the others, and prints how to delete them; it deletes nothing of what "+
			"was dropped in the cluster.", buckets(p))
	d.Para(
		"Before the build drops a capacity, let nothing more start on its nodes, and wait until their jobs have ended:")
	d.Code("sh",
		"kubectl cordon -l "+ir.LabelNodePool+"=CAPACITY",
		"kubectl get pods --all-namespaces -o wide")
	d.Para("After the build an administrator deletes what is left, in this order and as far as it applies. A team "+
		"leaves its namespace, which goes with all ",
		"in it, and its queue; a cohort its queue, which cannot be deleted before those of its teams; and a priority "+
			"its PriorityClass.")
	d.Code("sh",
		"kubectl delete namespaces NAMESPACE",
		"kubectl delete queues.scheduling.run.ai TEAM",
		"kubectl delete queues.scheduling.run.ai COHORT",
		"kubectl delete priorityclasses PRIORITY")
}
