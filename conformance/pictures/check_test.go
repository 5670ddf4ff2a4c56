package pictures

import (
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// chart holds the frames and boxes that the text of a picture declares.
type chart struct {
	groups map[string]string // titles, by identifier
	nodes  map[string]string // labels, by identifier
	inside map[string]string // the group of a node, by the node's identifier
	colors []string          // of the arrows
}

var (
	groupLine = regexp.MustCompile(`^subgraph (\w+)\["(.*)"\]$`)
	nodeLine  = regexp.MustCompile(`^(\w+)\(?\["(.*)"\]\)?$`)
	arrowLine = regexp.MustCompile(`^(\w+(?: & \w+)*) --> \w+$`)
	styleLine = regexp.MustCompile(`^linkStyle ([0-9,]+) stroke:(#[0-9a-f]{6}),`)
)

// readChart reads the text of a picture.
func readChart(source string) chart {
	c := chart{groups: map[string]string{}, nodes: map[string]string{}, inside: map[string]string{}}
	var open []string
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if m := groupLine.FindStringSubmatch(line); m != nil {
			c.groups[m[1]] = plainText(m[2])
			open = append(open, m[1])
		} else if m := nodeLine.FindStringSubmatch(line); m != nil {
			c.nodes[m[1]] = plainText(m[2])
			if len(open) > 0 {
				c.inside[m[1]] = open[len(open)-1]
			}
		} else if line == "end" {
			open = open[:len(open)-1]
		} else if m := arrowLine.FindStringSubmatch(line); m != nil {
			c.colors = append(c.colors, make([]string, 1+strings.Count(m[1], "&"))...)
		} else if m := styleLine.FindStringSubmatch(line); m != nil {
			for position := range strings.SplitSeq(m[1], ",") {
				var i, red, green, blue int
				fmt.Sscan(position, &i)
				fmt.Sscanf(m[2], "#%02x%02x%02x", &red, &green, &blue)
				c.colors[i] = fmt.Sprintf("rgb(%d, %d, %d)", red, green, blue)
			}
		}
	}
	return c
}

// plainText returns the text of a label without white space.
func plainText(label string) string {
	return withoutSpace(html.UnescapeString(strings.ReplaceAll(strings.ReplaceAll(label, "<br>", ""), "#", "&#")))
}

func withoutSpace(s string) string { return strings.Join(strings.Fields(s), "") }

// slack is how many pixels a measurement may differ from the true one.
const slack = 1.5

// contains reports whether a box lies in b.
func (b box) contains(inner box) bool {
	return inner.Left >= b.Left-slack && inner.Right <= b.Right+slack && inner.Top >= b.Top-slack &&
		inner.Bottom <= b.Bottom+slack
}

// overlaps reports whether two boxes have pixels in common.
func (b box) overlaps(other box) bool {
	return b.Left < other.Right-slack && other.Left < b.Right-slack && b.Top < other.Bottom-slack &&
		other.Top < b.Bottom-slack
}

// Identifiers of elements: Mermaid adds the picture's own before ours since 11, and
// "flowchart" before and a number after the identifier of a node.
var (
	nodeElement  = regexp.MustCompile(`(?:^|-)flowchart-(\w+)-\d+$`)
	groupElement = regexp.MustCompile(`(?:^|-)(\w+)$`)
)

// byName returns shapes by their identifiers in the chart.
func byName(shapes []shape, element *regexp.Regexp) map[string]shape {
	named := map[string]shape{}
	for _, s := range shapes {
		if m := element.FindStringSubmatch(s.ID); m != nil {
			named[m[1]] = s
		}
	}
	return named
}

// Colors of text that a reader can read: of a label on the light fill of a box, and of
// a title on the page.
const boxText = "rgb(31, 35, 40)"

// check returns what is wrong with a drawing.
func check(source string, m measured, dark bool) []string {
	if m.Error != "" {
		return []string{"Mermaid refuses it: " + m.Error}
	}
	var problems []string
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	c := readChart(source)
	nodes, groups := byName(m.Nodes, nodeElement), byName(m.Groups, groupElement)
	if m.Size.Right-m.Size.Left < 1 || m.Size.Bottom-m.Size.Top < 1 || len(c.nodes) == 0 {
		report("it is empty")
	}
	reportLabels(report, "box", c.nodes, nodes)
	reportLabels(report, "frame", c.groups, groups)
	if got, want := slices.Sorted(slices.Values(m.Arrows)), slices.Sorted(slices.Values(c.colors)); !slices.Equal(got,
		want) {
		report("the arrows have the colors %q, want %q", got, want)
	}
	for _, id := range slices.Sorted(maps.Keys(nodes)) {
		n := nodes[id]
		if n.Label.Color != boxText {
			report("the text in box %s is %s, want %s", id, n.Label.Color, boxText)
		}
		if !m.Size.contains(n.Box) {
			report("box %s is cut off", id)
		}
		for _, other := range slices.Sorted(maps.Keys(nodes)) {
			if id < other && n.Box.overlaps(nodes[other].Box) {
				report("box %s lies over box %s", id, other)
			}
		}
		for group, g := range groups {
			if inside := c.inside[id] == group; inside && !g.Box.contains(n.Box) {
				report("box %s overflows frame %s", id, group)
			} else if !inside && g.Box.overlaps(n.Box) {
				report("box %s lies over frame %s", id, group)
			}
			if n.Box.overlaps(g.Label.Box) {
				report("box %s hides the title of %s", id, group)
			}
		}
	}
	for id, g := range groups {
		if bright := isBright(g.Label.Color); bright != dark {
			report("the title of %s is %s", id, g.Label.Color)
		}
		for other, o := range groups {
			if id != other && g.Box.overlaps(o.Box) {
				report("frame %s lies over frame %s", id, other)
			}
		}
	}
	slices.Sort(problems)
	return problems
}

