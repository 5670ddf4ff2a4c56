package compiler

import (
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/rules"
)

// Code is what a finding can be.
type Code struct {
	Code     string
	Severity diag.Severity
	Title    string
}

// Codes returns every code, sorted.
func Codes() []Code {
	codes := []Code{
		{"E0001", diag.Error, "a file cannot be read"},
		{"E0002", diag.Error, "a file is not a text that could be a blueprint"},
		{"E0003", diag.Error, "a file does not parse"},
		{"E0004", diag.Error, "files cannot be loaded as one blueprint"},
		{"E0005", diag.Error, "a key stands in a mapping twice"},
		{"W0006", diag.Warning, "the vendored schema is another version"},
		{"E0101", diag.Error, "unknown field"},
		{"E0102", diag.Error, "a field is missing"},
		{"E0103", diag.Error, "a value is not allowed"},
		{"E0104", diag.Error, "not exactly one option"},
		{"E0105", diag.Error, "not a valid name"},
		{"E0106", diag.Error, "no definite value"},
		{"E0107", diag.Error, "the CUE contradicts itself"},
		{"N0109", diag.Note, "more is broken than is explained"},
		{"E0901", diag.Error, "a generated file was edited by hand"},
		{"E0902", diag.Error, "a file of yours is in the way"},
		{"E0903", diag.Error, "the folder's manifest cannot be read"},
		{"E0904", diag.Error, "something that is no file is in the way"},
		{"E0905", diag.Error, "a symbolic link is in the way"},
	}
	for _, r := range rules.All() {
		codes = append(codes, Code{r.Code, r.Severity, r.Title})
	}
	slices.SortFunc(codes, func(a, b Code) int { return strings.Compare(a.Code, b.Code) })
	return codes
}
