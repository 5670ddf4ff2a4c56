package cost

import "github.com/batchwright/batchwright/compiler/diag"

// The codes of findings in a file of prices.
const (
	unreadable     = "E0910"
	wrongColumns   = "E0911"
	unknownMachine = "E0912"
	unknownOption  = "E0913"
	wrongPrice     = "E0914"
	pricedTwice    = "E0915"
	missingPrice   = "E0916"
	otherHardware  = "W0917"
)

// Codes returns every code that a finding of this package can have, sorted by number.
func Codes() []diag.Code {
	return []diag.Code{
		{ID: unreadable, Severity: diag.Error, Title: "file of prices cannot be read"},
		{ID: wrongColumns, Severity: diag.Error, Title: "wrong columns in a file of prices"},
		{ID: unknownMachine, Severity: diag.Error, Title: "row of prices names no known machine"},
		{ID: unknownOption, Severity: diag.Error, Title: "row of prices has an unknown consumption or region"},
		{ID: wrongPrice, Severity: diag.Error, Title: "price or currency is invalid"},
		{ID: pricedTwice, Severity: diag.Error, Title: "two rows have the price of one machine"},
		{ID: missingPrice, Severity: diag.Error, Title: "price is missing"},
		{ID: otherHardware, Severity: diag.Warning, Title: "row of prices is for hardware that no capacity uses"},
	}
}
