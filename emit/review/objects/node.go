package objects

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/compiler/words"
)

// shape says how a node contains other nodes.
type shape int

const (
	scalar   shape = iota
	fields         // a map, by name
	items          // a list whose items are identified by a key or by their number
	sequence       // a list of scalars
)

// node is a value in a file, independent of the format.
type node struct {
	shape shape
	// text is a scalar as it is printed. id is equal for equal scalars: it consists
	// of the type and the canonical form of the value.
	text, id string
	// names are the names of kids, as they are appended to a path, for example
	// ".spec" or "[l4-spot]". For fields they are sorted; for items they are in the
	// order of the file.
	names []string
	kids  map[string]*node
	// ordered reports whether the order of the items has a meaning.
	ordered bool
	// places reports whether only the order of the items is compared. The items
	// themselves are compared elsewhere.
	places bool
	// set reports whether the items are identified by their value.
	set bool
	// blocks reports whether the number of an item is omitted if there is only one
	// item.
	blocks bool
	line   int // in the file, from 1; 0 if it is unknown
}

// textNode returns a scalar node for a string.
func textNode(s string) *node { return &node{text: s, id: "s" + s} }

// addKid adds a kid. If the name is already used, addKid appends a number to it.
func (n *node) addKid(name string, kid *node) {
	if n.kids == nil {
		n.kids = map[string]*node{}
	}
	if _, ok := n.kids[name]; ok {
		// Try numbers until one is free; usually the number of kids is free.
		for i := len(n.kids); ; i++ {
			again := name + "#" + strconv.Itoa(i)
			if _, ok := n.kids[again]; !ok {
				name = again
				break
			}
		}
	}
	n.kids[name] = kid
	n.names = append(n.names, name)
}

// addText adds a kid for the text of an argument, unless the text is empty.
func (n *node) addText(name, text string) {
	if text != "" {
		n.addKid(name, textNode(readableValue(text)))
	}
}

// compareNodes returns the fields in which two values differ, with their paths in the
// later value.
func compareNodes(before, after *node) []Field {
	c := comparison{}
	c.compareAt("", before, after)
	return c.out
}

type comparison struct {
	out []Field
	// each reports whether a map or a list that is nowhere on one side counts as empty.
	each bool
}

func (c *comparison) addField(path string, from, to *node) {
	f, t := briefText(from), briefText(to)
	if from != nil && to != nil && f == t && from.shape == scalar && to.shape == scalar {
		// The string "1" differs from the number 1.
		f, t = from.typed(), to.typed()
	}
	c.compareValues(path, f, t)
}

func (c *comparison) compareValues(path, from, to string) {
	from, to = shortenPair(from, to)
	c.out = append(c.out, Field{Path: console.Inline(strings.TrimPrefix(path, ".")), From: from, To: to})
}

// compareAt compares two nodes at a path. A nil node means that nothing is there.
func (c *comparison) compareAt(path string, a, b *node) {
	if c.each && a == nil && b.shape != scalar {
		a = &node{shape: b.shape, blocks: b.blocks}
	}
	if c.each && b == nil && a.shape != scalar {
		b = &node{shape: a.shape, blocks: a.blocks}
	}
	if a == nil || b == nil {
		c.addField(path, a, b)
		return
	}
	if a.shape == scalar && b.shape == scalar {
		switch {
		case a.id == b.id:
		case strings.Contains(a.text, "\n") || strings.Contains(b.text, "\n"):
			// For example a file in a ConfigMap.
			if x, y := structuredNode(a.text), structuredNode(b.text); x != nil && y != nil {
				c.compareAt(path, x, y)
				return
			}
			c.compareTexts(path, a.text, b.text)
		default:
			c.addField(path, a, b)
		}
		return
	}
	// An empty list can have either list shape.
	if a.shape == sequence || b.shape == sequence || a.shape != b.shape {
		if !sameNodes(a, b) {
			c.addField(path, a, b)
		}
		return
	}
	var names []string
	switch {
	case a.places && b.places:
	case a.shape == fields:
		names = append(slices.Clone(a.names), b.names...)
		slices.Sort(names)
		names = slices.Compact(names)
	default:
		names = b.names
		for _, name := range a.names {
			if b.kids[name] == nil {
				names = append(names[:len(names):len(names)], name)
			}
		}
	}
	for _, name := range names {
		at := path + name
		if a.set || a.blocks && len(a.kids) <= 1 && len(b.kids) <= 1 && name == "[0]" {
			at = path
		}
		c.compareAt(at, a.kids[name], b.kids[name])
	}
	if a.ordered || b.ordered {
		in := func(other *node) func(string) bool { return func(name string) bool { return other.kids[name] == nil } }
		was, is := slices.DeleteFunc(slices.Clone(a.names), in(b)), slices.DeleteFunc(slices.Clone(b.names), in(a))
		if !slices.Equal(was, is) {
			c.compareValues(path, orderText(was), orderText(is))
		}
	}
}

