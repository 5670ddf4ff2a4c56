package dashboard

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"testing"
)

// FuzzBoardJSON holds that boardJSON prints what encoding/json prints, except for the
// order of keys that need escapes.
func FuzzBoardJSON(f *testing.F) {
	for _, source := range []string{
		`{}`, `[]`, `"a"`, `-1.5e+21`, `null`, `[[],{},[1,"2",null,[true]],{"":{}}]`,
		`{"b":{"z":1,"a":[{"y":false,"x":0.25}]},"a":"sum(x) \u003c 1 & y > \"2\" \\u003c","a b":2,"é":"\u2028"}`,
		`{"a":2,"a!":3,"<":5,">":6}`, "\"\\u0001\\t\\n\\ud800\xff\"",
	} {
		f.Add([]byte(source))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		var value any
		decoder := json.NewDecoder(bytes.NewReader(source))
		decoder.UseNumber()
		if decoder.Decode(&value) != nil || hasEscapedKey(value) {
			t.Skip()
		}
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(value); err != nil {
			t.Fatal(err)
		}
		for _, sort := range []bool{sorted, inOrder} { // the keys of a map are always in order
			if got, err := boardJSON(value, sort); err != nil || !bytes.Equal(got, want.Bytes()) {
				t.Errorf("got %s, %v\nwant %s", got, err, want.Bytes())
			}
		}
	})
}

// hasEscapedKey reports whether a key below value needs an escape.
func hasEscapedKey(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		for key, child := range value {
			if strconv.Quote(key) != `"`+key+`"` || hasEscapedKey(child) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, hasEscapedKey)
	}
	return false
}
