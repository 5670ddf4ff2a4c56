package guide

import (
	"slices"
	"strconv"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/graph"
	"github.com/batchwright/batchwright/emit/markdown"
	"github.com/batchwright/batchwright/emit/monitoring"
	"github.com/batchwright/batchwright/emit/page"
)

// phase is a phase of the demonstration.
type phase struct {
	view
	ir.Phase
	Number int
}

// Phases returns the phases of the demonstration.
func (v view) Phases() (out []phase) {
	for i, p := range v.Demonstration {
		out = append(out, phase{v, p, i + 1})
	}
	return out
}

// Figures returns the numbers that the dashboards show after the phase.
func (p phase) Figures() []monitoring.Figure { return monitoring.Figures(p.Platform, p.Number-1) }

// Drawing draws the platform after the phase, if the phase expects numbers.
func (p phase) Drawing() []page.Command {
	if p.Queues == nil && p.Pods == nil {
		return nil
	}
	return drawnLines(graph.DrawPhase(p.Platform, p.Phase).Lines)
}

// Waiting returns the number of pods that wait for nodes after the phase.
func (p phase) Waiting() int {
	if p.Pending == nil {
		return 0
	}
	return *p.Pending
}

// queueRow holds the expected numbers of jobs in a queue, or in each of many queues.
type queueRow struct {
	Queue string
	Many  int // the number of queues, or 0
	ir.QueueCount
}

// QueueRows returns the expected numbers of jobs in the queues.
func (p phase) QueueRows() (rows []queueRow) {
	for _, c := range p.Queues {
		queues := p.QueuesOf(p.Phase, c.Tier)
		if len(queues) > fewTeams {
			rows = append(rows, queueRow{"", len(queues), c})
			continue
		}
		for _, q := range queues {
			rows = append(rows, queueRow{q, 0, c})
		}
	}
	return rows
}

// completedRow is a workload all of whose jobs have succeeded.
type completedRow struct {
	template
	Usual markdown.Markup // as kubectl prints a duration
}

// CompletedRows returns the workloads all of whose jobs have succeeded, in the order in which
// their last jobs end.
func (p phase) CompletedRows() (rows []completedRow) {
	all := p.Templates()
	for _, name := range p.Completed {
		t := all[slices.IndexFunc(all, func(t template) bool { return t.Template == name })]
		if t.Kind.Facts().Composite {
			for i, job := range t.Names {
				t.Names[i] = job + strings.TrimPrefix(t.FirstJob(), t.Name)
			}
		}
		rows = append(rows, completedRow{t, markdown.Markup(words.Span(int64(t.UsualSeconds)))})
	}
	return rows
}

// demonstrated returns the capacities of a kind on which a phase expects running pods.
func (v view) demonstrated(is func(ir.Capacity) bool) (out []ir.Capacity) {
	for _, c := range v.Capacities {
		runs := func(n ir.CapacityCount) bool { return n.Capacity == c.Name && n.Count > 0 }
		expected := func(p ir.Phase) bool { return slices.ContainsFunc(p.Pods, runs) }
		if is(c) && slices.ContainsFunc(v.Demonstration, expected) {
			out = append(out, c)
		}
	}
	return out
}

// shownCapacity is a capacity on which the demonstration runs pods.
type shownCapacity struct{ ir.Capacity }

// DemonstratedCapacities returns the capacities on which the demonstration runs pods.
func (v view) DemonstratedCapacities() (out []shownCapacity) {
	for _, c := range v.demonstrated(func(ir.Capacity) bool { return true }) {
		out = append(out, shownCapacity{c})
	}
	return out
}

// ReadMore links to the pages about how the nodes are obtained.
func (c shownCapacity) ReadMore() markdown.Markup {
	pages := slices.Clone(c.Option.Facts().Pages)
	if c.AutoProvisioned {
		pages = append(pages, ir.DocPage{Title: "Node auto-provisioning",
			Address: "https://cloud.google.com/kubernetes-engine/docs/concepts/node-auto-provisioning"})
	}
	if c.Compact {
		pages = append(pages, ir.DocPage{Title: "Compact placement",
			Address: "https://cloud.google.com/kubernetes-engine/docs/how-to/compact-placement"})
	}
	var links []string
	for _, p := range pages {
		links = append(links, "["+p.Title+"]("+p.Address+")")
	}
	return markdown.Markup(strings.Join(links, ", "))
}