// orderText returns the keys of items as one text.
func orderText(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = strings.Trim(name, "[]")
	}
	return "order: " + strings.Join(out, ", ")
}

// sameNodes reports whether two values are equal. Empty values are equal whatever
// their shapes.
func sameNodes(a, b *node) bool {
	if a.shape == scalar || b.shape == scalar {
		return a.shape == b.shape && a.id == b.id
	}
	if len(a.names) != len(b.names) || (a.shape == fields) != (b.shape == fields) {
		return false
	}
	for name, kid := range a.kids {
		other := b.kids[name]
		if other == nil || !sameNodes(kid, other) {
			return false
		}
	}
	return true
}

// mostLines is the largest number of lines that are shown for a text. For the many
// lines of a changed script, a reader should compare the files.
const mostLines = 8

// compareTexts compares texts of several lines and adds the lines that differ. Each is
// identified by its number in the later text or, if it was removed, in the earlier
// text.
func (c *comparison) compareTexts(path, from, to string) {
	shown, removed, added := 0, 0, 0
	for _, run := range changedLines(from, to) {
		for i := range max(len(run.from), len(run.to)) {
			var f, t string
			if i < len(run.from) {
				f = run.from[i]
			}
			if i < len(run.to) {
				t = run.to[i]
			}
			switch {
			case strings.TrimSpace(f) == "" && strings.TrimSpace(t) == "":
			case shown < mostLines:
				shown++
				line := run.at + min(i, max(0, len(run.to)-1))
				c.compareValues(joinPath(path, "line "+strconv.Itoa(max(1, line))), f, t)
			default:
				removed += min(1, len(f))
				added += min(1, len(t))
			}
		}
	}
	if removed+added > 0 {
		c.compareValues(joinPath(path, "lines not shown"), strconv.Itoa(removed)+" removed",
			strconv.Itoa(added)+" added")
	} else if shown == 0 {
		c.compareValues(joinPath(path, "blank lines"), strconv.Itoa(strings.Count(from, "\n")),
			strconv.Itoa(strings.Count(to, "\n")))
	}
}

// changedRun is a run of removed lines with the lines that replace it.
type changedRun struct {
	at       int // number of the first line of to or, if to is empty, of from; counted from 1
	from, to []string
}

