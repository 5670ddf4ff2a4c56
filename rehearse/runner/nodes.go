package runner

import (
	"maps"
	"slices"

	"github.com/batchwright/batchwright/rehearse/stage"
)

// pool plays the kube-scheduler on the nodes of a capacity: pods go to the first node with
// room, in the order in which their jobs started.
type pool struct {
	*stage.Pool
	waiting []*pods // pods without a node, the oldest first
}

// pods are the pods of one pod set of a job's run.
type pods struct {
	run     *run
	request stage.Amounts // of one pod
	pool    *pool
	wants   int                 // pods without a node
	on      map[*stage.Node]int // pods by node
	number  int                 // of the pod, if it is independent of the job's other pods
}

// NodesAdded implements stage.Engine.
func (p *play) NodesAdded(*stage.Pool, []*stage.Node) {}

// NodeRemoved implements stage.Engine.
func (p *play) NodeRemoved(*stage.Node) {}

// LimitEnded implements stage.Engine: the pods that wait ask for nodes again.
func (p *play) LimitEnded(*stage.Pool) {}

// LoseNode implements stage.Engine. It puts the pods on the node back into the line. The time
// of their jobs starts again when all their pods run again.
func (p *play) LoseNode(n *stage.Node) {
	for _, j := range p.jobs {
		if j.run == nil {
			continue
		}
		for _, set := range j.run.sets {
			lost := set.on[n]
			if lost == 0 {
				continue
			}
			if set.wants == 0 {
				j.run.unplaced++
				set.pool.waiting = append(set.pool.waiting, set)
			}
			set.wants += lost
			delete(set.on, n)
			if j.Work.Independent() {
				j.Work.StopPod(set.number, p.agenda.Now, true)
			}
			p.pause(j.run)
		}
	}
}

// place gives nodes to pods as far as there is room. It returns the sets all of whose pods
// now have a node.
func (p *play) place(pool *pool) []*pods {
	var placed []*pods
	pool.waiting = slices.DeleteFunc(pool.waiting, func(set *pods) bool {
		for _, n := range pool.Nodes {
			if set.wants == 0 {
				break
			}
			if n == nil {
				continue
			}
			if fit := n.Free.Fits(set.request, set.wants); fit > 0 {
				p.nodes.Start(n, set.request, fit)
				set.wants -= fit
				set.on[n] += fit
			}
		}
		if set.wants > 0 {
			return false
		}
		placed = append(placed, set)
		return true
	})
	return placed
}

// lacking returns the number of nodes that the waiting pods need in addition, if each pod
// set is packed by itself.
func (p *pool) lacking() int {
	room := 0 // nodes, for pods that fit
	free := stage.Amounts{}
	for _, set := range p.waiting {
		wants := set.wants
		if fit := free.Fits(set.request, wants); fit > 0 && room > 0 {
			free.Take(set.request, fit)
			wants -= fit
		}
		each := p.Whole.Fits(set.request, wants)
		if wants == 0 || each == 0 {
			continue // no node is large enough
		}
		nodes := (wants + each - 1) / each
		room += nodes
		free = maps.Clone(p.Whole)
		free.Take(set.request, wants-(nodes-1)*each)
	}
	return room
}

// release takes pods off their nodes, or out of the line of those that wait.
func (p *play) release(set *pods) {
	for n, pods := range set.on {
		p.nodes.End(n, set.request, pods)
	}
	set.on = nil
	set.pool.waiting = slices.DeleteFunc(set.pool.waiting, func(w *pods) bool { return w == set })
}
