// Package console writes output that is safe for a terminal and for the log of a
// workflow, whatever text a blueprint contains: text of one line, colours, JSON, and
// the workflow commands of GitHub Actions.
//
// All output is valid UTF-8 without control or formatting characters, so that it
// cannot control a terminal, and cannot hide or reverse text.
package console

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Style is the style of a text: the parameters of an SGR sequence, which stand
// between "\x1b[" and "m".
type Style string

// Styles.
const (
	Bold   Style = "1"
	Red    Style = "1;31"
	Green  Style = "1;32"
	Yellow Style = "1;33"
	Blue   Style = "1;34"
	Cyan   Style = "1;36"
)

// Paint returns text in the style if color is true, and otherwise the text itself.
func (s Style) Paint(color bool, text string) string {
	if !color || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// Inline returns the text in a form that is safe in one line of output.
func Inline(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		if r == '\n' || r == '\t' {
			b.WriteByte(' ')
			continue
		}
		text, _ := Glyph(r)
		b.WriteString(text)
	}
	return b.String()
}

const tab = "    "

// Glyph returns the text that is safe to show for a character, and its width in
// columns. A control character becomes its picture. Formatting characters, which can
// reverse or hide text, and all other characters without a shape become U+FFFD.
func Glyph(r rune) (text string, columns int) {
	const pictures, deletePicture = '\u2400', '\u2421'
	switch {
	case r == '\t':
		return tab, len(tab)
	case r < ' ':
		return string(pictures + r), 1
	case r == '\x7f':
		return string(deletePicture), 1
	case !unicode.IsGraphic(r):
		return string(utf8.RuneError), 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return string(r), 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return string(r), 2
	}
	return string(r), 1
}
