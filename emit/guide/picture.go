package guide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/mermaid"
)

// picture draws cohorts, queues and capacities.
func picture(d *document, p *ir.Platform) {
	d.Heading(2, "Picture")
	d.Para("Arrows lead from a queue to the capacities on which it has quota.")
	var chart drawing
	if len(p.Teams) <= fewTeams {
		chart.eachQueue(p)
	} else {
		chart.eachTier(p)
	}
	d.Code("mermaid", chart.Lines()...)
}

// drawing is a flowchart that identifies its nodes by kind and name. So a change of
// one node does not change the lines of the others.
type drawing struct{ mermaid.Flowchart }

// identify returns the identifier of a node. It replaces dashes, which names can
// have, because Mermaid reads a dash as part of an arrow.
func identify(kind, name string) string {
	return kind + "_" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
}

// box adds a node and returns its identifier.
func (d *drawing) box(kind, name, label string) string {
	id := identify(kind, name)
	d.Node(id, mermaid.Box, label)
	return id
}

// capacities adds a node for every capacity and returns them by name.
func (d *drawing) capacities(p *ir.Platform) map[string]string {
	ids := map[string]string{}
	for _, c := range p.Capacities {
		most := fmt.Sprintf("%d nodes", c.MaxNodes)
		if c.Sliced() {
			most = fmt.Sprintf("%d slices of %d nodes", c.Slices, c.Machine.Slice.Hosts)
		}
		ids[c.Name] = d.box("capacity", c.Name, fmt.Sprintf("%s: %s, at most %s", c.Name, c.Machine.Type, most))
	}
	return ids
}

// eachQueue draws every ClusterQueue inside its cohort.
func (d *drawing) eachQueue(p *ir.Platform) {
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
					arrows = append(arrows, arrow{d.box("queue", q.ClusterQueue, q.ClusterQueue), flavors(q)})
				}
			}
		}
		for _, q := range p.SharedQueues {
			if q.Cohort == cohort {
				label := q.ClusterQueue + " of " + string(countNoun(len(q.Teams), "team"))
				arrows = append(arrows, arrow{d.box("queue", q.ClusterQueue, label), flavors(q.Queue)})
			}
		}
	}
	var cohorts func(parent string)
	cohorts = func(parent string) {
		for _, c := range p.Cohorts {
			if c.Parent == parent {
				d.OpenGroup(identify("cohort", c.Name), "cohort "+c.Name)
				cohorts(c.Name)
				queues(c.Name)
				d.CloseGroup()
			}
		}
	}
	cohorts("")
	queues("")
	capacities := d.capacities(p)
	for _, a := range arrows {
		d.Arrows(a.from, pick(capacities, a.flavors)...)
	}
}

// eachTier draws all queues of a tier as one node.
func (d *drawing) eachTier(p *ir.Platform) {
	queues := map[string]int{}
	shared := map[string]bool{}      // tiers whose teams share one queue
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
	teams := d.box("all", "teams", fmt.Sprintf("%d teams in %d cohorts", len(p.Teams), cohorts))
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
		ids = append(ids, d.box("tier", c.Tier, label))
	}
	capacities := d.capacities(p)
	d.Arrows(teams, ids...)
	for i, tier := range tiers {
		d.Arrows(ids[i], pick(capacities, reached[tier])...)
	}
}

// flavors names the capacities on which a queue has quota.
func flavors(q ir.Queue) []string {
	var names []string
	for _, f := range q.Flavors {
		if slices.ContainsFunc(f.Quotas, usable) {
			names = append(names, f.Flavor)
		}
	}
	return names
}

// pick returns the identifiers of names.
func pick(ids map[string]string, names []string) []string {
	picked := make([]string, len(names))
	for i, name := range names {
		picked[i] = ids[name]
	}
	return picked
}
