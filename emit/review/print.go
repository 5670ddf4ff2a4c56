package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/objects"
)

// The common part of all printers. Nothing here depends on a format.

// arrow separates the old value from the new one.
const arrow = "->"

// operationSign returns the sign that marks an operation at the start of a line.
func operationSign(op delta.Op) string {
	switch op {
	case delta.Added:
		return "+"
	case delta.Removed:
		return "-"
	default:
		return "~"
	}
}

// opOf returns the operation on a field.
func opOf(f objects.Field) delta.Op {
	switch {
	case f.From == "":
		return delta.Added
	case f.To == "":
		return delta.Removed
	default:
		return delta.Changed
	}
}

// absent is printed for a missing value.
const absent = "absent"

// group is a changed object, together with other objects of its kind with the same
// changes.
type group struct {
	objects.Object
	same []string // names of the other objects
}

// changedGroups returns the changed objects in groups with the same changes, each
// named by its first object: one number in a pattern changes a queue of every team.
// Files that are compared as a whole come last, because a guide repeats the contents
// of other files.
func (r *Review) changedGroups() []group {
	var out []group
	first := map[string]int{}
	for _, o := range r.Objects {
		if o.Op == delta.Changed && len(o.Fields) > 0 {
			own := objects.Field{Path: o.Kind, From: string(o.Origin), To: o.Note}
			key := fmt.Sprintf("%q", append([]objects.Field{own}, o.Fields...))
			if i, ok := first[key]; ok {
				out[i].same = append(out[i].same, o.Name)
				continue
			}
			first[key] = len(out)
		}
		out = append(out, group{Object: o})
	}
	slices.SortStableFunc(out, func(a, b group) int {
		switch whole := "file"; {
		case a.Kind == whole && b.Kind != whole:
			return 1
		case a.Kind != whole && b.Kind == whole:
			return -1
		}
		return 0
	})
	return out
}

// countObjects returns the number of objects in groups.
func countObjects(groups []group) int {
	n := len(groups)
	for _, g := range groups {
		n += len(g.same)
	}
	return n
}

// otherNames returns a text that names the other objects of a group, at most most of
// them; "" if there are none.
func (g group) otherNames(most int) string {
	if len(g.same) == 0 {
		return ""
	}
	shown, hidden := firstItems(g.same, most)
	s := fmt.Sprintf("the same in %d more: %s", len(g.same), strings.Join(shown, ", "))
	if hidden > 0 {
		s += ", …"
	}
	return s
}

// file is a file with its changed objects.
type file struct {
	name   string
	groups []group
}

// byFile groups objects by file. The objects must be sorted by file.
func byFile(groups []group) []file {
	var out []file
	for i, g := range groups {
		if i == 0 || g.File != groups[i-1].File {
			out = append(out, file{name: g.File})
		}
		last := &out[len(out)-1]
		last.groups = append(last.groups, g)
	}
	return out
}

// tallyOperations returns the numbers of objects in the file, by operation.
func (f file) tallyOperations() string {
	var own []objects.Object
	for _, g := range f.groups {
		own = append(own, g.Object)
	}
	s := tallyObjects(own)
	if others := countObjects(f.groups) - len(own); others > 0 {
		s += fmt.Sprintf(", and %d more in the same way", others)
	}
	return s
}

// tallyObjects returns the numbers of objects by operation; "" if there are none.
func tallyObjects(all []objects.Object) string {
	n := map[delta.Op]int{}
	for _, o := range all {
		n[o.Op]++
	}
	var parts []string
	for _, part := range []struct {
		op    delta.Op
		words string
	}{{delta.Added, "added"}, {delta.Changed, "changed"}, {delta.Removed, "removed from configuration"}} {
		if n[part.op] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[part.op], part.words))
		}
	}
	return strings.Join(parts, ", ")
}

// toReplace returns the number of replacements in words; "" if there are none.
func (r *Review) toReplace() string {
	if len(r.Replacements) == 0 {
		return ""
	}
	return words.Count(len(r.Replacements), "resource") + " must be replaced when applied"
}

// toRemove returns the number of removals in words; "" if there are none.
func (r *Review) toRemove() string {
	if len(r.Removals) == 0 {
		return ""
	}
	return words.Count(len(r.Removals), "resource") + " with nodes or data removed from configuration"
}

// moved explains the consequence of another location of Terraform's state.
const moved = "Unless the state is moved there first, Terraform makes everything a second time beside what is there, " +
	"or fails where a name is taken. What follows holds only once it is moved."

