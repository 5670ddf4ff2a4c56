package guide

import (
	"cmp"
	"path"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// template is a workload of the blueprint, with all objects that are made from it.
type template struct {
	ir.Workload          // the first object
	names       []string // of the objects of the first team
	teams       []string
}

// templatesOf returns the workloads of the blueprint, by name.
func templatesOf(p *ir.Platform) []template {
	var out []template
	places := map[string]int{} // in out
	for i := range p.Workloads {
		w := &p.Workloads[i]
		place, found := places[w.Template]
		if !found {
			place = len(out)
			places[w.Template] = place
			out = append(out, template{Workload: *w})
		}
		t := &out[place]
		if w.Team == t.Team {
			t.names = append(t.names, w.Name)
		}
		if len(t.teams) == 0 || t.teams[len(t.teams)-1] != w.Team {
			t.teams = append(t.teams, w.Team)
		}
	}
	slices.SortFunc(out, func(a, b template) int { return cmp.Compare(a.Template, b.Template) })
	return out
}

// everyTeam names all teams of the platform.
const everyTeam markup = "every team"

// owners names the teams that have the template.
func (t template) owners(p *ir.Platform) markup {
	if len(t.teams) == len(p.Teams) {
		return everyTeam
	}
	return firstNames(t.teams)
}

// ofReader reports whether the commands about the template use the variables that the
// reader sets to the values of a team. The other commands name the template's team.
func (t template) ofReader(p *ir.Platform) bool {
	return len(t.teams) == len(p.Teams) || len(t.teams) > 1 && slices.Contains(t.teams, homeTeam(p).Name)
}

// explainSubmit explains how to submit the workloads of the blueprint.
func explainSubmit(d *document, p *ir.Platform) {
	if len(p.Workloads) == 0 {
		return
	}
	d.Heading(2, submitHeading)
	d.Para("The administrators have prepared the workloads of the table. They are in ", fileLink("workloads/"),
		", in the folder of your team. To submit a job of your own, see ", linkHere(ownHeading), ".")
	listWorkloads(d, p)
	waitForSlices(d, p)
	pointToSecrets(d, p)
	submitEach(d, p)
	d.Para("This command submits all workloads of your team", needsFirst(p), ":")
	d.Code("sh", `kubectl apply --server-side -k "workloads/$TEAM"`)
	d.Para("This command deletes them:")
	d.Code("sh", `kubectl delete -k "workloads/$TEAM"`)
	explainHostNetwork(d, p)
	pointToDemonstration(d, p)
}

// submitEach shows the commands that submit one workload, in a block for the workloads
// of every team and a block for the workloads of each other set of teams. It also shows
// the command that deletes a workload.
func submitEach(d *document, p *ir.Platform) {
	templates := templatesOf(p)
	owners := []markup{everyTeam}
	blocks := map[markup][]template{} // by their owners
	for _, t := range templates {
		of := t.owners(p)
		if of != everyTeam && blocks[of] == nil {
			owners = append(owners, of)
		}
		blocks[of] = append(blocks[of], t)
	}
	for _, of := range owners {
		if blocks[of] != nil {
			submitBlock(d, p, of, blocks[of])
		}
	}
	first := templates[max(0, slices.IndexFunc(templates,
		func(t template) bool { return t.Template == p.Workloads[0].Template }))]
	d.Para(explainEnd(p), " You cannot change a job that exists. Delete it before you submit it again, for example:")
	d.Code("sh", "kubectl delete -f "+first.fileFor(p, first.names[0]))
}

// submitBlock shows the commands that submit workloads of the same owners.
func submitBlock(d *document, p *ir.Platform, owners markup, templates []template) {
	var commands []string
	with := markup("")
	for _, t := range templates {
		command := "kubectl apply --server-side"
		if t.ConfigMap != "" {
			command += " -f " + t.fileFor(p, t.ConfigMap)
			with = ", with the files that it mounts"
		}
		commands = append(commands, command+" -f "+t.fileFor(p, t.names[0]))
	}
	each := markup("Each of these commands submits one workload")
	if len(templates) == 1 {
		each = "This command submits " + codeSpan(templates[0].Template)
	}
	if owners != everyTeam {
		each += " of " + owners
	}
	d.Para(each, with, copiesToo(templates), ":")
	d.Code("sh", commands...)
}

// copiesToo says that a workload can have several copies, if one has.
func copiesToo(templates []template) markup {
	i := slices.IndexFunc(templates, func(t template) bool { return len(t.names) > 1 })
	if i < 0 {
		return ""
	}
	return ". For another copy of a workload, such as " + codeSpan(templates[i].names[1]) + ", change the name"
}

// needsFirst names the Secrets and the images that must exist before all workloads are
// submitted.
func needsFirst(p *ir.Platform) markup {
	var first []markup
	if all := secretsOf(p); all != nil {
		var names []string
		for _, s := range all {
			names = withName(names, s.name)
		}
		first = append(first, "creates "+codeList(names)+" ("+linkTo(readmePage, secretsHeading)+")")
	}
	if _, images := ownImages(p); images != nil {
		first = append(first, "builds "+codeList(images)+" ("+linkTo(readmePage, buildImagesHeading)+")")
	}
	if first == nil {
		return ""
	}
	return ". First an administrator " + words.And(first) + ", if a workload of your team needs it"
}

// waitForSlices names the workloads that cannot start, because the platform has no TPU
// slices for now.
func waitForSlices(d *document, p *ir.Platform) {
	off := map[string]bool{}
	for _, c := range p.Capacities {
		off[c.Name] = c.SlicesOff()
	}
	var names []string
	for _, t := range templatesOf(p) {
		if len(t.Capacities) > 0 && !slices.ContainsFunc(t.Capacities, func(c string) bool { return !off[c] }) {
			names = append(names, t.Template)
		}
	}
	if names != nil {
		d.Para("The platform has no TPU slices now. You can submit ", codeList(names),
			": they wait in their queue until an administrator adds slices (", linkTo(readmePage, capacitiesHeading),
			").")
	}
}

// pointToSecrets names the Secrets that must exist.
func pointToSecrets(d *document, p *ir.Platform) {
	for _, t := range templatesOf(p) {
		var secrets []string
		for _, e := range t.SecretEnv {
			secrets = withName(secrets, e.Secret)
		}
		if secrets != nil {
			them := markup("the Secret ")
			if len(secrets) > 1 {
				them = "the Secrets "
			}
			d.Para(codeSpan(t.Template), ": before you submit it, an administrator creates ", them, codeList(secrets),
				" in your namespace (", linkTo(readmePage, secretsHeading), ").")
		}
	}
}

// explainEnd explains how long finished jobs stay.
func explainEnd(p *ir.Platform) markup {
	var kept []markup
	all := templatesOf(p)
	for _, t := range all {
		if t.KeepSeconds > 0 {
			kept = append(kept, codeSpan(t.Template)+" after "+formatDuration(t.KeepSeconds))
		}
	}
	const stays = " stays until you delete it."
	switch {
	case kept == nil:
		return "A finished job" + stays
	case len(kept) == len(all):
		return "Kubernetes deletes finished jobs with their pods: " + words.And(kept) + "."
	}
	return "Kubernetes deletes some finished jobs with their pods: " + words.And(kept) + ". Any other finished job" +
		stays
}

// fileFor returns the path of an object's file in the folder of the reader's team, as a
// word of a shell command. If the template is not of the reader, the folder is the
// folder of the template's team.
func (t template) fileFor(p *ir.Platform, name string) string {
	name += ".yaml"
	if !t.ofReader(p) {
		return words.ShellArgument(path.Join("workloads", t.Team, name))
	}
	if words.ShellArgument(name) == name {
		return `"workloads/$TEAM/` + name + `"`
	}
	return `"workloads/$TEAM/"` + words.ShellArgument(name)
}

// listWorkloads lists the workloads of the blueprint.
func listWorkloads(d *document, p *ir.Platform) {
	tier := map[string]markup{} // by PriorityClass
	for _, c := range p.PriorityClasses {
		tier[c.Name] = codeSpan(c.Tier)
		if c.Name != c.Tier {
			tier[c.Name] += ": " + codeSpan(c.Name)
		}
	}
	var rows [][]markup
	for _, t := range templatesOf(p) {
		var requests []string
		for _, a := range t.Requests {
			requests = append(requests, ir.PrintQuantity(a.Resource, a.Quantity)+" "+a.Resource)
		}
		name := codeSpan(t.Template)
		if len(t.names) > 1 || t.names[0] != t.Template {
			name += ": " + firstNames(t.names)
		}
		pods := formatNumber(t.Pods)
		switch {
		case requests == nil:
		case t.Pods == 1:
			pods += " with "
		default:
			pods += ", each with "
		}
		rows = append(rows, []markup{
			name, t.owners(p), escapeText(string(t.Kind)), tier[t.PriorityClass], codeList(t.Capacities),
			pods + codeList(requests),
		})
	}
	d.Table([]markup{"Workload", "Of", "Kind", "Tier", "Can run on", "Pods"}, rows)
}

// explainHostNetwork explains workloads that use the network of their nodes, and
// workloads with auxiliary pods.
func explainHostNetwork(d *document, p *ir.Platform) {
	var hosts, accompanied []string
	for _, w := range p.Workloads {
		if w.HostNetwork {
			hosts = withName(hosts, w.Template)
		}
		if w.Auxiliaries != nil {
			accompanied = withName(accompanied, w.Template)
		}
	}
	if hosts != nil {
		d.Para("Pods of ", codeList(hosts),
			" use the network of their nodes. For Google Cloud they have the identity of the ",
			"nodes, ", codeSpan(p.NodeAccount.Email(p.Project)),
			", and not of their team: they can neither read nor write the ",
			"team's bucket.")
	}
	if accompanied != nil {
		d.Para("Auxiliary pods run beside the pods of ", codeList(accompanied),
			". They are admitted together with the pods of ",
			"the workload. When those have succeeded, the auxiliary pods are stopped and get half a minute to end.")
	}
}
