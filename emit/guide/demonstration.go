package guide

import (
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// demonstrationFile returns DEMONSTRATION.md. The platform must have a demonstration.
func demonstrationFile(p *ir.Platform) []byte {
	sections := []func(*document, *ir.Platform){prepareDemonstration}
	for i := range p.Demonstration {
		sections = append(sections, func(d *document, p *ir.Platform) { describePhase(d, p, i) })
	}
	return newPage(p, describeDemonstration,
		append(sections, explainEvicted, explainNewNodes, explainDifferences, explainCleanUp)...).Bytes()
}

// pointToDemonstration refers to the page, if there is one.
func pointToDemonstration(d *document, p *ir.Platform) {
	if len(p.Demonstration) > 0 {
		d.Para(fileLink(demonstrationPage), " shows the platform in ", countNoun(len(p.Demonstration), "phase"),
			", with the commands and with the numbers to expect. An administrator performs them.")
	}
}

// describeDemonstration says what the page shows, which phases cannot be performed for
// now, and how the script is used.
func describeDemonstration(d *document, p *ir.Platform) {
	d.Heading(1, "Demonstration of "+codeSpan(p.Name))
	d.Para("This page shows in ", countNoun(len(p.Demonstration), "phase"), " how ", schedulerName(p),
		" deals with the jobs of the teams. A command performs each phase. Then it waits until the expected numbers ",
		"are reached, for at most the time that the phase gives, and prints the expected and the actual numbers side ",
		"by side. `--wait=SECONDS` changes the time. The tables of this page list the expected numbers.")
	var off []string
	for _, c := range p.Capacities {
		if (c.SlicesOff() || c.Waiting) && demonstrates(p, c.Name) {
			off = append(off, c.Name)
		}
	}
	if off != nil {
		d.Para("The platform has no nodes of ", codeList(off), " now, so the expected numbers cannot be reached. ",
			"Perform the demonstration when it has them (", linkTo(readmePage, capacitiesHeading), ").")
	}
	d.Para("Perform the phases in their order. The command refuses a phase that cannot follow, and tells you why.")
}

// prepareDemonstration says what must be true before the first phase, and where to look.
func prepareDemonstration(d *document, p *ir.Platform) {
	d.Heading(2, prepareHeading)
	nodes := markup("")
	if slices.ContainsFunc(p.Capacities, func(c ir.Capacity) bool { return !c.Static }) {
		nodes = " The jobs start nodes, which cost money while they exist, and need the quota of " +
			linkTo(referencePage, quotaHeading) + "."
	}
	d.List(
		"Build the platform ("+linkTo(readmePage, buildHeading)+").",
		"Be an administrator of the cluster: the commands submit the jobs of all teams.",
		"Make sure that no other jobs run or wait in the teams' queues. Otherwise the numbers differ. "+
			codeSpan("kubectl get jobs,jobsets --all-namespaces")+" lists all jobs."+nodes)
	d.Para("Perform each phase before the jobs of the earlier phases end: its numbers hold only while these jobs run. ",
		linkTo(usingPage, resultsHeading), " says how long the jobs run. If a job has ended, the command tells you: ",
		"then run ", codeSpan("./demonstrate.sh "+ir.CleanUpPhase), ", and start again with the first phase.")
	explainWaitingPods(d, p)
	if slices.ContainsFunc(p.Demonstrated(), func(copies []ir.Workload) bool { return len(copies[0].SecretEnv) > 0 }) {
		d.Para("Some workloads need Secrets. Create them first: ", linkTo(readmePage, secretsHeading), ".")
	}
	d.Para("Connect `kubectl` to the cluster, and list the phases:")
	d.Code("sh", credentialsCommand(p), "./demonstrate.sh")
	d.Para("Watch the jobs in a second terminal:")
	rows := [][]markup{
		{codeSpan("kubectl get jobs,jobsets --all-namespaces"), "the jobs"},
		{codeSpan("kubectl get pods --all-namespaces -o wide -l batch.kubernetes.io/job-name"),
			"their pods, with the node of each"},
		{codeSpan("kubectl get nodes -L " + ir.LabelNodePool), "the nodes, by node pool"},
	}
	d.Table([]markup{"Command", "Shows"}, slices.Concat(rows, schedulerOf(p).look(p), schedulerOf(p).moves))
	var titles []string
	for _, b := range monitoring.EmptyBoards(p) {
		titles = append(titles, b.Title)
	}
	tensorBoard := markup("")
	if p.Monitoring.TensorBoard != "" {
		tensorBoard = " " + linkTo(readmePage, watchHeading) + " has the link to the curves of the TensorBoard."
	}
	d.Para("The dashboards ", codeList(titles), " in ",
		consoleLink("Cloud Monitoring", "monitoring/dashboards", p.Project), " show the same over time.", tensorBoard)
}

// explainWaitingPods says why some pods have quota and no node, if a phase expects it.
func explainWaitingPods(d *document, p *ir.Platform) {
	waits := func(phase ir.Phase) bool { return phase.Pending != nil && *phase.Pending > 0 }
	if !slices.ContainsFunc(p.Demonstration, waits) {
		return
	}
	for _, c := range p.Capacities {
		counted := c.CountedIn()
		guaranteed, existing := ir.AmountOf(c.Guaranteed, counted), c.OfferedBy(c.MaxNodes, counted)
		if guaranteed.Cmp(existing) <= 0 || !demonstrates(p, c.Name) {
			continue
		}
		d.Para("The queues guarantee ", escapeText(ir.PrintQuantity(counted, guaranteed)), " ", codeSpan(counted),
			" of ", codeSpan(c.Name), ", and ", escapeText(ir.PrintQuantity(counted, existing)), " exist (",
			linkTo(readmePage, guaranteesHeading), "). Therefore some pods have quota and no node. The ",
			"phases say how many.")
	}
	if unready := schedulerOf(p).unready; unready != "" {
		d.Para(unready, "The numbers then differ. So perform all phases with such pods within this time.")
	}
}

// demonstrates reports whether a phase expects running pods on a capacity.
func demonstrates(p *ir.Platform, capacity string) bool {
	return slices.ContainsFunc(p.Demonstration, func(phase ir.Phase) bool {
		return slices.ContainsFunc(phase.Pods, func(c ir.CapacityCount) bool {
			return c.Capacity == capacity && c.Count > 0
		})
	})
}

// describePhase describes a phase: what it shows, its commands, and the numbers to
// expect.
func describePhase(d *document, p *ir.Platform, number int) {
	phase := p.Demonstration[number]
	d.Heading(2, "Phase "+formatNumber(number+1)+": "+escapeText(phase.Name))
	if phase.Shows != "" {
		d.Para(paragraphStart(phase.Shows))
	}
	d.Code("sh", shellCommand("./demonstrate.sh", phase.Name))
	if phase.OneByOne {
		d.Para("The script waits for at most ", formatDuration(phase.WaitSeconds), " for each job that must run ",
			"before the next one is submitted, and as long for the expected numbers.")
	} else {
		d.Para("The script waits for at most ", formatDuration(phase.WaitSeconds), ".")
	}
	if commands := phaseCommands(p, phase); commands != nil {
		d.Para("The command stands for these:")
		d.Code("sh", commands...)
	}
	expectQueues(d, p, phase)
	expectEvictions(d, phase)
	expectPods(d, phase)
	var rows [][]markup
	for _, node := range phase.Nodes {
		rows = append(rows, []markup{codeList(node)})
	}
	if rows != nil {
		d.Para("Then each row of the table is one node and the workloads whose pods run there. The names of the nodes ",
			"do not matter. Other nodes run no pods of the demonstration:")
		d.Table([]markup{"One node runs"}, rows)
	}
}

// phaseCommands returns the commands that do the same as the steps of a phase.
func phaseCommands(p *ir.Platform, phase ir.Phase) []string {
	var out []string
	const cordoned = ir.CordonedKey + "=" + ir.CordonedValue
	selector := func(capacity string, labels ...string) string {
		i := slices.IndexFunc(p.Capacities, func(c ir.Capacity) bool { return c.Name == capacity })
		if own := p.Capacities[i].Selector(); own != "" {
			labels = append(labels, own)
		}
		return shellCommand("-l", strings.Join(labels, ","))
	}
	for _, c := range phase.Cordon {
		nodes := "$(kubectl get nodes " + selector(c.Capacity) + " -o name | sort | tail -n " +
			strconv.Itoa(c.Count) + ")"
		commands := []string{`kubectl label "$NODE" ` + cordoned, `kubectl cordon "$NODE"`}
		if c.Count == 1 {
			out = append(append(out, "NODE="+nodes), commands...)
		} else {
			out = append(out, "for NODE in "+nodes+"; do", "  "+commands[0], "  "+commands[1], "done")
		}
	}
	for _, c := range phase.Uncordon {
		nodes := selector(c, cordoned)
		out = append(out, "kubectl uncordon "+nodes, "kubectl label nodes "+nodes+" "+ir.CordonedKey+"-")
	}
	for _, name := range phase.Delete {
		out = append(out, copyCommands(p, phase, name, "kubectl delete --ignore-not-found", false)...)
	}
	if phase.OneByOne {
		return append(out, submitOneByOne(p, phase)...)
	}
	for _, name := range phase.Submit {
		out = append(out, copyCommands(p, phase, name, "kubectl apply --server-side", true)...)
	}
	return out
}

// copyCommands returns a command for each job of a workload: copy by copy, and the teams
// in turns. withFiles adds the ConfigMap with the files of the job.
func copyCommands(p *ir.Platform, phase ir.Phase, name, command string, withFiles bool) []string {
	templates := templatesOf(p)
	t := templates[slices.IndexFunc(templates, func(t template) bool { return t.Template == name })]
	teams := slices.DeleteFunc(slices.Clone(t.teams), func(team string) bool {
		return !phase.TakesPart(team)
	})
	var loops []string
	object, team := []piece{{text: name}}, piece{text: teams[0]}
	if len(t.names) > 1 {
		numbers := make([]string, len(t.names))
		for i := range numbers {
			numbers[i] = strconv.Itoa(i + 1)
		}
		loops = append(loops, "for COPY in "+strings.Join(numbers, " ")+"; do")
		object = append(object, piece{text: "-"}, piece{variable: "COPY"})
	}
	if len(teams) > 1 {
		list := shellCommand(teams...)
		if len(teams) > fewTeams && len(teams) == len(p.Teams) {
			list = "$(ls workloads)"
		}
		loops = append(loops, "for TEAM in "+list+"; do")
		team = piece{variable: "TEAM"}
	}
	if withFiles && t.ConfigMap != "" {
		command += " -f " + joinPieces(piece{text: "workloads/"}, team, piece{text: "/" + t.ConfigMap + ".yaml"})
	}
	command += " -f " + joinPieces(slices.Concat([]piece{{text: "workloads/"}, team, {text: "/"}}, object,
		[]piece{{text: ".yaml"}})...)
	var out []string
	for i, loop := range loops {
		out = append(out, strings.Repeat("  ", i)+loop)
	}
	out = append(out, strings.Repeat("  ", len(loops))+command)
	for i := range loops {
		out = append(out, strings.Repeat("  ", len(loops)-1-i)+"done")
	}
	return out
}

// submitOneByOne returns the commands that submit the jobs of a phase, each when the job
// before it runs.
func submitOneByOne(p *ir.Platform, phase ir.Phase) []string {
	var jobs []ir.Workload
	for _, name := range phase.Submit {
		first := len(jobs)
		for _, w := range p.Workloads {
			if w.Template == name && phase.TakesPart(w.Team) {
				jobs = append(jobs, w)
			}
		}
		slices.SortStableFunc(jobs[first:], func(a, b ir.Workload) int { return words.CompareNatural(a.Name, b.Name) })
	}
	var out []string
	for i, w := range jobs {
		if i > 0 {
			out = append(out, waitCommand(jobs[i-1], phase.WaitSeconds))
		}
		submit := "kubectl apply --server-side"
		if w.ConfigMap != "" {
			submit += " " + shellCommand("-f", "workloads/"+w.Team+"/"+w.ConfigMap+".yaml")
		}
		out = append(out, submit+" "+shellCommand("-f", "workloads/"+w.Team+"/"+w.Name+".yaml"))
	}
	return out
}

// piece is a part of a word of a shell command: a text, or the name of a variable.
type piece struct{ text, variable string }

// joinPieces returns pieces as one word of a shell command. The shell replaces the
// variables, and nothing else.
func joinPieces(pieces ...piece) string {
	plain, quoted, variables := "", "", false
	for _, p := range pieces {
		if p.variable != "" {
			plain += "$" + p.variable
			quoted += `"$` + p.variable + `"`
			variables = true
			continue
		}
		plain += p.text
		quoted += words.ShellArgument(p.text)
	}
	if !variables {
		return quoted
	}
	for _, p := range pieces {
		if p.variable == "" && words.ShellArgument(p.text) != p.text {
			return quoted
		}
	}
	return `"` + plain + `"`
}

// waitCommand returns the command that waits, for at most some seconds, until the pods of
// a job run. Source for the fields: the Job API of Kubernetes and the JobSet v1alpha2 API.
func waitCommand(w ir.Workload, seconds int) string {
	job, ready := "jobs/"+w.Name, "{.status.ready}="+strconv.Itoa(w.Pods)
	if w.Kind == ir.JobSet {
		job, ready = "jobsets/"+w.Name, "{.status.replicatedJobsStatus[0].ready}="+strconv.Itoa(max(1, w.Slices))
	}
	return shellCommand("kubectl", "wait", job, "-n", w.Namespace, "--for=jsonpath="+ready,
		"--timeout="+strconv.Itoa(seconds)+"s")
}

// expectQueues tells the numbers of jobs in the queues after a phase.
func expectQueues(d *document, p *ir.Platform, phase ir.Phase) {
	var rows [][]markup
	for _, c := range phase.Queues {
		counts := []markup{formatNumber(c.Pending), formatNumber(c.Admitted)}
		queues := p.QueuesOf(phase, c.Tier)
		if len(queues) > fewTeams {
			rows = append(rows, append([]markup{"each of " + countNoun(len(queues), "queue") + " of tier " +
				codeSpan(c.Tier)}, counts...))
			continue
		}
		for _, q := range queues {
			rows = append(rows, append([]markup{codeSpan(q)}, counts...))
		}
	}
	if rows != nil {
		d.Para("Then ", codeSpan(ownQueues(p)), " shows these numbers of jobs:")
		d.Table([]markup{"ClusterQueue", "Pending workloads", "Admitted workloads"}, rows)
	}
}

// expectEvictions tells how many jobs were evicted.
func expectEvictions(d *document, phase ir.Phase) {
	for _, e := range phase.Evicted {
		d.Para("Each team has lost ", countNoun(e.Count, "job"), " of ", codeSpan(e.Template), " to other jobs (",
			linkHere(evictedHeading), ").")
	}
}

// expectPods tells where the pods run after a phase.
func expectPods(d *document, phase ir.Phase) {
	var rows [][]markup
	for _, c := range phase.Pods {
		rows = append(rows, []markup{codeSpan(c.Capacity), formatNumber(c.Count)})
	}
	if len(rows) > 0 && !slices.ContainsFunc(phase.Pods, func(c ir.CapacityCount) bool { return c.Count > 0 }) {
		d.Para("Then no pods of the demonstration run.")
	} else if rows != nil {
		d.Para("When all nodes have started, these pods run:")
		d.Table([]markup{"Capacity", "Running pods"}, rows)
	}
	if phase.Pending != nil && *phase.Pending > 0 {
		d.Para(markup(words.Plural(*phase.Pending, "more pod waits", "more pods wait")), " for nodes (",
			linkHere(prepareHeading), "): STATUS `Pending`.")
	}
}

// explainEvicted explains what happens to evicted jobs. Source: Kueue documentation,
// "Cluster Queue" (queueing strategy), "Workload" (preemption) and "Kueue Configuration
// API" (RequeuingStrategy; package kueue sets its timestamp to Eviction).
func explainEvicted(d *document, p *ir.Platform) {
	if !slices.ContainsFunc(p.Demonstration, func(phase ir.Phase) bool { return len(phase.Evicted) > 0 }) {
		return
	}
	d.Heading(2, evictedHeading)
	d.Para("Kueue stops the pods of an evicted job, and the job waits in its queue again. Its place in the queue ",
		"depends on its priority and on the time at which it was submitted, so it is before the jobs that were ",
		"submitted later. A job that Kueue evicts because its pods were not ready in time waits behind the jobs of ",
		"its priority that already wait. When quota is free, an evicted job starts again, from its beginning or ",
		"from its last checkpoint. ",
		linkTo(usingPage, promisesHeading), " says which jobs can evict which others. This command lists the jobs ",
		"that were evicted for other jobs:")
	d.Code("sh", "kubectl get events --all-namespaces --field-selector=reason=Preempted")
}

// explainNewNodes explains how pods get nodes that do not exist yet. Source: GKE
// documentation, "About node auto-provisioning", "About cluster autoscaling" and "About
// flex-start provisioning mode"; Kueue documentation, "Admission Check".
func explainNewNodes(d *document, p *ir.Platform) {
	var scaled, created, queued []string
	for _, phase := range p.Demonstration {
		for _, c := range phase.Pods {
			i := slices.IndexFunc(p.Capacities, func(of ir.Capacity) bool { return of.Name == c.Capacity })
			switch of := p.Capacities[i]; {
			case c.Count == 0 || of.Static:
			case of.Queued():
				queued = withName(queued, c.Capacity)
			case of.OwnsPools():
				scaled = withName(scaled, c.Capacity)
			default:
				created = withName(created, c.Capacity)
			}
		}
	}
	if scaled == nil && created == nil && queued == nil {
		return
	}
	d.Heading(2, "While nodes start")
	if scaled != nil {
		pools := "The node pool " + codeSpan(scaled[0]) + " grows"
		if len(scaled) > 1 {
			pools = "The node pools " + codeList(scaled) + " grow"
		}
		d.Para(pools, " when pods wait for nodes. A node takes some minutes to ",
			"start and to download the image. Until then its pods are `Pending`.")
	}
	if created != nil {
		d.Para("The pods of ", codeList(created), " are unschedulable at first, because no node pool has such nodes. ",
			"GKE then creates node pools for them; for pods in compact placement, GKE creates one node pool for each ",
			"job. GKE deletes the pools again when they are empty. If Google Cloud has no such ",
			"machines, the pods stay `Pending`. These commands show what happens:")
		d.Code("sh",
			"kubectl get events --all-namespaces --field-selector=reason=TriggeredScaleUp",
			"kubectl get events --all-namespaces --field-selector=reason=NotTriggerScaleUp")
	}
	if queued != nil {
		d.Para("A job on ", codeList(queued), " has no pods until Dynamic Workload Scheduler has all of its nodes, ",
			"which can take hours. In the output of this command, RESERVED IN names the queue that holds the quota of ",
			"the job. ADMITTED is `True` when the nodes are there:")
		d.Code("sh", "kubectl get workloads --all-namespaces")
	}
}

// explainDifferences explains what to do if the numbers of a phase are not reached.
func explainDifferences(d *document, p *ir.Platform) {
	d.Heading(2, "If the numbers differ")
	d.Para("If the expected numbers are not reached in time, the command prints which numbers differ. These commands ",
		"show what pods wait for, such as a node or an image:")
	d.Code("sh",
		"kubectl get pods --all-namespaces -l batch.kubernetes.io/job-name --field-selector=status.phase=Pending",
		"kubectl get events --all-namespaces --field-selector=type=Warning")
	d.Para(schedulerOf(p).unready, "Run the command of the phase again later: it only compares.")
}

// explainCleanUp explains how to remove the demonstration. Source: GKE documentation,
// "About cluster autoscaling".
func explainCleanUp(d *document, p *ir.Platform) {
	d.Heading(2, cleanUpHeading)
	uncordons := markup("")
	if slices.ContainsFunc(p.Demonstration, func(phase ir.Phase) bool { return len(phase.Cordon) > 0 }) {
		uncordons = ", and uncordons the nodes that the demonstration has cordoned"
	}
	d.Para("This command deletes all jobs of the demonstration with their Services and files", uncordons, ". It ",
		"touches no other jobs. If a team submits a workload of ", codeSpan("workloads/"), ", its job has the same ",
		"name: the command deletes that job too.")
	d.Code("sh", "./demonstrate.sh "+ir.CleanUpPhase)
	if p.Scheduler.Facts().CountsJobs {
		d.Para("All queues are empty then, with 0 pending and 0 admitted workloads:")
		d.Code("sh", ownQueues(p))
	}
	if slices.ContainsFunc(p.Capacities, func(c ir.Capacity) bool { return !c.Static }) {
		nodes := markup("the number of nodes")
		if !p.OwnsCluster() {
			nodes = "the number of the platform's nodes"
		}
		d.Para("GKE removes nodes that no pod needs after some minutes, down to the minimum of each node pool. Node ",
			"pools of a fixed size keep their nodes. In the end, ", nodes, " is ", idleNodes(p), ". Watch how ",
			"the pools shrink:")
		d.Code("sh", "kubectl get nodes -L "+ir.LabelNodePool)
	}
}
