package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/schema"
)

// Rules on what a blueprint accepts: that it can be accepted, and is there.

func acceptRules() []Rule {
	return []Rule{
		{Code: "E0211", Severity: diag.Error, Title: "finding cannot be accepted", check: acceptable},
		{
			Code: "W0212", Severity: diag.Warning, Title: "accepted finding does not exist",
			check: idleAcceptances, whole: true, resolved: true, last: true,
		},
	}
}

// acceptance is a struct of the blueprint, and the code of a finding that it
// accepts.
type acceptance struct {
	by   accepter
	code string
}

// accepter is a struct that can accept findings on itself and on what it holds:
// an entity such as teams and team-a; a field such as cluster, without an entity;
// or the blueprint itself, without either.
type accepter struct{ field, entity string }

// path is where the acceptance stands.
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

// acceptances returns what the blueprint accepts, with the reasons.
func acceptances(b *schema.Blueprint) map[acceptance]string {
	out := map[acceptance]string{}
	add := func(field, entity string, reasons map[string]string) {
		for code, reason := range reasons {
			out[acceptance{accepter{field, entity}, code}] = reason
		}
	}
	add("", "", b.Accept)
	add("cluster", "", b.Cluster.Accept)
	add("network", "", b.Network.Accept)
	add("security", "", b.Security.Accept)
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
	return out
}

// accepterOf returns the struct nearest to a field that can accept findings on
// it.
func accepterOf(path []string) accepter {
	switch path[0] {
	case "cluster", "network", "security", "versions", "monitoring", "delivery":
		return accepter{path[0], ""}
	case "hardware", "capacity", "tiers", "cohorts", "teams", "workloads":
		if len(path) > 1 {
			return accepter{path[0], path[1]}
		}
	}
	return accepter{}
}

// accepts returns the blueprint's reason for accepting what the rule finds on a
// field, "" where it does not.
func (r *report) accepts(path []string) string {
	a := acceptance{accepterOf(path), r.rule.Code}
	reason, ok := r.reasons[a]
	if !ok || !r.rule.CanAccept() {
		return ""
	}
	r.accepted[a] = true
	return reason
}

// sortedAcceptances returns what the blueprint accepts, by place and code.
func (r *report) sortedAcceptances() []acceptance {
	return slices.SortedFunc(maps.Keys(r.reasons), func(a, b acceptance) int {
		return cmp.Or(cmp.Compare(a.by.field, b.by.field), cmp.Compare(a.by.entity, b.by.entity),
			cmp.Compare(a.code, b.code))
	})
}

// acceptableCodes returns the codes of the rules whose findings can be
// accepted, and of all, sorted.
func acceptableCodes() (can, all []string) {
	for _, r := range All() {
		all = append(all, r.Code)
		if r.CanAccept() {
			can = append(can, r.Code)
		}
	}
	return can, all
}

func acceptable(r *report) {
	can, all := acceptableCodes()
	for _, a := range r.sortedAcceptances() {
		switch {
		case has(can, a.code):
		case has(all, a.code):
			r.addKey(a.path(), fmt.Sprintf("%s cannot be accepted: the platform would not work", a.code),
				help("correct the finding, and remove this acceptance"))
		default:
			cure := help("run batchwright vet --list for the codes that can be accepted")
			if i := slices.IndexFunc(can, func(c string) bool { return c[1:] == a.code[1:] }); i >= 0 {
				cure = help("did you mean %q?", can[i])
			}
			r.addKey(a.path(), fmt.Sprintf("no finding of code %s can be accepted", a.code), cure)
		}
	}
}

// idleAcceptances: where something is wrong, what is accepted may only be out of
// sight.
func idleAcceptances(r *report) {
	if r.Findings.Count(diag.Error) > 0 {
		return
	}
	can, _ := acceptableCodes()
	// A pattern accepts for many entities at one place: one of them is enough.
	used := map[diag.Spot]bool{}
	for a := range r.accepted {
		used[r.Place(true, a.path()...).Spot(a.code)] = true
	}
	for _, a := range r.sortedAcceptances() {
		if !r.accepted[a] && has(can, a.code) && !used[r.Place(true, a.path()...).Spot(a.code)] {
			r.addKey(a.path(), fmt.Sprintf("there is no finding %s here to accept", a.code),
				help("remove this acceptance"))
		}
	}
}
