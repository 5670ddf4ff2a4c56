package dashboard

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"testing"
)

// FuzzSortJSON holds that sortJSON prints what encoding/json prints after it has decoded
// the JSON, except for keys that need escapes.
func FuzzSortJSON(f *testing.F) {
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
		compact, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		want, err := indentJSON(value)
		if err != nil {
			t.Fatal(err)
		}
		if got := sortJSON(compact); !bytes.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", compact, got, want)
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
