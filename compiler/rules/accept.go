package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/explain"
)

// Rules on the findings that a blueprint accepts: the finding must be acceptable,
// and must exist.

func acceptRules() []Rule {
	return []Rule{
		{Code: "E0211", Title: "finding cannot be accepted", check: checkAcceptable, last: true},
		{Code: "W0212", Title: "accepted finding does not exist",
			check: idleAcceptances, whole: true, resolved: true, last: true},
	}
}

func checkAcceptable(r *report) {
	can, all := acceptableCodes(r.rules)
	for _, a := range sortAcceptances(r.reasons) {
		switch {
		case hasName(can, a.code):
		case hasName(all, a.code):
			r.addKey(a.path(), fmt.Sprintf("%s cannot be accepted: the platform would not work", a.code),
				withHelp("correct the blueprint, and remove this acceptance"))
		default:
			cure := didYouMean(cmp.Or(r.meant[a], resemblingCode(a.code, can)),
				withHelp("run batchwright vet --list for the codes that can be accepted"))
			message := fmt.Sprintf("no finding of code %s can be accepted", a.code)
			// Every code has a text, also the code of a finding that no rule makes.
			if !slices.Contains(explain.Codes(), a.code) {
				message = fmt.Sprintf("the code %s does not exist", a.code)
			}
			r.addKey(a.path(), message, cure)
		}
	}
}

// idleAcceptances reports acceptances without a finding, except acceptances that a
// finding elsewhere names. It reports none if the blueprint has errors, because an
// error can keep the accepted finding from being found.
func idleAcceptances(r *report) {
	if r.Findings.Count(diag.Error) > 0 {
		return
	}
	can, _ := acceptableCodes(r.rules)
	// A pattern accepts a finding for many entities at one place. One finding on any
	// of them is enough.
	used := map[diag.Spot]bool{}
	for a := range r.matched {
		used[r.Place(true, a.path()...).Spot(a.code)] = true
	}
	for _, a := range sortAcceptances(r.reasons) {
		if !r.matched[a] && !r.missed[a] && hasName(can, a.code) && !used[r.Place(true, a.path()...).Spot(a.code)] {
			r.addKey(a.path(), fmt.Sprintf("there is no finding %s here to accept", a.code),
				withHelp("remove this acceptance"))
		}
	}
}
