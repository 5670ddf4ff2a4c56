// Package diag holds findings: mistakes in a blueprint, each with the place it
// was made and the way to mend it.
//
// Stages of the compiler add findings to a List and go on, so that one run
// shows them all. A finding carries its positions from the moment it is made;
// rendering looks nothing up but the excerpt.
package diag

import (
	"cmp"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/batchwright/batchwright/compiler/secret"
)

// Severity says how bad a finding is.
type Severity int

// Severities, by rising weight. Only an Error keeps the compiler from writing.
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

// Code is a kind of finding, as tables of them show it.
type Code struct {
	ID       string // stable, such as "E0104": the severity's letter and a number of its own
	Severity Severity
	Title    string // lower case, no full stop
	// Acceptable tells that a blueprint can accept such findings, with a reason.
	Acceptable bool
}

// Compare orders codes by number.
func (c Code) Compare(d Code) int { return cmp.Compare(c.ID[1:], d.ID[1:]) }

// Source is a file that findings point into.
type Source struct {
	// as the user would write it: relative to the working directory where possible, "-" for standard input
	Name    string
	Content []byte

	// Made on first use: the byte offset of each line's start, and the number
	// of characters before every stride bytes.
	lines, before []int
	// Made on first use: the content as it is shown, with secrets masked.
	shown string
}

// stride is how many bytes a column is counted over at most: a line may have
// megabytes, and thousands of findings.
const stride = 4096

// Position is a place in a source. Line and Column count from 1; a column
// counts characters, not bytes.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Position returns the line and column of a byte offset. Offsets outside the
// content are moved to its nearest end.
func (s *Source) Position(offset int) Position {
	offset = max(0, min(offset, len(s.Content)))
	s.index()
	line := sort.SearchInts(s.lines, offset+1)
	start := s.lines[line-1]
	return Position{Line: line, Column: 1 + s.characters(offset) - s.characters(start)}
}

// characters counts the characters that begin before a byte offset.
func (s *Source) characters(offset int) int {
	n := s.before[offset/stride]
	for _, b := range s.Content[offset/stride*stride : offset] {
		if utf8.RuneStart(b) {
			n++
		}
	}
	return n
}

// Shown returns the content with an asterisk for each byte of the secrets in it.
func (s *Source) Shown() string {
	if s.shown == "" {
		s.shown = secret.Mask(string(s.Content))
	}
	return s.shown
}

// Line returns the text of a line, counted from 1, as Shown has it and without
// its line end; "" for a line the source does not have.
func (s *Source) Line(n int) string {
	s.index()
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

func (s *Source) index() {
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

// Span is a half-open range of bytes of a source. The zero Span, and one
// without a source, stand for "nowhere in particular".
type Span struct {
	Source     *Source
	Start, End int // byte offsets
}

// Valid tells whether the span points somewhere.
func (s Span) Valid() bool { return s.Source != nil }

// String writes where a span starts as compilers do: file:line:column.
func (s Span) String() string {
	if !s.Valid() {
		return ""
	}
	return place(s)
}

// Spot is a field at the place where it is written. A pattern writes a field of
// many entities at one spot, where a mistake is one mistake.
type Spot struct {
	source *Source
	start  int
	field  string
}

// Spot returns the spot of a field that the span stands for.
func (s Span) Spot(field string) Spot { return Spot{s.Source, s.Start, field} }

// Related is another place that a finding speaks of.
type Related struct {
	Span    Span
	Message string
}

// Edit is a change that mends a finding: the text that replaces its span.
type Edit struct {
	Span Span
	Text string
}

// Finding is one mistake.
//
// Message is lower case without a full stop and says what is wrong. Label
// stands beside the caret and names the valid values. Help says what to do.
// Label and Help may be empty. Accepted is the blueprint's reason for leaving
// a mistake as it is, which makes it a Note; "" where nothing was accepted.
type Finding struct {
	Code     string // stable, such as "E0104"
	Severity Severity
	Path     string // of the blueprint's field, such as "teams.team-a.quota", or ""
	Message  string
	Span     Span
	Label    string
	Related  []Related
	Help     string
	Edit     *Edit // nil where there is no single cure
	Accepted string
	// Secret reports whether the text of Span is a secret, so that no excerpt
	// shows it. Secrets that Source.Shown finds need no telling.
	Secret bool
}

// List collects findings. The zero List is empty and ready for use.
type List struct {
	findings []Finding
}

// Add appends a finding. Secrets in its texts are masked.
func (l *List) Add(f Finding) {
	for _, text := range []*string{&f.Message, &f.Label, &f.Help, &f.Accepted} {
		*text = secret.Mask(*text)
	}
	for i := range f.Related {
		f.Related[i].Message = secret.Mask(f.Related[i].Message)
	}
	l.findings = append(l.findings, f)
}

// Len returns the number of findings.
func (l *List) Len() int { return len(l.findings) }

// Count returns the number of findings of a severity.
func (l *List) Count(s Severity) int {
	n := 0
	for _, f := range l.findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// HasErrors tells whether any finding is an Error.
func (l *List) HasErrors() bool { return l.Count(Error) > 0 }

// Filter returns the findings to keep.
func (l *List) Filter(keep func(Finding) bool) *List {
	out := &List{}
	for _, f := range l.findings {
		if keep(f) {
			out.Add(f)
		}
	}
	return out
}

// Named returns the findings with other names for their sources.
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
		if f.Edit != nil {
			edit := *f.Edit
			rename(&edit.Span)
			f.Edit = &edit
		}
	}
	return out
}

// gravest returns the findings of highest severity, at most so many of them,
// those of one severity in the order they have.
func gravest(findings []Finding, most int) []Finding {
	out := slices.Clone(findings)
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	return out[:min(most, len(out))]
}

// Sorted returns the findings by source, place, code, message and falling
// severity, each once: of findings that are the same in all of these the first
// stays. Findings without a place come first.
func (l *List) Sorted() []Finding {
	out := slices.Clone(l.findings)
	slices.SortStableFunc(out, compare)
	return slices.CompactFunc(out, func(a, b Finding) bool { return compare(a, b) == 0 })
}

func compare(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(a.Span.name(), b.Span.name()),
		cmp.Compare(a.Span.Start, b.Span.Start),
		cmp.Compare(a.Code, b.Code),
		cmp.Compare(a.Message, b.Message),
		cmp.Compare(b.Severity, a.Severity),
	)
}

func (s Span) name() string {
	if s.Source == nil {
		return ""
	}
	return s.Source.Name
}
