package diag

import (
	"strings"
	"unicode/utf8"

	"github.com/agext/levenshtein"
)

// Nearest returns the candidate that a misspelt name most likely means: the
// one with the fewest edits, at most two or a third of the name's length. It
// returns "" where none is that near. Of equals the first wins.
func Nearest(name string, candidates []string) string {
	best := ""
	most := min(max(2, len(name)/3), len(name)-1)
	lower := strings.ToLower(name)
	for _, c := range candidates {
		if c == name || utf8.RuneCountInString(c) > len(name)+most {
			continue // it is longer by more
		}
		if d := levenshtein.Distance(lower, strings.ToLower(c), nil); d <= most {
			best, most = c, d-1
		}
	}
	return best
}
