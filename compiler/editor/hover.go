package editor

import (
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/explain"
)

// Hover is documentation for a range of a file.
type Hover struct {
	Start, End int
	Markdown   string
}

// Hover returns the documentation of the field or the value at an offset of a file,
// and reports whether there is any.
func (e *Editor) Hover(files []File, name string, at int) (Hover, bool) {
	t := readText(files)
	m, ok := t.markAt(name, at)
	if !ok {
		return Hover{}, false
	}
	path := t.resolveTemplate(m.path)
	var parts []string
	if n := len(path); m.label && n > 1 && path[n-2] == "accept" {
		parts = append(parts, e.Explain(m.text))
	}
	if machine, ok := catalog.Lookup(m.text); ok && !m.label {
		parts = append(parts, "**"+machine.Type+"**: "+machine.Summary())
		if zones := machine.Zones(); len(zones) > 0 {
			parts = append(parts, "Known zones: "+strings.Join(zones, ", ")+".")
		}
		for _, remark := range []string{machine.Note, machine.Withheld} {
			if remark != "" {
				parts = append(parts, escapeMarkdown(remark))
			}
		}
	}
	if field, err := e.schema.Describe(path); err == nil && len(path) > 0 {
		parts = append(parts, "**"+escapeMarkdown(field.Path)+"**: "+escapeMarkdown(field.Accepts))
		for _, p := range field.Facts() {
			parts = append(parts, escapeMarkdown(p))
		}
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return Hover{m.start, m.end, strings.Join(parts, "\n\n")}, len(parts) > 0
}

// Explain returns the title of a code with the first paragraph of its explanation,
// as Markdown. It returns "" for an unknown code.
func (e *Editor) Explain(code string) string {
	i := slices.IndexFunc(e.codes, func(c diag.Code) bool { return c.ID == code })
	if i < 0 {
		return ""
	}
	text := "**" + code + "**: " + escapeMarkdown(e.codes[i].Title)
	if why := firstParagraph(code); why != "" {
		text += "\n\n" + escapeMarkdown(why)
	}
	return text + "\n\n`batchwright explain " + code + "` has an example of the mistake and of its correction."
}

// firstParagraph returns the first paragraph of a code's explanation, on one line.
func firstParagraph(code string) string {
	text, _ := explain.Lookup(code)
	first, _, _ := strings.Cut(text.Why, "\n\n")
	return strings.Join(strings.Fields(first), " ")
}

// escapeMarkdown returns Markdown that shows a text as it is.
func escapeMarkdown(text string) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "<", `\<`).Replace(text)
}
