package guide

import "github.com/batchwright/batchwright/emit/markdown"

// Short names for package markdown, which the whole guide uses.
type (
	document = markdown.Document
	markup   = markdown.Markup
)

func escapeText(s string) markup     { return markdown.Text(s) }
func linkedText(s string) markup     { return markdown.LinkedText(s) }
func codeSpan(s string) markup       { return markdown.Code(s) }
func codeList(names []string) markup { return markdown.Codes(names) }
func fileLink(path string) markup    { return markdown.File(path) }

// linkHere returns a link to a heading of the same page, and linkTo a link to a
// heading of another page.
func linkHere(heading markup) markup            { return markdown.Section("", heading) }
func linkTo(page string, heading markup) markup { return markdown.Section(page, heading) }
