package rules

import (
	"cmp"
	"slices"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/explain"
)

// Rules on the findings that a blueprint accepts: the finding must be acceptable,
// and must exist.

func acceptRules() []Rule {
	return []Rule{
		rule("E0211", "finding cannot be accepted", checkAcceptable, last),
		rule("W0212", "accepted finding does not exist", idleAcceptances, last, whole, resolved),
	}
}

func checkAcceptable(r *report) {
	can, all := acceptableCodes(r.rules)
	for _, a := range sortAcceptances(r.reasons) {
		switch {
		case hasName(can, a.code):
		case hasName(all, a.code):
			r.addKey(a.path(), say("%s cannot be accepted: the platform would not work", a.code),
				help("correct the blueprint, and remove this acceptance"))
		default:
			cure := didYouMean(cmp.Or(r.meant[a], resemblingCode(a.code, can)),
				help("run batchwright vet --list for the codes that can be accepted"))
			message := say("no finding of code %s can be accepted", a.code)
			// Every code has a text, also the code of a finding that no rule makes.
			if !slices.Contains(explain.Codes(), a.code) {
				message = say("the code %s does not exist", a.code)
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
			r.addKey(a.path(), say("there is no finding %s here to accept", a.code), help("remove this acceptance"))
		}
	}
}
