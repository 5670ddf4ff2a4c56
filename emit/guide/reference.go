package guide

import (
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/monitoring"
)

// referenceFile returns REFERENCE.md.
func referenceFile(p *ir.Platform) []byte {
	return newPage(p, describeReference,
		googleQuota, iamQuota, listQuota, listNodeMarks, explainIdentities, listBuildSteps, listRemovalSteps,
		buildRights, gpuNetworks, listAlerts,
		explainSteps, explainGcluster, explainSubstitutions, listFiles,
	).Bytes()
}

// describeReference says what the page is for.
func describeReference(d *document, p *ir.Platform) {
	d.Heading(1, "Reference of "+codeSpan(p.Name))
	d.Para("This page has what is looked up: long tables, rights, and commands for special cases. ",
		fileLink(readmePage), " explains how to build and run the platform, and ", fileLink(usingPage),
		" how to submit jobs.")
}

// listAlerts lists the alerts.
func listAlerts(d *document, p *ir.Platform) {
	d.Heading(2, alertsHeading)
	d.Para("These alerts are policies of Cloud Monitoring. ", fileLink("dashboards/alert-rules.yaml"),
		" has the same alerts for a Prometheus server.")
	var alerts [][]markup
	for _, a := range monitoring.Alerts(p) {
		alerts = append(alerts, []markup{codeSpan(a.Name), escapeText(a.Severity), escapeText(a.Summary)})
	}
	d.Table([]markup{"Alert", "Severity", "Says"}, alerts)
}

// listFiles lists the files of the folder.
func listFiles(d *document, p *ir.Platform) {
	d.Heading(2, filesHeading)
	classes := markup("")
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.ComputeClass }) {
		classes = "ComputeClasses, "
	}
	toolkit := markup("lets Cluster Toolkit's `gcluster` deploy this folder")
	if p.Delivery.InfrastructureManager {
		toolkit += ", with a state of its own: do not use `gcluster` for a platform of Infrastructure Manager"
	}
	rows := [][]markup{
		{fileLink(readmePage), "for whoever builds and runs the platform"},
		{fileLink(usingPage), "for the people who submit jobs"},
		{fileLink(referencePage), "this page: long tables, rights, and commands for special cases"},
		{fileLink("create-platform.sh"), "builds or updates the platform"},
		{fileLink("destroy-platform.sh"), "destroys the platform"},
		{fileLink("cloudbuild/provision.yaml"), "the Cloud Build steps that build the platform"},
		{fileLink("cloudbuild/destroy.yaml"), "the Cloud Build steps that destroy the platform"},
		{fileLink("cloudbuild/image.yaml"), "the Cloud Build steps that build an image for the teams"},
		{fileLink("terraform/"), rootContents(p)},
		moduleRow(p),
		{fileLink("terraform/terraform.tfvars"), "the values of the root's variables"},
		{fileLink("kubernetes/"), "the objects to apply to the cluster: " + schedulerOf(p).applied(p, classes)},
	}
	if p.Images != (ir.Images{}) {
		rows = append(rows, []markup{fileLink("mirror.sh"),
			"copies the images and manifests that the platform installs"})
	}
	if p.Network.Existing != nil {
		rows = append(rows, []markup{fileLink("network-team/"), "for the owners of the network: what they must add"})
	}
	if p.TakesOver() {
		rows = append(rows, []markup{fileLink("takeover/"), "how the platform takes over resources that exist, and " +
			"the blocks with which their former owners let go of them"})
	}
	if p.Delivery.GitOps.On() {
		rows = append(rows, []markup{fileLink("gitops/"), "the objects of " + toolName(p)})
	}
	if len(p.Teams) > 0 {
		rows = append(rows, []markup{fileLink("kubernetes/teams/"),
			"one file per team: namespace, identities, roles, queues"})
	}
	if len(p.Workloads) > 0 {
		rows = append(rows, []markup{fileLink("workloads/"), "the teams' Jobs and JobSets, one folder per team"})
	}
	if len(p.Demonstration) > 0 {
		rows = append(rows,
			[]markup{fileLink(demonstrationPage), "the phases of the demonstration, with the numbers to expect"},
			[]markup{fileLink("demonstrate.sh"), "performs a phase, and compares what happens with the numbers"})
	}
	rows = append(rows,
		[]markup{fileLink("dashboards/"), "dashboards and alert rules"},
		[]markup{fileLink(".ghpc/artifacts/expanded_blueprint.yaml"), toolkit},
		[]markup{fileLink("instructions.txt"), "the instructions to which `gcluster` points; they refer to the pages"},
		[]markup{fileLink(".gcloudignore"), "names the files that are not uploaded to a build"},
		[]markup{fileLink(emit.ManifestPath),
			"lists the generated files with their SHA-256, so that batchwright finds changes made by hand"},
	)
	d.Table([]markup{"Path", "What it is"}, rows)
}

// kueueApplied lists the objects in the folder kubernetes/.
func kueueApplied(p *ir.Platform, classes markup) markup {
	cohorts := markup("")
	if len(p.Cohorts) > 0 {
		cohorts = "cohorts, "
	}
	configuration := markup("Kueue's configuration, ")
	if p.Delivery.GitOps.On() || !p.InstallsKueue() {
		configuration = ""
	}
	return configuration + "priorities, " + classes + "flavors, " + cohorts + "teams"
}

// kueueObjects names the objects of Kueue that do not belong to a team.
func kueueObjects(p *ir.Platform) markup {
	if len(p.Cohorts) > 0 {
		return "flavors, the cohorts"
	}
	return "flavors"
}

// rootContents lists the contents of the Terraform root.
func rootContents(p *ir.Platform) markup {
	if !p.OwnsCluster() {
		return "one Terraform root: node pools, roles, monitoring"
	}
	return "one Terraform root: network, cluster, node pools, roles, monitoring"
}

// moduleRow describes the module of the root.
func moduleRow(p *ir.Platform) []markup {
	folder, what := markup("terraform/modules/network/"), markup(
		"the root's module of the cluster's network, for a network team to review")
	switch {
	case !p.OwnsCluster():
		folder, what = "terraform/modules/cluster/", "the root's module of the existing cluster: its names, and a "+
			"check of its features"
	case p.Network.Existing != nil:
		what = "the root's module of the existing network: its names, and a check of the subnet"
	}
	return []markup{fileLink(string(folder)), what}
}
