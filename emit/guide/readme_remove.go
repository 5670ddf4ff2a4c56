package guide

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/markdown"
)

// explainRemoval explains how to remove a team or a capacity. It is needed because
// the build applies the folder without pruning.
func explainRemoval(d *document, p *ir.Platform) {
	if len(p.Teams) > 0 {
		d.Heading(2, schedulerOf(p).removal)
		if p.Delivery.GitOps.On() {
			gitOpsRemove(d, p)
			return
		}
		schedulerOf(p).remove(d, p)
	}
}

// kueueRemove explains how to remove a team, a tier or a capacity.
func kueueRemove(d *document, p *ir.Platform) {
	d.Para(
		"Delete the team, tier or capacity from the blueprint and compile: this removes its files, and every mention ",
		"of it in other files. For a removed team, the next build revokes the roles that the blueprint gave its ",
		"jobs", deletesBucket(p), ". For a removed capacity, it deletes the node pool.")
	d.Para(
		"Before the build deletes nodes, its step ", codeSpan("retire"), " stops the ClusterQueues that this folder ",
		"no longer has. It also evicts all jobs on each capacity whose nodes Terraform's plan deletes or replaces; ",
		codeSpan("batchwright diff"), " lists these capacities beforehand. The jobs have their grace period to save ",
		"their work. They keep their place in their queue, and start again on another capacity that they can use. A ",
		"job that can use no other capacity stays pending until a user deletes it. The step waits until the pods ",
		"have ended, and prints the commands that delete the queues. If Kueue does not run, the step evicts no job: ",
		"jobs on nodes that the build deletes end with these nodes.")
	classes := markup("PriorityClass")
	if manyClasses(p) {
		classes = "PriorityClasses"
	}
	d.Para("The build deletes the ", classes, " of a removed tier, and no other Kubernetes object of the removed ",
		"team, tier or capacity.")
	explainBuckets(d, p)
	explainRightsThatStay(d, p)
	team, tier, queues := kueueRemains(p)
	cohort := markup("")
	if len(p.Cohorts) > 0 {
		cohort = "The last team of a cohort also leaves the cohort. "
	}
	d.Para("After the build an administrator deletes the objects that remain, in this order. Choose the commands that ",
		"apply. Run a command with `TEAM` once for each team. A removed team leaves its namespace, with everything ",
		"in it", team, ". ", cohort, "A removed tier leaves ", tier,
		". A removed capacity leaves its flavor; the flavor's deletion waits until no queue uses it.")
	commands := append([]string{
		"kubectl delete namespaces NAMESPACE",
		"kubectl delete localqueues -n NAMESPACE " + p.LocalQueueExample(),
	}, queues...)
	if cohort != "" {
		commands = append(commands, "kubectl delete cohorts COHORT")
	}
	d.Code("sh", append(commands, "kubectl delete resourceflavors CAPACITY")...)
	keepNamespaces(d, p)
}

// kueueRemains returns the ClusterQueues that a removed team leaves, with a comma before
// them, the objects that a removed tier leaves, and the commands that delete
// ClusterQueues. A ClusterQueue belongs to one team, or to a tier that teams share.
func kueueRemains(p *ir.Platform) (team, tier markup, commands []string) {
	own := false
	for _, t := range p.Teams {
		own = own || slices.ContainsFunc(t.Queues, func(q ir.Queue) bool { return !q.Shared })
	}
	ownQueue, sharedQueue := p.ClusterQueueExamples()
	if own {
		team = ", and its ClusterQueues"
		commands = append(commands, "kubectl delete clusterqueues "+ownQueue)
	}
	if len(p.SharedQueues) > 0 && (!own || sharedQueue != ownQueue) {
		commands = append(commands, "kubectl delete clusterqueues "+sharedQueue)
	}
	switch {
	case len(p.SharedQueues) == 0:
		return team, "the LocalQueue and the ClusterQueue of every team", commands
	case !own:
		return team, "its ClusterQueue, and the LocalQueue of every team", commands
	}
	return team, "the LocalQueue and the ClusterQueue of every team; if teams share the tier, it leaves one " +
		"ClusterQueue, " + codeSpan(sharedQueue), commands
}

// deletesBucket says that a build also deletes the bucket of a removed team, if there
// are such buckets.
func deletesBucket(p *ir.Platform) markup {
	if !p.HasBuckets() {
		return ""
	}
	return ", and deletes its bucket"
}

// explainRightsThatStay says which rights of a removed team the build does not revoke,
// and how to revoke them. The plan no longer has the team: what depends on the team
// begins with "if".
func explainRightsThatStay(d *document, p *ir.Platform) {
	var rights []markup
	if !p.Delivery.GitOps.On() {
		until := markup("deleted")
		if !p.OwnsCluster() {
			until = "deleted or given back"
		}
		rights = append(rights, "The members of a removed team keep their rights in its namespace until the "+
			"namespace is "+until+".")
	}
	if p.HasGroups() {
		dashboards := markup("")
		if len(p.Monitoring.MemberRoles) > 0 {
			dashboards = " and open the dashboards" + inTensorBoard(p)
		}
		rights = append(rights, "The people of the team's group can connect to the cluster"+dashboards+
			" as long as the group is a member of "+codeSpan(p.Cluster.SecurityGroup)+
			". An administrator of the domain ends this membership.")
	}
	rights = append(rights, "Roles that others have granted to the team's jobs stay, and a later team with this "+
		"namespace would get them: revoke them. If the team had a Google service account of its own, the account "+
		"stays with its roles. After the build, delete it with "+codeSpan(shellCommand("gcloud", "iam",
		"service-accounts", "delete", "ACCOUNT@"+p.Project+".iam.gserviceaccount.com", "--project="+p.Project))+".")
	d.Para(markdown.Join(rights, " "))
}

