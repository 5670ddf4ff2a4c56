package review

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/hostile"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/objects"
	"github.com/batchwright/batchwright/emit/review/summary"
)

func printString(t testing.TB, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func markdownOf(t testing.TB, r *Review) string {
	return printString(t, func(w io.Writer) error { return Markdown(w, r) })
}

// fullReview is a review with s in every place, n times.
func fullReview(s string, n int) *Review {
	r := &Review{Platform: s, Before: s, After: s, StateFrom: s, StateTo: s, Formatting: 1}
	for i := range n {
		r.Replacements = append(r.Replacements, objects.Replacement{
			Address: s, File: s, Line: 1, Because: []objects.Field{{Path: s, From: s, To: s}, {Path: s, To: s}},
			Nodes: 2, Workloads: []string{s, s}, Guard: s,
		})
		r.Removals = append(r.Removals,
			objects.Replacement{Address: s, File: s, Line: 1, Workloads: []string{s}, Guard: s})
		r.Summary = append(r.Summary,
			summary.Line{Topic: summary.TopicTeams, Op: delta.Changed, Subject: s, What: s, From: s, To: s, Note: s},
			summary.Line{Topic: summary.TopicTeams, Op: delta.Added, Subject: "team " + s, To: s})
		fields := []objects.Field{
			{Path: s, From: s, To: s}, {Path: s, From: s}, {Path: s, To: s}, {Path: s, To: fmt.Sprint(i)},
		}
		r.Objects = append(r.Objects,
			objects.Object{File: s, Line: 1, Kind: s, Name: s, Op: delta.Changed, Fields: fields},
			objects.Object{File: s, Line: 9, Kind: s, Name: s, Op: delta.Changed, Fields: fields},
			objects.Object{File: s, Line: 2, Kind: s, Name: s, Op: delta.Removed})
	}
	return r
}

// No review is too large for a comment, and what is left out is counted.
func TestMarkdownSize(t *testing.T) {
	many := &Review{}
	for i := range 5_000 {
		file := fmt.Sprintf("kubernetes/teams/%d.yaml", i)
		many.Objects = append(many.Objects,
			objects.Object{
				File: file, Line: 1, Kind: "ClusterQueue", Name: "q", Op: delta.Changed,
				Fields: []objects.Field{{Path: "spec.cohortName", From: "a", To: fmt.Sprint(i)}},
			})
		many.Summary = append(many.Summary,
			summary.Line{
				Topic: summary.TopicQuota, Op: delta.Changed, Subject: fmt.Sprintf("team %q", fmt.Sprint(i)), From: "1",
				To: "2",
			})
		many.Replacements = append(many.Replacements,
			objects.Replacement{
				Address: fmt.Sprintf("google_container_node_pool.p%d", i), File: "terraform/node_pools.tf", Line: i,
			})
	}
	oneFile := fullReview("x", 5_000)
	fields := &Review{
		Objects: []objects.Object{
			{File: "a", Kind: "ClusterQueue", Name: "q", Op: delta.Changed, Fields: make([]objects.Field, 5_000)},
		},
	}
	for i := range fields.Objects[0].Fields {
		fields.Objects[0].Fields[i] = objects.Field{Path: "spec", From: "a", To: "b"}
	}
	for name, test := range map[string]struct {
		review      *Review
		least       int // bytes
		wantOmitted []string
	}{
		"small":        {fullReview("x", 1), 500, nil},
		"many files":   {many, 55_000, []string{"resources more", "lines more", "objects more"}},
		"one file":     {oneFile, 55_000, []string{"resources more", "lines more", "objects more"}},
		"many fields":  {fields, 300, []string{"… 4980 more"}},
		"long values":  {fullReview(strings.Repeat("long value ", 10_000), 3), 5_000, nil},
		"wide letters": {fullReview(strings.Repeat("日本`|", 100), 300), 30_000, []string{"objects more"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := markdownOf(t, test.review)
			if len(got) >= 60_000 || len(got) < test.least {
				t.Errorf("%d bytes, want from %d to 60000", len(got), test.least)
			}
			for _, s := range test.wantOmitted {
				if !strings.Contains(got, s) {
					t.Errorf("does not say %q", s)
				}
			}
			if omits := regexp.MustCompile(`… (and )?[0-9]`).MatchString(got); omits != (len(test.wantOmitted) > 0) {
				t.Errorf("omits something: %v", omits)
			}
			if strings.Count(got, "<details>") != strings.Count(got, "</details>") || strings.Count(got, "```")%2 != 0 {
				t.Error("a block does not end")
			}
			for line := range strings.Lines(got) {
				if strings.HasPrefix(line, "| ") && !strings.HasSuffix(line, " |\n") {
					t.Errorf("half a row: %q", line)
				}
			}
		})
	}
}

// A terminal shows a screenful or some, however much changes.
func TestTextLength(t *testing.T) {
	r := fullReview("x", 5_000)
	for i := range r.Objects {
		r.Objects[i].File = fmt.Sprint(i / 5)
	}
	got := printString(t, func(w io.Writer) error { return Text(w, r, false) })
	if n := strings.Count(got, "\n"); n > 700 {
		t.Errorf("%d lines", n)
	}
	for _, want := range []string{
		"  … 4950 more\n", "    … 9980 more\n", "and also:\n", "see all: --format json\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("does not say %q", want)
		}
	}
	if small := printString(t, func(w io.Writer) error {
		return Text(w, fullReview("x", 1), false)
	}); strings.Contains(small, "…") || strings.Contains(small, "see all") {
		t.Errorf("a small review is cut:\n%s", small)
	}
}

