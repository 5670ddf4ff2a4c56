package blueprint

import (
	"cuelang.org/go/cue"

	"github.com/batchwright/batchwright/compiler/blueprint/literal"
)

// given is a value of the blueprint with the verdict of package literal.
type given struct {
	text    []byte // JSON of a value that fits
	verdict literal.Verdict
	value   func() cue.Value
}

// checkLiteral compares a value with its shape without CUE, if one place of the files
// writes the value, as a literal. A missing value is compared as its default. closed
// reports whether a definition is around the value.
//
// An evaluated value is not compared in this way, even if it has no open parts: an
// expression in it, such as T={if T.bucket == _|_ {...}}, can have another value after
// the schema has added its defaults.
func checkLiteral(shape *literal.Shape, value cue.Value, closed bool) given {
	out := given{value: func() cue.Value { return value }}
	switch {
	case !value.Exists():
		if text, ok := shape.Default(); ok {
			out.text, out.verdict = text, literal.Fits
		}
	case value.Err() == nil && !closed && !isClosed(value):
		if source := value.Source(); source != nil { // nil for a value with several sources
			out.text, out.verdict = shape.Check(source)
		}
	}
	return out
}

// isClosed reports whether a value is a struct of a definition. The defaults of the
// schema would add fields to the struct, which the definition may not allow.
func isClosed(value cue.Value) bool {
	return value.IncompleteKind() == cue.StructKind && !value.Allows(cue.AnyString)
}
