// Package graph draws a platform: cohorts contain teams, teams contain queues,
// queues have quota of ResourceFlavors, and flavors refer to node pools.
//
// A plan goes in; a Graph of nodes and edges comes out. A printer for each format
// writes the Graph: Mermaid, the dot language of Graphviz, and JSON. Mermaid draws
// only small graphs, so Draw chooses how much of the platform the Graph has.
package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Graph is a drawing of a platform as boxes and arrows.
type Graph struct {
	Platform string
	// Nodes are the boxes. Each box comes after the box that contains it: cohorts,
	// teams with their queues, then flavors, then pools, each sorted by name.
	Nodes []Node
	Edges []Edge // sorted by the nodes at which they start
}

// Node is a box.
type Node struct {
	ID     string   `json:"id"` // unique: the kind and the name
	Kind   Kind     `json:"kind"`
	Name   string   `json:"name"`             // name of the object, or the number of objects
	Lines  []string `json:"lines,omitempty"`  // additional lines of text in the box
	Parent string   `json:"parent,omitempty"` // ID of the node it lies in, or ""
	// Names are the names of the objects that a folded node represents, sorted; nil
	// for a node that represents one object.
	Names []string `json:"names,omitempty"`
}

// Kind is the kind of object that a node represents.
type Kind string

// The kinds of nodes. Cohorts and teams contain other nodes.
const (
	Cohort     Kind = "cohort"
	Team       Kind = "team"
	Queue      Kind = "queue"      // a ClusterQueue with its LocalQueue, or a queue of KAI
	LocalQueue Kind = "localQueue" // of a ClusterQueue that teams share
	Flavor     Kind = "flavor"
	Pool       Kind = "pool"
)

func (k Kind) holds() bool { return k == Cohort || k == Team }

// Edge is an arrow: from a queue to a flavor, with the queue's quota of the flavor;
// from a LocalQueue to its queue; or from a flavor to its pools.
type Edge struct {
	From  string `json:"from"` // ID
	To    string `json:"to"`   // ID
	Label string `json:"label,omitempty"`
}

// most is the largest number of teams, and of cohorts, that are drawn one by one.
const most = 12

// Of returns the graph of a platform. If there are more than a dozen teams, Of folds
// teams that are alike into one node: teams in the same cohort, with queues of the
// same tiers and flavors. If there are more than a dozen cohorts, Of also folds
// cohorts whose teams are alike. If full is set, Of folds nothing.
func Of(p *ir.Platform, full bool) *Graph {
	b := newBuilder(p)
	b.foldTeams = !full && len(p.Teams) > most
	b.foldCohorts = !full && len(p.Cohorts) > most
	return b.build()
}

func newBuilder(p *ir.Platform) *builder {
	b := &builder{platform: p, counted: map[string]string{}, cohorts: map[string]*group{}}
	for _, c := range p.AllCapacities() {
		b.counted[c.Name] = c.CountedIn()
	}
	return b
}

func (b *builder) build() *Graph {
	b.groupAlike()
	b.addQueues()
	b.addCapacities()
	return &Graph{Platform: b.platform.Name, Nodes: b.nodes, Edges: b.edges}
}

type builder struct {
	platform *ir.Platform

	foldTeams, foldCohorts bool // fold teams, or cohorts, that are alike

	counted map[string]string // the resources in which capacities are counted, by name
	cohorts map[string]*group // by the names of the cohorts in them
	order   []*group          // parents before children
	teams   []*group
	nodes   []Node
	edges   []Edge
}

// group is a set of cohorts, or teams, that are alike and share one node.
type group struct {
	id      string
	names   []string
	parent  string // ID of the parent
	members []ir.Team
	own     []ir.FlavorQuota // quota of a cohort itself
}

// groupAlike sets the groups of cohorts and teams that share a node.
func (b *builder) groupAlike() {
	p := b.platform
	shapes := make([]string, len(p.Teams))
	held := map[string][]string{} // shapes of the teams, by cohort
	for i, t := range p.Teams {
		shapes[i] = teamShape(t)
		if !slices.Contains(held[t.Cohort], shapes[i]) {
			held[t.Cohort] = append(held[t.Cohort], shapes[i])
		}
	}
	parents := map[string]bool{}
	for _, c := range p.Cohorts {
		parents[c.Parent] = true
	}
	for _, q := range p.SharedQueues {
		parents[q.Cohort] = true // the cohort contains a queue of its own
	}
	alike := map[string]*group{}
	for _, c := range p.Cohorts {
		key := c.Name
		if b.foldCohorts && !parents[c.Name] && c.Flavors == nil {
			slices.Sort(held[c.Name])
			key = "\x00" + c.Parent + "\x00" + strings.Join(held[c.Name], "\x00")
		}
		g := alike[key]
		if g == nil {
			g = &group{id: "cohort " + c.Name}
			if above := b.cohorts[c.Parent]; above != nil {
				g.parent = above.id
			}
			alike[key] = g
			b.order = append(b.order, g)
		}
		g.names = append(g.names, c.Name)
		g.own = c.Flavors
		b.cohorts[c.Name] = g
	}

	alike = map[string]*group{}
	for i, t := range p.Teams {
		parent := ""
		if c := b.cohorts[t.Cohort]; c != nil {
			parent = c.id
		}
		key := t.Name
		if b.foldTeams {
			key = "\x00" + parent + "\x00" + shapes[i]
		}
		g := alike[key]
		if g == nil {
			g = &group{id: "team " + t.Name, parent: parent}
			alike[key] = g
			b.teams = append(b.teams, g)
		}
		g.names = append(g.names, t.Name)
		g.members = append(g.members, t)
	}
}

