package graph

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
	"github.com/batchwright/batchwright/emit/mermaid"
)

// Detail says how much a drawing shows, from the finest to the coarsest.
type Detail int

// The details of drawings.
const (
	Full    Detail = iota // each queue of each team, even if there are many
	Each                  // each queue of each team
	Alike                 // teams of a cohort that are alike share a box
	Cohorts               // cohorts whose teams are alike share a group, too
	Tiers                 // all queues of a tier share a box
	Counts                // only the numbers of teams, queues and capacities
)

// readable is the largest number of queues' boxes in a drawing. Mermaid draws them
// below each other, so a page of GitHub shows few more without scrolling.
const readable = 16

// longest is the largest number of characters in the title of a group. Mermaid lays a
// group out around its boxes; a wider title would lie over the next group.
const longest = 48

// Drawing is a Mermaid flowchart of a platform.
type Drawing struct {
	Lines  []string
	Detail Detail
}

// Draw draws a platform in Mermaid. GitHub and GitLab draw the lines if they are in a
// Markdown code block of the language mermaid. The drawing has the given detail, or the
// finest coarser one that Mermaid draws and, except for Full, that stays readable.
//
// In the drawing, a group is a cohort, a box is a queue with its quotas, and an arrow
// leads from a queue to a flavor, which is drawn together with its node pools.
func Draw(p *ir.Platform, finest Detail) Drawing {
	for d := finest; d < Counts; d++ {
		g := graphIn(p, d)
		if d != Full && d != Tiers && g.countBoxes() > readable {
			continue
		}
		if chart := g.chart(); chart.Fits() {
			return Drawing{Lines: chart.Lines(), Detail: d}
		}
	}
	var chart mermaid.Flowchart
	queues := 0
	for range p.ClusterQueues() {
		queues++
	}
	chart.Node("platform", mermaid.Box, mermaid.Plain, p.Name, countTeams(p), words.Count(queues, "queue"),
		words.Count(len(p.Capacities), "capacity"))
	return Drawing{Lines: chart.Lines(), Detail: Counts}
}

// DrawPhase draws a platform as it is after a phase of the demonstration: a box for the
// queues of each tier, with their expected jobs, and one for each capacity, with its pods.
// The drawing has no lines if the platform is too large for Mermaid.
func DrawPhase(p *ir.Platform, phase ir.Phase) Drawing {
	g := graphIn(p, Tiers)
	for i := range g.Nodes {
		switch n := &g.Nodes[i]; n.Kind {
		case Queue:
			n.addJobs(p, phase)
		case Flavor:
			for _, c := range phase.Pods {
				if c.Capacity == n.Name {
					n.Lines = append(n.Lines, "runs "+words.Count(c.Count, "pod"))
				}
			}
		}
	}
	chart := g.chart()
	if !chart.Fits() {
		return Drawing{Detail: Counts}
	}
	return Drawing{Lines: chart.Lines(), Detail: Tiers}
}

// addJobs adds the numbers of jobs that a phase expects in the queues of a node.
func (n *Node) addJobs(p *ir.Platform, phase ir.Phase) {
	for _, c := range phase.Queues {
		queues := p.QueuesOf(phase, c.Tier)
		if !slices.Contains(queues, n.Name) && (len(n.Names) == 0 || !slices.Contains(n.Names, queues[0])) {
			continue
		}
		jobs := strconv.Itoa(c.Admitted) + " admitted, " + strconv.Itoa(c.Pending) + " pending"
		switch {
		case len(n.Names) > len(queues): // the phase is about some of them
			jobs += " in " + words.And(queues)
		case len(queues) > 1:
			jobs += " in each"
		}
		n.Lines = append(n.Lines, jobs)
	}
}

