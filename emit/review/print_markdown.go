package review

import (
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/markdown"
)

// A comment on GitHub has at most 65,536 characters, and the program that posts it
// may add some. The limit is safe because it counts bytes. Source: GitHub's answer
// to longer comments, "body is too long (maximum is 65536 characters)".
const markdownLimit = 59_000

const (
	markdownValue     = 200 // characters of a name or value
	markdownNote      = 800 // characters of a note
	markdownWorkloads = 5   // workloads of a resource that its item names
	markdownTeams     = 8   // teams of which an item tells the number of workloads
	markdownNames     = 40  // workloads of a resource that a folded list names
	markdownFields    = 20  // fields of an object
	markdownAlike     = 10  // objects with the same changes as another
	markdownOpen      = 12  // rows, items or lines of a list that are not folded
)

// Markdown writes a review for a comment on a pull request, as GitHub and GitLab
// read it. What a reviewer decides on comes first: the cost, the waits and evictions that
// change in the rehearsals, alerts for the resources
// that must be replaced or left the configuration and for protections that are
// removed, and tables of what changes for jobs, teams, access and capacity. What
// follows from these changes is folded: workloads, alerts, totals, quota of Google
// Cloud, and the changed objects.
//
// The comment has less than 60,000 characters. If a review needs more, every part gets
// its share, and a list that does not fit ends with the number of omitted items.
//
// The first line is invisible and names the platform. With it a later run finds the
// comment to replace. If nothing differs, the comment says so, because the later run
// may replace an earlier comment.
//
// Text from a blueprint is never more than text: it cannot become markup, a link or
// a mention.
func Markdown(w io.Writer, r *Review) error {
	d := new(markdown.Document)
	d.Para(markdown.Markup(commentMarker(r.Platform)))
	addTitle(d, r)
	parts := []part{
		rehearsalsPart(r.Rehearsals),
		resourcesPart(r.toReplace(), r.Replacements, r.replacedResources()),
		resourcesPart(r.toRemove(), r.Removals, nil),
	}
	parts = append(parts, summaryParts(r.Summary)...)
	parts = append(parts, objectsPart(r))
	if r.Live != nil {
		parts = append(parts, liveParts(r.Live)...)
	}
	addParts(d, markdownLimit, parts)
	_, err := w.Write(d.Bytes())
	return err
}

// commentMarker returns the first line of every comment on a platform's review: an
// invisible HTML comment. No other comment starts with it, and platforms have
// different markers.
func commentMarker(platform string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, words.Truncate(platform, markdownValue))
	if name == "" {
		return "<!-- batchwright review -->"
	}
	return "<!-- batchwright review: " + name + " -->"
}

// part is a part of a comment with a number of items.
type part struct {
	items  int
	render func(d *markdown.Document, n int) // adds the first n items, and the number of the others
}

// size returns the length of a part with the first n items, with the empty line before it.
func (p part) size(n int) int {
	d := new(markdown.Document)
	p.render(d, n)
	return 1 + len(d.Bytes())
}

// addParts adds the parts of a comment, one after the other, with as many of their items as
// fit. A part may use its share of what is left, and what the other parts leave. If not even
// the remark with the number of omitted items fits, the part is omitted.
func addParts(d *markdown.Document, limit int, parts []part) {
	parts = slices.DeleteFunc(parts, func(p part) bool { return p.items == 0 })
	wanted := make([]int, len(parts))
	for i, p := range parts {
		wanted[i] = p.size(p.items)
	}
	for i, p := range parts {
		left := limit - len(d.Bytes())
		share := left / (len(parts) - i)
		for _, size := range wanted[i+1:] {
			left -= min(size, share)
		}
		fit := p.items
		if wanted[i] > left {
			fit = sort.Search(p.items, func(k int) bool { return p.size(k) > left }) - 1
		}
		if fit >= 0 {
			p.render(d, fit)
		}
	}
}

// addOmitted adds the number of omitted items and the place where they are listed.
func addOmitted(d *markdown.Document, hidden int, noun string) {
	if hidden > 0 {
		d.Para("… and ", markdown.Markup(words.Count(hidden, noun)), " more: ",
			markdown.Code("batchwright diff --format json"), " has all.")
	}
}

// addTitle adds the title and the totals, and the places of Terraform's state if they differ.
func addTitle(d *markdown.Document, r *Review) {
	title := markdown.Markup("Review")
	if r.Platform != "" {
		title += " of " + codeMarkup(r.Platform)
	}
	d.Heading(3, title)
	sides := codeMarkup(r.Before) + " → " + codeMarkup(r.After) + ": "
	totals := r.totalTexts()
	if len(totals) == 0 {
		d.Para(sides, "nothing changes.")
	} else {
		d.Para(sides, markdown.Markup(strings.Join(totals, "; ")), ".")
	}
	if r.Cost != nil {
		d.Para("**", markdown.Markup(r.Cost.String()), "**")
	}
	if r.StateTo != "" {
		alert := new(markdown.Document)
		alert.Para("**Terraform's state is elsewhere.** ", codeMarkup(r.StateFrom), " → ", codeMarkup(r.StateTo))
		alert.Para(moved)
		d.Caution(alert)
	}
}

// rehearsalsPart shows what changes in each rehearsal: the lines that matter most, and
// folded tables.
func rehearsalsPart(all []Rehearsal) part {
	return part{len(all), func(d *markdown.Document, n int) {
		for _, r := range all[:n] {
			var lines []markdown.Markup
			for _, line := range r.lines(rehearsalLines) {
				lines = append(lines, markdown.Text(line))
			}
			d.Para("**Rehearsal ", codeMarkup(r.Name), "**")
			d.List(lines...)
			if r.Change != nil {
				r.Change.FoldTables(d)
			}
		}
		addOmitted(d, len(all)-n, "rehearsal")
	}}
}
