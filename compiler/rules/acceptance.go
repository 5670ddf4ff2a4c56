package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/batchwright/batchwright/schema"
)

// acceptances are the acceptances of a blueprint, and what became of them.
type acceptances struct {
	reasons map[acceptance]string
	// matched are those that matched a finding. missed are those that a finding names
	// because they are in the wrong struct.
	matched, missed map[acceptance]bool
	// samples holds, by code, the first acceptance in each kind of struct.
	samples map[string][]acceptance
	// unknown holds the codes of acceptances that no rule has, by the struct that accepts
	// them, sorted. meant maps such an acceptance to the code of a finding that it
	// probably means.
	unknown map[accepter][]string
	meant   map[acceptance]string
}

// of returns the acceptances of a blueprint, which is the same one or a part of it. known
// are the codes of all rules, sorted.
func (a acceptances) of(b *schema.Blueprint, known []string) acceptances {
	if a.matched == nil {
		a.matched, a.missed, a.meant = map[acceptance]bool{}, map[acceptance]bool{}, map[acceptance]string{}
	}
	a.reasons, a.samples, a.unknown = blueprintAcceptances(b), map[string][]acceptance{}, map[accepter][]string{}
	for _, x := range sortAcceptances(a.reasons) {
		if n := len(a.samples[x.code]); n == 0 || a.samples[x.code][n-1].by.field != x.by.field {
			a.samples[x.code] = append(a.samples[x.code], x)
		}
		if !hasName(known, x.code) {
			a.unknown[x.by] = append(a.unknown[x.by], x.code)
		}
	}
	return a
}

// reason returns the reason for accepting a finding on a field, "" if the blueprint does
// not accept it. An acceptance in the same struct whose code does not exist and resembles
// the code of the finding counts too: the wrong code is the only mistake to report.
func (a acceptances) reason(code string, path fieldPath) string {
	here := acceptance{accepterOf(path), code}
	if reason, ok := a.reasons[here]; ok {
		a.matched[here] = true
		return reason
	}
	for _, wrong := range a.unknown[here.by] {
		if resemblesCode(wrong, code) {
			w := acceptance{here.by, wrong}
			a.meant[w] = code
			return a.reasons[w]
		}
	}
	return ""
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
func (a acceptance) path() fieldPath {
	var path fieldPath
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
func acceptSource(code string, path fieldPath) string {
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

// The structs of the blueprint that can accept findings beside the blueprint itself, and
// the fields whose entities can.
var (
	acceptingStructs = []string{
		"cluster", "network", "images", "security", "organisation", "versions", "monitoring", "kueue",
		"delivery",
	}
	acceptingEntities = []string{
		"hardware", "topologies", "capacity", "tiers", "cohorts", "teams", "workloads", "rehearsals",
	}
)

// blueprintAcceptances returns the acceptances of the blueprint, with their reasons.
func blueprintAcceptances(b *schema.Blueprint) map[acceptance]string {
	patterns := "accept.*"
	for _, field := range acceptingStructs {
		patterns += " " + field + ".accept.*"
	}
	for _, field := range acceptingEntities {
		patterns += " " + field + ".*.accept.*"
	}
	out := map[acceptance]string{}
	for _, f := range make(entitySets).fieldsAt(b, patterns) {
		out[acceptance{accepterOf(f.path), f.path.last()}] = f.value.String()
	}
	return out
}

// accepterOf returns the nearest struct around a field that can accept findings on
// the field. For an empty path it is the blueprint itself.
func accepterOf(path fieldPath) accepter {
	switch {
	case len(path) > 0 && slices.Contains(acceptingStructs, path[0]):
		return accepter{path[0], ""}
	case len(path) > 1 && slices.Contains(acceptingEntities, path[0]):
		return accepter{path[0], path[1]}
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

// sortAcceptances returns acceptances sorted by place, then by code.
func sortAcceptances(reasons map[acceptance]string) []acceptance {
	return slices.SortedFunc(maps.Keys(reasons), func(a, b acceptance) int {
		return cmp.Or(cmp.Compare(a.by.field, b.by.field), cmp.Compare(a.by.entity, b.by.entity),
			cmp.Compare(a.code, b.code))
	})
}
