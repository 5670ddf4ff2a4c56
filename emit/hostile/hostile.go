// Package hostile is for the tests of emitters: texts that mean something to
// one format or another, and the comparison that tells whether one was taken
// for more than text.
//
// A test renders its plan twice, with Mark in every text that may hold
// anything, and with a hostile text in its place. Read back, the second folder
// must be the first with that text in place of Mark, and nothing else.
package hostile

import (
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// Mark is a harmless text that stands nowhere by itself.
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

// Seed adds the texts to the corpus of a fuzz target of one string.
func Seed(f *testing.F) {
	for _, s := range Texts() {
		f.Add(s)
	}
}

// Want skips a text that no plan holds, because blueprints are UTF-8, and one
// that cannot be told from what is not there. It also skips one with Mark in
// it, and those that hold one of other texts.
func Want(t *testing.T, s string, without ...string) {
	t.Helper()
	if s == "" || !utf8.ValidString(s) || strings.Contains(s, Mark) {
		t.Skip()
	}
	for _, w := range without {
		if strings.Contains(s, w) {
			t.Skip()
		}
	}
}

// WantPrintable skips a text with characters that are not printed, line ends
// and tabs apart: sigs.k8s.io/yaml cannot marshal all of them. It is for what
// has names only.
func WantPrintable(t *testing.T, s string) {
	t.Helper()
	for _, r := range s {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			t.Skip()
		}
	}
}

// Compare reports how what was read of the folder with the hostile text s
// differs from what it should be: harmless, with s in place of Mark. Both
// consist of maps by string, slices of any, strings and other scalars. Edit is
// what the format does to a text on purpose; nil is nothing.
func Compare(t *testing.T, s string, harmless, got any, edit func(string) string) {
	t.Helper()
	if edit == nil {
		edit = func(s string) string { return s }
	}
	want := replace(harmless, s, edit)
	if !reflect.DeepEqual(want, got) { // far faster than a difference
		t.Errorf("%q is more, or less, than text:\n%s", s, cmp.Diff(want, got))
	}
}

// Documents reads the documents of a YAML file.
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

func replace(tree any, s string, edit func(string) string) any {
	switch tree := tree.(type) {
	case string:
		if strings.Contains(tree, Mark) {
			return edit(strings.ReplaceAll(tree, Mark, s))
		}
		return tree
	case []any:
		out := make([]any, len(tree))
		for i, v := range tree {
			out[i] = replace(v, s, edit)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(tree))
		for k, v := range tree {
			out[replace(k, s, edit).(string)] = replace(v, s, edit)
		}
		return out
	default:
		return tree
	}
}
