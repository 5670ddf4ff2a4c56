// Package editor answers an editor's questions about a blueprint that is being
// written: what can stand at the cursor, what a field means, where a name is
// defined, and how to correct a finding.
//
// The text at the cursor is seldom valid. The answers therefore come from the tokens
// of the files and from the schema, and not from an evaluated value: a token knows
// the path of its field, whatever stands behind it. Offsets count bytes.
//
// The files are CUE, or JSON, which is CUE.
package editor

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/blueprint"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/schema"
)

// Editor answers questions. It is not safe for concurrent use.
type Editor struct {
	schema *blueprint.SchemaReader
	codes  []diag.Code
}

// New returns an Editor that knows the given codes of findings.
func New(codes []diag.Code) (*Editor, error) {
	return &Editor{blueprint.ReadSchema(), codes}, nil
}

// File is one file of a blueprint.
type File struct {
	Name    string // with .cue, .yaml, .yml or .json at its end
	Content []byte
}

// mark is a name or a value in a file.
type mark struct {
	start, end int
	text       string   // without quotes
	quoted     bool     // written with quotes
	label      bool     // the name of a field
	reference  bool     // a part of a CUE expression: a name without quotes
	path       []string // path of the field: for a label including it
	stop       int      // of a label, the end of the field
}

// cursor describes the place where somebody writes.
type cursor struct {
	// start and end are the range of the token at the cursor. They are equal if there
	// is none.
	start, end int
	quoted     bool     // the token has quotes
	within     []string // path of the struct or list around the cursor
	path       []string // path of the field whose value begins at the cursor, otherwise within
	value      bool     // the value of a field, or an element of a list, is expected
	silent     bool     // nothing can be offered: in a comment, or behind a dot
}

// readMarks returns the marks of a file in their order.
func readMarks(f File) []mark {
	marks, _ := scanFile(f, -1)
	return marks
}

// scanFile returns the marks of a file and, if at is not negative, the cursor at
// that offset. A YAML file has none: yaml-language-server reads it with the JSON Schema.
func scanFile(f File, at int) ([]mark, cursor) {
	if isYAML(f) {
		return nil, cursor{start: at, end: at, silent: true}
	}
	return scanCUE(f.Content, at)
}

func isYAML(f File) bool { return strings.HasPrefix(filepath.Ext(f.Name), ".y") }

// topOfYAML matches the names of fields at the top of a YAML file.
var topOfYAML = regexp.MustCompile(`(?m)^["']?(\w+)["']? *:`)

// topFields returns the names of the fields at the top of a file.
func topFields(f File) []string {
	var names []string
	if isYAML(f) {
		for _, m := range topOfYAML.FindAllSubmatch(f.Content, -1) {
			names = append(names, string(m[1]))
		}
		return names
	}
	for _, m := range readMarks(f) {
		if m.label && len(m.path) == 1 {
			names = append(names, m.text)
		}
	}
	return names
}

// IsBlueprint reports whether files, which are one CUE package or one data file, are
// a blueprint: they refer to the schema, or have at least two of its fields at their
// top, one of them a field of entities. Files of other tools can have fields such as
// region and zones.
func IsBlueprint(files []File) bool {
	other := []string{"project", "region", "zones", "cluster"}
	seen := map[string]bool{}
	entities := false
	for _, f := range files {
		if filepath.Ext(f.Name) == ".cue" && strings.Contains(string(f.Content), `"`+schema.ImportPath) {
			return true
		}
		for _, name := range topFields(f) {
			isEntities := slices.Contains(entityFields(), name)
			entities = entities || isEntities
			if isEntities || slices.Contains(other, name) {
				seen[name] = true
			}
		}
	}
	return entities && len(seen) > 1
}
