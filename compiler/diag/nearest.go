package diag

import (
	"regexp"
	"slices"
	"strconv"
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

// numbered is a name with a size: the last number that follows a hyphen, such as 8 in
// c3-standard-8-lssd. No digits come after it.
type numbered struct {
	name, before, after string
	number              int
}

var lastNumber = regexp.MustCompile(`^(.*-)(\d{1,9})(\D*)$`)

// splitNumber splits a name at its size, and reports whether it has one.
func splitNumber(name string) (numbered, bool) {
	parts := lastNumber.FindStringSubmatch(strings.ToLower(name))
	if parts == nil {
		return numbered{}, false
	}
	number, err := strconv.Atoi(parts[2])
	return numbered{name, parts[1], parts[3], number}, err == nil
}

// NearestSize returns the candidate that is probably meant by a wrong name whose last
// number is a size, such as the name of a machine type. If only the number is wrong,
// NearestSize returns the candidate with the nearest number, and of two equally near
// ones the larger. If the part before the number is wrong, too, it looks for the
// nearest part first. In all other cases it is the same as Nearest.
func NearestSize(name string, candidates []string) string {
	wrong, ok := splitNumber(name)
	if !ok {
		return Nearest(name, candidates)
	}
	var all []numbered
	var begins []string
	for _, c := range candidates {
		if n, ok := splitNumber(c); ok {
			all, begins = append(all, n), append(begins, n.before)
		}
	}
	before := wrong.before
	if !slices.Contains(begins, before) {
		before = Nearest(before, begins)
	}
	var names []string
	best := numbered{}
	for _, n := range all {
		if n.before != before {
			continue
		}
		names = append(names, n.name)
		ends, ended := n.after == wrong.after, best.after == wrong.after
		if best.name == "" || ends && !ended || ends == ended && isNearer(wrong.number, n.number, best.number) {
			best = n
		}
	}
	if len(names) == 0 {
		return Nearest(name, candidates)
	}
	near := Nearest(name, names)
	if n, ok := splitNumber(near); ok && n.number == wrong.number {
		return near
	}
	return best.name
}

// isNearer reports whether a is nearer to the wanted number than b, or equally near and
// larger.
func isNearer(wanted, a, b int) bool {
	m, n := max(a-wanted, wanted-a), max(b-wanted, wanted-b)
	return m < n || m == n && a > b
}
