package load

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"cuelang.org/go/cue/token"

	"github.com/batchwright/batchwright/compiler/diag"
)

// Sources holds the files that findings refer to, by CUE's name for them.
type Sources struct {
	dir    string // working directory
	files  files
	byName map[string]*diag.Source
	Cuts   map[string]map[int]cut // parts that do not compile, by file and offset
}

// addSource registers a file with its content.
func (s *Sources) addSource(name, display string, content []byte) *diag.Source {
	if s.byName == nil {
		s.byName = map[string]*diag.Source{}
	}
	src := &diag.Source{Name: display, Content: content}
	s.byName[name] = src
	return src
}

// Get returns the source with the given name. It reads a file that is not registered
// yet, because CUE itself loads imported packages.
func (s *Sources) Get(name string) *diag.Source {
	if src := s.byName[name]; src != nil {
		return src
	}
	content, _ := s.files.readFile(name) // without content, the excerpt is omitted
	return s.addSource(name, s.displayName(name), content)
}

// Users returns the files of the user that are registered, sorted by name.
func (s *Sources) Users() []*diag.Source {
	var out []*diag.Source
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		if !isOurs(name) {
			out = append(out, s.byName[name])
		}
	}
	return out
}

// displayName returns a file name as the user would write it: relative to the working
// directory, unless that path leads far away.
func (s *Sources) displayName(name string) string {
	rel, err := filepath.Rel(s.dir, name)
	if err != nil || strings.HasPrefix(rel, filepath.Join("..", "..", "..")) {
		return filepath.ToSlash(name)
	}
	return filepath.ToSlash(rel)
}

// isOurs reports whether a file belongs to the schema, and not to the user.
func isOurs(name string) bool {
	return strings.Contains(filepath.ToSlash(name), SchemaMarker)
}

// Span returns the token at a position. It returns the zero Span if there is no
// token, or if the position is in the schema.
func (s *Sources) Span(pos token.Pos) diag.Span {
	if !pos.IsValid() || pos.Filename() == "" || isOurs(pos.Filename()) {
		return diag.Span{}
	}
	src := s.Get(pos.Filename())
	start := min(pos.Offset(), len(src.Content))
	return diag.Span{Source: src, Start: start, End: TokenEnd(src.Content, start)}
}

// lineSpan returns the span of a line of a file, counted from 1.
func (s *Sources) lineSpan(name string, n int) diag.Span {
	src := s.Get(name)
	lines := bytes.SplitAfter(src.Content, []byte("\n"))
	n = max(1, min(n, len(lines)))
	start := len(bytes.Join(lines[:n-1], nil))
	return diag.Span{Source: src, Start: start, End: start + len(bytes.TrimSuffix(lines[n-1], []byte("\n")))}
}

// TokenEnd returns the end of the token that starts at an offset: a quoted string,
// or the text up to the next space or punctuation.
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
	if end == start { // punctuation is a token of its own
		_, n := utf8.DecodeRune(content[start:])
		end = start + n
	}
	return end
}