// Objects that changed alike are told once.
func TestAlike(t *testing.T) {
	fields := []objects.Field{{Path: "spec.cohortName", From: "a", To: "b"}}
	r := &Review{}
	for i := range 30 {
		name := fmt.Sprintf("q%02d", i)
		r.Objects = append(r.Objects,
			objects.Object{File: name + ".yaml", Kind: "ClusterQueue", Name: name, Op: delta.Changed, Fields: fields})
	}
	r.Objects = append(r.Objects,
		objects.Object{File: "z.yaml", Kind: "LocalQueue", Name: "l", Op: delta.Changed, Fields: fields},
		objects.Object{File: "z.yaml", Kind: "Secret", Name: "a", Op: delta.Changed},
		objects.Object{File: "z.yaml", Kind: "Secret", Name: "b", Op: delta.Changed})
	want := `q00.yaml
  ~ ClusterQueue q00
      ~ spec.cohortName: a -> b
      the same in 29 more: q01, q02, q03, q04, q05, …

z.yaml
  ~ LocalQueue l
      ~ spec.cohortName: a -> b
  ~ Secret a
  ~ Secret b

objects: 33 changed
`
	if diff := cmp.Diff(want, printString(t, func(w io.Writer) error { return Text(w, r, false) })); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	got := markdownOf(t, r)
	for _, want := range []string{
		"<code>q00.yaml</code>: 1 changed, and 29 more in the same way</summary>",
		"+ spec.cohortName: b\n  the same in 29 more: q01, q02, q03, q04, q05, q06, q07, q08, q09, q10, …\n",
		"<code>z.yaml</code>: 3 changed</summary>",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("does not say %q:\n%s", want, got)
		}
	}
}