// graphIn returns the graph of a platform in a detail.
func graphIn(p *ir.Platform, d Detail) *Graph {
	b := newBuilder(p)
	switch d {
	case Tiers:
		b.addTiers()
		b.addCapacities()
		return &Graph{Platform: p.Name, Nodes: b.nodes, Edges: b.edges}
	case Alike:
		b.foldTeams = true
	case Cohorts:
		b.foldTeams, b.foldCohorts = true, true
	}
	return b.build()
}

// countTeams describes how many teams and cohorts a platform has.
func countTeams(p *ir.Platform) string {
	if len(p.Cohorts) == 0 {
		return words.Count(len(p.Teams), "team")
	}
	return words.Count(len(p.Teams), "team") + " in " + words.Count(len(p.Cohorts), "cohort")
}

// addTiers adds a node for all ClusterQueues of each tier, in one group.
func (b *builder) addTiers() {
	p := b.platform
	all := Node{ID: "teams", Kind: Cohort, Name: countTeams(p), Names: []string{p.Name}}
	b.nodes = append(b.nodes, all)
	var tiers []string
	queues := map[string][]ir.Queue{}
	for q := range p.ClusterQueues() {
		if queues[q.Tier] == nil {
			tiers = append(tiers, q.Tier)
		}
		queues[q.Tier] = append(queues[q.Tier], *q)
	}
	slices.Sort(tiers)
	for _, tier := range tiers {
		b.addQueue(all.ID, queues[tier])
	}
}

// countBoxes returns the number of boxes of queues.
func (g *Graph) countBoxes() int {
	n := 0
	for _, node := range g.Nodes {
		if node.Kind == Queue || node.Kind == LocalQueue {
			n++
		}
	}
	return n
}

// chart draws the graph. Mermaid draws a group over the title of the group around it,
// so there are only groups of cohorts, and none contains another. A box says to which
// team it belongs, and a cohort's title says in which cohort it lies.
func (g *Graph) chart() *mermaid.Flowchart {
	d := &drawing{
		graph: g, nodes: map[string]Node{}, ids: drawnIDs(g.Nodes), colors: map[string]mermaid.Color{},
		flavors: map[string][]Edge{}, pools: map[string]Node{},
	}
	hue := mermaid.Color(0)
	for _, n := range g.Nodes {
		d.nodes[n.ID] = n
		d.colors[n.ID] = mermaid.Plain
		if n.Kind == Flavor {
			d.colors[n.ID] = hue
			hue++
		}
	}
	for _, e := range g.Edges {
		switch d.nodes[e.To].Kind {
		case Flavor:
			d.flavors[e.From] = append(d.flavors[e.From], e)
		case Pool:
			d.pools[e.From] = d.nodes[e.To]
		}
	}
	for _, n := range g.Nodes {
		if n.Kind == Cohort {
			d.addCohort(n)
		}
	}
	d.addBoxes("")
	for _, n := range g.Nodes {
		if n.Kind == Flavor {
			d.chart.Node(d.ids[n.ID], mermaid.Stadium, d.colors[n.ID], n.capacityLines(d.pools[n.ID])...)
		}
	}
	d.addArrows()
	return &d.chart
}

// drawing holds what a chart of a graph is drawn from.
type drawing struct {
	chart   mermaid.Flowchart
	graph   *Graph
	nodes   map[string]Node   // by ID
	ids     map[string]string // identifiers of the chart, by ID
	colors  map[string]mermaid.Color
	flavors map[string][]Edge // edges from a queue to its flavors, by the queue's ID
	pools   map[string]Node   // by the flavor's ID
}

// addCohort adds the group of a cohort, if it has boxes.
func (d *drawing) addCohort(n Node) {
	if !slices.ContainsFunc(d.graph.Nodes, func(b Node) bool { return d.isBoxIn(b, n.ID) }) {
		return
	}
	d.chart.OpenGroup(d.ids[n.ID], d.cohortTitle(n))
	d.addBoxes(n.ID)
	d.chart.CloseGroup()
}

