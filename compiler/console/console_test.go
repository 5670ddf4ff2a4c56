package console

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestInline(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 日 🚀":          "plain é 日 🚀",
		"two\nlines\tand\rone": "two lines and␍one",
		"\x1b[31m\x7f\u009b":   "␛[31m␡\ufffd",
		"\u202egnp\xff":        "\ufffdgnp\ufffd",
	} {
		if got := Inline(in); got != want || Inline(got) != want {
			t.Errorf("Inline(%q) = %q, and again %q, want %q", in, got, Inline(got), want)
		}
	}
}

func TestTable(t *testing.T) {
	table, buf := Table{Texts: 2}, new(bytes.Buffer)
	table.Add("team", "tier", "jobs", "hours")
	table.Add("é", "", "12", "1.5")
	table.Add("total", "all tiers")
	table.Print(buf)
	want := "team   tier       jobs  hours\né                   12    1.5\ntotal  all tiers\n"
	if got := buf.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestPaint(t *testing.T) {
	if got := Red.Paint(true, "a"); got != "\x1b[1;31ma\x1b[0m" {
		t.Errorf("%q", got)
	}
	if got := Red.Paint(false, "a") + Red.Paint(true, ""); got != "a" {
		t.Errorf("%q", got)
	}
}

func TestCommand(t *testing.T) {
	for want, c := range map[string]Command{
		"::notice::m\n": {Name: "notice", Message: "m"},
		"::warning file=a%2Cb%3Ac,line=3,title=50%25::100%25%0A::error::x\n": {
			Name: "warning", File: "a,b:c", Line: 3, Title: "50%", Message: "100%\n::error::x",
		},
		"::error file=f,line=1,endLine=2,col=4,title=a b::␍\n": {
			Name: "error", File: "f", Line: 1, EndLine: 2, Column: 4, Title: "a\nb", Message: "\r",
		},
		"::error title=t::␛[0m\n": {Name: "error", Title: "t", Message: "\x1b[0m"},
	} {
		if got := c.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func FuzzEncodeJSON(f *testing.F) {
	f.Add("\x1b\u009b\u202e\U000e0001<&>\n")
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		if err := EncodeJSON(&b, s, ""); err != nil {
			t.Fatal(err)
		}
		for _, r := range b.String() {
			if r != '\n' && r != utf8.RuneError && !unicode.IsGraphic(r) {
				t.Errorf("%U in %q", r, b.String())
			}
		}
		var got string
		if err := json.Unmarshal(b.Bytes(), &got); err != nil || utf8.ValidString(s) && got != s {
			t.Errorf("got %q, %v, want %q", got, err, s)
		}
	})
}
