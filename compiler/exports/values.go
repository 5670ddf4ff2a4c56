package exports

import (
	"encoding/json"
	"strconv"
	"strings"
)

// At returns the value below a path of keys, nil if there is none.
func At(v any, path ...string) any {
	for _, key := range path {
		fields, _ := v.(map[string]any)
		v = fields[key]
	}
	return v
}

// Text returns the text below a path of keys, "" if there is none.
func Text(v any, path ...string) string {
	switch v := At(v, path...).(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// Number returns the whole number below a path of keys. gcloud prints some numbers as
// texts. The result is 0 for anything else, and for numbers that no cluster has.
func Number(v any, path ...string) int { return wholeNumber(Text(v, path...), 1_000_000) }

// Seconds returns the whole seconds of a duration such as "3600s" or 3600 below a path of
// keys, 0 for anything else.
func Seconds(v any, path ...string) int {
	return wholeNumber(strings.TrimSuffix(Text(v, path...), "s"), 1_000_000_000)
}

// wholeNumber returns the number from 0 to most that a text says, 0 for anything else.
func wholeNumber(text string, most int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return 0
	}
	return n
}

// IsTrue reports whether the value below a path of keys is true.
func IsTrue(v any, path ...string) bool { return At(v, path...) == true }

// List returns the list below a path of keys, nil if there is none.
func List(v any, path ...string) []any {
	list, _ := At(v, path...).([]any)
	return list
}

// Texts returns the texts of the list below a path of keys.
func Texts(v any, path ...string) []string {
	var out []string
	for _, item := range List(v, path...) {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// IsEmpty reports whether a value is an empty list or has no fields.
func IsEmpty(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}
