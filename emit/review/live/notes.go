package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/exports"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/objects"
)

// noteChange says what follows from the changes of an object, "" if they need no words.
// after are the fields of the object after the apply.
func (c *comparison) noteChange(running, manifest *exports.Object, after map[string]any,
	fields []objects.Field) string {
	var parts []string
	if owner := labelOf(running, ir.LabelPartOf); owner != "" && owner != c.Plan.Name {
		parts = append(parts, fmt.Sprintf("the object belongs to the platform %q", owner))
	}
	if fieldAt(running, "metadata.deletionTimestamp") != nil {
		parts = append(parts, "the object is being deleted")
	}
	if note := c.noteImmutable(running, fields); note != "" {
		parts = append(parts, note)
	} else if changes(fields, "globalDefault") {
		if note := c.refuseDefaultClass(manifest); note != "" {
			parts = append(parts, note)
		}
	}
	if kept := keptChecks(manifest, after); len(kept) > 0 {
		parts = append(parts, "jobs also need the admission checks that others have set: "+words.And(kept))
	}
	if running.Kind == kindResourceFlavor && c.isOurs(running) && changes(fields, "spec.nodeLabels") {
		parts = append(parts, "the step retire of the build first stops the jobs that run in this flavor")
	}
	return strings.Join(parts, "; ")
}

// keptChecks returns the admission checks of a queue that its manifest does not have: an
// apply merges the list.
func keptChecks(manifest *exports.Object, after map[string]any) []string {
	if manifest.Kind != kindClusterQueue {
		return nil
	}
	names := func(fields map[string]any) (out []string) {
		for _, check := range exports.List(fields, "spec", "admissionChecksStrategy", "admissionChecks") {
			out = append(out, exports.Text(check, "name"))
		}
		return out
	}
	wanted := names(manifest.Fields)
	return slices.DeleteFunc(names(after), func(name string) bool { return slices.Contains(wanted, name) })
}

// changes reports whether a field, or a field below it, is among the changed fields.
func changes(fields []objects.Field, path string) bool {
	return slices.ContainsFunc(fields, func(f objects.Field) bool {
		rest, ok := strings.CutPrefix(f.Path, path)
		return ok && (rest == "" || strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "["))
	})
}

// noteImmutable says what becomes of a change that the API refuses; "" if it refuses none
// of the changes.
func (c *comparison) noteImmutable(running *exports.Object, fields []objects.Field) string {
	var refused []string
	step := ""
	for _, i := range immutables {
		if i.kind == running.Kind && changes(fields, i.field) && (i.when == "" || fieldAt(running, i.when) != nil) {
			refused = append(refused, i.field)
			step = i.step
		}
	}
	// The step replaces a class for this field, too, because two default classes exclude
	// each other.
	if running.Kind == kindPriorityClass && changes(fields, "globalDefault") && c.isOurs(running) &&
		!c.Plan.Delivery.GitOps.On() {
		step = "priorities"
	}
	if step != "" {
		if by := c.replacer(running, step); by != "" {
			return "is replaced: " + by + " deletes and creates it"
		}
	}
	if len(refused) == 0 {
		return ""
	}
	return fmt.Sprintf("is refused by the API: %s cannot change; delete the object before the folder is applied: %s",
		words.And(refused), deleteCommand(running))
}

// replacer returns what replaces an object, which has the step of the build for it; "" if
// nothing does. The build replaces only objects of the platform, a GitOps tool all.
func (c *comparison) replacer(o *exports.Object, step string) string {
	if tool := c.Plan.Delivery.GitOps.Tool; c.Plan.Delivery.GitOps.On() {
		if facts := tool.Facts(); facts.Replaces {
			return facts.Name
		}
		return ""
	}
	if !c.isOurs(o) {
		return ""
	}
	return "the step " + step + " of the build"
}

// deleteCommand returns the command that deletes an object.
func deleteCommand(o *exports.Object) string {
	command := "kubectl delete " + resourceName(kindID{o.Group, o.Kind}) + " " + words.ShellArgument(o.Name)
	if o.Namespace != "" {
		command += " -n " + words.ShellArgument(o.Namespace)
	}
	return command
}

