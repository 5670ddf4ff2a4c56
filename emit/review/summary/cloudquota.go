package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/review/delta"
)

// cloudQuota returns lines about quota that Google Cloud must newly grant, one line
// for each metric. Metrics that changed only because queues admit other amounts
// share one line: the first metric, with the others as its note.
func cloudQuota(before, after []ir.DemandRow) []Line {
	was := map[string]ir.DemandRow{}
	for _, r := range before {
		was[rowName(r)] = r
	}
	var lines, follow []Line
	for _, is := range after {
		name := rowName(is)
		line := Line{Topic: TopicCloudQuota, Subject: subjectName(kindCloudQuota, name)}
		old, known := was[name]
		delete(was, name)
		switch {
		case !known:
			line.Op, line.To, line.Grows = delta.Added, neededAmounts(is, nil), true
		case rowAmounts(old) == rowAmounts(is):
			continue
		default:
			line.Op, line.From, line.To = delta.Changed, neededAmounts(old, &is), neededAmounts(is, &old)
			line.Grows = is.Ceiling > old.Ceiling
			if byQueues(old, is) {
				follow = append(follow, line)
				continue
			}
		}
		lines = append(lines, line)
	}
	for _, old := range before {
		if _, gone := was[rowName(old)]; gone {
			lines = append(lines,
				Line{
					Topic: TopicCloudQuota, Subject: subjectName(kindCloudQuota, rowName(old)), Op: delta.Removed,
					From: neededAmounts(old, nil),
				})
		}
	}
	if len(follow) == 0 {
		return lines
	}
	var others []string
	for _, l := range follow[1:] {
		others = append(others, strings.TrimPrefix(strings.TrimPrefix(l.String(), kindCloudQuota+" "), "of "))
	}
	follow[0].Grows = slices.ContainsFunc(follow, func(l Line) bool { return l.Grows })
	follow[0].Note = withPrefix("and with it ", strings.Join(others, "; "))
	return append(lines, follow[0])
}

// byQueues reports whether two rows differ only in the amount that queues admit, and
// in the maximum if it is limited by that amount.
func byQueues(a, b ir.DemandRow) bool {
	return a.Standing == b.Standing && (a.Ceiling == b.Ceiling || allAdmitted(a, b))
}

// allAdmitted reports whether, in both rows, queues admit the entire maximum.
func allAdmitted(a, b ir.DemandRow) bool {
	return a.Ceiling == a.Admitted && b.Ceiling == b.Admitted
}

// rowAmounts returns the amounts for which a row asks.
func rowAmounts(r ir.DemandRow) [3]int { return [3]int{r.Standing, r.Admitted, r.Ceiling} }

func rowName(r ir.DemandRow) string { return cmp.Or(r.Metric, "of "+r.What) }

// neededAmounts returns the amounts of a row that differ from the amounts of other, or
// all amounts if other is nil.
func neededAmounts(r ir.DemandRow, other *ir.DemandRow) string {
	all := func(r ir.DemandRow) bool { return r.Standing == r.Admitted && r.Admitted == r.Ceiling }
	if all(r) && (other == nil || all(*other)) {
		return countUnits(r.Ceiling, r.Unit)
	}
	var words []string
	say := func(n int, was func(*ir.DemandRow) int, when string) {
		if other != nil && was(other) == n {
			return
		}
		amount := fmt.Sprint(n)
		if words == nil {
			amount = countUnits(n, r.Unit)
		}
		words = append(words, amount+" "+when)
	}
	say(r.Standing, func(o *ir.DemandRow) int { return o.Standing }, "always")
	if other == nil || !allAdmitted(r, *other) {
		say(r.Admitted, func(o *ir.DemandRow) int { return o.Admitted }, "admitted")
	}
	say(r.Ceiling, func(o *ir.DemandRow) int { return o.Ceiling }, "at most")
	return strings.Join(words, ", ")
}

// countUnits returns a number with its unit. The unit is given in the plural.
func countUnits(n int, unit string) string {
	if n == 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	return fmt.Sprintf("%d %s", n, unit)
}
