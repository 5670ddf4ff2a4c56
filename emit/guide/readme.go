package guide

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// readmeFile returns README.md.
func readmeFile(p *ir.Platform) []byte {
	return newPage(p, describePlatform,
		explainBefore, explainBuild, explainObjectsOfOthers, explainSync, showRunning, explainImages, explainChange,
		explainWatching,
		explainRemoval, explainDestroy,
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
		codeList(p.Zones), ").", inCluster(p), " ", countNoun(len(p.Teams), "team"), grouped, " share ",
		countNoun(len(p.Capacities), "capacity"), kinds, ". ", schedulerOf(p).starts(p),
		jobSetVersion(p), " Everything in this folder is compiled from one blueprint.")
}

// jobSetVersion names the version of JobSet, if the platform installs it.
func jobSetVersion(p *ir.Platform) markup {
	if !p.InstallsJobSet() {
		return ""
	}
	return " The version of JobSet is " + escapeText(p.Versions.JobSet) + "."
}

// kueueStarts explains how Kueue starts the teams' jobs.
func kueueStarts(p *ir.Platform) markup {
	kueue := markup("Kueue")
	if p.InstallsKueue() {
		kueue += " " + escapeText(p.Versions.Kueue)
	}
	kueue = "A team submits Jobs and JobSets to its own queues. " + kueue + " starts them as quota allows"
	if _, lends := quotaMoves(p); !lends {
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
	if !p.OwnsCluster() { // others decide the default of all pods of their cluster
		head = head[:len(head)-1]
	}
	var rows [][]markup
	for _, c := range p.PriorityClasses {
		row := []markup{codeSpan(c.Tier)}
		if named {
			row = append(row, codeSpan(c.Name))
		}
		row = append(row, formatNumber(int(c.Value)), yesNo(c.Default))
		rows = append(rows, row[:len(head)])
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

// listTeams lists the teams with their cohorts and members.
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
	cohorts, _ := inCohorts(p)
	head := []markup{"Team", "Cohort", "Who submits"}
	if cohorts == 0 {
		head = slices.Delete(head, 1, 2)
	}
	var rows [][]markup
	for _, t := range p.Teams {
		row := []markup{codeSpan(t.Name), orNone(t.Cohort), nameSubmitters(t)}
		if cohorts == 0 {
			row = slices.Delete(row, 1, 2)
		}
		rows = append(rows, row)
	}
	d.Table(head, rows)
	identities := markup("namespaces and accounts")
	if p.HasBuckets() {
		identities = "namespaces, buckets and accounts"
	}
	d.Para(quota, " The ", identities, " are in ", linkTo(usingPage, yourTeamHeading), ".")
	if slices.ContainsFunc(p.Teams, func(t ir.Team) bool { return !t.Submits() }) {
		explainSubmitters(d, p)
	}
}

// explainSubmitters explains how to let people submit jobs for a team that has no
// members.
func explainSubmitters(d *document, p *ir.Platform) {
	group := markup("")
	if p.Cluster.SecurityGroup == "" {
		group = ", which also needs " + securityGroupField(p)
	}
	some := markup("For some teams, only cluster administrators submit jobs.")
	if !slices.ContainsFunc(p.Teams, func(t ir.Team) bool { return t.Submits() }) {
		some = "Only cluster administrators submit jobs."
	}
	d.Para(some, " To let other people do it, list them in `members` of the team in the blueprint, such as ",
		codeSpan(`members: ["user:ADDRESS"]`), ", or set its `group`", group, ". Then compile, and build again.")
}

// nameSubmitters names who submits the jobs of a team.
func nameSubmitters(t ir.Team) markup {
	if !t.Submits() {
		return "cluster administrators only"
	}
	names := t.Members
	if t.Group != "" {
		names = slices.Insert(slices.Clone(names), 0, t.Group)
	}
	return firstNames(names)
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
