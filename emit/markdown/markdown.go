// Package markdown writes GitHub Flavored Markdown, as GitHub and GitLab read it. A
// text from a blueprint is always plain text, never markup.
package markdown

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/batchwright/batchwright/compiler/words"
)

// Markup is one line of GitHub Flavored Markdown. Only the functions below make
// Markup from arbitrary strings. An emitter's own words, which are constants,
// convert to Markup implicitly.
type Markup string

// Join returns the parts with a separator between them.
func Join(parts []Markup, separator Markup) Markup {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = string(p)
	}
	return Markup(strings.Join(texts, string(separator)))
}

// plain writes each character of Markdown and HTML, and the beginning of each address that
// GitHub turns into a link by itself, so that it stands for itself. Outside of tables, a
// backslash before a bar would be visible.
var plain = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`,
	"$", `\$`, "://", `\://`, "&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "&#64;", "|", "&#124;")

// bareAddress is an address without a scheme that GitHub turns into a link by itself.
var bareAddress = regexp.MustCompile(`(?i)(www)\.`)

// Text returns Markup that shows s unchanged: nothing in s becomes Markdown, HTML or
// a link.
func Text(s string) Markup {
	s = plain.Replace(words.OneLine(s))
	if strings.Contains(s, ".") {
		s = bareAddress.ReplaceAllString(s, `$1\.`)
	}
	return Markup(s)
}

// address matches the beginning of an address that LinkedText may link.
var address = regexp.MustCompile(`^https://[a-zA-Z0-9][a-zA-Z0-9.-]*(/[a-zA-Z0-9._~/-]*)?`)

// LinkedText returns Markup like Text, except that plain addresses become links. A
// plain address begins with https:// at the beginning of a word, and has only letters,
// digits, and -._~/ up to the end of the word, or up to the punctuation there. So a
// link shows all of its target: it has no user, port, query or escaped character.
func LinkedText(s string) Markup {
	parts := strings.Split(words.OneLine(s), " ")
	for i, word := range parts {
		found := strings.TrimRight(address.FindString(word), ".-_~")
		if rest := word[len(found):]; len(found) > len("https://") && strings.Trim(rest, ".,;:!?)") == "" {
			parts[i] = "<" + found + ">" + string(Text(rest))
		} else {
			parts[i] = string(Text(word))
		}
	}
	return Markup(strings.Join(parts, " "))
}

// Code returns a code span that shows s unchanged.
func Code(s string) Markup {
	s = words.OneLine(s)
	if s == "" {
		return ""
	}
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") ||
		strings.HasPrefix(s, " ") && strings.HasSuffix(s, " ") && strings.Trim(s, " ") != "" {
		s = " " + s + " " // the reader strips the spaces again
	}
	return Markup(fence + s + fence)
}

// Codes returns each of the names in a code span, separated by commas.
func Codes(names []string) Markup {
	var spans []Markup
	for _, name := range names {
		spans = append(spans, Code(name))
	}
	return Join(spans, ", ")
}

// File returns a link to a file or folder of the deploy folder. The path is relative
// to the deploy folder.
func File(path string) Markup {
	segments := strings.Split(path, "/")
	for i := range segments {
		segments[i] = escapePath(segments[i])
	}
	return "[" + Code(path) + "](" + Markup(strings.Join(segments, "/")) + ")"
}

// section returns a link to a heading of the same page. The heading has no markup, and
// differs from all other headings of its page. Its anchor on GitHub and GitLab is its
// letters, digits, dashes and underscores in lower case, with a dash for each space.
func section(heading Markup) Markup {
	anchor := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, string(heading))
	return "[" + heading + "](#" + Markup(anchor) + ")"
}

// escapePath escapes a segment of a path, including parentheses, which would end a
// link.
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

// Document is a Markdown document under construction. Its paragraphs and items start
// with the emitter's own words, never with a value, so that no value can turn them
// into another kind of block.
type Document struct {
	b        strings.Builder
	sections []Markup // headings of level 2
}

// startBlock starts a block. Empty lines separate blocks.
func (d *Document) startBlock() {
	if d.b.Len() > 0 {
		d.b.WriteByte('\n')
	}
}

