// Package words prints the small words that several packages need: counts with
// their nouns, amounts with their units, lists of names, beginnings of long
// texts, and words of a shell. Each has one implementation here, so that all
// output agrees. The package knows nothing of the project: callers choose the
// noun, the unit and the limit.
package words

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Plural returns n and a phrase that depends on it: one for 1, many otherwise.
// Plural(2, "file differs", "files differ") is "2 files differ".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Count returns n and a noun in the number that fits: "1 node", "2 nodes",
// "0 capacities". It knows regular plurals only. Use Plural for other phrases.
func Count(n int, noun string) string { return Plural(n, noun, pluralOf(noun)) }

// pluralOf returns the regular plural of a noun.
func pluralOf(noun string) string {
	switch {
	case strings.HasSuffix(noun, "ty"):
		return strings.TrimSuffix(noun, "y") + "ies"
	case strings.HasSuffix(noun, "s"):
		return noun + "es"
	default:
		return noun + "s"
	}
}

// Decimal returns a quantity as a plain decimal number. Kubernetes would write
// 16000 as 16k, and 1.5 as 1500m.
func Decimal(q resource.Quantity) string {
	if n, whole := q.AsInt64(); whole {
		return strconv.FormatInt(n, 10)
	}
	q = q.DeepCopy() // AsDec changes it
	text := q.AsDec().String()
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Amount returns a quantity as a decimal number with its unit: "1 GPU",
// "1.5 CPUs".
func Amount(q resource.Quantity, unit string) string {
	n := Decimal(q)
	if n == "1" {
		return "1 " + unit
	}
	return n + " " + pluralOf(unit)
}

// GroupDigits separates the thousands of a decimal number with commas. The result has
// no sign if it is zero.
func GroupDigits(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	var b strings.Builder
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if fraction != "" {
		b.WriteString("." + fraction)
	}
	if strings.Trim(s, "0.") == "" {
		sign = "" // a rounded amount
	}
	return sign + b.String()
}

// And lists items as an enumeration: "a", "a and b", "a, b and c".
func And[S ~string](items []S) S { return joinLast(items, " and ") }

// Or lists items as alternatives: "a", "a or b", "a, b or c".
func Or[S ~string](items []S) S { return joinLast(items, " or ") }

// joinLast joins items with commas, and the last two with a conjunction.
func joinLast[S ~string](items []S, conjunction S) S {
	last := len(items) - 1
	if last < 1 {
		return joinCommas(items)
	}
	return joinCommas(items[:last]) + conjunction + items[last]
}

// First lists the first items, and counts the others if there are more than
// most: "a, b and 3 more".
func First[S ~string](items []S, most int) S {
	if hidden := len(items) - most; hidden > 0 {
		return joinCommas(items[:most]) + " and " + S(strconv.Itoa(hidden)) + " more"
	}
	return joinCommas(items)
}

// joinCommas separates items with commas.
func joinCommas[S ~string](items []S) S {
	var b strings.Builder
	for i, item := range items {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(item))
	}
	return S(b.String())
}

// Quoted lists the first names in double quotes, and counts the others if there
// are more than most: `"a", "b", and 3 more`. Unlike First it writes a comma
// before the count: the count is one more item, beside names that a reader may
// copy with their quotes.
func Quoted(names []string, most int) string {
	var items []string
	for _, name := range names[:min(len(names), most)] {
		items = append(items, strconv.Quote(name))
	}
	if hidden := len(names) - most; hidden > 0 {
		items = append(items, "and "+strconv.Itoa(hidden)+" more")
	}
	return joinCommas(items)
}

// OneOf returns a list of n items as the object of "want": "one of " precedes the list
// if it has several items.
func OneOf(n int, list string) string {
	if n == 1 {
		return list
	}
	return "one of " + list
}

// Truncate returns s if it has at most most characters. Of a longer text it
// returns the beginning and an ellipsis, together most characters. The limit
// must be at least 1.
func Truncate(s string, most int) string {
	n, end := 0, 0
	for i := range s {
		switch n {
		case most - 1:
			end = i
		case most:
			return s[:end] + "…"
		}
		n++
	}
	return s
}

// OneLine replaces with a space every character that would end a line or change
// the direction of the text. Package console instead makes such characters
// visible, because a terminal obeys more of them than a file's reader does.
func OneLine(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// timeUnits are the units of times, the largest first.
func timeUnits() []timeUnit {
	return []timeUnit{{"day", 86400}, {"hour", 3600}, {"minute", 60}, {"second", 1}}
}

type timeUnit struct {
	name    string // begins with its letter
	seconds int64
}

// Duration returns a number of seconds in the largest unit that divides it.
func Duration(seconds int) string {
	units := timeUnits()
	i := slices.IndexFunc(units, func(u timeUnit) bool { return seconds%int(u.seconds) == 0 })
	return Count(seconds/int(units[i].seconds), units[i].name)
}

// Span returns a number of seconds in its two largest units, such as "2d4h", "1h30m",
// "90s" or "0s", rounded to the second of them.
func Span(seconds int64) string {
	if seconds < 120 {
		return strconv.FormatInt(seconds, 10) + "s"
	}
	units := timeUnits()
	for i, u := range units {
		if seconds < u.seconds {
			continue
		}
		next := units[min(i+1, len(units)-1)].seconds
		seconds = (seconds + next/2) / next * next
		if i > 0 && seconds >= units[i-1].seconds {
			i, u = i-1, units[i-1]
		}
		out := strconv.FormatInt(seconds/u.seconds, 10) + u.name[:1]
		if rest := seconds % u.seconds / next; rest > 0 {
			out += strconv.FormatInt(rest, 10) + units[i+1].name[:1]
		}
		return out
	}
	return "0s"
}

// FormatSeconds returns a number of seconds, which is not negative, in days, hours,
// minutes and seconds, as a blueprint writes durations: "1h30m". It returns "0s" for 0.
func FormatSeconds(seconds int64) string {
	if seconds == 0 {
		return "0s"
	}
	out := ""
	for _, unit := range timeUnits() {
		if n := seconds / unit.seconds; n > 0 {
			out += strconv.FormatInt(n, 10) + unit.name[:1]
		}
		seconds %= unit.seconds
	}
	return out
}

// Placeholder begins a comment above a value that only the user knows.
const Placeholder = "FILL IN: "
