package page

import (
	"bytes"
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/markdown"
)

// Marks in an executed page. No value contains one: words.OneLine replaces the control
// characters of values.
const (
	blockMark = '\x02' // begins a block; the next byte is its kind
	cellMark  = '\x1f' // begins a cell of a table
	valueMark = '\x03' // encloses a value, which begins with its kind
)

// Kinds of blocks.
const (
	paragraph = 'p'
	quote     = 'q' // a line of a box
	heading   = 'h'
	item      = 'i'
	step      = 's'
	row       = 'r'
	language  = 'l' // begins a block of code
	codeLine  = 'c'
	fence     = 'f' // ends a block of code
	contents  = 't' // the links to the sections below
	end       = 'e' // ends a list or a table
)

// Kinds of values.
const (
	plainValue   = 'v'
	commandValue = 'x'
	markupValue  = 'm'
)

// actions yields the actions of a text, each with its place.
func actions(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for at := 0; ; {
			begin := strings.Index(text[at:], "{{")
			if begin < 0 {
				return
			}
			at += begin
			length := strings.Index(text[at:], "}}") + len("}}")
			if length < len("}}") || !yield(at, text[at:at+length]) {
				return
			}
			at += length
		}
	}
}

// word returns the first word of an action: a word of text/template, "/*" or "=" if it is a
// comment or an assignment, and otherwise "".
func word(action string) string {
	text := strings.TrimLeft(strings.TrimPrefix(action[len("{{"):len(action)-len("}}")], "-"), " ")
	first, rest, _ := strings.Cut(text, " ")
	switch {
	case strings.HasPrefix(text, "/*"):
		return "/*"
	case strings.HasPrefix(text, "$") && (strings.HasPrefix(rest, ":= ") || strings.HasPrefix(rest, "= ")):
		return "="
	case slices.Contains([]string{"if", "else", "end", "range", "with", "template", "define"}, first):
		return first
	}
	return ""
}

// onlyAction returns the action of which a line consists, or "".
func onlyAction(line string) string {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "{{") && strings.Index(line, "}}") == len(line)-len("}}") {
		return line
	}
	return ""
}

// isControl reports whether a line prints nothing itself.
func isControl(line string) bool {
	action := onlyAction(line)
	return action != "" && word(action) != ""
}

// startOf returns the beginning of a line that begins a block other than a paragraph, or "".
func startOf(text string) string {
	for _, start := range []string{"- ", "1. ", "|", "> "} {
		if strings.HasPrefix(text, start) {
			return start
		}
	}
	if title := strings.TrimLeft(text, "#"); title != text && strings.HasPrefix(title, " ") || text == "[contents]" {
		return text
	}
	return ""
}

// marker makes the source of a page one line with a mark before each block.
type marker struct {
	lines   []string // of the source
	out     strings.Builder
	inCode  bool
	inBlock bool   // the next line of text continues a block
	opened  []bool // inBlock at the beginning of each condition that has not ended
}

// markBlocks returns the source of a page with a mark before each block, without its
// ends of lines. Plain text has the marks of code.
func markBlocks(source string, isText bool) (string, error) {
	m := &marker{inCode: isText}
	for line := range strings.Lines(source) {
		m.lines = append(m.lines, splitLine(strings.TrimSuffix(line, "\n"))...)
	}
	for n, line := range m.lines {
		m.lines[n] = strings.TrimSpace(line)
		if m.inCode { // its spaces count
			m.lines[n] = strings.TrimRight(line, " ")
		}
		m.markLine(n)
		if !m.inCode && valueInSpan(line) {
			return "", fmt.Errorf("%q: a value in a code span: use {{code}}", line)
		}
	}
	return m.out.String(), nil
}

// splitLine returns the lines of a source line. A line that is whole in a condition or a
// loop is as many lines: what begins it, its branches, and its end.
func splitLine(line string) []string {
	text := strings.TrimSpace(line)
	if !strings.HasPrefix(text, "{{") {
		return []string{line}
	}
	var lines []string
	depth, start := 0, 0
	for at, action := range actions(text) {
		outer := false
		switch word(action) {
		case "if", "with", "range":
			depth++
			outer = depth == 1
		case "else":
			outer = depth == 1
		case "end":
			depth--
			outer = depth == 0
		}
		if lines == nil && (!outer || at > 0) {
			break
		}
		if outer {
			if start < at {
				lines = append(lines, splitLine(text[start:at])...)
			}
			lines = append(lines, action)
			start = at + len(action)
		}
		if depth == 0 {
			break
		}
	}
	if start < len(text) {
		return []string{line}
	}
	return lines
}

