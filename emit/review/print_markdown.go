package review

import (
	"io"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

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
	markdownOpen      = 12  // lines of a file's changes that are not folded
)

// Markdown writes a review for a comment on a pull request, as GitHub and GitLab
// read it. A headline says in one sentence what a reviewer decides on. A box follows with the
// resources that must be replaced or left the configuration, the protections that are removed,
// and the findings that the change brings; then what happens to jobs, and tables of what
// changes for teams, access and capacity. What does not fit on a screen is folded, and so is
// what follows from these changes: workloads, alerts, totals, quota of Google Cloud, and the
// changed objects.
//
// The comment has less than 60,000 characters. If a review needs more, every part gets
// its share, and a list that does not fit ends with the number of omitted items.
//
// The first line is invisible and names the platform. With it a later run finds the
// comment to replace.
//
// Text from a blueprint is never more than text: it cannot become markup, a link or
// a mention.
func Markdown(w io.Writer, r *Review) error {
	d := new(markdown.Document)
	d.Para(markdown.Markup(commentMarker(r.Platform)))
	addTitle(d, r)
	parts := []part{cautionPart(r)}
	parts = append(parts, summaryParts(r)...)
	parts = append(parts, affectedPart(r), objectsPart(r))
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
	items int
	// height returns how high item i is on a screen, in pixels. It is nil for a part that is
	// folded as a whole.
	height func(i int) int
	// share is the most pixels that the items may take before the others are folded; the first
	// is never folded. It is 0 for all that is left of the screen.
	share int
	// render adds the first n items, of which the first open are not folded, and the number of
	// the others.
	render func(d *markdown.Document, open, n int)
	open   int // items that are not folded, set by openParts
}

// The heights of a comment on GitHub in pixels: conformance/pictures measures that a screen is
// not exceeded.
const (
	screenHeight = 620 // for the parts, below the headline
	titleHeight  = 60  // of a part
	lineHeight   = 21
	lineLetters  = 95 // in a paragraph
	cellLetters  = 52 // in the cell of a table with two columns
	thirdLetters = 38 // in the first cell of a table with three columns
	valueLetters = 26 // in the others
	rowHeight    = 13 // around the lines of a row
	slack        = 60 // of the last item of a part
)

// linesOf returns how many lines a text takes with so many letters in each. A lineBreak in it
// starts another one.
func linesOf(s markdown.Markup, letters int) (n int) {
	for line := range strings.SplitSeq(string(s), lineBreak) {
		n += 1 + utf8.RuneCountInString(line)/letters
	}
	return n
}

// openParts decides how many items of each part are not folded, so that a reader sees them on
// one screen.
func openParts(parts []part) {
	left := screenHeight
	for i := range parts {
		p := &parts[i]
		if p.height == nil || p.items == 0 {
			continue
		}
		room := left - titleHeight
		if p.share > 0 {
			room = min(room, p.share)
		}
		used := 0
		for p.open < p.items && (used+p.height(p.open) <= room || p.open == 0 && p.share > 0) {
			used += p.height(p.open)
			p.open++
		}
		if p.open > 0 && p.open == p.items-1 && p.height(p.open) <= slack { // a fold would be as high
			used += p.height(p.open)
			p.open++
		}
		if p.open > 0 {
			left -= titleHeight + used
		}
		if p.open < p.items && p.share == 0 {
			left = 0 // what comes later matters less
		}
	}
}

// size returns the length of a part with the first n items, with the empty line before it.
func (p part) size(n int) int {
	d := new(markdown.Document)
	p.render(d, min(p.open, n), n)
	return 1 + len(d.Bytes())
}

// addParts adds the parts of a comment, one after the other, with as many of their items as
// fit. A part may use its share of what is left, and what the other parts leave. If not even
// the remark with the number of omitted items fits, the part is omitted.
func addParts(d *markdown.Document, limit int, parts []part) {
	parts = slices.DeleteFunc(parts, func(p part) bool { return p.items == 0 })
	openParts(parts)
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
			p.render(d, min(p.open, fit), fit)
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

// guideAddress is the page that explains the comment to people who do not know CUE.
const guideAddress = "https://github.com/batchwright/batchwright/blob/main/docs/reading-a-review.md"

// addTitle adds the title, the headline, what is compared, and the places of Terraform's state
// if they differ.
func addTitle(d *markdown.Document, r *Review) {
	title := markdown.Markup("Review")
	if r.Platform != "" {
		title += " of " + codeMarkup(r.Platform)
	}
	d.Heading(3, title)
	d.Para("**", capitalMarkup(proseMarkup(r.Headline(), 4*markdownValue)), ".**")
	sides := codeMarkup(r.Before) + " → " + codeMarkup(r.After) + "."
	if base := r.Base.sentences(r.Before); base != "" {
		sides += " " + proseMarkup(base, 4*markdownValue)
	}
	d.Para(sides, " [How to read this](", guideAddress, ")")
	if r.Cost != nil && r.Cost.Differs() {
		d.Para(markdown.Markup(r.Cost.String()))
	}
	if r.StateTo != "" {
		alert := new(markdown.Document)
		alert.Para("**Terraform's state is elsewhere.** ", codeMarkup(r.StateFrom), " → ", codeMarkup(r.StateTo))
		alert.Para(moved)
		d.Caution(alert)
	}
}

// capitalMarkup returns a sentence that begins with a capital letter, unless it begins with code.
func capitalMarkup(m markdown.Markup) markdown.Markup {
	first, size := utf8.DecodeRuneInString(string(m))
	return markdown.Markup(string(unicode.ToUpper(first))) + m[size:]
}

// rehearsalsPart shows what changes in each rehearsal: the lines that matter most, and
// folded tables.
func rehearsalsPart(all []Rehearsal) part {
	height := func(int) int { return titleHeight + rehearsalLines*lineHeight }
	return part{items: len(all), height: height, render: func(d *markdown.Document, open, n int) {
		folded := new(markdown.Document)
		for i, r := range all[:n] {
			to := d
			if i >= open {
				to = folded
			}
			var lines []markdown.Markup
			for _, line := range r.lines(rehearsalLines) {
				lines = append(lines, markdown.Text(line))
			}
			to.Para("**Rehearsal ", codeMarkup(r.Name), "**")
			to.List(lines...)
			if r.Change != nil {
				r.Change.FoldTables(to)
			}
		}
		d.Fold("<b>"+words.Count(len(all)-open, "more rehearsal")+"</b>", folded)
		addOmitted(d, len(all)-n, "rehearsal")
	}}
}
