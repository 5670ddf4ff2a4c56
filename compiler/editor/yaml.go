package editor

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
)

// yamlScan reads the lines of a YAML file. It knows the four forms that
// blueprints use: mappings and sequences, as blocks and in braces or brackets.
type yamlScan struct {
	content []byte
	at      int // offset of the cursor, or -1
	marks   []mark
	cursor  cursor
	found   bool
	blocks  []block
	text    int // indentation of the key of a text of several lines, or -1
}

// block is a mapping or a sequence whose lines are indented deeper than indent.
type block struct {
	indent int
	path   []string
	label  int  // index of the mark of its key, or -1
	item   bool // an element of a sequence
	items  int  // number of elements so far
}

// scanYAML returns the marks of a YAML file, and the cursor at an offset.
func scanYAML(content []byte, at int) ([]mark, cursor) {
	y := &yamlScan{content: content, at: at, blocks: []block{{indent: -1, label: -1}}, text: -1}
	for start := 0; start < len(content); {
		start = y.readLine(start)
	}
	if at >= 0 && !y.found {
		line := content[bytes.LastIndexByte(content, '\n')+1:]
		y.placeInColumn(len(line))
	}
	return y.marks, y.cursor
}

func (y *yamlScan) top() *block { return &y.blocks[len(y.blocks)-1] }

// hasCursor reports whether the cursor is in a range.
func (y *yamlScan) hasCursor(start, end int) bool { return !y.found && y.at >= start && y.at <= end }

// readLine reads the line that starts at an offset, and the lines that belong to the same
// value. It returns the start of the next line.
func (y *yamlScan) readLine(start int) int {
	end, next := lineEnd(y.content, start)
	column := len(y.content[start:end]) - len(bytes.TrimLeft(y.content[start:end], " "))
	rest := strings.TrimRight(string(y.content[start+column:end]), " \t\r")
	if y.text >= 0 && (rest == "" || column > y.text) {
		y.silenceCursor(start, end)
		return next
	}
	y.text = -1
	switch {
	case rest == "":
		if y.hasCursor(start, end) {
			y.placeInColumn(y.at - start)
		}
		return next
	case rest[0] == '#', strings.HasPrefix(rest, "---"), rest[0] == '%':
		y.silenceCursor(start, end)
		return next
	case y.hasCursor(start, start+column) && y.at < start+column:
		y.placeInColumn(y.at - start)
	}
	at := start + column
	for rest == "-" || strings.HasPrefix(rest, "- ") {
		y.openItem(at - start)
		skipped := 1 + len(rest[1:]) - len(strings.TrimLeft(rest[1:], " "))
		at, rest = at+skipped, rest[skipped:]
	}
	return y.readEntry(start, at, end, next)
}

// openItem opens an element of a sequence whose dash is in a column.
func (y *yamlScan) openItem(column int) {
	for y.top().indent > column || y.top().indent == column && y.top().item {
		y.blocks = y.blocks[:len(y.blocks)-1]
	}
	above := y.top()
	if len(above.path) >= mostDepth {
		return
	}
	path := append(slices.Clip(above.path), diag.Index(above.items))
	above.items++
	y.blocks = append(y.blocks, block{indent: column, path: path, label: -1, item: true})
}

// readEntry reads a key with its value, or a value, from an offset to the end of a line.
func (y *yamlScan) readEntry(start, at, end, next int) int {
	for y.top().indent >= at-start && len(y.blocks) > 1 {
		y.blocks = y.blocks[:len(y.blocks)-1]
	}
	key, size, ok := yamlKey(string(y.content[at:end]))
	if !ok || len(y.top().path) >= mostDepth {
		item := y.top().item
		return y.readValue(y.top().path, item, at, at, end, next)
	}
	path := append(slices.Clip(y.top().path), key.text)
	key.start, key.end, key.label, key.path, key.stop = at, at+key.end, true, path, at+size
	if y.hasCursor(key.start, key.end) {
		y.found = true
		y.cursor = cursor{start: key.start, end: key.end, quoted: key.quoted, within: y.top().path, path: y.top().path}
	}
	y.blocks = append(y.blocks, block{indent: at - start, path: path, label: len(y.marks)})
	y.marks = append(y.marks, key)
	return y.readValue(path, true, at, at+size, end, next)
}

