package guide

import (
	"github.com/batchwright/batchwright/compiler/ir"
)

// explainRemoval explains how to remove a team or a capacity. It is needed because
// the build applies the folder without pruning.
func explainRemoval(d *document, p *ir.Platform) {
	if len(p.Teams) > 0 {
		d.Heading(2, schedulerOf(p).removal)
		schedulerOf(p).remove(d, p)
	}
}

// kueueRemove explains how to remove a team, a tier or a capacity.
func kueueRemove(d *document, p *ir.Platform) {
	d.Para(
		"Delete the team, tier or capacity from the blueprint and compile: this removes its files, and every mention ",
		"of it in other files. For a removed team, the next build revokes the team's roles and deletes ",
		"its bucket. For a removed capacity, it deletes the node pool.")
	d.Para(
		"Before the build deletes nodes, its step ", codeSpan("retire"), " stops the ClusterQueues that this folder ",
		"no longer has, and the jobs on a capacity that is removed or gets another machine type. The jobs have ",
		"their grace period to save their work. They keep their place in their queue, and start again on a capacity ",
		"that they may use; a job that may use no other waits until somebody deletes it. The step waits until the ",
		"jobs have stopped, and prints the commands that delete the queues.")
	d.Para(
		"The build deletes no Kubernetes object of the removed team, tier or capacity.", explainBuckets(p))
	shared := markup("")
	if len(p.SharedQueues) > 0 {
		shared = " (for teams that share it, one ClusterQueue, " + codeSpan(ir.ClusterQueuePrefix+"TIER") + ")"
	}
	d.Para("After the build an administrator deletes the objects that remain, in this order. Choose the commands that ",
		"apply. A removed team leaves its namespace, with everything in it, and its queues. The last team of a cohort ",
		"also leaves the cohort. A removed tier leaves its PriorityClass and the two queues of every team", shared,
		". A removed capacity leaves its flavor; the flavor's deletion waits until no queue uses it.")
	d.Code("sh",
		"kubectl delete namespaces NAMESPACE",
		"kubectl delete localqueues -n NAMESPACE "+ir.LocalQueuePrefix+"TEAM-TIER",
		"kubectl delete clusterqueues "+ir.ClusterQueuePrefix+"TEAM-TIER...",
		"kubectl delete cohorts COHORT",
		"kubectl delete priorityclasses "+string(classPlaceholder(p)),
		"kubectl delete resourceflavors CAPACITY")
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
	d.Para("This command destroys the platform, with all jobs in it:")
	d.Code("sh", "./destroy-platform.sh")
	cluster := markup("switches off the cluster's deletion protection, and deletes the resources of Terraform")
	if p.Delivery.InfrastructureManager {
		cluster = "and deletes the resources of Terraform, including a cluster with deletion protection"
	}
	d.Para("The script asks for confirmation. Then it submits ", fileLink("cloudbuild/destroy.yaml"), ", which ",
		schedulerOf(p).stops, "deletes the teams' namespaces with all jobs in them, ", cluster, ".", pointToBuckets(p),
		" These remain:")
	d.List(
		bucketPurpose(p)+", "+codeSpan(p.Delivery.StateBucket)+", with everything in it",
		"the repository of images, "+codeSpan(p.Delivery.Repository),
		"the service accounts of "+accountOwners(p)+"; only the build's still has roles",
		"the enabled services",
		"logs and metrics, until their retention ends")
	d.Para("The script prints the commands that remove the rest.")
}

// explainBuckets explains how to delete or keep the teams' buckets.
func explainBuckets(p *ir.Platform) markup {
	if !p.HasBuckets() {
		return ""
	}
	empty := markup(" The build stops at a team's bucket that still holds objects. Empty the bucket, including old " +
		"versions: `gcloud storage rm --recursive --all-versions \"gs://BUCKET/**\"`.")
	if p.Delivery.InfrastructureManager {
		return empty
	}
	return empty + " To keep the bucket instead, remove it from the Terraform state before the build. You need " +
		"Terraform and its credentials, as in " + linkTo(referencePage, stepsHeading) +
		". Run `terraform -chdir=terraform init`, then " +
		"`terraform -chdir=terraform state rm 'google_storage_bucket.team[\"TEAM\"]'`."
}

// pointToBuckets refers to the explanation of the teams' buckets, if there are any.
func pointToBuckets(p *ir.Platform) markup {
	if !p.HasBuckets() {
		return ""
	}
	return " The build stops at a team's bucket that still holds objects: " + linkHere(schedulerOf(p).removal) +
		" says how to empty or keep it."
}
