package blueprint

import "github.com/batchwright/batchwright/compiler/diag"

// checkCodes returns the codes of findings about blueprints that do not fit the
// schema.
func Codes() []diag.Code {
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
