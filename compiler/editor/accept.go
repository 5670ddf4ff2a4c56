package editor

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/rules"
)

// Insertion is source to insert into a file.
type Insertion struct {
	At   int
	Text string
}

// Accept returns the source that accepts a finding on the field at a path, and
// reports whether the file can hold it. The reason is empty, which is a mistake until
// somebody writes one.
func (e *Editor) Accept(f File, code, path string) (Insertion, bool) {
	canAccept := slices.ContainsFunc(e.codes, func(c diag.Code) bool { return c.ID == code && c.Acceptable })
	if !canAccept || filepath.Ext(f.Name) != ".cue" {
		return Insertion{}, false
	}
	within := rules.Accepter(strings.Split(path, "."))
	source := "accept: " + code + `: ""`
	if at, ok := firstLineBelow(f, within); ok {
		line := f.Content[at:]
		return Insertion{at, string(line[:indentOf(line)]) + source + "\n"}, true
	}
	for _, name := range slices.Backward(within) {
		if !ast.IsValidIdent(name) {
			name = strconv.Quote(name)
		}
		source = name + ": " + source
	}
	if len(f.Content) > 0 && !bytes.HasSuffix(f.Content, []byte("\n")) {
		source = "\n" + source
	}
	return Insertion{len(f.Content), source + "\n"}, true
}

// firstLineBelow returns the start of the line of the first field of a struct, if the
// field stands on a line of its own.
func firstLineBelow(f File, path []string) (int, bool) {
	for _, m := range readMarks(f) {
		if n := len(m.path) - 1; len(path) == 0 || !m.label || n != len(path) || !slices.Equal(m.path[:n], path) {
			continue
		}
		start := bytes.LastIndexByte(f.Content[:m.start], '\n') + 1
		if len(bytes.TrimSpace(f.Content[start:m.start])) == 0 {
			return start, true
		}
	}
	return 0, false
}
