package review

import (
	"fmt"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/markdown"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/summary"
)

// section is a part of the summary in a comment.
type section struct {
	title  string
	topics []summary.Topic
	folded bool // the reader must open the section
}

// summarySections returns the sections in their order. What a reviewer decides on comes
// before what follows from it.
func summarySections() []section {
	return []section{
		{title: "Teams, quota and priorities", topics: []summary.Topic{
			summary.TopicTeams, summary.TopicQueues, summary.TopicQuota, summary.TopicPriority,
		}},
		{title: "Access and security", topics: []summary.Topic{summary.TopicAccess, summary.TopicSecurity}},
		{title: "Capacity and cluster", topics: []summary.Topic{summary.TopicCapacity, summary.TopicCluster}},
		{title: "Google Cloud quota", topics: []summary.Topic{summary.TopicCloudQuota}},
		{title: "Workloads", topics: []summary.Topic{summary.TopicWorkloads}, folded: true},
		{title: "Total guarantees and limits", topics: []summary.Topic{
			summary.TopicGuarantees, summary.TopicLimits,
		}, folded: true},
		{title: "Alerts", topics: []summary.Topic{summary.TopicAlerts}, folded: true},
	}
}

// summaryParts returns the summary as parts of a comment, one for each section, without the
// changes that remove a protection, and the rehearsals.
func summaryParts(r *Review) []part {
	parts := []part{jobsPart(r.Jobs), playedPart(r.Played), rehearsalsPart(r.Rehearsals)}
	for _, s := range summarySections() {
		var own []summary.Line
		for _, topic := range s.topics {
			for _, l := range r.Summary {
				if l.Topic == topic && !l.Dangerous() {
					own = append(own, l)
				}
			}
		}
		parts = append(parts, s.linesPart(own))
	}
	return parts
}

// linesPart returns a section with its lines: a heading and a table, whose end can be folded,
// or a folded table.
func (s section) linesPart(lines []summary.Line) part {
	count := fmt.Sprintf(" (%d)", len(lines))
	p := part{items: len(lines), render: func(d *markdown.Document, open, n int) {
		folded := new(markdown.Document)
		title, last := "<b>"+s.title+"</b>"+count, folded
		if open > 0 {
			d.Heading(4, markdown.Markup(s.title+count))
			title = "<b>" + words.Count(len(lines)-open, "more change") + "</b>"
			if n <= open {
				last = d
			}
		}
		addChanges(d, lines[:open])
		addChanges(folded, lines[open:n])
		addOmitted(last, len(lines)-n, "change")
		d.Fold(title, folded)
	}}
	if !s.folded {
		p.height = func(i int) int {
			row := changeCells(lines[i])
			return rowHeight + lineHeight*max(linesOf(row[0], thirdLetters), linesOf(row[1], valueLetters),
				linesOf(row[2], valueLetters))
		}
	}
	return p
}

// addChanges adds a table of lines. It has three columns, because a comment is narrow:
// the note stands below the subject.
func addChanges(d *markdown.Document, lines []summary.Line) {
	rows := make([][]markdown.Markup, len(lines))
	for i, l := range lines {
		rows[i] = changeCells(l)
	}
	d.Table([]markdown.Markup{"Change", headFrom, headTo}, rows)
}

// changeCells returns the cells of a line.
func changeCells(l summary.Line) []markdown.Markup {
	what := proseMarkup(l.Subject, 2*markdownValue)
	if l.What != "" {
		what += ": " + proseMarkup(l.What, 2*markdownValue)
	}
	what += notesMarkup(l.Note)
	from, to := valueMarkup(l.Topic, l.From), valueMarkup(l.Topic, l.To)
	switch {
	case l.Op == delta.Added && to == "":
		to = "added"
	case l.Op == delta.Added:
		to = "added: " + to
	case l.Op == delta.Removed:
		to = "removed"
	case from == "" && to == "":
		to = "changed"
	}
	return []markdown.Markup{what, from, to}
}

// The heads of the columns with values. Browsers give the column with the longest text
// all width that the others do not need. The spaces keep room for a value beside a long
// change. A reader of Markdown may trim other spaces of a cell.
const (
	headFrom = headSpaces + "From" + headSpaces
	headTo   = headSpaces + "To" + headSpaces

	headSpaces = "&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;"
)

// valueMarkup returns a value. The values of most topics are the summary's own words,
// with names among them. A value of a workload is a text of its author, such as a
// command, and becomes code as a whole.
func valueMarkup(topic summary.Topic, s string) markdown.Markup {
	if topic == summary.TopicWorkloads {
		return codeMarkup(s)
	}
	return proseMarkup(s, markdownValue)
}
