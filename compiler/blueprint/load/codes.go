package load

import "github.com/batchwright/batchwright/compiler/diag"

// loadCodes returns the codes of findings about files that cannot be loaded.
func Codes() []diag.Code {
	return []diag.Code{
		{ID: "E0001", Severity: diag.Error, Title: "a path at which there is nothing to read"},
		{ID: "E0002", Severity: diag.Error, Title: "a file that is empty, too large or no text"},
		{ID: "E0003", Severity: diag.Error, Title: "a file that does not parse as a blueprint"},
		{ID: "E0004", Severity: diag.Error, Title: "files that do not load as one CUE package"},
		{ID: "E0005", Severity: diag.Error, Title: "a key that stands in a YAML or JSON file twice"},
		{ID: "W0006", Severity: diag.Warning, Title: "a vendored schema of another version"},
	}
}
