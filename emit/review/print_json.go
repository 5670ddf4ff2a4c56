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

// jsonReview is the JSON form. Lists are never null. These keys exist only if they have a value:
// base, in a comparison of revisions; findings, if those of both sides are known; cost, and
// costUnknown; played and rehearsals, if they were played; live, in a comparison with exports;
// and the note and the origin of an object.
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
	out.Shrunk, out.Recreated = fullReplacements(r.Shrunk), fullReplacements(r.Recreated)
	out.Jobs, out.Summary, out.Objects = fullEffects(r.Jobs), notNil(r.Summary), notNil(r.Objects)
	if r.Base != nil {
		base := *r.Base
		base.Edited = notNil(base.Edited)
		out.Base = &base
	}
	if r.Played != nil {
		played := *r.Played
		played.Lines = notNil(played.Lines)
		out.Played = &played
	}
	if r.Live != nil {
		facts := *r.Live
		facts.Adopted, facts.Staying = notNil(facts.Adopted), notNil(facts.Staying)
		facts.Appliers = notNil(facts.Appliers)
		for i, a := range facts.Appliers {
			facts.Appliers[i].Deletes = notNil(a.Deletes)
		}
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
