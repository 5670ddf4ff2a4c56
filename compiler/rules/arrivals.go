package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchwright/batchwright/compiler/diag"
	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/compiler/trace"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/schema"
)

// Rules on the arrivals of a rehearsal: an arrival must say which jobs arrive, the text of
// a trace must be correct, and the jobs must be able to run.

func arrivalRules() []Rule {
	return []Rule{
		rule("E0893", "fields of an arrival are missing or conflict", arrivalKinds),
		rule("E0897", "trace of a rehearsal has a mistake", traceTexts, whole, resolved),
		rule("E0898", "job of a rehearsal can never run", arrivingJobsRun, whole, resolved),
		rule("W0899", "no job of a trace arrives", idleTraces, whole, resolved),
	}
}

// arrivalKinds reports arrivals that have not exactly one of workload, job and trace,
// fields that have no effect on a trace, other arrivals without a run time, and composite
// jobs with independent pods.
func arrivalKinds(r *report) {
	for field, a := range every[schema.Arrival](r, arrivals) {
		var fields []string
		for _, kind := range []struct {
			name    string
			written bool
		}{{"workload", a.Workload != nil}, {"job", a.Job != nil}, {"trace", a.Trace != nil}} {
			if kind.written {
				fields = append(fields, kind.name)
			}
		}
		switch {
		case len(fields) == 0:
			r.add(field, "the arrival does not say which jobs arrive",
				help(`add workload, job or trace, such as workload: "NAME"`))
			continue
		case len(fields) > 1:
			r.addKey(field.at(fields[1]), say("the arrival has both %s and %s", fields[0], fields[1]),
				see(field.at(fields[0]), "the other field"),
				help("write two arrivals: one with %s and one with %s", fields[0], fields[1]))
			continue
		case a.Trace == nil && a.Runs == nil:
			r.add(field, "the arrival does not say how long its jobs run",
				help(`add the time, such as runs: fixed: "2h"`))
		}
		if a.Job != nil && a.Job.PerPod.Accelerators == 0 && a.Job.PerPod.CPU == nil && a.Job.PerPod.Memory == nil {
			r.add(field.at("job", "perPod"), "the pods of the job request nothing",
				help("add accelerators, cpu or memory"))
		}
		if a.Workload != nil && a.IndependentPods {
			if k := kinds.Of(r.Blueprint.Workloads[*a.Workload].Kind); k.Composite {
				r.addKey(field.at("independentPods"),
					say("workload %q is a %s, whose pods run together", *a.Workload, k.Name),
					help("remove independentPods, or write an arrival of a Job"))
			}
		}
		if a.Trace == nil {
			continue
		}
		for _, name := range []string{"every", "random", "count", "runs", "independentPods"} {
			if r.Written(field.at(name)...) {
				r.addKey(field.at(name), name+" has no effect with a trace", help("remove %s", name))
			}
		}
	}
}

// eachTrace calls visit with every trace of the plan, its text, and its place in the
// blueprint.
func (r *report) eachTrace(visit func(t textPlace, in schema.Trace, text trace.Text, plan ir.Rehearsal,
	jobs []ir.TracedJob)) {
	for _, plan := range r.Plan.Rehearsals {
		for i, a := range r.Blueprint.Rehearsals[plan.Name].Arrivals {
			if a.Trace == nil {
				continue
			}
			path := at("rehearsals", plan.Name, "arrivals", diag.Index(i), "trace", "csv")
			var jobs []ir.TracedJob
			for _, arrival := range plan.Arrivals {
				if arrival.Index == i {
					jobs = arrival.Trace
				}
			}
			text, known := r.traces[diag.Path(path)]
			if !known {
				text = trace.Read(*a.Trace)
				r.traces[diag.Path(path)] = text
			}
			visit(textPlace{path, r.Embedded(a.Trace.CSV, path...)}, *a.Trace, text, plan, jobs)
		}
	}
}

// textPlace is the place of the text of a trace or a manifest.
type textPlace struct {
	path fieldPath
	file *diag.Source // nil if the blueprint itself has the text
}

// addTo reports a finding on a part of the text.
func (t textPlace) addTo(r *report, span trace.Span, message string, options ...option) {
	if t.file == nil {
		r.add(t.path, say("line %d: %s", span.Line, message), options...)
		return
	}
	r.newFinding(diag.Span{Source: t.file, Start: span.Start, End: span.End}, t.path, message, options)
}

