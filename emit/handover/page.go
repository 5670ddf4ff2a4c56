package handover

import (
	"fmt"
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
		d.Para("No object of others has the name of an object in the platform's folder: there is nothing to hand over.")
		return d
	}
	lists := listOf(objectsFile, others, "object") + listOf(namespacesFile, namespaces, "namespace")
	d.Para("These run already, and the platform's folder has them too: ", markdown.Markup(strings.TrimPrefix(lists, " and ")),
		". The platform changes nothing that belongs to others, so its build stops until their owners hand them over. ",
		"In this order nothing is deleted, and running and waiting jobs continue. ",
		"Run the commands in the folder that has this page.")
	if len(h.sources) > 0 {
		h.letGo(d)
	}
	step := func(title markdown.Markup) {
		if len(h.sources) > 0 {
			title = markdown.Markup(map[markdown.Markup]string{handTitle: "5. ", buildTitle: "6. "}[title]) + title
		}
		d.Heading(2, title)
	}
	step(handTitle)
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
	step(buildTitle)
	d.Para("Run ", markdown.Code("./create-platform.sh"), " in the deploy folder, or let the platform's GitOps tool apply it.")
	return d
}

// The last two steps.
const (
	handTitle  markdown.Markup = "Hand over"
	buildTitle markdown.Markup = "Build"
)

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

	d.Heading(2, "1. Keep")
	if len(keeps) == 0 {
		d.Para("Every tool keeps its objects: there is nothing to do.")
	} else {
		d.Para("In the source of each tool, add the annotation to the objects that the component lists. ",
			"With Kustomize, copy the component's folder beside the kustomization that has the objects, ",
			"and list it there under ", markdown.Code("components"), ". Without Kustomize, edit the objects, or the chart's ",
			"templates. Then let the tool apply the change.")
		d.Table([]markdown.Markup{"Applied by", "Annotation", "Component"}, keeps)
		d.Para("An annotation that ", markdown.Code("kubectl annotate"), " sets is not enough: Config Sync removes it, and Helm ",
			"reads only its own release.")
	}
	d.Heading(2, "2. Check")
	d.Para("Export the objects again, and repeat ", markdown.Code("batchwright diff --live FILE --handover DIR"),
		". Continue when the last column above has only zeros.")
	d.Heading(2, "3. Remove them from their sources")
	d.Para("Remove the objects from the repositories and charts, and let the tools apply that. The objects stay. ",
		"Argo CD then reports its Application as out of sync until the next step.")
	d.Heading(2, "4. Remove the marks")
	if len(marks) == 0 {
		d.Para("Config Sync removes its marks itself.")
		return
	}
	d.Para("The build stops at an object that another tool still marks.")
	d.Code("sh", marks...)
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
			commands = append(commands, "kubectl "+m.verb+" -f "+s.folder+"/"+objectsFile+" "+strings.Join(m.keys, "- ")+"-")
		}
	}
	return commands
}
