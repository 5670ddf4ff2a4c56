package report

import (
	"bytes"
	"io"

	"github.com/batchwright/batchwright/compiler/console"
)

// jsonVersion is the number of the JSON form's version. It increases with changes
// that would break a reader.
const jsonVersion = 1

// JSON writes a report as one JSON object on one line, for programs. Lists are never
// null, and no key is omitted. Readers should ignore unknown keys.
func JSON(w io.Writer, r *Report) error {
	var buf bytes.Buffer
	if err := console.EncodeJSON(&buf, struct {
		Version int    `json:"version"`
		Type    string `json:"type"`
		*Report
	}{jsonVersion, "rehearsal", r}, ""); err != nil {
		return err
	}
	_, err := w.Write(buf.Bytes())
	return err
}
