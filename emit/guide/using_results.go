package guide

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// podsReadyTimeout returns ir.PodsReadyMinutes with its unit.
func podsReadyTimeout() markup { return markup(strconv.Itoa(ir.PodsReadyMinutes) + " minutes") }

// recoveryTimeout returns ir.RecoveryMinutes with its unit.
func recoveryTimeout() markup { return markup(strconv.Itoa(ir.RecoveryMinutes) + " minutes") }

// showResults shows what a workload does and has done.
func showResults(d *document, p *ir.Platform) {
	d.Heading(2, resultsHeading)
	d.Para("This command lists the jobs of your team and their pods:")
	d.Code("sh", `kubectl get jobs,jobsets,pods -n "$NAMESPACE"`)
	d.Table([]markup{"You see", "It means"}, slices.Concat(schedulerOf(p).states, commonStates()))
	pointToDashboard(d, p)
	templates := templatesOf(p)
	if len(templates) == 0 {
		return
	}
	var rows [][]markup
	var commands []string
	for _, t := range templates {
		rows = append(rows, t.expectation())
		of := ""
		if len(t.teams) < len(p.Teams) {
			of = " of " + words.First(t.teams, 4)
		}
		namespace := namespaceVariable
		if !t.ofReader(p) {
			namespace = words.ShellArgument(t.Namespace)
		}
		commands = append(commands, "# "+t.names[0]+of, logsCommand(namespace, t.firstJob()))
		for _, a := range t.Auxiliaries {
			commands = append(commands,
				"# "+t.names[0]+of+", "+a.Name, logsCommand(namespace, t.Name+"-"+a.Name+"-0"))
		}
	}
	d.Para("Expect this of the workloads:")
	d.Table([]markup{"Workload", "While it runs", "When it has succeeded", "Runs at most", "Retries"}, rows)
	listLogs(d, templates)
	d.Para("The pods of a workload are numbered, and the pod with index 0 is the one to read first",
		meetingPoint(templates), ". These commands print its log; after a retry, also the logs of the earlier tries "+
			"that ",
		"still exist. With `-f` a command follows the log", copiesToo(templates), ". A pod that has not started has "+
			"no log:")
	d.Code("sh", commands...)
}

// listLogs lists what the logs of the workloads show, as the blueprint says.
func listLogs(d *document, templates []template) {
	var texts []string // in the order of the first workload with each
	names := map[string][]string{}
	for _, t := range templates {
		if t.Shows != "" && names[t.Shows] == nil {
			texts = append(texts, t.Shows)
		}
		names[t.Shows] = append(names[t.Shows], t.Template)
	}
	var items []markup
	for _, text := range texts {
		items = append(items, codeList(names[text])+": "+escapeText(text))
	}
	if items != nil {
		d.Para("Their logs show:")
		d.List(items...)
	}
}

// pointToDashboard refers to the dashboard of a team, if the members may open it.
func pointToDashboard(d *document, p *ir.Platform) {
	if len(p.Monitoring.MemberRoles) == 0 {
		return
	}
	tensorBoard := markup("")
	if p.Monitoring.TensorBoard != "" {
		tensorBoard = " The TensorBoard of your jobs is in " + consoleLink("Vertex AI",
			"vertex-ai/experiments/experiments", p.Project) + ", region " + codeSpan(p.Monitoring.TensorBoard) + "."
	}
	for _, b := range monitoring.EmptyBoards(p) {
		if b.File == monitoring.TeamBoard {
			d.Para("The dashboard ", codeSpan(b.Title), " in ",
				consoleLink("Cloud Monitoring", "monitoring/dashboards", p.Project),
				" shows the queues and accelerators of your team over time.", tensorBoard)
		}
	}
}

// meetingPoint explains why the pod with index 0 matters, if some workload has a
// rendezvous.
func meetingPoint(templates []template) markup {
	if slices.ContainsFunc(templates, func(t template) bool { return t.Port != 0 }) {
		return ": the other pods connect to it"
	}
	return ""
}

// firstJob returns the name of the Job whose pod with index 0 leads the workload.
// Source for the Jobs of a JobSet: JobSet 0.12, pkg/util/placement.
func (t template) firstJob() string {
	if t.Kind == ir.JobSet {
		return t.Name + "-" + t.ReplicatedJob() + "-0"
	}
	return t.Name
}

// namespaceVariable is the namespace of the reader's team, as a word of a shell command.
const namespaceVariable = `"$NAMESPACE"`

// logsCommand returns the command that prints the log of the pod with index 0 of a Job
// in a namespace, which is a word of a shell command. Kubernetes sets both labels
// (Kubernetes documentation: "Well-Known Labels, Annotations and Taints"). With a
// selector, kubectl prints only the last lines unless it is told otherwise.
func logsCommand(namespace, job string) string {
	return "kubectl logs -n " + namespace + " -c worker --tail=-1 " +
		shellCommand("-l", "batch.kubernetes.io/job-name="+job+",batch.kubernetes.io/job-completion-index=0")
}

// expectation returns the row of a workload: what to expect of it.
func (t template) expectation() []markup {
	runs := countNoun(t.Pods, "pod") + " `Running`"
	if t.Slices > 0 {
		runs = countNoun(t.Slices, "slice") + ", together " + runs
	}
	if n := len(t.Auxiliaries); n > 0 {
		runs += ", and " + countNoun(n, "auxiliary pod")
	}
	done := "COMPLETIONS `" + formatNumber(t.Pods) + "/" + formatNumber(t.Pods) + "`"
	if t.Kind == ir.JobSet {
		done = "TERMINALSTATE `Completed`"
	}
	limit := markup("no limit")
	if t.MaxRunSeconds > 0 {
		limit = formatDuration(t.MaxRunSeconds)
	}
	return []markup{codeSpan(t.Template), runs, done, limit, formatNumber(t.Retries)}
}

