package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// EncodeJSON appends a value as JSON and a line feed to buf: in one line if indent
// is "", otherwise indented. It escapes characters that are unsafe for a terminal,
// so that a JSON reader restores them.
func EncodeJSON(buf *bytes.Buffer, v any, indent string) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	// Outside of strings, JSON has only ASCII characters; inside, encoding/json has
	// escaped the characters below U+0020. Except for line feeds, every remaining
	// unsafe character is therefore in a string.
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