// StartingNodes returns the capacities whose nodes start during the demonstration.
func (v view) StartingNodes() []ir.Capacity {
	return v.demonstrated(func(c ir.Capacity) bool { return !c.Static })
}

// DemonstratedWithoutNodes returns the capacities on which the demonstration runs pods,
// and which have no nodes for now.
func (v view) DemonstratedWithoutNodes() []ir.Capacity {
	return v.demonstrated(func(c ir.Capacity) bool { return c.SlicesOff() || c.Waiting })
}

// DemonstratedShortages returns the capacities on which the demonstration runs pods, and
// whose queues guarantee more than exists.
func (v view) DemonstratedShortages() (out []guarantee) {
	for _, c := range v.demonstrated(func(ir.Capacity) bool { return true }) {
		if g := compareGuarantee(c); g.Lacking != "" {
			out = append(out, g)
		}
	}
	return out
}

// DemonstratesSecrets reports whether workloads of the demonstration need Secrets.
func (v view) DemonstratesSecrets() bool {
	return slices.ContainsFunc(v.Demonstrated(),
		func(copies []ir.Workload) bool { return len(copies[0].SecretEnv) > 0 })
}

// NodesOf returns the arguments of kubectl that select the nodes of a capacity with
// labels.
func (v view) NodesOf(capacity string, labels ...string) page.Command {
	for _, c := range v.Capacities {
		if own := c.Selector(); c.Name == capacity && own != "" {
			labels = append(labels, own)
		}
	}
	return page.Command(shellCommand("-l", strings.Join(labels, ",")))
}

// EachJob returns a command for each job of a workload: copy by copy, and the teams in
// turns. withFiles adds the ConfigMap with the files of the job.
func (p phase) EachJob(name, command string, withFiles bool) []page.Command {
	all := p.Templates()
	t := all[slices.IndexFunc(all, func(t template) bool { return t.Template == name })]
	teams := slices.DeleteFunc(t.Teams, func(team string) bool { return !p.TakesPart(team) })
	var before, after []page.Command
	indent := ""
	loop := func(variable, values string) {
		before = append(before, page.Command(indent+"for "+variable+" in "+values+"; do"))
		after = append([]page.Command{page.Command(indent + "done")}, after...)
		indent += "  "
	}
	if len(t.Names) > 1 {
		numbers := ""
		for i := range t.Names {
			numbers += " " + strconv.Itoa(i+1)
		}
		loop("COPY", numbers[1:])
		name += "-" + variable("COPY")
	}
	folder := "workloads/" + teams[0] + "/"
	if len(teams) > 1 {
		list := shellCommand(teams...)
		if len(teams) > fewTeams && len(teams) == len(p.view.Teams) {
			list = "$(ls workloads)"
		}
		loop("TEAM", list)
		folder = "workloads/" + variable("TEAM") + "/"
	}
	if withFiles && t.ConfigMap != "" {
		command += " -f " + shellWord(folder+t.ConfigMap+".yaml")
	}
	command += " -f " + shellWord(folder+name+".yaml")
	return slices.Concat(before, []page.Command{page.Command(indent + command)}, after)
}

// job is a job that a phase submits when the job before it runs.
type job struct {
	ir.Workload
	Last bool
}

// JobsOneByOne returns the jobs of the phase if it submits them one by one.
func (p phase) JobsOneByOne() (jobs []job) {
	for _, name := range p.Submit {
		first := len(jobs)
		for _, w := range p.Workloads {
			if p.OneByOne && w.Template == name && p.TakesPart(w.Team) {
				jobs = append(jobs, job{Workload: w})
			}
		}
		slices.SortStableFunc(jobs[first:], func(a, b job) int { return words.CompareNatural(a.Name, b.Name) })
	}
	if len(jobs) > 0 {
		jobs[len(jobs)-1].Last = true
	}
	return jobs
}
