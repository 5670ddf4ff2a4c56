package review

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/live"
	"github.com/batchwright/batchwright/emit/review/summary"
)

// Limits of the output on a terminal, because nobody reads more at once. The JSON
// form has everything.
const (
	textReplacements = 50
	textInstances    = 8   // names of resources for which the same is true
	textWorkloads    = 5   // of a replacement
	textLines        = 20  // of a topic
	textDetails      = 200 // objects and fields together; above this, only files are listed
	textFields       = 20  // of an object
	textAlike        = 5   // objects with the same changes as another
	textFiles        = 40  // listed without details
)

// Text writes a review for a terminal: the headline, the earlier state if a reader expects another
// one, the cost, the findings that the change brings, what changes in the rehearsals, the resources
// that are replaced, removed or lose nodes, the effects on jobs, the sample jobs, the summary, the
// objects by file, and the totals. A long list ends with the number of omitted items. If nothing
// differs and nothing was compared with exports, Text writes nothing.
//
// Whatever a blueprint contains, the output has no control sequences except colours.
func Text(w io.Writer, r *Review, color bool) error {
	p := textPrinter{color: color}
	if !r.Same() {
		p.startSection("%s", p.bold(r.Headline()))
	}
	if s := r.Base.sentences(r.Before); s != "" && !r.Same() {
		p.printLine("%s", console.Inline(s))
	}
	if r.Cost != nil && r.Cost.Differs() {
		p.startSection("%s", r.Cost)
	}
	p.printFindings(r.Findings)
	for _, rehearsal := range r.Rehearsals {
		p.startSection("rehearsal %s:", console.Inline(rehearsal.Name))
		for _, line := range rehearsal.lines(math.MaxInt) {
			p.printLine("  %s", console.Inline(line))
		}
	}
	if r.StateTo != "" {
		p.startSection("%s %s %s %s", console.Red.Paint(p.color, "Terraform's state is elsewhere:"),
			console.Inline(r.StateFrom), arrow, p.bold(r.StateTo))
		p.printLine("  %s", moved)
	}
	replaced := r.replacedResources()
	for _, list := range r.resourceLists() {
		p.printResources(list, replaced)
	}
	p.printJobs(r.Jobs)
	p.printPlayed(r.Played)
	p.printSummary(r.Summary)
	p.printFiles(byFile(r.changedGroups()))
	if r.Live != nil {
		p.printLive(r.Live)
	}
	if totals := r.totalTexts(); len(totals) > 0 {
		p.startSection("%s", strings.Join(totals, "; "))
	}
	if p.cut {
		p.printLine("see all: --format json")
	}
	_, err := w.Write(p.buf.Bytes())
	return err
}

type textPrinter struct {
	buf   bytes.Buffer
	color bool
	cut   bool // something was omitted
}

func (p *textPrinter) printLine(format string, args ...any) {
	fmt.Fprintf(&p.buf, format+"\n", args...)
}

// startSection starts a section with a title line, after an empty line if it is not
// the first.
func (p *textPrinter) startSection(format string, args ...any) {
	if p.buf.Len() > 0 {
		p.buf.WriteByte('\n')
	}
	p.printLine(format, args...)
}

// printOmitted prints the number of omitted items.
func (p *textPrinter) printOmitted(indent string, hidden int) {
	if hidden > 0 {
		p.cut = true
		p.printLine("%s… %d more", indent, hidden)
	}
}

func (p *textPrinter) bold(s string) string { return console.Bold.Paint(p.color, console.Inline(s)) }

func (p *textPrinter) sign(op delta.Op) string {
	style := map[delta.Op]console.Style{delta.Added: console.Green, delta.Removed: console.Red}[op]
	if style == "" {
		style = console.Yellow
	}
	return style.Paint(p.color, operationSign(op))
}

// printResources lists Terraform resources under a title.
func (p *textPrinter) printResources(list resourceList, replaced replaced) {
	if len(list.resources) == 0 {
		return
	}
	p.startSection("%s", console.Red.Paint(p.color, list.what+":"))
	shown, hidden := firstItems(groupResources(list.resources), textReplacements)
	for _, x := range shown {
		p.printLine("  %s %s (%s:%d)", console.Red.Paint(p.color, list.sign), p.bold(x.text(textInstances)),
			console.Inline(x.File), x.Line)
		for _, f := range x.Because {
			p.printLine("      %s", console.Inline(replaced.reasonText(f)))
		}
		if s := originText(x.Origin); s != "" {
			p.printLine("      %s", s)
		}
		if s := affectedText(x.Replacement, textWorkloads); s != "" {
			p.printLine("      %s", console.Inline(s))
		}
	}
	p.printOmitted("  ", hidden)
}

