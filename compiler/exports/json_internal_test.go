package exports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// FuzzJSON holds the reader of JSON against the YAML library: the same values at the same
// places. Where the library differs from JSON, such as in the escapes of characters beyond
// 16 bits, it fails.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		`{"a": [1, -2.5e3, true, null, "b"], "<<": {"c": {}, "d": []}}`, "[]", "\n {\n\t\"é\": \"ü\", \"x\": 1 }\n",
		`{"a": "\u00e9\n\"", "b": "\\"}`, `"a"`, "12", `{"a": "true", "b": "1"}`, "null", "{", `{"a" 1}`, `[1,]`,
		`{"a": "b`, `{"a": 01}`, `{"a": nul}`, `{"a": 1} {"b": 2}`, `{a: 1}`, `{"a": "\x"}`,
		strings.Repeat("[", 300) + strings.Repeat("]", 300), "{\"a\": 1}\n---\n{\"b\": 2}", `{"a": 1e400}`,
	} {
		f.Add(text)
	}
	files, err := filepath.Glob("../../golden/exports/testdata/*/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(content))
	}
	f.Fuzz(func(t *testing.T, text string) {
		roots := readJSON(text)
		if len(roots) != 1 || strings.ContainsAny(text, "\r\u0085\u2028\u2029") { // which end a line in YAML
			return
		}
		var root yaml.Node
		if decodeNode(yaml.NewDecoder(strings.NewReader(text)), &root) != nil {
			return
		}
		if diff := cmp.Diff(flatten(root.Content[0]), flatten(roots[0])); diff != "" {
			t.Errorf("%s\n(-YAML +JSON):\n%s", text, diff)
		}
	})
}

// flatNode is a node without its style, with all nodes below it.
type flatNode struct {
	Kind         yaml.Kind
	Tag, Value   string
	Line, Column int
	Quoted       bool
	Content      []flatNode
}

func flatten(n *yaml.Node) flatNode {
	out := flatNode{n.Kind, n.ShortTag(), n.Value, n.Line, n.Column, n.Style&yaml.DoubleQuotedStyle != 0, nil}
	for _, below := range n.Content {
		out.Content = append(out.Content, flatten(below))
	}
	return out
}

// TestJSON holds which texts are JSON, and how many values they have.
func TestJSON(t *testing.T) {
	for text, want := range map[string]int{
		`{"a": {"b": [1, "\u00e9"]}}`: 1,
		"{}\n{}\n":                    2,
		"{\n}\n{\n}":                  2,
		"{} {}":                       0,
		"":                            0,
		"null":                        0,
		"a: 1":                        0,
		"[1,]":                        0,
		"{'a': 1}":                    0,
		`{"a": 1`:                     0,
		"{\"a\": \"\n\"}":             0,
		"[]\n{}":                      0,
		`{"a": 0x10}`:                 0,
	} {
		if got := len(readJSON(text)); got != want {
			t.Errorf("%s has %d values, want %d", text, got, want)
		}
	}
}
