package diag

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/console"
)

func renderGitHub(t testing.TB, findings ...Finding) string {
	t.Helper()
	var l List
	for _, f := range findings {
		l.Add(f)
	}
	var b strings.Builder
	if err := WriteGitHub(&b, &l); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWriteGitHub(t *testing.T) {
	topology := newSource("blueprints/train.cue", "package train\n\nv5p: {\n    topology: \"2x2x3\"\n}\n")
	emoji := newSource("b.cue", "# 🚀 é\n🚀: 1\n")
	tests := map[string]struct {
		finding Finding
		want    string
	}{
		"everything": {
			Finding{
				Code: "E0104", Severity: Error, Message: `topology "2x2x3" is not available for v5p`,
				Span: spanOf(t, topology, `"2x2x3"`), Label: `want one of "2x2x1", "2x2x2"`,
				Help:    "use \"2x2x2\" for 8 chips\nor less: 100%",
				Edits:   []Edit{{spanOf(t, topology, `"2x2x3"`), `"2x2x2"`}},
				Related: []Related{{spanOf(t, emoji, "1"), "chips"}, {Span{}, "nowhere"}},
			},
			`::error file=blueprints/train.cue,line=4,endLine=4,col=15,title=E0104::blueprints/train.cue:4:15: ` +
				`topology "2x2x3" is not available for v5p%0Awant one of "2x2x1", "2x2x2"%0A` +
				`help: use "2x2x2" for 8 chips%0Aor less: 100%25%0Ab.cue:2:4: note: chips%0Anote: nowhere
1 error
`,
		},
		"an edit without help": {
			Finding{
				Code: "W1", Severity: Warning, Message: "m", Span: spanOf(t, topology, `"2x2x3"`),
				Edits: []Edit{{spanOf(t, topology, "v5p"), "v6e"}},
			},
			"::warning file=blueprints/train.cue,line=4,endLine=4,col=15,title=W1::blueprints/train.cue:4:15: " +
				"m%0Aedit: replace `v5p` with `v6e` at blueprints/train.cue:3:1\n1 warning\n",
		},
		"accepted": {
			Finding{Code: "E1", Severity: Note, Message: "m", Accepted: "as agreed"},
			"::notice title=E1::m%0Aaccepted: as agreed\n1 note\n",
		},
		"nowhere": {
			Finding{Severity: Error, Message: "no input"},
			"::error::no input\n1 error\n",
		},
		"a file as a whole": {
			Finding{Code: "E1", Severity: Error, Message: "is empty", Span: Span{Source: newSource("x.cue", "")}},
			"::error file=x.cue,title=E1::x.cue: is empty\n1 error\n",
		},
		"several lines": {
			Finding{Code: "E1", Severity: Error, Message: "m", Span: spanOf(t, topology, "{\n    topology: "+
				"\"2x2x3\"\n}")},
			"::error file=blueprints/train.cue,line=3,endLine=5,title=E1::blueprints/train.cue:3:6: m\n1 error\n",
		},
		"the end of a line": {
			Finding{Code: "E1", Severity: Error, Message: "m", Span: spanOf(t, topology, "train\n")},
			"::error file=blueprints/train.cue,line=1,endLine=1,col=9,title=E1::blueprints/train.cue:1:9: m\n1 error\n",
		},
		"characters beyond the basic plane": {
			Finding{Code: "E1", Severity: Error, Message: "🚀", Span: spanOf(t, emoji, "é")},
			"::error file=b.cue,line=1,endLine=1,col=5,title=E1::b.cue:1:5: 🚀\n1 error\n",
		},
		"hostile": {
			Finding{
				Code: "E1,file=b::x", Severity: Error, Message: "%0A::add-mask::x\n::stop-commands::y\r\x1b[31m\xff",
				Span: Span{newSource("a,line=9:%2C\n\x1b.cue", "x"), 0, 1},
				Help: "::error::z\r\n##[error]w",
			},
			"::error file=a%2Cline=9%3A%252C ␛.cue,line=1,endLine=1,col=1,title=E1%2Cfile=b%3A%3Ax::a,line=9:%252C " +
				"␛.cue:1:1: %250A::add-mask::x ::stop-commands::y␍␛[31m\ufffd%0Ahelp: ::error::z␍%0A##[error]w\n1 " +
				"error\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, renderGitHub(t, test.finding)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	if got := renderGitHub(t); got != "" {
		t.Errorf("no findings: %q", got)
	}
}

// The gravest ten are shown; the last line counts all.
func TestWriteGitHubLimit(t *testing.T) {
	src := newSource("a.cue", strings.Repeat("a\n", 20))
	var findings []Finding
	for i := range 14 {
		findings = append(findings,
			Finding{Severity: Severity(i % 3), Message: fmt.Sprint(i), Span: Span{src, 2 * i, 2*i + 1}})
	}
	var got []string
	for line := range strings.Lines(renderGitHub(t, findings...)) {
		command, _, _ := strings.Cut(line, ",endLine")
		got = append(got, command)
	}
	want := []string{
		"::error file=a.cue,line=3", "::error file=a.cue,line=6", "::error file=a.cue,line=9",
		"::error file=a.cue,line=12",
		"::warning file=a.cue,line=2", "::warning file=a.cue,line=5", "::warning file=a.cue,line=8",
		"::warning file=a.cue,line=11", "::warning file=a.cue,line=14",
		"::notice file=a.cue,line=1",
		"4 errors, 5 warnings, 1 note; 4 more not shown\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// workflowCommand reads a line as GitHub's runner does: the properties stand
// between the first "::" and the next, apart by commas.
func workflowCommand(line string) (name string, properties map[string]string, data string, err error) {
	head, data, ok := strings.Cut(strings.TrimPrefix(line, "::"), "::")
	if !ok || !strings.HasPrefix(line, "::") {
		return "", nil, "", fmt.Errorf("no command: %q", line)
	}
	unescape := strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%")
	name, list, _ := strings.Cut(head, " ")
	properties = map[string]string{}
	for p := range strings.SplitSeq(list, ",") {
		key, value, _ := strings.Cut(p, "=")
		properties[key] = unescape.Replace(value)
	}
	return name, properties, strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%").Replace(data), nil
}

// Whatever the text, a finding is one command with the properties it was given.
func FuzzWriteGitHub(f *testing.F) {
	f.Add("a.cue", "E1", "message")
	f.Add("a,line=2::.cue", "%3A,%2C", "\n::error::x\r")
	f.Fuzz(func(t *testing.T, file, code, message string) {
		got := renderGitHub(t,
			Finding{Code: code, Severity: Error, Message: message, Span: Span{newSource(file, "x"), 0, 1}})
		lines := slices.Collect(strings.Lines(got))
		if len(lines) != 2 || lines[1] != "1 error\n" {
			t.Fatalf("want one command and a count, got %q", got)
		}
		name, properties, data, err := workflowCommand(strings.TrimSuffix(lines[0], "\n"))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{
			"file": console.Inline(file), "line": "1", "endLine": "1", "col": "1", "title": console.Inline(code),
		}
		for key, value := range want {
			if value == "" {
				delete(want, key)
			}
		}
		if diff := cmp.Diff(want, properties); name != "error" || diff != "" {
			t.Errorf("a command %q, properties -want +got:\n%s", name, diff)
		}
		if want := console.Inline(file) + ":1:1: " + console.Inline(message); data != want {
			t.Errorf("got %q, want %q", data, want)
		}
	})
}

func TestNamed(t *testing.T) {
	a, b := newSource("a.cue", "x: 1\n"), newSource("b.cue", "y: 2\n")
	var l List
	l.Add(Finding{
		Message: "m", Span: spanOf(t, a, "1"), Related: []Related{{spanOf(t, b, "2"), "r"}, {Span{}, "nowhere"}},
		Edits: []Edit{{spanOf(t, a, "x"), "z"}},
	})
	l.Add(Finding{Message: "nowhere"})
	got := l.Named(func(name string) string { return "dir/" + name })
	var names []string
	for _, f := range got.Sorted() {
		names = append(names, f.Span.sourceName())
		for _, r := range f.Related {
			names = append(names, r.Span.sourceName())
		}
		for _, e := range f.Edits {
			names = append(names, e.Span.sourceName())
		}
	}
	if diff := cmp.Diff([]string{"", "dir/a.cue", "dir/b.cue", "", "dir/a.cue"}, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var before, after bytes.Buffer
	if err := WriteText(&before, &l, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := WriteText(&after, got, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := strings.NewReplacer("a.cue", "dir/a.cue", "b.cue",
		"dir/b.cue").Replace(before.String()); after.String() != want {
		t.Errorf("got\n%s\nwant\n%s", after.String(), want)
	}
}