// traceTexts reports the lines of a trace that are wrong, and the names that the platform
// does not have, each name once.
func traceTexts(r *report) {
	teams, tiers := sortedKeys(r.Blueprint.Teams), sortedKeys(r.Blueprint.Tiers)
	r.eachTrace(func(t textPlace, in schema.Trace, text trace.Text, _ ir.Rehearsal, jobs []ir.TracedJob) {
		for _, p := range text.Problems {
			t.addTo(r, p.Span, p.Message, advise(p.Help))
		}
		if len(text.Problems) == trace.MaxProblems {
			return
		}
		if len(text.Jobs) > 0 && !text.Has[trace.Accelerators] && !text.Has[trace.CPU] && !text.Has[trace.Memory] {
			t.addTo(r, text.Header, "the jobs request nothing: the text has no column of accelerators, cpu or memory",
				help("in the trace, write columns: {accelerators: \"NAME\"} with a name of the text: %s",
					strings.Join(text.Names, ", ")))
			return
		}
		byLine := jobsByLine(text)
		type subject struct{ what, team, tier string }
		lines := map[subject][]int{}
		var order []subject
		for _, job := range jobs {
			if job.Workload >= 0 {
				continue
			}
			s := subject{what: "uneven", tier: fmt.Sprint(job.Line)}
			switch {
			case !hasName(teams, job.Team):
				s = subject{what: "team", team: job.Team}
			case !hasName(tiers, job.Tier):
				s = subject{what: "tier", tier: job.Tier}
			case !r.fit.HasQueue(job.Team, job.Tier):
				s = subject{"queue", job.Team, job.Tier}
			}
			if lines[s] == nil {
				order = append(order, s)
			}
			lines[s] = append(lines[s], job.Line)
		}
		for _, s := range order[:min(len(order), trace.MaxProblems)] {
			row := byLine[lines[s][0]]
			message, options := r.describeRow(s.what, s.team, s.tier, row, in)
			if n := len(lines[s]) - 1; n > 0 {
				message += fmt.Sprintf(" (and %s)", words.Count(n, "more line"))
			}
			t.addTo(r, row.Span, message, options...)
		}
	})
}

// jobsByLine returns the jobs of a text by line.
func jobsByLine(text trace.Text) map[int]trace.Job {
	out := make(map[int]trace.Job, len(text.Jobs))
	for _, job := range text.Jobs {
		out[job.Span.Line] = job
	}
	return out
}

// describeRow says why a line of a trace is no job of the platform.
func (r *report) describeRow(what, team, tier string, row trace.Job, in schema.Trace) (string, []option) {
	rename := func(field, name string, known []string) option {
		if near := r.nearestName(name, known); near != "" {
			return help("did you mean %q? If so, correct the line, or write %s: {%q: %q} in the trace", near, field,
				name, near)
		}
		return help("write the platform's name in the trace's %s: {%q: \"NAME\"}; or define the %s", field, name,
			what)
	}
	switch what {
	case "team":
		known := sortedKeys(r.Blueprint.Teams)
		return fmt.Sprintf("there is no team named %q", team), []option{
			choices(known), rename("teams", row.Team, known),
		}
	case "tier":
		known := sortedKeys(r.Blueprint.Tiers)
		if tier == "" {
			return "the line names no tier, and no tier is the default",
				[]option{
					choices(known),
					help("write the tier of the trace: tier: \"NAME\""),
				}
		}
		if row.Tier == "" {
			row.Tier = tier
		}
		return fmt.Sprintf("there is no tier named %q", tier),
			[]option{choices(known), rename("tiers", row.Tier, known)}
	case "queue":
		return fmt.Sprintf("team %q has no quota in tier %q", team, tier), []option{
			help("give the team quota in the tier, or write other names in the trace's teams and tiers"),
		}
	}
	return fmt.Sprintf("%s cannot be divided evenly among %s", words.Count(row.Accelerators, "accelerator"),
			words.Count(row.Pods, "pod")),
		[]option{help("in the column of pods, count only the pods that request accelerators")}
}

