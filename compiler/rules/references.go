package rules

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/ir"
)

// References to names, and labels of Kubernetes, which several rules check alike.

// resolveName reports a reference whose name is not in known, which must be sorted.
func (r *report) resolveName(path fieldPath, kind, name string, known []string) {
	r.resolve(fieldValue{path, reflect.ValueOf(name)}, kind, known)
}

// resolveNames does the same as resolveName for the elements of a list.
func (r *report) resolveNames(path fieldPath, kind string, names, known []string) {
	for i, name := range names {
		r.resolveName(path.at(diag.Index(i)), kind, name, known)
	}
}

// resolve reports a field that refers to a name which is not in known.
func (r *report) resolve(f fieldValue, kind string, known []string) {
	name, add := f.name(), r.addKey
	if hasName(known, name) || r.isMisnamed(name) {
		return
	}
	if f.value.Kind() == reflect.String {
		add = r.add
	}
	message, options := r.describeDangling(kind, name, known)
	add(f.path, message, options...)
}

func (r *report) describeDangling(kind, name string, known []string) (string, []option) {
	wanted := choices(known)
	cure := help("define %s %q, or choose another name", kind, name)
	message := say("there is no %s named %q", kind, name)
	if part, tier, ok := strings.Cut(kind, " of tier "); ok {
		cure = help("add it to tier %q, or choose another name", tier)
		message = say("tier %q does not use capacity %q", tier, name)
		if part == "priority" {
			message = say("tier %q has no priority named %q", tier, name)
		}
	}
	if len(known) == 0 {
		wanted = label("no %s is defined", kind)
	}
	return message, []option{wanted, didYouMean(r.nearestName(name, known), cure)}
}

// isMisnamed reports whether a name probably refers to an entity whose own name is
// invalid, which is the mistake.
func (r *report) isMisnamed(name string) bool {
	return len(r.Misnamed) > 0 && r.guesses < maxGuesses && r.nearestName(name, sortedKeys(r.Misnamed)) != ""
}

// capacitiesOf returns the capacities of a tier, sorted. ok is false if the tier's
// capacities are not known.
func (r *report) capacitiesOf(tier string) (known []string, ok bool) {
	b := r.Blueprint
	t := b.Tiers[tier] // a tier cannot be empty
	if len(t.Capacity) == 0 ||
		slices.ContainsFunc(t.Capacity, func(c string) bool { _, ok := b.Capacity[c]; return !ok }) {
		return nil, false
	}
	return slices.Sorted(slices.Values(t.Capacity)), true
}

// twinOf returns the entity of another file whose name a misspelt name probably
// means, or "". It searches at most maxGuesses times for each rule.
func (r *report) twinOf(name, field string, known []string) string {
	if r.guesses++; r.guesses > maxGuesses {
		return ""
	}
	here := r.Place(true, field, name)
	for _, other := range known {
		if diag.Twins(name, other) && r.Place(true, field, other).Source != here.Source {
			return other
		}
	}
	return ""
}

// checkLabel reports a key or a value that no label of a Kubernetes object can have, and
// returns whether both are possible.
func (r *report) checkLabel(path fieldPath, key, value string) bool {
	return r.checkLabelKey(path, key, r.addKey) && r.checkLabelValue(path, value)
}

// checkLabelKey reports a text that cannot be the key of a label with add, and returns whether
// it is valid.
func (r *report) checkLabelKey(path fieldPath, key string, add func(fieldPath, string, ...option)) bool {
	valid := len(validation.IsQualifiedName(key)) == 0
	if !valid {
		add(path, say("%q cannot be the key of a label", key), help(
			"write letters, digits, dashes, underscores and dots, at most 63, perhaps behind a domain and a slash"))
	}
	return valid
}

// checkLabelValue reports a text that cannot be the value of a label, and returns whether it is
// valid.
func (r *report) checkLabelValue(path fieldPath, value string) bool {
	valid := len(validation.IsValidLabelValue(value)) == 0
	if !valid {
		r.add(path, say("%q cannot be the value of a label", value),
			help("write letters, digits, dashes, underscores and dots, at most 63"))
	}
	return valid
}

// isReservedLabel reports whether Kubernetes or the platform sets a label of namespaces.
func isReservedLabel(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return key == ir.LabelTeam || strings.HasSuffix("."+domain, ".kubernetes.io") ||
		strings.HasSuffix("."+domain, ".k8s.io")
}
