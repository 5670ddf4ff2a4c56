package guide

import (
	"html"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/hostile"
	"github.com/batchwright/batchwright/emit/markdown"
)

// FuzzInline checks that a reader of Markdown and a shell get a text back as it
// was, except for the characters that would end its line.
func FuzzInline(f *testing.F) {
	hostile.Seed(f)
	f.Fuzz(func(t *testing.T, s string) {
		hostile.Want(t, s, "\x00")
		want := words.OneLine(s)
		if strings.ContainsAny(want, "\n\r\v\f") {
			t.Errorf("OneLine(%q) has more than one line", s)
		}
		if got := readText(t, string(markdown.Text(s))); got != want {
			t.Errorf("text(%q) is %q and reads as %q", s, markdown.Text(s), got)
		}
		link := regexp.MustCompile(`<(https://[a-zA-Z0-9._~/-]+)>`)
		linked := link.ReplaceAllStringFunc(string(markdown.LinkedText(s)),
			func(link string) string { return string(markdown.Text(strings.Trim(link, "<>"))) })
		if got := readText(t, linked); got != want {
			t.Errorf("markdown.LinkedText(%q) is %q and reads as %q", s, markdown.LinkedText(s), got)
		}
		if got := readText(t, string(paragraphStart(s))); got != strings.Trim(want, " ") {
			t.Errorf("plain(%q) is %q and reads as %q", s, paragraphStart(s), got)
		}
		if got := readCode(t, string(markdown.Code(s))); got != want {
			t.Errorf("code(%q) is %q and reads as %q", s, markdown.Code(s), got)
		}
		out, err := exec.Command("sh", "-c", shellCommand("printf", `%s\0`, want, want)).CombinedOutput()
		if err != nil || string(out) != want+"\x00"+want+"\x00" {
			t.Errorf("a shell reads %q, want %q twice; %v", out, want, err)
		}
	})
}

// readText reads a line of Markdown that must contain only text. All characters that
// could be markup must be escaped.
func readText(t *testing.T, m string) string {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(m); {
		switch c := m[i]; {
		case c == '\\':
			const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
			if i+1 == len(m) || m[i+1] >= utf8.RuneSelf || !strings.ContainsRune(punctuation, rune(m[i+1])) {
				t.Fatalf("%q: a backslash escapes nothing at %d", m, i)
			}
			b.WriteByte(m[i+1])
			i += 2
		case c == '&':
			end := strings.IndexByte(m[i:], ';') + 1
			entity := m[i : i+end]
			if end == 0 || html.UnescapeString(entity) == entity {
				t.Fatalf("%q: no entity at %d", m, i)
			}
			b.WriteString(html.UnescapeString(entity))
			i += end
		case strings.IndexByte("`*_[]~<>|@$", c) >= 0, strings.HasPrefix(m[i:], "://"),
			strings.HasPrefix(strings.ToLower(m[i:]), "www."):
			t.Fatalf("%q: %q is not escaped at %d", m, c, i)
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// readCode reads a code span (CommonMark, "Code spans"), or "" if there is none.
func readCode(t *testing.T, m string) string {
	t.Helper()
	body := strings.Trim(m, "`")
	fence := m[:len(m)-len(strings.TrimLeft(m, "`"))]
	if m == "" {
		return ""
	}
	if fence == "" || fence+body+fence != m {
		t.Fatalf("%q is no code span", m)
	}
	for i := 0; i < len(body); { // a run of as many backticks would end it
		run := len(body[i:]) - len(strings.TrimLeft(body[i:], "`"))
		if run == len(fence) {
			t.Fatalf("%q ends early", m)
		}
		i += max(run, 1)
	}
	if len(body) > 1 && body[0] == ' ' && body[len(body)-1] == ' ' && strings.Trim(body, " ") != "" {
		body = body[1 : len(body)-1]
	}
	return body
}

// FuzzFiles checks that the texts of a plan change neither the kinds of the pages'
// lines nor the structure of gcluster's artefact.
func FuzzFiles(f *testing.F) {
	hostile.Seed(f)
	read := func(t testing.TB, s string) (lines []string, artefact any) {
		p := newPlatform(2)
		p.Name, p.Project, p.Region = s, s, s
		p.Capacities[0].Name, p.Capacities[0].Overcommit = s, s
		p.Teams[0].Name, p.Teams[0].Namespace, p.Teams[0].Group, p.Teams[0].Queues[0].ClusterQueue = s, s, s, s
		p.Teams[0].Members = []string{s}
		p.Workloads[0].Image, p.Workloads[0].Team, p.Workloads[0].Name = s, s, s
		p.Workloads[0].Template, p.Workloads[0].ConfigMap, p.Workloads[0].Queue = s, s, s
		p.Teams[0].Bucket, p.Cluster.Name = s, s
		p.Notes = []string{"a" + s, "1. " + s, "- " + s}
		p.Teams[1].Name = s + "2"
		demonstrate(p, s)
		row := &p.Demand.Rows[1]
		row.What, row.Note, row.Unit = s, s, s
		files, err := Files(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range append(files[1:4:4], files[5]) { // the pages
			lines = append(append(lines, f.Path), lineKinds(string(f.Content))...)
		}
		return lines, hostile.Documents(t, string(files[0].Content))
	}
	lines, artefact := read(f, hostile.Mark)
	f.Fuzz(func(t *testing.T, s string) {
		hostile.Want(t, s)
		hostile.WantPrintable(t, s)
		gotLines, gotArtefact := read(t, s)
		if d := cmp.Diff(lines, gotLines); d != "" {
			t.Errorf("%q makes other lines:\n%s", s, d)
		}
		hostile.Compare(t, s, artefact, gotArtefact, nil)
	})
}

// lineKinds returns the kind of each line of a Markdown document.
func lineKinds(document string) []string {
	var out []string
	fence := ""
	for line := range strings.Lines(document) {
		line = strings.TrimSuffix(line, "\n")
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		kind := "paragraph"
		switch {
		case fence != "" && line == fence:
			kind, fence = "end of code", ""
		case fence != "":
			kind = "code"
		case len(ticks) >= 3:
			kind, fence = "code in "+line[len(ticks):], ticks
		case line == "":
			kind = "blank"
		case strings.HasPrefix(line, "#"), strings.HasPrefix(line, "- "):
			kind, _, _ = strings.Cut(line, " ")
		case strings.HasPrefix(line, "| "):
			kind = strings.Repeat("cell ", strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")-1)
		}
		out = append(out, kind)
	}
	return out
}
