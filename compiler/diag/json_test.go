package diag

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWriteJSON(t *testing.T) {
	src := newSource("a.cue", "name: \"ä\"\nzones: [1]\n")
	var l List
	l.Add(Finding{
		Code: "E0104", Severity: Error, Path: "zones", Message: "not <a> zone",
		Span:    spanOf(t, src, "1"),
		Label:   "want a string",
		Help:    "quote it",
		Related: []Related{{spanOf(t, src, `"ä"`), "like this"}, {Span{}, "nowhere"}},
		Edits:   []Edit{{spanOf(t, src, "[1]"), `["1"]`}},
	})
	l.Add(Finding{Code: "W1", Severity: Warning, Message: "\x1b[1m\u009b\u202e\U000e0001\xff\n", Accepted: "for now"})
	l.Add(Finding{Code: "E0001", Severity: Error, Message: "cannot be read",
		Span: Span{Source: newSource("missing", "")}})
	var b strings.Builder
	if err := WriteJSON(&b, &l); err != nil {
		t.Fatal(err)
	}
	want := `{"version":2,"type":"finding","code":"W1","severity":"warning",` +
		`"message":"\u001b[1m\u009b\u202e\udb40\udc01` + "\\ufffd" + `\n","accepted":"for now"}
{"version":2,"type":"finding","code":"E0104","severity":"error","path":"zones","message":"not <a> zone",` +
		`"label":"want a string","help":"quote it",` +
		`"file":"a.cue","start":{"line":2,"column":9},"end":{"line":2,"column":10},` +
		`"related":[{"message":"like this",` +
		`"file":"a.cue","start":{"line":1,"column":7},"end":{"line":1,"column":10}},{"message":"nowhere"}],` +
		`"edits":[{"file":"a.cue","start":{"line":2,"column":8},"end":{"line":2,"column":11},"text":"[\"1\"]"}]}
{"version":2,"type":"finding","code":"E0001","severity":"error","message":"cannot be read","file":"missing"}
{"version":2,"type":"summary","errors":2,"warnings":1,"notes":0}
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	// A reader gets back what went in, invalid bytes apart.
	var first struct{ Message string }
	if err := json.NewDecoder(strings.NewReader(b.String())).Decode(&first); err != nil {
		t.Fatal(err)
	}
	if want := "\x1b[1m\u009b\u202e\U000e0001\ufffd\n"; first.Message != want {
		t.Errorf("got %q, want %q", first.Message, want)
	}
}

func TestWriteJSONEmpty(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, new(List)); err != nil {
		t.Fatal(err)
	}
	if want := `{"version":2,"type":"summary","errors":0,"warnings":0,"notes":0}` + "\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
