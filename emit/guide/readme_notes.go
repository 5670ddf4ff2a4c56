package guide

import (
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// printNotes prints the notes of the blueprint.
func printNotes(d *document, p *ir.Platform) {
	if len(p.Notes) == 0 {
		return
	}
	d.Heading(2, "Notes")
	for _, n := range p.Notes {
		d.Para(paragraphStart(n))
	}
}

// paragraphStart returns a text that can begin a paragraph: it escapes a first word
// that would start another kind of block.
func paragraphStart(s string) markup {
	m := strings.Trim(string(escapeText(s)), " ")
	rest := strings.TrimLeft(m, "0123456789")
	switch {
	case rest != m && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, ")")): // a numbered item
		return markup(m[:len(m)-len(rest)] + `\` + rest)
	case strings.IndexAny(m, "#+-=") == 0:
		return markup(`\` + m)
	}
	return markup(m)
}
