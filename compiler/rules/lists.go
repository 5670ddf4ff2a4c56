package rules

import (
	"iter"
	"maps"
	"slices"

	"github.com/batchwright/batchwright/compiler/words"
)

// Lists of names.

// sortedKeys returns the keys of a map, sorted.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// sorted yields the elements of a map, sorted by their keys.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range sortedKeys(m) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

// quoteNames returns the names as a list for a message.
func quoteNames(names []string) string {
	const most = 12
	return words.Quoted(names, most)
}

// hasName reports whether sorted names contain a name.
func hasName(names []string, name string) bool {
	_, ok := slices.BinarySearch(names, name)
	return ok
}

// withoutNames returns the names that are not in others, in their order.
func withoutNames(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(others, n) })
}
