package diag

import (
	"strings"
	"unicode/utf8"

	"github.com/agext/levenshtein"
)

// Nearest returns the candidate with the fewest edits from a misspelt name. The
// number of edits must be at most two or a third of the name's length; if no
// candidate is that near, Nearest returns "". Among equally near candidates, the
// first wins.
func Nearest(name string, candidates []string) string {
	best := ""
	most := min(max(2, len(name)/3), len(name)-1)
	lower := strings.ToLower(name)
	for _, c := range candidates {
		if c == name || utf8.RuneCountInString(c) > len(name)+most {
			continue // the difference in length alone is too large
		}
		if d := levenshtein.Distance(lower, strings.ToLower(c), nil); d <= most {
			best, most = c, d-1
		}
	}
	return best
}
