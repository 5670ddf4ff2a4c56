package diag

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/batchwright/batchwright/compiler/console"
)

// jsonVersion is the version of the JSON form. It rises with each change that would
// break a reader.
const jsonVersion = 2

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
	Edits   []jsonEdit    `json:"edits,omitempty"`
	Others  []jsonOther   `json:"others,omitempty"`
}

// jsonOther is an equal finding on another field.
type jsonOther struct {
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	*jsonSpan
	Edits []jsonEdit `json:"edits,omitempty"`
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

// WriteJSON renders findings for programs: one JSON object per line and finding, in
// the order of List.grouped, with "type": "finding". "others" holds the path, the
// message, the place and the edits of every equal finding that is shown as this one. The last line has "type":
// "summary" and counts the findings, even for an empty list. Lines and columns are
// Positions, and "end" is the position after the span; both are omitted if the
// finding is about a file as a whole. Keys without a value are omitted. Readers
// should skip unknown types and keys.
//
// Invalid UTF-8 is replaced by U+FFFD, and control and formatting characters are
// escaped, so that the output is safe to show on a terminal.
func WriteJSON(w io.Writer, l *List) error {
	var buf bytes.Buffer
	all := l.grouped()
	count := make(map[Severity]int)
	for _, f := range all {
		count[f.Severity]++
		if err := console.EncodeJSON(&buf, f.toJSON(), ""); err != nil {
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

func (f Finding) toJSON() jsonFinding {
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
		jsonSpan: f.Span.toJSON(),
	}
	for _, r := range f.Related {
		out.Related = append(out.Related, jsonRelated{r.Message, r.Span.toJSON()})
	}
	out.Edits = editsToJSON(f.Edits)
	for _, other := range f.Others {
		out.Others = append(out.Others,
			jsonOther{other.Path, other.Message, other.Span.toJSON(), editsToJSON(other.Edits)})
	}
	return out
}

func editsToJSON(edits []Edit) []jsonEdit {
	var out []jsonEdit
	for _, e := range edits {
		out = append(out, jsonEdit{e.Span.toJSON(), e.Text})
	}
	return out
}

// MarshalJSON returns the span in the form that WriteJSON writes: its file, start
// and end. The zero Span is null.
func (s Span) MarshalJSON() ([]byte, error) { return json.Marshal(s.toJSON()) }

// MarshalJSON returns the message and the place.
func (r Related) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Message string `json:"message"`
		At      Span   `json:"at"`
	}{r.Message, r.Span})
}

func (s Span) toJSON() *jsonSpan {
	if !s.Valid() {
		return nil
	}
	if !s.hasText() {
		return &jsonSpan{File: s.Source.Name}
	}
	start, end := s.Source.Position(s.Start), s.Source.Position(s.End)
	return &jsonSpan{File: s.Source.Name, Start: &start, End: &end}
}
