package guide

import "github.com/batchwright/batchwright/emit/markdown"

// Short names for package markdown, which the whole guide uses.
type markup = markdown.Markup

func escapeText(s string) markup     { return markdown.Text(s) }
func linkedText(s string) markup     { return markdown.LinkedText(s) }
func codeSpan(s string) markup       { return markdown.Code(s) }
func codeList(names []string) markup { return markdown.Codes(names) }
