package stage

import (
	"fmt"
	"maps"

	"github.com/batchwright/batchwright/emit/rehearsal"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Amounts are amounts of resources: cpu in thousandths of a vCPU, memory in bytes,
// accelerators by number.
type Amounts map[corev1.ResourceName]int64

// AmountsOf returns the amounts of a list.
func AmountsOf(list corev1.ResourceList) Amounts {
	out := Amounts{}
	for name, quantity := range list {
		if name == corev1.ResourceCPU {
			out[name] = quantity.MilliValue()
		} else {
			out[name] = quantity.Value()
		}
	}
	return out
}

// Fits returns how many pods with a request fit into free room, at most most.
func (free Amounts) Fits(request Amounts, most int) int {
	for name, amount := range request {
		if amount > 0 {
			most = min(most, int(max(free[name], 0)/amount))
		}
	}
	return most
}

// Take subtracts pods from free room; a negative number gives room back.
func (free Amounts) Take(request Amounts, pods int) {
	for name, amount := range request {
		free[name] -= amount * int64(pods)
	}
}

// Pool is the nodes of a capacity.
type Pool struct {
	rehearsal.Pool
	Size    corev1.ResourceList // of a node
	Whole   Amounts             // what a node without pods has free
	Nodes   []*Node             // by number; deleted ones are nil
	Booting int                 // nodes that are being created

	use  []rehearsal.Count
	idle int64 // time of the next check for idle nodes that is known to come
}

// Node is a node that can start pods.
type Node struct {
	Pool   *Pool
	Number int
	Free   Amounts

	pods  int
	empty int64 // time of the last pod's end
}

// Count returns the number of nodes.
func (p *Pool) Count() int {
	n := 0
	for _, node := range p.Nodes {
		if node != nil {
			n++
		}
	}
	return n
}

// Running returns the number of pods on nodes.
func (p *Pool) Running() int {
	n := 0
	for _, node := range p.Nodes {
		if node != nil {
			n += node.pods
		}
	}
	return n
}

// Use returns the nodes over time.
func (p *Pool) Use() rehearsal.PoolUse { return rehearsal.PoolUse{Name: p.Name, Nodes: p.use} }

// record notes the number of nodes.
func (p *Pool) record(now int64) {
	n := p.Count()
	if last := len(p.use) - 1; last >= 0 && p.use[last].At == now {
		p.use[last].N = n
	} else if last < 0 || p.use[last].N != n {
		p.use = append(p.use, rehearsal.Count{At: now, N: n})
	}
}

// limit returns the most nodes that the pool may have at a time, and whether nodes above it
// stay.
func (p *Pool) limit(now int64) (most int, keeps bool) {
	for _, a := range p.Available {
		if a.From <= now && (a.To == 0 || now < a.To) {
			return min(a.Max, p.Max), a.Keeps
		}
	}
	return p.Max, true
}

// Nodes plays the nodes of a scenario and the cluster autoscaler.
type Nodes struct {
	Pools []*Pool // in the order of the scenario

	scenario *rehearsal.Scenario
	agenda   *Agenda
	engine   Engine
}

// Engine follows the nodes.
type Engine interface {
	// NodesAdded is called for new nodes of a pool, perhaps none.
	NodesAdded(p *Pool, nodes []*Node)
	// LoseNode is called before a node is taken away whose pods run. It must end them.
	LoseNode(n *Node)
	// NodeRemoved is called for a node that is gone.
	NodeRemoved(n *Node)
	// LimitEnded is called when a period of Pool.Available ends.
	LimitEnded(p *Pool)
}

// NewNodes returns the pools of a scenario with their first nodes. The error is for the user.
func NewNodes(s *rehearsal.Scenario, agenda *Agenda, engine Engine) (*Nodes, error) {
	out := &Nodes{scenario: s, agenda: agenda, engine: engine}
	for _, in := range s.Pools {
		p := &Pool{Pool: in, Size: corev1.ResourceList{}, idle: -1}
		p.Together = max(p.Together, 1)
		for name, text := range in.PerNode {
			quantity, err := resource.ParseQuantity(text)
			if err != nil {
				return nil, fmt.Errorf("pool %s: %s: %w", in.Name, name, err)
			}
			p.Size[corev1.ResourceName(name)] = quantity
		}
		p.Whole = AmountsOf(p.Size)
		out.Pools = append(out.Pools, p)
		out.add(p, min(p.Min, p.Max))
	}
	return out, nil
}

// PlanLimits plans the periods in which the pools have limits.
func (s *Nodes) PlanLimits() {
	for _, p := range s.Pools {
		for _, a := range p.Available {
			s.agenda.Plan(a.From, func() error { s.shrink(p); return nil })
			if a.To > 0 {
				s.agenda.Plan(a.To, func() error { s.engine.LimitEnded(p); return nil })
			}
		}
	}
}

// add adds nodes, in the gaps that deleted nodes have left first.
func (s *Nodes) add(p *Pool, nodes int) {
	var added []*Node
	for i := 0; len(added) < nodes; i++ {
		if i == len(p.Nodes) {
			p.Nodes = append(p.Nodes, nil)
		}
		if p.Nodes[i] == nil {
			p.Nodes[i] = &Node{Pool: p, Number: i, Free: maps.Clone(p.Whole), empty: s.agenda.Now}
			added = append(added, p.Nodes[i])
		}
	}
	p.record(s.agenda.Now)
	s.engine.NodesAdded(p, added)
}

// Arrive adds nodes that were created, without those that the pool may not have any more.
func (s *Nodes) Arrive(p *Pool, nodes int) {
	limit, _ := p.limit(s.agenda.Now)
	s.add(p, min(nodes, limit-p.Count()))
}

// Create starts the creation of nodes, as far as the pool may have them.
func (s *Nodes) Create(p *Pool, nodes int) {
	nodes = min(nodes, s.Room(p))
	nodes -= nodes % p.Together
	if nodes <= 0 {
		return
	}
	p.Booting += nodes
	s.agenda.Plan(s.agenda.Now+p.Startup, func() error {
		p.Booting -= nodes
		s.planIdle(p)
		s.Arrive(p, nodes)
		return nil
	})
}

// Room returns how many more nodes a pool may have at the moment.
func (s *Nodes) Room(p *Pool) int {
	limit, _ := p.limit(s.agenda.Now)
	room := limit - p.Count() - p.Booting
	for _, l := range s.scenario.Limits {
		left, each := l.Most, p.Machine[l.Resource]
		for _, other := range s.Pools {
			left -= float64(other.Count()+other.Booting) * other.Machine[l.Resource]
		}
		if each > 0 {
			room = min(room, max(0, int(left/each)))
		}
	}
	return room
}

// Start starts pods with a request on a node.
func (s *Nodes) Start(n *Node, request Amounts, pods int) {
	n.Free.Take(request, pods)
	n.pods += pods
}

// End ends pods on a node.
func (s *Nodes) End(n *Node, request Amounts, pods int) {
	s.Start(n, request, -pods)
	if n.pods == 0 {
		n.empty = s.agenda.Now
		s.planIdle(n.Pool)
	}
}

// planIdle plans the deletion of nodes that are empty for long enough.
func (s *Nodes) planIdle(p *Pool) {
	at := s.agenda.Now + p.Idle
	if p.Min == p.Max || p.idle == at {
		return
	}
	p.idle = at
	s.agenda.Plan(at, func() error {
		p.idle = -1
		removable := p.Count() - p.Min
		for i := len(p.Nodes) - 1; i >= 0 && removable > 0; i-- {
			if n := p.Nodes[i]; n != nil && n.pods == 0 && s.agenda.Now-n.empty >= p.Idle {
				removable--
				s.remove(n)
			}
		}
		return nil
	})
}

// shrink takes away the nodes that a pool may not have any more, with their pods.
func (s *Nodes) shrink(p *Pool) {
	limit, keeps := p.limit(s.agenda.Now)
	for i := len(p.Nodes) - 1; i >= 0 && !keeps && p.Count() > limit; i-- {
		if n := p.Nodes[i]; n != nil {
			s.engine.LoseNode(n)
			s.remove(n)
		}
	}
}

// remove removes a node without pods.
func (s *Nodes) remove(n *Node) {
	n.Pool.Nodes[n.Number] = nil
	n.Pool.record(s.agenda.Now)
	s.engine.NodeRemoved(n)
}
