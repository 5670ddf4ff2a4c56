package compiler

import (
	"strings"
	"testing"

	"github.com/batchwright/batchwright/compiler/blueprint"
	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
)

// TestNesting: whatever nests, a thousand deep is taken in and without end is
// refused, by every way into a parser.
func TestNesting(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles very deep blueprints")
	}
	for _, tt := range []struct {
		name, before, open, middle, shut, after string
		wrong                                   bool // however shallow
	}{
		{"lists", "x: ", "[", "1", "]", "", false},
		{"structs", "x: ", "{a: ", "1", "}", "", false},
		{"fields", "", "a: ", "1", "", "", false},
		{"parentheses", "x: ", "(", "1", ")", "", false},
		{"patterns", "x: ", "{[string]: ", "1", "}", "", false},
		{"signs", "x: ", "- ", "1", "", "", false},
		{"negations", "x: ", "!", "true", "", "", false},
		{"bounds", "x: ", "!=(", "1", ")", "", false},
		{"sums", "x: ", "1 +\n", "1", "", "", false},
		{"choices", "x: ", "1 | ", "1", "", "", false},
		{"conjunctions", "x: ", "1 & ", "1", "", "", false},
		{"selectors", "a: 1\nx: ", "a.", "a", "", "", false},
		{"indices", "a: [1]\nx: a", "[0]", "", "", "", false},
		{"calls", "a: 1\nx: a", "()", "", "", "", false},
		{"interpolations", "x: ", `"\(`, "1", `)"`, "", false},
		{"raw interpolations", "x: ", `#"\#(`, "1", `)"#`, "", false},
		{"conditions", "x: {", "if true {", "", "}", "}", false},
		{"comprehensions", "x: ", "[for y in ", "[]", "{y}]", "", false},
		{"open lists", "x: ", "[...", "1", "]", "", false},
		{"attributes", "x: 1 @a", "(", "", ")", "", false},
		{"attributes of attributes", "x: 1 ", "@a ", "@a()", "", "", true},
		{"unfinished", "x: ", "[", "", "", "", true},
		{"JSON", "{\"x\": ", `{"a":`, "1", "}", "}", false},
		{"YAML", "x: ", "[", "1", "]", "", false},
		{"block YAML", "x:\n ", "- ", "1", "", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := "-"
			if strings.Contains(tt.name, "YAML") {
				path = "yaml:-"
			}
			for _, depth := range []int{1000, 20_000, 500_000} {
				source := tt.before + strings.Repeat(tt.open, depth) + tt.middle +
					strings.Repeat(tt.shut, depth) + tt.after + "\n"
				if len(source) > load.MaxFile {
					continue
				}
				res, err := Compile(t.Context(),
					Input{Dir: t.TempDir(), Paths: []string{path}, Stdin: strings.NewReader(source)})
				if err != nil {
					t.Fatal(err)
				}
				findings := [][]diag.Finding{res.Findings.Sorted()}
				if path == "-" {
					_, formatting, err := blueprint.Format("-", []byte(source))
					if err != nil {
						t.Fatal(err)
					}
					findings = append(findings, formatting.Sorted())
				}
				for _, list := range findings {
					refused := len(list) == 1 && list[0].Code == "E0003" && list[0].Span.Valid()
					if depth > load.MaxNesting && !refused {
						t.Errorf("%d deep: not refused: %v", depth, list[0].Message)
					}
					if depth < load.MaxNesting && refused && !tt.wrong {
						t.Errorf("%d deep: %s", depth, list[0].Message)
					}
				}
			}
		})
	}
}
