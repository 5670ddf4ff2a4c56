package references_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestSplit splits a document of each form.
func TestSplit(t *testing.T) {
	for _, c := range []struct{ document, want string }{
		{"# Title\n\nA paragraph\nof two lines.\n\n- an item\n- another <img src=\"x\">\n\n" +
			"```sh\nexport A=1\nrun \\\n  it\n```\n\n| Variable | Default |\n| --- | --- |\n| size | 3 |\n\n" +
			"```\nNAME READY\na 1\n```\n\n![alone](y)\n",
			"1 heading, 3 step, 6 step, 7 step, 7p picture, 10 variable, 11 sample, " +
				"15 row, 17 variable, 20 row, 21 row, 24 picture"},
		{"Title\n-\nAn item with `code`\n, and more. -\n" +
			"The next item is a sentence of more than ten words, so no heading.\n" +
			"- A step\nbash\nexport A=1\nrun it\na. Then a list\n",
			"1 heading, 3 step, 5 step, 6 step, 8 variable, 9 sample, 10 step"},
	} {
		var got []string
		for _, p := range split(c.document) {
			got = append(got, p.id+" "+p.kind)
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	a, b := passage{text: "one  line"}, passage{text: "\none\nline"}
	if c := (passage{text: "one more"}); a.hash() != b.hash() || a.hash() == c.hash() {
		t.Error("a hash is of the words alone")
	}
}

// TestNoticesLies checks rows that have one mistake each.
func TestNoticesLies(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	page := "# A\n\n## Build it\n\nRun this.\n\n### Deeper\n\nDig.\n\n## Undo it\n\nStop.\n"
	root := fstest.MapFS{
		"golden/a/README.md":                      file(page),
		"golden/a/dashboards/x.json.diff":         file(" both\n-old\n+new\n"),
		"golden/batch-platform/dashboards/x.json": file("first\nboth\nold\n"),
		"go/a_test.go":                            file("package a\n\nfunc TestA(t *testing.T) {}\n"),
	}
	readme, run := "README.md", proof{In: "README.md", Says: "Run"}
	at := func(in, says string) []proof { return []proof{{In: in, Says: says}} }
	for _, c := range []struct {
		row  row
		want string
	}{
		{row{State: "same", Proof: at("README.md#build-it", "Dig.")}, ""},
		{row{State: "same", Proof: at("README.md#*-it", "Dig.")}, ""},
		{row{State: "same", Proof: at("/golden/a/README.md", "Stop.")}, ""},
		{row{State: "same", Proof: at("dashboards/x.json", "new")}, ""},
		{row{State: "same", Proof: at("dashboards/x.json", "first")}, ""},
		{row{State: "same", Proof: []proof{{Test: "go TestA/case"}}}, ""},
		{row{State: "absent", Reason: "nobody needs it"}, ""},
		{row{State: "corrected", Reason: "wrong", Proof: []proof{run}}, ""},
		{row{State: "another form", Gets: "this", Reason: "better", Less: true, Proof: []proof{run}}, ""},
		{row{State: "same", Proof: at("dashboards/x.json", "old")},
			`golden/a/dashboards/x.json does not say "old"`},
		{row{State: "same", Proof: at("README.md#build-it", "Stop.")},
			`golden/a/README.md#build-it does not say "Stop."`},
		{row{State: "same", Proof: at(readme, "")}, `golden/a/README.md does not say ""`},
		{row{State: "same", Proof: at("README.md#change-it", "Run")},
			"golden/a/README.md has no heading #change-it"},
		{row{State: "same", Proof: at("none.tf", "x")}, "golden/a/none.tf does not exist"},
		{row{State: "same", Proof: []proof{{Test: "go TestB"}}}, "go has no test TestB"},
		{row{State: "same"}, "the row has no proof"},
		{row{State: "here"}, `there is no state "here"`},
		{row{State: "absent"}, "the row gives no reason"},
		{row{State: "corrected", Proof: []proof{run}}, "the row gives no reason"},
		{row{State: "another form", Reason: "better", Proof: []proof{run}},
			"the row does not say what the reader gets"},
		{row{As: "another", State: "same"}, "a row that repeats another has only passages"},
	} {
		got := strings.Join(append(c.row.stateProblems(), c.row.proofProblems(root, "a")...), "; ")
		if got != c.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", c.row, got, c.want)
		}
	}
}

// TestNoticesPassages checks lists that miss a passage, have one that does not exist, or
// are not in order.
func TestNoticesPassages(t *testing.T) {
	list := func(passages ...spans) *reference {
		r := &reference{Sections: []section{{}}}
		for i, p := range passages {
			r.Sections[0].Rows = append(r.Sections[0].Rows, row{Element: fmt.Sprint("row ", i), Passages: p})
		}
		return r
	}
	ids := []string{"1", "4", "4p", "9"}
	for _, c := range []struct {
		list *reference
		want []string
	}{
		{list("1-3", "4 4p", "9"), nil},
		{list("1-4", "4p-9"), nil},
		{list("1", "4", "9"), []string{"passage 4p has no row"}},
		{list("1-9", "10"), []string{"row 1: the document has no such passage"}},
		{list("4-9", "1"), []string{"row 1: the row is not in the order of the document"}},
	} {
		if got := c.list.passageProblems(ids); !slices.Equal(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
