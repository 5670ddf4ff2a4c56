package diag

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/compiler/words"
)

// TextOptions says how WriteText renders findings.
type TextOptions struct {
	Color   bool   // use ANSI colours
	Limit   int    // number of findings to show at most, the gravest ones; 0 shows all
	Explain string // command that explains a code if the code is appended; shown once for each code; "" shows none
}

// WriteText renders findings for people, in the order of List.grouped, and ends
// with a line that counts them. For an empty list it writes nothing.
//
// Whatever text a blueprint contains, the output is valid UTF-8 whose only control
// sequences are the colours.
func WriteText(w io.Writer, l *List, opt TextOptions) error {
	all := l.grouped()
	if len(all) == 0 {
		return nil
	}
	shown := all
	if opt.Limit > 0 && len(all) > opt.Limit {
		shown = gravestFindings(all, opt.Limit)
		slices.SortStableFunc(shown, compareFindings)
	}
	p := printer{color: opt.Color, explain: opt.Explain, explained: map[string]bool{"": true}}
	for _, f := range shown {
		p.printFinding(f)
		p.buf.WriteByte('\n')
	}
	p.buf.WriteString(countLine(shown, len(all)-len(shown)))
	_, err := w.Write(p.buf.Bytes())
	return err
}

// WriteExcerpt writes the excerpt of a span with a remark, in the form that
// WriteText uses for a finding.
func WriteExcerpt(w io.Writer, at Span, remark string, color bool) error {
	p := printer{color: color, gutter: gutterWidth(Finding{Span: at})}
	p.buf.WriteString(p.paint(console.Bold, at.String()+":") + " " + console.Inline(remark) + "\n")
	p.printExcerpt(at, Note, "", false)
	_, err := w.Write(p.buf.Bytes())
	return err
}

// countLine returns the line that counts the shown and the hidden findings.
func countLine(shown []Finding, hidden int) string {
	var parts []string
	for s := Error; s >= Note; s-- {
		n := 0
		for _, f := range shown {
			if f.Severity == s {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, words.Count(n, s.String()))
		}
	}
	line := strings.Join(parts, ", ")
	if hidden > 0 {
		line += fmt.Sprintf("; %d more not shown", hidden)
	}
	return line + "\n"
}

func (s Severity) style() console.Style {
	switch s {
	case Error:
		return console.Red
	case Warning:
		return console.Yellow
	default:
		return console.Cyan
	}
}

type printer struct {
	buf    bytes.Buffer
	color  bool
	gutter int // width in columns of the line numbers of the current finding

	explain   string
	explained map[string]bool // codes whose explanation is already shown
}

func (p *printer) paint(s console.Style, text string) string { return s.Paint(p.color, text) }

func (p *printer) printFinding(f Finding) {
	p.gutter = gutterWidth(f)
	title := f.Severity.String()
	if f.Code != "" {
		title += "[" + console.Inline(f.Code) + "]"
	}
	p.printHeadline(f.Span, p.paint(f.Severity.style(), title), p.paint(console.Bold, console.Inline(f.Message)))
	p.printExcerpt(f.Span, f.Severity, f.Label, f.Secret)
	p.printRemark("help", f.Help)
	for _, e := range f.unsaidEdits() {
		p.printRemark("edit", describeEdit(e, f.Span))
	}
	p.printRemark("accepted", f.Accepted)
	p.printRemark("also", f.alsoAt())
	if p.explain != "" && f.Accepted == "" && !p.explained[f.Code] {
		p.explained[f.Code] = true
		p.printRemark("explain", p.explain+" "+f.Code)
	}
	for _, r := range f.Related {
		p.printHeadline(r.Span, p.paint(console.Cyan, Note.String()), console.Inline(r.Message))
		p.printExcerpt(r.Span, Note, "", false)
	}
}

// gutterWidth returns the width of the longest line number that a finding shows.
func gutterWidth(f Finding) int {
	last := 1
	if f.Span.hasText() {
		last = f.Span.Source.Position(f.Span.Start).Line
	}
	for _, r := range f.Related {
		if r.Span.hasText() {
			last = max(last, r.Span.Source.Position(r.Span.Start).Line)
		}
	}
	return len(strconv.Itoa(last))
}

// hasText reports whether a span refers to a place in a file. A span of a file that
// is empty or unreadable refers to the file as a whole.
func (s Span) hasText() bool { return s.Valid() && len(s.Source.Content) > 0 }

func (p *printer) printHeadline(at Span, title, message string) {
	if at.Valid() {
		p.buf.WriteString(p.paint(console.Bold, at.String()+":") + " ")
	}
	fmt.Fprintf(&p.buf, "%s: %s\n", title, message)
}

