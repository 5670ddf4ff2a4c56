package editor

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/diag"
)

// machine follows the tokens of a file and knows the path of the field that they
// belong to. It never fails: a token that does not fit changes nothing.
type machine struct {
	marks  []mark
	frames []frame
	end    int // end of the last token
}

// mostDepth is the number of brackets and the length of the longest path that are
// followed. A field of a blueprint has ten names at most. Each mark keeps its path, so
// that text of ten thousand brackets would need gigabytes.
const mostDepth = 100

// isTooDeep reports whether a file is not followed any further.
func (m *machine) isTooDeep() bool {
	f := m.top()
	return len(m.frames) > mostDepth || len(f.path)+len(f.pending) >= mostDepth
}

// frame is an open bracket, or the file around all brackets.
type frame struct {
	kind     frameKind
	path     []string // path of the struct or list
	pending  []string // names of the field that is being read, such as a and b in a: b: 1
	labels   []int    // indices of the marks of these names
	name     *mark    // the last token, if it can be the name of a field
	computed bool     // the last token ends a name that only an evaluation knows
	value    bool     // the value of the field has begun
	index    int      // number of elements before the current one
	indent   int      // indentation of the line of the bracket
	field    int      // indentation of the line of the field that is being read
}

// frameKind is the kind of a frame.
type frameKind int

const (
	structFrame frameKind = iota
	listFrame
	otherFrame // an expression, a pattern or a computed name, whose tokens are no values of fields
)

func (m *machine) top() *frame { return &m.frames[len(m.frames)-1] }

// fieldPath returns the path of the field that is being read.
func (m *machine) fieldPath() []string {
	f := m.top()
	path := slices.Concat(f.path, f.pending)
	if f.kind == listFrame {
		path = append(path, diag.Index(f.index))
	}
	return path
}

// expectsValue reports whether the next token is a value, or a name below a field.
func (m *machine) expectsValue() bool {
	f := m.top()
	return f.kind == listFrame || len(f.pending) > 0
}

// addWord adds a name or a value.
func (m *machine) addWord(w mark) {
	f := m.top()
	m.end, f.name, f.computed = w.end, nil, false
	if f.kind == otherFrame {
		w.path, w.reference = f.path, !w.quoted
		m.marks = append(m.marks, w)
		return
	}
	if f.kind == structFrame && !f.value {
		f.name = &w
	}
	if m.expectsValue() {
		w.path = m.fieldPath()
		m.marks = append(m.marks, w)
	}
}

// addOther adds an operator or another token of an expression.
func (m *machine) addOther(end int) {
	f := m.top()
	m.end, f.name, f.computed = end, nil, false
	if len(f.pending) > 0 {
		f.value = true
	}
}

// endName ends a name. indent is the indentation of its line.
func (m *machine) endName(end, indent int) {
	f := m.top()
	m.end = end
	if f.kind != structFrame || f.name == nil && !f.computed {
		return
	}
	isFirst := len(f.pending) == 0
	if isFirst {
		f.field = indent
	}
	if f.name == nil {
		f.pending = append(slices.Clip(f.pending), "*")
	} else {
		name := *f.name
		if !isFirst {
			m.marks = m.marks[:len(m.marks)-1] // it was taken for a value
		}
		f.pending = append(slices.Clip(f.pending), name.text)
		name.label, name.reference = true, false
		name.path, name.stop = slices.Concat(f.path, f.pending), name.end
		f.labels = append(f.labels, len(m.marks))
		m.marks = append(m.marks, name)
	}
	f.name, f.computed, f.value = nil, false, false
}

// endElement ends a field or an element.
func (m *machine) endElement() {
	m.endField()
	if f := m.top(); f.kind == listFrame {
		f.index++
	}
}

// endField ends the field that is being read.
func (m *machine) endField() {
	f := m.top()
	for _, i := range f.labels {
		m.marks[i].stop = max(m.marks[i].stop, m.end)
	}
	f.pending, f.labels, f.name, f.computed, f.value = nil, nil, nil, false, false
}

// openBracket opens a bracket.
func (m *machine) openBracket(kind frameKind, end, indent int) {
	f := m.top()
	if f.kind == otherFrame || kind == listFrame && f.kind == structFrame && len(f.pending) == 0 {
		kind = otherFrame
	}
	m.end, f.name, f.computed = end, nil, false
	m.frames = append(m.frames, frame{kind: kind, path: m.fieldPath(), indent: indent})
}

// closeBracket closes a bracket. A closing bracket without an opening one is ignored.
func (m *machine) closeBracket(kind frameKind, end int) {
	m.endField()
	m.end = end
	closed := m.top().kind
	if len(m.frames) == 1 || closed != otherFrame && (closed == structFrame) != (kind == structFrame) {
		return
	}
	m.frames = m.frames[:len(m.frames)-1]
	f := m.top()
	if closed != structFrame && f.kind == structFrame && !f.value {
		f.computed = true // if a colon follows; otherwise it was a value
	}
	f.value = f.value || closed != otherFrame
}

// startLine tells the machine that a token is the first one of its line. A field without
// a value ends there if the line is not indented deeper. In a file that does not
// parse, a bracket that was never closed ends there, too.
func (m *machine) startLine(indent int, broken bool) {
	for broken && len(m.frames) > 1 && indent <= m.top().indent {
		m.endField()
		m.frames = m.frames[:len(m.frames)-1]
	}
	if f := m.top(); f.kind == structFrame && len(f.pending) > 0 && !f.value && indent <= f.field {
		m.endField()
	}
}

// endAll ends everything that is still open.
func (m *machine) endAll() {
	for range m.frames {
		m.endField()
		m.frames = m.frames[:max(1, len(m.frames)-1)]
	}
}
