package guide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/markdown"
)

// picture draws cohorts, queues and capacities.
func picture(d *document, p *ir.Platform) {
	d.Heading(2, "Picture")
	d.Para("Arrows lead from a queue to the capacities it has quota on.")
	m := &mermaid{}
	if len(p.Teams) <= fewTeams {
		m.eachQueue(p)
	} else {
		m.eachTier(p)
	}
	d.Code("mermaid", append([]string{"flowchart LR"}, m.lines...)...)
}

// mermaid collects the lines of a flowchart. A node is identified by its kind
// and name, so that a change of one leaves the lines of all others alone.
type mermaid struct {
	lines []string
	depth int
}

func (m *mermaid) line(s string) {
	m.lines = append(m.lines, strings.Repeat("  ", m.depth+1)+s)
}

// identify returns the identifier of a node. Names of the plan consist of
// lower-case letters, digits and dashes, and Mermaid takes a dash for part of
// an arrow.
func identify(kind, name string) string {
	return kind + "_" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
}

// node adds a node and returns its identifier.
func (m *mermaid) node(kind, name, label string) string {
	id := identify(kind, name)
	m.line(id + "[" + markdown.Label(label) + "]")
	return id
}

// group adds a subgraph around what inside adds.
func (m *mermaid) group(kind, name string, inside func()) {
	label := kind + " " + name
	m.line("subgraph " + identify(kind, name) + "[" + markdown.Label(label) + "]")
	m.depth++
	inside()
	m.depth--
	m.line("end")
}

// arrows adds arrows from one node to others.
func (m *mermaid) arrows(from string, to []string) {
	if len(to) > 0 {
		m.line(from + " --> " + strings.Join(to, " & "))
	}
}

// capacities adds a node for every capacity and returns them by name.
func (m *mermaid) capacities(p *ir.Platform) map[string]string {
	ids := map[string]string{}
	for _, c := range p.Capacities {
		most := fmt.Sprintf("%d nodes", c.MaxNodes)
		if c.Sliced() {
			most = fmt.Sprintf("%d slices of %d nodes", c.Slices, c.Machine.Slice.Hosts)
		}
		ids[c.Name] = m.node("capacity", c.Name, fmt.Sprintf("%s: %s, at most %s", c.Name, c.Machine.Type, most))
	}
	return ids
}

// eachQueue draws every ClusterQueue inside its cohort.
func (m *mermaid) eachQueue(p *ir.Platform) {
	type arrow struct {
		from    string
		flavors []string
	}
	var arrows []arrow
	queues := func(cohort string) {
		for _, t := range p.Teams {
			if t.Cohort != cohort {
				continue
			}
			for _, q := range t.Queues {
				if !q.Shared {
					arrows = append(arrows, arrow{m.node("queue", q.ClusterQueue, q.ClusterQueue), flavors(q)})
				}
			}
		}
		for _, q := range p.SharedQueues {
			if q.Cohort == cohort {
				label := q.ClusterQueue + " of " + string(countNoun(len(q.Teams), "team"))
				arrows = append(arrows, arrow{m.node("queue", q.ClusterQueue, label), flavors(q.Queue)})
			}
		}
	}
	var cohorts func(parent string)
	cohorts = func(parent string) {
		for _, c := range p.Cohorts {
			if c.Parent == parent {
				m.group("cohort", c.Name, func() {
					cohorts(c.Name)
					queues(c.Name)
				})
			}
		}
	}
	cohorts("")
	queues("")
	capacities := m.capacities(p)
	for _, a := range arrows {
		m.arrows(a.from, pick(capacities, a.flavors))
	}
}

// eachTier draws the queues of a tier as one.
func (m *mermaid) eachTier(p *ir.Platform) {
	queues := map[string]int{}
	shared := map[string]bool{}      // tiers whose queues lead into one
	reached := map[string][]string{} // capacities by tier, as first seen
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			queues[q.Tier]++
			shared[q.Tier] = q.Shared
			for _, f := range flavors(q) {
				if !slices.Contains(reached[q.Tier], f) {
					reached[q.Tier] = append(reached[q.Tier], f)
				}
			}
		}
	}
	cohorts, _ := inCohorts(p)
	teams := m.node("all", "teams", fmt.Sprintf("%d teams in %d cohorts", len(p.Teams), cohorts))
	var tiers, ids []string
	for _, c := range p.PriorityClasses {
		if queues[c.Tier] == 0 || slices.Contains(tiers, c.Tier) {
			continue
		}
		label := fmt.Sprintf("%s: %d queues", c.Tier, queues[c.Tier])
		if shared[c.Tier] {
			label = fmt.Sprintf("%s: 1 queue of %d teams", c.Tier, queues[c.Tier])
		}
		tiers = append(tiers, c.Tier)
		ids = append(ids, m.node("tier", c.Tier, label))
	}
	capacities := m.capacities(p)
	m.arrows(teams, ids)
	for i, tier := range tiers {
		m.arrows(ids[i], pick(capacities, reached[tier]))
	}
}

// flavors names the capacities a queue has quota on.
func flavors(q ir.Queue) []string {
	var names []string
	for _, f := range q.Flavors {
		if slices.ContainsFunc(f.Quotas, usable) {
			names = append(names, f.Flavor)
		}
	}
	return names
}

func pick(ids map[string]string, names []string) []string {
	picked := make([]string, len(names))
	for i, name := range names {
		picked[i] = ids[name]
	}
	return picked
}
