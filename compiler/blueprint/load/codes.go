package load

import "github.com/batchwright/batchwright/compiler/diag"

// Codes returns the codes of findings about files that cannot be loaded.
func Codes() []diag.Code {
	return []diag.Code{
		{ID: "E0001", Severity: diag.Error, Title: "path has no readable blueprint"},
		{ID: "E0002", Severity: diag.Error, Title: "file is empty, too large or not text"},
		{ID: "E0003", Severity: diag.Error, Title: "file does not parse"},
		{ID: "E0004", Severity: diag.Error, Title: "files do not load as one CUE package"},
		{ID: "E0005", Severity: diag.Error, Title: "duplicate key in a YAML or JSON file"},
		{ID: "E0120", Severity: diag.Error, Title: "exponent of a number is out of range"},
		{ID: "E0008", Severity: diag.Error, Title: "number with a leading zero in YAML"},
		{ID: "E0009", Severity: diag.Error, Title: "files of two platforms are given together"},
		{ID: "W0010", Severity: diag.Warning, Title: "file beside or below the blueprint is not read"},
		{ID: "W0006", Severity: diag.Warning, Title: "vendored schema has another version"},
	}
}
