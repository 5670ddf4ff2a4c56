package diag

import (
	"regexp"
	"strings"
)

// Delta is the difference between the findings of an earlier and a later blueprint.
// Each list is sorted as by List.Sorted.
type Delta struct {
	// New are the findings that only the later blueprint has. If both have the mistake,
	// but the later one accepts it for a new reason, stops accepting it, or has it with
	// another severity, the later finding is also new.
	New *List
	// Changed are the later findings whose mistake both have, in other words, for
	// example with 20 nodes in place of 12, or for another entity.
	Changed *List
	// Gone are the findings that only the earlier blueprint has.
	Gone *List
}

// Compare returns how the findings after a change differ from those before it. Two
// findings are the same mistake if they have the same code, the same field and the
// same quoted names, wherever they are. For example, the same mistake can be on other
// lines, in another file, at another index of a list, or with other numbers in its
// message. Without a field, the file must be the same. Each finding matches at most
// one other, first one with an equal message.
//
// A mistake in a line that CUE applies to many entities, such as a pattern, is found
// for one of them, which another entity can replace. Such findings are the same mistake
// if their lines are equal, and the entity is all that differs.
//
// Names of sources must be comparable: see List.Named.
func Compare(before, after *List) Delta {
	old, current := before.Sorted(), after.Sorted()
	matches := matchFindings(old, current)
	delta := Delta{&List{}, &List{}, &List{}}
	kept := make([]bool, len(old))
	for i, f := range current {
		if matches[i] < 0 {
			delta.New.Add(f)
			continue
		}
		kept[matches[i]] = true
		was := old[matches[i]]
		switch {
		case f.Severity != was.Severity || f.Accepted != was.Accepted:
			delta.New.Add(f)
		case withoutIndices(f.Path) != withoutIndices(was.Path),
			withoutIndices(f.Message) != withoutIndices(was.Message):
			delta.Changed.Add(f)
		}
	}
	for i, f := range old {
		if !kept[i] {
			delta.Gone.Add(f)
		}
	}
	return delta
}

// matchFindings returns for each current finding the index of the old finding that is
// the same mistake, or -1.
func matchFindings(old, current []Finding) []int {
	matches := make([]int, len(current))
	for i := range matches {
		matches[i] = -1
	}
	taken := make([]bool, len(old))
	for _, key := range []func(Finding) string{Finding.statement, Finding.mistake, Finding.lineMistake} {
		free := map[string][]int{}
		for i, f := range old {
			if !taken[i] {
				free[key(f)] = append(free[key(f)], i)
			}
		}
		for i, f := range current {
			if matches[i] >= 0 {
				continue
			}
			if same := free[key(f)]; len(same) > 0 {
				matches[i], taken[same[0]] = same[0], true
				free[key(f)] = same[1:]
			}
		}
	}
	return matches
}

// statement returns a text that is the same for findings with the same words about
// the same field or file.
func (f Finding) statement() string {
	return strings.Join([]string{f.Code, f.Path, f.fileWithoutField(), f.Message}, "\x00")
}

// mistake returns a text that is the same for findings that are the same mistake about
// the same field or file.
func (f Finding) mistake() string {
	parts := []string{f.Code, withoutIndices(f.Path), f.fileWithoutField()}
	return strings.Join(append(parts, quotedName.FindAllString(f.Message, -1)...), "\x00")
}

// lineMistake returns a text that is the same for findings that are the same mistake in
// equal lines, whatever the entity.
func (f Finding) lineMistake() string {
	if f.Path == "" || !f.Span.hasText() {
		return f.mistake()
	}
	line := f.Span.Source.Line(f.Span.Source.Position(f.Span.Start).Line)
	parts := []string{f.Code, withoutIndices(f.withoutEntity(f.Path)), f.Span.sourceName(), strings.TrimSpace(line)}
	return strings.Join(append(parts, quotedName.FindAllString(f.withoutEntity(f.Message), -1)...), "\x00")
}

// fileWithoutField returns the name of the file for a finding without a field.
func (f Finding) fileWithoutField() string {
	if f.Path != "" {
		return ""
	}
	return f.Span.sourceName()
}

// withoutIndices returns a text with an asterisk for each index of a list.
func withoutIndices(text string) string { return listIndex.ReplaceAllString(text, "[*]") }

// listIndex matches an index as Index writes it.
var listIndex = regexp.MustCompile(`\[[0-9]+\]`)