// begin begins a block.
func (m *marker) begin(kind rune, content string) {
	m.out.WriteRune(blockMark)
	m.out.WriteRune(kind)
	m.out.WriteString(content)
	m.inBlock = strings.ContainsRune(string([]rune{paragraph, quote, item, step, row}), kind)
}

// markLine adds a line of the source.
func (m *marker) markLine(n int) {
	text := m.lines[n]
	switch {
	case strings.HasPrefix(text, "```") && m.inCode:
		m.inCode = false
		m.begin(fence, "")
	case strings.HasPrefix(text, "```"):
		m.inCode = true
		m.begin(language, text[3:])
	case isControl(text) && !(m.inCode && strings.HasPrefix(text, "{{template")):
		m.markControl(n)
	case m.inCode && onlyAction(text) != "": // of no lines, perhaps
		m.begin(codeLine, text)
	case m.inCode:
		m.begin(codeLine, text+" ") // the space distinguishes an empty line from none
	case text == "":
		m.begin(end, "")
	default:
		m.markText(text)
	}
}

// markControl adds a line that prints nothing itself. If the next line of text can begin
// a paragraph in several branches, the paragraph begins before them. Each repetition of a
// range begins its own.
func (m *marker) markControl(n int) {
	text := strings.TrimSpace(m.lines[n])
	kind := word(text)
	if !m.inBlock && !m.inCode && kind != "range" && kind != "else" && kind != "end" {
		next := n + 1
		for next < len(m.lines) && isControl(m.lines[next]) &&
			!strings.HasPrefix(strings.TrimSpace(m.lines[next]), "{{range") {
			next++
		}
		line := ""
		if next < len(m.lines) {
			line = strings.TrimSpace(m.lines[next])
		}
		if line != "" && !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "{{range") &&
			startOf(line) == "" {
			m.begin(paragraph, "")
		}
	}
	switch kind {
	case "define": // the first line decides whether it has blocks
		m.inBlock = true
		m.opened = append(m.opened, true)
	case "if", "with", "range":
		m.opened = append(m.opened, m.inBlock)
	case "else":
		m.inBlock = len(m.opened) > 0 && m.opened[len(m.opened)-1]
	case "end":
		m.opened = m.opened[:max(0, len(m.opened)-1)]
	}
	m.out.WriteString(text)
}

// markText adds a line that is not code.
func (m *marker) markText(text string) {
	start := startOf(text)
	rest := strings.TrimPrefix(text, start)
	switch {
	case start == "" && !m.inBlock:
		m.begin(paragraph, text)
	case start == "" && strings.ContainsAny(text[:1], ",.;:)"):
		m.out.WriteString(text)
	case start == "":
		m.out.WriteString(" " + text)
	case start == "|" && strings.Trim(text, "|- ") == "": // the rule below the head
	case start == "|":
		m.begin(row, markCells(text))
	case start == "- ":
		m.begin(item, rest)
	case start == "1. ":
		m.begin(step, rest)
	case start == "> ":
		m.begin(quote, rest)
	case text == "[contents]":
		m.begin(contents, "")
	default:
		m.begin(heading, text)
	}
}

// valueInSpan reports whether an action is in a code span of a source line.
func valueInSpan(text string) bool {
	spans, end := 0, 0
	for at, action := range actions(text) {
		if spans += strings.Count(text[end:at], "`"); spans%2 == 1 {
			return true
		}
		end = at + len(action)
	}
	return false
}

// markCells returns a source row of a table with a mark before each cell.
func markCells(text string) string {
	text = strings.TrimSuffix(text, "|")
	var out strings.Builder
	mark := func(s string) { out.WriteString(strings.ReplaceAll(s, "|", string(cellMark))) }
	end := 0
	for at, action := range actions(text) {
		mark(text[end:at])
		out.WriteString(action)
		end = at + len(action)
	}
	mark(text[end:])
	return out.String()
}

// markValue returns a value as it stands in an executed page, until its block is known.
func markValue(v any) (string, error) {
	mark := func(kind rune, s string) (string, error) {
		if s == "" {
			return "", nil
		}
		return string(valueMark) + string(kind) + s + string(valueMark), nil
	}
	switch v := v.(type) {
	case markdown.Markup:
		return mark(markupValue, string(v))
	case Command:
		return mark(commandValue, words.OneLine(string(v)))
	case []Command:
		var lines strings.Builder
		for _, c := range v {
			lines.WriteString(string(blockMark) + string(codeLine) + string(valueMark) + string(commandValue) +
				words.OneLine(string(c)) + string(valueMark))
		}
		return lines.String(), nil
	}
	switch v := reflect.ValueOf(v); {
	case v.Kind() == reflect.String:
		return mark(plainValue, words.OneLine(v.String()))
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), nil
	}
	return "", fmt.Errorf("a page cannot print a %T", v)
}

