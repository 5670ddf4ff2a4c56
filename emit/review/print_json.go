package review

import (
	"bytes"
	"io"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/emit/review/delta"
	"github.com/batchwright/batchwright/emit/review/objects"
	"github.com/batchwright/batchwright/emit/review/summary"
)

// jsonVersion is the number of the JSON form's version. It increases with changes
// that would break a reader.
const jsonVersion = 1

// The JSON form. Lists are never null, and no key is omitted.
type (
	jsonReview struct {
		Version      int               `json:"version"`
		Type         string            `json:"type"`
		Platform     string            `json:"platform"`
		Before       string            `json:"before"`
		After        string            `json:"after"`
		StateFrom    string            `json:"stateFrom"`
		StateTo      string            `json:"stateTo"`
		Replacements []jsonReplacement `json:"replacements"`
		Removals     []jsonReplacement `json:"removals"`
		Summary      []jsonLine        `json:"summary"`
		Objects      []jsonObject      `json:"objects"`
		Formatting   int               `json:"formatting"`
	}
	jsonReplacement struct {
		Address   string      `json:"address"`
		File      string      `json:"file"`
		Line      int         `json:"line"`
		Because   []jsonField `json:"because"`
		Nodes     int         `json:"nodes"`
		Workloads []string    `json:"workloads"`
		Guard     string      `json:"guard"`
	}
	jsonLine struct {
		Topic   summary.Topic `json:"topic"`
		Op      delta.Op      `json:"op"`
		Subject string        `json:"subject"`
		What    string        `json:"what"`
		From    string        `json:"from"`
		To      string        `json:"to"`
		Note    string        `json:"note"`
	}
	jsonObject struct {
		File   string      `json:"file"`
		Line   int         `json:"line"`
		Kind   string      `json:"kind"`
		Name   string      `json:"name"`
		Op     delta.Op    `json:"op"`
		Fields []jsonField `json:"fields"`
	}
	jsonField struct {
		Path string `json:"path"`
		From string `json:"from"`
		To   string `json:"to"`
	}
)

// JSON writes a complete review as one JSON object on one line, for programs. The
// order is that of Review. Files are relative to the folder. Readers should ignore
// unknown keys.
//
// As in the other formats, the output is safe to show on a terminal.
func JSON(w io.Writer, r *Review) error {
	out := jsonReview{
		Version: jsonVersion, Type: "review", Platform: r.Platform, Before: r.Before, After: r.After,
		StateFrom: r.StateFrom, StateTo: r.StateTo,
		Replacements: jsonReplacements(r.Replacements), Removals: jsonReplacements(r.Removals),
		Summary: []jsonLine{}, Objects: []jsonObject{}, Formatting: r.Formatting,
	}
	for _, l := range r.Summary {
		out.Summary = append(out.Summary, jsonLine(l))
	}
	for _, o := range r.Objects {
		out.Objects = append(out.Objects, jsonObject{o.File, o.Line, o.Kind, o.Name, o.Op, jsonFields(o.Fields)})
	}
	var buf bytes.Buffer
	if err := console.EncodeJSON(&buf, out, ""); err != nil {
		return err
	}
	_, err := w.Write(buf.Bytes())
	return err
}

func jsonReplacements(all []objects.Replacement) []jsonReplacement {
	out := make([]jsonReplacement, len(all))
	for i, x := range all {
		out[i] = jsonReplacement{
			x.Address, x.File, x.Line, jsonFields(x.Because), x.Nodes, append([]string{}, x.Workloads...), x.Guard,
		}
	}
	return out
}

func jsonFields(fields []objects.Field) []jsonField {
	out := make([]jsonField, len(fields))
	for i, f := range fields {
		out[i] = jsonField(f)
	}
	return out
}