// totalTexts returns the totals of a review, each as a text; none if nothing differs.
func (r *Review) totalTexts() []string {
	var parts []string
	if r.StateTo != "" {
		parts = append(parts, "Terraform's state is elsewhere")
	}
	for _, s := range []string{r.toReplace(), r.toRemove()} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if s := tallyObjects(r.Objects); s != "" {
		parts = append(parts, "objects: "+s)
	}
	if r.Live != nil {
		parts = append(parts, r.Live.Totals()...)
	}
	if r.Formatting > 0 {
		parts = append(parts, words.Plural(r.Formatting, "file differs", "files differ")+" in formatting alone")
	}
	return parts
}

// resourceList are resources with the same fate.
type resourceList struct {
	what      string // happens to each of them
	title     string // the same with their number
	sign      string // at the start of a line
	gone      bool   // they are not in the later folder
	resources []objects.Replacement
}

// resourceLists returns what Terraform and GKE do to resources that exist, the worst first.
func (r *Review) resourceLists() []resourceList {
	return []resourceList{
		{"must be replaced when applied", r.toReplace(), "-/+", false, r.Replacements},
		{"removed from configuration", r.toRemove(), "-", true, r.Removals},
		{
			"loses nodes", words.Plural(len(r.Shrunk), "node pool loses nodes", "node pools lose nodes"), "~", false,
			r.Shrunk,
		},
		{
			"gets new nodes, which GKE recreates one after the other",
			words.Plural(len(r.Recreated), "node pool gets", "node pools get") +
				" new nodes: GKE recreates them, one after the other", "~", false, r.Recreated,
		},
	}
}

// replaced maps the address of each resource that must be replaced, with or without
// the key of an instance, to true.
type replaced map[string]bool

func (r *Review) replacedResources() replaced {
	out := replaced{}
	for _, x := range r.Replacements {
		out[x.Address] = true
		base, _, _ := strings.Cut(x.Address, "[")
		out[base] = true
	}
	return out
}

// refersReplaced reports whether a reason for a replacement is a reference to another
// resource that must be replaced.
func (r replaced) refersReplaced(f objects.Field) bool { return f.From == "" && r[f.To] }

// reasonText returns the text of a reason for a replacement.
func (r replaced) reasonText(f objects.Field) string {
	if r.refersReplaced(f) {
		return "because " + f.Path + " refers to " + f.To
	}
	return "because " + f.Path + ": " + cmp.Or(f.From, absent) + " " + arrow + " " + cmp.Or(f.To, absent)
}

// affectedText returns what depends on a resource that is replaced or removed, and
// what protects the resource; "" if there is neither.
func affectedText(x objects.Replacement, most int) string {
	var parts []string
	if x.Nodes > 0 {
		parts = append(parts, nodesText(x))
	}
	if len(x.Workloads) > 0 {
		parts = append(parts, "workloads "+words.First(x.Workloads, most))
	}
	if x.Guard != "" {
		parts = append(parts, refusalReason(x))
	}
	if x.Order != "" {
		parts = append(parts, x.Order)
	}
	return strings.Join(parts, "; ")
}

// originText says where a change comes from that does not follow from the blueprint; "" if it
// does.
func originText(o objects.Origin) string {
	switch o {
	case objects.FromTool:
		return "does not follow from the blueprint"
	case objects.FromEdit:
		return "undoes an edit by hand"
	}
	return ""
}

// nodesText returns how many nodes a resource has.
func nodesText(x objects.Replacement) string {
	if x.Fixed {
		return words.Count(x.Nodes, "node")
	}
	return "up to " + words.Count(x.Nodes, "node")
}

// refusalReason returns the reason why the resource cannot be destroyed.
func refusalReason(x objects.Replacement) string { return "the build fails " + x.Guard }

// changeText returns the change of a field as text.
func changeText(f objects.Field) string {
	switch opOf(f) {
	case delta.Added:
		return f.Path + ": " + f.To
	case delta.Removed:
		return f.Path + ": " + f.From
	default:
		return f.Path + ": " + f.From + " " + arrow + " " + f.To
	}
}

// firstItems returns the first most items and the number of the others.
func firstItems[T any](items []T, most int) (shown []T, hidden int) {
	if len(items) <= most {
		return items, 0
	}
	return items[:most], len(items) - most
}
