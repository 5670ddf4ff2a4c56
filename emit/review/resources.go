package review

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/review/objects"
)

// resources are Terraform resources of one type for which the same is true, such as the buckets
// of all teams. A reader sees one item for them.
type resources struct {
	objects.Replacement // the first, with the nodes and workloads of all
	others              []objects.Replacement
}

// groupResources joins neighbours that differ only in their names, nodes and workloads.
func groupResources(all []objects.Replacement) (out []resources) {
	previous := ""
	for _, x := range all {
		key := fmt.Sprintf("%q", []any{
			strings.TrimSuffix(x.Address, x.Name()), x.File, x.Because, x.Guard, x.Order, x.Origin,
		})
		if key != previous {
			out, previous = append(out, resources{Replacement: x}), key
			continue
		}
		last := &out[len(out)-1]
		last.others = append(last.others, x)
		last.Nodes += x.Nodes
		last.Fixed = last.Fixed && x.Fixed
		last.Workloads = unionOf(last.Workloads, x.Workloads)
	}
	return out
}

// unionOf returns the elements of two sorted lists, sorted.
func unionOf(a, b []string) []string {
	out := make([]string, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case a[0] > b[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// title returns the type and, of several resources, the number, such as "12 buckets", and the
// names of the first most of them. For a single resource of another type than those with nodes or
// data it returns "" and its address.
func (g resources) title(most int) (title string, names []string) {
	noun := g.Noun()
	all, _ := firstItems(append([]objects.Replacement{g.Replacement}, g.others...), most)
	for _, x := range all {
		name := x.Address
		if noun != "" {
			name = x.Name()
		}
		names = append(names, name)
	}
	if len(g.others) == 0 {
		return noun, names
	}
	return words.Count(1+len(g.others), cmp.Or(noun, "resource")) + ":", names
}

// text returns the resources as text, with most names.
func (g resources) text(most int) string {
	if len(g.others) == 0 {
		return g.Address
	}
	title, names := g.title(most)
	text := title + " " + strings.Join(names, ", ")
	if hidden := 1 + len(g.others) - len(names); hidden > 0 {
		text += fmt.Sprintf(" and %d more", hidden)
	}
	return text
}
