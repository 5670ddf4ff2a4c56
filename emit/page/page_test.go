package page

import (
	"strings"
	"testing"
	"testing/fstest"
	"text/template"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/emit/hostile"
	"github.com/batchwright/batchwright/emit/markdown"
)

// render returns a page with the given source.
func render(t *testing.T, source string, functions template.FuncMap, view any) string {
	t.Helper()
	set, err := Parse(fstest.MapFS{"page.md": {Data: []byte(source)}}, functions, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	out, err := set.Render("page.md", view)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// element is an element of a list in a view.
type element struct {
	Name string
	Part part
}

type part struct{ Number int }

// Odd reports whether the number of the part is odd.
func (p part) Odd() bool { return p.Number%2 == 1 }

func TestRender(t *testing.T) {
	type view struct {
		On         bool
		Name       string
		Number     int
		Names      []string
		Parts      []markdown.Markup
		Commands   []Command
		NoCommands []Command
		Elements   []element
	}
	v := view{true, "a*b", 3, []string{"x", "y"}, []markdown.Markup{"x", "`y`", "z"}, []Command{"run 'a b'", "stop"},
		nil,
		[]element{{"a", part{1}}, {"b", part{2}}, {"c", part{3}}}}
	tests := map[string]struct{ source, want string }{
		"paragraph of lines": {"One.\nTwo.\n\n\nThree\n, four.\n", "One. Two.\n\nThree, four.\n"},
		"condition in a paragraph": {
			"One.\n{{if .On}}\nTwo.\n{{else}}\nThree.\n{{end}}\nFour.", "One. Two. Four.\n"},
		"paragraph that begins with a condition": {
			"A.\n\n{{if not .On}}\nTwo.\n{{else}}\nThree.\n{{end}}\nFour.", "A.\n\nThree. Four.\n"},
		"empty paragraph":    {"A.\n\n{{if not .On}}\nTwo.\n{{end}}\n\nB.", "A.\n\nB.\n"},
		"conditional blocks": {"{{if .On}}\n## A\n\n- a\n\nB.\n{{end}}\n", "## A\n\n- a\n\nB.\n"},
		"values": {"{{.Name}}, {{code .Name \"-\" .Number}} and {{codes .Names}}.",
			"a\\*b, `a*b-3` and `x`, `y`.\n"},
		"counts":  {"{{count .Names \"team\"}}, {{count .Number \"node\"}}.", "2 teams, 3 nodes.\n"},
		"command": {"Run {{arg .Name}}.", "Run `'a*b'`.\n"},
		"code": {"```sh\nget --name={{.Name}} -n {{.Number}}\n{{if .On}}\n{{.Commands}}\n{{end}}\n\n  end\n```",
			"```sh\nget --name='a*b' -n 3\nrun 'a b'\nstop\n\n  end\n```\n"},
		"code without lines": {"A.\n\n```sh\n{{if not .On}}\nx\n{{end}}\n```\nB.", "A.\n\nB.\n"},
		"table": {"| A | B |\n| --- | --- |\n{{range .Names}}\n| {{.}} | {{code .}}|\n{{end}}\n",
			"| A | B |\n| --- | --- |\n| x | `x` |\n| y | `y` |\n"},
		"table without rows": {"| A |\n{{if not .On}}\n| a |\n{{end}}\n\nB.", "B.\n"},
		"cells by condition": {"| A {{if .On}}| B {{end}}| C |\n| 1 {{if .On}}| 2 {{end}}| 3 |",
			"| A | B | C |\n| ---: | ---: | ---: |\n| 1 | 2 | 3 |\n"},
		"steps": {"1. One\n{{if .On}}\n1. Two,\n   and more\n{{end}}\n1. Three",
			"1. One\n2. Two, and more\n3. Three\n"},
		"lists": {"- a\n- b\n\n- c", "- a\n- b\n\n- c\n"},
		"box":   {"> [!WARNING]\n> One.\n> Two.\n\nA.", "> [!WARNING]\n> One. Two.\n\nA.\n"},
		"contents": {"# T\n\nA.\n\n[contents]\n\n## B\n\nb.\n\n## C d\n\nc.",
			"# T\n\nA.\n\n- [B](#b)\n- [C d](#c-d)\n\n## B\n\nb.\n\n## C d\n\nc.\n"},
		"phrase": {"{{define \"p\"}}\n{{if .On}}\none\n{{end}}\ntwo\n{{end}}\n\nA {{template \"p\" .}} B.",
			"A one two B.\n"},
		"definition of blocks": {"{{define \"p\"}}\n\nOne.\n\n- two\n{{end}}\n\nA.\n\n{{template \"p\" .}}\n\nB.",
			"A.\n\nOne.\n\n- two\n\nB.\n"},
		"console": {"{{console \"Logs\" .Name \"logs;a=\" (urlquery .Name)}}.",
			"[Logs](https://console.cloud.google.com/logs;a=a%2Ab?project=a%2Ab).\n"},
		"enumeration": {"{{enumerate .Parts}}.", "x, `y` and z.\n"},
		"punctuation": {"{{.Name}}\n{{if not .On}}\nA\n{{end}}\n{{if .On}}, b {{if not .On}}c{{end}}.{{end}}",
			"a\\*b, b.\n"},
		"paragraphs of a range": {"{{range .Names}}\n{{if $.On}}\nA {{.}}.\n{{end}}\n{{end}}\n\nB.",
			"A x.\n\nA y.\n\nB.\n"},
		"paragraph after other blocks": {"{{if not .On}}\n- A\n{{else}}\nB.\n{{end}}\n\n{{if .On}}\nC.\n\n{{end}}" +
			"\nD.",
			"B.\n\nC.\n\nD.\n"},
		"variable": {"A.\n{{$x := .Name}}\nB {{$x}}.\n\n```sh\n{{$y := arg .Name}}\nrun {{$y}}\n```",
			"A. B a\\*b.\n\n```sh\nrun 'a*b'\n```\n"},
		"enclosed blocks": {"{{range .Names}}{{.}} is.{{end}}\n\n{{if .On}}- a{{end}}\n{{if not .On}}- b{{end}}\n" +
			"{{range .Names}}- {{.}}{{end}}\n\n| A | B |\n{{range .Names}}{{if $.On}}| {{.}} | b |{{end}}{{end}}",
			"x is.\n\ny is.\n\n- a\n- x\n- y\n\n| A | B |\n| --- | --- |\n| x | b |\n| y | b |\n"},
		"no lines": {"```sh\na\n{{.NoCommands}}\n\nb\n```", "```sh\na\n\nb\n```\n"},
		"elements": {"{{codes (each (where .Elements \"Part.Odd\") \"Name\")}}, " +
			"not {{len (without .Elements \"Part.Odd\")}}, {{enumerate (spans (first 2 .Names))}}, " +
			"{{len (rest 1 .Names)}} {{len (rest 5 .Names)}}.",
			"`a`, `c`, not 1, `x` and `y`, 1 0.\n"},
		"number and noun": {"{{$n := len .Names}}\n{{$n}} {{plural $n \"is\" \"are\"}} {{plural 1 \"one\" \"many\"}}.",
			"2 are one.\n"},
		"phrase in code": {
			"{{define \"p\"}}get {{.Name}}{{end}}\n\n```sh\n{{template \"p\" .}}\n{{template \"p\" .}} -n\n```",
			"```sh\nget 'a*b'\nget 'a*b' -n\n```\n"},
		"condition in one line": {
			"A.\n\n{{if .On}}One{{if .Names}} of two{{end}}.{{else}}Two.{{end}}\n{{if .On}}, three.{{end}}\n\n" +
				"{{range .Names}}- {{.}}{{end}}\n\n| A |\n{{range .Names}}| {{.}} |{{end}}\n" +
				"{{if not .On}}| no |{{end}}\n\n```sh\n{{if not .On}}  no{{end}}\n{{range .Names}}  {{.}}{{end}}\n```",
			"A.\n\nOne of two., three.\n\n- x\n- y\n\n| A |\n| --- |\n| x |\n| y |\n\n```sh\n  x\n  y\n```\n"},
		"conditions in one line": {"A.\n\n{{if .On}}B{{end}}{{if not .On}}C{{end}}{{/* no */}}.", "A.\n\nB.\n"},
		"several conditions":     {"A{{if and .On (not .Names)}} B{{end}}.", "A.\n"},
		"variables": {"| A |\n{{$name := .Name}}\n{{range .Names}}| {{$name}}{{.}} |{{end}}\n\n{{$n := 1}}\n{{$n}}",
			"| A |\n| --- |\n| a\\*bx |\n| a\\*by |\n\n1\n"},
		"comment": {"A.\n{{/* why */}}\nB.", "A. B.\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, render(t, test.source, nil, v)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRenderText checks that a page of plain text keeps its lines, and shows its values as
// they are.
func TestRenderText(t *testing.T) {
	const source = "Folder of {{.}}\n\n{{if .}}\n  - {{.}}\n{{else}}\nNothing.\n{{end}}\n{{template \"p\"}}.\n"
	files := fstest.MapFS{"a.txt": {Data: []byte(source)}, "b.md": {Data: []byte("{{define \"p\"}}`End`{{end}}")}}
	set, err := Parse(files, nil, "*")
	if err != nil {
		t.Fatal(err)
	}
	got, err := set.Render("a.txt", "a*b\nc")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("Folder of a*b c\n\n  - a*b c\n`End`.\n", string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestParseRejects(t *testing.T) {
	for _, source := range []string{"`a-{{.Name}}`", "{{.Name", "{{unknown .}}"} {
		if _, err := Parse(fstest.MapFS{"page.md": {Data: []byte(source)}}, nil, "*.md"); err == nil {
			t.Errorf("no error for %q", source)
		}
	}
	set, err := Parse(fstest.MapFS{"page.md": {Data: []byte("{{.A}}")}}, nil, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, view := range []any{struct{ A bool }{}, struct{ B int }{}, struct{ A []int }{}} {
		if out, err := set.Render("page.md", view); err == nil {
			t.Errorf("%+v: no error, but %q", view, out)
		}
	}
	if _, err := where([]element{{}}, "Part.Even"); err == nil {
		t.Error("no error for an unknown condition")
	}
}

// FuzzValues checks that no value changes the structure of a page: the page with another
// value has the same blocks.
func FuzzValues(f *testing.F) {
	hostile.Seed(f)
	const source = "# {{.}}\n\n[contents]\n\n## Head\n\nA {{.}}\n{{.}}\n, {{code .}}.\n\n- {{.}}\n\n| A | B |\n" +
		"| {{.}} | {{code .}} |\n\n```sh\nrun {{.}}\n```\n\nEnd."
	f.Fuzz(func(t *testing.T, s string) {
		hostile.Want(t, s)
		got, want := render(t, source, nil, s), render(t, source, nil, "x")
		if a, b := strings.Count(got, "\n"), strings.Count(want, "\n"); a != b {
			t.Errorf("%q makes %d lines of %d:\n%s", s, a, b, got)
		}
	})
}
