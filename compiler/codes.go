package compiler

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/rules"
)

// Codes returns every code that a finding of Compile can have, by number.
func Codes() []diag.Code {
	all := slices.Concat(loaderCodes(), grammarCodes())
	for _, r := range rules.All() {
		all = append(all, diag.Code{ID: r.Code, Severity: r.Severity, Title: r.Title, Acceptable: r.CanAccept()})
	}
	slices.SortFunc(all, diag.Code.Compare)
	return all
}

// loaderCodes are of files that cannot be taken in.
func loaderCodes() []diag.Code {
	return []diag.Code{
		{ID: "E0001", Severity: diag.Error, Title: "a path at which there is nothing to read"},
		{ID: "E0002", Severity: diag.Error, Title: "a file that is empty, too large or no text"},
		{ID: "E0003", Severity: diag.Error, Title: "a file that does not parse as a blueprint"},
		{ID: "E0004", Severity: diag.Error, Title: "files that do not load as one CUE package"},
		{ID: "E0005", Severity: diag.Error, Title: "a key that stands in a YAML or JSON file twice"},
		{ID: "W0006", Severity: diag.Warning, Title: "a vendored schema of another version"},
		{ID: "E0007", Severity: diag.Error, Title: "a blueprint that takes too much time, memory or stack"},
	}
}

// grammarCodes are of blueprints that do not fit the schema.
func grammarCodes() []diag.Code {
	return []diag.Code{
		{ID: "E0101", Severity: diag.Error, Title: "a field that the schema does not have"},
		{ID: "E0102", Severity: diag.Error, Title: "a required field is missing"},
		{ID: "E0103", Severity: diag.Error, Title: "a value that the field cannot have"},
		{ID: "E0104", Severity: diag.Error, Title: "not exactly one of several options"},
		{ID: "E0105", Severity: diag.Error, Title: "a name that is not allowed"},
		{ID: "E0106", Severity: diag.Error, Title: "a field or condition without a definite value"},
		{ID: "E0107", Severity: diag.Error, Title: "the CUE does not evaluate"},
		{ID: "N0109", Severity: diag.Note, Title: "more is broken than is explained"},
	}
}