func TestTextColor(t *testing.T) {
	r := &Review{Objects: []objects.Object{
		{File: "a", Kind: "Secret", Name: "n", Op: delta.Added},
		{File: "a", Kind: "Secret", Name: "o", Op: delta.Removed},
		{File: "a", Kind: "Secret", Name: "p", Op: delta.Changed},
	}}
	want := "\x1b[1ma\x1b[0m\n  \x1b[1;32m+\x1b[0m Secret n\n  \x1b[1;31m-\x1b[0m Secret o\n  \x1b[1;33m~\x1b[0m " +
		"Secret p\n\nobjects: 1 added, 1 changed, 1 removed from configuration\n"
	if diff := cmp.Diff(want, printString(t, func(w io.Writer) error { return Text(w, r, true) })); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestMarker(t *testing.T) {
	for platform, want := range map[string]string{
		"":           "<!-- batchwright review -->",
		"gke-batch":  "<!-- batchwright review: gke-batch -->",
		"--><b>@all": "<!-- batchwright review: --ball -->",
		"\n\u202e|":  "<!-- batchwright review -->",
	} {
		if got := commentMarker(platform); got != want {
			t.Errorf("marker(%q) = %s, want %s", platform, got, want)
		}
	}
}

func TestComparePlatform(t *testing.T) {
	named := func(name string) State { return State{Plan: &ir.Platform{Name: name}} }
	for want, states := range map[string][2]State{
		"":    {{}, {}},
		"old": {named("old"), {}},
		"new": {named("old"), named("new")},
	} {
		if r := Compare(states[0], states[1]); r.Platform != want {
			t.Errorf("got %v, want %q", r, want)
		}
	}
}

func TestProse(t *testing.T) {
	for in, want := range map[string]string{
		`team "vision"`:                           "team `vision`",
		"nominal quota of l4-spot in batch":       "nominal quota of `l4-spot` in batch",
		"guaranteed: 768 of 512 (a team's, idle)": "guaranteed: 768 of 512 (a team's, idle)",
		"spot -> on demand, flex-start":           "spot → on demand, flex-start",
		`"@all": GH-1 deadbeef1 www.e.com.`:       "`@all`: `GH-1` `deadbeef1` `www.e.com`.",
		"<b> a_b *c* | \n`d`":                     "`<b>` `a_b` `*c*` `|` `` `d` ``",
		"":                                        "",
		`" (`:                                     "`\"` (",
	} {
		if got := proseMarkup(in); string(got) != want {
			t.Errorf("prose(%q) = %q, want %q", in, got, want)
		}
	}
}

// own are the lines of Markdown that are not text, and the beginnings of others.
var own = regexp.MustCompile(`^(### |> \[!CAUTION\]$|> (- |\*\*)?|>$|\| --- .*\|$|\| |</details>$|<details><summary>)`)

// markdownSkeleton reads Markdown as far as a review has it, and returns what stands
// outside of code, without the lines' own marks. It fails where code does not
// end.
func markdownSkeleton(t *testing.T, md string) string {
	t.Helper()
	var out []string
	fence := ""
	_, md, _ = strings.Cut(md, "\n") // the marker
	for line := range strings.Lines(md) {
		line = strings.TrimSuffix(line, "\n")
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence != "":
			if strings.TrimLeft(line, "`") == "" && len(line) >= len(fence) {
				fence = ""
			}
			continue
		case len(ticks) >= 3 && line == ticks+"diff":
			fence = ticks
			continue
		}
		if name, ok := strings.CutPrefix(line, "<details><summary><code>"); ok {
			_, counts, ok := strings.Cut(name, "</code>: ")
			counts, ok2 := strings.CutSuffix(counts, "</summary>")
			if name, _, _ = strings.Cut(name, "</code>: "); !ok || !ok2 || strings.ContainsAny(name, "<>") {
				t.Fatalf("no head of a file: %q", line)
			}
			out = append(out, counts)
			continue
		}
		if strings.HasPrefix(line, "| ") { // a table splits first
			if cells := regexp.MustCompile(`[^\\]\|`).FindAllString(line, -1); len(cells) != 6 {
				t.Fatalf("%d cells: %q", len(cells), line)
			}
			line = strings.ReplaceAll(line, `\|`, "I")
		}
		line = withoutCode(t, own.ReplaceAllString(line, ""))
		out = append(out, strings.NewReplacer(" |", "", ".**", ".").Replace(line))
	}
	if fence != "" {
		t.Fatal("a block of code does not end")
	}
	return strings.Join(out, "\n")
}

// withoutCode takes the code spans out of a line: a run of backticks ends at
// the next run that is as long (CommonMark, code spans).
func withoutCode(t *testing.T, line string) string {
	t.Helper()
	runs := regexp.MustCompile("`+")
	var b strings.Builder
	for {
		open := runs.FindStringIndex(line)
		if open == nil {
			return b.String() + line
		}
		b.WriteString(line[:open[0]])
		fence, body := line[open[0]:open[1]], line[open[1]:]
		end := -1
		for _, run := range runs.FindAllStringIndex(body, -1) {
			if body[run[0]:run[1]] == fence {
				end = run[1]
				break
			}
		}
		if end < 0 {
			t.Fatalf("code does not end: %q", line)
		}
		line = body[end:]
	}
}

