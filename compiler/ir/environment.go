package ir

import (
	"maps"
	"slices"
	"strings"
)

// OrderVariables returns environment variables in the order in which a container must
// define them: Kubernetes replaces $(NAME) in a value only if NAME is defined earlier.
// Otherwise they are sorted by name. Variables that refer to each other in a circle have
// no such order: one of them then stands before a variable that it refers to.
//
// Source: Kubernetes documentation, "Define Dependent Environment Variables".
func OrderVariables(env map[string]string) []KeyValue {
	var out []KeyValue
	visited := make(map[string]bool, len(env))
	var define func(name string)
	define = func(name string) {
		value, ok := env[name]
		if !ok || visited[name] {
			return
		}
		visited[name] = true
		for _, earlier := range references(value) {
			define(earlier)
		}
		out = append(out, KeyValue{Key: name, Value: value})
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		define(name)
	}
	return out
}

// references returns the names in the references $(NAME) of a value. "$$" stands for
// one "$".
func references(value string) []string {
	var names []string
	for {
		_, after, found := strings.Cut(value, "$")
		if !found {
			return names
		}
		switch {
		case strings.HasPrefix(after, "$"):
			after = after[1:]
		case strings.HasPrefix(after, "("):
			name, rest, closed := strings.Cut(after[1:], ")")
			if !closed {
				return names
			}
			names, after = append(names, name), rest
		}
		value = after
	}
}
