package ir

// Adopted are the objects of Kueue that others use or that ran before the platform, by name. The
// platform manages them and deletes none of them.
type Adopted struct {
	Queues     map[string]bool // ClusterQueues
	Capacities map[string]bool // whose ResourceFlavors they are
	Cohorts    map[string]bool
	Topologies map[string]bool
	Priorities map[string]bool // WorkloadPriorityClasses
}

// Adopted returns the ClusterQueues that a namespace of others uses, or no team, with the
// ResourceFlavors and the Cohorts that they need, and the ResourceFlavors of existing nodes. They
// are in a cluster that others own; a platform in its own cluster has none.
func (p *Platform) Adopted() Adopted {
	out := Adopted{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	if p.OwnsCluster() {
		return out
	}
	for _, c := range p.ExistingCapacities {
		out.Capacities[c.Name] = true
	}
	for q, teams := range p.ClusterQueues() {
		others := len(teams) == 0
		for _, t := range teams {
			others = others || t.InExisting
		}
		if !others {
			continue
		}
		out.Queues[q.ClusterQueue], out.Cohorts[q.Cohort] = true, true
		for _, f := range q.Flavors {
			out.Capacities[f.Flavor] = true
		}
		for _, c := range q.WorkloadPriorities {
			out.Priorities[c.Name] = true
		}
	}
	for i := len(p.Cohorts) - 1; i >= 0; i-- { // children before parents
		if c := p.Cohorts[i]; out.Cohorts[c.Name] {
			out.Cohorts[c.Parent] = true
		}
	}
	for _, c := range p.AllCapacities() {
		if out.Capacities[c.Name] && c.Flavor.Topology != "" {
			out.Topologies[c.Flavor.Topology] = true
		}
	}
	return out
}
