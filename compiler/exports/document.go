package exports

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/batchwright/batchwright/compiler/diag"
)

// document is one file while it is read. Its source hides the text of Secrets.
type document struct {
	source  *diag.Source
	content []byte
	lines   []int // byte offsets of the starts of the lines
	roots   []*yaml.Node
	starts  []int // byte offsets of the characters; nil if all are ASCII
	// repeats reports whether the file has node pools that another file has, too.
	repeats bool
	// placeholders are the values that are expressions of a template.
	placeholders []*yaml.Node
	hides        bool // the source has a copy of the content, in which texts are hidden
}

// maxNodes is the most YAML nodes of a document after its aliases are expanded. An
// export of 10,000 queues has fewer than a million.
const maxNodes = 10_000_000

// parseDocument reads the YAML documents of a file. JSON is YAML.
func parseDocument(f File) (*document, *syntaxError) {
	f.Content = decodeText(f.Content)
	d := &document{content: f.Content, source: &diag.Source{Name: f.Name, Content: f.Content}, lines: []int{0}}
	for i, b := range f.Content {
		if b == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	if at := bytes.IndexByte(f.Content, 0); at >= 0 || !utf8.Valid(f.Content) {
		d.source = &diag.Source{Name: f.Name} // an excerpt of binary data helps nobody
		return d, &syntaxError{message: "the file is not text", help: exportAgain}
	}
	if count := utf8.RuneCount(f.Content); count < len(f.Content) {
		d.starts = make([]int, 0, count)
		for i := range string(f.Content) {
			d.starts = append(d.starts, i)
		}
	}
	if d.roots = readJSON(string(f.Content)); d.roots != nil {
		return d, nil
	}
	for decoder := yaml.NewDecoder(bytes.NewReader(f.Content)); ; {
		var root yaml.Node
		err := decodeNode(decoder, &root)
		if errors.Is(err, io.EOF) {
			return d, nil
		}
		if err != nil {
			if regexp.MustCompile(`Secret|password|clientKey`).Match(f.Content) {
				d.hide(0, len(f.Content)) // where the secret is remains unknown
			}
			return d, d.syntaxError(err)
		}
		if len(root.Content) == 1 && root.Content[0].ShortTag() != "!!null" { // as after a last "---"
			d.roots = append(d.roots, root.Content[0])
		}
	}
}

// decodeText returns a text in UTF-8 without a byte order mark. PowerShell writes UTF-16.
func decodeText(content []byte) []byte {
	order := binary.ByteOrder(binary.LittleEndian)
	switch {
	case bytes.HasPrefix(content, []byte("\xef\xbb\xbf")):
		return content[3:]
	case bytes.HasPrefix(content, []byte("\xfe\xff")):
		order = binary.BigEndian
	case !bytes.HasPrefix(content, []byte("\xff\xfe")):
		return content
	}
	units := make([]uint16, 0, len(content)/2)
	for i := 2; i+1 < len(content); i += 2 {
		units = append(units, order.Uint16(content[i:]))
	}
	return []byte(string(utf16.Decode(units)))
}

// decodeNode decodes the next document. A panic of the YAML parser is a syntax error.
func decodeNode(decoder *yaml.Decoder, root *yaml.Node) (err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = fmt.Errorf("yaml: %v", bug)
		}
	}()
	return decoder.Decode(root)
}

// syntaxError is a mistake in the syntax of a file.
type syntaxError struct {
	message    string
	help       string
	start, end int
}

// template matches the beginning of an expression in the languages of templates that
// write Kubernetes objects: Terraform, Go and Jinja.
var template = regexp.MustCompile(`[$%]\{|\{\{|\{%`)

func (d *document) syntaxError(err error) *syntaxError {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	out := &syntaxError{message: message, help: exportAgain}
	line := len(d.lines)
	if at := regexp.MustCompile(`^line ([0-9]+): (.*)`).FindStringSubmatch(message); at != nil {
		line, _ = strconv.Atoi(at[1])
		out.message = at[2]
	}
	for line = max(1, min(line, len(d.lines))); line > 1 && d.lineLength(line) == 0; {
		line-- // the end of a file that is cut off: show its last text
	}
	if at := bytes.IndexFunc(d.content, isControl); at >= 0 {
		out.start, out.end = at, at+1
		return out
	}
	for _, l := range []int{line, line + 1, line - 1} { // the parser's lines are not exact
		if l < 1 || l > len(d.lines) {
			continue
		}
		start := d.lines[l-1]
		text := d.content[start : start+d.lineLength(l)]
		if at := template.FindIndex(text); at != nil {
			out.message, out.help = "the file is a template, and therefore is not YAML", fillInTemplate
			out.start, out.end = start+at[0], start+len(text)
			return out
		}
		indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
		if at := bytes.IndexByte(indent, '\t'); at >= 0 {
			out.message, out.help = "a tab indents the line, and YAML allows only spaces", "replace the tab by spaces"
			out.start, out.end = start+at, start+at+1
			return out
		}
	}
	out.start = d.lines[line-1]
	out.end = out.start + d.lineLength(line)
	for out.start < out.end && d.content[out.start] == ' ' {
		out.start++
	}
	return out
}

// isControl reports whether YAML forbids a character.
func isControl(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f }

func (d *document) lineLength(line int) int {
	end := len(d.content)
	if line < len(d.lines) {
		end = d.lines[line]
	}
	return len(bytes.TrimRight(d.content[d.lines[line-1]:end], "\r\n"))
}

