package review

import (
	"fmt"
	"strings"

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
		{title: "Jobs that run or wait", topics: []summary.Topic{summary.TopicJobs}},
		{title: "Teams, quota and priorities", topics: []summary.Topic{
			summary.TopicTeams, summary.TopicQueues, summary.TopicQuota, summary.TopicPriority,
		}},
		{title: "Access and security", topics: []summary.Topic{summary.TopicAccess, summary.TopicSecurity}},
		{title: "Capacity and cluster", topics: []summary.Topic{summary.TopicCapacity, summary.TopicCluster}},
		{title: "Workloads", topics: []summary.Topic{summary.TopicWorkloads}, folded: true},
		{title: "Guarantees of all queues, limits and Google Cloud quota", topics: []summary.Topic{
			summary.TopicGuarantees, summary.TopicLimits, summary.TopicCloudQuota,
		}, folded: true},
		{title: "Alerts", topics: []summary.Topic{summary.TopicAlerts}, folded: true},
	}
}

// summaryParts returns the summary as parts of a comment: an alert for the changes that
// remove a protection, and a part for each section with the other changes.
func summaryParts(lines []summary.Line) []part {
	var dangerous []summary.Line
	var others []summary.Line
	for _, l := range lines {
		if l.Dangerous() {
			dangerous = append(dangerous, l)
		} else {
			others = append(others, l)
		}
	}
	parts := []part{dangerousPart(dangerous)}
	for _, s := range summarySections() {
		var own []summary.Line
		for _, topic := range s.topics {
			for _, l := range others {
				if l.Topic == topic {
					own = append(own, l)
				}
			}
		}
		parts = append(parts, s.linesPart(own))
	}
	return parts
}

// dangerousPart returns an alert with the changes that remove a protection.
func dangerousPart(lines []summary.Line) part {
	return part{len(lines), func(d *markdown.Document, n int) {
		alert := new(markdown.Document)
		alert.Para("**", markdown.Markup(words.Plural(len(lines),
			"change removes a protection", "changes remove a protection")), ".**")
		addChanges(alert, lines[:n])
		addOmitted(alert, len(lines)-n, "change")
		d.Caution(alert)
	}}
}

// linesPart returns a section with its lines: a heading and a table, whose end is folded
// if it is long, or a folded table.
func (s section) linesPart(lines []summary.Line) part {
	count := fmt.Sprintf(" (%d)", len(lines))
	open := openItems(len(lines))
	if s.folded {
		open = 0
	}
	return part{len(lines), func(d *markdown.Document, n int) {
		folded := new(markdown.Document)
		title, last := "<b>"+s.title+"</b>"+count, folded
		if !s.folded {
			d.Heading(4, markdown.Markup(s.title+count))
			title = "<b>" + words.Count(len(lines)-open, "more change") + "</b>"
			if n <= open {
				last = d
			}
		}
		addChanges(d, lines[:min(n, open)])
		addChanges(folded, lines[min(n, open):n])
		addOmitted(last, len(lines)-n, "change")
		d.Fold(title, folded)
	}}
}

// addChanges adds a table of lines. It has three columns, because a comment is narrow:
// the note stands below the subject.
func addChanges(d *markdown.Document, lines []summary.Line) {
	rows := make([][]markdown.Markup, len(lines))
	for i, l := range lines {
		what := proseMarkup(l.Subject, 2*markdownValue)
		if l.What != "" {
			what += ": " + proseMarkup(l.What, 2*markdownValue)
		}
		if l.Note != "" {
			for note := range strings.SplitSeq(words.Truncate(l.Note, markdownNote), "; ") {
				what += lineBreak + proseMarkup(note, markdownNote)
			}
		}
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
		rows[i] = []markdown.Markup{what, from, to}
	}
	d.Table([]markdown.Markup{"Change", headFrom, headTo}, rows)
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