// printExcerpt writes the line in which a span starts, with carets under the part of
// the span that is on the line. If secret is true, that part is masked unless Shown
// already masks it.
func (p *printer) printExcerpt(at Span, severity Severity, label string, secret bool) {
	if !at.hasText() {
		if label != "" {
			p.printRemark("note", label)
		}
		return
	}
	src := at.Source
	line := src.Position(at.Start).Line
	start := at.Start - src.lines[line-1]
	content := src.Line(line)
	end := min(len(content), start+at.End-at.Start)
	if secret && start < end && content[start:end] == string(src.Content[at.Start:at.Start+end-start]) {
		content = content[:start] + strings.Repeat("*", end-start) + content[end:]
	}
	text, column, run := fitLine(content, start, start+at.End-at.Start)

	p.printMargin("", "|")
	p.buf.WriteByte('\n')
	p.printMargin(strconv.Itoa(line), "|")
	if text != "" {
		p.buf.WriteString(" " + text)
	}
	p.buf.WriteByte('\n')
	p.printMargin("", "|")
	mark := strings.Repeat("^", run)
	if label != "" {
		mark += " " + console.Inline(label)
	}
	p.buf.WriteString(" " + strings.Repeat(" ", column) + p.paint(severity.style(), mark) + "\n")
}

func (p *printer) printMargin(number, sign string) {
	p.buf.WriteString(p.paint(console.Blue, fmt.Sprintf("%*s %s", p.gutter, number, sign)))
}

// printRemark writes a remark of one or several lines. For "" it writes nothing.
func (p *printer) printRemark(name, text string) {
	if text == "" {
		return
	}
	p.printMargin("", "=")
	p.buf.WriteString(" " + p.paint(console.Green, name) + ": ")
	indent := strings.Repeat(" ", p.gutter+len(" = ")+len(name)+len(": "))
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if i > 0 {
			p.buf.WriteString(indent)
		}
		p.buf.WriteString(console.Inline(line) + "\n")
	}
}

// unsaidEdits returns the edits that the finding's help does not already describe in
// words: all if there are several, because their places differ.
func (f Finding) unsaidEdits() []Edit {
	if f.Help != "" && len(f.Edits) == 1 {
		return nil
	}
	return f.Edits
}

// describeEdit describes an edit in words, with its place if that differs from the
// finding's.
func describeEdit(e Edit, finding Span) string {
	if !e.Span.hasText() {
		return ""
	}
	where := ""
	if e.Span.Source != finding.Source || e.Span.Start != finding.Start {
		where = " at " + e.Span.String()
	}
	content := e.Span.Source.Shown()
	start := min(max(e.Span.Start, 0), len(content))
	end := min(max(e.Span.End, start), len(content))
	old := content[start:end]
	switch {
	case old == "":
		return "insert " + quoteBeginning(e.Text) + where
	case e.Text == "":
		return "delete " + quoteBeginning(old) + where
	default:
		return "replace " + quoteBeginning(old) + " with " + quoteBeginning(e.Text) + where
	}
}

// quoteBeginning returns the beginning of a source text between backquotes.
func quoteBeginning(s string) string {
	const most = 61
	if first, rest, more := strings.Cut(s, "\n"); more && strings.TrimSpace(rest) != "" {
		s = first + "…"
	}
	return "`" + words.Truncate(console.Inline(strings.TrimSpace(s)), most) + "`"
}

const excerptWidth = 100 // columns

// fitLine shortens a line to at most excerptWidth columns, with an ellipsis at each
// end that it cuts. start and end are byte offsets in the line, and may lie beyond
// it. column, from 0, and run, at least 1, are their place and width in the result,
// in columns.
func fitLine(line string, start, end int) (text string, column, run int) {
	start = min(max(start, 0), len(line))
	end = min(max(end, start), len(line))

	// At most this many bytes can be shown: a line may have megabytes.
	const reach = utf8.UTFMax * excerptWidth
	low, high := max(0, start-reach), min(len(line), start+reach)
	for low > 0 && low < start && !utf8.RuneStart(line[low]) {
		low++
	}

	type cell struct {
		text   string
		column int
	}
	var cells []cell
	total, stop := 0, 0
	for at := low; at < high; {
		if at <= start {
			column = total
		}
		r, size := utf8.DecodeRuneInString(line[at:])
		text, columns := console.Glyph(r)
		cells = append(cells, cell{text, total})
		total += columns
		if at < end {
			stop = total
		}
		at += size
	}
	if start >= high {
		column = total
	}
	run = max(1, stop-column)

	first, last := 0, total // the range of columns to show
	if low > 0 || high < len(line) || total > excerptWidth {
		if column+min(run, excerptWidth/2) > excerptWidth || low > 0 {
			first = max(0, column-excerptWidth/3)
		}
		last = min(total, first+excerptWidth)
	}
	var b strings.Builder
	shift := first
	if low > 0 || first > 0 {
		b.WriteString("…")
		shift--
	}
	for i, c := range cells {
		next := total
		if i+1 < len(cells) {
			next = cells[i+1].column
		}
		switch {
		case c.column >= first && next <= last:
			b.WriteString(c.text)
		case c.column < first && next > first: // the edge cuts the character in two
			b.WriteString(strings.Repeat(" ", next-first))
		}
	}
	if high < len(line) || last < total {
		b.WriteString("…")
	}
	return b.String(), column - shift, min(run, max(1, last-column))
}
