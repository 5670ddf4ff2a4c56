package exports

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// jsonReader reads JSON as YAML nodes, in a fraction of the time that the YAML library
// takes. It stops at a mistake: the YAML library then reads the file, and reports it.
type jsonReader struct {
	text string
	at   int // offset of the next byte
	line int // number of its line, from 1
	// start is the offset of the line, plus the bytes before at that are no characters of
	// their own: columns count characters.
	start int
}

// readJSON returns the values of a text in JSON, each at the beginning of a line: one value,
// JSON lines, or what several commands have printed. The result is nil for any other text.
func readJSON(text string) []*yaml.Node {
	j := &jsonReader{text: text, line: 1}
	var roots []*yaml.Node
	for j.skipSpace(); j.at < len(text); j.skipSpace() {
		if roots != nil && (j.at != j.start || j.next() != '{' || roots[0].Kind != yaml.MappingNode) {
			return nil
		}
		root := j.read(0)
		if root == nil || root.ShortTag() == "!!null" {
			return nil
		}
		roots = append(roots, root)
	}
	return roots
}

// skipSpace moves to the next character that is no space.
func (j *jsonReader) skipSpace() {
	for ; j.at < len(j.text); j.at++ {
		switch j.text[j.at] {
		case '\n':
			j.line, j.start = j.line+1, j.at+1
		case ' ', '\t', '\r':
		default:
			return
		}
	}
}

// next returns the next character, 0 at the end.
func (j *jsonReader) next() byte {
	if j.at < len(j.text) {
		return j.text[j.at]
	}
	return 0
}

// read reads the value at the next character; nil if there is a mistake.
func (j *jsonReader) read(depth int) *yaml.Node {
	n := &yaml.Node{Line: j.line, Column: j.at - j.start + 1}
	switch c := j.next(); {
	case depth > maxDepth:
		return nil
	case c == '{':
		n.Kind = yaml.MappingNode
		return j.readContent(n, '}', depth)
	case c == '[':
		n.Kind = yaml.SequenceNode
		return j.readContent(n, ']', depth)
	case c == '"':
		return j.readString(n)
	}
	length := strings.IndexAny(j.text[j.at:], ",]} \t\r\n")
	if length < 0 {
		length = len(j.text) - j.at
	}
	n.Kind, n.Value = yaml.ScalarNode, j.text[j.at:j.at+length]
	j.at += length
	if !json.Valid([]byte(n.Value)) {
		return nil
	}
	n.Tag = n.ShortTag()
	return n
}

// readContent reads what a struct or a list contains.
func (j *jsonReader) readContent(n *yaml.Node, end byte, depth int) *yaml.Node {
	j.at++
	if j.skipSpace(); j.next() == end {
		j.at++
		return n
	}
	for {
		if end == '}' {
			key := &yaml.Node{Line: j.line, Column: j.at - j.start + 1}
			if j.next() != '"' || j.readString(key) == nil {
				return nil
			}
			if j.skipSpace(); j.next() != ':' {
				return nil
			}
			j.at++
			j.skipSpace()
			n.Content = append(n.Content, key)
		}
		value := j.read(depth + 1)
		if value == nil {
			return nil
		}
		n.Content = append(n.Content, value)
		j.skipSpace()
		c := j.next()
		j.at++
		switch {
		case c == end:
			return n
		case c != ',':
			return nil
		}
		j.skipSpace()
	}
}

// readString reads a text in quotation marks.
func (j *jsonReader) readString(n *yaml.Node) *yaml.Node {
	n.Kind, n.Style, n.Tag = yaml.ScalarNode, yaml.DoubleQuotedStyle, "!!str"
	begin, escapes := j.at, false
	for j.at++; j.next() != '"'; j.at++ {
		switch c := j.next(); {
		case c < ' ': // also the end of the text
			return nil
		case c == '\\':
			j.at++
			escapes = true
		case !utf8.RuneStart(c):
			j.start++
		}
	}
	j.at++
	quoted := j.text[begin:j.at]
	if n.Value = quoted[1 : len(quoted)-1]; escapes && json.Unmarshal([]byte(quoted), &n.Value) != nil {
		return nil
	}
	return n
}
