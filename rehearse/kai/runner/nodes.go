package runner

import (
	"fmt"

	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/stage"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podsPerNode is the number of pods that a node can run. Source: GKE documentation, the
// default of --max-pods-per-node.
const podsPerNode = 110

// pool plays the nodes of a capacity and the cluster autoscaler.
type pool struct {
	rehearsal.Pool
	size     corev1.ResourceList // of a node
	perNode  stage.Amounts
	nodes    []*node // by number; deleted ones are nil
	booting  int     // nodes that are being created
	cordoned int     // the last nodes
	use      stage.NodesUse
}

// node is a node that can start pods.
type node struct {
	pool   *pool
	object *corev1.Node
	free   stage.Amounts
	pods   int
	empty  int64 // time of the last pod's end
}

// addPool adds a pool with its first nodes, and plans its limits.
func (p *play) addPool(in rehearsal.Pool) error {
	size, err := stage.PerNode(in)
	if err != nil {
		return err
	}
	if _, set := size[corev1.ResourcePods]; !set {
		size[corev1.ResourcePods] = *resource.NewQuantity(podsPerNode, resource.DecimalSI)
	}
	pool := &pool{Pool: in, size: size, perNode: stage.AmountsOf(size)}
	pool.Together = max(pool.Together, 1)
	p.pools = append(p.pools, pool)
	for _, c := range in.Cordoned {
		p.agenda.Plan(c.At, func() error { return p.cordon(pool, c.N) })
	}
	for _, a := range in.Available {
		p.agenda.Plan(a.From, func() error { return p.shrink(pool) })
		if a.To > 0 {
			p.agenda.Plan(a.To, func() error { p.restore(pool); return nil })
		}
	}
	return p.addNodes(pool, min(in.Min, in.Max))
}

// count returns the number of nodes.
func (p *pool) count() int {
	n := 0
	for _, node := range p.nodes {
		if node != nil {
			n++
		}
	}
	return n
}

// addNodes adds nodes, in the gaps that deleted nodes have left first.
func (p *play) addNodes(pool *pool, nodes int) error {
	for i := 0; nodes > 0; i++ {
		if i == len(pool.nodes) {
			pool.nodes = append(pool.nodes, nil)
		}
		if pool.nodes[i] != nil {
			continue
		}
		nodes--
		n := &node{pool: pool, object: pool.nodeObject(i), free: pool.perNode.Clone(), empty: p.agenda.Now}
		pool.nodes[i] = n
		p.nodes[n.object.Name] = n
		if err := p.world.SetNode(n.object); err != nil {
			return err
		}
	}
	p.changed = true
	pool.use.Record(p.agenda.Now, pool.count())
	return p.cordon(pool, pool.cordoned)
}

// nodeObject returns a node as GKE creates it. Names sort by number: KAI prefers the first
// of several nodes that are equally good.
func (p *pool) nodeObject(i int) *corev1.Node {
	o := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%05d", p.Name, i), Labels: p.Labels},
		Status: corev1.NodeStatus{
			Capacity: p.size, Allocatable: p.size,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	for _, t := range p.Taints {
		taint := corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)}
		o.Spec.Taints = append(o.Spec.Taints, taint)
	}
	return o
}

