package diag

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/console"
)

// spanOf returns the span of the first occurrence of text in a source.
func spanOf(t *testing.T, src *Source, text string) Span {
	t.Helper()
	i := bytes.Index(src.Content, []byte(text))
	if i < 0 {
		t.Fatalf("%s does not hold %q", src.Name, text)
	}
	return Span{src, i, i + len(text)}
}

func renderText(t *testing.T, opt TextOptions, findings ...Finding) string {
	t.Helper()
	var l List
	for _, f := range findings {
		l.Add(f)
	}
	var b strings.Builder
	if err := WriteText(&b, &l, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func newSource(name, content string) *Source { return &Source{Name: name, Content: []byte(content)} }

func TestWriteText(t *testing.T) {
	topology := newSource("blueprints/train.cue", "package train\n\nv5p: {\n    topology: \"2x2x3\"\n}\n")
	tabs := newSource("a.cue", "a: {\n\tb:\t\"ä\" // x\n}\n")
	other := newSource("b.cue", strings.Repeat("\n", 99)+"capacity: \"l4\": nodes: 4\r\n")
	wide := newSource("c.cue", "名前: \"日本\"\ne\u0301: 1\n")
	multi := newSource("d.cue", "a: {\n\tb: 1\n}\n")

	tests := map[string]struct {
		finding Finding
		want    string
	}{
		"everything": {
			Finding{
				Code: "E0104", Severity: Error,
				Message: `topology "2x2x3" is not available for v5p`,
				Span:    spanOf(t, topology, `"2x2x3"`),
				Label:   `want one of "2x2x1", "2x2x2", "2x2x4"`,
				Help:    "use \"2x2x4\" for 16 chips\nor \"2x2x1\" for 4",
				Edits:   []Edit{{spanOf(t, topology, `"2x2x3"`), `"2x2x4"`}},
			},
			`blueprints/train.cue:4:15: error[E0104]: topology "2x2x3" is not available for v5p
  |
4 |     topology: "2x2x3"
  |               ^^^^^^^ want one of "2x2x1", "2x2x2", "2x2x4"
  = help: use "2x2x4" for 16 chips
          or "2x2x1" for 4

1 error
`,
		},
		"nowhere": {
			Finding{Severity: Warning, Message: "no input", Label: "beside nothing", Help: "give a path"},
			`warning: no input
  = note: beside nothing
  = help: give a path

1 warning
`,
		},
		"tabs, related and a common gutter": {
			Finding{
				Code: "W1", Severity: Warning, Message: "m",
				Span:    spanOf(t, tabs, `"ä"`),
				Related: []Related{{spanOf(t, other, `nodes: 4`), "the nodes are counted here"}, {Span{}, "nowhere"}},
				Edits:   []Edit{{Span{other, 99, 99}, "x: "}},
			},
			`a.cue:2:5: warning[W1]: m
    |
  2 |     b:    "ä" // x
    |           ^^^
    = edit: insert ` + "`x:`" + ` at b.cue:100:1
b.cue:100:17: note: the nodes are counted here
    |
100 | capacity: "l4": nodes: 4
    |                 ^^^^^^^^
note: nowhere

1 warning
`,
		},
		"wide characters": {
			Finding{Severity: Note, Message: "m", Span: spanOf(t, wide, `"日本"`), Label: "here"},
			`c.cue:1:5: note: m
  |
1 | 名前: "日本"
  |       ^^^^^^ here

1 note
`,
		},
		"combining characters": {
			Finding{Severity: Error, Message: "m", Span: spanOf(t, wide, "1\n")},
			"c.cue:2:5: error: m\n  |\n2 | e\u0301: 1\n  |    ^\n\n1 error\n",
		},
		"several lines": {
			Finding{
				Severity: Error, Message: "m", Span: spanOf(t, multi, "{\n\tb: 1\n}"),
				Edits: []Edit{{spanOf(t, multi, "{\n\tb: 1\n}"), ""}},
			},
			`d.cue:1:4: error: m
  |
1 | a: {
  |    ^
  = edit: delete ` + "`{…`" + `

1 error
`,
		},
		"a file as a whole": {
			Finding{Severity: Error, Message: "is empty", Span: Span{Source: newSource("x.cue", "")}, Help: "h"},
			"x.cue: error: is empty\n  = help: h\n\n1 error\n",
		},
		"end of file": {
			Finding{Severity: Error, Message: "m", Span: Span{multi, 13, 13}},
			"d.cue:4:1: error: m\n  |\n4 |\n  | ^\n\n1 error\n",
		},
		"beyond the content": {
			Finding{Severity: Error, Message: "m", Span: Span{multi, 400, 500}},
			"d.cue:4:1: error: m\n  |\n4 |\n  | ^\n\n1 error\n",
		},
		"hostile": {
			Finding{
				Code: "E\x1b[2J", Severity: Error,
				Message: "\x1b[31mred\x07\nnext\u202eline \xff",
				Span:    Span{newSource("\x1b]0;title\x07", "a: \x1b[1m\u009b\u202e\x00\x7f\xff\xfe // x"), 3, 7},
				Label:   "\r\x1b[A",
				Help:    "a\x1b[0m\n\x1b[0m",
			},
			`␛]0;title␇:1:4: error[E␛[2J]: ␛[31mred␇ next�line �
  |
1 | a: ␛[1m��␀␡�� // x
  |    ^^^^ ␍␛[A
  = help: a␛[0m
          ␛[0m

1 error
`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, renderText(t, TextOptions{}, test.finding)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestWriteTextColor(t *testing.T) {
	src := newSource("a.cue", "a: 1\n")
	got := renderText(t, TextOptions{Color: true},
		Finding{Code: "E1", Severity: Error, Message: "m", Span: spanOf(t, src, "1"), Help: "h"})
	want := "\x1b[1ma.cue:1:4:\x1b[0m \x1b[1;31merror[E1]\x1b[0m: \x1b[1mm\x1b[0m\n\x1b[1;34m  |\x1b[0m\n\x1b[1;34m1 " +
		"|\x1b[0m a: 1\n\x1b[1;34m  |\x1b[0m    \x1b[1;31m^\x1b[0m\n\x1b[1;34m  =\x1b[0m \x1b[1;32mhelp\x1b[0m: " +
		"h\n\n1 error\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWriteTextExplain(t *testing.T) {
	got := renderText(t, TextOptions{Explain: "tool explain"},
		Finding{Code: "E1", Severity: Error, Message: "a", Help: "h"},
		Finding{Code: "E1", Severity: Error, Message: "b"},
		Finding{Code: "N2", Message: "c", Accepted: "as agreed\nin May"},
		Finding{Code: "N2", Message: "cc"},
		Finding{Message: "d"})
	want := `note: d

error[E1]: a
  = help: h
  = explain: tool explain E1

error[E1]: b

note[N2]: c
  = accepted: as agreed
              in May

note[N2]: cc
  = explain: tool explain N2

2 errors, 3 notes
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWriteTextLimit(t *testing.T) {
	src := newSource("a.cue", "a\nb\nc\nd\ne\n")
	var findings []Finding
	for i, s := range []Severity{Warning, Error, Note, Error, Warning} {
		findings = append(findings, Finding{Severity: s, Message: "m", Span: Span{src, 2 * i, 2*i + 1}})
	}
	got := renderText(t, TextOptions{Limit: 3}, findings...)
	var places []string
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, "a.cue:") {
			places = append(places, line)
		}
	}
	want := []string{"a.cue:1:1: warning: m\n", "a.cue:2:1: error: m\n", "a.cue:4:1: error: m\n"}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Errorf("findings: -want +got:\n%s", diff)
	}
	if want := "\n2 errors, 1 warning; 2 more not shown\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got the end of %q, want %q", got, want)
	}
	if got := renderText(t, TextOptions{Limit: 5}, findings...); !strings.HasSuffix(got,
		"\n2 errors, 2 warnings, 1 note\n") {
		t.Errorf("at the limit: %q", got)
	}
	if got := renderText(t, TextOptions{}); got != "" {
		t.Errorf("no findings: %q", got)
	}
}

func TestFit(t *testing.T) {
	long := strings.Repeat("0123456789", 100)
	tests := map[string]struct {
		line        string
		start, end  int
		text        string
		column, run int
	}{
		"short":               {"a: 1", 3, 4, "a: 1", 3, 1},
		"exactly as wide":     {long[:100], 99, 100, long[:100], 99, 1},
		"at the beginning":    {long, 4, 6, long[:100] + "…", 4, 2},
		"in the middle":       {long, 500, 505, "…" + long[467:567] + "…", 34, 5},
		"at the end":          {long, 999, 1000, "…" + long[966:1000], 34, 1},
		"just after":          {long, 1000, 1000, "…" + long[967:1000], 34, 1},
		"longer than it fits": {long, 0, 1000, long[:100] + "…", 0, 100},
		"tabs":                {"\t\ta", 2, 3, "        a", 8, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text, column, run := fitLine(test.line, test.start, test.end)
			if text != test.text || column != test.column || run != test.run {
				t.Errorf("got %q, %d, %d\nwant %q, %d, %d", text, column, run, test.text, test.column, test.run)
			}
		})
	}
}

// A line of any length is shown at once and within the width.
func TestFitMegabytes(t *testing.T) {
	for _, unit := range []string{"x", "\t", "日", "e\u0301", "\xff", "\x1b"} {
		line := strings.Repeat(unit, 5<<20)
		middle := len(line) / 2 / len(unit) * len(unit)
		text, column, run := fitLine(line, middle, middle+len(unit))
		columns := 0
		for _, r := range text {
			_, n := console.Glyph(r)
			columns += n
		}
		if columns > excerptWidth+2 || column+run > columns {
			t.Errorf("%q: %d columns, a run of %d at %d", unit, columns, run, column)
		}
		if !strings.HasPrefix(text, "…") || !strings.HasSuffix(text, "…") {
			t.Errorf("%q: no ellipsis in %q", unit, text)
		}
	}
}

func TestWriteTextFails(t *testing.T) {
	var l List
	l.Add(Finding{Message: "m"})
	if err := WriteText(failing{}, &l, TextOptions{}); err == nil {
		t.Error("a write error is lost")
	}
	if err := WriteJSON(failing{}, &l); err == nil {
		t.Error("a write error is lost in JSON")
	}
	if err := WriteGitHub(failing{}, &l); err == nil {
		t.Error("a write error is lost in workflow commands")
	}
	if err := WriteSARIF(failing{}, &l, SARIFOptions{}); err == nil {
		t.Error("a write error is lost in SARIF")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

func FuzzRender(f *testing.F) {
	f.Add("a: \x1b[1m", 1, 3, "message\x9b")
	f.Add(strings.Repeat("\t日\u202e", 200), 500, 700, "\xff")
	f.Fuzz(func(t *testing.T, content string, start, end int, message string) {
		src := newSource(message, content)
		span := Span{src, min(start, end), max(start, end)}
		var l List
		l.Add(Finding{Code: "E1", Message: message, Span: span, Label: message, Help: message,
			Edits: []Edit{{span, message}}, Related: []Related{{span, message}}})
		var text, json, github, sarif bytes.Buffer
		if err := WriteText(&text, &l, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := WriteJSON(&json, &l); err != nil {
			t.Fatal(err)
		}
		if err := WriteGitHub(&github, &l); err != nil {
			t.Fatal(err)
		}
		if err := WriteSARIF(&sarif, &l,
			SARIFOptions{Tool: message, Codes: []Code{{ID: "E1", Title: message}}}); err != nil {
			t.Fatal(err)
		}
		for _, out := range []string{text.String(), json.String(), github.String(), sarif.String()} {
			if !utf8.ValidString(out) {
				t.Errorf("invalid UTF-8 in %q", out)
			}
			for _, r := range out {
				if r != '\n' && r != utf8.RuneError && !unicode.IsGraphic(r) {
					t.Errorf("%U in %q", r, out)
				}
			}
		}
	})
}