// printFindings prints the findings that the change brings, and those that are gone.
func (p *textPrinter) printFindings(f *Findings) {
	if f.same() {
		return
	}
	p.startSection("%s", p.bold("findings:"))
	for _, list := range []struct {
		sign     delta.Op
		findings []Finding
	}{{delta.Added, f.New}, {delta.Changed, f.Changed}, {delta.Removed, f.Gone}} {
		shown, hidden := firstItems(list.findings, textLines)
		for _, x := range shown {
			p.printLine("  %s %s: %s", operationSign(list.sign), console.Inline(x.Place), console.Inline(x.String()))
		}
		p.printOmitted("  ", hidden)
	}
}

func (p *textPrinter) printSummary(lines []summary.Line) {
	if len(lines) == 0 {
		return
	}
	p.startSection("%s", p.bold("summary:"))
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && lines[n].Topic == lines[0].Topic {
			n++
		}
		p.printLine("  %s", p.bold(string(lines[0].Topic)))
		shown, hidden := firstItems(lines[:n], textLines)
		for _, l := range shown {
			p.printLine("    %s %s", p.sign(l.Op), console.Inline(l.String()))
		}
		p.printOmitted("    ", hidden)
		lines = lines[n:]
	}
}

func (p *textPrinter) printFiles(files []file) {
	details := 0
	for i, f := range files {
		if details >= textDetails {
			p.printNames(files[i:])
			return
		}
		p.startSection("%s", p.bold(f.name))
		for j, o := range f.groups {
			if details >= textDetails {
				p.printOmitted("  ", countObjects(f.groups[j:]))
				break
			}
			name := console.Inline(o.Kind) + " " + console.Inline(o.Name)
			if s := originText(o.Origin); s != "" {
				name += ", " + s
			}
			p.printLine("  %s %s", p.sign(o.Op), name)
			if isPage(o.Object) && o.Op == delta.Changed {
				continue
			}
			fields, hidden := firstItems(o.Fields, textFields)
			for _, f := range fields {
				p.printLine("      %s %s", p.sign(opOf(f)), console.Inline(changeText(f)))
			}
			p.printOmitted("      ", hidden)
			if o.Note != "" {
				p.printLine("      %s", console.Yellow.Paint(p.color, console.Inline(o.Note)))
			}
			if s := o.otherNames(textAlike); s != "" {
				p.printLine("      %s", console.Inline(s))
			}
			details += 1 + len(fields)
		}
	}
}

// printLive prints what a comparison with exports knows besides the changes.
func (p *textPrinter) printLive(facts *live.Facts) {
	p.printList(adoptedTitle, facts.Adopted)
	p.printList(appliersTitle, applierLines(facts))
	p.printList(stayingTitle, facts.Staying)
	if len(facts.Skipped) == 0 {
		return
	}
	p.startSection("%s", p.bold(skippedTitle+":"))
	shown, hidden := firstItems(facts.Skipped, textLines)
	for _, s := range shown {
		p.printLine("  %s: %s", console.Inline(s.What), console.Inline(s.Reason))
		if s.Export != "" {
			p.printLine("      %s", console.Inline(s.Export))
		}
	}
	p.printOmitted("  ", hidden)
}

// printList prints a title and a list of names, if there are any.
func (p *textPrinter) printList(title string, names []string) {
	if len(names) == 0 {
		return
	}
	p.startSection("%s", p.bold(title+":"))
	shown, hidden := firstItems(names, textLines)
	for _, name := range shown {
		p.printLine("  %s", console.Inline(name))
	}
	p.printOmitted("  ", hidden)
}

// printNames lists files without their objects.
func (p *textPrinter) printNames(files []file) {
	p.cut = true
	p.startSection("%s", p.bold("and also:"))
	shown, hidden := firstItems(files, textFiles)
	for _, f := range shown {
		p.printLine("  %s: %s", console.Inline(f.name), f.tallyOperations())
	}
	p.printOmitted("  ", hidden)
}
