package guide

import (
	"net/url"
	"path"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// showRunning shows how to see that the platform works.
func showRunning(d *document, p *ir.Platform) {
	d.Heading(2, "See that it works")
	d.Para("Connect `kubectl` to the cluster:")
	d.Code("sh", credentialsCommand(p))
	d.Para("Then run these commands as an administrator of the cluster:")
	rows := [][]markup{{codeSpan("kubectl get nodes -L " + ir.LabelNodePool),
		"the nodes that exist now, by node pool; other nodes start with the jobs that need them"}}
	for _, namespace := range append(slices.Clone(p.Scheduler.Facts().Namespaces[:1]), ir.JobSetNamespace) {
		rows = append(rows, []markup{codeSpan(shellCommand("kubectl", "get", "deployments", "-n", namespace)),
			"the controllers; the numbers under READY must be equal"})
	}
	rows = append(rows, schedulerOf(p).look(p)...)
	d.Table([]markup{"Command", "Shows"}, rows)
	d.Para("The console shows ", consoleLink("the cluster", "kubernetes/clusters/details/"+
		url.QueryEscape(p.Region)+"/"+url.QueryEscape(p.Cluster.Name)+"/details", p.Project),
		" and ", consoleLink("its workloads", "kubernetes/workload/overview", p.Project), ".")
	explainSecrets(d, p)
	if len(p.Workloads) > 0 {
		d.Para("Now a member of a team can submit a workload: ", linkTo(usingPage, submitHeading), " has the commands.")
	}
}

// kueueLook returns the commands that show queues and capacities.
func kueueLook(p *ir.Platform) [][]markup {
	rows := [][]markup{
		{codeSpan("kubectl get clusterqueues -o wide"), "every queue, with its pending and admitted workloads"},
		{codeSpan("kubectl get resourceflavors"), "the capacities, as Kueue knows them"},
	}
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.ComputeClass }) {
		rows = append(rows, []markup{codeSpan("kubectl describe computeclasses"),
			"the ComputeClasses, and whether GKE accepts them"})
	}
	return rows
}

// explainChange explains how to change the platform, and which files of the folder may
// be edited.
func explainChange(d *document, p *ir.Platform) {
	d.Heading(2, "Change it")
	d.List(
		"Change the blueprint, not this folder.",
		"Go to the blueprint. Run `batchwright` there with the paths and options with which this folder was compiled.",
		"Run `batchwright diff` to see what the change means for jobs, quota and nodes.",
		"Run `batchwright compile`. It writes only the files that the change affects.",
		"Commit the blueprint and the folder together, and have the change reviewed.",
		"Run `./create-platform.sh` again"+linkIf(len(p.Teams) > 0, ". If you removed something, first read ",
			schedulerOf(p).removal)+".")
	d.Para("Edit no generated file by hand. If somebody has edited one, `batchwright compile` stops and names the ",
		"file; `--force` overwrites it. You may keep files of your own in this folder: `batchwright compile` leaves ",
		"them alone. ", linkTo(referencePage, filesHeading), " lists the generated files.")
	if kept := schedulerOf(p).kept; kept != "" && len(p.Teams) > 0 {
		d.Para(kept)
	}
}

// linkIf returns words and a link to a heading of the page, or "" if the section does
// not exist.
func linkIf(exists bool, words, heading markup) markup {
	if !exists {
		return ""
	}
	return words + linkHere(heading)
}

// explainWatching lists the dashboards, and says where alerts and logs are.
func explainWatching(d *document, p *ir.Platform) {
	d.Heading(2, watchHeading)
	d.Para(consoleLink("Cloud Monitoring", "monitoring/dashboards", p.Project), " lists these dashboards by name:")
	var rows [][]markup
	for _, b := range monitoring.Boards(p) {
		who := markup("the administrator: all queues, quotas and accelerators")
		if b.File == monitoring.TeamBoard {
			who = "a team, which the reader chooses"
		}
		rows = append(rows, []markup{codeSpan(b.Title), who, fileLink(path.Join(p.CloudDashboards(), b.File+".json"))})
	}
	d.Table([]markup{"Dashboard", "For", "File"}, rows)
	if p.Monitoring.Grafana {
		d.Para("The same dashboards for Grafana are in ", fileLink("dashboards/grafana/"),
			". The build puts them into namespace ", codeSpan(p.Monitoring.GrafanaNamespace),
			", where a Grafana in the cluster looks for them. The build installs no Grafana.")
	}
	if p.Monitoring.TensorBoard != "" {
		d.Para("The TensorBoard data of jobs is in ", consoleLink("Vertex AI", "vertex-ai/experiments/experiments",
			p.Project),
			", region ", codeSpan(p.Monitoring.TensorBoard), ". Every team can read and write the data of all teams.")
	}
	told := markup("They notify the channels of `monitoring.notificationChannels` in the blueprint.")
	if len(p.Monitoring.NotificationChannels) == 0 {
		told = "They notify nobody yet: list your channels in `monitoring.notificationChannels` of the blueprint."
	}
	d.Para(countNoun(len(monitoring.Alerts(p)), "alert"), " of ",
		consoleLink("Cloud Monitoring", "monitoring/alerting", p.Project), " watch the platform. ", told, " ",
		linkTo(referencePage, alertsHeading), " lists the alerts.")
}
