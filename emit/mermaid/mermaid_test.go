package mermaid

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/hostile"
)

func TestFlowchart(t *testing.T) {
	var f Flowchart
	f.OpenGroup("outer", "cohort a")
	f.Node("n1", Box, Plain, "cq-b", "2 queues")
	f.CloseGroup()
	f.Node("n2", Stadium, 0, "l4 [spot]")
	f.Node("n3", Box, Plain, "pool", `"x"`)
	f.Arrows([]string{"n1", "n3"}, "n2", 0)
	f.Arrows(nil, "n1", Plain)
	f.Arrows([]string{"n2"}, "n3", Plain)
	want := []string{
		`---`, `config:`, `  flowchart:`, `    wrappingWidth: 480`, `---`,
		`flowchart LR`,
		`  subgraph outer["cohort a"]`,
		`    n1["cq-b<br>2 queues"]`,
		`  end`,
		`  n2(["l4 #91;spot#93;"])`,
		`  n3["pool<br>#34;x#34;"]`,
		`  n1 & n3 --> n2`,
		`  n2 --> n3`,
		`  linkStyle 0,1 stroke:#3b82f6,stroke-width:2px`,
		`  linkStyle 2 stroke:#7d8590,stroke-width:2px`,
		`  classDef frame fill:#7d859026,stroke:#7d8590`,
		`  classDef plain fill:#f6f8fa,stroke:#7d8590,color:#1f2328`,
		`  classDef hue0 fill:#dbeafe,stroke:#3b82f6,stroke-width:2px,color:#1f2328`,
		`  class outer frame`,
		`  class n1,n3 plain`,
		`  class n2 hue0`,
	}
	if d := cmp.Diff(want, f.Lines()); d != "" {
		t.Errorf("flowchart (-want +got):\n%s", d)
	}
}

// TestLines checks that a caller may change the lines that it gets.
func TestLines(t *testing.T) {
	var f Flowchart
	f.Node("n1", Box, Plain, "a")
	const line = 6
	f.Lines()[line] = ""
	if got, want := f.Lines()[line], `  n1["a"]`; got != want {
		t.Errorf("the line is %q, want %q", got, want)
	}
}

// TestFits checks the limits of Mermaid on both sides.
func TestFits(t *testing.T) {
	var arrows, text Flowchart
	for range MaxArrows {
		arrows.Arrows([]string{"a"}, "b", Plain)
	}
	if !arrows.Fits() {
		t.Errorf("%d arrows do not fit", MaxArrows)
	}
	arrows.Arrows([]string{"a"}, "b", Plain)
	if arrows.Fits() {
		t.Errorf("%d arrows fit", MaxArrows+1)
	}
	text.Node("a", Box, Plain, "")
	rest := MaxText - len(strings.Join(text.Lines(), "\n")+"\n")
	text = Flowchart{}
	text.Node("a", Box, Plain, strings.Repeat("x", rest))
	if !text.Fits() {
		t.Errorf("%d characters do not fit", MaxText)
	}
	text = Flowchart{}
	text.Node("a", Box, Plain, strings.Repeat("x", rest+1))
	if text.Fits() {
		t.Errorf("%d characters fit", MaxText+1)
	}
}

// TestColors checks that a reader can tell colors from the page of a light and of a
// dark theme, and read the text on them. WCAG 2.2 wants a contrast of 4.5 for text
// (1.4.3) and of 3 for graphics (1.4.11).
func TestColors(t *testing.T) {
	const lightPage, darkPage = "#ffffff", "#0d1117"
	check := func(what, a, b string, least float64) {
		if got := contrastOf(t, a, b); got < least {
			t.Errorf("%s: the contrast of %s and %s is %.2f, want %.1f", what, a, b, got, least)
		}
	}
	strokes := map[string]bool{}
	for i, h := range append(hues, struct{ fill, stroke string }{plainFill, plainStroke}) {
		what := fmt.Sprintf("hue %d", i)
		check(what, h.stroke, lightPage, 3)
		check(what, h.stroke, darkPage, 3)
		check(what, h.fill, textColor, 4.5)
		if strokes[h.stroke] {
			t.Errorf("%s has the stroke %s of another", what, h.stroke)
		}
		strokes[h.stroke] = true
	}
	_, a, _ := Color(0).style()
	if _, b, _ := Color(len(hues)).style(); a != b {
		t.Errorf("after the last hue comes %s, want %s", b, a)
	}
}

// contrastOf returns the contrast of two colors as WCAG defines it.
func contrastOf(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(color string) float64 {
		rgb, err := strconv.ParseUint(strings.TrimPrefix(color, "#"), 16, 24)
		if err != nil {
			t.Fatal(err)
		}
		linear := func(shift int) float64 {
			c := float64(rgb>>shift&0xff) / 255
			if c <= 0.04045 {
				return c / 12.92
			}
			return math.Pow((c+0.055)/1.055, 2.4)
		}
		return 0.2126*linear(16) + 0.7152*linear(8) + 0.0722*linear(0)
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// FuzzLabel checks that a reader of Mermaid gets a label back as it was, except for
// the characters that would end its line.
func FuzzLabel(f *testing.F) {
	hostile.Seed(f)
	f.Add("- item")
	f.Fuzz(func(t *testing.T, s string) {
		label := quoteLabel([]string{s})
		if got, want := readLabel(t, label), words.OneLine(s); got != want {
			t.Errorf("quoteLabel(%q) is %s and reads as %q", s, label, got)
		}
	})
}

// readLabel reads a Mermaid label with its quotes.
func readLabel(t *testing.T, m string) string {
	t.Helper()
	m = strings.TrimSuffix(strings.TrimPrefix(m, `"`), `"`)
	// Mermaid 11 also reads Markdown.
	if strings.ContainsAny(m, "\"`<>[](){}|&$\\*_~!+./") || strings.HasPrefix(m, "-") {
		t.Fatalf("%q has what could end a label", m)
	}
	return html.UnescapeString(strings.ReplaceAll(m, "#", "&#"))
}
