package diag

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// listOf returns a list of findings with the code W0614, one for each text. A text is a
// path, a message and, if the finding is accepted, the reason, between bars. Each
// finding is on its own line of the file, after some lines without findings. The line
// is the path.
func listOf(file string, skipped int, texts ...string) *List {
	src := newSource(file, strings.Repeat("\n", skipped))
	l := &List{}
	for _, text := range texts {
		parts := strings.Split(text, "|")
		start := len(src.Content)
		src.Content = append(src.Content, parts[0]+".\n"...)
		f := Finding{Code: "W0614", Severity: Warning, Path: parts[0], Message: parts[1],
			Span: Span{src, start, start + 1}}
		if len(parts) == 3 {
			f.Severity, f.Accepted = Note, parts[2]
		}
		l.Add(f)
	}
	return l
}

// messages returns the severity and the message of each finding.
func messages(l *List) []string {
	var all []string
	for _, f := range l.Sorted() {
		all = append(all, f.Severity.String()+" "+f.Message)
	}
	return all
}

func TestCompare(t *testing.T) {
	const (
		two     = `capacity.some|the guarantees on capacity "some" are 4, but its 1 node holds 2`
		four    = `capacity.some|the guarantees on capacity "some" are 8, but its 2 nodes hold 4`
		other   = `capacity.some|the guarantees on capacity "some" are 4, but "other" lends none`
		more    = `capacity.more|the guarantees on capacity "more" are 4, but its 1 node holds 2`
		first   = `teams.vision.roles[0]|roles[0] repeats "viewer"`
		second  = `teams.vision.roles[1]|roles[1] repeats "viewer"`
		editor  = `teams.vision.roles[0]|roles[0] repeats "editor"`
		ofFile  = `|the file holds a GitHub token`
		nothing = `|`
	)
	warning := func(text string) string { return "warning " + strings.Split(text, "|")[1] }
	note := func(text string) string { return "note " + strings.Split(text, "|")[1] }
	for name, test := range map[string]struct {
		before, after      *List
		come, change, went []string
	}{
		"no finding":       {before: listOf("a.cue", 0), after: listOf("a.cue", 0)},
		"the same finding": {before: listOf("a.cue", 0, two), after: listOf("a.cue", 0, two)},
		"on other lines":   {before: listOf("a.cue", 0, two, more), after: listOf("a.cue", 9, more, two)},
		"in another file":  {before: listOf("a.cue", 0, two), after: listOf("b.cue", 0, two)},
		"without a field, in another file": {
			before: listOf("a.cue", 0, ofFile), after: listOf("b.cue", 0, ofFile),
			come: []string{warning(ofFile)}, went: []string{warning(ofFile)},
		},
		"without a field, on another line": {before: listOf("a.cue", 0, ofFile), after: listOf("a.cue", 3, ofFile)},
		"one more": {
			before: listOf("a.cue", 0, two), after: listOf("a.cue", 0, two, more), come: []string{warning(more)},
		},
		"one less": {
			before: listOf("a.cue", 0, two, more), after: listOf("a.cue", 0, two), went: []string{warning(more)},
		},
		"another field": {
			before: listOf("a.cue", 0, two), after: listOf("a.cue", 0, more),
			come: []string{warning(more)}, went: []string{warning(two)},
		},
		"other numbers": {
			before: listOf("a.cue", 0, two), after: listOf("a.cue", 0, four), change: []string{warning(four)},
		},
		"another name": {
			before: listOf("a.cue", 0, two), after: listOf("a.cue", 0, other),
			come: []string{warning(other)}, went: []string{warning(two)},
		},
		"another index": {before: listOf("a.cue", 0, first), after: listOf("a.cue", 0, second)},
		"another name at the index": {
			before: listOf("a.cue", 0, first), after: listOf("a.cue", 0, editor, second),
			come: []string{warning(editor)},
		},
		"a second one in other words": {
			before: listOf("a.cue", 0, two), after: listOf("a.cue", 0, four, two), come: []string{warning(four)},
		},
		"a second one in the same words": {
			before: listOf("a.cue", 0, two), after: listOf("a.cue", 0, two, two), come: []string{warning(two)},
		},
		"accepted": {
			before: listOf("a.cue", 0, two), after: listOf("a.cue", 0, two+"|later"), come: []string{note(two)},
		},
		"accepted from the beginning": {
			before: listOf("a.cue", 0), after: listOf("a.cue", 0, two+"|later"), come: []string{note(two)},
		},
		"still accepted": {before: listOf("a.cue", 0, two+"|later"), after: listOf("a.cue", 0, two+"|later")},
		"accepted with other numbers": {
			before: listOf("a.cue", 0, two+"|later"), after: listOf("a.cue", 0, four+"|later"),
			change: []string{note(four)},
		},
		"accepted for another reason": {
			before: listOf("a.cue", 0, two+"|later"), after: listOf("a.cue", 0, two+"|trust me"),
			come: []string{note(two)},
		},
		"accepted no longer": {
			before: listOf("a.cue", 0, two+"|later"), after: listOf("a.cue", 0, two), come: []string{warning(two)},
		},
		"a reason that needs none": {
			before: listOf("a.cue", 0, two+"|later"), after: listOf("a.cue", 0), went: []string{note(two)},
		},
		"without words": {before: listOf("a.cue", 0, nothing), after: listOf("a.cue", 1, nothing)},
	} {
		t.Run(name, func(t *testing.T) {
			delta := Compare(test.before, test.after)
			for _, part := range []struct {
				name string
				want []string
				got  *List
			}{{"new", test.come, delta.New}, {"changed", test.change, delta.Changed}, {"gone", test.went, delta.Gone}} {
				if d := cmp.Diff(part.want, messages(part.got)); d != "" {
					t.Errorf("%s: -want +got:\n%s", part.name, d)
				}
			}
		})
	}
}