// kueueStates returns what kubectl shows of a job before it runs, and what it means.
func kueueStates(p *ir.Platform) [][]markup {
	nodes := markup("")
	if p.AnyCapacity(ir.Capacity.Queued) {
		nodes = ", or for all of its nodes if they start at once"
	}
	unready := "If they are not all ready " + podsReadyTimeout() + " after the admission, Kueue evicts the job and " +
		"queues it again"
	if p.OthersRunKueue() {
		unready = "Kueue may evict a job whose pods are not all ready in time, and queue it again"
	}
	return [][]markup{
		{"Job: STATUS `Suspended`; JobSet: SUSPENDED `true`; no pods", "the job waits for quota" + nodes + ": see " +
			linkHere(waitsHeading)},
		{"pods: STATUS `Pending`", "Kueue has admitted the job, because " + whenAdmitted(p) + ". The pods wait for " +
			"their nodes. " + unready},
	}
}

// whenAdmitted returns the condition under which Kueue admits a job. Source: Kueue
// documentation, "Admission Check" and "Workload": a job is admitted when its quota is
// reserved and all of its admission checks are ready.
func whenAdmitted(p *ir.Platform) markup {
	if p.AnyCapacity(ir.Capacity.Queued) {
		return "the job has its quota, and all of its nodes if they start at once"
	}
	return "the job has its quota"
}

// kaiStates returns what kubectl shows of a job before it runs, and what it means.
func kaiStates() [][]markup {
	return [][]markup{
		{"pods: STATUS `Pending`", "the job waits for GPUs, or its nodes start: see " + linkHere(waitsHeading)},
	}
}

// commonStates returns what kubectl shows of a job from the start of its pods, and what
// it means. Source: Kubernetes documentation, "Pod Lifecycle" and "Images".
func commonStates() [][]markup {
	return [][]markup{
		{"pods: STATUS `ContainerCreating`", "the node downloads the image; a large image takes minutes"},
		{"pods: STATUS `ErrImagePull` or `ImagePullBackOff`", "the node cannot get the image: check its name"},
		{"pods: STATUS `Running`", "the job runs"},
		{"pods: STATUS `Error` or `OOMKilled`", "the pod has failed, with `OOMKilled` because it used more " +
			"memory than its limit; the job starts another pod while it has retries left"},
		{"pods: STATUS `Completed`", "the pod has succeeded"},
		{"Job: STATUS `Complete`; JobSet: TERMINALSTATE `Completed`", "the job has succeeded"},
		{"Job: STATUS `Failed`; JobSet: TERMINALSTATE `Failed`", "the job has used up its retries or its time: read " +
			"its log"},
	}
}

// logText is gcloud's format for the text of a log entry: a line of plain text, or the
// message of a line that is a JSON object, or the whole object if it has no message.
// Cloud Logging keeps the fields of such a line in jsonPayload and then has no
// textPayload (Cloud Logging documentation, "Structured logging"). firstof returns the
// first key that has a value (gcloud topic projections).
const logText = "value(firstof(textPayload,jsonPayload.message,jsonPayload))"

// explainLogs explains how to read logs that kubectl no longer shows. Source for the
// retention: Cloud Logging documentation, "Quotas and limits". Source for a JobSet that
// starts again: JobSet 0.12, pkg/controllers, which deletes the Jobs of earlier tries.
func explainLogs(d *document, p *ir.Platform) {
	d.Heading(2, logsHeading)
	d.Para("`kubectl logs` reads from the node, so it shows a log only while the pod and its node exist. A JobSet "+
		"that starts again deletes the pods of the earlier try. Cloud Logging ",
		"keeps the logs for 30 days, unless the project has another retention. Only people with "+
			"`roles/logging.viewer` ",
		"in project ", codeSpan(p.Project), " can read them there. Members of the teams do not get this role, because ",
		"it shows the logs of all teams: ask an administrator, who opens ", logsLink(p),
		" or runs these commands. Set ",
		"the namespace of the team, and the beginning of the pod's name: the name of the Job and the index of the pod.")
	pod := exampleName + "-0-"
	if templates := templatesOf(p); len(templates) > 0 {
		i := max(0, slices.IndexFunc(templates, func(t template) bool { return t.Template == p.Workloads[0].Template }))
		pod = templates[i].firstJob() + "-0-"
	}
	d.Code("sh",
		"NAMESPACE="+words.ShellArgument(homeTeam(p).Namespace),
		"POD="+words.ShellArgument(pod),
		"gcloud logging read "+words.ShellString(logsFilter(p)+` resource.labels.namespace_name="`)+
			`"$NAMESPACE"`+words.ShellString(`" resource.labels.pod_name:"`)+`"$POD"`+words.ShellString(`"`)+" "+
			shellCommand("--project="+p.Project, "--freshness=30d", "--order=asc", "--format="+logText))
}

// logsFilter returns the filter for the logs of all containers of the cluster.
func logsFilter(p *ir.Platform) string {
	return `resource.type="k8s_container" resource.labels.cluster_name="` + p.Cluster.Name + `"`
}

// logsLink returns a link to the logs of the cluster's containers.
func logsLink(p *ir.Platform) markup {
	query := strings.ReplaceAll(url.QueryEscape(logsFilter(p)), "+", "%20")
	return consoleLink("the logs of all containers", "logs/query;query="+query, p.Project)
}
