package runner

import (
	"fmt"
	"maps"
	"slices"

	"github.com/batchwright/batchwright/emit/rehearsal"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// amounts are amounts of resources: cpu in thousandths of a vCPU, memory in bytes,
// accelerators by number.
type amounts map[corev1.ResourceName]int64

func amountsOf(list corev1.ResourceList) amounts {
	out := amounts{}
	for name, quantity := range list {
		if name == corev1.ResourceCPU {
			out[name] = quantity.MilliValue()
		} else {
			out[name] = quantity.Value()
		}
	}
	return out
}

// pool plays the nodes of a capacity, the kube-scheduler on them and the autoscaler: pods
// go to the first node with room, in the order in which their jobs started; if there is
// no room, nodes are created up to the limit of the moment.
type pool struct {
	rehearsal.Pool
	perNode amounts
	nodes   []*node // by number; deleted ones are nil
	booting int     // nodes that are being created
	waiting []*pods // pods without a node, the oldest first
	use     []rehearsal.Count
}

// node is a node that can start pods.
type node struct {
	free  amounts
	pods  int
	empty int64 // time of the last pod's end
}

// pods are the pods of one pod set of a job's run.
type pods struct {
	run     *run
	request amounts // of one pod
	pool    *pool
	wants   int   // pods without a node
	on      []int // pods by number of the node
}

func newPool(p rehearsal.Pool) (*pool, error) {
	list := corev1.ResourceList{}
	for name, text := range p.PerNode {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("pool %s: %s: %w", p.Name, name, err)
		}
		list[corev1.ResourceName(name)] = quantity
	}
	out := &pool{Pool: p, perNode: amountsOf(list)}
	out.Together = max(out.Together, 1)
	return out, nil
}

// most returns the most nodes that the pool may have at a time, and whether nodes above
// it stay.
func (p *pool) most(now int64) (limit int, keeps bool) {
	for _, a := range p.Available {
		if a.From <= now && (a.To == 0 || now < a.To) {
			return min(a.Max, p.Max), a.Keeps
		}
	}
	return p.Max, true
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
		n := &node{free: maps.Clone(p.perNode), empty: now}
		if i := slices.Index(p.nodes, nil); i >= 0 {
			p.nodes[i] = n
		} else {
			p.nodes = append(p.nodes, n)
		}
	}
	p.record(now)
}

// record notes the number of nodes.
func (p *pool) record(now int64) {
	n := p.count()
	if last := len(p.use) - 1; last >= 0 && p.use[last].At == now {
		p.use[last].N = n
	} else if last < 0 || p.use[last].N != n {
		p.use = append(p.use, rehearsal.Count{At: now, N: n})
	}
}

// fits returns how many pods with a request fit into free room.
func fits(free, request amounts, most int) int {
	for name, amount := range request {
		if amount > 0 {
			most = min(most, int(max(free[name], 0)/amount))
		}
	}
	return most
}

// place gives nodes to pods as far as there is room. It returns the runs all of whose pods
// now have a node.
func (p *pool) place() []*run {
	var ready []*run
	p.waiting = slices.DeleteFunc(p.waiting, func(set *pods) bool {
		for i, n := range p.nodes {
			if set.wants == 0 {
				break
			}
			if n == nil {
				continue
			}
			if fit := fits(n.free, set.request, set.wants); fit > 0 {
				take(n.free, set.request, fit)
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
		set.run.unplaced--
		if set.run.unplaced == 0 {
			ready = append(ready, set.run)
		}
		return true
	})
	return ready
}

// lacking returns the number of nodes that the waiting pods need in addition, if each pod
// set is packed by itself.
func (p *pool) lacking() int {
	room := 0 // nodes, for pods that fit
	free := amounts{}
	for _, set := range p.waiting {
		wants := set.wants
		if fit := fits(free, set.request, wants); fit > 0 && room > 0 {
			take(free, set.request, fit)
			wants -= fit
		}
		each := fits(p.perNode, set.request, wants)
		if wants == 0 || each == 0 {
			continue // no node is large enough
		}
		nodes := (wants + each - 1) / each
		room += nodes
		free = maps.Clone(p.perNode)
		take(free, set.request, wants-(nodes-1)*each)
	}
	return room
}

// take subtracts pods from free room; a negative number gives room back.
func take(free, request amounts, pods int) {
	for name, amount := range request {
		free[name] -= amount * int64(pods)
	}
}

// release takes pods off their nodes, or out of the line of those that wait.
func (p *pool) release(set *pods, now int64) {
	for i, n := range set.on {
		if n > 0 && p.nodes[i] != nil {
			take(p.nodes[i].free, set.request, -n)
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