// FuzzMarkdown: whatever the texts of a review, outside of code there are but
// words and the review's own signs, and there is no more than a comment holds.
func FuzzMarkdown(f *testing.F) {
	hostile.Seed(f)
	for _, s := range []string{
		"@a", "a@b.c", "#1", "a/b#1", "GH-1", "!1", "http://e.com", "/close", "``` @a", "`@a", "@a`", "`` ` @a", `\`,
		`a\|@b`, "a:b:c", ":+1:", "(@a)", "\"@a\"", "</summary>", "</code>: ", "\u200b@a", " |", "| a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := markdownOf(t, fullReview(s, 3))
		if len(got) >= 60_000 || !utf8.ValidString(got) {
			t.Errorf("%d bytes, valid: %v", len(got), utf8.ValidString(got))
		}
		if lines := strings.Split(markdownOf(t, fullReview("x", 3)), "\n"); s != "" &&
			len(lines) != strings.Count(got, "\n")+1 {
			t.Errorf("%d lines, want %d:\n%s", strings.Count(got, "\n")+1, len(lines), got)
		}
		for _, r := range markdownSkeleton(t, got) {
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" \n.,:;()'-→…", r) {
				t.Fatalf("%q stands outside of code:\n%s", r, got)
			}
		}
		for _, r := range got {
			if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control)) {
				t.Fatalf("%U in %q", r, got)
			}
		}
	})
}

// FuzzConsole: no text steers a terminal or a runner, and JSON gives it back.
func FuzzConsole(f *testing.F) {
	hostile.Seed(f)
	f.Add("")
	f.Add("\n::error::x\r::stop-commands::y")
	f.Fuzz(func(t *testing.T, s string) {
		r := fullReview(s, 2)
		text := printString(t, func(w io.Writer) error { return Text(w, r, false) })
		github := printString(t, func(w io.Writer) error { return GitHub(w, r, "deploy") })
		encoded := printString(t, func(w io.Writer) error { return JSON(w, r) })
		for _, out := range []string{text, github, encoded} {
			for _, r := range out {
				if r != '\n' && r != utf8.RuneError && !unicode.IsGraphic(r) {
					t.Errorf("%U in %q", r, out)
				}
			}
		}
		want := strings.Count(printString(t, func(w io.Writer) error { return Text(w, fullReview("x", 2), false) }),
			"\n")
		if got := strings.Count(text, "\n"); s != "" && got != want {
			t.Errorf("%d lines, want %d:\n%s", got, want, text)
		}
		var names []string
		for line := range strings.Lines(github) {
			name, _, _ := strings.Cut(strings.TrimPrefix(line, "::"), ":")
			name, _, _ = strings.Cut(name, " ")
			names = append(names, name)
		}
		// A warning for each resource, and one for a state that is elsewhere.
		warnings := len(r.Replacements) + len(r.Removals)
		if r.StateFrom != "" {
			warnings++
		}
		totals := strings.Join(r.totalTexts(), "; ")
		firstWord, _, _ := strings.Cut(totals, " ")
		wantNames := append(slices.Repeat([]string{"warning"}, warnings), "notice", firstWord)
		if !slices.Equal(wantNames, names) || !strings.HasSuffix(github, "\n"+totals+"\n") {
			t.Errorf("commands %q, want %q:\n%s", names, wantNames, github)
		}
		var got jsonReview
		if err := json.Unmarshal([]byte(encoded), &got); err != nil || utf8.ValidString(s) && got.Summary[0].Note != s {
			t.Errorf("%v: %q, want %q", err, got.Summary, s)
		}
	})
}

func TestGitHubLimit(t *testing.T) {
	r := fullReview("x", 14)
	got := printString(t, func(w io.Writer) error { return GitHub(w, r, "deploy") })
	if n := strings.Count(got, "::warning "); n != 10 {
		t.Errorf("%d warnings", n)
	}
	if !strings.HasSuffix(got, "; 19 resources not annotated\n") {
		t.Errorf("ends with %q", got[max(0, len(got)-80):])
	}
	r.Summary = append(r.Summary, make([]summary.Line, 100)...)
	got = printString(t, func(w io.Writer) error { return GitHub(w, r, "deploy") })
	if !strings.Contains(got, "%0A… 88 more\n") || strings.Count(got, "::notice ") != 1 {
		t.Errorf("the summary is not cut:\n%s", got)
	}
}

func TestPrintersFail(t *testing.T) {
	for name, err := range map[string]error{
		"Text": Text(failing{}, fullReview("x", 1), false), "Markdown": Markdown(failing{}, fullReview("x", 1)),
		"JSON": JSON(failing{}, fullReview("x", 1)), "GitHub": GitHub(failing{}, fullReview("x", 1), ""),
	} {
		if err == nil {
			t.Errorf("%s loses a write error", name)
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }
