// Package mermaid draws flowcharts in Mermaid, a language that GitHub and GitLab
// render as a drawing in a Markdown code block.
//
// Nodes, groups and arrows go in; lines come out. A text from a blueprint can only
// become a label.
package mermaid

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
)

// Limits of Mermaid. It draws an error message instead of a flowchart that exceeds
// them, and only the page can raise them, not the flowchart. GitHub and GitLab do
// not. The source is the schema of Mermaid's configuration: maxTextSize and maxEdges.
const (
	MaxText   = 50_000 // characters
	MaxArrows = 500
)

// Shape is the outline of a node.
type Shape int

// The shapes of nodes.
const (
	Box Shape = iota
	Stadium
)

// Color is the color of nodes and arrows: Plain, Frame, or a hue.
type Color int

// Plain is for nodes and arrows without a hue, Frame for groups. The hues are 0 and
// above; they start again after the last one.
const (
	Plain Color = -1
	Frame Color = -2
)

// hues are the fill and the stroke of each hue. A stroke stands out against the white
// page of a light theme and against GitHub's dark page, and dark text can be read on
// a fill in both.
var hues = []struct{ fill, stroke string }{
	{"#dbeafe", "#3b82f6"}, // blue
	{"#dcfce7", "#16a34a"}, // green
	{"#ffedd5", "#ea580c"}, // orange
	{"#f3e8ff", "#a855f7"}, // purple
	{"#ccfbf1", "#0d9488"}, // teal
	{"#fce7f3", "#db2777"}, // pink
	{"#fef9c3", "#a16207"}, // brown
}

// Colors that do not depend on a hue.
const (
	textColor   = "#1f2328"
	plainFill   = "#f6f8fa"
	plainStroke = "#7d8590"
	// frameFill lets the page shine through, so that the title of a group, which has
	// the theme's own color, stays legible in every theme.
	frameFill = "#7d859026"
)

func (c Color) hue() int { return int(c) % len(hues) }

// style returns the name of the class of nodes and groups of a color, their style, and the
// style of arrows.
func (c Color) style() (class, nodes, arrows string) {
	arrows = "stroke:" + plainStroke + ",stroke-width:2px"
	switch c {
	case Frame:
		return "frame", "fill:" + frameFill + ",stroke:" + plainStroke, arrows
	case Plain:
		return "plain", "fill:" + plainFill + ",stroke:" + plainStroke + ",color:" + textColor, arrows
	}
	h := hues[c.hue()]
	arrows = "stroke:" + h.stroke + ",stroke-width:2px"
	return "hue" + strconv.Itoa(c.hue()), "fill:" + h.fill + "," + arrows + ",color:" + textColor, arrows
}

// Flowchart is a left-to-right drawing under construction. The zero value is an
// empty drawing.
//
// Identifiers are written without escaping: they must consist of letters, digits and
// underscores, and must not be words of the language, such as "end".
type Flowchart struct {
	lines  []string
	open   bool // a group is open
	arrows int
	styles []string
	drawn  []Color            // colors of nodes, in the order of their first node
	nodes  map[Color][]string // identifiers
}

func (f *Flowchart) writeLine(s string) {
	indent := "  "
	if f.open {
		indent = "    "
	}
	f.lines = append(f.lines, indent+s)
}

func (f *Flowchart) colorNode(id string, c Color) {
	if c >= 0 {
		c = Color(c.hue()) // colors of one hue share a style
	}
	if f.nodes == nil {
		f.nodes = map[Color][]string{}
	}
	if f.nodes[c] == nil {
		f.drawn = append(f.drawn, c)
	}
	f.nodes[c] = append(f.nodes[c], id)
}

// Node adds a node, with a label of one or more lines, to the open group.
func (f *Flowchart) Node(id string, shape Shape, c Color, label ...string) {
	text := "[" + quoteLabel(label) + "]"
	if shape == Stadium {
		text = "(" + text + ")"
	}
	f.writeLine(id + text)
	f.colorNode(id, c)
}

// OpenGroup begins a group with a title of one line. CloseGroup ends it. A group
// cannot contain a group: Mermaid 10 and 11 draw the inner group over the title of
// the outer one. For the same reason the title has one line.
func (f *Flowchart) OpenGroup(id, title string) {
	f.writeLine("subgraph " + id + "[" + quoteLabel([]string{title}) + "]")
	f.colorNode(id, Frame)
	f.open = true
}

// CloseGroup ends the open group.
func (f *Flowchart) CloseGroup() {
	f.open = false
	f.writeLine("end")
}

// Arrows adds an arrow to a node from each of the other nodes. Without other nodes it
// adds nothing.
func (f *Flowchart) Arrows(from []string, to string, c Color) {
	if len(from) == 0 {
		return
	}
	f.writeLine(strings.Join(from, " & ") + " --> " + to)
	// Mermaid knows arrows by their position in the drawing.
	positions := make([]string, len(from))
	for i := range from {
		positions[i] = strconv.Itoa(f.arrows + i)
	}
	_, _, style := c.style()
	f.styles = append(f.styles, "  linkStyle "+strings.Join(positions, ",")+" "+style)
	f.arrows += len(from)
}

// Lines returns the lines of the drawing.
func (f *Flowchart) Lines() []string {
	// Without a width of its own Mermaid wraps labels after a few words, also at the
	// dashes of names.
	lines := []string{"---", "config:", "  flowchart:", "    wrappingWidth: 480", "---", "flowchart LR"}
	lines = append(lines, f.lines...)
	lines = append(lines, f.styles...)
	var members []string
	for _, c := range f.drawn {
		class, style, _ := c.style()
		lines = append(lines, "  classDef "+class+" "+style)
		members = append(members, "  class "+strings.Join(f.nodes[c], ",")+" "+class)
	}
	return append(lines, members...)
}

// Fits reports whether Mermaid draws the flowchart.
func (f *Flowchart) Fits() bool {
	size := 0
	for _, line := range f.Lines() {
		size += len(line) + 1
	}
	return size <= MaxText && f.arrows <= MaxArrows
}

// quoteLabel quotes lines of text. It replaces all characters except a few harmless
// ones by entity codes, which Mermaid writes as #35; for #. Mermaid 11 reads labels as
// Markdown, in which a dash at the start of a line begins a list.
func quoteLabel(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteString("<br>")
		}
		for j, r := range words.OneLine(line) {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' && j > 0 ||
				strings.ContainsRune(" ,:…", r) {
				b.WriteRune(r)
			} else {
				fmt.Fprintf(&b, "#%d;", r)
			}
		}
	}
	return `"` + b.String() + `"`
}
