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
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/hostile"
	"github.com/batchwright/batchwright/emit/markdown"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/jobs"
	"github.com/batchwright/batchwright/emit/review/live"
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
			Nodes: 2, Workloads: []string{s, s}, Guard: s, Order: s,
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
			objects.Object{File: s, Line: 2, Kind: s, Name: s, Op: delta.Removed, Note: s})
	}
	return r
}

// liveReview is fullReview with what a comparison with exports knows.
func liveReview(s string, n int) *Review {
	r := fullReview(s, n)
	r.Live = &live.Facts{}
	for range n {
		r.Live.Adopted, r.Live.Staying = append(r.Live.Adopted, s), append(r.Live.Staying, s)
		r.Live.Skipped = append(r.Live.Skipped, live.Skipped{What: s, Reason: s, Export: s})
	}
	return r
}

// TestLiveLists: nothing that a comparison with exports knows is too long for a reader.
func TestLiveLists(t *testing.T) {
	r := liveReview("x", 5_000)
	r.Objects, r.Summary, r.Replacements, r.Removals = nil, nil, nil, nil
	text := printString(t, func(w io.Writer) error { return Text(w, r, false) })
	if n := strings.Count(text, "\n"); n > 100 || strings.Count(text, "… 4980 more") != 3 {
		t.Errorf("%d lines:\n%s", n, text)
	}
	if got := markdownOf(t, r); len(got) > 60_000 || !strings.Contains(got, " more") {
		t.Errorf("%d bytes", len(got))
	}
	github := printString(t, func(w io.Writer) error { return GitHub(w, r, "deploy") })
	if n := strings.Count(github, "%0A"); n > 60 || !strings.Contains(github, "… 4990 more") {
		t.Errorf("%d lines:\n%s", n, github)
	}
}

// No review is too large for a comment, and what is left out is counted.
func TestMarkdownSize(t *testing.T) {
	if testing.Short() {
		t.Skip("prints a review of very many changes")
	}
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
				Because: []objects.Field{{Path: "name", To: fmt.Sprint(i)}},
			})
	}
	oneFile := fullReview("x", 5_000)
	for i := range oneFile.Removals {
		oneFile.Removals[i].Guard = fmt.Sprint(i)
	}
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
		"many files":   {many, 55_000, []string{"items more", "changes more", "objects more"}},
		"one file":     {oneFile, 55_000, []string{"items more", "changes more", "objects more"}},
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
	for i := range r.Removals {
		r.Removals[i].Guard = fmt.Sprint(i)
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

// lineOf returns a line of the summary about a topic. The Change column names the topic.
func lineOf(topic summary.Topic, note string) summary.Line {
	return summary.Line{
		Topic: topic, Op: delta.Changed, Subject: "about " + string(topic), From: "a", To: "b", Note: note,
	}
}

// TestSections checks that a comment has every topic once, first the topics on which a
// reviewer decides, and that the others are folded.
func TestSections(t *testing.T) {
	r := &Review{
		Summary: []summary.Line{lineOf(summary.TopicSecurity, "dangerous: no lock")},
		Jobs:    []jobs.Effect{{Cause: "cause", Running: jobs.Outcome{Kind: jobs.Stop, Text: "stop"}}},
	}
	for _, topic := range summary.Topics() {
		r.Summary = append(r.Summary, lineOf(topic, "one; two"))
	}
	var got []string
	for line := range strings.Lines(markdownOf(t, r)) {
		switch {
		case strings.HasPrefix(line, "#### "), strings.HasPrefix(line, "<details>"), strings.HasPrefix(line, "> **"):
			got = append(got, strings.TrimSpace(line))
		case strings.Contains(line, "| about "):
			got = append(got, strings.TrimPrefix(strings.TrimSuffix(strings.TrimSpace(line), " | a | b |"), "| "))
		case strings.HasPrefix(line, "> - "):
			got = append(got, strings.TrimSpace(line))
		}
	}
	want := []string{
		"> **1 change removes a protection.**",
		"> - about security: a → b<br>dangerous: no lock",
		"#### Jobs (1)", "#### Teams, quota and priorities (4)", "about teams<br>one<br>two",
		"about queues<br>one<br>two",
		"about quota<br>one<br>two",
		"<details><summary><b>1 more change</b></summary>", "about priority<br>one<br>two",
		"<details><summary><b>Access and security</b> (2)</summary>",
		"about access<br>one<br>two", "about security<br>one<br>two",
		"<details><summary><b>Capacity and cluster</b> (2)</summary>",
		"about capacity<br>one<br>two", "about cluster<br>one<br>two",
		"<details><summary><b>Google Cloud quota</b> (1)</summary>", "about cloud quota<br>one<br>two",
		"<details><summary><b>Workloads</b> (1)</summary>", "about workloads<br>one<br>two | `a` | `b` |",
		"<details><summary><b>Total guarantees and limits</b> (2)</summary>",
		"about guarantees<br>one<br>two", "about limits<br>one<br>two",
		"<details><summary><b>Alerts</b> (1)</summary>", "about alerts<br>one<br>two",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
	for _, topic := range summary.Topics() {
		row := "about " + string(topic) + "<br>one"
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, row) }) {
			t.Errorf("no section has the topic %s", topic)
		}
	}
}

