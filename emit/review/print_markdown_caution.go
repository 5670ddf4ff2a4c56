package review

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/markdown"
	"github.com/batchwright/batchwright/emit/review/objects"
	"github.com/batchwright/batchwright/emit/review/summary"
)

// caution is an item of the box with what a reviewer must not miss, below a title that it can
// share with its neighbours.
type caution struct {
	title string
	item  markdown.Markup
}

// cautionHeight is the most pixels of the box that are not folded.
const cautionHeight = 330

// cautionPart returns a box with the resources that are replaced or removed, the protections that
// are removed and the findings that the change brings. Below the box, the items that are too many
// are folded.
func cautionPart(r *Review) part {
	var all []caution
	replaced := r.replacedResources()
	for _, list := range r.resourceLists() {
		for _, g := range groupResources(list.resources) {
			all = append(all, caution{list.title, resourceMarkup(g, replaced)})
		}
	}
	if n := r.dangers(); n > 0 {
		title := words.Plural(n, "change removes a protection", "changes remove a protection")
		for _, l := range r.Summary {
			if l.Dangerous() {
				all = append(all, caution{title, lineMarkup(l)})
			}
		}
	}
	all = append(all, requiredCautions(r.Summary)...)
	all = append(all, r.Findings.cautions()...)
	return part{
		items: len(all), share: cautionHeight,
		height: func(i int) int {
			h := lineHeight*linesOf(all[i].item, lineLetters) + 4
			if i == 0 || all[i].title != all[i-1].title {
				h += 2 * lineHeight
			}
			return h
		},
		render: func(d *markdown.Document, open, n int) {
			box, more := new(markdown.Document), new(markdown.Document)
			addCautions(box, "**", all[:open])
			addCautions(more, "", all[open:n])
			last := more
			if open == n {
				last = box
			}
			addOmitted(last, len(all)-n, "item")
			if n > 0 {
				d.Caution(box)
			}
			d.Fold("<b>"+words.Count(len(all)-open, "more item")+"</b>", more)
		},
	}
}

// affectedPart returns the workloads on the resources that have too many for an item, folded.
func affectedPart(r *Review) part {
	var names []markdown.Markup
	for _, list := range r.resourceLists() {
		for _, g := range groupResources(list.resources) {
			if len(g.Workloads) > mostCounted {
				_, first := g.title(1)
				names = append(names, codeMarkup(first[0])+": "+listWorkloads(g.Workloads, markdownNames))
			}
		}
	}
	return part{items: len(names), render: func(d *markdown.Document, _, n int) {
		list := new(markdown.Document)
		list.List(names[:n]...)
		addOmitted(list, len(names)-n, "resource")
		d.Fold("<b>Workloads on replaced and removed resources</b>", list)
	}}
}

// mostCounted is the number of workloads that an item counts without a list of their names.
const mostCounted = 10

// mostQuotas is the number of kinds of Google Cloud quota that an item lists.
const mostQuotas = 6

// requiredCautions returns what must be true before the change is built: reservations that have
// machines, and Google Cloud quota that grows.
func requiredCautions(lines []summary.Line) (all []caution) {
	const title = "Before the build"
	known := map[string]bool{}
	var grown []markdown.Markup
	for _, l := range lines {
		for note := range strings.SplitSeq(l.Note, "; ") {
			if required, ok := strings.CutPrefix(note, summary.BeforeBuild); ok && !known[required] {
				known[required] = true
				all = append(all, caution{title, proseMarkup(required, markdownNote)})
			}
		}
		if l.Grows {
			item := proseMarkup(strings.TrimPrefix(l.Subject, "Google Cloud quota "), markdownValue) + ": "
			if l.From != "" {
				item += proseMarkup(l.From, markdownValue) + " → "
			}
			grown = append(grown, item+proseMarkup(l.To, markdownValue))
		}
	}
	if len(grown) == 0 {
		return all
	}
	shown, hidden := firstItems(grown, mostQuotas)
	item := "request Google Cloud quota:" + lineBreak + markdown.Join(shown, lineBreak)
	if hidden > 0 {
		item += markdown.Markup(fmt.Sprintf("%sand %d more", lineBreak, hidden))
	}
	return append(all, caution{title, item})
}

// addCautions adds items below their titles, which have a mark on both sides.
func addCautions(d *markdown.Document, mark markdown.Markup, all []caution) {
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].title == all[0].title {
			n++
		}
		items := make([]markdown.Markup, n)
		for i, c := range all[:n] {
			items[i] = c.item
		}
		d.Para(mark, markdown.Markup(all[0].title), ".", mark)
		d.List(items...)
		all = all[n:]
	}
}

// cautions returns the findings that a reviewer decides on, the new ones first.
func (f *Findings) cautions() (all []caution) {
	if f == nil {
		return nil
	}
	add := func(title string, findings []Finding, accepted bool) {
		for _, x := range findings {
			if (x.Accepted != "") != accepted {
				continue
			}
			item := markdown.Code(x.Code) + " " + markdown.Text(words.Truncate(x.Message, markdownNote))
			if accepted {
				item += lineBreak + "reason: " + markdown.Text(words.Truncate(x.Accepted, markdownNote))
			}
			all = append(all, caution{title, item})
		}
	}
	add("New warnings", f.New, false)
	add("Findings that the blueprint now accepts", f.New, true)
	add("Changed warnings", f.Changed, false)
	add("Warnings that are gone", f.Gone, false)
	add("Accepted findings that changed", f.Changed, true)
	add("Accepted findings that are gone", f.Gone, true)
	return all
}

