// Package schema is the blueprint's grammar: the CUE definitions that check and
// document a blueprint, and the Go types that a checked blueprint is decoded into.
//
// The CUE files are the only place of every field's constraint, default and
// documentation. The Go types mirror them by hand; a test fails if the two differ.
package schema

import "embed"

// ImportPath is the path under which a blueprint can import the schema:
//
//	import "github.com/batchwright/batchwright/schema"
const ImportPath = "github.com/batchwright/batchwright/schema"

// Files holds all CUE files of package schema.
//
//go:embed *.cue
var Files embed.FS
