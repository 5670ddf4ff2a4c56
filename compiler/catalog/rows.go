package catalog

import (
	"encoding/json"
	"strings"
)

// findRows returns the rows of a data file whose first field has the given value, ""
// if there are none. It searches the text by bisection, which is possible because
// the files are sorted. A compile therefore pays only for the few rows it needs.
func findRows(file, field, value string) string {
	if value == "" || strings.ContainsAny(value, "\"\\\n") {
		return ""
	}
	prefix := `{"` + field + `":"` + value + `",`
	start, end := 0, len(file)
	for start < end {
		middle := start + strings.LastIndexByte(file[start:(start+end)/2], '\n') + 1
		if file[middle:] < prefix {
			start = middle + strings.IndexByte(file[middle:], '\n') + 1
		} else {
			end = middle
		}
	}
	for strings.HasPrefix(file[end:], prefix) {
		end += strings.IndexByte(file[end:], '\n') + 1
	}
	return file[start:end]
}

// decodeRows decodes the rows that findRows returns, or others like them.
func decodeRows[T any](rows string) []T {
	var out []T
	for row := range strings.Lines(rows) {
		out = append(out, decodeRow[T](row))
	}
	return out
}

// lookupRow decodes the row of a file whose first field has the given value, and reports
// whether there is one.
func lookupRow[T any](file, field, value string) (v T, found bool) {
	row := findRows(file, field, value)
	if row == "" {
		return v, false
	}
	return decodeRow[T](row), true
}

// decodeRow decodes a row of an embedded file. The files are part of the program, so a
// row that does not decode is a bug, and the package's tests would find it.
func decodeRow[T any](row string) T {
	var v T
	if err := json.Unmarshal([]byte(row), &v); err != nil {
		panic("catalog: " + err.Error() + ": " + row)
	}
	return v
}
