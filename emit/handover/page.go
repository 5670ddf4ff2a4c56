package handover

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/kubeyaml"
	"github.com/batchwright/batchwright/emit/markdown"
)

// page returns README.md for a number of objects and of namespaces among them.
func (h *handover) page(others, namespaces int) *markdown.Document {
	d := new(markdown.Document)
	d.Heading(1, "Handing over objects to "+markdown.Text(h.platform))
	if others+namespaces == 0 {
		d.Para("No exported object of others has the name of an object in the platform's folder: there is nothing to ",
			"hand over.")
		h.unknown(d)
		return d
	}
	lists := listOf(objectsFile, others, "object") + listOf(namespacesFile, namespaces, "namespace")
	d.Para("Platform ", markdown.Code(h.platform), " will manage running objects of others: ",
		markdown.Markup(strings.TrimPrefix(lists, " and ")), ". Its build stops until their owners hand them over. ",
		"Follow the steps in order: no object is deleted, running jobs continue, and waiting jobs keep waiting. ",
		"Run the commands in the folder that contains this page.")
	h.unknown(d)
	if len(h.sources) > 0 {
		h.letGo(d)
	}
	first := 1
	if len(h.sources) > 0 {
		first = 5
	}
	d.Heading(2, markdown.Markup(fmt.Sprintf("%d. Set the platform's label", first)))
	d.Para("From now on, the platform's folder decides the fields of these objects.")
	label := ir.LabelPartOf + "=" + h.platform
	var commands []string
	if others > 0 {
		commands = append(commands, "kubectl label --overwrite -f "+objectsFile+" "+label)
	}
	if namespaces > 0 {
		commands = append(commands, "kubectl label --overwrite -f "+namespacesFile+" "+label+" "+ir.LabelExisting+"="+
			ir.ExistingValue)
	}
	d.Code("sh", commands...)
	if namespaces > 0 {
		d.Para("A namespace with the second label stays when the platform is destroyed.")
	}
	d.Heading(2, markdown.Markup(fmt.Sprintf("%d. Build", first+1)))
	d.Para("Run ", markdown.Code("./create-platform.sh"),
		" in the deploy folder, or let the platform's GitOps tool apply it.")
	return d
}

// unknown adds what the exports lack: of these kinds, an object of others can exist too.
func (h *handover) unknown(d *markdown.Document) {
	if h.missing == "" {
		return
	}
	d.Para("The exports have no objects of these kinds, of which the platform's folder has some: ",
		markdown.Text(h.missing), ". If the cluster can have them, export them too, and write this folder again:")
	d.Code("text", h.export)
}

// listOf returns how many objects a file lists, "" for none.
func listOf(file string, n int, thing string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %s ([%s](%[2]s))", words.Count(n, thing), file)
}

// letGo adds the steps in which the tools that apply the objects let go of them.
func (h *handover) letGo(d *markdown.Document) {
	var rows, keeps [][]markdown.Markup
	var marks []string
	for _, s := range h.sources {
		name := markdown.Text(s.by.String())
		if len(s.deleted) > 0 {
			component := s.folder + "/" + kubeyaml.KustomizationFile
			keeps = append(keeps, []markdown.Markup{
				name, markdown.Code(s.by.Tool.KeepKey + ": " + s.by.Tool.KeepValue), markdown.File(component),
			})
		}
		rows = append(rows, []markdown.Markup{name, markdown.File(s.folder + "/" + objectsFile),
			markdown.Text(strconv.Itoa(len(s.objects))), markdown.Text(strconv.Itoa(len(s.deleted)))})
		marks = append(marks, unmark(s)...)
	}
	d.Para("Other tools apply some of them:")
	d.Table([]markdown.Markup{"Applied by", "List", "Objects", "Deleted when they leave its source"}, rows)
	d.Warning("If an object leaves a source before its tool keeps it, the tool deletes the object. ",
		"A deleted LocalQueue or ClusterQueue admits no jobs.")

	d.Heading(2, "1. Make each tool keep its objects")
	if len(keeps) == 0 {
		d.Para("Every tool keeps its objects: there is nothing to do.")
	} else {
		d.Para("In the source of each tool, add the annotation to the objects that the component lists. ",
			"With Kustomize, copy the component's folder beside the kustomization that has the objects, ",
			"and list it there under ", markdown.Code("components"),
			". Without Kustomize, edit the objects, or the chart's templates. Then let the tool apply the change.")
		d.Table([]markdown.Markup{"Applied by", "Annotation", "Component"}, keeps)
		d.Para("Set the annotation in the source, not with ", markdown.Code("kubectl annotate"),
			": the tool decides by its source, or its next sync takes the annotation away.")
	}
	d.Heading(2, "2. Check that each tool keeps them")
	d.Para("Export the objects again, and repeat ", markdown.Code("batchwright diff --live FILE --handover DIR"),
		". This updates the page. Continue when each row of the first table shows 0 in its last column.")
	d.Heading(2, "3. Remove the objects from their sources")
	d.Para("Remove the objects from the repositories and charts, and let the tools apply that. The objects stay in ",
		"the cluster.", argoNote(h.sources))
	d.Heading(2, "4. Remove the tools' labels and annotations")
	if len(marks) == 0 {
		d.Para("Config Sync removes them itself: there is nothing to do.")
		return
	}
	d.Para("By them a tool recognizes its objects, and the platform's build stops at objects that have them.")
	d.Code("sh", marks...)
}

// argoNote says what Argo CD shows meanwhile, "" without Argo CD.
func argoNote(sources []source) markdown.Markup {
	if slices.ContainsFunc(sources, func(s source) bool { return s.by.Tool.Name == "Argo CD" }) {
		return " Argo CD reports its Application as out of sync until the next step."
	}
	return ""
}

// unmark returns the commands that remove the marks of a tool from its objects.
func unmark(s source) (commands []string) {
	annotations := s.by.Tool.Annotations
	if len(annotations) > 0 || len(s.by.Tool.Labels) > 0 {
		annotations = append(annotations[:len(annotations):len(annotations)], s.by.Tool.KeepKey)
	}
	for _, m := range []struct {
		verb string
		keys []string
	}{{"annotate", annotations}, {"label", s.by.Tool.Labels}} {
		if len(m.keys) > 0 {
			keys := strings.Join(m.keys, "- ") + "-"
			commands = append(commands, "kubectl "+m.verb+" -f "+s.folder+"/"+objectsFile+" "+keys)
		}
	}
	return commands
}
