// Package console writes what a terminal, and the log of a workflow, can be
// trusted with, whatever stands in a blueprint: text of one line, colours, JSON,
// and the workflow commands of GitHub Actions.
//
// All of it is valid UTF-8 without control and formatting characters: nothing
// steers a terminal, hides text or reverses it.
package console

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Style is how text looks: a parameter list of SGR, what stands between
// "\x1b[" and "m".
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

// Paint gives text a style if colours are wanted.
func (s Style) Paint(color bool, text string) string {
	if !color || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// Inline makes a text fit to stand in one line of output.
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

// Glyph returns what a terminal can be trusted to show for a character, and
// how many columns that takes. Control characters become their pictures;
// formatting characters, which can reverse or hide text, and anything else
// without a shape become U+FFFD.
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
