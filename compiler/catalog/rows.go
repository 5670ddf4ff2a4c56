package catalog

import (
	"encoding/json"
	"strings"
)

// rows returns the rows of a data file whose first field has that value, "" if
// there are none. They stand together, because the files are sorted. Only their
// text is searched, so that a compile pays for the rows it needs.
func rows(file, field, value string) string {
	if value == "" || strings.ContainsAny(value, "\"\\\n") {
		return ""
	}
	prefix := `{"` + field + `":"` + value + `",`
	start := 0
	if !strings.HasPrefix(file, prefix) {
		if start = strings.Index(file, "\n"+prefix) + 1; start == 0 {
			return ""
		}
	}
	end := start
	for strings.HasPrefix(file[end:], prefix) {
		end += strings.IndexByte(file[end:], '\n') + 1
	}
	return file[start:end]
}

// decode reads a row of an embedded file. The files are part of the program: a
// row that does not decode is a bug, which the package's tests would show.
func decode[T any](row string) T {
	var v T
	if err := json.Unmarshal([]byte(row), &v); err != nil {
		panic("catalog: " + err.Error() + ": " + row)
	}
	return v
}
