// Package schema is the blueprint's grammar: the CUE definitions that check
// and document a blueprint, and the Go types a checked blueprint decodes into.
//
// The CUE files are the one home of every field's constraint, default and
// documentation. The Go types mirror them by hand; a test fails when the two
// drift apart.
package schema

import "embed"

// ImportPath is the path under which a blueprint can import the schema:
//
//	import "github.com/batchwright/batchwright/schema"
const ImportPath = "github.com/batchwright/batchwright/schema"

// Files holds the schema's CUE files, all of package schema.
//
//go:embed *.cue
var Files embed.FS
