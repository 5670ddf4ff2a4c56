// Package markdown writes GitHub Flavored Markdown, as GitHub and GitLab read it,
// in which a text from a blueprint is never more than text.
package markdown

import (
	"net/url"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
)

// Markup is GitHub Flavored Markdown of one line. Only the functions below
// make it out of strings that may hold anything; a writer's own words, which
// are constants, convert.
type Markup string

// Text shows s as it is: nothing in it is Markdown, HTML or a link.
func Text(s string) Markup {
	var b strings.Builder
	s = words.OneLine(s)
	for i, r := range s {
		switch {
		case strings.ContainsRune("\\`*_[]~$", r),
			// What GitHub would make a link of by itself.
			r == ':' && strings.HasPrefix(s[i:], "://"),
			r == '.' && strings.HasSuffix(strings.ToLower(s[:i]), "www"):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '@':
			b.WriteString("&#64;")
		case r == '|':
			b.WriteString("&#124;") // a backslash would show outside tables
		default:
			b.WriteRune(r)
		}
	}
	return Markup(b.String())
}

// Code shows s as it is, in a code span.
func Code(s string) Markup {
	s = words.OneLine(s)
	if s == "" {
		return ""
	}
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") ||
		strings.HasPrefix(s, " ") && strings.HasSuffix(s, " ") && strings.Trim(s, " ") != "" {
		s = " " + s + " " // stripped again by the reader
	}
	return Markup(fence + s + fence)
}

// Codes shows every one of the names in a code span, separated by commas.
func Codes(names []string) Markup {
	spans := make([]string, len(names))
	for i, name := range names {
		spans[i] = string(Code(name))
	}
	return Markup(strings.Join(spans, ", "))
}

// File links a file or folder of the deploy folder, by its path in it.
func File(path string) Markup {
	segments := strings.Split(path, "/")
	for i := range segments {
		segments[i] = escapePath(segments[i])
	}
	return "[" + Code(path) + "](" + Markup(strings.Join(segments, "/")) + ")"
}

// escapePath escapes a path's segment, parentheses too: they would end a link.
func escapePath(segment string) string {
	return strings.NewReplacer("(", "%28", ")", "%29").Replace(url.PathEscape(words.OneLine(segment)))
}

// longestRun returns the length of the longest run of c in s.
func longestRun(s string, c rune) int {
	longest, run := 0, 0
	for _, r := range s {
		if run++; r != c {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// Document is Markdown under construction. Its paragraphs and items start with
// the writer's own words, never with a value, so that none can turn into
// another kind of block.
type Document struct{ b strings.Builder }

// block starts a block: blocks are set apart by empty lines.
func (d *Document) block() {
	if d.b.Len() > 0 {
		d.b.WriteByte('\n')
	}
}

// Heading adds a heading, of level 1 to 6.
func (d *Document) Heading(level int, title Markup) {
	d.block()
	d.b.WriteString(strings.Repeat("#", level) + " " + string(title) + "\n")
}

// Para adds a paragraph: its parts make up one line.
func (d *Document) Para(parts ...Markup) {
	d.block()
	for _, p := range parts {
		d.b.WriteString(string(p))
	}
	d.b.WriteByte('\n')
}

// List adds a bulleted list.
func (d *Document) List(items ...Markup) {
	d.block()
	for _, item := range items {
		d.b.WriteString("- " + string(item) + "\n")
	}
}

// Table adds a table of a head and rows of as many cells; none without rows.
// Columns whose cells are all numbers stand to the right. Cells are not
// padded: a change of one shows as a change of one line.
func (d *Document) Table(head []Markup, rows [][]Markup) {
	if len(rows) == 0 {
		return
	}
	d.block()
	d.row(head)
	rule := make([]Markup, len(head))
	for i := range head {
		rule[i] = "---"
		if !slices.ContainsFunc(rows, func(row []Markup) bool { return !number(row[i]) }) {
			rule[i] = "---:"
		}
	}
	d.row(rule)
	for _, row := range rows {
		d.row(row)
	}
}

func (d *Document) row(cells []Markup) {
	for _, cell := range cells {
		// A bar in a code span: a table splits at it unless it is escaped.
		d.b.WriteString("| " + strings.ReplaceAll(string(cell), "|", `\|`) + " ")
	}
	d.b.WriteString("|\n")
}

func number(cell Markup) bool {
	return cell != "" && strings.Trim(string(cell), "0123456789.") == ""
}

// Code adds a fenced block of lines in a language.
func (d *Document) Code(language string, lines ...string) {
	d.block()
	longest := 2
	for i := range lines {
		lines[i] = strings.TrimRight(words.OneLine(lines[i]), " ")
		longest = max(longest, longestRun(lines[i], '`'))
	}
	fence := strings.Repeat("`", longest+1)
	d.b.WriteString(fence + language + "\n")
	for _, line := range lines {
		d.b.WriteString(line + "\n")
	}
	d.b.WriteString(fence + "\n")
}

// Bytes returns the document.
func (d *Document) Bytes() []byte { return []byte(d.b.String()) }
