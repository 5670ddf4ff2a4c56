// Package hostile helps to test emitters: it has texts that are special in one
// format or another, and a comparison that shows whether a format took one of them
// for more than text.
//
// A test renders its plan twice: first with Mark in every free text, then with a
// hostile text in its place. Parsed again, the second folder must equal the first
// with the hostile text in place of Mark.
package hostile

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// Mark is a harmless text that occurs nowhere else in a folder.
const Mark = "harmless"

// Texts returns hostile texts, all valid UTF-8.
func Texts() []string {
	return []string{
		" ", "  two  ", "\t", "\n", "a\nb\n\n", "\n a\n  b", "line\r\nline", "a\rb", "trailing ", "trailing\n ",
		"${x}", "$${x}", "%{ if true }x%{ endif }", "%%{", "$", "$$", "$$$", "$PROJECT_ID", "${_SUBSTITUTION}",
		"$(MASTER_ADDR)", "$(id)", "`id`",
		`"`, `'`, `\`, `\\`, `\n`, `\"`, `'\''`, `"""`, "'''", "```", "~~~",
		"---", "...", "--- a", "- a", "a: b", "a:", ": ", "# a", "a # b", "#", "key: |\n  x", "&a", "*a", "!!int 1",
		"!a", "<<", "?", "@a", "%YAML 1.1", "[a]", "{a: b}", "{", "}", "[", "]", ",",
		"null", "~", "true", "yes", "on", "NO", "1", "0x1f", "017", "0o17", "1e3", "1_000", ".inf", ".nan", "12:30:45",
		"2001-01-01", "=",
		"{{ x }}", "{{x}}", "{{ .Values.x }}", "{{", "}}", "<EOT\nEOT", "<<EOT\nx\nEOT\n",
		"\" }\nresource \"x\" \"y\" {", "*/", "/*", "//",
		"| a | b |", "|", "<img src=x onerror=a()>", "<!-- a", "-->", "&amp;", "&#35;", "[a](http://example.com)",
		"![a](b)", "http://example.com", "www.example.com", "user@example.com", "**a**", "__a__", "_a_", "~~a~~",
		`a"] --> b`, "end", "@team", "$__interval", "$cluster",
		"\x00", "\x01", "\x07", "\x1b[31m", "\x7f", "\u0080", "\u0085", "\u00a0", "\u00ad", "\u200b", "\u2028",
		"\u2029", "\u202e", "\u2066", "\ufeff", "\ufffd", "\uffff", "\U0001f600", "\U000e0001", "é", "e\u0301",
		"a;b", "a&&b", "a|b", "a>b", "!x", "~/x", "*", "?x", "-rf", "--flag", "=x", "'a'b'",
		strings.Repeat("long ", 100), strings.Repeat("x", 300), strings.Repeat(" ", 200) + "x",
	}
}

// Seed adds the texts to the corpus of a fuzz target of one string. With -short it skips the
// target, which prints a plan for each text.
func Seed(f *testing.F) {
	f.Helper()
	if testing.Short() {
		f.Skip("prints a plan for each text of the corpus")
	}
	for _, s := range Texts() {
		f.Add(s)
	}
}

// Want skips the test for a text that no plan holds, because blueprints are UTF-8,
// and for the empty text, which cannot be told from a missing one. It also skips
// texts that contain Mark or one of the texts in without.
func Want(t *testing.T, s string, without ...string) {
	t.Helper()
	holds := func(text string) bool { return strings.Contains(s, text) }
	if s == "" || !utf8.ValidString(s) || holds(Mark) || slices.ContainsFunc(without, holds) {
		t.Skip()
	}
}

// WantPrintable skips the test for a text with unprintable characters other than
// line ends and tabs, because sigs.k8s.io/yaml cannot marshal all of them. Use it
// only for formats that hold nothing except names.
func WantPrintable(t *testing.T, s string) {
	t.Helper()
	if strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }) {
		t.Skip()
	}
}

// Compare reports a test error if the parsed folder got, which was rendered with the
// hostile text s, differs from harmless with s in place of Mark. Both values consist
// of maps with string keys, slices of any, strings and other scalars. edit returns a
// text as the format changes it on purpose; nil means that the format changes no
// text.
func Compare(t *testing.T, s string, harmless, got any, edit func(string) string) {
	t.Helper()
	if edit == nil {
		edit = func(s string) string { return s }
	}
	want := replaceText(harmless, s, edit)
	if !reflect.DeepEqual(want, got) { // far faster than to print a difference
		t.Errorf("%q is more, or less, than text:\n%s", s, cmp.Diff(want, got))
	}
}

// Documents parses the documents of a YAML file.
func Documents(t testing.TB, content string) []any {
	t.Helper()
	var out []any
	for more := true; more; {
		var document string
		document, content, more = strings.Cut(content, "\n---\n")
		if more {
			document += "\n"
		}
		var v any
		if err := yaml.UnmarshalStrict([]byte(document), &v); err != nil {
			t.Fatalf("%v\n%s", err, document)
		}
		out = append(out, v)
	}
	return out
}

func replaceText(tree any, s string, edit func(string) string) any {
	switch tree := tree.(type) {
	case string:
		if strings.Contains(tree, Mark) {
			return edit(strings.ReplaceAll(tree, Mark, s))
		}
		return tree
	case []any:
		out := make([]any, len(tree))
		for i, v := range tree {
			out[i] = replaceText(v, s, edit)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(tree))
		for k, v := range tree {
			out[replaceText(k, s, edit).(string)] = replaceText(v, s, edit)
		}
		return out
	default:
		return tree
	}
}
