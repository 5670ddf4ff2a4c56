package review

import (
	"strings"
	"unicode"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/markdown"
)

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
// next to it: not as markup, a link or a reference. Plain words are numbers, also with a sign
// or separated thousands, ranges of numbers, and letters that are joined by dashes and apostrophes.
func plainWord(s string) bool {
	if s != "" && strings.Trim(s, "+0123456789.,-") == "" {
		amount := s
		if s[0] == '+' || s[0] == '-' {
			amount = s[1:]
		}
		return strings.Trim(amount, "+.,-") == amount && amount != ""
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(s, "'", "-"), "-") {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool { return !unicode.IsLetter(r) }) {
			return false
		}
	}
	return true
}

// proseMarkup returns a sentence that may contain names and values, shortened to most
// characters. Everything except plain words and separators becomes code.
func proseMarkup(s string, most int) markdown.Markup {
	fields := strings.Fields(words.OneLine(words.Truncate(s, most)))
	out := make([]string, len(fields))
	for i, word := range fields {
		switch {
		case word == arrow:
			out[i] = "→"
			continue
		case word == "+" && i > 0: // at the start of a line it would begin a list
			out[i] = word
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