// changedLines returns the differences of two texts, which it reads from a unified
// diff.
func changedLines(from, to string) []changedRun {
	var runs []changedRun
	var old, now int // numbers of the next lines, from 1
	open := false    // the last run continues
	for line := range strings.Lines(string(diff.Diff("before", []byte(from), "after", []byte(to)))) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "@@ "):
			open = false
			if _, err := fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &old, new(int), &now, new(int)); err != nil {
				return runs
			}
		case now == 0 && old == 0, strings.HasPrefix(line, `\`): // lines that belong to the diff itself
		case strings.HasPrefix(line, "-"), strings.HasPrefix(line, "+"):
			if !open {
				runs, open = append(runs, changedRun{at: now}), true
			}
			last := &runs[len(runs)-1]
			if line[0] == '+' {
				last.to = append(last.to, line[1:])
				now++
				break
			}
			last.from = append(last.from, line[1:])
			if last.at = now; now == 0 {
				last.at = old
			}
			old++
		default:
			open = false
			old, now = old+1, now+1
		}
	}
	return runs
}

// joinPath appends words to a path.
func joinPath(path, words string) string {
	if path == "" {
		return words
	}
	return path + ", " + words
}

// most is the number of characters that are shown of a value, and lead the number of
// characters that are shown before the first difference.
const (
	most = 80
	lead = 30
)

// shortenPair returns two values, each as one printable line of at most most
// characters that contains the first difference.
func shortenPair(from, to string) (string, string) {
	f, t := console.Inline(from), console.Inline(to)
	if f == t && from != to {
		f, t = strconv.QuoteToASCII(from), strconv.QuoteToASCII(to)
	}
	same := 0
	for same < len(f) && same < len(t) && f[same] == t[same] {
		same++
	}
	start := 0
	if (utf8.RuneCountInString(f) > most || utf8.RuneCountInString(t) > most) && same > lead {
		start = same - lead
		for start > 0 && !utf8.RuneStart(f[start]) {
			start--
		}
	}
	return cutText(f, start), cutText(t, start)
}

// cutText returns most characters of a text, from the byte start on, with an
// ellipsis at each end that is cut off.
func cutText(s string, start int) string {
	lost := start > 0 && s != ""
	s = s[min(start, len(s)):]
	if lost {
		s = "…" + s
	}
	return words.Truncate(s, most+1)
}

// typed returns a scalar so that its type is visible: strings are quoted.
func (n *node) typed() string {
	if strings.HasPrefix(n.id, "s") {
		return strconv.Quote(n.text)
	}
	return n.text
}

// briefText returns a value on one line. It may be cut off, because only the beginning
// is shown.
func briefText(n *node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	n.write(&b, 0)
	return b.String()
}

// enough is the number of characters that are written for a value with other values
// in it. It is larger than the number that is shown, for lists that differ late.
const enough = 100 * most

func (n *node) write(b *strings.Builder, depth int) {
	switch n.shape {
	case scalar:
		if n.text == "" {
			b.WriteString(`""`)
		}
		b.WriteString(n.text)
		return
	case fields:
		b.WriteByte('{')
	default:
		b.WriteByte('[')
	}
	for i, name := range n.names {
		if b.Len() > enough || depth > 20 {
			b.WriteString("…")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		if n.shape == fields {
			b.WriteString(strings.Trim(name, `.[]`) + ": ")
		}
		n.kids[name].write(b, depth+1)
	}
	if n.shape == fields {
		b.WriteByte('}')
	} else {
		b.WriteByte(']')
	}
}

// listNode returns a node for the items of a list: a sequence if all items are
// scalars; otherwise items, each identified by its key or, without a key, by its
// number. field is the name of the field that holds the list.
func listNode(field string, kids []*node) *node {
	if !slices.ContainsFunc(kids, func(k *node) bool { return k.shape != scalar }) {
		n := &node{shape: sequence}
		if slices.Contains(sets, field) {
			n.shape, n.set = items, true
		}
		for i, kid := range kids {
			name := strconv.Itoa(i)
			if n.set {
				name = kid.text
			}
			n.addKid("["+name+"]", kid)
		}
		return n
	}
	n := &node{shape: items, ordered: slices.Contains(inOrder, field)}
	for i, kid := range kids {
		n.addKid("["+cmp.Or(itemKey(kid), strconv.Itoa(i))+"]", kid)
	}
	return n
}

// keys are groups of fields that identify the items of a list. The first group whose
// first field an item has identifies the item. For Kubernetes and Kueue they are the
// keys by which lists are merged; for other formats they are fields that are unique.
// One table for all lists is enough, because items with equal keys are distinguished
// by number.
//
// Source: the tags patchMergeKey in k8s.io/api, the markers listMapKey in
// the APIs of Kueue and of the kinds of jobs.
var keys = [][]string{
	{"mountPath"}, {"containerPort"}, {"key", "effect"}, {"kind", "namespace", "name"},
	{"id"}, {"name"}, {"alert"}, {"title"}, {"refId"},
}

// inOrder are lists whose order has a meaning although their items have keys:
// flavors are tried and containers are started in this order, and variables can
// refer to earlier variables.
var inOrder = []string{"flavors", "initContainers", "env"}

// sets are lists of scalars whose order has no meaning. "resources" is also a list
// in a kustomization.
var sets = []string{
	"resources", "coveredResources", "verbs", "apiGroups", "resourceNames", "operations", "managedResources",
	"finalizers",
}

// itemKey returns the text that identifies an item of a list, or "".
func itemKey(n *node) string {
	if n.shape != fields {
		return ""
	}
	// A tile of a Cloud Monitoring dashboard consists of a widget and its position.
	if widget := n.kids[".widget"]; widget != nil {
		return widget.scalarField("title")
	}
	for _, group := range keys {
		if n.scalarField(group[0]) == "" {
			continue
		}
		var parts []string
		for _, name := range group {
			if v := n.scalarField(name); v != "" {
				parts = append(parts, v)
			}
		}
		return strings.Join(parts, "/")
	}
	return ""
}

// scalarField returns a scalar among a node's fields, or "".
func (n *node) scalarField(name string) string {
	if kid := n.kids["."+name]; n.shape == fields && kid != nil && kid.shape == scalar {
		return kid.text
	}
	return ""
}

// pathStep returns the part of a path for a field. Some names cannot follow a dot.
func pathStep(name string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$"
	if name != "" && strings.Contains(letters, name[:1]) && strings.Trim(name, letters+"0123456789-") == "" {
		return "." + name
	}
	return "[" + name + "]"
}
