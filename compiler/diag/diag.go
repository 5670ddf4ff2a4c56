// Package diag holds findings. A finding is a mistake in a blueprint, with its place
// and a way to correct it.
//
// Stages of the compiler add findings to a List and go on, so that one run shows all
// of them. A finding has its positions from the start; rendering looks up nothing
// except the excerpt.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/compiler/secret"
)

// Severity is the severity of a finding.
type Severity int

// Severities, in ascending order. Only an Error keeps the compiler from writing
// files.
const (
	Note Severity = iota
	Warning
	Error
)

// String returns "note", "warning" or "error".
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	default:
		return "note"
	}
}

// Code describes a kind of finding, for tables of codes.
type Code struct {
	ID       string // stable, such as "E0104": the severity's letter and a unique number
	Severity Severity
	Title    string // lower case, no full stop
	// Acceptable reports whether a blueprint can accept such findings, with a
	// reason.
	Acceptable bool
}

// Compare compares codes by number. The result is negative if c comes first.
func (c Code) Compare(d Code) int { return cmp.Compare(c.ID[1:], d.ID[1:]) }

// Source is a file that findings refer to.
type Source struct {
	// as the user would write it: relative to the working directory if possible, "-"
	// for standard input
	Name    string
	Content []byte

	// Computed on first use: the byte offset of each line's start, and the number of
	// characters before every multiple of stride bytes.
	lines, before []int
	// Computed on first use: the content with its secrets masked.
	shown string
}

// stride is the most bytes in which characters are counted to find a column. Without
// it, a line of megabytes with thousands of findings would take too long.
const stride = 4096

// Position is a place in a source. Line and Column start at 1; Column counts
// characters, not bytes.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Position returns the line and column of a byte offset. An offset outside the
// content is moved to the nearest end.
func (s *Source) Position(offset int) Position {
	offset = max(0, min(offset, len(s.Content)))
	s.indexLines()
	line := sort.SearchInts(s.lines, offset+1)
	start := s.lines[line-1]
	return Position{Line: line, Column: 1 + s.countCharacters(offset) - s.countCharacters(start)}
}

// countCharacters returns the number of characters that begin before a byte offset.
func (s *Source) countCharacters(offset int) int {
	n := s.before[offset/stride]
	for _, b := range s.Content[offset/stride*stride : offset] {
		if utf8.RuneStart(b) {
			n++
		}
	}
	return n
}

// Shown returns the content with an asterisk in place of each byte of a secret.
func (s *Source) Shown() string {
	if s.shown == "" {
		s.shown = secret.Mask(string(s.Content))
	}
	return s.shown
}

// Line returns the text of line n, from 1, with secrets masked as in Shown and
// without the line end. It returns "" if the source has no such line.
func (s *Source) Line(n int) string {
	s.indexLines()
	if n < 1 || n > len(s.lines) {
		return ""
	}
	end := len(s.Content)
	if n < len(s.lines) {
		end = s.lines[n] - 1
	}
	start := s.lines[n-1]
	for end > start && s.Content[end-1] == '\r' {
		end--
	}
	return s.Shown()[start:end]
}

func (s *Source) indexLines() {
	if s.lines != nil {
		return
	}
	s.lines, s.before = []int{0}, []int{0}
	characters := 0
	for i, b := range s.Content {
		if b == '\n' {
			s.lines = append(s.lines, i+1)
		}
		if utf8.RuneStart(b) {
			characters++
		}
		if (i+1)%stride == 0 {
			s.before = append(s.before, characters)
		}
	}
}

// Span is a half-open range of bytes of a source. A Span without a source, such as
// the zero Span, has no place.
type Span struct {
	Source     *Source
	Start, End int // byte offsets
}

// Valid reports whether the span has a place.
func (s Span) Valid() bool { return s.Source != nil }

// String returns the start of the span in the form of compilers: file:line:column.
func (s Span) String() string {
	switch {
	case !s.Valid():
		return ""
	case !s.hasText():
		return console.Inline(s.Source.Name)
	}
	pos := s.Source.Position(s.Start)
	return fmt.Sprintf("%s:%d:%d", console.Inline(s.Source.Name), pos.Line, pos.Column)
}

// Text returns the source text of the span, "" without a place.
func (s Span) Text() string {
	if !s.Valid() {
		return ""
	}
	return string(s.Source.Content[s.Start:s.End])
}

// Spot is a field together with the place where it is written. A pattern writes a
// field of many entities at one spot; a mistake there is one mistake.
type Spot struct {
	source *Source
	start  int
	field  string
}

// Spot returns the spot of a field that is written at the span.
func (s Span) Spot(field string) Spot { return Spot{s.Source, s.Start, field} }

