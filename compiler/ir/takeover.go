package ir

import "strings"

// TakeOver says that a resource exists that the platform did not create. The next build
// imports it into the platform's Terraform state.
type TakeOver struct {
	// From is the address of the resource in the Terraform configuration of its former
	// owner, or "" if no configuration has it.
	From string
}

// NamesInstance reports whether From names one instance of a resource that has several,
// or an instance in one of several modules: whether it has a key in brackets.
func (t TakeOver) NamesInstance() bool { return strings.Contains(t.From, "[") }

// TakesOver reports whether the platform takes over its cluster or a node pool.
func (p *Platform) TakesOver() bool {
	return p.Cluster.TakeOver != nil || len(p.TakenOverCapacities()) > 0
}

// TakenOverCapacities returns the capacities whose node pools are taken over, in the
// order of Capacities.
func (p *Platform) TakenOverCapacities() []Capacity {
	var out []Capacity
	for _, c := range p.Capacities {
		if c.TakeOver != nil && c.OwnsPools() {
			out = append(out, c)
		}
	}
	return out
}

// TakenOverPools returns the names of the node pools that are taken over, in the order
// of Capacities.
func (p *Platform) TakenOverPools() []string {
	var out []string
	for _, c := range p.TakenOverCapacities() {
		out = append(out, c.Pools()...)
	}
	return out
}

// HasFormerConfiguration reports whether a Terraform configuration of a former owner
// must let go of a resource.
func (p *Platform) HasFormerConfiguration() bool {
	if t := p.Cluster.TakeOver; t != nil && t.From != "" {
		return true
	}
	for _, c := range p.TakenOverCapacities() {
		if c.TakeOver.From != "" {
			return true
		}
	}
	return false
}
