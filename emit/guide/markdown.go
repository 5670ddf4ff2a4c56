package guide

import "github.com/batchwright/batchwright/emit/markdown"

// Short names for package markdown, which the whole guide uses.
type (
	document = markdown.Document
	markup   = markdown.Markup
)

func text(s string) markup        { return markdown.Text(s) }
func code(s string) markup        { return markdown.Code(s) }
func codes(names []string) markup { return markdown.Codes(names) }
func file(path string) markup     { return markdown.File(path) }
