package ir

import "k8s.io/apimachinery/pkg/api/resource"

// maxPods is the number of pods that a node holds. Source: GKE documentation,
// "Configure maximum Pods per node"; each node of the platform has the default.
const maxPods = 110

// PodsPerNode returns the number of equal pods that a node of the capacity holds
// beside the amounts that are taken. It returns 0 if a pod fits no node, or if the
// machine is unknown. Pods are not divided: two pods of 3 GPUs fit a node of 8 GPUs,
// and 2 GPUs stay idle.
func (c Capacity) PodsPerNode(requests []Amount, taken ...Amount) int {
	if len(c.PerNode) == 0 {
		return 0
	}
	pods := maxPods
	for _, request := range requests {
		free := AmountOf(c.PerNode, request.Resource)
		free.Sub(AmountOf(taken, request.Resource))
		pods = min(pods, wholeTimes(free, request.Quantity))
	}
	return max(0, pods)
}

// NodesPerCopy returns the number of nodes that the pods of one copy of a workload
// need at the same time, if perNode of them fit a node. It returns 0 if none fits.
func (w Workload) NodesPerCopy(perNode int) int {
	if perNode <= 0 {
		return 0
	}
	return (w.Pods + perNode - 1) / perNode
}

// wholeTimes returns how many times total contains one; maxPods if one is 0.
func wholeTimes(total, one resource.Quantity) int {
	switch {
	case one.Sign() <= 0:
		return maxPods
	case one.Cmp(total) > 0: // MilliValue overflows above 9 PB, which a pod can request, but no node has
		return 0
	}
	return int(total.MilliValue() / one.MilliValue())
}