// Heading adds a heading, of level 1 to 6.
func (d *Document) Heading(level int, title Markup) {
	d.startBlock()
	d.b.WriteString(strings.Repeat("#", level) + " " + string(title) + "\n")
	if level == 2 {
		d.sections = append(d.sections, title)
	}
}

// Contents adds a list of links to the headings of level 2 of another document, which
// is appended later. It adds nothing if there are none.
func (d *Document) Contents(of *Document) {
	if len(of.sections) == 0 {
		return
	}
	var links []Markup
	for _, title := range of.sections {
		links = append(links, section(title))
	}
	d.List(links...)
}

// Append adds the blocks of another document.
func (d *Document) Append(other *Document) {
	if other.b.Len() == 0 {
		return
	}
	d.startBlock()
	d.b.WriteString(other.b.String())
	d.sections = append(d.sections, other.sections...)
}

// Fold adds the blocks of another document, which a reader can open. It adds nothing if
// there are none. The title is the emitter's own words: it is HTML, and has no Markdown.
func (d *Document) Fold(title string, body *Document) {
	if body.b.Len() == 0 {
		return
	}
	d.startBlock()
	// Empty lines end the HTML blocks, so that the body is read as Markdown.
	d.b.WriteString("<details><summary>" + title + "</summary>\n\n" + body.b.String() + "\n</details>\n")
}

// Para adds a paragraph. Its parts form one line.
func (d *Document) Para(parts ...Markup) {
	d.startBlock()
	d.b.WriteString(string(Join(parts, "")) + "\n")
}

// Warning adds a paragraph in a box, as GitHub renders it. Its parts form one line.
func (d *Document) Warning(parts ...Markup) {
	d.startBlock()
	d.b.WriteString("> [!WARNING]\n> " + string(Join(parts, "")) + "\n")
}

// Caution adds the blocks of another document in a box of the kind CAUTION.
//
// Source: GitHub documentation, "Basic writing and formatting syntax", Alerts; GitLab
// documentation, "GitLab Flavored Markdown", Alerts.
func (d *Document) Caution(body *Document) {
	d.startBlock()
	d.b.WriteString("> [!CAUTION]\n")
	for line := range strings.Lines(body.b.String()) {
		d.b.WriteString(strings.TrimRight("> "+line, " \n") + "\n")
	}
}

// Steps adds a numbered list.
func (d *Document) Steps(items ...Markup) {
	d.startBlock()
	for i, item := range items {
		d.b.WriteString(strconv.Itoa(i+1) + ". " + string(item) + "\n")
	}
}

// List adds a bulleted list.
func (d *Document) List(items ...Markup) {
	d.startBlock()
	for _, item := range items {
		d.b.WriteString("- " + string(item) + "\n")
	}
}

// Table adds a table. Each row has as many cells as head; without rows Table adds
// nothing. Columns whose cells are all numbers are right-aligned. Cells are not
// padded, so that a change of one cell shows as a change of one line.
func (d *Document) Table(head []Markup, rows [][]Markup) {
	if len(rows) == 0 {
		return
	}
	d.startBlock()
	d.writeRow(head)
	rule := make([]Markup, len(head))
	for i := range head {
		rule[i] = "---"
		if !slices.ContainsFunc(rows, func(row []Markup) bool { return !isNumber(row[i]) }) {
			rule[i] = "---:"
		}
	}
	d.writeRow(rule)
	for _, row := range rows {
		d.writeRow(row)
	}
}

func (d *Document) writeRow(cells []Markup) {
	for _, cell := range cells {
		// Escape bars in code spans: otherwise the table splits the cell there.
		d.b.WriteString("| " + strings.ReplaceAll(string(cell), "|", `\|`) + " ")
	}
	d.b.WriteString("|\n")
}

func isNumber(cell Markup) bool {
	_, err := strconv.ParseFloat(string(cell), 64)
	return err == nil && strings.Trim(string(cell), "0123456789.") == ""
}

// Code adds a fenced code block in the given language.
func (d *Document) Code(language string, lines ...string) {
	d.startBlock()
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