// classPlaceholder returns the placeholder of a PriorityClass in commands.
func classPlaceholder(p *ir.Platform) markup {
	if manyClasses(p) {
		return "CLASS"
	}
	return "TIER"
}

// explainDestroy explains how to destroy the platform, and lists what remains.
func explainDestroy(d *document, p *ir.Platform) {
	d.Heading(2, undoHeading)
	explainDisconnect(d, p)
	explainDestroyTakenOver(d, p)
	if !p.OwnsCluster() {
		explainLeave(d, p)
		return
	}
	d.Warning("This command deletes the cluster, with all jobs in it. Deletion protection does not prevent it.")
	d.Code("sh", "./destroy-platform.sh")
	cluster := markup("switches off the cluster's deletion protection, and deletes the resources of Terraform")
	if p.Delivery.InfrastructureManager {
		cluster = "and deletes the resources of Terraform, including a cluster with deletion protection"
	}
	d.Para("The script asks for confirmation. Then it submits ", fileLink("cloudbuild/destroy.yaml"), ", which ",
		schedulerOf(p).stops, "deletes the teams' namespaces with all jobs in them, ", cluster, ".",
		deletesTensorBoard(p), pointToBuckets(p), " These remain:")
	d.List(remainsInProject(p)...)
	d.Para("The script prints the commands that remove the rest.")
	// Source: Resource Manager documentation, "Delete and restore projects".
	d.Para("If the project holds nothing except this platform, an owner can delete the project instead, which stops ",
		"all its costs at once. Google Cloud deletes the project for good after 30 days, and some of its data, such ",
		"as buckets, earlier. Nobody can use the project's ID again. The command asks for confirmation:")
	d.Code("sh", shellCommand("gcloud", "projects", "delete", p.Project))
}

// deletesTensorBoard says that the destroying build deletes the TensorBoard, if there is
// one.
func deletesTensorBoard(p *ir.Platform) markup {
	if p.Monitoring.TensorBoard == "" {
		return ""
	}
	return " This also deletes the TensorBoard, with the data of all experiments."
}

// remainsInProject lists what the destroying build keeps in the project.
func remainsInProject(p *ir.Platform) []markup {
	remains := []markup{
		bucketPurpose(p) + ", " + codeSpan(p.Delivery.StateBucket) + ", with everything in it",
		"the repository of images, " + codeSpan(p.Delivery.Repository),
		"the service accounts of " + accountOwners(p) + ". Of these, only the account of the build still has roles",
		"the enabled services",
		"logs and metrics, until their retention ends",
	}
	if len(p.Teams) > 0 {
		remains = slices.Insert(remains, 3, "the service account of image builds, if you have created it: "+
			codeSpan(p.ImageAccount().Email(p.Project)))
	}
	if roles := p.Delivery.AllCustomRoles(); len(roles) > 0 {
		remains = slices.Insert(remains, len(remains)-2, nameRoles(roles))
	}
	return remains
}

// nameRoles names custom roles of the project.
func nameRoles(roles []ir.CustomRole) markup {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = r.ID
	}
	if len(names) == 1 {
		return "the custom role " + codeList(names) + ", which gives no rights without a binding"
	}
	return "the custom roles " + codeList(names) + ", which give no rights without a binding"
}

// explainBuckets explains how to delete or keep the teams' buckets.
func explainBuckets(d *document, p *ir.Platform) {
	if !p.HasBuckets() {
		return
	}
	const empty = "`gcloud storage rm --recursive --all-versions \"gs://BUCKET/**\"`."
	if p.Delivery.InfrastructureManager {
		d.Para("The build stops at a team's bucket that still holds objects. Before the build, empty it with ", empty)
	} else {
		d.Para("The build stops at a team's bucket that still holds objects. Before the build, choose one:")
		d.List(
			"Keep the bucket: remove it from the Terraform state. You need Terraform and its credentials, as in "+
				linkTo(referencePage, stepsHeading)+". Run "+codeSpan(initCommand(p))+", then "+
				"`terraform -chdir=terraform state rm 'google_storage_bucket.team[\"TEAM\"]' "+
				"'google_storage_bucket_iam_policy.team[\"TEAM\"]'`.",
			"Delete the bucket with its data: empty it with "+empty)
	}
	// Source: Cloud Storage documentation, "Soft delete": seven days, unless a bucket or an
	// organization sets another time.
	d.Warning("`--all-versions` also deletes the versions that the bucket keeps of deleted objects. Unless your ",
		"organization has changed the soft delete of buckets, they can be restored for seven days.")
	d.Para("If a build has already stopped at such a bucket, the bucket has no policy any more: even an owner of the ",
		"project then needs `roles/storage.admin` in the project to empty it.")
}

// pointToBuckets refers to the explanation of the teams' buckets, if there are any.
func pointToBuckets(p *ir.Platform) markup {
	if !p.HasBuckets() {
		return ""
	}
	how := markup(" says how to empty or keep it.")
	if p.Delivery.InfrastructureManager {
		how = " says how to empty it."
	}
	return " The build stops at a team's bucket that still holds objects; the script names such buckets before it " +
		"asks: " + linkHere(schedulerOf(p).removal) + how
}
