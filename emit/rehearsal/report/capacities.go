package report

import (
	"strconv"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/rehearsal"
)

// acceleratorsPerNode returns the number of GPUs or TPU chips of a node.
func acceleratorsPerNode(pool rehearsal.Pool) int {
	for _, name := range []string{ir.GPU, ir.TPU} {
		if n, err := strconv.Atoi(pool.PerNode[name]); err == nil {
			return n
		}
	}
	return 0
}

// capacities returns the use of the capacities.
func (a *analysis) capacities() []Capacity {
	used := a.usedBy(func(*job) bool { return true })
	out := []Capacity{}
	for _, use := range a.history.Pools {
		c := Capacity{Name: use.Name, Accelerators: a.accelerators[use.Name], Used: used[use.Name]}
		nodeSeconds := int64(0)
		for i, count := range use.Nodes {
			until := a.end
			if i+1 < len(use.Nodes) {
				until = min(until, use.Nodes[i+1].At)
			}
			if count.At < until {
				c.Nodes = max(c.Nodes, count.N)
				nodeSeconds += int64(count.N) * (until - count.At)
			}
		}
		if a.end > 0 {
			c.MeanNodes = float64(nodeSeconds) / float64(a.end)
		}
		c.Available = nodeSeconds * int64(c.Accelerators)
		c.Idle = max(0, c.Available-c.Used)
		if c.Available > 0 {
			percent := 100 * float64(c.Used) / float64(c.Available)
			c.Utilization = &percent
		}
		out = append(out, c)
	}
	return out
}

// usedBy returns the accelerator time that selected jobs used, by capacity.
func (a *analysis) usedBy(selected func(*job) bool) map[string]int64 {
	used := map[string]int64{}
	for i := range a.jobs {
		j := &a.jobs[i]
		if !selected(j) {
			continue
		}
		for n, r := range j.runs {
			if r.started == r.ended {
				continue
			}
			a.eachFlavor(j, n, func(flavor string, accelerators int) {
				used[flavor] += (r.ended - r.started) * int64(accelerators)
			})
		}
	}
	return used
}
