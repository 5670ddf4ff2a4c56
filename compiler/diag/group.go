package diag

import (
	"fmt"
	"regexp"
	"strings"
)

const (
	// fewest is the smallest number of findings on different entities that are shown
	// as one. Fewer are easier to read one by one.
	fewest = 4

	// mostPlaces is the most further places of a finding that a text names.
	mostPlaces = 5
)

// grouped returns the findings as Sorted does, with equal findings as one: the first
// of them, with the others in Others. Findings are equal if they have the same text,
// except for the name of the entity that they are about. Two findings whose texts are
// the same and name something are one, because they mostly have the same cause, such
// as a name that is not defined; otherwise fewest findings must be equal.
func (l *List) grouped() []Finding {
	all := l.Sorted()
	members := map[string][]int{}
	var order []string
	for i, f := range all {
		if !f.Span.hasText() {
			continue // a finding about a file, which only its place names
		}
		key := f.groupKey()
		if members[key] == nil {
			order = append(order, key)
		}
		members[key] = append(members[key], i)
	}
	first := map[int][]Finding{} // the others of the first member of each group
	hidden := map[int]bool{}
	for _, key := range order {
		group := members[key]
		if len(group) < 2 || len(group) < fewest && !nameTheSame(all, group) {
			continue
		}
		for _, i := range group[1:] {
			first[group[0]] = append(first[group[0]], all[i])
			hidden[i] = true
		}
	}
	var out []Finding
	for i, f := range all {
		if !hidden[i] {
			f.Others = first[i]
			out = append(out, f)
		}
	}
	return out
}

// nameTheSame reports whether findings of a group have the same message, and the
// message quotes a name.
func nameTheSame(all []Finding, group []int) bool {
	for _, i := range group {
		if all[i].Message != all[group[0]].Message {
			return false
		}
	}
	return strings.Contains(all[group[0]].Message, `"`)
}

// groupKey returns a text that is the same for equal findings.
func (f Finding) groupKey() string {
	return f.withoutEntity(strings.Join(
		[]string{f.Code, f.Severity.String(), f.Message, f.Label, f.Help, f.Accepted}, "\x00"))
}

// withoutEntity returns a text with an asterisk for the name of the entity that the
// finding is about.
func (f Finding) withoutEntity(text string) string {
	field, rest, nested := strings.Cut(f.Path, ".")
	if !nested {
		return text
	}
	entity, _, _ := strings.Cut(rest, ".")
	entity, _, _ = strings.Cut(entity, "[")
	return strings.NewReplacer(field+"."+entity, field+".*", fmt.Sprintf("%q", entity), "*").Replace(text)
}

// groupName returns a text that identifies the finding for a group of equal findings,
// of which each can be the first: the field, and the names that the message quotes.
func (f Finding) groupName() string {
	if f.Path == "" {
		return f.Message
	}
	names := quotedName.FindAllString(f.withoutEntity(f.Message), -1)
	return f.withoutEntity(f.Path) + "\x00" + strings.Join(names, "\x00")
}

// quotedName matches a name in quotes.
var quotedName = regexp.MustCompile(`"[^"]*"`)

// alsoAt returns a text that names the first further places of a finding and counts
// the rest, "" if there are none.
func (f Finding) alsoAt() string {
	var places []string
	for _, other := range f.Others[:min(len(f.Others), mostPlaces)] {
		place := other.Span.String()
		if other.Path != "" && other.Path != f.Path {
			place += " (" + other.Path + ")"
		}
		places = append(places, place)
	}
	text := strings.Join(places, ", ")
	if hidden := len(f.Others) - mostPlaces; hidden > 0 {
		text += fmt.Sprintf(" and %d more", hidden)
	}
	return text
}
