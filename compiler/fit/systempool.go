package fit

import (
	"cmp"
	"slices"

	"github.com/batchwright/batchwright/compiler/catalog"
)

// PoolRoom is the room on each node of the system pool.
type PoolRoom struct {
	Nodes               int
	MilliCPU, MemoryMiB int64 // of one node
}

// SystemPoolRoom returns the room of the system pool beside pods that run on every
// node. It reports false if the machine or the zones are unknown.
func (p *Platform) SystemPoolRoom(every []catalog.SystemPod) (PoolRoom, bool) {
	machine, known := catalog.Usable(p.SystemPool.Machine)
	milli, mib := machine.Allocatable()
	takenMilli, takenMiB := catalog.SumRequests(every)
	nodes := p.SystemPool.NodesPerZone * len(p.Zones)
	return PoolRoom{nodes, milli - takenMilli, mib - takenMiB}, known && nodes > 0
}

// Holds reports whether the nodes have room for pods. It places large pods first,
// each on the first node with room.
func (r PoolRoom) Holds(pods []catalog.SystemPod) bool {
	free := slices.Repeat([]PoolRoom{r}, r.Nodes)
	for _, pod := range LargestFirst(pods) {
		i := slices.IndexFunc(free, func(node PoolRoom) bool {
			return node.MilliCPU >= pod.MilliCPU && node.MemoryMiB >= pod.MemoryMiB
		})
		if i < 0 {
			return false
		}
		free[i].MilliCPU -= pod.MilliCPU
		free[i].MemoryMiB -= pod.MemoryMiB
	}
	return true
}

// LargestFirst returns pods sorted by falling requests.
func LargestFirst(pods []catalog.SystemPod) []catalog.SystemPod {
	return slices.SortedStableFunc(slices.Values(pods), func(a, b catalog.SystemPod) int {
		return cmp.Or(cmp.Compare(b.MilliCPU, a.MilliCPU), cmp.Compare(b.MemoryMiB, a.MemoryMiB))
	})
}
