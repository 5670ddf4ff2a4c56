package ir

import "slices"

// WorkloadsApart returns, by ClusterQueue, two workloads of the queue that have no
// capacity in common. In a StrictFIFO queue the first one blocks the second one while
// it waits, although it never uses the nodes of the second one. It returns at most one
// pair for each queue.
func (p *Platform) WorkloadsApart() map[string][2]Workload {
	// Few templates name their capacities, and the comparison must not grow with the
	// square of their number.
	const most = 16
	clusterQueues := map[[2]string]string{} // by team and LocalQueue
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			clusterQueues[[2]string{t.Name, q.LocalQueue}] = q.ClusterQueue
		}
	}
	apart := map[string][2]Workload{}
	seen := map[string][]Workload{} // by ClusterQueue, the first workload with each list of capacities
	for _, w := range p.Workloads {
		queue := clusterQueues[[2]string{w.Team, w.Queue}]
		if _, found := apart[queue]; found || len(w.Capacities) == 0 || len(seen[queue]) == most ||
			slices.ContainsFunc(seen[queue], func(other Workload) bool {
				return slices.Equal(other.Capacities, w.Capacities)
			}) {
			continue
		}
		for _, other := range seen[queue] {
			if !sharesCapacity(other, w) {
				apart[queue] = [2]Workload{other, w}
				break
			}
		}
		seen[queue] = append(seen[queue], w)
	}
	return apart
}

// sharesCapacity reports whether two workloads can run on the same capacity.
func sharesCapacity(a, b Workload) bool {
	return slices.ContainsFunc(a.Capacities, func(c string) bool { return slices.Contains(b.Capacities, c) })
}
