package review

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/markdown"
	"github.com/batchwright/batchwright/emit/review/objects"
)

// resourcesPart returns an alert that lists resources which are replaced or removed.
// Below it are two folded lists: the resources that are too many for the alert, and the
// workloads that are too many for an item.
func resourcesPart(title string, all []objects.Replacement, replaced replaced) part {
	open := openItems(len(all))
	return part{len(all), func(d *markdown.Document, n int) {
		alert, more, jobs := new(markdown.Document), new(markdown.Document), new(markdown.Document)
		alert.Para("**", markdown.Markup(title), ".**")
		var items, names []markdown.Markup
		users := map[string]bool{}
		for _, x := range all[:n] {
			items = append(items, resourceMarkup(x, replaced))
			if len(x.Workloads) > markdownWorkloads {
				for _, name := range x.Workloads {
					users[name] = true
				}
				names = append(names, codeMarkup(x.Address)+": "+listWorkloads(x.Workloads, markdownNames))
			}
		}
		shown, folded := items[:min(n, open)], items[min(n, open):]
		if len(shown) > 0 {
			alert.List(shown...)
		}
		last := alert
		if len(folded) > 0 {
			more.List(folded...)
			last = more
		}
		addOmitted(last, len(all)-n, "resource")
		if len(names) > 0 {
			jobs.List(names...)
		}
		d.Caution(alert)
		d.Fold("<b>"+words.Count(len(all)-open, "more resource")+"</b>", more)
		d.Fold(fmt.Sprintf("<b>Workloads on these resources</b> (%d)", len(users)), jobs)
	}}
}

// openItems returns how many of n items are not folded. A list that is only a little
// too long is not folded.
func openItems(n int) int {
	if n <= markdownOpen+markdownOpen/4 {
		return n
	}
	return markdownOpen
}

// lineBreak starts a new line in a cell of a table or in an item of a list.
const lineBreak = "<br>"

// resourceMarkup returns a resource with the reasons for its replacement, and with what
// depends on it and protects it, each on a line of its own.
func resourceMarkup(x objects.Replacement, replaced replaced) markdown.Markup {
	item := codeMarkup(x.Address) + " (" + codeMarkup(fmt.Sprintf("%s:%d", x.File, x.Line)) + ")"
	for _, f := range x.Because {
		item += lineBreak + "because " + codeMarkup(f.Path)
		if replaced.refersReplaced(f) {
			item += " refers to " + codeMarkup(f.To)
		} else {
			item += ": " + presentValue(f.From) + " → " + presentValue(f.To)
		}
	}
	var affected []markdown.Markup
	if x.Nodes > 0 {
		affected = append(affected, "up to "+markdown.Markup(words.Count(x.Nodes, "node")))
	}
	switch n := len(x.Workloads); {
	case n > markdownWorkloads:
		affected = append(affected, markdown.Markup(words.Count(n, "workload"))+countByTeam(x.Workloads))
	case n > 0:
		affected = append(affected, "workloads "+listWorkloads(x.Workloads, markdownWorkloads))
	}
	if len(affected) > 0 {
		item += lineBreak + markdown.Join(affected, "; ")
	}
	if x.Guard != "" {
		item += lineBreak + proseMarkup(refusalReason(x), 2*markdownValue)
	}
	if x.Order != "" {
		item += lineBreak + proseMarkup(x.Order, 2*markdownValue)
	}
	return item
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
	parts := make([]markdown.Markup, len(teams))
	for i, team := range teams {
		parts[i] = markdown.Markup(strconv.Itoa(count[team])) + " of " + codeMarkup(team)
	}
	return ": " + markdown.Join(parts, ", ")
}
