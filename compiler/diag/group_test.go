package diag

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// groupedList returns n equal findings on teams, and two on one undefined name.
func groupedList(n int) *List {
	src := newSource("a.cue", strings.Repeat("a\n", n+3))
	l := &List{}
	for i := range n {
		team := fmt.Sprintf("team-%d", i)
		l.Add(Finding{
			Code: "E0601", Severity: Error, Path: "teams." + team, Help: "give it a cohort",
			Message: fmt.Sprintf("team %q has no cohort, see teams.%s.quota", team, team),
			Span:    Span{src, 2 * i, 2*i + 1},
		})
	}
	for i := range 2 {
		l.Add(Finding{
			Code: "E0201", Severity: Error, Path: fmt.Sprintf("capacity.c%d.hardware", i),
			Message: `there is no hardware named "l4"`, Span: Span{src, 2 * (n + i), 2*(n+i) + 1},
		})
		l.Add(Finding{Code: "E0106", Severity: Error, Message: "no value", Span: Span{src, 2 * (n + i), 2*(n+i) + 1}})
	}
	return l
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int][]string{
		3: {"E0601 +0", "E0601 +0", "E0601 +0", "E0106 +0", "E0201 +1", "E0106 +0"},
		4: {"E0601 +3", "E0106 +0", "E0201 +1", "E0106 +0"},
	} {
		var got []string
		l := groupedList(n)
		for _, f := range l.grouped() {
			got = append(got, fmt.Sprintf("%s +%d", f.Code, len(f.Others)))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d teams: -want +got:\n%s", n, d)
		}
		if got := len(l.Sorted()); got != n+4 {
			t.Errorf("Sorted returns %d findings, want %d", got, n+4)
		}
	}
}

// A finding with a different help, value or severity is another one.
func TestGroupedDifferent(t *testing.T) {
	src := newSource("a.cue", strings.Repeat("a\n", 30))
	l := &List{}
	for i := range 4 {
		f := Finding{
			Code: "E0602", Severity: Error, Path: fmt.Sprintf("capacity.c%d", i),
			Message: fmt.Sprintf("capacity \"c%d\" holds %d", i, 8+i%2), Span: Span{src, 2 * i, 2*i + 1},
		}
		l.Add(f)
	}
	if got := len(l.grouped()); got != 4 {
		t.Errorf("%d findings, want 4", got)
	}
}

func TestWriteGroups(t *testing.T) {
	l := groupedList(9)
	var text, json, sarif strings.Builder
	if err := WriteText(&text, l, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := WriteJSON(&json, l); err != nil {
		t.Fatal(err)
	}
	if err := WriteSARIF(&sarif, l, SARIFOptions{}); err != nil {
		t.Fatal(err)
	}
	also := "  = also: a.cue:2:1 (teams.team-1), a.cue:3:1 (teams.team-2), a.cue:4:1 (teams.team-3), " +
		"a.cue:5:1 (teams.team-4), a.cue:6:1 (teams.team-5) and 3 more\n"
	for _, want := range []string{also, "\n4 errors\n"} {
		if !strings.Contains(strings.ReplaceAll(text.String(), "   = ", "  = "), want) {
			t.Errorf("text lacks %q:\n%s", want, text.String())
		}
	}
	// A program gets every place.
	for i := 1; i < 9; i++ {
		want := fmt.Sprintf(`{"path":"teams.team-%d",`+
			`"message":"team \"team-%d\" has no cohort, see teams.team-%d.quota",`+
			`"file":"a.cue","start":{"line":%d,"column":1}`, i, i, i, i+1)
		if !strings.Contains(json.String(), want) {
			t.Errorf("JSON lacks %s:\n%s", want, json.String())
		}
		if want := fmt.Sprintf(`"startLine": %d,`, i+1); !strings.Contains(sarif.String(), want) {
			t.Errorf("SARIF lacks %s", want)
		}
	}
	if want := `"errors":4,`; !strings.Contains(json.String(), want) {
		t.Errorf("JSON lacks %s:\n%s", want, json.String())
	}
	if want := `and 3 more`; !strings.Contains(sarif.String(), want) {
		t.Errorf("SARIF lacks %q", want)
	}
}
