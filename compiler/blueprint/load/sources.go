package load

import (
	"bytes"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/diag"
)

// sources are the files findings point into, by the name CUE has for them.
type Sources struct {
	dir    string // working directory
	files  files
	byName map[string]*diag.Source
	Cuts   map[string]map[int]cut // by file and offset: what does not compile
}

// add registers a file whose content is known.
func (s *Sources) add(name, display string, content []byte) *diag.Source {
	if s.byName == nil {
		s.byName = map[string]*diag.Source{}
	}
	src := &diag.Source{Name: display, Content: content}
	s.byName[name] = src
	return src
}

// get returns the source of that name, reading a file that was not added:
// CUE loads imported packages by itself.
func (s *Sources) Get(name string) *diag.Source {
	if src := s.byName[name]; src != nil {
		return src
	}
	content, _ := s.files.readFile(name) // an excerpt that cannot be shown is left out
	return s.add(name, s.display(name), content)
}

// display returns a file name as the user would write it: relative to the
// working directory, unless that leads far away.
func (s *Sources) display(name string) string {
	rel, err := filepath.Rel(s.dir, name)
	if err != nil || strings.HasPrefix(rel, filepath.Join("..", "..", "..")) {
		return filepath.ToSlash(name)
	}
	return filepath.ToSlash(rel)
}

// ours tells whether a file is the schema's rather than the user's.
func ours(name string) bool {
	return strings.Contains(filepath.ToSlash(name), SchemaMarker)
}

// span returns the token at a position; the zero Span where there is none or
// it lies in the schema.
func (s *Sources) Span(pos token.Pos) diag.Span {
	if !pos.IsValid() || pos.Filename() == "" || ours(pos.Filename()) {
		return diag.Span{}
	}
	src := s.Get(pos.Filename())
	start := min(pos.Offset(), len(src.Content))
	return diag.Span{Source: src, Start: start, End: TokenEnd(src.Content, start)}
}

// line returns the text of a line of a file, counted from 1.
func (s *Sources) line(name string, n int) diag.Span {
	src := s.Get(name)
	start := 0
	for ; n > 1 && start < len(src.Content); n-- {
		next := bytes.IndexByte(src.Content[start:], '\n')
		if next < 0 {
			break
		}
		start += next + 1
	}
	end := len(src.Content)
	if i := bytes.IndexByte(src.Content[start:], '\n'); i >= 0 {
		end = start + i
	}
	return diag.Span{Source: src, Start: start, End: end}
}

// tokenEnd returns the end of the token that starts at an offset: a quoted
// string, or all up to the next space or punctuation.
func TokenEnd(content []byte, start int) int {
	if start >= len(content) {
		return start
	}
	if quote := content[start]; quote == '"' || quote == '\'' {
		for i := start + 1; i < len(content) && content[i] != '\n'; i++ {
			switch content[i] {
			case '\\':
				i++
			case quote:
				return i + 1
			}
		}
	}
	end := start
	for end < len(content) && !strings.ContainsRune(" \t\r\n,:{}[]()", rune(content[end])) {
		end++
	}
	if end == start { // punctuation: show that
		_, n := utf8.DecodeRune(content[start:])
		end = start + n
	}
	return end
}
