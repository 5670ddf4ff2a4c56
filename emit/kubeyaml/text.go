package kubeyaml

import (
	"cmp"
	"slices"
	"strings"
)

// width is the number of columns behind which the YAML library breaks a line at the
// next space.
const width = 80

// maxKey is the longest key, in bytes, that the YAML library prints without "?".
const maxKey = 128

// text prints a text at a column of its line. Lines behind the first get two more
// spaces than indent. It reports whether the printer knows how the YAML library would
// print the text.
func (p *printer) text(s string, indent, column int) bool {
	switch {
	case s == "":
		p.out = append(p.out, `""`...)
	case isNumber(s) || isReserved(s):
		p.out = append(p.out, '"')
		p.out = append(p.out, s...)
		p.out = append(p.out, '"')
	case isPlain(s):
		p.line(s, indent+2, column, false)
	case isQuoted(s):
		p.out = append(p.out, '\'')
		p.line(s, indent+2, column+1, true)
		p.out = append(p.out, '\'')
	case isBlock(s):
		p.block(s, indent+2)
	default:
		return false
	}
	return true
}

// line prints a text of one line that neither starts nor ends with a space. If it is
// quoted, a quote inside is doubled.
func (p *printer) line(s string, indent, column int, quoted bool) {
	if column+len(s) <= width && !(quoted && strings.Contains(s, "'")) {
		p.out = append(p.out, s...)
		return
	}
	for i := range len(s) {
		c := s[i]
		if c == ' ' && column > width && s[i-1] != ' ' && s[i+1] != ' ' {
			p.out = append(p.out, '\n')
			p.indent(indent)
			column = indent
			continue
		}
		if c == '\'' && quoted {
			p.out = append(p.out, c)
			column++
		}
		p.out = append(p.out, c)
		column++
	}
}

// block prints a text of several lines as a block scalar, up to the end of its last
// line.
func (p *printer) block(s string, indent int) {
	p.out = append(p.out, '|')
	body, ended := strings.CutSuffix(s, "\n")
	if !ended {
		p.out = append(p.out, '-')
	}
	for line := range strings.SplitSeq(body, "\n") {
		p.out = append(p.out, '\n')
		if line != "" {
			p.indent(indent)
			p.out = append(p.out, line...)
		}
	}
}

// isPlain reports whether a text of one line needs no quotes: it starts with a letter,
// a sign such as a slash, a flag or an amount, and nothing in it has a meaning in YAML.
func isPlain(s string) bool {
	if !isLetter(s[0]) && !strings.ContainsRune("/$(_", rune(s[0])) && !isFlag(s) && !isAmount(s) || isReserved(s) {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case isLetter(c), isDigit(c):
		case c == ' ' || c == ':':
			if i == len(s)-1 || c == ':' && s[i+1] == ' ' {
				return false
			}
		case c == '#':
			if s[i-1] == ' ' {
				return false
			}
		case c < ' ' || c > '~':
			return false
		}
	}
	return true
}

// isQuoted reports whether a text of one line needs single quotes, because a sign in it
// has a meaning in YAML.
func isQuoted(s string) bool {
	if !isLetter(s[0]) && !strings.ContainsRune("/#,[]{}&*!|>'\"%@`", rune(s[0])) || isReserved(s) {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return s[len(s)-1] != ' ' && !isPlain(s)
}

// isPlainKey reports whether a text can be a key without quotes, and whether
// compareKeys knows its place: the YAML library cannot count further than 18 digits.
func isPlainKey(s string) bool {
	if s == "" || len(s) > maxKey || !isPlain(s) {
		return false
	}
	for i := range len(s) {
		if digitsOf(s[i:]) > 18 {
			return false
		}
	}
	return true
}

// isBlock reports whether a text of several lines is printed as a block scalar.
// isTabbedBlock explains the conditions on tabs and spaces.
func isBlock(s string) bool {
	if !strings.Contains(s, "\n") || s[0] == ' ' || s[0] == '\n' || s[0] == '\t' ||
		strings.HasSuffix(s, " ") || strings.HasSuffix(s, "\n\n") || strings.Contains(s, " \n") {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c != '\n' && c != '\t' && (c < ' ' || c > '~') {
			return false
		}
	}
	return true
}

// isNumber reports whether a text is a whole number as people write it, which YAML
// would read as a number.
func isNumber(s string) bool {
	if len(s) > 18 || len(s) > 1 && s[0] == '0' {
		return false
	}
	return digitsOf(s) == len(s)
}

// isAmount reports whether a text is a whole number with a suffix of a quantity or of a
// duration, which YAML reads as a text.
func isAmount(s string) bool {
	n := digitsOf(s)
	if n == 0 {
		return false
	}
	switch s[n:] {
	case "m", "k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "Pi", "s", "h":
		return s[0] != '0'
	}
	return false
}

// isFlag reports whether a text is a flag of a program, such as --name.
func isFlag(s string) bool { return len(s) > 2 && s[:2] == "--" && isLetter(s[2]) }

// digitsOf returns the number of digits that a text starts with.
func digitsOf(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// isReserved reports whether YAML reads a word as something other than a text.
func isReserved(s string) bool {
	switch s {
	case "y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF",
		"true", "True", "TRUE", "false", "False", "FALSE", "null", "Null", "NULL":
		return true
	}
	return false
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// sortKeys sorts the keys of a map in the order of the YAML library, and returns them.
// The order has circles, such as n1x, n2, n10, so that the result depends on the order
// before.
func sortKeys(keys []string) []string {
	slices.Sort(keys)
	slices.SortStableFunc(keys, compareKeys)
	return keys
}

// compareKeys orders keys of a map as the YAML library does: numbers inside them count
// as numbers, and other signs come before letters. It is no order: n1x comes before n2,
// n2 before n10, and n10 before n1x.
func compareKeys(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) {
		return cmp.Compare(len(a), len(b))
	}
	switch letterA, letterB := isLetter(a[i]), isLetter(b[i]); {
	case letterA && letterB:
		return cmp.Compare(a[i], b[i])
	case letterA:
		return 1
	case letterB:
		return -1
	}
	restA, restB := a[i:], b[i:]
	endA, endB := digitsOf(restA), digitsOf(restB)
	if (a[i] == '0' || b[i] == '0') && insideNumber(a[:i]) {
		return cmp.Or(cmp.Compare(endA, endB), cmp.Compare(restA[:endA], restB[:endB]), cmp.Compare(a[i], b[i]))
	}
	return cmp.Or(compareNumbers(restA[:endA], restB[:endB]), cmp.Compare(endA, endB), cmp.Compare(a[i], b[i]))
}

// compareNumbers compares numbers by their value. "" counts as 0.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// insideNumber reports whether a text ends with a number other than zero.
func insideNumber(s string) bool {
	for i := len(s) - 1; i >= 0 && isDigit(s[i]); i-- {
		if s[i] != '0' {
			return true
		}
	}
	return false
}
