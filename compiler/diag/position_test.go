package diag

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestPositionOfLongLines counts the columns of lines that are longer than what
// is counted at once.
func TestPositionOfLongLines(t *testing.T) {
	content := "a\n" + strings.Repeat("aé€😀", stride) + "\nb" + strings.Repeat("x", stride) + "\n"
	s := &Source{Content: []byte(content)}
	for offset := range content {
		if offset%97 != 0 && offset < len(content)-10 {
			continue
		}
		before := content[:offset]
		want := Position{
			Line:   1 + strings.Count(before, "\n"),
			Column: 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]),
		}
		if got := s.Position(offset); got != want {
			t.Fatalf("offset %d: %v, want %v", offset, got, want)
		}
	}
}

func TestSpanJSON(t *testing.T) {
	src := &Source{Name: "a.cue", Content: []byte("x: 1\n")}
	for _, c := range []struct {
		span Span
		want string
	}{
		{Span{}, `null`},
		{Span{Source: &Source{Name: "b.cue"}}, `{"file":"b.cue"}`},
		{Span{src, 3, 4}, `{"file":"a.cue","start":{"line":1,"column":4},"end":{"line":1,"column":5}}`},
	} {
		got, err := json.Marshal(c.span)
		if err != nil || string(got) != c.want {
			t.Errorf("got %s, %v, want %s", got, err, c.want)
		}
	}
}

func TestWriteExcerpt(t *testing.T) {
	src := &Source{Name: "a.cue", Content: []byte("x: 1\n")}
	var b strings.Builder
	if err := WriteExcerpt(&b, Span{src, 3, 4}, "written here", false); err != nil {
		t.Fatal(err)
	}
	want := "a.cue:1:4: written here\n  |\n1 | x: 1\n  |    ^\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