// TestChangeCells checks how a row tells each operation.
func TestChangeCells(t *testing.T) {
	for want, line := range map[string]summary.Line{
		"| a | 4 GPUs | on demand |":     {Op: delta.Changed, From: "4 GPUs", To: "on demand"},
		"| a |  | changed |":             {Op: delta.Changed},
		"| a |  | added |":               {Op: delta.Added},
		"| a |  | added: `10.0.0.0/8` |": {Op: delta.Added, To: "10.0.0.0/8"},
		"| a |  | removed |":             {Op: delta.Removed},
		"| a | cohort `x1` | removed |":  {Op: delta.Removed, From: "cohort x1"},
		"| a: b | `sh -c x \\| y` | `sh -c z` |": {
			Topic: summary.TopicWorkloads, Op: delta.Changed, What: "b", From: "sh -c x | y", To: "sh -c z",
		},
	} {
		line.Subject = "a"
		if line.Topic == "" {
			line.Topic = summary.TopicAccess
		}
		if got := markdownOf(t, &Review{Summary: []summary.Line{line}}); !strings.Contains(got, "\n"+want+"\n") {
			t.Errorf("no row %s in:\n%s", want, got)
		}
	}
}

// TestOpenRows checks that what does not fit on a screen is folded, and that nothing is lost.
func TestOpenRows(t *testing.T) {
	for _, n := range []int{1, 3, 12, 50} {
		r := &Review{}
		for i := range n {
			r.Summary = append(r.Summary, lineOf(summary.TopicQuota, fmt.Sprint("row ", i)))
			r.Replacements = append(r.Replacements, objects.Replacement{
				Address: fmt.Sprintf("pool_%d", i), File: "a.tf", Line: 1,
				Because: []objects.Field{{Path: "name", To: fmt.Sprint(i)}},
				Workloads: []string{
					"a/1", "a/2", "a/3", "a/4", "a/5", "a/6", "a/7", "a/8", "a/9", "a/10", fmt.Sprint("b/", i),
				},
			})
		}
		got := markdownOf(t, r)
		alert, rest, _ := strings.Cut(got, "<details>")
		open := strings.Count(alert, "\n> - `pool_")
		if open == 0 || open > 6 || open < min(n, 3) {
			t.Errorf("%d of %d resources in the alert", open, n)
		}
		if open < n && !strings.Contains(rest, fmt.Sprintf("<b>%s</b>", words.Count(n-open, "more item"))) {
			t.Errorf("the number of folded resources is not told:\n%s", got)
		}
		if all := strings.Count(got, "- `pool_"); all != 2*n { // once more with the names of the workloads
			t.Errorf("%d resources, want %d twice:\n%s", all, n, got)
		}
		if rows := strings.Count(got, "row "); rows != n {
			t.Errorf("%d rows, want %d:\n%s", rows, n, got)
		}
		if !strings.Contains(alert, "<br>11 workloads: 10 of `a`, 1 of `b`\n") ||
			!strings.Contains(rest, "<b>Workloads on replaced and removed resources</b>") ||
			!strings.Contains(rest, "`a/10`, `b/0`\n") {
			t.Errorf("workloads are lost:\n%s", got)
		}
	}
}

// TestOneScreen checks that the parts before the first fold are not higher than a screen, and that
// each part that is not folded as a whole has its first item there.
func TestOneScreen(t *testing.T) {
	parts := func(heights ...int) (out []part) {
		for i, h := range heights {
			p := part{items: 20, height: func(int) int { return h }}
			if i == 0 {
				p.share = cautionHeight
			}
			out = append(out, p)
		}
		return out
	}
	for name, test := range map[string]struct {
		parts []part
		open  []int
	}{
		"low rows":       {parts(20, 20), []int{16, 9}},
		"high rows":      {parts(200, 200), []int{1, 1}},
		"more than fits": {parts(34, 34, 34), []int{9, 5, 0}},
	} {
		openParts(test.parts)
		used := 0
		var open []int
		for _, p := range test.parts {
			if open = append(open, p.open); p.open > 0 {
				used += titleHeight + p.open*p.height(0)
			}
		}
		if used > screenHeight || !slices.Equal(open, test.open) {
			t.Errorf("%s: %v items are open with %d pixels, want %v", name, open, used, test.open)
		}
	}
	last := []part{{items: 11, height: func(int) int { return 34 }, share: 340}}
	if openParts(last); last[0].open != 11 {
		t.Errorf("the last of 11 items is folded alone")
	}
}

