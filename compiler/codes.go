package compiler

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/blueprint"
	"github.com/batchwright/batchwright/compiler/blueprint/load"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/rules"
)

// Codes returns every code that a finding of Compile can have, sorted by number.
func Codes() []diag.Code {
	all := slices.Concat(load.Codes(), blueprint.Codes(), limitCodes())
	for _, r := range rules.All() {
		all = append(all, diag.Code{ID: r.Code, Severity: r.Severity, Title: r.Title, Acceptable: r.CanAccept()})
	}
	slices.SortFunc(all, diag.Code.Compare)
	return all
}

// limitCodes returns the codes of findings about the limits of a compilation.
func limitCodes() []diag.Code {
	return []diag.Code{
		{ID: "E0007", Severity: diag.Error, Title: "blueprint exceeds the limits of time, memory or stack"},
	}
}
