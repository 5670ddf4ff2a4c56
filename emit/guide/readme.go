package guide

import (
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// fewTeams is the largest number of teams that the README shows one by one. It
// shows more teams in groups of equal quota. So the README's length depends on the
// variety of the platform, not on its size.
const fewTeams = 12

// readmeFile returns README.md.
func readmeFile(p *ir.Platform) []byte {
	d := &document{}
	describePlatform(d, p)
	listTeams(d, p)
	listCapacities(d, p)
	gpuNetworks(d, p)
	compareGuarantees(d, p)
	drawQueues(d, p)
	printNotes(d, p)
	googleQuota(d, p)
	explainIdentities(d, p)
	explainBuild(d, p)
	explainSubmit(d, p)
	podSecurity(d, p)
	showRunning(d, p)
	explainRemoval(d, p)
	explainDestroy(d, p)
	explainEdit(d)
	listFiles(d, p)
	return d.Bytes()
}

// describePlatform describes the platform in one paragraph.
func describePlatform(d *document, p *ir.Platform) {
	d.Heading(1, codeSpan(p.Name))
	cohorts, top := inCohorts(p)
	grouped := markup("")
	if cohorts > 0 {
		grouped = ", in " + countNoun(cohorts, "cohort")
		if top != "" {
			grouped += " under " + codeSpan(top)
		}
		grouped += ","
	}
	d.Para("This is ", codeSpan(p.Name), ", a batch platform on Google Kubernetes Engine, in project ",
		codeSpan(p.Project), " and region ", codeSpan(p.Region), " (", codeList(p.Zones), "). ",
		countNoun(len(p.Teams), "team"), grouped, " share ",
		countNoun(len(p.Capacities), "capacity"), ". ", schedulerOf(p).starts(p),
		" The version of JobSet is ", escapeText(p.Versions.JobSet),
		". Everything in this folder is compiled from one blueprint.")
}

// kueueStarts explains how Kueue starts the teams' jobs.
func kueueStarts(p *ir.Platform) markup {
	kueue := "A team submits Jobs and JobSets to its own queues. Kueue " + escapeText(p.Versions.Kueue) +
		" starts them as quota allows"
	if cohorts, _ := inCohorts(p); cohorts == 0 {
		return kueue + "."
	}
	return kueue + ", and lends the unused quota of a team to the other teams of its cohort."
}

// explainEdit explains which files of the folder may be edited.
func explainEdit(d *document) {
	d.Heading(2, "What may be edited by hand")
	d.Para("No generated file. Change the blueprint and run `batchwright compile` again: it writes only the files ",
		"that the change affects. If somebody has edited a generated file, `batchwright compile` stops and names the ",
		"file; `--force` overwrites it. You may keep files of your own in this folder: `batchwright compile` leaves ",
		"them alone.")
}

// listFiles lists the files of the folder.
func listFiles(d *document, p *ir.Platform) {
	d.Heading(2, "Files")
	classes := markup("")
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.ComputeClass }) {
		classes = "ComputeClasses, "
	}
	toolkit := markup("lets Cluster Toolkit's `gcluster` deploy this folder")
	if p.Delivery.InfrastructureManager {
		toolkit += ", with a state of its own: do not use `gcluster` for a platform of Infrastructure Manager"
	}
	rows := [][]markup{
		{fileLink("create-platform.sh"), "builds or updates the platform"},
		{fileLink("destroy-platform.sh"), "destroys the platform"},
		{fileLink("cloudbuild/provision.yaml"), "the Cloud Build steps that build the platform"},
		{fileLink("cloudbuild/destroy.yaml"), "the Cloud Build steps that destroy the platform"},
		{fileLink("terraform/"), "one Terraform root: network, cluster, node pools, roles, monitoring"},
		{fileLink("terraform/modules/network/"),
			"the root's module of the cluster's network, for a network team to review"},
		{fileLink("terraform/terraform.tfvars"), "the values of the root's variables"},
		{fileLink("kubernetes/"), "the objects to apply to the cluster: " + schedulerOf(p).applied(classes)},
	}
	if len(p.Teams) > 0 {
		rows = append(rows, []markup{fileLink("kubernetes/teams/"),
			"one file per team: namespace, identities, roles, queues"})
	}
	if len(p.Workloads) > 0 {
		rows = append(rows, []markup{fileLink("workloads/"), "the teams' Jobs and JobSets, one folder per team"})
	}
	rows = append(rows,
		[]markup{fileLink("dashboards/"), "dashboards and alert rules"},
		[]markup{fileLink(".ghpc/artifacts/expanded_blueprint.yaml"), toolkit},
		[]markup{fileLink("instructions.txt"), "the instructions to which `gcluster` points; they refer to this file"},
	)
	d.Table([]markup{"Path", "What it is"}, rows)
}

// kueueApplied lists the objects in the folder kubernetes/.
func kueueApplied(classes markup) markup {
	return "Kueue's configuration, priorities, " + classes + "flavors, cohorts, teams"
}

// formatNumber returns a number as markup.
func formatNumber(n int) markup { return markup(strconv.Itoa(n)) }

// countNoun returns a number with its noun, in the plural unless the number is 1.
// The noun is trusted text of this package.
func countNoun(n int, noun markup) markup { return markup(words.Count(n, string(noun))) }