// teamShape returns a text that is the same for teams that are drawn alike.
func teamShape(t ir.Team) string {
	var s []byte
	for _, q := range t.Queues {
		s = strconv.AppendBool(append(s, "\n"+q.Tier+"\x00"...), q.Shared)
		for _, f := range q.Flavors {
			s = append(s, " "+f.Flavor+"\x00"...)
			for _, r := range f.Quotas {
				s = strconv.AppendBool(strconv.AppendBool(s, r.Usable()), r.Borrows())
				s = strconv.AppendBool(s, r.BorrowsAll)
			}
		}
	}
	return string(s)
}

// addNode adds the node of a group.
func (b *builder) addNode(g *group, kind Kind) {
	n := Node{ID: g.id, Kind: kind, Name: g.names[0], Parent: g.parent}
	if len(g.names) > 1 {
		n.Name = words.Count(len(g.names), string(kind))
		n.Names = g.names
		n.Lines = []string{fewNames(g.names)}
	}
	for _, f := range g.own {
		if label := quotaLabel([]ir.FlavorQuota{f}, b.counted[f.Flavor]); label != "" {
			n.Lines = append(n.Lines, f.Flavor+": "+label)
		}
	}
	b.nodes = append(b.nodes, n)
}

// fewNames returns a list of names, shortened to the first and last of them.
func fewNames(names []string) string {
	if len(names) <= 3 {
		return strings.Join(names, ", ")
	}
	return names[0] + ", " + names[1] + " … " + names[len(names)-1]
}

// addQueues adds the nodes of cohorts, teams and their queues.
func (b *builder) addQueues() {
	for _, g := range b.order {
		b.addNode(g, Cohort)
	}
	shared := map[string]string{} // IDs of the shared queues' nodes, by tier
	for _, q := range b.platform.SharedQueues {
		parent := ""
		if c := b.cohorts[q.Cohort]; c != nil {
			parent = c.id
		}
		shared[q.Tier] = b.addQueue(parent, []ir.Queue{q.Queue})
	}
	for _, g := range b.teams {
		b.addNode(g, Team)
		for i, q := range g.members[0].Queues {
			all := make([]ir.Queue, len(g.members))
			for j, t := range g.members {
				all[j] = t.Queues[i]
			}
			if !q.Shared {
				b.addQueue(g.id, all)
				continue
			}
			n := Node{
				ID: "localQueue " + g.members[0].Namespace + "/" + q.LocalQueue, Kind: LocalQueue, Name: q.LocalQueue,
				Parent: g.id, Lines: []string{"tier " + q.Tier},
			}
			var names []string
			for _, q := range all {
				names = append(names, q.LocalQueueNames()...)
			}
			if len(names) > 1 {
				n.Name, n.Names = fmt.Sprintf("%d LocalQueues", len(names)), names
			}
			b.nodes = append(b.nodes, n)
			b.edges = append(b.edges, Edge{From: n.ID, To: shared[q.Tier]})
		}
	}
}

// addQueue adds the node of some queues of a tier, with its arrows, and returns the
// node's ID.
func (b *builder) addQueue(parent string, all []ir.Queue) string {
	first := all[0]
	n := Node{
		ID: "queue " + first.ClusterQueue, Kind: Queue, Name: first.ClusterQueue, Parent: parent,
		Lines: []string{"tier " + first.Tier},
	}
	if len(all) > 1 {
		n.Name = fmt.Sprintf("%d queues", len(all))
		for _, q := range all {
			n.Names = append(n.Names, q.ClusterQueue)
		}
	}
	b.nodes = append(b.nodes, n)
	var flavors []string // in the order in which they are first tried
	quotas := map[string][]ir.FlavorQuota{}
	for _, q := range all {
		for _, f := range q.Flavors {
			if !f.Usable() {
				continue
			}
			if quotas[f.Flavor] == nil {
				flavors = append(flavors, f.Flavor)
			}
			quotas[f.Flavor] = append(quotas[f.Flavor], f)
		}
	}
	for _, f := range flavors {
		label := quotaLabel(quotas[f], b.counted[f])
		if n := len(quotas[f]); label != "" && n < len(all) {
			label += fmt.Sprintf(" (%s)", words.Count(n, "queue"))
		}
		b.edges = append(b.edges, Edge{From: n.ID, To: "flavor " + f, Label: label})
	}
	return n.ID
}