// readValue reads the value between two offsets. expected reports whether a value must
// stand there: without a key, a word is the start of a key. key is the offset of the
// key.
func (y *yamlScan) readValue(path []string, expected bool, key, at, end, next int) int {
	first := at
	text := string(y.content[at:end])
	at += len(text) - len(strings.TrimLeft(text, " \t"))
	text = cutComment(strings.TrimSpace(text))
	switch {
	case text == "":
		if y.hasCursor(first, end) {
			y.found = true
			y.cursor = cursor{
				start: y.at, end: y.at, within: path, path: path, value: expected, silent: y.at > at && at < end,
			}
		}
	case text[0] == '{' || text[0] == '[':
		return y.readFlow(path, at, key, next)
	case strings.ContainsAny(text[:1], "|>"):
		column := key - (bytes.LastIndexByte(y.content[:key], '\n') + 1)
		y.text = column
		y.silenceCursor(first, end)
	default:
		w := mark{start: at, end: at + len(text), text: text, path: path}
		w.unquoteText()
		if y.hasCursor(w.start, w.end) {
			y.found = true
			y.cursor = cursor{start: w.start, end: w.end, quoted: w.quoted, within: path, path: path, value: expected}
		}
		y.silenceCursor(w.end+1, end)
		y.marks = append(y.marks, w)
	}
	y.extendFields(end)
	return next
}

// extendFields moves the ends of all open fields to an offset.
func (y *yamlScan) extendFields(end int) {
	for _, b := range y.blocks {
		if b.label >= 0 {
			y.marks[b.label].stop = max(y.marks[b.label].stop, end)
		}
	}
}

// silenceCursor keeps a cursor at which nothing can be offered.
func (y *yamlScan) silenceCursor(start, end int) {
	if y.hasCursor(start, end) {
		y.found, y.cursor = true, cursor{start: y.at, end: y.at, silent: true}
	}
}

// placeInColumn keeps a cursor in a column with nothing before it on its line.
func (y *yamlScan) placeInColumn(column int) {
	i := len(y.blocks) - 1
	for i > 0 && y.blocks[i].indent >= column {
		i--
	}
	y.found = true
	y.cursor = cursor{start: y.at, end: y.at, within: y.blocks[i].path, path: y.blocks[i].path}
}

// unquoteText removes the quotes of a mark's text.
func (w *mark) unquoteText() {
	if w.text[0] != '"' && w.text[0] != '\'' {
		return
	}
	w.quoted = true
	if plain, err := strconv.Unquote(w.text); err == nil {
		w.text = plain
	} else {
		w.text = strings.Trim(w.text, `"'`)
	}
}

// yamlKey returns the key at the start of a line, with its end, and the number of
// bytes up to the value.
func yamlKey(line string) (key mark, size int, ok bool) {
	end := 0
	if line != "" && (line[0] == '"' || line[0] == '\'') {
		closing := strings.IndexByte(line[1:], line[0])
		if closing < 0 {
			return key, 0, false
		}
		end = closing + 2
	} else if line == "" || strings.ContainsAny(line[:1], "{[#&*!|>%@`") {
		return key, 0, false
	}
	for i := end; i < len(line); i++ {
		switch {
		case line[i] == ':' && (i+1 == len(line) || strings.ContainsAny(line[i+1:i+2], " \t\r")):
			key = mark{end: len(strings.TrimRight(line[:i], " ")), text: strings.TrimSpace(line[:i])}
			if key.text == "" {
				return key, 0, false
			}
			key.unquoteText()
			return key, i + 1, true
		case line[i] == '#' && i > 0 && line[i-1] == ' ':
			return key, 0, false
		}
	}
	return key, 0, false
}

// cutComment removes the comment at the end of a value.
func cutComment(text string) string {
	quote := byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case i == 0 && (c == '"' || c == '\''):
			quote = c
		case c == '#' && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t'):
			return strings.TrimRight(text[:i], " \t")
		}
	}
	return text
}

