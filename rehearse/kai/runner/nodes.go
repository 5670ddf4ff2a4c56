package runner

import (
	"fmt"
	"maps"

	"github.com/batchwright/batchwright/emit/rehearsal"
	"github.com/batchwright/batchwright/rehearse/stage"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podsPerNode is the number of pods that a node can run. Source: GKE documentation, the
// default of --max-pods-per-node.
const podsPerNode = 110

// NodesAdded implements stage.Engine.
func (p *play) NodesAdded(pool *stage.Pool, nodes []*stage.Node) {
	for _, n := range nodes {
		p.byNode[nodeName(n)] = n
		p.world.SetNode(p.nodeObject(n))
	}
	p.changed = true
	p.cordon(pool, p.cordons[pool])
}

// NodeRemoved implements stage.Engine.
func (p *play) NodeRemoved(n *stage.Node) {
	delete(p.byNode, nodeName(n))
	delete(p.cordoned, n)
	p.changed = true
	p.world.RemoveNode(p.nodeObject(n))
}

// LimitEnded implements stage.Engine: the nodes that always exist are created again.
func (p *play) LimitEnded(pool *stage.Pool) {
	p.changed = true
	p.nodes.Create(pool, pool.Min-pool.Count()-pool.Booting)
}

// LoseNode implements stage.Engine. A job that has lost pods stops until all its pods run
// again.
func (p *play) LoseNode(n *stage.Node) {
	for _, j := range p.jobs {
		lost := false
		for _, pod := range j.pods {
			lost = lost || pod.node == n
		}
		if !lost {
			continue
		}
		if j.Work.Working() {
			j.Work.Pause(p.agenda.Now)
		}
		p.recreatePods(j, n)
		if j.unplaced() == j.template.pods {
			j.Work.End(p.agenda.Now, true)
			j.Work.Run().Evicted, j.open = nodeLost, false
		}
	}
}

// nodeLost is the reason of evictions by the loss of a node. KAI did not decide them.
const nodeLost rehearsal.EvictionReason = "NodeLost"

// nodeName returns the name of a node. Names sort by number: KAI prefers the first of several
// nodes that are equally good.
func nodeName(n *stage.Node) string { return fmt.Sprintf("%s-%05d", n.Pool.Name, n.Number) }

// nodeObject returns a node as GKE creates it, and as kubectl and the node controller cordon
// it.
func (p *play) nodeObject(n *stage.Node) *corev1.Node {
	size := corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(podsPerNode, resource.DecimalSI)}
	maps.Copy(size, n.Pool.Size)
	o := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: nodeName(n), Labels: n.Pool.Labels},
		Status: corev1.NodeStatus{
			Capacity: size, Allocatable: size,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	for _, t := range n.Pool.Taints {
		taint := corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)}
		o.Spec.Taints = append(o.Spec.Taints, taint)
	}
	if p.cordoned[n] {
		o.Spec.Unschedulable = true
		o.Spec.Taints = append(o.Spec.Taints,
			corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	return o
}

// cordon makes the last nodes of a pool unschedulable, and the others schedulable.
func (p *play) cordon(pool *stage.Pool, nodes int) {
	if p.cordons[pool] == 0 && nodes == 0 {
		return
	}
	p.cordons[pool] = nodes
	p.changed = true
	for i := len(pool.Nodes) - 1; i >= 0; i-- {
		if n := pool.Nodes[i]; n != nil {
			p.cordoned[n] = nodes > 0
			nodes--
			p.world.SetNode(p.nodeObject(n))
		}
	}
}

// lacking returns the number of new nodes that the waiting pods need, if the pods that fit on
// existing nodes go there and the others are packed in the order of their jobs. KAI marks
// every pod that waits as unschedulable, also one that waits for quota, and the cluster
// autoscaler starts nodes for all of them.
func (p *play) lacking(pool *stage.Pool) int {
	var rooms []stage.Amounts
	for _, n := range pool.Nodes {
		if n != nil && !p.cordoned[n] {
			rooms = append(rooms, maps.Clone(n.Free))
		}
	}
	existing := len(rooms)
	for _, j := range p.jobs {
		if !j.template.runsOn(pool) || pool.Whole.Fits(j.template.request, 1) == 0 {
			continue
		}
		for range j.unplaced() {
			rooms = placeIn(rooms, pool.Whole, j.template.request)
		}
	}
	return len(rooms) - existing
}

// placeIn takes room for a pod from the first node that has room, or from a new node.
func placeIn(rooms []stage.Amounts, whole, request stage.Amounts) []stage.Amounts {
	for _, free := range rooms {
		if free.Fits(request, 1) > 0 {
			free.Take(request, 1)
			return rooms
		}
	}
	free := maps.Clone(whole)
	free.Take(request, 1)
	return append(rooms, free)
}