// refuseDefaultClass says why the API refuses a PriorityClass: Kubernetes allows one
// default. It returns "" for anything else.
func (c *comparison) refuseDefaultClass(manifest *exports.Object) string {
	if manifest.Kind != kindPriorityClass || fieldAt(manifest, "globalDefault") != true {
		return ""
	}
	for _, o := range c.export.Objects {
		if o.Kind == kindPriorityClass && o.Name != manifest.Name && !c.isOurs(o) &&
			fieldAt(o, "globalDefault") == true {
			return fmt.Sprintf("is refused by the API while PriorityClass %q is the default: change that class first",
				o.Name)
		}
	}
	return ""
}

// leftOver adds an object that runs and that the folder does not have.
func (c *comparison) leftOver(o *exports.Object) {
	note := ""
	if c.isOurs(o) {
		note = c.retire(o)
	}
	if note == "" {
		c.out.Facts.Staying = append(c.out.Facts.Staying, identify(o).String())
		return
	}
	c.addObject(o, delta.Removed, nil, note)
}

// retire says what becomes of an object that an earlier folder of the platform made; "" if
// the object stays as it is.
func (c *comparison) retire(o *exports.Object) string {
	if labelOf(o, ir.LabelExisting) != "" { // it ran before the platform
		return ""
	}
	if c.Plan.Delivery.GitOps.On() {
		if o.Kind == kindNamespace {
			return ""
		}
		return c.Plan.Delivery.GitOps.Tool.Facts().Name + " deletes it"
	}
	switch {
	case o.Kind == kindPriorityClass:
		return "the step priorities of the build deletes it"
	case isDrained(o): // an earlier build has stopped it
		return ""
	case o.Kind == kindClusterQueue, o.Kind == "Queue" && o.Group == "scheduling.run.ai":
		return "the build stops it: it starts no job any more, and its quota goes to the others"
	}
	return ""
}

// drained is the annotation of a ClusterQueue that a build has stopped.
const drained = "batchwright/drained"

func isDrained(o *exports.Object) bool {
	return o.Kind == kindClusterQueue && exports.Text(o.Fields, "metadata", "annotations", drained) == "true"
}

// restarts reports whether the build's step "queues" lets a queue of the folder admit jobs
// again, which an earlier build has stopped.
func (c *comparison) restarts(o *exports.Object) bool {
	return isDrained(o) && !c.Plan.Delivery.GitOps.On()
}

// admitAgain returns the fields of a queue after the build's step "queues".
func admitAgain(queue map[string]any) map[string]any {
	out, _ := deepCopy(queue).(map[string]any)
	for path, key := range map[string]string{"metadata.annotations": drained, "spec": "stopPolicy"} {
		if fields, ok := exports.At(out, strings.Split(path, ".")...).(map[string]any); ok {
			delete(fields, key)
		}
	}
	exports.SetDefaults(kindClusterQueue, out)
	return out
}

// resourceName returns the name by which kubectl knows a kind.
func resourceName(k kindID) string {
	name := exports.Plural(k.kind)
	if k.group != "" {
		name += "." + k.group
	}
	return name
}

// skipKinds adds the kinds of which the exports have no object. missing holds the number
// of objects of each in the folder.
func (c *comparison) skipKinds(missing map[kindID]int) {
	if len(missing) == 0 {
		return
	}
	var names, resources []string
	total := 0
	for k, n := range missing {
		names = append(names, fmt.Sprintf("%s (%d)", k.kind, n))
		resources = append(resources, resourceName(k))
		total += n
	}
	slices.Sort(names)
	slices.Sort(resources)
	c.out.Unexported = Unexported{
		Kinds:   strings.Join(names, ", "),
		Command: "kubectl get " + strings.Join(resources, ",") + " --all-namespaces --show-managed-fields -o yaml",
	}
	c.skip(c.out.Unexported.Kinds,
		"the exports have none of them; if the cluster has none either, applying creates "+words.Count(total, "object"),
		c.out.Unexported.Command)
}
