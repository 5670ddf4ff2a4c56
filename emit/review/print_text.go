package review

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/objects"
	"github.com/batchwright/batchwright/emit/review/summary"
)

// Limits of the output on a terminal, because nobody reads more at once. The JSON
// form has everything.
const (
	textReplacements = 50
	textWorkloads    = 5   // of a replacement
	textLines        = 20  // of a topic
	textDetails      = 200 // objects and fields; if there are more, only files are listed
	textFields       = 20  // of an object
	textAlike        = 5   // objects with the same changes as another
	textFiles        = 40  // listed without details
)

// Text writes a review for a terminal: the resources that must be replaced, the
// summary, the objects by file, and the totals. A long list ends with the number of
// omitted items. If nothing differs, Text writes nothing.
//
// Whatever a blueprint contains, the output has no control sequences except colours.
func Text(w io.Writer, r *Review, color bool) error {
	p := textPrinter{color: color}
	if r.StateTo != "" {
		p.section("%s %s %s %s", console.Red.Paint(p.color, "Terraform's state is elsewhere:"),
			console.Inline(r.StateFrom), arrow, p.bold(r.StateTo))
		p.line("  %s", moved)
	}
	replaced := r.replaced()
	p.resources("must be replaced when applied:", "-/+", r.Replacements, replaced)
	p.resources("removed from configuration:", "-", r.Removals, replaced)
	p.summary(r.Summary)
	p.files(byFile(r.groups()))
	if totals := r.totals(); len(totals) > 0 {
		p.section("%s", strings.Join(totals, "; "))
	}
	if p.cut {
		p.line("see all: --format json")
	}
	_, err := w.Write(p.buf.Bytes())
	return err
}

type textPrinter struct {
	buf   bytes.Buffer
	color bool
	cut   bool // something was omitted
}

func (p *textPrinter) line(format string, args ...any) {
	fmt.Fprintf(&p.buf, format+"\n", args...)
}

// section starts a section with a title line, after an empty line if it is not the
// first.
func (p *textPrinter) section(format string, args ...any) {
	if p.buf.Len() > 0 {
		p.buf.WriteByte('\n')
	}
	p.line(format, args...)
}

// more prints the number of omitted items.
func (p *textPrinter) more(indent string, hidden int) {
	if hidden > 0 {
		p.cut = true
		p.line("%s… %d more", indent, hidden)
	}
}

func (p *textPrinter) bold(s string) string { return console.Bold.Paint(p.color, console.Inline(s)) }

func (p *textPrinter) sign(op delta.Op) string {
	style := map[delta.Op]console.Style{delta.Added: console.Green, delta.Removed: console.Red}[op]
	if style == "" {
		style = console.Yellow
	}
	return style.Paint(p.color, sign(op))
}

// resources lists Terraform resources under a title.
func (p *textPrinter) resources(title, sign string, all []objects.Replacement, replaced replaced) {
	if len(all) == 0 {
		return
	}
	p.section("%s", console.Red.Paint(p.color, title))
	shown, hidden := some(all, textReplacements)
	for _, x := range shown {
		p.line("  %s %s (%s:%d)", console.Red.Paint(p.color, sign), p.bold(x.Address), console.Inline(x.File), x.Line)
		for _, f := range x.Because {
			p.line("      %s", console.Inline(replaced.reason(f)))
		}
		if s := affected(x, textWorkloads); s != "" {
			p.line("      %s", console.Inline(s))
		}
	}
	p.more("  ", hidden)
}

func (p *textPrinter) summary(lines []summary.Line) {
	if len(lines) == 0 {
		return
	}
	p.section("%s", p.bold("summary:"))
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && lines[n].Topic == lines[0].Topic {
			n++
		}
		p.line("  %s", p.bold(string(lines[0].Topic)))
		shown, hidden := some(lines[:n], textLines)
		for _, l := range shown {
			p.line("    %s %s", p.sign(l.Op), console.Inline(l.String()))
		}
		p.more("    ", hidden)
		lines = lines[n:]
	}
}

func (p *textPrinter) files(files []file) {
	details := 0
	for i, f := range files {
		if details >= textDetails {
			p.names(files[i:])
			return
		}
		p.section("%s", p.bold(f.name))
		for j, o := range f.groups {
			if details >= textDetails {
				p.more("  ", size(f.groups[j:]))
				break
			}
			p.line("  %s %s %s", p.sign(o.Op), console.Inline(o.Kind), console.Inline(o.Name))
			fields, hidden := some(o.Fields, textFields)
			for _, f := range fields {
				p.line("      %s %s", p.sign(opOf(f)), console.Inline(change(f)))
			}
			p.more("      ", hidden)
			if s := o.alike(textAlike); s != "" {
				p.line("      %s", console.Inline(s))
			}
			details += 1 + len(fields)
		}
	}
}

// names lists files without their objects.
func (p *textPrinter) names(files []file) {
	p.cut = true
	p.section("%s", p.bold("and also:"))
	shown, hidden := some(files, textFiles)
	for _, f := range shown {
		p.line("  %s: %s", console.Inline(f.name), f.tally())
	}
	p.more("  ", hidden)
}