// cohortTitle returns the title of a cohort's group. It lists names if there is room.
func (d *drawing) cohortTitle(n Node) string {
	title, names, in := "cohort "+n.Name, "", ""
	if len(n.Names) > 0 {
		title, names = n.Name, strings.Join(append([]string{""}, n.Lines...), ": ")
	} else if len(n.Lines) > 0 {
		names = ", own quota " + strings.Join(n.Lines, ", ")
	}
	if above, ok := d.nodes[n.Parent]; ok {
		in = " in " + above.Name
	}
	if long := title + names + in; utf8.RuneCountInString(long) <= longest {
		return long
	}
	return words.Truncate(title+in, longest)
}

// isBoxIn reports whether a node is a box of a queue directly in a cohort: the queue
// of a team, or a shared queue. The cohort "" stands for none.
func (d *drawing) isBoxIn(n Node, cohort string) bool {
	if n.Kind != Queue && n.Kind != LocalQueue {
		return false
	}
	if team := d.nodes[n.Parent]; team.Kind == Team {
		return team.Parent == cohort
	}
	return n.Parent == cohort
}

// addBoxes adds the boxes of the queues in a cohort.
func (d *drawing) addBoxes(cohort string) {
	for _, n := range d.graph.Nodes {
		if d.isBoxIn(n, cohort) {
			d.chart.Node(d.ids[n.ID], mermaid.Box, mermaid.Plain, d.queueLines(n)...)
		}
	}
}

// queueLines returns the lines of a queue's box: its tier and team, its name, and its
// quotas.
func (d *drawing) queueLines(n Node) []string {
	team := d.nodes[n.Parent]
	lines := slices.Clone(n.Lines)
	if team.Kind == Team {
		lines[0] += " of " + team.Name
	}
	switch {
	case len(n.Names) == 0 && n.Name == team.Name: // a team's queue of KAI Scheduler
	case len(n.Names) == 0:
		lines = append(lines, n.Name)
	case team.Kind == Team:
		lines = append(lines, team.Lines...)
	default:
		lines = append(lines, n.Name)
	}
	for _, e := range d.flavors[n.ID] {
		line := d.nodes[e.To].Name
		if e.Label != "" {
			line += ": " + e.Label
		}
		lines = append(lines, line)
	}
	return lines
}

// capacityLines returns the lines of a flavor's box, with its pools.
func (n Node) capacityLines(pool Node) []string {
	// The first line of a pool is its machine type, the first line of a flavor its
	// consumption option.
	if len(pool.Lines) == 0 { // others own the nodes, and nobody knows how many they are
		return append([]string{n.Name, pool.Name}, n.Lines[1:]...)
	}
	lines := []string{n.Name, strings.Join(append(slices.Clone(pool.Lines[:1]), n.Lines[:1]...), ", ")}
	if pool.Name != n.Name {
		lines = append(lines, pool.Name)
	}
	lines = append(lines, pool.Lines[1:]...)
	return append(lines, n.Lines[1:]...)
}

// addArrows adds the arrows, by the nodes at which they end.
func (d *drawing) addArrows() {
	for _, n := range d.graph.Nodes {
		if n.Kind == Pool {
			continue
		}
		var from []string
		for _, e := range d.graph.Edges {
			if e.To == n.ID {
				from = append(from, d.ids[e.From])
			}
		}
		d.chart.Arrows(from, d.ids[n.ID], d.colors[n.ID])
	}
}

// drawnIDs maps the IDs of nodes to identifiers of Mermaid. They consist of kind and
// name, so that a change of one node does not change the lines of the others.
func drawnIDs(nodes []Node) map[string]string {
	ids := make(map[string]string, len(nodes))
	used := map[string]bool{}
	for _, n := range nodes {
		// Mermaid reads a dash as part of an arrow.
		id := strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
				return r
			}
			return '_'
		}, n.ID)
		unique := id
		for i := 2; used[unique]; i++ {
			unique = id + "_" + strconv.Itoa(i)
		}
		used[unique] = true
		ids[n.ID] = unique
	}
	return ids
}
