package stage

import (
	"fmt"
	"maps"
	"math"

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

// Clone returns a copy.
func (free Amounts) Clone() Amounts { return maps.Clone(free) }

// PerNode returns the amounts of a node of a pool. The error is for the user.
func PerNode(p rehearsal.Pool) (corev1.ResourceList, error) {
	list := corev1.ResourceList{}
	for name, text := range p.PerNode {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("pool %s: %s: %w", p.Name, name, err)
		}
		list[corev1.ResourceName(name)] = quantity
	}
	return list, nil
}

// MostNodes returns the most nodes that a pool may have at a time, and whether nodes above
// it stay.
func MostNodes(p rehearsal.Pool, now int64) (limit int, keeps bool) {
	for _, a := range p.Available {
		if a.From <= now && (a.To == 0 || now < a.To) {
			return min(a.Max, p.Max), a.Keeps
		}
	}
	return p.Max, true
}

// WithinLimits returns how many more nodes a pool may have within the limits of the whole
// cluster. nodes are the nodes of all pools, in the order of the pools; those that are being
// created count.
func WithinLimits(s *rehearsal.Scenario, p rehearsal.Pool, nodes []int) int {
	most := math.MaxInt
	for _, l := range s.Limits {
		left, each := l.Most, p.Machine[l.Resource]
		for i, n := range nodes {
			left -= float64(n) * s.Pools[i].Machine[l.Resource]
		}
		if each > 0 {
			most = min(most, max(0, int(left/each)))
		}
	}
	return most
}

// NodesUse is the number of nodes of a pool over time.
type NodesUse []rehearsal.Count

// Record notes the number of nodes.
func (u *NodesUse) Record(now int64, n int) {
	if last := len(*u) - 1; last >= 0 && (*u)[last].At == now {
		(*u)[last].N = n
	} else if last < 0 || (*u)[last].N != n {
		*u = append(*u, rehearsal.Count{At: now, N: n})
	}
}
