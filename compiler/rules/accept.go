package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/explain"
	"github.com/batchwright/batchwright/schema"
)

// Rules on the findings that a blueprint accepts: the finding must be acceptable,
// and must exist.

func acceptRules() []Rule {
	return []Rule{
		{
			Code: "E0211", Severity: diag.Error, Title: "finding cannot be accepted", check: checkAcceptable,
			last: true,
		},
		{
			Code: "W0212", Severity: diag.Warning, Title: "accepted finding does not exist",
			check: idleAcceptances, whole: true, resolved: true, last: true,
		},
	}
}

// acceptance is a struct of the blueprint, and the code of a finding that the struct
// accepts.
type acceptance struct {
	by   accepter
	code string
}

// accepter is a struct that can accept findings on itself and on its fields: an
// entity, such as teams and team-a; a field such as cluster, with an empty entity;
// or the blueprint itself, with both empty.
type accepter struct{ field, entity string }

// path returns the path of the acceptance in the blueprint.
func (a acceptance) path() []string {
	var path []string
	if a.by.field != "" {
		path = append(path, a.by.field)
	}
	if a.by.entity != "" {
		path = append(path, a.by.entity)
	}
	return append(path, "accept", a.code)
}

// acceptSource returns the CUE source that accepts a finding on a field, without a
// reason.
func acceptSource(code string, path []string) string {
	a := acceptance{accepterOf(path), code}
	source := fmt.Sprintf(`accept: %s: "REASON"`, a.code)
	if a.by.entity != "" {
		source = fmt.Sprintf("%q: %s", a.by.entity, source)
	}
	if a.by.field != "" {
		source = a.by.field + ": " + source
	}
	return source
}

// blueprintAcceptances returns the acceptances of the blueprint, with their reasons.
func blueprintAcceptances(b *schema.Blueprint) map[acceptance]string {
	out := map[acceptance]string{}
	add := func(field, entity string, reasons map[string]string) {
		for code, reason := range reasons {
			out[acceptance{accepter{field, entity}, code}] = reason
		}
	}
	add("", "", b.Accept)
	add("cluster", "", b.Cluster.Accept)
	add("network", "", b.Network.Accept)
	add("images", "", b.Images.Accept)
	add("security", "", b.Security.Accept)
	add("organisation", "", b.Organisation.Accept)
	add("versions", "", b.Versions.Accept)
	add("monitoring", "", b.Monitoring.Accept)
	add("delivery", "", b.Delivery.Accept)
	for name, h := range b.Hardware {
		add("hardware", name, h.Accept)
	}
	for name, c := range b.Capacity {
		add("capacity", name, c.Accept)
	}
	for name, t := range b.Tiers {
		add("tiers", name, t.Accept)
	}
	for name, c := range b.Cohorts {
		add("cohorts", name, c.Accept)
	}
	for name, t := range b.Teams {
		add("teams", name, t.Accept)
	}
	for name, w := range b.Workloads {
		add("workloads", name, w.Accept)
	}
	for name, r := range b.Rehearsals {
		add("rehearsals", name, r.Accept)
	}
	return out
}

// accepterOf returns the nearest struct around a field that can accept findings on
// the field. For an empty path it is the blueprint itself.
func accepterOf(path []string) accepter {
	if len(path) == 0 {
		return accepter{}
	}
	switch path[0] {
	case "cluster", "network", "images", "security", "organisation", "versions", "monitoring", "delivery":
		return accepter{path[0], ""}
	case "hardware", "capacity", "tiers", "cohorts", "teams", "workloads", "rehearsals":
		if len(path) > 1 {
			return accepter{path[0], path[1]}
		}
	}
	return accepter{}
}

// Accepter returns the path of the nearest struct around a field that can accept
// findings on the field. It returns nil for the blueprint itself.
func Accepter(path []string) []string {
	if len(path) == 0 {
		return nil
	}
	a := acceptance{by: accepterOf(path)}.path()
	return a[:len(a)-2]
}

// acceptedReason returns the blueprint's reason for accepting the rule's finding on a
// field, "" if the blueprint does not accept it.
func (r *report) acceptedReason(path []string) string {
	a := acceptance{accepterOf(path), r.rule.Code}
	reason, ok := r.reasons[a]
	if !r.rule.CanAccept() {
		return ""
	}
	if !ok {
		return r.miswrittenReason(a)
	}
	r.accepted[a] = true
	return reason
}

