package guide

import (
	"net/url"
	"path"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/markdown"
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
		"the nodes that exist now, by node pool. " + explainIdle(p)}}
	for _, namespace := range append(slices.Clone(p.Scheduler.Facts().Namespaces[:1]), ir.JobSetNamespace) {
		rows = append(rows, []markup{codeSpan(shellCommand("kubectl", "get", "deployments", "-n", namespace)),
			"the controllers; the numbers under READY must be equal"})
	}
	rows = append(rows, schedulerOf(p).look(p)...)
	d.Table([]markup{"Command", "Shows"}, rows)
	d.Para("The console shows ", consoleLink("the cluster", "kubernetes/clusters/details/"+
		url.QueryEscape(p.Cluster.Location)+"/"+url.QueryEscape(p.Cluster.Name)+"/details", p.Project),
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
	address := markup(" The control plane has no public IP address.")
	switch {
	case !p.OwnsCluster(): // others decide about the public IP address
		address = ""
	case len(p.Cluster.AuthorizedNetworks) > 0:
		ranges := make([]string, len(p.Cluster.AuthorizedNetworks))
		for i, n := range p.Cluster.AuthorizedNetworks {
			ranges[i] = n.CIDR
		}
		address = " `cluster.authorizedNetworks` of the blueprint restricts only the public IP address, which " +
			"accepts connections from " + firstNames(ranges) + "."
	}
	d.Para("The command uses the control plane's DNS endpoint. This endpoint accepts callers from any network if IAM ",
		"gives them the permission `container.clusters.connect`, as ", codeSpan(ir.MemberRole), " does.", address)
}

// idlePools lists the node pools of the platform that have nodes while there is no job,
// with the number of these nodes, and returns the number of all.
func idlePools(p *ir.Platform) (pools []markup, total int) {
	add := func(name string, n int) {
		if n > 0 {
			pools = append(pools, formatNumber(n)+" of "+codeSpan(name))
			total += n
		}
	}
	add(p.SystemPool.Name, p.SystemPool.NodesPerZone*len(p.Zones))
	for _, c := range p.Capacities {
		add(c.Name, c.IdleNodes())
	}
	return pools, total
}

// idleNodes returns how many nodes of the platform run while there is no job, by node pool.
func idleNodes(p *ir.Platform) markup {
	pools, total := idlePools(p)
	if total == 0 {
		return "0"
	}
	return formatNumber(total) + ": " + markdown.Join(pools, ", ")
}

// explainIdle says how many nodes run while there is no job, and that others start with
// jobs, if a capacity can have more nodes than run without jobs.
func explainIdle(p *ir.Platform) markup {
	_, total := idlePools(p)
	starts := p.AnyCapacity(func(c ir.Capacity) bool { return c.MaxNodes > c.IdleNodes() && !c.Waiting })
	idle, others := "Without jobs there are "+idleNodes(p), markup("; other nodes start with the jobs that need them")
	switch {
	case p.OwnsCluster():
	case total == 0:
		idle, others = "Without jobs, none of them belongs to the platform",
			"; its nodes start with the jobs that need them"
	default:
		idle = "Without jobs, the platform has " + idleNodes(p)
	}
	if !starts {
		return idle
	}
	return idle + others
}

// ownQueues returns the command that shows the queues of the platform. In its own cluster
// there are no others.
func ownQueues(p *ir.Platform) string { return "kubectl get clusterqueues -o wide" + ownOnly(p) }

// ownOnly returns the arguments of kubectl that select the objects of the platform, "" in
// its own cluster.
func ownOnly(p *ir.Platform) string {
	if p.OwnsCluster() {
		return ""
	}
	return " -l " + partOf(p)
}

// kueueLook returns the commands that show queues and capacities.
func kueueLook(p *ir.Platform) [][]markup {
	queue := markup("every queue")
	if !p.OwnsCluster() { // others have queues, too
		queue = "every queue of the platform"
	}
	rows := [][]markup{
		{codeSpan(ownQueues(p)), queue + ", with its pending and admitted workloads. Kueue admits a job, and lets " +
			"its pods start, when " + whenAdmitted(p)},
		{codeSpan("kubectl get resourceflavors" + ownOnly(p)), "the capacities, as Kueue knows them"},
	}
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.ComputeClass }) {
		rows = append(rows, []markup{codeSpan("kubectl describe computeclasses" + ownOnly(p)),
			"the ComputeClasses, and whether GKE accepts them"})
	}
	return rows
}

// explainChange explains how to change the platform, and which files of the folder may
// be edited.
func explainChange(d *document, p *ir.Platform) {
	d.Heading(2, "Change it")
	d.Steps(
		"Find the blueprint: the CUE, YAML or JSON files in which the field `name` is "+codeSpan(p.Name)+
			", most likely in the git repository that has this folder.",
		"Install [batchwright](https://github.com/batchwright/batchwright), in the version of the blueprint's "+
			"repository: `BATCHWRIGHT_REF` in the workflow, or `rev` in the configuration of pre-commit.",
		"Run `batchwright diff` in the directory of the blueprint, with the paths and options of the last compile. It "+
			"must show no difference. If it does, the version, the paths or the options differ, somebody has edited "+
			"this folder, or somebody has changed the blueprint without compiling it. Find the cause first: move an "+
			"edit into the blueprint, and have a change reviewed.",
		"Change the blueprint, and run `batchwright diff` again to see what the change means for jobs, quota and "+
			"nodes.",
		"Run `batchwright compile`. It writes only the files that the change affects. If the change removes more than "+
			"half of the teams or node pools, it requires `--allow-removal`.",
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
	for _, b := range monitoring.EmptyBoards(p) {
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
	explainMetrics(d, p)
}
