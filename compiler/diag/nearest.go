package diag

import (
	"strings"

	"github.com/agext/levenshtein"
)

// Nearest returns the candidate that a misspelt name most likely means: the
// one with the fewest edits, at most two or a third of the name's length. It
// returns "" where none is that near. Of equals the first wins.
func Nearest(name string, candidates []string) string {
	best := ""
	most := min(max(2, len(name)/3), len(name)-1)
	for _, c := range candidates {
		if d := levenshtein.Distance(strings.ToLower(name), strings.ToLower(c), nil); c != name && d <= most {
			best, most = c, d-1
		}
	}
	return best
}
