package mermaid

import (
	"html"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/hostile"
)

func TestFlowchart(t *testing.T) {
	var f Flowchart
	f.OpenGroup("outer", "cohort a")
	f.OpenGroup("inner", "team b", "2 queues")
	f.Node("n1", Box, "cq-b")
	f.CloseGroup()
	f.Node("n2", Stadium, "l4 [spot]")
	f.CloseGroup()
	f.Node("n3", Cylinder, "pool", `"x"`)
	f.Arrows("n1", "n2", "n3")
	f.Arrows("n1")
	f.LabelledArrow("n2", "n3", "4 GPUs | all")
	f.LabelledArrow("n3", "n1", "")
	want := []string{
		`flowchart LR`,
		`  subgraph outer["cohort a"]`,
		`    subgraph inner["team b<br>2 queues"]`,
		`      n1["cq-b"]`,
		`    end`,
		`    n2(["l4 #91;spot#93;"])`,
		`  end`,
		`  n3[("pool<br>#34;x#34;")]`,
		`  n1 --> n2 & n3`,
		`  n2 -->|"4 GPUs #124; all"| n3`,
		`  n3 --> n1`,
	}
	if d := cmp.Diff(want, f.Lines()); d != "" {
		t.Errorf("flowchart (-want +got):\n%s", d)
	}
}

// TestLines checks that a caller may change the lines that it gets.
func TestLines(t *testing.T) {
	var f Flowchart
	f.Node("n1", Box, "a")
	f.Lines()[1] = ""
	if got, want := f.Lines()[1], `  n1["a"]`; got != want {
		t.Errorf("the line is %q, want %q", got, want)
	}
}

// FuzzLabel checks that a reader of Mermaid gets a label back as it was, except for
// the characters that would end its line.
func FuzzLabel(f *testing.F) {
	hostile.Seed(f)
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
	if strings.ContainsAny(m, "\"`<>[](){}|&$\\") {
		t.Fatalf("%q has what could end a label", m)
	}
	return html.UnescapeString(strings.ReplaceAll(m, "#", "&#"))
}