// cordon makes the last nodes of a pool unschedulable, and the others schedulable, as
// kubectl and the node controller do.
func (p *play) cordon(pool *pool, nodes int) error {
	before := pool.cordoned
	pool.cordoned = nodes
	if before == 0 && nodes == 0 {
		return nil
	}
	p.changed = true
	for i := len(pool.nodes) - 1; i >= 0; i-- {
		n := pool.nodes[i]
		if n == nil {
			continue
		}
		n.object = pool.nodeObject(i)
		if nodes > 0 {
			n.object.Spec.Unschedulable = true
			n.object.Spec.Taints = append(n.object.Spec.Taints,
				corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		}
		nodes--
		if err := p.world.SetNode(n.object); err != nil {
			return err
		}
	}
	return nil
}

// removeNode removes a node, whose pods must be gone.
func (p *play) removeNode(n *node) error {
	for i := range n.pool.nodes {
		if n.pool.nodes[i] == n {
			n.pool.nodes[i] = nil
		}
	}
	delete(p.nodes, n.object.Name)
	p.changed = true
	n.pool.use.Record(p.agenda.Now, n.pool.count())
	return p.world.RemoveNode(n.object)
}

// grow asks for as many nodes as the waiting pods need and the pool may have. KAI marks
// every pod that waits as unschedulable, also one that waits for quota, and the cluster
// autoscaler starts nodes for all of them.
func (p *play) grow(pool *pool) {
	lacking := p.lacking(pool) - pool.booting
	p.create(pool, lacking-lacking%pool.Together)
}

// restore starts the creation of the nodes that always exist, at the end of a limit.
func (p *play) restore(pool *pool) {
	p.changed = true
	p.create(pool, pool.Min-pool.count()-pool.booting)
}

// create starts the creation of nodes, as far as the pool may have them.
func (p *play) create(pool *pool, nodes int) {
	nodes = min(nodes, p.room(pool))
	nodes -= nodes % pool.Together
	if nodes <= 0 {
		return
	}
	pool.booting += nodes
	p.agenda.Plan(p.agenda.Now+pool.Startup, func() error {
		pool.booting -= nodes
		limit, _ := stage.MostNodes(pool.Pool, p.agenda.Now)
		p.planIdle(pool)
		return p.addNodes(pool, max(0, min(nodes, limit-pool.count())))
	})
}

// room returns how many more nodes a pool may have at the moment.
func (p *play) room(pool *pool) int {
	limit, _ := stage.MostNodes(pool.Pool, p.agenda.Now)
	var nodes []int
	for _, other := range p.pools {
		nodes = append(nodes, other.count()+other.booting)
	}
	return min(limit-pool.count()-pool.booting, stage.WithinLimits(p.scenario, pool.Pool, nodes))
}

// lacking returns the number of new nodes that the waiting pods need, if the pods that fit on
// existing nodes go there and the others are packed in the order of their jobs.
func (p *play) lacking(pool *pool) int {
	var rooms []stage.Amounts
	for _, n := range pool.nodes {
		if n != nil && !n.object.Spec.Unschedulable {
			rooms = append(rooms, n.free.Clone())
		}
	}
	existing := len(rooms)
	for _, j := range p.jobs {
		if !j.template.runsOn(pool) || pool.perNode.Fits(j.template.request, 1) == 0 {
			continue
		}
		for range j.unplaced() {
			rooms = placeIn(rooms, pool.perNode, j.template.request)
		}
	}
	return len(rooms) - existing
}

// placeIn takes room for a pod from the first node that has room, or from a new node.
func placeIn(rooms []stage.Amounts, perNode, request stage.Amounts) []stage.Amounts {
	for _, free := range rooms {
		if free.Fits(request, 1) > 0 {
			free.Take(request, 1)
			return rooms
		}
	}
	free := perNode.Clone()
	free.Take(request, 1)
	return append(rooms, free)
}

// planIdle plans the deletion of nodes that are empty for long enough.
func (p *play) planIdle(pool *pool) {
	if pool.Min == pool.Max {
		return
	}
	p.agenda.Plan(p.agenda.Now+pool.Idle, func() error {
		removable := pool.count() - pool.Min
		for i := len(pool.nodes) - 1; i >= 0 && removable > 0; i-- {
			if n := pool.nodes[i]; n != nil && n.pods == 0 && p.agenda.Now-n.empty >= pool.Idle {
				removable--
				if err := p.removeNode(n); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// shrink takes away the nodes that a pool may not have any more, with their pods. A job that
// has lost pods stops until all its pods run again.
func (p *play) shrink(pool *pool) error {
	limit, keeps := stage.MostNodes(pool.Pool, p.agenda.Now)
	for i := len(pool.nodes) - 1; i >= 0 && !keeps && pool.count() > limit; i-- {
		n := pool.nodes[i]
		if n == nil {
			continue
		}
		for _, j := range p.jobs {
			if err := p.loseNode(j, n); err != nil {
				return err
			}
		}
		if err := p.removeNode(n); err != nil {
			return err
		}
	}
	return nil
}

// loseNode replaces the pods that a job has on a node.
func (p *play) loseNode(j *job, n *node) error {
	lost := false
	for _, pod := range j.pods {
		lost = lost || pod.node == n
	}
	if !lost {
		return nil
	}
	if j.Work.Working() {
		j.Work.Pause(p.agenda.Now)
	}
	if err := p.recreatePods(j, n); err != nil {
		return err
	}
	if j.unplaced() == j.template.pods {
		j.Work.End(p.agenda.Now, true)
		j.Work.Run().Evicted, j.open = nodeLost, false
	}
	return nil
}

// nodeLost is the reason of evictions by the loss of a node. KAI did not decide them.
const nodeLost rehearsal.EvictionReason = "NodeLost"
