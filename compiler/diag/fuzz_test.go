package diag

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzWriters: whatever a finding says and wherever it points, even outside of
// its source, all writers print valid UTF-8 that cannot steer a terminal, and
// JSON gives back what was said.
func FuzzWriters(f *testing.F) {
	f.Add("a.cue", []byte("name: \"ä\"\n\tzones: [1]\r\n"), 7, 9, "no \x1b[1m\u202e zone", "want\none", "help\n\nmore")
	f.Add("-", []byte("\xff\xfe\x00"), 1, 2, "::error file=x::y%0A", "|", "\x00\u009b\U000e0001")
	f.Add("", []byte{}, 0, 0, "", "", "")
	f.Add("%0A:,", []byte(strings.Repeat("ｗ\u0301\t", 200)), 300, 500, "\xf0\x9f", "%", "\r")
	f.Add("a b", []byte("\n\n\n"), -5, 1<<40, "<a>&</a>", "\\", "`")
	f.Fuzz(func(t *testing.T, name string, content []byte, start, end int, message, label, help string) {
		source := &Source{Name: name, Content: content}
		span := Span{Source: source, Start: start, End: end}
		list := &List{}
		list.Add(Finding{
			Code: "E0101", Severity: Error, Path: label, Message: message, Span: span, Label: label, Help: help,
			Related: []Related{
				{Span: span, Message: help},
				{Message: message},
			}, Edits: []Edit{{Span: span, Text: message}},
		})
		list.Add(Finding{
			Code: "W0501", Severity: Warning, Message: help, Span: Span{Source: &Source{Name: name}},
			Edits: []Edit{{Span: span, Text: label}},
		})
		list.Add(Finding{Code: "N0701", Severity: Note, Message: label, Accepted: message})
		for _, w := range []struct {
			name  string
			lines bool // of JSON, or one document
			write func(io.Writer) error
		}{
			{"text", false, func(w io.Writer) error { return WriteText(w, list, TextOptions{}) }},
			{"limited text", false, func(w io.Writer) error { return WriteText(w, list, TextOptions{Limit: 1}) }},
			{"json", true, func(w io.Writer) error { return WriteJSON(w, list) }},
			{"github", false, func(w io.Writer) error { return WriteGitHub(w, list) }},
			{"sarif", true, func(w io.Writer) error { return WriteSARIF(w, list, SARIFOptions{}) }},
		} {
			var out bytes.Buffer
			if err := w.write(&out); err != nil {
				t.Fatalf("%s: %v", w.name, err)
			}
			if !utf8.Valid(out.Bytes()) {
				t.Errorf("%s is not valid UTF-8: %q", w.name, out.Bytes())
			}
			for _, r := range out.String() {
				if r != '\n' && r != utf8.RuneError && !unicode.IsGraphic(r) {
					t.Errorf("%s has %q in it: %q", w.name, r, out.Bytes())
				}
			}
			for d := json.NewDecoder(&out); w.lines; {
				var v map[string]any
				if err := d.Decode(&v); err == io.EOF {
					break
				} else if err != nil {
					t.Fatalf("%s: %v", w.name, err)
				}
				if v["code"] == "E0101" && utf8.ValidString(message) && v["message"] != message {
					t.Errorf("%s: message %q, want %q", w.name, v["message"], message)
				}
			}
		}
	})
}
