package guide

import (
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// fewTeams is the number of teams up to which each is shown by itself. Above
// it, teams of equal quota are shown together, and the README's length follows
// the variety of the platform, not its size.
const fewTeams = 12

// readme returns README.md.
func readme(p *ir.Platform) []byte {
	d := &document{}
	intro(d, p)
	teams(d, p)
	capacities(d, p)
	gpuNetworks(d, p)
	guarantees(d, p)
	picture(d, p)
	notes(d, p)
	googleQuota(d, p)
	identities(d, p)
	build(d, p)
	submit(d, p)
	podSecurity(d, p)
	look(d, p)
	remove(d, p)
	undo(d, p)
	edit(d)
	files(d, p)
	return d.Bytes()
}

// intro says what the platform is.
func intro(d *document, p *ir.Platform) {
	d.Heading(1, code(p.Name))
	cohorts, top := inCohorts(p)
	grouped := markup("")
	if cohorts > 0 {
		grouped = ", in " + countNoun(cohorts, "cohort")
		if top != "" {
			grouped += " under " + code(top)
		}
		grouped += ","
	}
	d.Para("This is ", code(p.Name), ", a batch platform on Google Kubernetes Engine, in project ", code(p.Project),
		" and region ", code(p.Region), " (", codes(p.Zones), "). ",
		countNoun(len(p.Teams), "team"), grouped, " share ",
		countNoun(len(p.Capacities), "capacity"), ". ", schedulerOf(p).starts(p), " JobSet is ", text(p.Versions.JobSet), ". "+
			"Everything in this folder is compiled from one blueprint.")
}

// kueueStarts says that Kueue starts the teams' jobs.
func kueueStarts(p *ir.Platform) markup {
	kueue := "A team submits Jobs and JobSets to queues of its own; Kueue " + text(p.Versions.Kueue) + " starts them " +
		"as quota allows"
	if cohorts, _ := inCohorts(p); cohorts == 0 {
		return kueue + "."
	}
	return kueue + ", and lends within a cohort what its teams leave unused."
}

// edit says what may be changed in the folder.
func edit(d *document) {
	d.Heading(2, "What may be edited by hand")
	d.Para("Nothing: change the blueprint and compile it again with `batchwright compile`. Only what the change "+
		"touches is written anew. ",
		"A generated file that was edited by hand is not overwritten: compiling stops and names it, unless `--force` "+
			"says otherwise. ",
		"Files of your own may stand in this folder; they are left alone.")
}

// files says where everything is.
func files(d *document, p *ir.Platform) {
	d.Heading(2, "Files")
	classes := markup("")
	if p.AnyCapacity(func(c ir.Capacity) bool { return c.ComputeClass }) {
		classes = "ComputeClasses, "
	}
	toolkit := markup("lets Cluster Toolkit's `gcluster` take this folder")
	if p.Delivery.InfrastructureManager {
		toolkit += ": with a state of its own, so not for what Infrastructure Manager has deployed"
	}
	rows := [][]markup{
		{file("create-platform.sh"), "builds everything, or brings it up to date"},
		{file("destroy-platform.sh"), "takes it down"},
		{file("cloudbuild/provision.yaml"), "the steps of building, for Cloud Build"},
		{file("cloudbuild/destroy.yaml"), "the steps of taking down"},
		{file("terraform/"), "network, cluster, node pools, roles, monitoring: one root"},
		{file("terraform/modules/network/"), "the cluster's network, a module of that root: what a network team reviews"},
		{file("terraform/terraform.tfvars"), "the values of its variables"},
		{file("kubernetes/"), "what is applied to the cluster: " + schedulerOf(p).applied(classes)},
	}
	if len(p.Teams) > 0 {
		rows = append(rows, []markup{file("kubernetes/teams/"), "one file a team: namespace, identities, roles, queues"})
	}
	if len(p.Workloads) > 0 {
		rows = append(rows, []markup{file("workloads/"), "the Jobs and JobSets the teams submit, one folder a team"})
	}
	rows = append(rows,
		[]markup{file("dashboards/"), "dashboards and alert rules"},
		[]markup{file(".ghpc/artifacts/expanded_blueprint.yaml"), toolkit},
		[]markup{file("instructions.txt"), "where `gcluster` sends its reader: back to this file"},
	)
	d.Table([]markup{"Path", "What it is"}, rows)
}

// kueueApplied names what is in the folder kubernetes/.
func kueueApplied(classes markup) markup {
	return "Kueue's configuration, priorities, " + classes + "flavors, cohorts, teams"
}

// digits writes a number.
func digits(n int) markup { return markup(strconv.Itoa(n)) }

// countNoun writes a number of things. The noun is the guide's own word.
func countNoun(n int, noun markup) markup { return markup(words.Count(n, string(noun))) }
