package review

import (
	"fmt"
	"html"
	"io"
	"sort"
	"strings"
	"unicode"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/markdown"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/objects"
	"github.com/batchwright/batchwright/emit/review/summary"
)

// A comment on GitHub has at most 65,536 characters, and the program that posts it
// may add some. The limit is safe because it counts bytes. Source: GitHub's answer
// to longer comments, "body is too long (maximum is 65536 characters)".
const markdownLimit = 59_000

// The size up to which each part may fill a comment, including the parts before it.
// The most important part comes first, and no part can use all the space.
const (
	markdownReplacements = 20_000
	markdownSummary      = 40_000
)

const (
	markdownWorkloads = 10  // of a replacement
	markdownFields    = 20  // of an object
	markdownAlike     = 10  // objects with the same changes as another
	markdownValue     = 200 // characters of a name or value
)

// Markdown writes a review for a comment on a pull request, as GitHub and GitLab
// read it: an alert for resources that must be replaced, a table of the summary, and
// the objects by file, folded. The comment has less than 60,000 characters. A list
// that does not fit ends with the number of omitted items.
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
	d += longestFitting(markdownReplacements-len(d), len(r.Replacements), func(n int) string {
		return alertBlock(r.toReplace(), r.Replacements[:n], len(r.Replacements)-n, r.replacedResources())
	})
	d += longestFitting(markdownReplacements-len(d), len(r.Removals), func(n int) string {
		return alertBlock(r.toRemove(), r.Removals[:n], len(r.Removals)-n, nil)
	})
	d += longestFitting(markdownSummary-len(d), len(r.Summary),
		func(n int) string { return summaryTable(r.Summary, n) })
	groups := r.changedGroups()
	d += longestFitting(markdownLimit-len(d), len(groups), func(n int) string { return detailBlocks(groups, n) })
	_, err := io.WriteString(w, d)
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

