package load

import (
	"strings"
	"testing"
)

// TestNestingCounts: what only looks nested is not counted, and long lists are
// not deep.
func TestNestingCounts(t *testing.T) {
	const many = 2 * MaxNesting
	for name, source := range map[string]string{
		"fields in a row": strings.Repeat("a: b: [1]\n", many),
		"one line":        strings.Repeat("a: 1, ", many),
		"a long list":     "[" + strings.Repeat("{a: 1 + 1},", many) + "]",
		"a string":        `x: "` + strings.Repeat("[.a(", many) + `"`,
		"an escaped one":  `x: "` + strings.Repeat(`\"[`, many) + `"`,
		"lines":           "x: \"\"\"\n" + strings.Repeat("[(\"{ @a(\n", many) + "\"\"\"\n",
		"raw":             `x: #"` + strings.Repeat(`"[\(`, many) + `"#`,
		"a comment":       "x: 1 // " + strings.Repeat("[(", many) + "\n",
		"interpolations":  strings.Repeat(`x: "a\(b)c\(d)"`+"\n", many),
		"one with many":   `x: "` + strings.Repeat(`\(a.b)`, many) + `"`,
		"attributes":      strings.Repeat("a: 1 @tag(a,short=b|c)\n", many),
		"addresses":       `x: "` + strings.Repeat("a@b ", many) + `"`,
	} {
		if err := checkNesting("x.cue", []byte(source)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
