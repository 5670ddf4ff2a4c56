package diag

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/batchwright/batchwright/compiler/console"
)

// jsonVersion counts changes to the JSON form that would break a reader.
const jsonVersion = 1

type jsonFinding struct {
	Version  int    `json:"version"`
	Type     string `json:"type"`
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Path     string `json:"path,omitempty"`
	Message  string `json:"message"`
	Label    string `json:"label,omitempty"`
	Help     string `json:"help,omitempty"`
	Accepted string `json:"accepted,omitempty"`
	*jsonSpan
	Related []jsonRelated `json:"related,omitempty"`
	Edit    *jsonEdit     `json:"edit,omitempty"`
}

type jsonSpan struct {
	File  string    `json:"file"`
	Start *Position `json:"start,omitempty"`
	End   *Position `json:"end,omitempty"`
}

type jsonRelated struct {
	Message string `json:"message"`
	*jsonSpan
}

type jsonEdit struct {
	*jsonSpan
	Text string `json:"text"`
}

type jsonSummary struct {
	Version  int    `json:"version"`
	Type     string `json:"type"`
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
	Notes    int    `json:"notes"`
}

// WriteJSON renders findings for programs: one JSON object a line and finding,
// in the order of List.Sorted, with "type": "finding", then a line with
// "type": "summary" that counts them, also of an empty list. Lines and columns
// are Positions, "end" is where the span has just ended; both are missing where
// a file as a whole is meant. Keys without a value are left out. Readers should
// skip types and keys they do not know.
//
// Invalid UTF-8 is replaced by U+FFFD, and control and formatting characters
// are escaped, so that the output is safe to show on a terminal.
func WriteJSON(w io.Writer, l *List) error {
	var buf bytes.Buffer
	all := l.Sorted()
	count := make(map[Severity]int)
	for _, f := range all {
		count[f.Severity]++
		if err := console.EncodeJSON(&buf, f.json(), ""); err != nil {
			return err
		}
	}
	summary := jsonSummary{jsonVersion, "summary", count[Error], count[Warning], count[Note]}
	if err := console.EncodeJSON(&buf, summary, ""); err != nil {
		return err
	}
	_, err := w.Write(buf.Bytes())
	return err
}

func (f Finding) json() jsonFinding {
	out := jsonFinding{
		Version:  jsonVersion,
		Type:     "finding",
		Code:     f.Code,
		Severity: f.Severity.String(),
		Path:     f.Path,
		Message:  f.Message,
		Label:    f.Label,
		Help:     f.Help,
		Accepted: f.Accepted,
		jsonSpan: f.Span.json(),
	}
	for _, r := range f.Related {
		out.Related = append(out.Related, jsonRelated{r.Message, r.Span.json()})
	}
	if f.Edit != nil {
		out.Edit = &jsonEdit{f.Edit.Span.json(), f.Edit.Text}
	}
	return out
}

// MarshalJSON writes a span as WriteJSON does: its file, and where it starts and
// ends. The zero Span is null.
func (s Span) MarshalJSON() ([]byte, error) { return json.Marshal(s.json()) }

func (s Span) json() *jsonSpan {
	if !s.Valid() {
		return nil
	}
	if !s.hasText() {
		return &jsonSpan{File: s.Source.Name}
	}
	start, end := s.Source.Position(s.Start), s.Source.Position(s.End)
	return &jsonSpan{File: s.Source.Name, Start: &start, End: &end}
}
