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
	d.Heading(2, showHeading)
	d.Para("Connect `kubectl` to the cluster:")
	d.Code("sh", credentialsCommand(p))
	explainEndpoints(d, p)
	d.Para("Then run these commands as an administrator of the cluster:")
	rows := [][]markup{{codeSpan("kubectl get nodes -L " + ir.LabelNodePool),
		"the nodes that exist now, by node pool. Without jobs there are " + idleNodes(p) + otherNodes(p)}}
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
		who := markup("Now a member of a team can submit a workload: ")
		if !slices.ContainsFunc(p.Teams, func(t ir.Team) bool { return t.Submits() }) {
			who = "No team has members yet, so only an administrator of the cluster can submit a workload: "
		}
		d.Para(who, linkTo(usingPage, submitHeading), " has the commands.")
	}
	pointToDemonstration(d, p)
}

// explainEndpoints explains who reaches the control plane, if it has a DNS endpoint.
// Source: GKE documentation, "About network isolation in GKE".
func explainEndpoints(d *document, p *ir.Platform) {
	if !p.Cluster.DNSEndpoint {
		return // explainBuild says that the control plane is reachable only from its network
	}
	address := markup("The control plane has no public IP address.")
	if len(p.Cluster.AuthorizedNetworks) > 0 {
		ranges := make([]string, len(p.Cluster.AuthorizedNetworks))
		for i, n := range p.Cluster.AuthorizedNetworks {
			ranges[i] = n.CIDR
		}
		address = "`cluster.authorizedNetworks` of the blueprint restricts only the public IP address, which accepts " +
			"connections from " + firstNames(ranges) + "."
	}
	d.Para("The command uses the control plane's DNS endpoint. This endpoint accepts callers from any network if IAM ",
		"gives them the permission `container.clusters.connect`, as ", codeSpan(ir.MemberRole), " does. ", address)
}

// idleNodes returns how many nodes run while there is no job, by node pool.
func idleNodes(p *ir.Platform) markup {
	total := p.SystemPool.NodesPerZone * len(p.Zones)
	pools := formatNumber(total) + " of " + codeSpan(p.SystemPool.Name)
	for _, c := range p.Capacities {
		if n := c.IdleNodes(); n > 0 {
			total += n
			pools += ", " + formatNumber(n) + " of " + codeSpan(c.Name)
		}
	}
	return formatNumber(total) + ": " + pools
}

// otherNodes says that other nodes start with jobs, if a capacity can have more nodes
// than run without jobs.
func otherNodes(p *ir.Platform) markup {
	if !p.AnyCapacity(func(c ir.Capacity) bool { return c.MaxNodes > c.IdleNodes() && !c.Waiting }) {
		return ""
	}
	return "; other nodes start with the jobs that need them"
}

// kueueLook returns the commands that show queues and capacities.
func kueueLook(p *ir.Platform) [][]markup {
	rows := [][]markup{
		{codeSpan("kubectl get clusterqueues -o wide"), "every queue, with its pending and admitted workloads. Kueue " +
			"admits a job, and lets its pods start, when " + whenAdmitted(p)},
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
		"Find the blueprint: the CUE, YAML or JSON files in which the field `name` is "+codeSpan(p.Name)+
			", most likely in the git repository that has this folder.",
		"Get [batchwright](https://github.com/batchwright/batchwright): its README.md says how to install it.",
		"Run `batchwright diff` in the directory of the blueprint, with the paths and options of the last compile. If "+
			"it shows a difference before you change something, the paths or options are wrong.",
		"Change the blueprint, and run `batchwright diff` again to see what the change means for jobs, quota and "+
			"nodes.",
		"Run `batchwright compile`. It writes only the files that the change affects.",
		"Commit the blueprint and the folder together, and have the change reviewed.",
		applyChange(p)+linkIf(len(p.Teams) > 0, ". If you removed something, first read ",
			schedulerOf(p).removal)+".")
	d.Para("Change the blueprint, and edit no generated file by hand. If somebody has edited one, ",
		"`batchwright compile` stops and names the file; `--force` overwrites it. You may keep files of your own ",
		"in this folder: `batchwright compile` leaves them alone. ",
		linkTo(referencePage, filesHeading), " lists the generated files.")
	kept := schedulerOf(p).kept
	if p.Delivery.GitOps.On() {
		kept = syncedKept(p)
	}
	if kept != "" && len(p.Teams) > 0 {
		d.Para(kept)
	}
}

// applyChange says how to apply a change.
func applyChange(p *ir.Platform) markup {
	g := p.Delivery.GitOps
	if !g.On() {
		return "Run `./create-platform.sh` again"
	}
	return "Merge the change into branch " + codeSpan(g.Branch) + ": " + toolName(p) + " applies it. If files in " +
		fileLink("terraform/") + " have changed, also run `./create-platform.sh` again"
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
	d.Para("The ", consoleLink("Metrics explorer", "monitoring/metrics-explorer", p.Project),
		" answers questions of your own in PromQL. The query of every chart is in the dashboard's file.")
	explainGrafana(d, p)
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
