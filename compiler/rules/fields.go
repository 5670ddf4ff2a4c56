package rules

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/catalog"
	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// Fields of the blueprint, by paths and by patterns.

// fieldPath is the path of a field. An element of a list is named by its index.
type fieldPath []string

// at returns the path of a field.
func at(path ...string) fieldPath { return path }

// at returns the path of a field below another one.
func (p fieldPath) at(below ...string) fieldPath { return slices.Concat(p, below) }

// name returns the name of the entity with the field.
func (p fieldPath) name() string { return p[1] }

// last returns the field's own name.
func (p fieldPath) last() string { return p[len(p)-1] }

// every yields the fields of the blueprint that a pattern matches, as in fieldsAt. It panics if
// the schema has no such field of type T, also if the blueprint has no entity there.
func every[T any](r *report, pattern string) iter.Seq2[fieldPath, T] {
	for p := range strings.FieldsSeq(pattern) {
		if is, want := typeAt(p), reflect.TypeFor[T](); is != want {
			panic(fmt.Sprintf("%s is a %s, not a %s", p, is, want))
		}
	}
	return func(yield func(fieldPath, T) bool) {
		for _, f := range r.fieldsAt(pattern) {
			if !yield(f.path, f.value.Interface().(T)) {
				return
			}
		}
	}
}

// on returns the check of a rule on every field that a pattern matches, as in fieldsAt.
func on[T any](pattern string, check func(r *report, path fieldPath, value T)) func(*report) {
	return func(r *report) {
		for path, value := range every[T](r, pattern) {
			check(r, path, value)
		}
	}
}

// onEach returns the check of a rule on every element of a list.
func onEach[T any](list func(*report) iter.Seq[T], check func(*report, T)) func(*report) {
	return func(r *report) {
		for element := range list(r) {
			check(r, element)
		}
	}
}

func capacities(r *report) iter.Seq[ir.Capacity]     { return slices.Values(r.Plan.Capacities) }
func workloads(r *report) iter.Seq[ir.Workload]      { return slices.Values(r.Plan.Workloads) }
func submissions(r *report) iter.Seq[fit.Submission] { return r.fit.Submissions().Each() }
func allContainers(r *report) iter.Seq[container]    { return slices.Values(r.containers()) }
func allGrants(r *report) iter.Seq[grant]            { return slices.Values(r.grants()) }
func queueGrants(r *report) iter.Seq[grant]          { return r.queueGrants() }

// onMachines returns the check of a rule on every capacity whose machine the catalogue knows.
func onMachines(check func(r *report, c ir.Capacity, m catalog.Machine)) func(*report) {
	return func(r *report) {
		r.eachCapacity(func(c ir.Capacity, m catalog.Machine) { check(r, c, m) })
	}
}

// cohortQuota is the type of a field that holds entries by name, or a number.
var cohortQuota = reflect.TypeFor[schema.CohortQuota]()

// fieldValue is a field of the blueprint with its path.
type fieldValue struct {
	path  fieldPath
	value reflect.Value
}

// name returns the name that a field refers to: its text, or else its own name.
func (f fieldValue) name() string {
	if f.value.Kind() == reflect.String {
		return f.value.String()
	}
	return f.path.last()
}

// fieldsAt returns the fields of the blueprint that a pattern such as "teams.*.roles.[]"
// matches: * stands for every name, sorted, and [] for every element of a list. A space
// stands between several patterns. It omits optional fields that the blueprint does not have.
func (p *Pass) fieldsAt(patterns string) []fieldValue {
	return p.entities.fieldsAt(p.Blueprint, patterns)
}

// entitySets holds the fields of one blueprint that patterns such as "teams.*" have matched, by
// the pattern. Many rules look at fields of the same entities.
type entitySets map[string][]fieldValue

// fieldsAt is Pass.fieldsAt; b is the one blueprint of s.
func (s entitySets) fieldsAt(b *schema.Blueprint, patterns string) []fieldValue {
	var all []fieldValue
	for pattern := range strings.FieldsSeq(patterns) {
		all = append(all, s.match(b, pattern)...)
	}
	return all
}

// match returns the fields that one pattern matches. The caller must not change them.
func (s entitySets) match(b *schema.Blueprint, pattern string) []fieldValue {
	if pattern == "" {
		return []fieldValue{{nil, reflect.ValueOf(b)}}
	}
	if matched, ok := s[pattern]; ok {
		return matched
	}
	last := strings.LastIndexByte(pattern, '.')
	step := pattern[last+1:]
	above := s.match(b, pattern[:max(last, 0)])
	matched := make([]fieldValue, 0, len(above))
	for _, f := range above {
		matched = f.appendBelow(matched, step)
	}
	if step == "*" {
		s[pattern] = matched
	}
	return matched
}

// appendBelow appends the fields below f that one step of a pattern matches.
func (f fieldValue) appendBelow(to []fieldValue, step string) []fieldValue {
	add := func(name string, v reflect.Value) {
		if v.Kind() != reflect.Pointer || !v.IsNil() {
			to = append(to, fieldValue{f.path.at(name), reflect.Indirect(v)})
		}
	}
	switch v := reflect.Indirect(f.value); step {
	case "*":
		if v.Type() == cohortQuota {
			v = v.FieldByName("ByCapacity")
		}
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, name := range names {
			add(name.String(), v.MapIndex(name))
		}
	case "[]":
		for i := range v.Len() {
			add(diag.Index(i), v.Index(i))
		}
	default:
		add(step, v.Field(fieldIndex(v.Type(), step)))
	}
	return to
}

// typeAt returns the type of the fields that one pattern matches, without a pointer.
func typeAt(pattern string) reflect.Type {
	at := reflect.TypeFor[schema.Blueprint]()
	for step := range strings.SplitSeq(pattern, ".") {
		if step == "*" || step == "[]" {
			if at == cohortQuota {
				at = reflect.TypeFor[map[string]schema.Quota]()
			}
			at = at.Elem()
		} else {
			at = at.Field(fieldIndex(at, step)).Type
		}
		if at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
	}
	return at
}

// fieldIndex returns the index of the field of a struct of the schema that a blueprint
// calls name.
func fieldIndex(t reflect.Type, name string) int {
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("json") == name {
			return i
		}
	}
	panic(t.String() + " has no field " + name)
}