// miswrittenReason returns the reason of an acceptance in the same struct whose code
// does not exist and resembles the accepted one, "" if there is none. The wrong code
// is the only mistake to report.
func (r *report) miswrittenReason(a acceptance) string {
	for _, wrong := range r.unknown[a.by] {
		if resemblesCode(wrong, a.code) {
			w := acceptance{a.by, wrong}
			r.meant[w] = a.code
			return r.reasons[w]
		}
	}
	return ""
}

// resemblesCode reports whether two codes have the same number, or the same letter and
// the same digits in another order.
func resemblesCode(a, b string) bool {
	digits := func(code string) []byte { return slices.Sorted(slices.Values([]byte(code[1:]))) }
	return a[1:] == b[1:] || a[0] == b[0] && slices.Equal(digits(a), digits(b))
}

// resemblingCode returns the code that a wrong code probably means: the one with the same
// number, or the only one that resembles it; "" if there is none.
func resemblingCode(wrong string, codes []string) string {
	var near []string
	for _, c := range codes {
		if c[1:] == wrong[1:] {
			return c
		}
		if resemblesCode(wrong, c) {
			near = append(near, c)
		}
	}
	if len(near) == 1 {
		return near[0]
	}
	return ""
}

// unknownAcceptances returns the codes of acceptances that no rule has, by the struct
// that accepts them, sorted.
func unknownAcceptances(reasons map[acceptance]string) map[accepter][]string {
	out := map[accepter][]string{}
	var known []string
	for _, a := range sortAcceptances(reasons) {
		if known == nil {
			_, known = acceptableCodes()
		}
		if !hasName(known, a.code) {
			out[a.by] = append(out[a.by], a.code)
		}
	}
	return out
}

// nameMissed adds the acceptances of the finding's code in other kinds of struct to a
// finding that is not accepted: whoever wrote them may believe that they hold. The
// finding is on the field with the given path.
func (r *report) nameMissed(path []string, f *diag.Finding) {
	here := accepterOf(path)
	for _, a := range r.samples[r.rule.Code] {
		if a.by.field != here.field {
			withRelated(a.path(), "this acceptance has no effect on the finding; write %s",
				acceptSource(a.code, path))(r, f)
			r.missed[a] = true
		}
	}
}

// sampleAcceptances returns the first acceptance of each code in each kind of struct,
// by code.
func sampleAcceptances(reasons map[acceptance]string) map[string][]acceptance {
	out := map[string][]acceptance{}
	for _, a := range sortAcceptances(reasons) {
		if n := len(out[a.code]); n == 0 || out[a.code][n-1].by.field != a.by.field {
			out[a.code] = append(out[a.code], a)
		}
	}
	return out
}

// sortAcceptances returns acceptances sorted by place, then by code.
func sortAcceptances(reasons map[acceptance]string) []acceptance {
	return slices.SortedFunc(maps.Keys(reasons), func(a, b acceptance) int {
		return cmp.Or(cmp.Compare(a.by.field, b.by.field), cmp.Compare(a.by.entity, b.by.entity),
			cmp.Compare(a.code, b.code))
	})
}

// acceptableCodes returns the codes of the rules whose findings can be accepted, and
// the codes of all rules, both sorted.
func acceptableCodes() (can, all []string) {
	for _, r := range All() {
		all = append(all, r.Code)
		if r.CanAccept() {
			can = append(can, r.Code)
		}
	}
	return can, all
}

func checkAcceptable(r *report) {
	can, all := acceptableCodes()
	for _, a := range sortAcceptances(r.reasons) {
		switch {
		case hasName(can, a.code):
		case hasName(all, a.code):
			r.addKey(a.path(), fmt.Sprintf("%s cannot be accepted: the platform would not work", a.code),
				withHelp("correct the blueprint, and remove this acceptance"))
		default:
			cure := withHelp("run batchwright vet --list for the codes that can be accepted")
			if near := resemblingCode(a.code, can); near != "" {
				cure = withHelp("did you mean %q?", near)
			}
			if meant := r.meant[a]; meant != "" {
				cure = withHelp("did you mean %q?", meant)
			}
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
	can, _ := acceptableCodes()
	// A pattern accepts a finding for many entities at one place. One finding on any
	// of them is enough.
	used := map[diag.Spot]bool{}
	for a := range r.accepted {
		used[r.Place(true, a.path()...).Spot(a.code)] = true
	}
	for _, a := range sortAcceptances(r.reasons) {
		if !r.accepted[a] && !r.missed[a] && hasName(can, a.code) && !used[r.Place(true, a.path()...).Spot(a.code)] {
			r.addKey(a.path(), fmt.Sprintf("there is no finding %s here to accept", a.code),
				withHelp("remove this acceptance"))
		}
	}
}
