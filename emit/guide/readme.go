package guide

import (
	"github.com/batchwright/batchwright/compiler/ir"
)

// readmeFile returns README.md.
func readmeFile(p *ir.Platform) []byte {
	return newPage(p, describePlatform,
		explainBefore, explainBuild, showRunning, explainChange, explainWatching, explainRemoval, explainDestroy,
		listContents, printNotes,
	).Bytes()
}

// describePlatform says what the folder is and who reads which page.
func describePlatform(d *document, p *ir.Platform) {
	d.Heading(1, codeSpan(p.Name))
	d.Para("This folder builds ", codeSpan(p.Name), ", a batch platform on Google Kubernetes Engine (GKE). ",
		"Read this page if you build or run the platform. Read ", fileLink(usingPage), " if you submit jobs to it. ",
		fileLink(referencePage), " has the long tables.")
	cohorts, top := inCohorts(p)
	grouped := markup("")
	if cohorts > 0 {
		grouped = ", in " + countNoun(cohorts, "cohort")
		if top != "" {
			grouped += " under " + codeSpan(top)
		}
		grouped += ","
	}
	kinds := markup(" (kinds of nodes)")
	if len(p.Capacities) == 1 {
		kinds = " (kind of nodes)"
	}
	d.Para("The platform is in project ", codeSpan(p.Project), " and region ", codeSpan(p.Region), " (",
		codeList(p.Zones), "). ", countNoun(len(p.Teams), "team"), grouped, " share ",
		countNoun(len(p.Capacities), "capacity"), kinds, ". ", schedulerOf(p).starts(p),
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

// listContents lists what the platform consists of.
func listContents(d *document, p *ir.Platform) {
	d.Heading(2, "What is in it")
	drawQueues(d, p)
	listTiers(d, p)
	listTeams(d, p)
	listCapacities(d, p)
	compareGuarantees(d, p)
}

// listTiers lists the tiers with their PriorityClasses.
func listTiers(d *document, p *ir.Platform) {
	if len(p.PriorityClasses) == 0 {
		return
	}
	d.Heading(3, "Tiers")
	classes := markup("one PriorityClass with the same name")
	if manyClasses(p) {
		classes += ", or several PriorityClasses, of which each job names one"
	}
	d.Para("A tier is a class of service. It has ", classes, ". ", linkTo(usingPage, promisesHeading),
		" tells the teams which jobs are evicted for which others.")
	head := []markup{"Tier", "Priority", "Default"}
	named := manyClasses(p)
	if named {
		head = []markup{"Tier", "PriorityClass", "Priority", "Default"}
	}
	var rows [][]markup
	for _, c := range p.PriorityClasses {
		row := []markup{codeSpan(c.Tier)}
		if named {
			row = append(row, codeSpan(c.Name))
		}
		rows = append(rows, append(row, formatNumber(int(c.Value)), yesNo(c.Default)))
	}
	d.Table(head, rows)
}

// manyClasses reports whether the name of some PriorityClass differs from the name
// of its tier. The names differ if a tier has several PriorityClasses.
func manyClasses(p *ir.Platform) bool {
	for _, c := range p.PriorityClasses {
		if c.Name != c.Tier {
			return true
		}
	}
	return false
}

// listTeams lists the teams with their cohorts and groups.
func listTeams(d *document, p *ir.Platform) {
	if len(p.Teams) == 0 {
		return
	}
	d.Heading(3, teamsHeading)
	quota := "The quota of each team is in " + linkTo(referencePage, queuesHeading) + "."
	if len(p.Teams) > fewTeams {
		d.Para(countNoun(len(p.Teams), "team"), " share the platform. ", fileLink("kubernetes/teams/"),
			" has one file per team, with its namespace, members and identities. ", quota)
		return
	}
	var rows [][]markup
	for _, t := range p.Teams {
		rows = append(rows, []markup{codeSpan(t.Name), orNone(t.Cohort),
			orElse(t.Group, "cluster administrators only")})
	}
	d.Table([]markup{"Team", "Cohort", "Who submits"}, rows)
	d.Para(quota, " The namespaces, buckets and accounts are in ", linkTo(usingPage, yourTeamHeading), ".")
}

// yesNo returns "yes" or "no".
func yesNo(b bool) markup {
	if b {
		return "yes"
	}
	return "no"
}

// orNone returns a name, or "none" if it is "".
func orNone(name string) markup { return orElse(name, "none") }

// orElse returns a name, or without if it is "".
func orElse(name string, without markup) markup {
	if name == "" {
		return without
	}
	return codeSpan(name)
}