// lineMarkup returns a line of the summary as one item.
func lineMarkup(l summary.Line) markdown.Markup {
	item := proseMarkup(l.Subject, 2*markdownValue)
	if l.What != "" {
		item += ": " + proseMarkup(l.What, 2*markdownValue)
	}
	switch {
	case l.From != "" && l.To != "":
		item += ": " + valueMarkup(l.Topic, l.From) + " → " + valueMarkup(l.Topic, l.To)
	case l.To != "":
		item += ": " + valueMarkup(l.Topic, l.To)
	}
	return item + notesMarkup(l.Note)
}

// notesMarkup returns the notes of a line, each on a line of its own.
func notesMarkup(notes string) (m markdown.Markup) {
	if notes == "" {
		return ""
	}
	for note := range strings.SplitSeq(words.Truncate(notes, markdownNote), "; ") {
		m += lineBreak + proseMarkup(note, markdownNote)
	}
	return m
}

// lineBreak starts a new line in a cell of a table or in an item of a list.
const lineBreak = "<br>"

// markdownInstances is the number of names that an item about several resources has.
const markdownInstances = 6

// resourceMarkup returns resources with the reasons for their replacement, and with what
// depends on them and protects them, each on a line of its own.
func resourceMarkup(g resources, replaced replaced) markdown.Markup {
	title, names := g.title(markdownInstances)
	shown := make([]markdown.Markup, len(names))
	for i, name := range names {
		shown[i] = codeMarkup(name)
	}
	item := markdown.Join(shown, ", ")
	if title != "" {
		item = markdown.Markup(title) + " " + item
		if hidden := 1 + len(g.others) - len(names); hidden > 0 {
			item += markdown.Markup(fmt.Sprintf(" and %d more", hidden))
		}
	}
	item += " (" + codeMarkup(fmt.Sprintf("%s:%d", g.File, g.Line)) + ")"
	if len(g.Because) == 1 && replaced.refersReplaced(g.Because[0]) {
		item += ", because " + codeMarkup(g.Because[0].To) + " is replaced"
	} else {
		for _, f := range g.Because {
			item += lineBreak + "because " + codeMarkup(f.Path)
			if replaced.refersReplaced(f) {
				item += " refers to " + codeMarkup(f.To)
			} else {
				item += ": " + presentValue(f.From) + " → " + presentValue(f.To)
			}
		}
	}
	if s := originText(g.Origin); s != "" {
		item += lineBreak + markdown.Markup(s)
	}
	if affected := affectedMarkup(g.Replacement); affected != "" {
		item += lineBreak + affected
	}
	if g.Guard != "" {
		item += lineBreak + proseMarkup(refusalReason(g.Replacement), 2*markdownValue)
	}
	if g.Order != "" {
		item += lineBreak + proseMarkup(g.Order, 2*markdownValue)
	}
	return item
}

// affectedMarkup returns what depends on a resource.
func affectedMarkup(x objects.Replacement) markdown.Markup {
	var affected []markdown.Markup
	if x.Nodes > 0 {
		affected = append(affected, markdown.Markup(nodesText(x)))
	}
	switch n := len(x.Workloads); {
	case n > markdownWorkloads:
		affected = append(affected, markdown.Markup(words.Count(n, "workload"))+countByTeam(x.Workloads))
	case n > 0:
		affected = append(affected, "workloads "+listWorkloads(x.Workloads, markdownWorkloads))
	}
	return markdown.Join(affected, "; ")
}

// listWorkloads returns the first most workloads, and the number of the others.
func listWorkloads(workloads []string, most int) markdown.Markup {
	names := make([]markdown.Markup, len(workloads))
	for i, name := range workloads {
		names[i] = codeMarkup(name)
	}
	return words.First(names, most)
}

// countByTeam returns whose workloads they are, as the end of a phrase: the one team, the
// number of workloads of each team, or the number of teams if there are many. A workload's
// name begins with its team.
func countByTeam(workloads []string) markdown.Markup {
	var teams []string
	count := map[string]int{}
	for _, name := range workloads {
		team, _, _ := strings.Cut(name, "/")
		if count[team]++; count[team] == 1 {
			teams = append(teams, team)
		}
	}
	switch {
	case len(teams) == 1:
		return " of " + codeMarkup(teams[0])
	case len(teams) > markdownTeams:
		return " of " + markdown.Markup(words.Count(len(teams), "team"))
	}
	if len(workloads) == len(teams) {
		return ", one per team"
	}
	parts := make([]markdown.Markup, len(teams))
	for i, team := range teams {
		parts[i] = markdown.Markup(strconv.Itoa(count[team])) + " of " + codeMarkup(team)
	}
	return ": " + markdown.Join(parts, ", ")
}
