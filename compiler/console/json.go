package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// EncodeJSON writes a value as JSON and a line end: in one line, or indented.
// What a terminal should not be sent is escaped, so that a reader gets it back.
func EncodeJSON(buf *bytes.Buffer, v any, indent string) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	// Outside of strings JSON has ASCII only, and encoding/json has escaped
	// what is below U+0020 in them: line ends apart, all that is left stands
	// in a string.
	for _, r := range text.String() {
		switch {
		case r == '\n' || r == utf8.RuneError || unicode.IsGraphic(r):
			buf.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(buf, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(buf, `\u%04x`, r)
		}
	}
	return nil
}
