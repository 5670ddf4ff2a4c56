package kinds

import (
	"fmt"
	"strings"
)

// The admission policies hold for all kinds. Their CEL distinguishes kinds by the fields of
// the spec. The spec must be dyn: otherwise the API server, which knows the types of all
// kinds, would reject the fields of the other types.

// ByKind returns a CEL expression for a job with a spec: of its kind, or otherwise if the
// spec is that of a Job. end is the space after the expression of a kind.
func ByKind(spec, end string, of func(Kind) string, otherwise string) string {
	var arms strings.Builder
	for _, k := range All() {
		if len(k.PodSets) > 0 {
			field, _, _ := strings.Cut(k.PodSets[0].Path, ".")
			fmt.Fprintf(&arms, "has(%s.%s)\n? %s%s: ", spec, field, of(k), end)
		}
	}
	return "(" + arms.String() + otherwise + ")"
}

// EachSet returns a CEL list with an element for each set of pods of a job of the kind. element
// returns it from the CEL term of the set's object.
func (k Kind) EachSet(spec string, element func(set PodSet, object string) string) string {
	var lists []string
	for _, s := range k.PodSets {
		at := spec + "." + s.Path
		if s.Optional {
			last := strings.LastIndexByte(at, '.')
			at = at[:last] + ".?" + at[last+1:] + ".orValue([])"
		}
		if s.List {
			lists = append(lists, at+".map(j, "+element(s, "j")+")")
		} else {
			lists = append(lists, "["+element(s, at)+"]")
		}
	}
	return strings.Join(lists, " + ")
}

// Below returns the CEL term of a path below an object.
func Below(object, path string) string {
	if path == "" {
		return object
	}
	return object + "." + path
}

// JobSpecs returns a CEL expression for the list of what has a pod template in the spec of a
// job: the spec itself for a Job.
func JobSpecs(spec string) string {
	return ByKind(spec, " ", func(k Kind) string {
		return k.EachSet(spec, func(s PodSet, object string) string { return Below(object, s.Spec) })
	}, "["+spec+"]")
}
