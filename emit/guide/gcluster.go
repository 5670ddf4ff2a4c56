package guide

import (
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// gclusterHeading is the title of the section on gcluster, to which
// instructions.txt points.
const gclusterHeading = "With Cluster Toolkit"

// gcluster says what `gcluster deploy` builds, and what remains to run. The
// section is absent if Infrastructure Manager keeps the state: gcluster would
// make a second state beside it.
//
// Source: Cluster Toolkit, cmd/deploy.go and pkg/shell/terraform.go.
func gcluster(d *document, p *ir.Platform) {
	if p.Delivery.InfrastructureManager {
		return
	}
	d.Heading(3, gclusterHeading)
	d.Para("Cluster Toolkit's `gcluster` can run Terraform in place of the build. Both keep the same state, ",
		"so that either can follow the other. `gcluster deploy` says how much it is about to change, and asks first. ",
		"From this folder, with Terraform and its credentials as above:")
	d.Code("sh",
		"./create-platform.sh --prepare",
		"gcluster deploy .")
	d.Para("That makes the network, the cluster, its node pools, the identities, the dashboards and the alerts. ",
		"The cluster is still empty: the scheduler, JobSet, the teams' namespaces and their queues are missing. ",
		"Let the build add them, which leaves what stands as it is, or run the commands above by hand, from those of "+
			"the project's identities on:")
	d.Code("sh", "./create-platform.sh")
}

// gclusterDestroy says how gcluster takes down what Terraform made. Source of
// what is left behind: GKE documentation, "Deleting a cluster".
func gclusterDestroy(d *document, p *ir.Platform) {
	if p.Delivery.InfrastructureManager {
		return
	}
	d.Para("The script also takes down what `gcluster` has deployed. `gcluster destroy` deletes what Terraform made, ",
		"and leaves behind the disks of the teams' volumes, which only the cluster could delete: use it if nobody has ",
		"submitted a job yet.", protection(p))
	lines := []string{"gcluster destroy ."}
	if p.Cluster.DeletionProtection {
		lines = append([]string{
			"terraform -chdir=terraform init",
			"terraform -chdir=terraform apply -target=google_container_cluster.main -var=deletion_protection=false",
		}, lines...)
	}
	d.Code("sh", lines...)
}

// protection says why the deletion protection comes first. Source: documentation
// of the Terraform provider hashicorp/google, google_container_cluster: the value
// in the state counts; documentation of Terraform: terraform.tfvars goes before
// variables of the environment.
func protection(p *ir.Platform) markup {
	if !p.Cluster.DeletionProtection {
		return ""
	}
	return " It stops at the cluster's deletion protection until a value of false has been applied; " +
		"`TF_VAR_deletion_protection` has no effect, because " + file("terraform/terraform.tfvars") + " goes before it."
}

// instructions returns instructions.txt, to which gcluster points at the end of
// `gcluster deploy`.
func instructions(p *ir.Platform) []byte {
	lines := []string{
		"Deploy folder of " + p.Name,
		"",
		"gcluster runs Terraform in the folder terraform: the network, the cluster, its node",
		"pools, the identities, the dashboards and the alerts. The scheduler, JobSet and the",
		"teams' queues come after that:",
		"",
		"  ./create-platform.sh",
		"",
		"How to prepare the project, and how to take the platform down: README.md in this",
		"folder, sections \"" + gclusterHeading + "\" and \"Undo it\".",
	}
	if p.Delivery.InfrastructureManager {
		lines = []string{
			"Deploy folder of " + p.Name,
			"",
			"Infrastructure Manager applies this platform and keeps its state. Do not deploy it with",
			"gcluster, which would make a second state. How to build the platform, and how to take",
			"it down: README.md in this folder, sections \"Build it\" and \"Undo it\".",
		}
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}
