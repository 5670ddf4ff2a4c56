package review

import (
	"bytes"
	"io"

	"github.com/batchwright/batchwright/compiler/console"
	"github.com/batchwright/batchwright/emit/review/objects"
)

// jsonVersion is the number of the JSON form's version. It increases with changes
// that would break a reader.
const jsonVersion = 1

// jsonReview is the JSON form. Lists are never null, and no key is omitted except cost,
// which exists only if prices are known, rehearsals, which exists only if they were
// played, live, which exists only in a comparison with exports, and the note of an object
// without one.
type jsonReview struct {
	Version int    `json:"version"`
	Type    string `json:"type"`
	Review
}

// JSON writes a complete review as one JSON object on one line, for programs. The
// order is that of Review. Files are relative to the folder. Readers should ignore
// unknown keys.
//
// As in the other formats, the output is safe to show on a terminal.
func JSON(w io.Writer, r *Review) error {
	out := jsonReview{jsonVersion, "review", *r}
	out.Replacements, out.Removals = fullReplacements(r.Replacements), fullReplacements(r.Removals)
	out.Summary, out.Objects = notNil(r.Summary), notNil(r.Objects)
	if r.Live != nil {
		facts := *r.Live
		facts.Adopted, facts.Staying = notNil(facts.Adopted), notNil(facts.Staying)
		facts.Skipped = notNil(facts.Skipped)
		out.Live = &facts
	}
	for i := range out.Objects {
		out.Objects[i].Fields = notNil(out.Objects[i].Fields)
	}
	var buf bytes.Buffer
	if err := console.EncodeJSON(&buf, out, ""); err != nil {
		return err
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// fullReplacements returns a copy of a list in which no list is nil.
func fullReplacements(all []objects.Replacement) []objects.Replacement {
	all = notNil(all)
	for i, x := range all {
		all[i].Because, all[i].Workloads = notNil(x.Because), notNil(x.Workloads)
	}
	return all
}

// notNil returns a copy of a list that is not nil.
func notNil[T any](list []T) []T { return append([]T{}, list...) }