// hide replaces the text between two offsets by asterisks in every excerpt.
func (d *document) hide(start, end int) {
	if !d.hides {
		d.source.Content, d.hides = bytes.Clone(d.source.Content), true
	}
	shown := d.source.Content
	for i := start; i < min(end, len(shown)); i++ {
		if shown[i] != '\n' && shown[i] != '\r' {
			shown[i] = '*'
		}
	}
}

// span returns the place of a node: its text if it is a scalar on one line, and
// otherwise its first character.
func (d *document) span(n *yaml.Node) diag.Span {
	start := d.offset(n)
	end := min(start+1, len(d.content))
	if n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		length := len(n.Value)
		if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
			length += 2
		}
		line := sort.SearchInts(d.lines, start+1)
		end = min(start+length, d.lines[line-1]+d.lineLength(line))
	}
	return diag.Span{Source: d.source, Start: start, End: max(end, start)}
}

// offset returns the byte offset of a node.
func (d *document) offset(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(d.lines) {
		return len(d.content)
	}
	at := d.lines[n.Line-1]
	if d.starts == nil {
		return min(at+n.Column-1, len(d.content))
	}
	first, _ := slices.BinarySearch(d.starts, at)
	if i := first + n.Column - 1; i < len(d.starts) {
		return d.starts[i]
	}
	return len(d.content)
}

// nodeError is a mistake at a node.
type nodeError struct {
	node    *yaml.Node
	message string
}

func (e *nodeError) Error() string { return e.message }

// plain returns the value of a node as encoding/json would decode it. The error is a
// *nodeError.
func (d *document) plain(n *yaml.Node) (any, error) {
	left := maxNodes
	return plainValue(n, &left, 0)
}

// maxDepth is the deepest nesting of an object. Kubernetes' own objects have fewer
// than 40 levels.
const maxDepth = 200

func plainValue(n *yaml.Node, left *int, depth int) (any, error) {
	*left--
	if *left < 0 || depth > maxDepth {
		return nil, &nodeError{n, "the document is too large or too deep after its aliases are expanded"}
	}
	switch n.Kind {
	case yaml.AliasNode:
		return plainValue(n.Alias, left, depth+1)
	case yaml.MappingNode:
		return plainMapping(n, left, depth)
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			value, err := plainValue(item, left, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, value)
		}
		return out, nil
	}
	return plainScalar(n), nil
}

// plainMapping returns the fields of a mapping and of the mappings that it merges.
func plainMapping(n *yaml.Node, left *int, depth int) (any, error) {
	out := make(map[string]any, len(n.Content)/2)
	var merged []any
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		value, err := plainValue(n.Content[i+1], left, depth+1)
		if err != nil {
			return nil, err
		}
		if key.Tag == mergeTag {
			if list, ok := value.([]any); ok {
				merged = append(merged, list...)
			} else {
				merged = append(merged, value)
			}
			continue
		}
		if _, twice := out[key.Value]; twice {
			return nil, &nodeError{key, fmt.Sprintf("the key %q occurs twice in the same object", key.Value)}
		}
		out[key.Value] = value
	}
	for _, m := range merged { // a mapping's own fields and earlier merges take precedence
		fields, _ := m.(map[string]any)
		for key, value := range fields {
			if _, set := out[key]; !set {
				out[key] = value
			}
		}
	}
	return out, nil
}

// mergeTag is the tag of the key "<<", which merges other mappings.
const mergeTag = "!!merge"

func plainScalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int":
		var i int64
		if n.Decode(&i) == nil {
			return json.Number(strconv.FormatInt(i, 10))
		}
	case "!!float":
		var f float64
		if n.Decode(&f) == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
		}
	}
	return n.Value
}

// unalias returns the node that a chain of aliases stands for.
func unalias(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// contentOf returns the items of a node, nil if there is no node.
func contentOf(n *yaml.Node) []*yaml.Node {
	if n == nil {
		return nil
	}
	return n.Content
}

// keyIndex returns the index of a key in the content of a mapping, -1 if there is none.
func keyIndex(n *yaml.Node, key string) int {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// child returns the value of a key of a mapping, or of the mappings that it merges, nil if
// there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	merges := maxDepth
	return childOf(n, key, &merges)
}

// childOf does the work of child. merges is the number of mappings that it may still look
// into.
func childOf(n *yaml.Node, key string, merges *int) *yaml.Node {
	if n = unalias(n); n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	if i := keyIndex(n, key); i >= 0 {
		return n.Content[i+1]
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag != mergeTag {
			continue
		}
		merged := n.Content[i+1 : i+2]
		if merged[0].Kind == yaml.SequenceNode {
			merged = merged[0].Content
		}
		for _, m := range merged {
			if *merges--; *merges < 0 {
				return nil
			}
			if found := childOf(m, key, merges); found != nil {
				return found
			}
		}
	}
	return nil
}

// scalar returns the text of a scalar below a node, "" if there is none.
func scalar(n *yaml.Node, keys ...string) string {
	for _, key := range keys {
		n = child(n, key)
	}
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// fieldKey returns the key node of a field such as "spec.resourceGroups[0].name", or
// the deepest node on the way to it.
func fieldKey(n *yaml.Node, path string) *yaml.Node {
	at := n
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		if n = unalias(n); n == nil {
			return at
		}
		if n.Kind == yaml.SequenceNode {
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(n.Content) {
				return at
			}
			n = n.Content[i]
			at = n
			continue
		}
		i := keyIndex(n, part)
		if i < 0 {
			return at
		}
		at, n = n.Content[i], n.Content[i+1]
	}
	return at
}
