package guide

import (
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// notes prints the notes of the blueprint.
func notes(d *document, p *ir.Platform) {
	if len(p.Notes) == 0 {
		return
	}
	d.Heading(2, "Notes")
	for _, n := range p.Notes {
		d.Para(plain(n))
	}
}

// plain returns a text that can begin a paragraph: it escapes a first word that
// would start another kind of block.
func plain(s string) markup {
	m := strings.Trim(string(text(s)), " ")
	rest := strings.TrimLeft(m, "0123456789")
	switch {
	case rest != m && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, ")")): // a numbered item
		return markup(m[:len(m)-len(rest)] + `\` + rest)
	case strings.IndexAny(m, "#+-=") == 0:
		return markup(`\` + m)
	}
	return markup(m)
}
