package words

import (
	"cmp"
	"strings"
)

// CompareNatural compares strings, and numbers in them by value.
func CompareNatural(a, b string) int {
	for a != "" && b != "" {
		m, n := leadingDigits(a), leadingDigits(b)
		x, y := a[:max(m, 1)], b[:max(n, 1)]
		if c := cmp.Compare(x, y); c != 0 {
			if m > 0 && n > 0 && m != n {
				return cmp.Compare(m, n) // no number begins with a zero
			}
			return c
		}
		a, b = a[len(x):], b[len(y):]
	}
	return cmp.Compare(len(a), len(b))
}

// leadingDigits returns the number of digits at the start of a string.
func leadingDigits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
