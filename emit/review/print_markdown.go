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
	d := commentMarker(r.Platform) + "\n\n" + reviewTitle(r)
	if r.StateTo != "" {
		d += elsewhereText(r)
	}
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
	_, err := io.WriteString(w, d+fitParts(markdownLimit-len(d), parts))
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
	render func(n int) string // with the first n items, and the number of the others
}

// fitParts returns the parts of a comment, one after the other, with as many of their
// items as fit. A part may use its share of the limit, and what the other parts leave.
func fitParts(limit int, parts []part) string {
	parts = slices.DeleteFunc(parts, func(p part) bool { return p.items == 0 })
	wanted := make([]int, len(parts))
	for i, p := range parts {
		wanted[i] = len(p.render(p.items))
	}
	var b strings.Builder
	for i, p := range parts {
		left := limit - b.Len()
		share := left / (len(parts) - i)
		for _, size := range wanted[i+1:] {
			left -= min(size, share)
		}
		b.WriteString(longestFitting(left, p))
	}
	return b.String()
}

// longestFitting returns a part with as many items as fit. If not even the remark with
// the number of omitted items fits, it returns "".
func longestFitting(limit int, p part) string {
	if all := p.render(p.items); len(all) <= limit {
		return all
	}
	fit := sort.Search(p.items, func(k int) bool { return len(p.render(k)) > limit }) - 1
	if fit < 0 {
		return ""
	}
	return p.render(fit)
}

// addOmitted adds the number of omitted items and the place where they are listed.
func addOmitted(d *markdown.Document, hidden int, noun string) {
	if hidden > 0 {
		d.Para("… and ", markdown.Markup(words.Count(hidden, noun)), " more: ",
			markdown.Code("batchwright diff --format json"), " has all.")
	}
}

func reviewTitle(r *Review) string {
	d := new(markdown.Document)
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
	return string(d.Bytes())
}

// rehearsalsPart shows what changes in each rehearsal: the lines that matter most, and
// folded tables.
func rehearsalsPart(all []Rehearsal) part {
	return part{len(all), func(n int) string {
		d := new(markdown.Document)
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
		return "\n" + string(d.Bytes())
	}}
}

func elsewhereText(r *Review) string {
	d := new(markdown.Document)
	d.Para("**Terraform's state is elsewhere.** ", codeMarkup(r.StateFrom), " → ", codeMarkup(r.StateTo))
	d.Para(moved)
	return cautionBlock(d)
}

// cautionBlock returns a document as an alert of the kind CAUTION. Source: GitHub
// documentation, "Basic writing and formatting syntax", Alerts; GitLab
// documentation, "GitLab Flavored Markdown", Alerts.
func cautionBlock(d *markdown.Document) string {
	var b strings.Builder
	b.WriteString("\n> [!CAUTION]\n")
	for line := range strings.Lines(string(d.Bytes())) {
		b.WriteString(strings.TrimRight("> "+line, " \n") + "\n")
	}
	return b.String()
}

// foldBlock returns a document as a block that the reader can open; "" for an empty
// document. The title and the text after it are batchwright's own words.
func foldBlock(title, after string, d *markdown.Document) string {
	body := string(d.Bytes())
	if body == "" {
		return ""
	}
	return foldHTML("<b>"+title+"</b>"+after, body)
}

// foldHTML returns Markdown as a block that the reader can open. Empty lines end the
// HTML blocks, so that the body is read as Markdown.
func foldHTML(title, body string) string {
	return "\n<details><summary>" + title + "</summary>\n\n" + body + "\n</details>\n"
}
