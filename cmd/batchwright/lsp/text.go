package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"unicode/utf16"
)

// text is a file's content with the offsets of its lines.
type text struct {
	content []byte
	lines   []int // offset of each line's start
}

func newText(content []byte) *text {
	t := &text{content: content, lines: []int{0}}
	for i, b := range content {
		if b == '\n' || b == '\r' && (i+1 == len(content) || content[i+1] != '\n') {
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// position returns the position of a byte offset. An offset outside the content is
// moved to the nearest end.
func (t *text) position(offset int) position {
	offset = max(0, min(offset, len(t.content)))
	line := sort.SearchInts(t.lines, offset+1) - 1
	return position{line, countUnits(string(t.content[t.lines[line]:offset]))}
}

// offset returns the byte offset of a position. A position behind the end of its
// line is moved to the end.
func (t *text) offset(p position) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(t.lines) {
		return len(t.content)
	}
	start, end := t.lines[p.Line], len(t.content)
	if p.Line+1 < len(t.lines) {
		end = t.lines[p.Line+1]
	}
	line := strings.TrimRight(string(t.content[start:end]), "\r\n")
	units := 0
	for i, r := range line {
		if units += utf16.RuneLen(r); units > p.Character {
			return start + i
		}
	}
	return start + len(line)
}

func (t *text) span(start, end int) span { return span{t.position(start), t.position(end)} }

// countUnits returns the number of UTF-16 code units of a text.
func countUnits(text string) int {
	units := 0
	for _, r := range text {
		units += utf16.RuneLen(r)
	}
	return units
}

// fileOf returns the absolute name of the file at a URI, "" for a URI of another
// kind, such as the one of a buffer without a file.
func fileOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return ""
	}
	name := u.Path
	if runtime.GOOS == "windows" {
		name = strings.TrimPrefix(name, "/")
	}
	return filepath.Clean(filepath.FromSlash(name))
}

// uriOf returns the URI of a file.
func uriOf(name string) string {
	name = filepath.ToSlash(name)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name
	}
	return (&url.URL{Scheme: "file", Path: name}).String()
}
