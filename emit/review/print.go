package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/objects"
)

// What all printers have in common: nothing here depends on a format.

// arrow stands between what was and what is.
const arrow = "->"

// sign is how an operation is marked in a line.
func sign(op delta.Op) string {
	switch op {
	case delta.Added:
		return "+"
	case delta.Removed:
		return "-"
	default:
		return "~"
	}
}

// opOf tells what happened to a field.
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

// present shows a value, which may not be there.
func present(value string) string {
	if value == "" {
		return "absent"
	}
	return value
}

// group is an object, with others of its kind that changed just as it did.
type group struct {
	objects.Object
	same []string // their names
}

// groups puts together the objects that changed alike, each with the first of
// them: one number of a pattern changes a queue of every team. Files as a whole
// come last: a guide repeats what the others say.
func (r *Review) groups() []group {
	var out []group
	first := map[string]int{}
	for _, o := range r.Objects {
		if o.Op == delta.Changed && len(o.Fields) > 0 {
			key := fmt.Sprintf("%q", append([]objects.Field{{Path: o.Kind}}, o.Fields...))
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

// size counts objects.
func size(groups []group) int {
	n := len(groups)
	for _, g := range groups {
		n += len(g.same)
	}
	return n
}

// alike says which objects changed as another one, "" for none.
func (g group) alike(most int) string {
	if len(g.same) == 0 {
		return ""
	}
	shown, hidden := some(g.same, most)
	s := fmt.Sprintf("the same in %d more: %s", len(g.same), strings.Join(shown, ", "))
	if hidden > 0 {
		s += ", …"
	}
	return s
}

// file is a file with its objects that changed.
type file struct {
	name   string
	groups []group
}

// byFile groups objects, which are sorted by file.
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

// tally counts what is in a file.
func (f file) tally() string {
	var own []objects.Object
	for _, g := range f.groups {
		own = append(own, g.Object)
	}
	s := tally(own)
	if others := size(f.groups) - len(own); others > 0 {
		s += fmt.Sprintf(", and %d more in the same way", others)
	}
	return s
}

// tally counts objects by what happened to them, "" for none.
func tally(all []objects.Object) string {
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

// toReplace counts the replacements, "" for none.
func (r *Review) toReplace() string {
	if len(r.Replacements) == 0 {
		return ""
	}
	return words.Count(len(r.Replacements), "resource") + " must be replaced when applied"
}

// toRemove counts the removals, "" for none.
func (r *Review) toRemove() string {
	if len(r.Removals) == 0 {
		return ""
	}
	return words.Count(len(r.Removals), "resource") + " with nodes or data removed from configuration"
}

// moved says what it means that Terraform's state is elsewhere.
const moved = "Unless the state is moved there first, Terraform makes everything a second time beside what is there, " +
	"or fails where a name is taken. What follows holds only once it is moved."

// totals are what a review comes to, in parts; none where nothing differs.
func (r *Review) totals() []string {
	var parts []string
	if r.StateTo != "" {
		parts = append(parts, "Terraform's state is elsewhere")
	}
	for _, s := range []string{r.toReplace(), r.toRemove()} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if s := tally(r.Objects); s != "" {
		parts = append(parts, "objects: "+s)
	}
	if r.Formatting > 0 {
		parts = append(parts, words.Plural(r.Formatting, "file differs", "files differ")+" in formatting alone")
	}
	return parts
}

// replaced tells of addresses whether the resource, or some of its instances,
// must be replaced.
type replaced map[string]bool

func (r *Review) replaced() replaced {
	out := replaced{}
	for _, x := range r.Replacements {
		out[x.Address] = true
		base, _, _ := strings.Cut(x.Address, "[")
		out[base] = true
	}
	return out
}

// refers tells whether a reason is a reference to another resource that must
// be replaced.
func (r replaced) refers(f objects.Field) bool { return f.From == "" && r[f.To] }

// reason says why a resource must be replaced.
func (r replaced) reason(f objects.Field) string {
	if r.refers(f) {
		return "because " + f.Path + " refers to " + f.To
	}
	return "because " + f.Path + ": " + present(f.From) + " " + arrow + " " + present(f.To)
}

// affected says what hangs on a resource that is replaced or removed, and what
// keeps it, "" for nothing.
func affected(x objects.Replacement, most int) string {
	var parts []string
	if x.Nodes > 0 {
		parts = append(parts, "up to "+words.Count(x.Nodes, "node"))
	}
	if len(x.Workloads) > 0 {
		parts = append(parts, "workloads "+words.First(x.Workloads, most))
	}
	if x.Guard != "" {
		parts = append(parts, refused(x))
	}
	return strings.Join(parts, "; ")
}

// refused says what keeps a resource from being destroyed.
func refused(x objects.Replacement) string { return "refused " + x.Guard }

// change is what happened to a field.
func change(f objects.Field) string {
	switch opOf(f) {
	case delta.Added:
		return f.Path + ": " + f.To
	case delta.Removed:
		return f.Path + ": " + f.From
	default:
		return f.Path + ": " + f.From + " " + arrow + " " + f.To
	}
}

// some are the first of the items and how many are left out.
func some[T any](items []T, most int) (shown []T, hidden int) {
	if len(items) <= most {
		return items, 0
	}
	return items[:most], len(items) - most
}