// Related is a further place that a finding refers to.
type Related struct {
	Span    Span
	Message string
}

// Edit is a change of a text: the new text replaces the span.
type Edit struct {
	Span Span
	Text string
}

// Finding is one mistake.
//
// Message is lower case without a full stop, and says what is wrong. Label is
// printed beside the caret and names the valid values. Help says what to do. Label
// and Help may be empty. Accepted is the blueprint's reason for accepting the
// mistake, which makes it a Note; it is "" if the mistake is not accepted.
type Finding struct {
	Code     string // stable, such as "E0104"
	Severity Severity
	Path     string // path of the blueprint's field, such as "teams.team-a.quota", or ""
	Message  string
	Span     Span
	Label    string
	Related  []Related
	Help     string
	// Edits together correct the finding. They do not overlap. It is nil if there is no
	// single correction.
	Edits    []Edit
	Accepted string
	// Secret reports whether the text of Span is a secret that no excerpt may show.
	// It need not be set for a secret that Source.Shown finds itself.
	Secret bool
	// Others are the equal findings that List.grouped shows as this one.
	Others []Finding
}

// List collects findings. The zero List is empty and ready for use.
type List struct {
	findings []Finding
	observe  func(Finding) // nil if nobody observes the list
}

// Observe makes Add call a function with each finding. Lists that are made of this
// one do not call it.
func (l *List) Observe(added func(Finding)) { l.observe = added }

// Add appends a finding, with the secrets in its texts masked. Edits that write a
// secret are left out, because a list can be printed.
func (l *List) Add(f Finding) {
	for _, text := range []*string{&f.Message, &f.Label, &f.Help, &f.Accepted} {
		*text = secret.Mask(*text)
	}
	for i := range f.Related {
		f.Related[i].Message = secret.Mask(f.Related[i].Message)
	}
	if slices.ContainsFunc(f.Edits, func(e Edit) bool { return secret.Mask(e.Text) != e.Text }) {
		f.Edits = nil
	}
	l.findings = append(l.findings, f)
	if l.observe != nil {
		l.observe(f)
	}
}

// Len returns the number of findings.
func (l *List) Len() int { return len(l.findings) }

// Count returns the number of findings with the severity.
func (l *List) Count(s Severity) int {
	n := 0
	for _, f := range l.findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// HasErrors reports whether any finding is an Error.
func (l *List) HasErrors() bool { return l.Count(Error) > 0 }

// Filter returns a new list with the findings for which keep is true.
func (l *List) Filter(keep func(Finding) bool) *List {
	out := &List{}
	for _, f := range l.findings {
		if keep(f) {
			out.Add(f)
		}
	}
	return out
}

// Named returns the findings with each source renamed by the function name.
func (l *List) Named(name func(string) string) *List {
	renamed := map[*Source]*Source{}
	rename := func(s *Span) {
		if s.Source == nil {
			return
		}
		if renamed[s.Source] == nil {
			renamed[s.Source] = &Source{Name: name(s.Source.Name), Content: s.Source.Content}
		}
		s.Source = renamed[s.Source]
	}
	out := &List{findings: slices.Clone(l.findings)}
	for i := range out.findings {
		f := &out.findings[i]
		rename(&f.Span)
		f.Related = slices.Clone(f.Related)
		for j := range f.Related {
			rename(&f.Related[j].Span)
		}
		f.Edits = slices.Clone(f.Edits)
		for j := range f.Edits {
			rename(&f.Edits[j].Span)
		}
	}
	return out
}

// gravestFindings returns the findings of the highest severities, at most most of
// them. Findings of one severity keep their order.
func gravestFindings(findings []Finding, most int) []Finding {
	out := slices.Clone(findings)
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	return out[:min(most, len(out))]
}

// Sorted returns the findings sorted by source, place, code, message and falling
// severity, without duplicates: if several findings are equal in all of these, the
// first stays. Findings without a place come first.
func (l *List) Sorted() []Finding {
	out := slices.Clone(l.findings)
	slices.SortStableFunc(out, compareFindings)
	return slices.CompactFunc(out, func(a, b Finding) bool { return compareFindings(a, b) == 0 })
}

func compareFindings(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(a.Span.sourceName(), b.Span.sourceName()),
		cmp.Compare(a.Span.Start, b.Span.Start),
		cmp.Compare(a.Code, b.Code),
		cmp.Compare(a.Message, b.Message),
		cmp.Compare(b.Severity, a.Severity),
	)
}

func (s Span) sourceName() string {
	if s.Source == nil {
		return ""
	}
	return s.Source.Name
}