// arrivingJobsRun reports jobs that only a rehearsal has and that no capacity of their
// queue can run, whatever else runs.
func arrivingJobsRun(r *report) {
	r.eachTrace(func(t textPlace, _ schema.Trace, text trace.Text, plan ir.Rehearsal, jobs []ir.TracedJob) {
		byLine := jobsByLine(text)
		checked, lines := make([]bool, len(plan.Workloads)), make([]int, len(plan.Workloads))
		for _, job := range jobs {
			if job.Workload >= 0 {
				lines[job.Workload]++
			}
		}
		for _, job := range jobs {
			if job.Workload < 0 || checked[job.Workload] {
				continue
			}
			checked[job.Workload] = true
			reason := r.neverRuns(plan.Workloads[job.Workload])
			if reason == "" {
				continue
			}
			if n := lines[job.Workload] - 1; n > 0 {
				reason += fmt.Sprintf(" (and %s)", words.Count(n, "more line"))
			}
			t.addTo(r, byLine[job.Line].Span, reason,
				help("delete the line, or give the queue a capacity and quota for such jobs"))
		}
	})
	for _, plan := range r.Plan.Rehearsals {
		for _, a := range plan.Arrivals {
			job := r.Blueprint.Rehearsals[plan.Name].Arrivals[a.Index].Job
			if job == nil {
				continue
			}
			for _, w := range plan.Workloads {
				if w.Template != a.Template || !slices.Contains(a.Teams, w.Team) {
					continue
				}
				if reason := r.neverRuns(w); reason != "" {
					r.addKey(at("rehearsals", plan.Name, "arrivals", diag.Index(a.Index), "job"), reason,
						help("lower pods or perPod, choose other teams, or give the queue a capacity and quota "+
							"for such jobs"))
					break
				}
			}
		}
	}
}

// neverRuns says why a job that only a rehearsal has can never run, "" if it can.
func (r *report) neverRuns(w ir.Workload) string {
	s := r.fit.Submit(w)
	subject := fmt.Sprintf("the job of team %q in tier %q can never run: ", w.Team, s.Queue.Tier)
	reason := subject + "its tier has no capacity for it"
	perCapacity, held := r.Plan.Scheduler.Facts().QuotaPerCapacity, 0
	for _, f := range s.Quotas() {
		c := r.fit.Named[f.Flavor]
		if c.Emptied() || fit.LacksSize(c) {
			return "" // it waits for nodes
		}
		perNode := c.PodsPerNode(w.Requests)
		short, admitted := r.fit.Admits(s, f)
		needed := w.NodesPerCopy(perNode)
		held += perNode * c.MaxNodes
		switch {
		case perNode == 0:
			reason = subject + fmt.Sprintf("no node of %q is large enough for a pod", c.Name)
		case !perCapacity && held < w.Pods:
			reason = subject + fmt.Sprintf("all nodes together hold %d of its %s", held, words.Count(w.Pods, "pod"))
		case !perCapacity:
			return ""
		case !admitted:
			reason = subject + fmt.Sprintf("its queue can never have enough quota on %q: %s", c.Name, short)
		case needed > c.MaxNodes:
			reason = subject + fmt.Sprintf("its pods need %s of %q, which has at most %d", words.Count(needed, "node"),
				c.Name, c.MaxNodes)
		case c.Sliced() && w.Pods%c.Machine.Slice.Hosts != 0:
			reason = subject + fmt.Sprintf("its %s do not fill slices of %q, which have %s each",
				words.Count(w.Pods, "pod"), c.Name, words.Count(c.Machine.Slice.Hosts, "host"))
		default:
			return ""
		}
	}
	return reason
}

// idleTraces reports traces none of whose jobs arrives.
func idleTraces(r *report) {
	r.eachTrace(func(t textPlace, _ schema.Trace, text trace.Text, _ ir.Rehearsal, jobs []ir.TracedJob) {
		if len(text.Jobs) == 0 || len(jobs) > 0 {
			return
		}
		first, last := text.Jobs[0], text.Jobs[len(text.Jobs)-1]
		when := func(job trace.Job) string {
			if text.Dated {
				return time.Unix(job.Submitted, 0).UTC().Format(time.RFC3339)
			}
			return words.FormatSeconds(job.Submitted)
		}
		r.add(t.path, say("no job of the trace arrives: its jobs were submitted from %s to %s", when(first),
			when(last)), help("change from of the trace, until of the rehearsal, or teams of the arrival"))
	})
}
