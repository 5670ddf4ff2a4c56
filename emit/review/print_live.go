package review

import (
	"fmt"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/emit/markdown"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/live"
)

// Titles of the lists of a comparison with exports.
const (
	adoptedTitle  = "to hand over: the build stops until their owners set the platform's label"
	appliersTitle = "applied by other tools: hand them over first, as --handover DIR describes"
	stayingTitle  = "not in the folder: they stay"
	skippedTitle  = "not compared"
)

// liveParts returns what a comparison with exports knows besides the changes, folded except
// what was not compared.
func liveParts(facts *live.Facts) []part {
	list := func(title string, names []string) part {
		return part{items: len(names), render: func(d *markdown.Document, _, n int) {
			list := new(markdown.Document)
			items := make([]markdown.Markup, n)
			for i, name := range names[:n] {
				items[i] = codeMarkup(name)
			}
			list.List(items...)
			addOmitted(list, len(names)-n, "object")
			d.Fold(fmt.Sprintf("<b>%s</b> (%d)", title, len(names)), list)
		}}
	}
	skipped := part{items: len(facts.Skipped), render: func(d *markdown.Document, _, n int) {
		d.Heading(4, markdown.Markup(fmt.Sprintf("Not compared (%d)", len(facts.Skipped))))
		items := make([]markdown.Markup, n)
		for i, s := range facts.Skipped[:n] {
			items[i] = proseMarkup(s.What+": "+s.Reason, 2*markdownNote)
			if s.Export != "" {
				items[i] += lineBreak + markdown.Code(s.Export)
			}
		}
		d.List(items...)
		addOmitted(d, len(facts.Skipped)-n, "kind")
	}}
	return []part{
		list(adoptedTitle, facts.Adopted), list(appliersTitle, applierLines(facts)), list(stayingTitle, facts.Staying),
		skipped,
	}
}

// applierLines returns a line for each tool of others.
func applierLines(facts *live.Facts) []string {
	var lines []string
	for _, a := range facts.Appliers {
		lines = append(lines, a.String())
	}
	return lines
}

// liveNotice returns a notice with the objects that change and with what was not compared.
func (r *Review) liveNotice() string {
	var lines []string
	groups, hidden := firstItems(r.changedGroups(), annotationLines)
	for _, g := range groups {
		line := operationSign(g.Op) + " " + g.Kind + " " + g.Name
		if g.Note != "" {
			line += ": " + g.Note
		}
		if g.Op == delta.Changed {
			for i, f := range g.Fields {
				if i == annotationFields {
					line += fmt.Sprintf("; … %d more", len(g.Fields)-i)
					break
				}
				line += "; " + changeText(f)
			}
		}
		if len(g.same) > 0 {
			line += fmt.Sprintf(" (the same in %d more)", len(g.same))
		}
		lines = append(lines, line)
	}
	if hidden > 0 {
		lines = append(lines, fmt.Sprintf("… %d more", hidden))
	}
	lines = append(lines, applierLines(r.Live)...)
	skipped, notShown := firstItems(r.Live.Skipped, annotationSkipped)
	for _, s := range skipped {
		lines = append(lines, skippedTitle+": "+s.What+": "+s.Reason)
	}
	if notShown > 0 {
		lines = append(lines, fmt.Sprintf("… %d more", notShown))
	}
	if len(lines) == 0 {
		return ""
	}
	return console.Command{
		Name: "notice", Title: "what applying changes on the cluster", Message: joinLines(lines),
	}.String()
}
