package guide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/mermaid"
)

// drawQueues draws cohorts, queues and capacities.
func drawQueues(d *document, p *ir.Platform) {
	d.Heading(3, "Picture")
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

// nodeID returns the identifier of a node. It replaces dashes, which names can
// have, because Mermaid reads a dash as part of an arrow.
func nodeID(kind, name string) string {
	return kind + "_" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
}

// addNode adds a node and returns its identifier.
func (d *drawing) addNode(kind, name, label string) string {
	id := nodeID(kind, name)
	d.Node(id, mermaid.Box, label)
	return id
}

// addCapacities adds a node for every capacity and returns them by name.
func (d *drawing) addCapacities(p *ir.Platform) map[string]string {
	ids := map[string]string{}
	for _, c := range p.Capacities {
		most := fmt.Sprintf("%d nodes", c.MaxNodes)
		if c.Sliced() {
			most = fmt.Sprintf("%d slices of %d nodes", c.Slices, c.Machine.Slice.Hosts)
		}
		ids[c.Name] = d.addNode("capacity", c.Name, fmt.Sprintf("%s: %s, at most %s", c.Name, c.Machine.Type, most))
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
					arrows = append(arrows, arrow{d.addNode("queue", q.ClusterQueue, q.ClusterQueue), quotaFlavors(q)})
				}
			}
		}
		for _, q := range p.SharedQueues {
			if q.Cohort == cohort {
				label := q.ClusterQueue + " of " + string(countNoun(len(q.Teams), "team"))
				arrows = append(arrows, arrow{d.addNode("queue", q.ClusterQueue, label), quotaFlavors(q.Queue)})
			}
		}
	}
	var cohorts func(parent string)
	cohorts = func(parent string) {
		for _, c := range p.Cohorts {
			if c.Parent == parent {
				d.OpenGroup(nodeID("cohort", c.Name), "cohort "+c.Name)
				cohorts(c.Name)
				queues(c.Name)
				d.CloseGroup()
			}
		}
	}
	cohorts("")
	queues("")
	capacities := d.addCapacities(p)
	for _, a := range arrows {
		d.Arrows(a.from, pickIDs(capacities, a.flavors)...)
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
			for _, f := range quotaFlavors(q) {
				if !slices.Contains(reached[q.Tier], f) {
					reached[q.Tier] = append(reached[q.Tier], f)
				}
			}
		}
	}
	cohorts, _ := inCohorts(p)
	teams := d.addNode("all", "teams", fmt.Sprintf("%d teams in %d cohorts", len(p.Teams), cohorts))
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
		ids = append(ids, d.addNode("tier", c.Tier, label))
	}
	capacities := d.addCapacities(p)
	d.Arrows(teams, ids...)
	for i, tier := range tiers {
		d.Arrows(ids[i], pickIDs(capacities, reached[tier])...)
	}
}

// quotaFlavors names the capacities on which a queue has quota.
func quotaFlavors(q ir.Queue) []string {
	var names []string
	for _, f := range q.Flavors {
		if slices.ContainsFunc(f.Quotas, isUsable) {
			names = append(names, f.Flavor)
		}
	}
	return names
}

// pickIDs returns the identifiers of names.
func pickIDs(ids map[string]string, names []string) []string {
	picked := make([]string, len(names))
	for i, name := range names {
		picked[i] = ids[name]
	}
	return picked
}