// TestWorkloadsOfTeams checks how an item counts the workloads on a resource.
func TestWorkloadsOfTeams(t *testing.T) {
	var many []string
	for i := range 2 * markdownTeams {
		many = append(many, fmt.Sprintf("team-%d/train", i))
	}
	for want, workloads := range map[string][]string{
		"workloads `a/1`, `b/2`":          {"a/1", "b/2"},
		"6 workloads of `a`":              {"a/1", "a/2", "a/3", "a/4", "a/5", "a/6"},
		"6 workloads: 2 of `b`, 4 of `a`": {"b/1", "a/2", "a/3", "a/4", "a/5", "b/6"},
		"6 workloads, one per team":       {"a/1", "b/1", "c/1", "d/1", "e/1", "f/1"},
		"16 workloads of 16 teams":        many,
	} {
		x := objects.Replacement{Address: "p", File: "f", Workloads: workloads}
		got := markdownOf(t, &Review{Replacements: []objects.Replacement{x}})
		if !strings.Contains(got, "<br>"+want+"\n") {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

// TestNeighbours checks that the files of a directory share a block if all their objects
// are new or gone, and that files without details share a line.
func TestNeighbours(t *testing.T) {
	object := func(file, kind string, op delta.Op) objects.Object {
		return objects.Object{File: file, Line: 1, Kind: kind, Name: "n", Op: op}
	}
	got := markdownOf(t, &Review{Objects: []objects.Object{
		object("README.md", "file", delta.Changed), object("USING.md", "file", delta.Changed),
		object("a/1.yaml", "Job", delta.Removed), object("a/2.yaml", "Job", delta.Removed),
		object("a/2.yaml", "Service", delta.Removed), object("a/3.yaml", "Job", delta.Changed),
		object("b/1.yaml", "Job", delta.Added),
	}})
	_, got, _ = strings.Cut(got, "<details>")
	want := "<summary><b>Changed objects</b>: 1 added, 3 changed, 3 removed from configuration, in 6 files" +
		"</summary>\n\n" +
		"`a/`: 3 removed from configuration, in 2 files\n\n" +
		"```diff\n- Job n (1.yaml)\n- Job n (2.yaml)\n- Service n (2.yaml)\n```\n\n" +
		"`a/3.yaml`: 1 changed\n\n```diff\n@@ Job n @@\n```\n\n" +
		"`b/1.yaml`: 1 added\n\n```diff\n+ Job n\n```\n\n" +
		"Other changed files: `README.md`, `USING.md`\n\n</details>\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

// TestFitParts checks that a small part keeps its place beside parts that do not fit.
func TestFitParts(t *testing.T) {
	items := func(letter string, n int) part {
		return part{items: n, render: func(d *markdown.Document, _, n int) {
			d.Para(markdown.Markup(strings.Repeat(letter, n)))
		}}
	}
	for want, parts := range map[string][]part{
		"aabbbc":     {items("a", 2), items("b", 3), items("", 0), items("c", 1)},
		"aaabbccccc": {items("a", 3), items("b", 2), items("c", 90)},
		"aaaaabbccc": {items("a", 90), items("b", 2), items("c", 90)},
		"aaaaaaaaac": {items("a", 90), items("c", 1)},
	} {
		d := new(markdown.Document)
		d.Para("-")
		empty := func(p part) bool { return p.items == 0 }
		breaks := 2 * len(slices.DeleteFunc(slices.Clone(parts), empty))
		addParts(d, len(d.Bytes())+10+breaks, parts)
		if got := strings.Trim(strings.ReplaceAll(string(d.Bytes()), "\n", ""), "-"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
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
	want := `33 generated objects change

q00.yaml
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
		"`q00.yaml`: 1 changed, and 29 more in the same way\n",
		"+ spec.cohortName: b\n  the same in 29 more: q01, q02, q03, q04, q05, q06, q07, q08, q09, q10, …\n",
		"`z.yaml`: 3 changed\n",
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
	want := "\x1b[1m3 generated objects change\x1b[0m\n\n" +
		"\x1b[1ma\x1b[0m\n  \x1b[1;32m+\x1b[0m Secret n\n  \x1b[1;31m-\x1b[0m Secret o\n  \x1b[1;33m~\x1b[0m " +
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
		"0-36 nodes, 4 of the 7.84 + 4 to borrow": "0-36 nodes, 4 of the 7.84 + 4 to borrow",
		"+ a -1 1- 1/2 10.0.0.0/8":                "`+` a -1 `1-` `1/2` `10.0.0.0/8`",
	} {
		if got := proseMarkup(in, 400); string(got) != want {
			t.Errorf("prose(%q) = %q, want %q", in, got, want)
		}
	}
}

// own are the lines of Markdown that are not text, and the beginnings of others.
var own = regexp.MustCompile(`^(\*\*|####? |> \[!CAUTION\]$|> (- |\*\*)?|>$|- |\| --- .*\|$|\| |</details>$)`)

// ownHead is the head of a block that the reader can open: with the review's own words, or
// with the name of a file.
var ownHead = regexp.MustCompile(
	`^<details><summary>(?:<b>([^<>]*)</b>([^<>]*)|<code>[^<>]*</code>(: [^<>]*))</summary>$`)

// breakSign stands for a line break in a skeleton.
const breakSign = "↵"

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
		if strings.HasPrefix(line, "<details>") {
			head := ownHead.FindStringSubmatch(line)
			if head == nil {
				t.Fatalf("no head of a block: %q", line)
			}
			out = append(out, head[1], head[2], head[3])
			continue
		}
		if row := strings.TrimPrefix(line, "> "); strings.HasPrefix(row, "| ") { // a table splits first
			if cells := regexp.MustCompile(`[^\\]\|`).FindAllString(row, -1); len(cells) != 3 {
				t.Fatalf("%d cells: %q", len(cells), line)
			}
			line = strings.ReplaceAll(row, `\|`, "I")
		}
		line = strings.TrimSuffix(line, headFrom+" | "+headTo+" |")
		line = strings.TrimSuffix(line, " [How to read this]("+guideAddress+")")
		line = strings.ReplaceAll(withoutCode(t, own.ReplaceAllString(line, "")), lineBreak, breakSign)
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
		"dangerous: @a", "@a; <br>; b", "a/b/@c",
		"@a", "a@b.c", "#1", "a/b#1", "GH-1", "!1", "http://e.com", "/close", "``` @a", "`@a", "@a`", "`` ` @a", `\`,
		`a\|@b`, "a:b:c", ":+1:", "(@a)", "\"@a\"", "</summary>", "</code>: ", "\u200b@a", " |", "| a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := markdownOf(t, liveReview(s, 3))
		if len(got) >= 60_000 || !utf8.ValidString(got) {
			t.Errorf("%d bytes, valid: %v", len(got), utf8.ValidString(got))
		}
		plain := "x"
		if (summary.Line{Note: s}).Dangerous() {
			plain = "dangerous: x"
		}
		if n, want := itemLines(got), itemLines(markdownOf(t, liveReview(plain, 3))); n != want &&
			strings.TrimSpace(words.OneLine(s)) != "" {
			t.Errorf("%d lines, want %d:\n%s", n, want, got)
		}
		skeleton := markdownSkeleton(t, got)
		breaks := strings.Count(markdownSkeleton(t, markdownOf(t, liveReview(plain, 3))), breakSign)
		// Each note of a line, which "; " ends, has a line of its own.
		if n := strings.Count(skeleton, breakSign); s != "" && !strings.Contains(s, "; ") && n != breaks {
			t.Errorf("%d breaks, want %d:\n%s", n, breaks, got)
		}
		for _, r := range skeleton {
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" \n.,:;()'-+→…"+breakSign, r) {
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

// itemLines counts the lines of a comment with items, rows and code. How many of them are folded,
// and the heads of tables there, depend on the lengths of the texts.
func itemLines(md string) (n int) {
	for line := range strings.Lines(md) {
		switch line = strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "> "); {
		case line == "" || line == ">", strings.HasPrefix(line, "<details>"), line == "</details>",
			strings.HasPrefix(line, "#### "), strings.HasPrefix(line, "**"), strings.HasPrefix(line, "| --- |"),
			strings.HasPrefix(line, "| Change | &nbsp;"),
			strings.HasSuffix(line, "resources must be replaced when applied."),
			strings.HasSuffix(line, "removed from configuration."):
		default:
			n++
		}
	}
	return n
}

// FuzzConsole: no text steers a terminal or a runner, and JSON gives it back.
func FuzzConsole(f *testing.F) {
	hostile.Seed(f)
	f.Add("")
	f.Add("\n::error::x\r::stop-commands::y")
	f.Fuzz(func(t *testing.T, s string) {
		r := liveReview(s, 2)
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
		want := strings.Count(printString(t, func(w io.Writer) error { return Text(w, liveReview("x", 2), false) }),
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
		wantNames := append(slices.Repeat([]string{"warning"}, warnings), "notice", "notice", firstWord)
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
		"Text": Text(failing{}, liveReview("x", 1), false), "Markdown": Markdown(failing{}, liveReview("x", 1)),
		"JSON": JSON(failing{}, liveReview("x", 1)), "GitHub": GitHub(failing{}, liveReview("x", 1), ""),
	} {
		if err == nil {
			t.Errorf("%s loses a write error", name)
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }
