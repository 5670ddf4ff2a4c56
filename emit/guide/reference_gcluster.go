package guide

import (
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// explainGcluster explains what `gcluster deploy` builds, and which commands must
// follow. The section is absent if Infrastructure Manager keeps the state, because
// gcluster would create a second state.
//
// Sources: Cluster Toolkit, README.md, cmd/deploy.go, pkg/shell/terraform.go and
// pkg/telemetry/README.md, all of v1.95.
func explainGcluster(d *document, p *ir.Platform) {
	if p.Delivery.InfrastructureManager {
		return
	}
	d.Heading(2, toolkitHeading)
	d.Para("Cluster Toolkit's `gcluster` can run Terraform instead of the build. Both use the same state, so you can ",
		"run either after the other. First do what ", linkTo(readmePage, beforeHeading), " says.")
	d.Para("`gcluster` requires Terraform 1.12.2 or later and its credentials. Terraform acts as you, so you also ",
		"need the ", linkHere(buildRightsHeading), ". On a terminal, `gcluster` also asks for Packer 1.15.0, which ",
		"this folder does not use. To build `gcluster` you need git, make and Go. Run these commands outside this ",
		"folder:")
	d.Code("sh",
		"git clone https://github.com/GoogleCloudPlatform/cluster-toolkit",
		"make -C cluster-toolkit",
		"gcloud auth application-default login")
	d.Para("The result of `make` is the program `gcluster` in the folder of the clone. Put it into a folder of your ",
		"`PATH`, or type its path instead of `gcluster`. It sends usage statistics to Google unless you switch them ",
		"off:")
	d.Code("sh", "gcluster telemetry off")
	d.Para("Then run these commands in this folder. The first creates the bucket of the state, and everything else ",
		"that the build would need. The second plans, shows the size of the change, and asks what to do: choose ",
		"(A)pply. This folder is the deployment folder: there is no blueprint of Cluster Toolkit to fill in, and the ",
		"values are in ", fileLink("terraform/terraform.tfvars"), ".")
	d.Code("sh",
		"./create-platform.sh --prepare",
		"gcluster deploy .")
	d.Para("`gcluster` creates ", createdByTerraform(p), ". When it runs Terraform, that adds hashes to ",
		fileLink("terraform/.terraform.lock.hcl"), ", and the next `batchwright diff` reports a hand edit: restore ",
		"the file before you compile again. ", emptyCluster(p))
	if !p.Delivery.GitOps.On() {
		d.Code("sh", "./create-platform.sh")
	}
	gclusterDestroy(d, p)
}

// emptyCluster says what gcluster leaves to do.
func emptyCluster(p *ir.Platform) markup {
	empty := markup("The cluster is still empty: ")
	if !p.OwnsCluster() {
		empty = "The cluster has no objects of the platform yet: "
	}
	if p.Delivery.GitOps.On() {
		return empty + toolName(p) + " adds " + softwareBefore(p) + "the teams' namespaces and their queues (" +
			linkTo(readmePage, syncHeading) + ")."
	}
	return empty + softwareBefore(p) + "the teams' namespaces and their queues are missing. " +
		"To add them, run the commands of " + linkHere(stepsHeading) + " that follow the `terraform` commands, or " +
		"let the build add them. The build leaves existing resources as they are:"
}

// softwareBefore names what the platform installs, as the beginning of a list.
func softwareBefore(p *ir.Platform) (m markup) {
	if p.InstallsScheduler() {
		m = "the scheduler, "
	}
	if p.InstallsJobSet() {
		m += "JobSet, "
	}
	return m
}

// gclusterDestroy explains how gcluster destroys the resources of Terraform. Source
// for the disks that remain: GKE documentation, "Deleting a cluster".
func gclusterDestroy(d *document, p *ir.Platform) {
	if !p.OwnsCluster() {
		d.Para("`./destroy-platform.sh` also removes a platform that `gcluster` has deployed. `gcluster destroy` ",
			"deletes only the resources of Terraform, such as the node pools, and leaves all objects in the cluster ",
			"behind: use it only before the first build.")
		d.Code("sh", "gcluster destroy .")
		return
	}
	d.Para("`./destroy-platform.sh` also destroys a platform that `gcluster` has deployed. `gcluster destroy` deletes ",
		"only Terraform's resources. Volume disks remain, because only the cluster can delete them: use `gcluster ",
		"destroy` only before the first job.", explainProtection(p))
	lines := []string{"gcluster destroy ."}
	if p.Cluster.DeletionProtection {
		lines = append([]string{
			initCommand(p),
			"terraform -chdir=terraform apply -target=google_container_cluster.main -var=deletion_protection=false",
		}, lines...)
	}
	d.Code("sh", lines...)
}

// explainProtection explains why the deletion protection must be switched off first.
// Source: documentation of the Terraform provider hashicorp/google,
// google_container_cluster (the provider reads the value from the state), and
// documentation of Terraform (terraform.tfvars takes precedence over environment
// variables).
func explainProtection(p *ir.Platform) markup {
	if !p.Cluster.DeletionProtection {
		return ""
	}
	return " With deletion protection, `gcluster destroy` deletes the alerts and dashboards, and then fails at the " +
		"cluster. Switch the protection off first. " +
		"`TF_VAR_deletion_protection` has no effect, because " + fileLink("terraform/terraform.tfvars") + " takes " +
		"precedence over it."
}

// addedLine ends the sentence "To add the" with what the build adds after gcluster.
func addedLine(p *ir.Platform) string {
	switch {
	case p.InstallsScheduler() && p.InstallsJobSet():
		return "scheduler, JobSet and the teams' queues, run:"
	case p.InstallsScheduler():
		return "scheduler and the teams' queues, run:"
	case p.InstallsJobSet():
		return "software JobSet and the teams' queues, run:"
	}
	return "teams' queues, run:"
}

// instructionsFile returns instructions.txt. `gcluster deploy` prints its path at the
// end.
func instructionsFile(p *ir.Platform) []byte {
	created, pools := "the network, the", "cluster, its node pools, the identities, the dashboards and the alerts."
	switch {
	case !p.OwnsCluster():
		created, pools = "the", "node pools, the identities, the dashboards and the alerts."
	case p.Network.Existing != nil:
		created = "the"
	}
	lines := []string{
		"Deploy folder of " + p.Name,
		"",
		"gcluster runs Terraform in the folder terraform. Terraform creates " + created,
		pools + " To add the",
		addedLine(p),
		"",
		"  ./create-platform.sh",
		"",
		"README.md says what must exist first and how to destroy the platform: sections",
		"\"" + string(beforeHeading) + "\" and \"" + string(undoHeading) + "\". REFERENCE.md has the commands of " +
			"gcluster:",
		"section \"" + string(toolkitHeading) + "\". USING.md is for the people who submit jobs.",
	}
	if p.Delivery.GitOps.On() {
		lines = slices.Replace(lines, 3, 7, append([]string{pools}, syncedInstructions(p)...)...)
	}
	if p.Delivery.InfrastructureManager {
		lines = []string{
			"Deploy folder of " + p.Name,
			"",
			"Infrastructure Manager applies this platform and keeps its state. Do not deploy it with",
			"gcluster, which would create a second state. README.md says how to build and how to",
			"destroy the platform: sections \"" + string(buildHeading) + "\" and \"" + string(undoHeading) + "\". " +
				"USING.md is",
			"for the people who submit jobs.",
		}
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}