// TestComparePattern: a mistake in a pattern is found for the first of its teams. Another
// team in front of it is no new mistake, but the finding has changed.
func TestComparePattern(t *testing.T) {
	const pattern = "teams: [string]: borrow: 500"
	of := func(team, source string) *List {
		l := &List{}
		l.Add(Finding{
			Code: "W0610", Severity: Warning, Path: "teams." + team + ".borrow",
			Message: fmt.Sprintf("team %q borrows 500", team), Span: spanOf(t, newSource("a.cue", source), "500"),
		})
		return l
	}
	for name, test := range map[string]struct {
		before, after      *List
		come, change, went int
	}{
		"the same team":       {before: of("b", pattern), after: of("b", "\n"+pattern)},
		"another team":        {before: of("b", pattern), after: of("a", "teams: a: _\n\t"+pattern), change: 1},
		"a line of its own":   {before: of("b", pattern), after: of("a", "teams: a: borrow: 500"), come: 1, went: 1},
		"the pattern is new":  {before: &List{}, after: of("b", pattern), come: 1},
		"the pattern is gone": {before: of("b", pattern), after: &List{}, went: 1},
	} {
		delta := Compare(test.before, test.after)
		got := []int{delta.New.Len(), delta.Changed.Len(), delta.Gone.Len()}
		if want := []int{test.come, test.change, test.went}; !slices.Equal(got, want) {
			t.Errorf("%s: new, changed and gone are %v, want %v", name, got, want)
		}
	}
}

// TestCompareCode: one field can have findings of several codes.
func TestCompareCode(t *testing.T) {
	before, after := &List{}, &List{}
	before.Add(Finding{Code: "W0610", Path: "capacity.some", Message: "the words"})
	after.Add(Finding{Code: "W0614", Path: "capacity.some", Message: "the words"})
	delta := Compare(before, after)
	if delta.New.Len() != 1 || delta.Gone.Len() != 1 || delta.Changed.Len() != 0 {
		t.Errorf("%d new, %d gone, %d changed", delta.New.Len(), delta.Gone.Len(), delta.Changed.Len())
	}
}

// TestCompareEvery compares random lists. Every finding is in one part at most, the
// parts account for every finding, a list does not differ from itself in any order
// and on any lines, and what is new one way is gone the other way.
func TestCompareEvery(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func() []string {
		texts := make([]string, random.IntN(8))
		for i := range texts {
			texts[i] = fmt.Sprintf("capacity.c%d|%q holds %d", random.IntN(2), "c", random.IntN(3))
		}
		return texts
	}
	for range 500 {
		old, current := draw(), draw()
		before, after := listOf("a.cue", 0, old...), listOf("a.cue", 3, current...)
		delta, reverse := Compare(before, after), Compare(after, before)
		stay := after.Len() - delta.New.Len()
		if stay < delta.Changed.Len() || stay != before.Len()-delta.Gone.Len() {
			t.Fatalf("%q to %q: %d new, %d changed, %d gone", old, current,
				delta.New.Len(), delta.Changed.Len(), delta.Gone.Len())
		}
		if delta.New.Len() != reverse.Gone.Len() || delta.Changed.Len() != reverse.Changed.Len() {
			t.Fatalf("%q to %q: %d new, but %d gone the other way", old, current, delta.New.Len(), reverse.Gone.Len())
		}
		shuffled := slices.Clone(old)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		same := Compare(before, listOf("b.cue", 5, shuffled...))
		if n := same.New.Len() + same.Changed.Len() + same.Gone.Len(); n > 0 {
			t.Fatalf("%q differs from %q in %d findings", old, shuffled, n)
		}
	}
}
