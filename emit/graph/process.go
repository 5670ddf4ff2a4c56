package graph

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/mermaid"
)

// process is a drawing of how a platform processes a job.
type process struct {
	plan  *ir.Platform
	chart mermaid.Flowchart
}

// Process draws how the platform processes a job: from the team that submits it to its
// nodes, and to the places of its results. It returns the lines of a Markdown code block of
// the language mermaid.
func Process(p *ir.Platform) []string {
	d := process{plan: p}
	d.step("submit", nil, "A team", "submits a job")
	ir.Choose(p.Scheduler, d.drawKueue, d.drawKAI)()
	nodes := d.drawNodes()
	d.step("logs", nodes, "Cloud Logging", "logs of the pods")
	if slices.ContainsFunc(p.Teams, func(t ir.Team) bool { return t.Bucket != "" }) {
		d.step("bucket", nodes, "Cloud Storage", "bucket of the team")
	}
	if p.Monitoring.TensorBoard != "" {
		d.step("tensorboard", nodes, "Vertex AI TensorBoard", "metrics of the training")
	}
	return d.chart.Lines()
}

// step draws a step with an arrow from each of the steps before it.
func (d *process) step(id string, before []string, label ...string) {
	d.chart.Node(id, mermaid.Box, mermaid.Plain, label...)
	d.chart.Arrows(before, id, mermaid.Plain)
}

// drawKueue draws how Kueue admits a job.
func (d *process) drawKueue() {
	d.step("local", []string{"submit"}, "LocalQueue", "of the team")
	d.step("cluster", []string{"local"}, "ClusterQueue", "the job waits for quota")
	before := []string{"cluster"}
	if slices.ContainsFunc(d.plan.Capacities, ir.Capacity.Queued) {
		d.step("request", before, "ProvisioningRequest", "Google Cloud starts all nodes", "of the job at the same time")
		if before[0] = "request"; !d.onlyQueued() {
			before = append(before, "cluster")
		}
	}
	d.step("scheduler", before, "Kueue admits the job", "all of its pods have quota")
}

// onlyQueued reports whether all nodes of jobs come through queued requests.
func (d *process) onlyQueued() bool {
	return !slices.ContainsFunc(d.plan.Capacities, func(c ir.Capacity) bool { return !c.Queued() })
}

// drawKAI draws how KAI Scheduler starts the pods of a job.
func (d *process) drawKAI() {
	d.step("queue", []string{"submit"}, "Queue of the team", "the job waits for GPUs")
	d.step("scheduler", []string{"queue"}, "KAI Scheduler", "packs the pods onto nodes,", "and moves pods to make room")
}

// drawNodes draws the kinds of nodes on which pods run, and returns their identifiers.
func (d *process) drawNodes() (ids []string) {
	sliced := ir.Capacity.Sliced
	for hue, kind := range []struct {
		id, first, second string
		is                func(ir.Capacity) bool
	}{
		{"slices", "TPU slices", "each is a node pool", sliced},
		{"accelerators", "nodes with accelerators", "",
			func(c ir.Capacity) bool { return c.HasAccelerators() && !sliced(c) }},
		{"others", "nodes without accelerators", d.useOfOthers(),
			func(c ir.Capacity) bool { return !c.HasAccelerators() }},
	} {
		if !slices.ContainsFunc(d.plan.Capacities, kind.is) {
			continue
		}
		label := slices.DeleteFunc([]string{kind.first, kind.second}, func(line string) bool { return line == "" })
		d.chart.Node(kind.id, mermaid.Stadium, mermaid.Color(hue), label...)
		d.chart.Arrows([]string{"scheduler"}, kind.id, mermaid.Color(hue))
		ids = append(ids, kind.id)
	}
	return ids
}

// useOfOthers says what runs on nodes without accelerators, "" for jobs of any kind.
func (d *process) useOfOthers() string {
	hasAuxiliaries := func(w ir.Workload) bool { return len(w.Auxiliaries) > 0 }
	if slices.ContainsFunc(d.plan.Workloads, hasAuxiliaries) {
		return "auxiliary pods of a job"
	}
	return ""
}
