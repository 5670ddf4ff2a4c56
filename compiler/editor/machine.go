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
	deeper int // number of open brackets below mostDepth
}

// mostDepth is the length of the longest path that is followed. A field of a blueprint
// has ten names at most. Each mark keeps its path, so that text of ten thousand
// brackets would need gigabytes.
const mostDepth = 100

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
	nameFrame  // a pattern or a computed name
	otherFrame // an expression, whose tokens are no values of fields
)

func newMachine() *machine { return &machine{frames: []frame{{indent: -1}}} }

func (m *machine) top() *frame { return &m.frames[len(m.frames)-1] }

// openBrackets returns the number of open brackets.
func (m *machine) openBrackets() int { return len(m.frames) - 1 + m.deeper }

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
	m.end = w.end
	if m.deeper > 0 {
		return
	}
	f.computed = false
	f.name = nil
	if f.kind == otherFrame || f.kind == nameFrame {
		w.path, w.reference = m.outerPath(), !w.quoted
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

// outerPath returns the path of the field around an expression in parentheses.
func (m *machine) outerPath() []string {
	for i := len(m.frames) - 1; i >= 0; i-- {
		if f := m.frames[i]; f.kind == structFrame || f.kind == listFrame {
			return slices.Concat(f.path, f.pending)
		}
	}
	return nil
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
	switch {
	case f.kind != structFrame, m.deeper > 0, len(f.path)+len(f.pending) >= mostDepth:
		return
	case f.name != nil:
		name := *f.name
		if len(f.pending) > 0 {
			m.marks = m.marks[:len(m.marks)-1] // it was taken for a value
		} else {
			f.field = indent
		}
		f.pending = append(slices.Clip(f.pending), name.text)
		name.label, name.reference = true, false
		name.path, name.stop = slices.Concat(f.path, f.pending), name.end
		f.labels = append(f.labels, len(m.marks))
		m.marks = append(m.marks, name)
	case f.computed:
		if len(f.pending) == 0 {
			f.field = indent
		}
		f.pending = append(slices.Clip(f.pending), "*")
	default:
		return
	}
	f.name, f.computed, f.value = nil, false, false
}

// endElement ends a field or an element.
func (m *machine) endElement() {
	if m.deeper > 0 {
		return
	}
	f := m.top()
	m.endField()
	if f.kind == listFrame {
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
	if m.deeper > 0 || len(m.frames) > mostDepth || len(f.path)+len(f.pending) >= mostDepth {
		m.deeper++
		m.end = end
		return
	}
	if kind == listFrame && f.kind == structFrame && len(f.pending) == 0 {
		kind = nameFrame
	}
	if f.kind == otherFrame || f.kind == nameFrame {
		kind = otherFrame
	}
	path := m.fieldPath()
	f.name, f.computed = nil, false
	m.end = end
	m.frames = append(m.frames, frame{kind: kind, path: path, indent: indent})
}

// closeBracket closes a bracket. A closing bracket without an opening one is ignored.
func (m *machine) closeBracket(kind frameKind, end int) {
	if m.deeper > 0 {
		m.deeper--
		m.end = end
		return
	}
	m.endField()
	m.end = end
	if len(m.frames) == 1 {
		return
	}
	closed := m.top().kind
	if isBrace := closed == structFrame; isBrace != (kind == structFrame) && closed != otherFrame {
		return
	}
	m.frames = m.frames[:len(m.frames)-1]
	f := m.top()
	if closed != structFrame && f.kind == structFrame && !f.value {
		f.computed = true // if a colon follows; otherwise it was a value
	}
	f.value = f.value || closed == structFrame || closed == listFrame
}

// startLine tells the machine that a token is the first one of its line. A field without
// a value ends there if the line is not indented deeper. In a file that does not
// parse, a bracket that was never closed ends there, too.
func (m *machine) startLine(indent int, broken bool) {
	for broken && len(m.frames) > 1 && indent <= m.top().indent {
		m.endField()
		m.frames = m.frames[:len(m.frames)-1]
		m.deeper = 0
	}
	if f := m.top(); f.kind == structFrame && len(f.pending) > 0 && !f.value && indent <= f.field {
		m.endField()
	}
}

// endAll ends everything that is still open.
func (m *machine) endAll() {
	for {
		m.endField()
		if len(m.frames) == 1 {
			return
		}
		m.frames = m.frames[:len(m.frames)-1]
	}
}
