package ir

import "slices"

// Adopted are the objects of Kueue that others use or that ran before the platform, by name. The
// platform manages them and deletes none of them.
type Adopted struct {
	Queues     map[string]bool // ClusterQueues
	Capacities map[string]bool // whose ResourceFlavors they are
	Cohorts    map[string]bool
	Topologies map[string]bool
	Priorities map[string]bool // WorkloadPriorityClasses
}

// Adopted returns the objects that, by the plan, ran before the platform. A platform in its own
// cluster has none. In an existing cluster they are:
//
//   - ClusterQueues that count existing or taken-over nodes, and that an existing namespace or no team
//     uses
//   - ResourceFlavors of existing nodes and of these queues
//   - Cohorts and Topologies of these, and those that nothing of the platform uses
func (p *Platform) Adopted() Adopted {
	out := Adopted{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	if p.OwnsCluster() {
		return out
	}
	ran := map[string]bool{} // capacities whose nodes ran before
	for _, c := range p.AllCapacities() {
		ran[c.Name] = c.TakeOver != nil
	}
	for _, c := range p.ExistingCapacities {
		ran[c.Name], out.Capacities[c.Name] = true, true
	}
	cohorts := map[string]bool{} // of the platform's own queues
	for q, teams := range p.ClusterQueues() {
		others := len(teams) == 0 || slices.ContainsFunc(teams, func(t SharingTeam) bool { return t.InExisting })
		if !others || !slices.ContainsFunc(q.Flavors, func(f FlavorQuota) bool { return ran[f.Flavor] }) {
			cohorts[q.Cohort] = true
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
		c := p.Cohorts[i]
		if out.Cohorts[c.Name] || !cohorts[c.Name] {
			out.Cohorts[c.Name], out.Cohorts[c.Parent] = true, true
		} else {
			cohorts[c.Parent] = true
		}
	}
	topologies := map[string]bool{} // of the platform's own flavors
	for _, c := range p.AllCapacities() {
		if !out.Capacities[c.Name] {
			topologies[c.Flavor.Topology] = true
		}
	}
	for _, t := range p.Topologies {
		out.Topologies[t.Name] = !topologies[t.Name]
	}
	for _, c := range p.AllCapacities() {
		if out.Capacities[c.Name] && c.Flavor.Topology != "" {
			out.Topologies[c.Flavor.Topology] = true
		}
	}
	return out
}
