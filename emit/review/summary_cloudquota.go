package review

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
)

// cloudQuota tells which quota Google Cloud has to grant that it had not to, one
// line a metric. Where teams' quotas alone made a difference, and not what pools
// there can be, all metrics are one line: the first of them, with the others as a
// note.
func cloudQuota(before, after []ir.DemandRow) []Line {
	was := map[string]ir.DemandRow{}
	for _, r := range before {
		was[rowName(r)] = r
	}
	var lines, admitted []Line
	for _, is := range after {
		old, known := was[rowName(is)]
		delete(was, rowName(is))
		line := Line{Topic: TopicCloudQuota, Subject: called(kindCloudQuota, rowName(is)), Op: Changed}
		switch {
		case !known:
			line.Op, line.To = Added, need(is, ir.DemandRow{Standing: -1, Admitted: -1, Ceiling: -1})
		case counts(old) != counts(is):
			line.From, line.To = need(old, is), need(is, old)
			if old.Standing == is.Standing && old.Ceiling == is.Ceiling {
				admitted = append(admitted, line)
				continue
			}
		default:
			continue
		}
		lines = append(lines, line)
	}
	for _, old := range before {
		if _, gone := was[rowName(old)]; gone {
			lines = append(lines, Line{
				Topic: TopicCloudQuota, Subject: called(kindCloudQuota, rowName(old)), Op: Removed,
				From: need(old, ir.DemandRow{Standing: -1, Admitted: -1, Ceiling: -1}),
			})
		}
	}
	return append(lines, gather(admitted)...)
}

// demand tells the rest of the rows, which follows from the plan.
func (s *sheet) demand() {
	d := s.plan.Demand
	for _, r := range d.Rows {
		row := s.subject(TopicCloudQuota, kindCloudQuota, rowName(r))
		row.has("what is counted", fact{form: ratio, value: r.What + " in " + r.Unit, follows: []string{anything}})
		row.has("remarks", fact{form: ratio, value: excerpt(r.Note), follows: []string{anything}})
		row.has("end of the remarks", fact{form: ratio, value: r.Note, follows: []string{anything, path(kindCloudQuota, rowName(r), "remarks")}})
	}
	all := s.subject(TopicCloudQuota, kindCluster, "")
	all.follows("nodes of all that queues can admit", fmt.Sprintf("%s, %d GiB of memory", number(d.VCPUs, "vCPU"), d.MemoryGiB), anything)
}

// counts are what a row asks for.
func counts(r ir.DemandRow) [3]int { return [3]int{r.Standing, r.Admitted, r.Ceiling} }

func rowName(r ir.DemandRow) string { return cmp.Or(r.Metric, "of "+r.What) }

// need tells what of a row differs from another.
func need(r, other ir.DemandRow) string {
	var words []string
	for _, n := range []struct {
		n, other int
		when     string
	}{
		{r.Standing, other.Standing, "in use always"},
		{r.Admitted, other.Admitted, "for all that queues can admit"},
		{r.Ceiling, other.Ceiling, "with all pools at their most"},
	} {
		if n.n != n.other {
			words = append(words, fmt.Sprintf("%s %s", units(n.n, r.Unit), n.when))
		}
	}
	return strings.Join(words, ", ")
}

// units counts in a unit that is given in the plural.
func units(n int, unit string) string {
	if n == 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	return fmt.Sprintf("%d %s", n, unit)
}

func gather(lines []Line) []Line {
	if len(lines) < 2 {
		return lines
	}
	first := lines[0]
	var others []string
	for _, l := range lines[1:] {
		others = append(others, strings.TrimPrefix(l.Subject, kindCloudQuota+" "))
	}
	first.Note = "and so " + strings.Join(others, ", ")
	return []Line{first}
}
