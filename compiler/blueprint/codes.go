package blueprint

import "github.com/batchwright/batchwright/compiler/diag"

// Codes returns the codes of findings about blueprints that do not fit the schema.
func Codes() []diag.Code {
	return []diag.Code{
		{ID: "E0101", Severity: diag.Error, Title: "unknown field"},
		{ID: "E0102", Severity: diag.Error, Title: "missing required field"},
		{ID: "E0103", Severity: diag.Error, Title: "invalid value"},
		{ID: "E0104", Severity: diag.Error, Title: "not exactly one option is set"},
		{ID: "E0105", Severity: diag.Error, Title: "invalid name"},
		{ID: "E0106", Severity: diag.Error, Title: "field or condition has no concrete value"},
		{ID: "E0107", Severity: diag.Error, Title: "CUE evaluation error"},
		{ID: "W0117", Severity: diag.Warning, Title: "CUE form that does not set the field that it seems to set"},
		{ID: "W0118", Severity: diag.Warning, Title: "placeholder instead of a value of yours"},
		{ID: "N0109", Severity: diag.Note, Title: "more errors than are explained"},
	}
}