// lineEnd returns the end of a line, and the start of the next one.
func lineEnd(content []byte, start int) (end, next int) {
	if i := bytes.IndexByte(content[start:], '\n'); i >= 0 {
		return start + i, start + i + 1
	}
	return len(content), len(content)
}

// readFlow reads a value in brackets, which can have several lines. It returns the start
// of the line after it.
func (y *yamlScan) readFlow(path []string, at, key, next int) int {
	m := newMachine()
	last := len(path) - 1
	if last >= 0 {
		m.frames[0] = frame{path: path[:last], pending: path[last:], indent: -1, value: true}
	}
	f := &flowScan{finder: finder{machine: m, at: y.at, found: y.found}, content: y.content}
	end := f.scanTokens(at, key-(bytes.LastIndexByte(y.content[:key], '\n')+1))
	m.endAll()
	y.marks = append(y.marks, m.marks...)
	if f.found && !y.found {
		y.found, y.cursor = true, f.cursor
	}
	y.extendFields(end)
	_, after := lineEnd(y.content, min(end, len(y.content)))
	return max(next, after)
}

// flowScan reads the tokens of a value in brackets.
type flowScan struct {
	finder
	content []byte
}

// scanTokens reads tokens from an offset up to the end of the value. A value whose
// brackets are not closed ends at a line that is not indented deeper than its key.
func (f *flowScan) scanTokens(at, indent int) int {
	for at < len(f.content) {
		c := f.content[at]
		if c == '\n' {
			line := f.content[at+1:]
			if text := bytes.TrimLeft(line, " "); len(line)-len(text) <= indent && len(text) > 0 &&
				!bytes.ContainsAny(text[:1], "]}\r\n#") {
				f.placeBefore(at)
				return at
			}
		}
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			at++
			continue
		}
		if c == '#' {
			end, _ := lineEnd(f.content, at)
			if !f.found && f.at > at && f.at <= end {
				f.placeToken(f.at, f.at, false)
				f.cursor.silent = true
			}
			at = end
			continue
		}
		end := f.passToken(at)
		if at = end; f.machine.openBrackets() == 0 {
			return at
		}
	}
	f.placeBefore(at)
	return at
}

// placeBefore keeps the cursor if it is not behind an offset.
func (f *flowScan) placeBefore(at int) {
	if f.at >= 0 && !f.found && f.at <= at {
		f.placeToken(f.at, f.at, false)
	}
}

// passToken passes the token at an offset to the machine, and returns its end.
func (f *flowScan) passToken(at int) int {
	c, m := f.content[at], f.machine
	if strings.IndexByte("{}[],:", c) >= 0 {
		f.placeBefore(at)
		switch c {
		case '{':
			m.openBracket(structFrame, at+1, 0)
		case '[':
			m.openBracket(listFrame, at+1, 0)
		case '}':
			m.closeBracket(structFrame, at+1)
		case ']':
			m.closeBracket(listFrame, at+1)
		case ',':
			m.endElement()
		case ':':
			m.endName(at+1, 0)
		}
		return at + 1
	}
	end := flowWord(f.content, at)
	if !f.found && f.at >= 0 {
		if f.at < at {
			f.placeBefore(at)
		} else if f.at <= end {
			f.placeToken(at, end, c == '"' || c == '\'')
		}
	}
	if w := (mark{start: at, end: end, text: strings.TrimSpace(string(f.content[at:end]))}); w.text != "" {
		w.unquoteText()
		m.addWord(w)
	}
	return end
}

// flowWord returns the end of the scalar at an offset.
func flowWord(content []byte, at int) int {
	if quote := content[at]; quote == '"' || quote == '\'' {
		for i := at + 1; i < len(content) && content[i] != '\n'; i++ {
			if content[i] == quote {
				return i + 1
			}
		}
	}
	end := at + 1
	for end < len(content) && strings.IndexByte("{}[],\n", content[end]) < 0 &&
		(content[end] != ':' || end+1 < len(content) && strings.IndexByte(" \n,]}", content[end+1]) < 0) &&
		(content[end] != '#' || content[end-1] != ' ') {
		end++
	}
	for content[end-1] == ' ' && end-1 > at {
		end--
	}
	return end
}
