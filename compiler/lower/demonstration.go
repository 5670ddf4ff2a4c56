package lower

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// lowerDemonstration resolves the phases of the demonstration. A phase leaves out
// what refers to an unknown name.
func lowerDemonstration(b *schema.Blueprint, p *ir.Platform) []ir.Phase {
	submitted := map[string]bool{} // by template
	for _, w := range p.Workloads {
		submitted[w.Template] = true
	}
	used := usedCapacities(b.Demonstration, p.Workloads)
	var out []ir.Phase
	for _, in := range b.Demonstration {
		known := func(names []string) []string {
			return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !submitted[n] })
		}
		phase := ir.Phase{
			Name: in.Phase, Shows: valueOr(in.Shows, ""), Uncordon: sortedUnique(in.Uncordon),
			Delete: known(in.Delete), Submit: known(in.Submit), OneByOne: in.OneByOne,
			Teams: sortedUnique(in.Teams), Pending: in.Expect.Pending, WaitSeconds: in.WaitSeconds,
			Completed: known(in.Expect.Completed),
		}
		for tier, counts := range byName(in.Expect.Queues) {
			phase.Queues = append(phase.Queues,
				ir.QueueCount{Tier: tier, Pending: counts.Pending, Admitted: counts.Admitted})
		}
		for _, c := range p.Capacities {
			if n := in.Cordon[c.Name]; n > 0 {
				phase.Cordon = append(phase.Cordon, ir.CapacityCount{Capacity: c.Name, Count: n})
			}
			if in.Expect.Pods != nil && (len(used) == 0 || used[c.Name]) {
				phase.Pods = append(phase.Pods, ir.CapacityCount{Capacity: c.Name, Count: in.Expect.Pods[c.Name]})
			}
		}
		for name, count := range byName(in.Expect.Evicted) {
			if submitted[name] {
				phase.Evicted = append(phase.Evicted, ir.JobCount{Template: name, Count: count})
			}
		}
		for name, capacities := range byName(in.Expect.Moved) {
			for capacity, count := range byName(capacities) {
				if submitted[name] {
					phase.Moved = append(phase.Moved, ir.MovedCount{Template: name, Capacity: capacity, Count: count})
				}
			}
		}
		for _, names := range in.Expect.Nodes {
			phase.Nodes = append(phase.Nodes, slices.Sorted(slices.Values(names)))
		}
		slices.SortFunc(phase.Nodes, func(a, b []string) int { return slices.Compare(a, b) })
		out = append(out, phase)
	}
	return out
}

// usedCapacities returns the capacities on which some phase expects pods, or on which the
// pods of a workload that some phase submits can run.
func usedCapacities(phases []schema.Phase, workloads []ir.Workload) map[string]bool {
	out, submitted := map[string]bool{}, map[string]bool{}
	for _, in := range phases {
		for name, pods := range in.Expect.Pods {
			if pods > 0 {
				out[name] = true
			}
		}
		for _, name := range in.Submit {
			submitted[name] = true
		}
	}
	for _, w := range workloads {
		if submitted[w.Template] {
			for _, name := range w.Capacities {
				out[name] = true
			}
			for _, a := range w.Auxiliaries {
				out[a.Capacity] = true
			}
		}
	}
	return out
}
