package review

import (
	"strconv"
	"strings"
)

// String is the line as a sentence without a full stop and without its topic,
// such as `team "vision": nominal quota of l4-spot in lp: 12 -> 16 GPUs (all queues
// guarantee 52 of the 72 GPUs)`.
func (l Line) String() string {
	var b strings.Builder
	b.WriteString(l.Subject)
	if l.What != "" {
		b.WriteString(": " + l.What)
	}
	value := l.To
	switch l.Op {
	case Added:
		b.WriteString(" added")
	case Removed:
		b.WriteString(" removed from configuration")
		value = l.From
	case Changed:
		if l.From == "" && l.To == "" {
			b.WriteString(" changed")
			value = ""
			break
		}
		b.WriteString(": " + sameUnit(l.From, l.To) + " -> " + l.To)
		value = ""
	}
	if value != "" {
		b.WriteString(": " + value)
	}
	if l.Note != "" {
		b.WriteString(" (" + l.Note + ")")
	}
	return b.String()
}

// sameUnit leaves out the unit of a number where another has the same, but for
// the plural.
func sameUnit(from, to string) string {
	n, unit, ok := strings.Cut(from, " ")
	_, other, _ := strings.Cut(to, " ")
	if _, err := strconv.Atoi(n); ok && err == nil && strings.TrimSuffix(unit, "s") == strings.TrimSuffix(other, "s") {
		return n
	}
	return from
}
