package monitoring

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// Figure is a number that a chart of an administrators' dashboard shows after a phase of the
// demonstration.
type Figure struct {
	Board, Section, Chart string // their titles
	Series                string // of the chart, "" for the only one
	Value                 int
}

// Figures returns the figures that follow from the numbers that a phase, an index, expects.
// A figure is omitted if the numbers do not determine it, or no dashboard has its chart.
func Figures(p *ir.Platform, phase int) []Figure {
	e := expectation{p, p.Demonstration[phase], p.Standing(phase)}
	var out []Figure
	add := func(chart, series string, value int, known bool) {
		if f, found := findChart(p, chart); found && known {
			f.Series, f.Value = series, value
			out = append(out, f)
		}
	}
	admitted, pending, known := e.jobs()
	add("Active workloads", "", admitted, known)
	add("Pending workloads", "", pending, known)
	reserved, known := e.reserved()
	add("Reserved quota", "", reserved, known)
	// The chart also counts the evictions of earlier phases, if they are less than an hour ago.
	evicts := func(earlier ir.Phase) bool { return len(earlier.Evicted) > 0 }
	evicted := e.evicted()
	add("Evictions per hour", "Preempted", evicted,
		evicted > 0 && !slices.ContainsFunc(p.Demonstration[:phase], evicts))
	busy, known := e.chips()
	add("Allocated GPUs", "", busy, known)
	add("Accelerators requested and busy", "requested", busy, known && busy > 0)
	return out
}

// findChart returns a figure with the place of a chart and nothing else.
func findChart(p *ir.Platform, title string) (Figure, bool) {
	for _, b := range Boards(p) {
		for _, s := range b.Sections {
			shows := func(panel Panel) bool { return panel.Title == title }
			if b.File != ir.TeamBoard && slices.ContainsFunc(s.Panels, shows) {
				return Figure{Board: b.Title, Section: s.Title, Chart: title}, true
			}
		}
	}
	return Figure{}, false
}

// expectation is a phase, with the workloads that exist after it.
type expectation struct {
	plan     *ir.Platform
	phase    ir.Phase
	standing []ir.Workload
}

// jobs returns the numbers of jobs in all queues, if the phase expects numbers in each queue
// that has jobs.
func (e expectation) jobs() (admitted, pending int, known bool) {
	queued := 0
	for _, c := range e.phase.Queues {
		n := len(e.plan.QueuesOf(e.phase, c.Tier))
		admitted, pending = admitted+n*c.Admitted, pending+n*c.Pending
		queued += n * (c.Admitted + c.Pending)
	}
	return admitted, pending, e.phase.Queues != nil && queued == len(e.standing)
}

// reserved returns the accelerators of the admitted jobs, if those of a tier are alike.
func (e expectation) reserved() (chips int, known bool) {
	if _, _, known := e.jobs(); !known || len(e.plan.CountedResources()) > 1 {
		return 0, false
	}
	for _, c := range e.phase.Queues {
		if c.Admitted == 0 {
			continue
		}
		alike := slices.DeleteFunc(
			slices.Clone(e.standing),
			func(w ir.Workload) bool { return e.plan.TierOf(w) != c.Tier },
		)
		each, same := ir.ChipsEach(alike)
		pods := func(a, b ir.Workload) int { return a.Pods - b.Pods }
		if !same || len(alike) == 0 || each == 0 ||
			slices.MinFunc(alike, pods).Pods != slices.MaxFunc(alike, pods).Pods {
			return 0, false
		}
		chips += len(e.plan.QueuesOf(e.phase, c.Tier)) * c.Admitted * alike[0].Pods * each
	}
	return chips, true
}

// evicted returns the number of jobs that the phase expects to be evicted.
func (e expectation) evicted() (jobs int) {
	for _, c := range e.phase.Evicted {
		teams := map[string]bool{}
		for _, w := range e.standing {
			if w.Template == c.Template && e.phase.TakesPart(w.Team) {
				teams[w.Team] = true
			}
		}
		jobs += c.Count * len(teams)
	}
	return jobs
}

// chips returns the accelerators of the running pods, if the pods on each capacity are alike.
func (e expectation) chips() (chips int, known bool) {
	for _, c := range e.phase.Pods {
		each, same := ir.ChipsEach(e.on(c.Capacity))
		if c.Count > 0 && (!same || each == 0) {
			return 0, false
		}
		chips += c.Count * each
	}
	return chips, e.phase.Pods != nil
}

// on returns the workloads that can run on a capacity.
func (e expectation) on(capacity string) []ir.Workload {
	return slices.DeleteFunc(slices.Clone(e.standing),
		func(w ir.Workload) bool { return !slices.Contains(w.Capacities, capacity) })
}
