package diag

import (
	"strings"

	"github.com/agext/levenshtein"
)

// Twins reports whether two names differ by one mistake of typing, or by two in a
// long name. Names that people choose to be similar are not twins: the members of a
// numbered or lettered family, such as team-a and team-b, or l4-spot and l4-spot2.
func Twins(a, b string) bool {
	const long = 8
	most := 1
	if min(len(a), len(b)) >= long {
		most = 2
	}
	if a == b || max(len(a), len(b))-min(len(a), len(b)) > most || areRelatives(a, b) {
		return false
	}
	return levenshtein.Distance(a, b, nil) <= most || isSwapped(a, b)
}

// areRelatives reports whether two names differ only in digits, or in parts between
// dashes that are too short for a word or have numbers.
func areRelatives(a, b string) bool {
	const digits = "0123456789"
	if strings.Map(dropDigits, a) == strings.Map(dropDigits, b) ||
		strings.Trim(a, digits+"-") == strings.Trim(b, digits+"-") {
		return true
	}
	first, second := strings.Split(a, "-"), strings.Split(b, "-")
	if len(first) != len(second) {
		return !strings.EqualFold(strings.Join(first, ""), strings.Join(second, "")) // team-a and team-a-b
	}
	for i := range first {
		numbered := strings.ContainsAny(first[i], digits) && strings.ContainsAny(second[i], digits) // a100 and h100
		if first[i] != second[i] && (numbered || max(len(first[i]), len(second[i])) <= 3) {
			return true
		}
	}
	return false
}

func dropDigits(c rune) rune {
	if '0' <= c && c <= '9' {
		return -1
	}
	return c
}

// isSwapped reports whether two names differ in the order of two neighbouring
// characters.
func isSwapped(a, b string) bool {
	for i := 0; len(a) == len(b) && i+1 < len(a); i++ {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}
