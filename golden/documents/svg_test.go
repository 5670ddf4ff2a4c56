package documents_test

import (
	"bytes"
	"encoding/xml"
	"strconv"
)

// pictureStyle is the style sheet of the pictures in docs/pictures. A picture has a card
// as its background, so it can also be read if the page is dark and the system is light.
// Boxes are light in both modes.
const pictureStyle = `
text { font: 13px -apple-system, Helvetica, Arial, sans-serif; fill: #1f2328; }
.code { font: 12px ui-monospace, Menlo, Consolas, monospace; }
.title { font-weight: 600; }
.small { font-size: 12px; }
.outside { fill: #1f2328; }
.note { fill: #59636e; font-size: 12px; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
.card { fill: #f6f8fa; stroke: #d0d7de; }
.frame { fill: none; stroke: #7d8590; }
.plain { fill: #ffffff; stroke: #7d8590; }
.blue { fill: #dbeafe; stroke: #3b82f6; }
.green { fill: #dcfce7; stroke: #16a34a; }
.orange { fill: #ffedd5; stroke: #ea580c; }
.purple { fill: #f3e8ff; stroke: #a855f7; }
.dashed { fill: none; stroke: #7d8590; stroke-dasharray: 4 3; }
.borrowed { stroke-width: 2; stroke-dasharray: 6 3; }
.line { fill: none; stroke: #7d8590; stroke-width: 1.5; }
.head { fill: #7d8590; }
@media (prefers-color-scheme: dark) {
  .card { fill: #161b22; stroke: #30363d; }
  .outside { fill: #e6edf3; }
  .note { fill: #9198a1; }
}
`

// svgElement is an element of a picture.
type svgElement struct {
	XMLName    xml.Name
	Attributes []xml.Attr `xml:",any,attr"`
	Text       string     `xml:",chardata"`
	Children   []svgElement
}

// newElement returns an element with attributes, which are names and values in turn.
func newElement(name, text string, attributes ...string) svgElement {
	e := svgElement{XMLName: xml.Name{Local: name}, Text: text}
	for i := 0; i+1 < len(attributes); i += 2 {
		e.Attributes = append(e.Attributes, xml.Attr{Name: xml.Name{Local: attributes[i]}, Value: attributes[i+1]})
	}
	return e
}

// picture is a drawing on a card.
type picture struct {
	width, height int
	title         string // for screen readers
	elements      []svgElement
}

// rectangle draws a rectangle with round corners.
func (p *picture) rectangle(class string, x, y, width, height int) {
	p.elements = append(p.elements, newElement("rect", "", "class", class, "x", strconv.Itoa(x), "y", strconv.Itoa(y),
		"width", strconv.Itoa(width), "height", strconv.Itoa(height), "rx", "6"))
}

// write writes lines of text; y is the baseline of the first line.
func (p *picture) write(class string, x, y int, lines ...string) {
	const lineHeight = 17
	for i, line := range lines {
		p.elements = append(p.elements, newElement("text", line, "class", class, "xml:space", "preserve",
			"x", strconv.Itoa(x), "y", strconv.Itoa(y+i*lineHeight)))
	}
}

// box draws a rectangle with lines of text in its middle; the first line is bold.
func (p *picture) box(class string, x, y, width, height int, lines ...string) {
	p.rectangle(class, x, y, width, height)
	top := y + height/2 - 17*len(lines)/2 + 13
	for i, line := range lines {
		style := "small middle"
		if i == 0 {
			style = "title middle"
		}
		p.write(style, x+width/2, top+17*i, line)
	}
}

// line draws a line through points, x and y in turn.
func (p *picture) line(class string, points ...int) {
	path := "M"
	for i, n := range points {
		if i > 0 {
			path += " "
		}
		path += strconv.Itoa(n)
	}
	p.elements = append(p.elements, newElement("path", "", "class", class, "d", path))
}

// arrow draws a line through points with a head at the last one. The last part of the
// line is horizontal or vertical.
func (p *picture) arrow(points ...int) {
	p.line("line", points...)
	n := len(points)
	x, y := points[n-2], points[n-1]
	dx, dy := direction(x-points[n-4]), direction(y-points[n-3])
	p.line("head", x, y, x-8*dx-4*dy, y-8*dy-4*dx, x-8*dx+4*dy, y-8*dy+4*dx)
}

// direction returns the sign of a number.
func direction(n int) int { return max(-1, min(1, n)) }

// encode returns the picture as an SVG file.
func (p *picture) encode() ([]byte, error) {
	width, height := strconv.Itoa(p.width), strconv.Itoa(p.height)
	svg := newElement("svg", "", "xmlns", "http://www.w3.org/2000/svg", "width", width, "height", height,
		"viewBox", "0 0 "+width+" "+height, "role", "img")
	card := picture{}
	card.rectangle("card", 1, 1, p.width-2, p.height-2)
	svg.Children = append(svg.Children, newElement("title", p.title), newElement("style", pictureStyle))
	svg.Children = append(svg.Children, card.elements...)
	svg.Children = append(svg.Children, p.elements...)
	var out bytes.Buffer
	encoder := xml.NewEncoder(&out)
	encoder.Indent("", " ")
	if err := encoder.Encode(svg); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	// The encoder escapes the line ends of the style sheet.
	return bytes.ReplaceAll(out.Bytes(), []byte("&#xA;"), []byte("\n")), nil
}