// longestFitting returns as many of n items as fit. If not even the remark with the
// number of omitted items fits, it returns "".
func longestFitting(limit, n int, render func(n int) string) string {
	if n == 0 {
		return ""
	}
	if all := render(n); len(all) <= limit {
		return all
	}
	fit := sort.Search(n, func(k int) bool { return len(render(k)) > limit }) - 1
	if fit < 0 {
		return ""
	}
	return render(fit)
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

func elsewhereText(r *Review) string {
	d := new(markdown.Document)
	d.Para("**Terraform's state is elsewhere.** ", codeMarkup(r.StateFrom), " → ", codeMarkup(r.StateTo))
	d.Para(moved)
	return cautionBlock(d)
}

// alertBlock returns a block that stands out and lists resources. hidden is the
// number of omitted resources.
func alertBlock(title string, all []objects.Replacement, hidden int, replaced replaced) string {
	d := new(markdown.Document)
	d.Para("**", markdown.Markup(title), ".**")
	var items []markdown.Markup
	for _, x := range all {
		item := codeMarkup(x.Address) + " (" + codeMarkup(fmt.Sprintf("%s:%d", x.File, x.Line)) + ")"
		for i, f := range x.Because {
			if i > 0 {
				item += ","
			}
			if replaced.refersReplaced(f) {
				item += " because " + codeMarkup(f.Path) + " refers to " + codeMarkup(f.To)
			} else {
				item += " because " + codeMarkup(f.Path) + ": " + presentValue(f.From) + " → " + presentValue(f.To)
			}
		}
		if x.Nodes > 0 {
			item += "; up to " + markdown.Markup(words.Count(x.Nodes, "node"))
		}
		if len(x.Workloads) > 0 {
			names := make([]markdown.Markup, len(x.Workloads))
			for i, name := range x.Workloads {
				names[i] = codeMarkup(name)
			}
			item += "; workloads " + words.First(names, markdownWorkloads)
		}
		if x.Guard != "" {
			item += "; " + proseMarkup(refusalReason(x))
		}
		items = append(items, item)
	}
	if len(items) > 0 {
		d.List(items...)
	}
	addOmitted(d, hidden, "resource")
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

func summaryTable(lines []summary.Line, n int) string {
	d := new(markdown.Document)
	rows := make([][]markdown.Markup, n)
	for i, l := range lines[:n] {
		what := proseMarkup(l.Subject)
		if l.What != "" {
			what += ": " + proseMarkup(l.What)
		}
		rows[i] = []markdown.Markup{
			markdown.Markup(l.Topic), markdown.Markup(l.Op), what, codeMarkup(l.From), codeMarkup(l.To),
			proseMarkup(l.Note),
		}
	}
	d.Table([]markdown.Markup{"Topic", "", "What", "From", "To", "Note"}, rows)
	addOmitted(d, len(lines)-n, "line")
	return "\n" + string(d.Bytes())
}

// detailBlocks returns the first n groups of objects by file. Each file is a block
// that the reader can open. Its changes are a diff, which GitHub and GitLab colour.
func detailBlocks(groups []group, n int) string {
	var b strings.Builder
	whole := byFile(groups)
	for i, f := range byFile(groups[:n]) {
		lines := f.diffLines()
		if hidden := countObjects(whole[i].groups) - countObjects(f.groups); hidden > 0 {
			lines = append(lines, fmt.Sprintf("… %d more", hidden))
		}
		d := new(markdown.Document)
		d.Code("diff", lines...)
		// Empty lines end the HTML blocks, so that the code block is read as
		// Markdown.
		name := words.OneLine(words.Truncate(f.name, markdownValue))
		b.WriteString("\n<details><summary><code>" + html.EscapeString(name) +
			"</code>: " +
			whole[i].tallyOperations() + "</summary>\n\n" + string(d.Bytes()) + "\n</details>\n")
	}
	d := new(markdown.Document)
	addOmitted(d, countObjects(groups[n:]), "object")
	if d := string(d.Bytes()); d != "" {
		b.WriteString("\n" + d)
	}
	return b.String()
}

// diffLines returns a file's objects as lines of a diff.
func (f file) diffLines() []string {
	var out []string
	for _, o := range f.groups {
		name := words.Truncate(o.Kind+" "+o.Name, markdownValue)
		if o.Op != delta.Changed {
			out = append(out, operationSign(o.Op)+" "+name)
			continue
		}
		out = append(out, "@@ "+name+" @@")
		fields, hidden := firstItems(o.Fields, markdownFields)
		for _, f := range fields {
			path := words.Truncate(f.Path, markdownValue) + ": "
			if f.From != "" {
				out = append(out, "- "+path+words.Truncate(f.From, markdownValue))
			}
			if f.To != "" {
				out = append(out, "+ "+path+words.Truncate(f.To, markdownValue))
			}
		}
		if hidden > 0 {
			out = append(out, fmt.Sprintf("  … %d more", hidden))
		}
		if s := o.otherNames(markdownAlike); s != "" {
			out = append(out, "  "+words.Truncate(s, 2*markdownValue))
		}
	}
	return out
}

// codeMarkup returns a name or a value as code; "" for "". In code neither GitHub nor
// GitLab looks for names of people and issues.
func codeMarkup(s string) markdown.Markup { return markdown.Code(words.Truncate(s, markdownValue)) }

func presentValue(s string) markdown.Markup {
	if s == "" {
		return absent
	}
	return codeMarkup(s)
}

// plainWord reports whether GitHub and GitLab read a word as plain text, whatever is
// next to it: not as markup, a link or a reference. Plain words are numbers, and
// letters that are joined by dashes and apostrophes.
func plainWord(s string) bool {
	if s != "" && strings.Trim(s, "0123456789") == "" {
		return true
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(s, "'", "-"), "-") {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool { return !unicode.IsLetter(r) }) {
			return false
		}
	}
	return true
}

// proseMarkup returns a sentence that may contain names and values. Everything except
// plain words and separators becomes code.
func proseMarkup(s string) markdown.Markup {
	words := strings.Fields(words.OneLine(words.Truncate(s, 2*markdownValue)))
	out := make([]string, len(words))
	for i, word := range words {
		if word == arrow {
			out[i] = "→"
			continue
		}
		core := strings.TrimRight(word, ".,:;)")
		after := word[len(core):]
		core = strings.TrimLeft(core, "(")
		before := word[:len(word)-len(after)-len(core)]
		if name := strings.TrimSuffix(strings.TrimPrefix(core, `"`), `"`); len(name)+2 == len(core) && name != "" {
			core = string(markdown.Code(name))
		} else if core != "" && !plainWord(core) {
			core = string(markdown.Code(core))
		}
		out[i] = before + core + after
	}
	return markdown.Markup(strings.Join(out, " "))
}
