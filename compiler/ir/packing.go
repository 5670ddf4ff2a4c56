package ir

import (
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

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
	free := slices.Clone(c.PerNode)
	for i := range free {
		free[i].Quantity = AmountOf(c.PerNode, free[i].Resource)
		free[i].Quantity.Sub(AmountOf(taken, free[i].Resource))
	}
	return min(maxPods, TimesWithin(free, requests))
}

// TimesWithin returns how many times the offered amounts contain the requests. It
// returns math.MaxInt if nothing is requested.
func TimesWithin(offered, requests []Amount) int {
	times := math.MaxInt
	for _, request := range requests {
		times = min(times, wholeTimes(AmountOf(offered, request.Resource), request.Quantity))
	}
	return max(0, times)
}

// NodesPerCopy returns the number of nodes that the pods of one copy of a workload
// need at the same time, if perNode of them fit a node. It returns 0 if none fits.
func (w Workload) NodesPerCopy(perNode int) int {
	if perNode <= 0 {
		return 0
	}
	return (w.Pods + perNode - 1) / perNode
}

// mostDivided is the number of single pods up to which NodesTogether tries every
// division among the nodes: 4140 divisions.
const mostDivided = 8

// NodesTogether returns the least number of nodes that hold equal pods and single pods
// at the same time, beside the amounts that are taken on each node. It returns 0 if a
// pod fits no node. For more single pods than mostDivided it ignores that a pod is not
// divided, so the result can be too low.
func (c Capacity) NodesTogether(pods int, requests []Amount, singles [][]Amount, taken ...Amount) int {
	perNode := c.PodsPerNode(requests, taken...)
	unfit := func(single []Amount) bool { return c.PodsPerNode(single, taken...) == 0 }
	if pods > 0 && perNode == 0 || slices.ContainsFunc(singles, unfit) {
		return 0
	}
	// rest returns the number of nodes for the pods that have no room beside single pods.
	rest := func(left int) int {
		if left <= 0 {
			return 0
		}
		return (left + perNode - 1) / perNode
	}
	if len(singles) > mostDivided {
		return rest(pods)
	}
	least := rest(pods) + len(singles)
	var divide func(next int, nodes [][]Amount)
	divide = func(next int, nodes [][]Amount) {
		if len(nodes) >= least || least == rest(pods) { // no division is better
			return
		}
		if next == len(singles) {
			left := pods
			for _, used := range nodes {
				if left > 0 {
					left -= c.PodsPerNode(requests, used...)
				}
			}
			least = min(least, len(nodes)+rest(left))
			return
		}
		for i, used := range nodes {
			if c.PodsPerNode(singles[next], used...) > 0 {
				nodes[i] = SumAmounts(used, singles[next])
				divide(next+1, nodes)
				nodes[i] = used
			}
		}
		divide(next+1, append(slices.Clip(nodes), SumAmounts(taken, singles[next])))
	}
	divide(0, nil)
	return least
}

// wholeTimes returns how many times total contains one; math.MaxInt if one is 0.
func wholeTimes(total, one resource.Quantity) int {
	switch {
	case one.Sign() <= 0:
		return math.MaxInt
	case one.Cmp(total) > 0:
		return 0
	case total.Value() > math.MaxInt64/1000: // MilliValue overflows above 9 PB, which a large quota of memory exceeds
		return int(total.Value() / one.Value())
	}
	return int(total.MilliValue() / one.MilliValue())
}
