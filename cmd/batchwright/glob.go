package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// globs select paths of the folder. A glob is compared segment by segment with
// path.Match, and selects the matching paths and everything below them. The segment
// ** matches any number of directories.
type globs [][]string

func parseGlobs(patterns []string) (globs, error) {
	var out globs
	for _, pattern := range patterns {
		segments := strings.Split(path.Clean(pattern), "/")
		for _, s := range segments {
			if _, err := path.Match(s, ""); err != nil {
				return nil, fmt.Errorf("%q: %w", pattern, err)
			}
		}
		out = append(out, segments)
	}
	return out, nil
}

func (g globs) match(name string) bool {
	segments := strings.Split(name, "/")
	return slices.ContainsFunc(g, func(glob []string) bool { return matchSegments(glob, segments) })
}

func matchSegments(glob, name []string) bool {
	switch {
	case len(glob) == 0:
		return true
	case glob[0] == "**":
		return matchSegments(glob[1:], name) || len(name) > 1 && matchSegments(glob, name[1:])
	case len(name) == 0:
		return false
	}
	ok, err := path.Match(glob[0], name[0])
	return ok && err == nil && matchSegments(glob[1:], name[1:])
}