// quotaLabel returns the quotas that some queues have of a flavor, in the resource in
// which the flavor is counted, as the label of an arrow. It adds up what is
// guaranteed, but not borrowing limits: the queues borrow the same idle nodes, so a
// sum of their limits is no amount that exists.
func quotaLabel(quotas []ir.FlavorQuota, counted string) string {
	var nominal amounts
	var borrowing amounts
	waiting, all := 0, 0
	for _, q := range quotas {
		if q.Waiting {
			waiting++
		}
		for _, r := range q.Quotas {
			if r.Resource != counted {
				continue
			}
			nominal.add(r.Nominal)
			if r.BorrowsAll {
				all++
			} else if r.Borrows() {
				borrowing.add(*r.Borrowing)
			}
		}
	}
	switch {
	case waiting == len(quotas):
		return "not yet"
	case nominal.count == 0:
		return ""
	}
	var parts []string
	each := ""
	if len(quotas) > 1 {
		each = " each"
	}
	if !nominal.sum.IsZero() {
		part := nominal.print(counted) + each
		if each != "" {
			part += ", " + words.Decimal(nominal.sum) + " in all"
		}
		parts = append(parts, part)
	}
	some := ""
	if all+borrowing.count < len(quotas) {
		some = "some "
	}
	switch {
	case all > 0 && borrowing.count > 0:
		parts = append(parts, "borrowing differs")
	case all > 0:
		parts = append(parts, some+"may borrow all")
	case borrowing.count > 0 && len(parts) > 0:
		parts = append(parts, some+"may borrow "+borrowing.from()+words.Decimal(borrowing.greatest)+each)
	case borrowing.count > 0:
		parts = append(parts, some+"may borrow "+borrowing.print(counted)+each)
	}
	if waiting > 0 {
		parts = append(parts, "some not yet")
	}
	return strings.Join(parts, ", ")
}

// amounts are some amounts of a resource.
type amounts struct {
	count           int
	least, greatest resource.Quantity
	sum             resource.Quantity
}

func (a *amounts) add(q resource.Quantity) {
	if a.count == 0 || q.Cmp(a.least) < 0 {
		a.least = q.DeepCopy()
	}
	if a.count == 0 || q.Cmp(a.greatest) > 0 {
		a.greatest = q.DeepCopy()
	}
	a.sum.Add(q)
	a.count++
}

// print returns the amount, or the least and the greatest if they differ.
func (a *amounts) print(resourceName string) string {
	return a.from() + printAmount(a.greatest, resourceName)
}

// from returns the start of the range of amounts; "" if they are equal.
func (a *amounts) from() string {
	if a.least.Cmp(a.greatest) == 0 {
		return ""
	}
	return words.Decimal(a.least) + " to "
}

// printAmount returns an amount for the label of an arrow. It is shorter than the
// result of ir.PrintAmount for TPU chips.
func printAmount(q resource.Quantity, resourceName string) string {
	if resourceName == ir.TPU {
		return words.Amount(q, "chip")
	}
	return ir.PrintAmount(resourceName, q)
}

// addCapacities adds the nodes of the flavors and of their node pools.
func (b *builder) addCapacities() {
	var pools []Node
	for _, c := range b.platform.AllCapacities() {
		flavor := Node{ID: "flavor " + c.Name, Kind: Flavor, Name: c.Name, Lines: []string{string(c.Option)}}
		if c.AdmissionCheck != "" {
			flavor.Lines = append(flavor.Lines, "admission check "+c.AdmissionCheck)
		}
		b.nodes = append(b.nodes, flavor)
		pool := Node{ID: "pool " + c.Name, Kind: Pool, Name: "made by GKE", Lines: []string{c.Machine.Type}}
		switch names := c.Pools(); {
		case c.SlicesOff(): // the build makes pools when there are slices
			pool.Name = c.Name
		case len(names) > 1:
			pool.Name, pool.Names = fewNames(names), names
		case len(names) == 1:
			pool.Name = names[0]
		}
		if c.Existing() {
			pool.Name = "nodes of others"
		}
		if c.Machine.Type == "" {
			pool.Lines = nil
		}
		if !c.Existing() || c.MaxNodes > 0 {
			pool.Lines = append(pool.Lines, describeNodes(c))
		}
		if c.ComputeClass {
			pool.Lines = append(pool.Lines, "ComputeClass "+c.Name)
		}
		pools = append(pools, pool)
		b.edges = append(b.edges, Edge{From: flavor.ID, To: pool.ID})
	}
	b.nodes = append(b.nodes, pools...)
}

// describeNodes returns a description of how many nodes the pools of a capacity have.
func describeNodes(c ir.Capacity) string {
	switch {
	case c.SlicesOff():
		return "no slices now"
	case c.Sliced():
		of := fmt.Sprintf("%s of %s", words.Count(c.Slices, "slice"), words.Count(c.Machine.Slice.Hosts, "node"))
		if !c.Static {
			of = "up to " + of
		}
		return of
	case c.Static || c.MinNodes == c.MaxNodes:
		return words.Count(c.MaxNodes, "node")
	}
	return fmt.Sprintf("%d to %s", c.MinNodes, words.Count(c.MaxNodes, "node"))
}
