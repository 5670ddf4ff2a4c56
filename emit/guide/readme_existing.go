package guide

import (
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// The parts of README.md for a platform in a cluster that others own.

// partOf is the label of all objects of the platform, as kubectl reads and writes it.
func partOf(p *ir.Platform) string { return ir.LabelPartOf + "=" + p.Name }

// buildBinding is the name of the ClusterRoleBinding with which the owner of the cluster
// gives the build its rights there.
func buildBinding(p *ir.Platform) string { return p.Name + "-build" }

// inCluster names the cluster of a platform, if others own it.
func inCluster(p *ir.Platform) markup {
	if p.OwnsCluster() {
		return ""
	}
	return " It uses the cluster " + codeSpan(p.Cluster.Name) + ", which belongs to others."
}

// describeExistingCluster says what the platform adds to the cluster of others, and what
// it uses there.
func describeExistingCluster(d *document, p *ir.Platform) {
	var uses []markup
	if p.OthersRunKueue() {
		uses = append(uses, "Kueue")
	}
	if p.OthersRunJobSet() {
		uses = append(uses, "JobSet")
	}
	software := markup("")
	if len(uses) > 0 {
		software = " It uses " + words.And(uses) + ", which others run there."
	}
	if names := installedByPlatform(p); len(names) > 0 {
		software += " It installs " + words.And(names) + "."
	}
	d.Para("The cluster ", codeSpan(p.Cluster.Name), " in ", codeSpan(p.Cluster.Location), ", project ",
		codeSpan(p.Project), ", belongs to others. The platform adds node pools, namespaces, queues, identities, ",
		"dashboards and alerts, and changes nothing else in the cluster.", software)
	d.Para("The blueprint describes the cluster in `cluster: existing`. The step `cluster` of the build compares this ",
		"description with the cluster, and reports all differences at once, before the build changes anything.")
}

// installedByPlatform returns the names of the controllers that the platform brings into a
// cluster.
func installedByPlatform(p *ir.Platform) (names []markup) {
	if p.InstallsKueue() {
		names = append(names, "Kueue")
	}
	if p.InstallsJobSet() {
		names = append(names, "JobSet")
	}
	return names
}

// askClusterOwner lists what the owner of the cluster must do before the first build.
// Sources: Kubernetes documentation, "Using RBAC Authorization", privilege escalation
// prevention; GKE documentation, "Automatically created firewall rules".
func askClusterOwner(d *document, p *ir.Platform) {
	if p.OwnsCluster() {
		return
	}
	d.Para("Ask the owner of the cluster to run this command before the first build. It gives the build all rights ",
		"in the cluster: the build creates namespaces, roles and admission policies, and Kubernetes lets nobody ",
		"grant a right that they do not have. ", linkTo(referencePage, buildRightsHeading), " lists the rights in ",
		"Google Cloud, which do not include deleting the cluster.")
	d.Code("sh", shellCommand("kubectl", "create", "clusterrolebinding", buildBinding(p), "--clusterrole=cluster-admin",
		"--user="+p.Delivery.Account.Email(p.Project)))
	if names := installedByPlatform(p); len(names) > 0 {
		run, ports := markup(" runs"), markup("TCP port 9443")
		if len(names) > 1 {
			run = " run"
		}
		if p.InstallsKueue() {
			ports = "TCP ports 8082 and 9443"
		}
		d.Para(words.And(names), run, " on nodes of others: the cluster needs nodes without taints. The control ",
			"plane must reach ", ports, " of these nodes. GKE itself lets a private control plane reach only ports ",
			"443 and 10250, so the owner of the network may have to add a firewall rule.")
	}
	explainKueueOfOthers(d, p)
}

// explainKueueOfOthers says what Kueue of others must do, and what its owner decides.
func explainKueueOfOthers(d *document, p *ir.Platform) {
	if !p.OthersRunKueue() {
		return
	}
	k := p.Cluster.Existing.Kueue
	labels := make([]string, len(k.NamespaceLabels))
	for i, l := range k.NamespaceLabels {
		labels[i] = l.Key + ": " + l.Value
	}
	where := markup("in the namespaces of the teams")
	if len(labels) > 0 {
		where += ", which get " + pluralOf(len(labels), "the label ", "the labels ") + codeList(labels)
	}
	managed := markup(" The step `managed` of the build checks that a job of each team waits for its queue.")
	if p.Delivery.GitOps.On() {
		managed = ""
	}
	d.Para("Kueue ", escapeText(k.Version), " or later must run in namespace ", codeSpan(ir.KueueNamespace),
		", and manage ", codeList(ir.KueueFrameworks()), " ", where, ".", managed, " The owner of Kueue decides the ",
		"rest of its configuration: how long jobs may wait for their pods (`waitForPodsReady`), which resources need ",
		"no quota (`resources.excludeResourcePrefixes`), and whether queues share by weight (`fairSharing`).")
}

// pluralOf returns one for the number 1, and otherwise many.
func pluralOf(n int, one, many markup) markup {
	if n == 1 {
		return one
	}
	return many
}

// explainObjectsOfOthers explains what to do with an object of the folder that exists
// already and belongs to others.
func explainObjectsOfOthers(d *document, p *ir.Platform) {
	if p.OwnsCluster() {
		return
	}
	d.Heading(2, othersHeading)
	label := codeSpan(ir.LabelPartOf + ": " + p.Name)
	own, shared := p.ClusterQueueExamples()
	if len(p.SharedQueues) > 0 {
		own = shared
	}
	synced := p.Delivery.GitOps.On()
	found := markup(" If an object of this folder exists without this label, the step `cluster` reports it, and the " +
		"build stops before it changes anything.")
	printed := markup(": the step prints the command for each object")
	if synced {
		found, printed = "", ""
	}
	d.Para("Queues, flavors and priorities are in no namespace, so each of their names exists once in the cluster. An ",
		"object with a name of this folder may exist already and belong to others. The same holds for the namespaces ",
		"of the teams. The platform recognizes its own objects by the label ", label, ".", found)
	if synced {
		d.Para("The step `cluster` compares only node pools, because ", toolName(p), " applies the objects. Before ",
			"you connect ", toolName(p), ", list the objects of this folder that exist already. An object without the ",
			"label belongs to others, and ", toolName(p), " would overwrite it:")
		d.Code("sh", listExisting...)
	}
	d.Para("There are two ways for such an object:")
	d.List(
		"Rename it in the blueprint, and compile again. Most objects have the name of a team, a tier, a capacity or a "+
			"cohort in their name.",
		"Let its owner hand it over. The owner sets the label, and on a namespace a second one"+printed+
			". For a namespace and a ClusterQueue:")
	d.Code("sh",
		"kubectl label namespaces NAMESPACE "+partOf(p)+" "+ir.ExistingNamespace+"=true --overwrite",
		"kubectl label clusterqueues "+own+" "+partOf(p)+" --overwrite")
	d.Para("A node pool cannot be handed over by a label. If one of others has the name of a capacity, rename the ",
		"capacity, or take over the pool with `takeOver` of the capacity.")
	warnOfSecondController(d, p)
	d.Para("An object that was handed over belongs to the platform:")
	d.List(
		"Fields that this folder sets are overwritten. Other fields stay as they are.",
		"In a namespace, the rules of the teams hold for everybody. Pods accept connections only from the namespace. "+
			"New pods must meet the Pod Security Standard of the teams. New Jobs and JobSets must use the queues of "+
			"the team, and Services must be headless ("+linkTo(usingPage, refusedHeading)+"). Running pods continue.",
		"`./destroy-platform.sh` deletes the object, like all objects of the platform. Only a namespace with the "+
			"label "+codeSpan(ir.ExistingNamespace)+" stays: its owner gets it back ("+linkHere(undoHeading)+").")
}

// warnOfSecondController says how to see that others run a controller that the platform
// would install, and what to do then.
func warnOfSecondController(d *document, p *ir.Platform) {
	names := installedByPlatform(p)
	if len(names) == 0 {
		return
	}
	var commands []markup
	if p.InstallsKueue() {
		commands = append(commands, codeSpan("kubectl get deployments -n "+ir.KueueNamespace))
	}
	if p.InstallsJobSet() {
		commands = append(commands, codeSpan("kubectl get deployments -n "+ir.JobSetNamespace))
	}
	replaced := markup("If others run such a controller already, the step `cluster` stops the build.")
	if p.Delivery.GitOps.On() {
		replaced = toolName(p) + " would replace a controller that others run. Before you connect " + toolName(p) +
			", look: " + words.And(commands) + "."
	}
	d.Para("The platform installs ", words.And(names), ". ", replaced, " Never hand over an object of a controller. ",
		"Name the controller in `cluster: existing` of the blueprint, and compile again: the platform then uses it.")
}

// keepNamespaces explains how to give back the namespace of a removed team that its owner
// has handed over.
func keepNamespaces(d *document, p *ir.Platform) {
	if p.OwnsCluster() {
		return
	}
	d.Para("If the owner of a namespace has handed it over (", linkHere(othersHeading), "), do not delete it. These ",
		"commands give it back, without the objects", platformMarks(p), ":")
	const delete = "kubectl delete localqueues,rolebindings,serviceaccounts,networkpolicies,configmaps -n NAMESPACE -l "
	forget := "kubectl create namespace NAMESPACE --dry-run=client -o yaml | kubectl apply --server-side " +
		"--field-manager=batchwright -f -"
	team := ""
	if p.Delivery.GitOps.On() {
		forget, team = "kubectl annotate namespaces NAMESPACE queues- bucket-", "team- "+ir.LabelManagedBy+"- "
	}
	d.Code("sh", delete+partOf(p), forget,
		"kubectl label namespaces NAMESPACE "+team+ir.LabelPartOf+"- "+ir.ExistingNamespace+"-")
}

// platformMarks continues the list of what a namespace loses when its owner gets it back. A
// GitOps tool has set the labels and annotations in its own name, and keeps most of them.
func platformMarks(p *ir.Platform) markup {
	if p.Delivery.GitOps.On() {
		return " of the platform"
	}
	return ", labels and annotations of the platform"
}

// explainLeave explains how to remove the platform from the cluster of others, and lists
// what remains.
func explainLeave(d *document, p *ir.Platform) {
	d.Warning("This command removes the platform from the cluster: its node pools, its objects, and the teams' ",
		"namespaces with all jobs in them. The cluster stays, and what belongs to others.")
	d.Code("sh", "./destroy-platform.sh")
	uninstalls := markup("")
	names := installedByPlatform(p)
	if len(names) > 0 && !p.Delivery.GitOps.On() {
		uninstalls = ", uninstalls " + words.And(names) + " unless others use " + pluralOf(len(names), "it", "them")
	}
	d.Para("The script asks for confirmation. Then it submits ", fileLink("cloudbuild/destroy.yaml"), ", which ",
		schedulerOf(p).stops, "deletes the teams' namespaces with all jobs in them, deletes all other objects with ",
		"the label ", codeSpan(ir.LabelPartOf+": "+p.Name), uninstalls, ", and deletes the resources of Terraform, ",
		"such as the node pools. ", linkTo(referencePage, removalStepsHeading), " lists the steps.",
		deletesTensorBoard(p),
		pointToBuckets(p))
	d.Para("A namespace that its owner has handed over (", linkHere(othersHeading), ") stays. It loses the objects",
		platformMarks(p), ", and nothing else. Its jobs in the platform's queues stop, and wait ",
		"until somebody gives them another queue. These also remain:")
	d.List(append(remainsInCluster(p), remainsInProject(p)...)...)
	d.Para("The script prints the commands that remove the rest. The owner of the cluster revokes the rights of the ",
		"build:")
	d.Code("sh", shellCommand("kubectl", "delete", "clusterrolebindings", buildBinding(p)))
}

// remainsInCluster lists what remains in the cluster of others, and belongs to no team.
func remainsInCluster(p *ir.Platform) []markup {
	remains := []markup{"the ClusterRoleBinding " + codeSpan(buildBinding(p)) + ", which gives the build its rights"}
	if p.Monitoring.Grafana {
		remains = append(remains, "the namespace "+codeSpan(p.Monitoring.GrafanaNamespace)+" of the dashboards, if "+
			"the platform has not created it, or somebody uses it")
	}
	if names := installedByPlatform(p); len(names) > 0 && p.Delivery.GitOps.On() {
		them := pluralOf(len(names), "it", "them")
		remains = append(remains, words.And(names)+", which "+toolName(p)+" has installed: if nobody else uses "+them+
			", uninstall "+them+" after the build")
	}
	return remains
}

// besidesOthers says that others use the quota of the project, too.
func besidesOthers(p *ir.Platform) markup {
	if p.OwnsCluster() {
		return ""
	}
	return ", in addition to what the project uses already"
}

// securityGroupField returns the field of the blueprint with the group that contains the
// teams' groups.
func securityGroupField(p *ir.Platform) markup {
	if p.OwnsCluster() {
		return "`cluster.securityGroup`"
	}
	return "`cluster.existing.has.securityGroup`"
}

// limitField returns the field of the blueprint with a limit of node auto-provisioning.
func limitField(p *ir.Platform, field markup) markup {
	if p.OwnsCluster() {
		return "`cluster.autoProvisioning." + field + "`"
	}
	return "`cluster.existing.has.autoProvisioning." + field + "`"
}

// explainMetrics says which metrics the dashboards and alerts read in a cluster of others,
// and who provides them. Sources: Google Cloud documentation, "Get started with managed
// collection", about the label job; Kueue 0.19, configuration API, metrics and feature gates.
func explainMetrics(d *document, p *ir.Platform) {
	if p.OwnsCluster() {
		return
	}
	d.Para("The dashboards and alerts read the metrics of the whole cluster, also of nodes and queues of others. The ",
		"owner of the cluster decides which metrics exist:")
	var items []markup
	switch {
	case !p.Cluster.Existing.ManagedPrometheus:
		items = append(items, "Managed collection is off. The panels about queues and jobs stay empty, and the alerts "+
			"on them never fire.")
	case p.OthersRunKueue():
		items = append(items, "Queues: the owner of Kueue lets Managed Service for Prometheus scrape Kueue, with a "+
			"PodMonitoring of the name `kueue`. The panels about quota also need "+
			"`metrics.enableClusterQueueResources: true` in the configuration of Kueue, and the alert "+
			"`KueueWorkloadNeverFits` the feature gate `UnadmittedWorkloadsObservability`.")
	}
	if p.Cluster.Existing.ManagedPrometheus && p.OthersRunJobSet() {
		items = append(items, "JobSets: the owner of JobSet lets it scrape JobSet in the same way.")
	}
	packages := []string{"JOBSET"}
	if p.AnyCapacity(ir.Capacity.HasGPUs) {
		packages = []string{"DCGM", "JOBSET"}
	}
	items = append(items, "GKE's own metrics: the panels need "+codeList(packages)+" among the components that the "+
		"cluster monitors.")
	d.List(items...)
}