// reportLabels reports shapes that are missing or too many, or whose labels are
// other than in the chart or too large.
func reportLabels(report func(string, ...any), kind string, want map[string]string, got map[string]shape) {
	for id, label := range want {
		s, ok := got[id]
		switch {
		case !ok:
			report("%s %s is missing", kind, id)
		case withoutSpace(s.Label.Text) != label:
			report("%s %s has the label %q, want %q", kind, id, withoutSpace(s.Label.Text), label)
		case !s.Box.contains(s.Label.Box):
			report("the text of %s %s is wider or higher than the %[1]s", kind, id)
		}
	}
	if len(got) > len(want) {
		report("there are %d of %d: %s", len(got), len(want), kind)
	}
}

// isBright reports whether a color is one for text on a dark page. In between are the
// colors that are legible on no page.
func isBright(color string) bool {
	var red, green, blue int
	if n, err := fmt.Sscanf(color, "rgb(%d, %d, %d)", &red, &green, &blue); n != 3 || err != nil {
		return false
	}
	return min(red, green, blue) > 150
}

// TestCheck checks that every kind of mistake in a drawing is found.
func TestCheck(t *testing.T) {
	const source = "flowchart LR\n  subgraph g[\"a #35;\"]\n    n[\"b<br>c d\"]\n  end\n  m([\"e\"])\n  n --> m\n" +
		"  linkStyle 0 stroke:#010203,stroke-width:2px\n"
	newShape := func(id string, text string, outline, label box) shape {
		s := shape{ID: id, Box: outline}
		s.Label.Box, s.Label.Text, s.Label.Color = label, text, boxText
		return s
	}
	newDrawing := func() measured {
		return measured{
			Size:   box{0, 0, 400, 200},
			Groups: []shape{newShape("p-g", "a #", box{10, 10, 200, 190}, box{90, 12, 120, 30})},
			Nodes: []shape{
				newShape("p-flowchart-n-0", "b\nc d", box{20, 40, 180, 100}, box{30, 50, 170, 90}),
				newShape("flowchart-m-12", "e", box{300, 40, 380, 100}, box{310, 50, 370, 90}),
			},
			Arrows: []string{"rgb(1, 2, 3)"},
		}
	}
	for _, test := range []struct {
		name   string
		change func(m *measured)
		want   string
	}{
		{"good", func(*measured) {}, ""},
		{"refused", func(m *measured) { m.Error = "too large" }, "too large"},
		{"empty", func(m *measured) { m.Size = box{} }, "it is empty"},
		{"no box", func(m *measured) { m.Nodes = m.Nodes[:1] }, "box m is missing"},
		{"no frame", func(m *measured) { m.Groups = nil }, "frame g is missing"},
		{"frame too many", func(m *measured) {
			m.Groups = append(m.Groups, newShape("h", "h", box{1, 1, 5, 5}, box{2, 2, 3, 3}))
		}, "2 of 1: frame"},
		{"other label", func(m *measured) { m.Nodes[0].Label.Text = "b" }, `has the label "b"`},
		{"wide label", func(m *measured) { m.Nodes[0].Label.Box.Right = 185 }, "the text of box n is wider"},
		{"wide title", func(m *measured) { m.Groups[0].Label.Box.Left = 5 }, "the text of frame g is wider"},
		{"no color", func(m *measured) { m.Arrows[0] = "rgb(0, 0, 0)" }, "the arrows have the colors"},
		{"no arrow", func(m *measured) { m.Arrows = nil }, "the arrows have the colors"},
		{"text of the theme", func(m *measured) { m.Nodes[0].Label.Color = "rgb(204, 204, 204)" }, "the text in box n"},
		{"title of another theme",
			func(m *measured) { m.Groups[0].Label.Color = "rgb(249, 255, 254)" }, "the title of g"},
		{"hidden title", func(m *measured) { m.Nodes[0].Box.Top = 20 }, "box n hides the title of g"},
		{"overflow", func(m *measured) { m.Nodes[0].Box.Right = 210 }, "box n overflows frame g"},
		{"box in the wrong frame",
			func(m *measured) { m.Nodes[1].Box = box{100, 110, 260, 150} }, "box m lies over frame g"},
		{"boxes overlap", func(m *measured) { m.Nodes[1].Box = m.Nodes[0].Box }, "box m lies over box n"},
		{"cut off", func(m *measured) { m.Nodes[1].Box.Right = 410 }, "box m is cut off"},
	} {
		m := newDrawing()
		test.change(&m)
		got := strings.Join(check(source, m, false), "\n")
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: the problems are %q, want %q", test.name, got, test.want)
		}
	}
	two := newDrawing()
	other := newShape("h", "h", box{150, 150, 250, 195}, box{205, 160, 220, 170})
	two.Groups = append(two.Groups, other)
	nested := strings.Replace(source, "  m([", "  subgraph h[\"h\"]\n  end\n  m([", 1)
	if got := strings.Join(check(nested, two, false), "\n"); !strings.Contains(got, "frame g lies over frame h") {
		t.Errorf("two frames that overlap: the problems are %q", got)
	}
}
