package guide

import (
	"cmp"
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
	for _, w := range p.Workloads {
		i, found := slices.BinarySearchFunc(out, w.Template,
			func(t template, name string) int { return cmp.Compare(t.Template, name) })
		if !found {
			out = slices.Insert(out, i, template{Workload: w})
		}
		t := &out[i]
		if w.Team == t.Team {
			t.names = append(t.names, w.Name)
		}
		if len(t.teams) == 0 || t.teams[len(t.teams)-1] != w.Team {
			t.teams = append(t.teams, w.Team)
		}
	}
	return out
}

// owners names the teams that have the template.
func (t template) owners(p *ir.Platform) markup {
	if len(t.teams) == len(p.Teams) {
		return "every team"
	}
	return firstNames(t.teams)
}

// explainSubmit explains how to submit the workloads of the blueprint.
func explainSubmit(d *document, p *ir.Platform) {
	if len(p.Workloads) == 0 {
		return
	}
	d.Heading(2, submitHeading)
	w := p.Workloads[0]
	files, with := "", markup("")
	if w.ConfigMap != "" {
		files, with = " -f "+fileOfTeam(w.ConfigMap+".yaml"), ", with the files that it mounts"
	}
	one := " -f " + fileOfTeam(w.Name+".yaml")
	d.Para("The administrators have prepared the workloads of the table. They are in ", fileLink("workloads/"),
		", in the folder of your team. To submit a job of your own, see ", linkHere(ownHeading), ".")
	listWorkloads(d, p)
	d.Para("Submit one workload by its name", with, ":")
	d.Code("sh", "kubectl apply --server-side"+files+one)
	d.Para("A finished job stays until you delete it, and a Job cannot be changed once it exists. Delete it before ",
		"you submit it again:")
	d.Code("sh", "kubectl delete"+one)
	d.Para("These commands submit or delete all workloads of your team:")
	d.Code("sh", `kubectl apply --server-side -k "workloads/$TEAM"`, `kubectl delete -k "workloads/$TEAM"`)
	explainHostNetwork(d, p)
}

// fileOfTeam returns the path of a file in the team's folder of workloads, as a word of
// a shell command.
func fileOfTeam(name string) string {
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
		rows = append(rows, []markup{
			codeSpan(t.Template), t.owners(p), firstNames(t.names), escapeText(string(t.Kind)), tier[t.PriorityClass],
			codeList(t.Capacities), formatNumber(t.Pods), codeList(requests), codeSpan(t.Image),
		})
	}
	d.Table([]markup{"Workload", "Of", "Names in a team", "Kind", "Tier", "Can run on", "Pods", "Each pod requests",
		"Image"}, rows)
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
