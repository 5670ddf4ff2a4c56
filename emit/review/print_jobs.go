package review

import (
	"fmt"
	"strings"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/markdown"
	"github.com/batchwright/batchwright/emit/review/jobs"
)

// printJobs prints what the change does to jobs.
func (p *textPrinter) printJobs(all []jobs.Effect) {
	if len(all) == 0 {
		return
	}
	p.startSection("%s", p.bold("jobs:"))
	shown, hidden := firstItems(all, textLines)
	for _, e := range shown {
		style := console.Yellow
		if e.Worst() == jobs.Stop || e.Worst() == jobs.NeverStart {
			style = console.Red
		}
		p.printLine("  %s %s", style.Paint(p.color, "!"), p.bold(e.Cause))
		p.printLine("      %s", console.Inline(e.Whose()))
		for _, s := range e.Sentences() {
			p.printLine("      %s", console.Inline(s))
		}
	}
	p.printOmitted("  ", hidden)
}

// printPlayed prints what becomes of sample jobs.
func (p *textPrinter) printPlayed(played *Played) {
	all := played.all()
	if len(all) == 0 {
		return
	}
	p.startSection("%s", p.bold(strings.ToLower(played.title()[:1])+played.title()[1:]+":"))
	shown, hidden := firstItems(all, textLines)
	for _, line := range shown {
		p.printLine("  %s", console.Inline(line))
	}
	p.printOmitted("  ", hidden)
}

// jobsHeight is the most pixels of the table on jobs that are not folded.
const jobsHeight = 300

// jobsPart returns a table of what the change does to jobs, whose end can be folded.
func jobsPart(all []jobs.Effect) part {
	return part{
		items: len(all), share: jobsHeight,
		height: func(i int) int {
			row := effectCells(all[i])
			return rowHeight + lineHeight*max(linesOf(row[0], cellLetters), linesOf(row[1], cellLetters))
		},
		render: func(d *markdown.Document, open, n int) {
			folded, last := new(markdown.Document), d
			if open > 0 {
				d.Heading(4, markdown.Markup(fmt.Sprintf("Jobs (%d)", len(all))))
				addEffects(d, all[:open])
			}
			if n > open {
				addEffects(folded, all[open:n])
				last = folded
			}
			addOmitted(last, len(all)-n, "effect")
			d.Fold("<b>"+words.Count(len(all)-open, "more effect")+" on jobs</b>", folded)
		},
	}
}

// playedHeight is the most pixels of the lines on sample jobs that are not folded.
const playedHeight = 110

// playedPart returns what becomes of sample jobs, whose end can be folded.
func playedPart(p *Played) part {
	all := p.all()
	return part{
		items: len(all), share: playedHeight,
		height: func(i int) int { return lineHeight*linesOf(markdown.Text(all[i]), lineLetters) + 4 },
		render: func(d *markdown.Document, open, n int) {
			folded := new(markdown.Document)
			add := func(to *markdown.Document, lines []string) {
				items := make([]markdown.Markup, len(lines))
				for i, line := range lines {
					items[i] = capitalMarkup(proseMarkup(line, markdownNote))
				}
				if len(items) > 0 {
					to.List(items...)
				}
			}
			if open > 0 {
				d.Heading(4, proseMarkup(p.title(), markdownValue))
			}
			add(d, all[:open])
			add(folded, all[open:n])
			addOmitted(folded, len(all)-n, "line")
			d.Fold("<b>"+words.Count(len(all)-open, "more line")+" on sample jobs</b>", folded)
		},
	}
}

// addEffects adds a table of effects.
func addEffects(d *markdown.Document, all []jobs.Effect) {
	rows := make([][]markdown.Markup, len(all))
	for i, e := range all {
		rows[i] = effectCells(e)
	}
	d.Table([]markdown.Markup{"Change", "What happens to jobs"}, rows)
}

// effectCells returns the cells of an effect.
func effectCells(e jobs.Effect) []markdown.Markup {
	sentences := e.Sentences()
	effect := make([]markdown.Markup, len(sentences))
	for i, s := range sentences {
		effect[i] = capitalMarkup(proseMarkup(s, markdownNote))
	}
	return []markdown.Markup{
		capitalMarkup(proseMarkup(e.Cause, 2*markdownValue)) + lineBreak + proseMarkup(e.Whose(), 2*markdownValue),
		markdown.Join(effect, lineBreak),
	}
}

// jobLines returns what the change does to jobs as lines of an annotation.
func jobLines(all []jobs.Effect) []string {
	var lines []string
	shown, hidden := firstItems(all, annotationLines)
	for _, e := range shown {
		lines = append(lines, "jobs: "+e.String())
	}
	if hidden > 0 {
		lines = append(lines, fmt.Sprintf("… %d more effects on jobs", hidden))
	}
	return lines
}

// fullEffects returns a copy of a list in which no list is nil.
func fullEffects(all []jobs.Effect) []jobs.Effect {
	all = notNil(all)
	for i := range all {
		all[i].Teams = notNil(all[i].Teams)
	}
	return all
}
