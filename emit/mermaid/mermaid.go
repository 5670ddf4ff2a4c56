// Package mermaid draws flowcharts in Mermaid, a language that GitHub and GitLab
// render as a drawing in a Markdown code block.
//
// Nodes, groups and arrows go in; lines come out. A text from a blueprint can only
// become a label.
package mermaid

import (
	"fmt"
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
)

// Shape is the outline of a node.
type Shape int

// The shapes of nodes.
const (
	Box Shape = iota
	Stadium
	Cylinder
)

// labelBrackets returns the text before and after a label in a node of the shape.
func (s Shape) labelBrackets() (before, after string) {
	switch s {
	case Stadium:
		return "([", "])"
	case Cylinder:
		return "[(", ")]"
	default:
		return "[", "]"
	}
}

// Flowchart is a left-to-right drawing under construction. The zero value is an
// empty drawing.
//
// Identifiers are written without escaping: they must consist of letters, digits and
// underscores, and must not be words of the language, such as "end".
type Flowchart struct {
	lines []string
	depth int // the number of open groups
}

func (f *Flowchart) writeLine(s string) {
	f.lines = append(f.lines, strings.Repeat("  ", f.depth+1)+s)
}

// Node adds a node, with a label of one or more lines, to the innermost open group.
func (f *Flowchart) Node(id string, shape Shape, label ...string) {
	before, after := shape.labelBrackets()
	f.writeLine(id + before + quoteLabel(label) + after)
}

// OpenGroup begins a group inside the innermost open group. CloseGroup ends it.
func (f *Flowchart) OpenGroup(id string, label ...string) {
	f.writeLine("subgraph " + id + "[" + quoteLabel(label) + "]")
	f.depth++
}

// CloseGroup ends the innermost open group.
func (f *Flowchart) CloseGroup() {
	f.depth--
	f.writeLine("end")
}

// Arrows adds an arrow from one node to each of the other nodes. Without other nodes
// it adds nothing.
func (f *Flowchart) Arrows(from string, to ...string) {
	if len(to) > 0 {
		f.writeLine(from + " --> " + strings.Join(to, " & "))
	}
}

// LabelledArrow adds an arrow with a label of one line. If label is empty, the arrow
// has no label.
func (f *Flowchart) LabelledArrow(from, to, label string) {
	if label == "" {
		f.Arrows(from, to)
		return
	}
	f.writeLine(from + " -->|" + quoteLabel([]string{label}) + "| " + to)
}

// Lines returns the lines of the drawing.
func (f *Flowchart) Lines() []string { return append([]string{"flowchart LR"}, f.lines...) }

// quoteLabel quotes lines of text. It replaces all characters except a few harmless
// ones by entity codes, which Mermaid writes as #35; for #.
func quoteLabel(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteString("<br>")
		}
		for _, r := range words.OneLine(line) {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
				strings.ContainsRune(" -.,:/_+…", r) {
				b.WriteRune(r)
			} else {
				fmt.Fprintf(&b, "#%d;", r)
			}
		}
	}
	return `"` + b.String() + `"`
}
