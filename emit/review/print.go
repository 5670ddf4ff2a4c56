package review

import (
	"fmt"
	"strings"

	"github.com/batchwright/batchwright/emit"
	"github.com/batchwright/batchwright/emit/objects"
)

// What all printers have in common: nothing here depends on a format.

// arrow stands between what was and what is.
const arrow = "->"

// sign is how an operation is marked in a line.
func sign(op emit.Op) string {
	switch op {
	case emit.Added:
		return "+"
	case emit.Removed:
		return "-"
	default:
		return "~"
	}
}

// opOf tells what happened to a field.
func opOf(f objects.Field) emit.Op {
	switch {
	case f.From == "":
		return emit.Added
	case f.To == "":
		return emit.Removed
	default:
		return emit.Changed
	}
}

// present shows a value, which may not be there.
func present(value string) string {
	if value == "" {
		return "absent"
	}
	return value
}

// file is a file with its objects that changed.
type file struct {
	name    string
	objects []objects.Object
}

// byFile groups objects, which are sorted by file.
func byFile(objects []objects.Object) []file {
	var out []file
	for i, o := range objects {
		if i == 0 || o.File != objects[i-1].File {
			out = append(out, file{name: o.File})
		}
		last := &out[len(out)-1]
		last.objects = append(last.objects, o)
	}
	return out
}

// tally counts objects by what happened to them, "" for none.
func tally(objects []objects.Object) string {
	n := map[emit.Op]int{}
	for _, o := range objects {
		n[o.Op]++
	}
	var parts []string
	for _, part := range []struct {
		op    emit.Op
		words string
	}{{emit.Added, "added"}, {emit.Changed, "changed"}, {emit.Removed, "removed from configuration"}} {
		if n[part.op] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[part.op], part.words))
		}
	}
	return strings.Join(parts, ", ")
}

// count writes a number of things: "1 file", "2 files".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// toReplace counts the replacements, "" for none.
func (r *Review) toReplace() string {
	if len(r.Replacements) == 0 {
		return ""
	}
	return count(len(r.Replacements), "resource", "resources") + " must be replaced when applied"
}

// totals are what a review comes to, in parts; none where nothing differs.
func (r *Review) totals() []string {
	var parts []string
	if s := r.toReplace(); s != "" {
		parts = append(parts, s)
	}
	if s := tally(r.Objects); s != "" {
		parts = append(parts, "objects: "+s)
	}
	if r.Formatting > 0 {
		parts = append(parts, count(r.Formatting, "file differs", "files differ")+" in formatting alone")
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

// affected says what hangs on a resource that is replaced, "" for nothing.
func affected(x objects.Replacement, most int) string {
	var parts []string
	if x.Nodes > 0 {
		parts = append(parts, "up to "+count(x.Nodes, "node", "nodes"))
	}
	if shown, hidden := some(x.Workloads, most); len(shown) > 0 {
		s := "workloads " + strings.Join(shown, ", ")
		if hidden > 0 {
			s += fmt.Sprintf(" and %d more", hidden)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ")
}

// change is what happened to a field.
func change(f objects.Field) string {
	switch opOf(f) {
	case emit.Added:
		return f.Path + ": " + f.To
	case emit.Removed:
		return f.Path + ": " + f.From
	default:
		return f.Path + ": " + f.From + " " + arrow + " " + f.To
	}
}

// clip shortens a text to a number of characters.
func clip(s string, most int) string {
	n, cut := 0, 0
	for i := range s {
		switch n {
		case most - 1:
			cut = i
		case most:
			return s[:cut] + "…"
		}
		n++
	}
	return s
}

// some are the first of the items and how many are left out.
func some[T any](items []T, most int) (shown []T, hidden int) {
	if len(items) <= most {
		return items, 0
	}
	return items[:most], len(items) - most
}