// A condition or an empty value leaves several spaces of the page itself, or a space before
// punctuation.
var (
	spaces      = regexp.MustCompile(`  +`)
	beforePoint = regexp.MustCompile(` ([,;)]|\.(?: |$))`)
)

// printProse returns a text of an executed page in which values are Markdown.
func printProse(s string) markdown.Markup {
	var out markdown.Markup
	for i, part := range strings.Split(s, string(valueMark)) {
		switch {
		case i%2 == 0:
			out += markdown.Markup(beforePoint.ReplaceAllString(spaces.ReplaceAllString(part, " "), "$1"))
		case part[0] == markupValue:
			out += markdown.Markup(part[1:])
		case part[0] == commandValue:
			out += markdown.Code(part[1:])
		default:
			out += markdown.Text(part[1:])
		}
	}
	return out
}

// printCode returns a line of code of an executed page, in which values are arguments of
// commands.
func printCode(s string) string {
	var out strings.Builder
	for i, part := range strings.Split(s, string(valueMark)) {
		switch {
		case i%2 == 0:
			out.WriteString(part)
		case part[0] == plainValue:
			out.WriteString(words.ShellArgument(part[1:]))
		default:
			out.WriteString(part[1:])
		}
	}
	return out.String()
}

// printText returns an executed page of plain text.
func printText(executed string) []byte {
	var out bytes.Buffer
	for _, line := range strings.Split(executed, string(blockMark))[1:] {
		text := ""
		for i, part := range strings.Split(line[1:], string(valueMark)) {
			text += part[i%2:] // a value begins with its kind
		}
		out.WriteString(strings.TrimSuffix(text, " ") + "\n")
	}
	return out.Bytes()
}

// printBlocks returns an executed page as Markdown.
func printBlocks(executed string) []byte {
	page, body := &markdown.Document{}, &markdown.Document{} // up to the list of contents, and after it
	p := &printer{current: page}
	for _, block := range strings.Split(executed, string(blockMark))[1:] {
		if kind := rune(block[0]); kind == contents {
			p.flush()
			p.current = body
		} else {
			p.add(kind, block[1:])
		}
	}
	p.flush()
	page.Contents(body)
	page.Append(body)
	return page.Bytes()
}

// printer collects the parts of a list, a table, a box or a block of code until it ends.
type printer struct {
	current *markdown.Document

	kind     rune // of the parts, 0 if there are none
	items    []markdown.Markup
	rows     [][]markdown.Markup
	lines    []string
	language string
}

// flush prints the parts.
func (p *printer) flush() {
	switch p.kind {
	case item:
		p.current.List(p.items...)
	case step:
		p.current.Steps(p.items...)
	case quote:
		p.current.Warning(markdown.Join(p.items, " "))
	case row:
		p.current.Table(p.rows[0], p.rows[1:])
	case codeLine:
		p.current.Code(p.language, p.lines...)
	}
	p.kind, p.items, p.rows, p.lines = 0, nil, nil, nil
}

// add adds a block.
func (p *printer) add(kind rune, text string) {
	if kind != p.kind {
		p.flush()
	}
	content := strings.TrimSpace(text)
	switch kind {
	case item, step, quote:
		if content == "[!WARNING]" { // the first line of the box
			return
		}
		p.items = append(p.items, printProse(content))
	case row:
		var cells []markdown.Markup
		for _, cell := range strings.Split(text, string(cellMark))[1:] {
			cells = append(cells, printProse(strings.TrimSpace(cell)))
		}
		p.rows = append(p.rows, cells)
	case codeLine:
		if text == "" {
			return
		}
		p.lines = append(p.lines, printCode(text))
	default:
		p.addWhole(kind, content)
		return
	}
	p.kind = kind
}

// addWhole adds a block that has no parts.
func (p *printer) addWhole(kind rune, content string) {
	switch kind {
	case paragraph:
		if content != "" {
			p.current.Para(printProse(content))
		}
	case heading:
		level := strings.IndexByte(content, ' ')
		p.current.Heading(level, printProse(content[level+1:]))
	case language:
		p.language = content
	}
}
