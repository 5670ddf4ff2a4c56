package runner

import (
	"slices"

	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/stage"
)

// pool plays the nodes of a capacity, the kube-scheduler on them and the autoscaler: pods
// go to the first node with room, in the order in which their jobs started; if there is
// no room, nodes are created up to the limit of the moment.
type pool struct {
	rehearsal.Pool
	perNode stage.Amounts
	nodes   []*node // by number; deleted ones are nil
	booting int     // nodes that are being created
	waiting []*pods // pods without a node, the oldest first
	use     stage.NodesUse
}

// node is a node that can start pods.
type node struct {
	free  stage.Amounts
	pods  int
	empty int64 // time of the last pod's end
}

// pods are the pods of one pod set of a job's run.
type pods struct {
	run     *run
	request stage.Amounts // of one pod
	pool    *pool
	wants   int   // pods without a node
	on      []int // pods by number of the node
	number  int   // of the pod, if it is independent of the job's other pods
}

func newPool(p rehearsal.Pool) (*pool, error) {
	list, err := stage.PerNode(p)
	if err != nil {
		return nil, err
	}
	out := &pool{Pool: p, perNode: stage.AmountsOf(list)}
	out.Together = max(out.Together, 1)
	return out, nil
}

// count returns the number of nodes.
func (p *pool) count() int {
	return len(p.nodes) - p.gone()
}

func (p *pool) gone() int {
	n := 0
	for _, node := range p.nodes {
		if node == nil {
			n++
		}
	}
	return n
}

// add adds nodes, in the gaps that deleted nodes have left first.
func (p *pool) add(nodes int, now int64) {
	for range nodes {
		n := &node{free: p.perNode.Clone(), empty: now}
		if i := slices.Index(p.nodes, nil); i >= 0 {
			p.nodes[i] = n
		} else {
			p.nodes = append(p.nodes, n)
		}
	}
	p.record(now)
}

// record notes the number of nodes.
func (p *pool) record(now int64) { p.use.Record(now, p.count()) }

// place gives nodes to pods as far as there is room. It returns the sets all of whose pods
// now have a node.
func (p *pool) place() []*pods {
	var placed []*pods
	p.waiting = slices.DeleteFunc(p.waiting, func(set *pods) bool {
		for i, n := range p.nodes {
			if set.wants == 0 {
				break
			}
			if n == nil {
				continue
			}
			if fit := n.free.Fits(set.request, set.wants); fit > 0 {
				n.free.Take(set.request, fit)
				n.pods += fit
				set.wants -= fit
				for len(set.on) <= i {
					set.on = append(set.on, 0)
				}
				set.on[i] += fit
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
		each := p.perNode.Fits(set.request, wants)
		if wants == 0 || each == 0 {
			continue // no node is large enough
		}
		nodes := (wants + each - 1) / each
		room += nodes
		free = p.perNode.Clone()
		free.Take(set.request, wants-(nodes-1)*each)
	}
	return room
}

// release takes pods off their nodes, or out of the line of those that wait.
func (p *pool) release(set *pods, now int64) {
	for i, n := range set.on {
		if n > 0 && p.nodes[i] != nil {
			p.nodes[i].free.Take(set.request, -n)
			p.nodes[i].pods -= n
			if p.nodes[i].pods == 0 {
				p.nodes[i].empty = now
			}
		}
	}
	set.on = nil
	p.waiting = slices.DeleteFunc(p.waiting, func(w *pods) bool { return w == set })
}

// running returns the number of pods on nodes.
func (p *pool) running() int {
	n := 0
	for _, node := range p.nodes {
		if node != nil {
			n += node.pods
		}
	}
	return n
}

// pending returns the number of pods without a node.
func (p *pool) pending() int {
	n := 0
	for _, set := range p.waiting {
		n += set.wants
	}
	return n
}
