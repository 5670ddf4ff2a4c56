package compiler

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/schema"
)

// lowerTeams resolves the teams and adds what they are guaranteed to the
// capacities.
func lowerTeams(b *schema.Blueprint, capacities []ir.Capacity) []ir.Team {
	offers := map[string]*offer{}
	for i := range capacities {
		c := &capacities[i]
		c.Guaranteed = make([]ir.Amount, len(c.PerNode))
		for r, amount := range c.PerNode {
			c.Guaranteed[r].Resource = amount.Resource
		}
		offers[c.Name] = &offer{capacity: c, share: share(b.Hardware[c.Hardware], c.Machine)}
	}
	var out []ir.Team
	for _, name := range slices.Sorted(maps.Keys(b.Teams)) {
		in := b.Teams[name]
		team := ir.Team{
			Name:        name,
			Namespace:   value(in.Namespace, name),
			Cohort:      value(in.Cohort, ""),
			Group:       value(in.Group, ""),
			KubeAccount: name + "-ksa",
			Account:     ir.ServiceAccount{ID: "wi-" + name, Display: "Jobs of " + name, Roles: teamRoles(in.Roles)},
		}
		if in.Bucket {
			team.Bucket = b.Project + "-" + b.Name + "-" + name
		}
		for _, tier := range slices.Sorted(maps.Keys(in.Quota)) {
			if q, ok := lowerQueue(b, name, tier, offers); ok {
				team.Queues = append(team.Queues, q)
			}
		}
		out = append(out, team)
	}
	return out
}

// offer is a capacity with what a unit of its quota holds.
type offer struct {
	capacity *ir.Capacity
	share    []ir.Amount
}

func lowerQueue(b *schema.Blueprint, team, tier string, offers map[string]*offer) (ir.Queue, bool) {
	t, ok := b.Tiers[tier]
	if !ok {
		return ir.Queue{}, false
	}
	q := ir.Queue{
		Tier: tier, ClusterQueue: ir.ClusterQueuePrefix + team + "-" + tier, LocalQueue: ir.LocalQueuePrefix + team + "-" + tier,
		Strategy: t.Queueing, Preempts: t.Preempts, Resources: []string{ir.CPU, ir.Memory},
	}
	quota := b.Teams[team].Quota[tier]
	inCohort := b.Teams[team].Cohort != nil
	order := unique(t.Capacity)
	for _, name := range order {
		if _, given := quota[name]; given && offers[name] != nil && offers[name].capacity.Machine.Resource != "" {
			q.Resources = []string{ir.CPU, ir.Memory, offers[name].capacity.Machine.Resource}
		}
	}
	for _, name := range order {
		in, given := quota[name]
		o := offers[name]
		if !given || o == nil || o.share == nil {
			continue
		}
		nominal := value(in.Accelerators, 0)
		if o.capacity.Machine.Resource == "" {
			nominal = value(in.CPUs, 0)
		}
		f := ir.FlavorQuota{Flavor: name, AdmissionCheck: o.capacity.AdmissionCheck, Waiting: o.capacity.Waiting}
		for _, res := range q.Resources {
			rq := ir.ResourceQuota{Resource: res, Nominal: times(o.share, res, nominal)}
			if inCohort {
				borrow := times(o.share, res, in.Borrow)
				rq.Borrowing = &borrow
				if in.Lend != nil {
					lend := times(o.share, res, *in.Lend)
					rq.Lending = &lend
				}
			}
			f.Quotas = append(f.Quotas, rq)
		}
		for i := range o.capacity.Guaranteed {
			g := &o.capacity.Guaranteed[i]
			g.Quantity.Add(times(o.share, g.Resource, nominal))
		}
		q.Flavors = append(q.Flavors, f)
	}
	return q, len(q.Flavors) > 0
}

// times returns n units' worth of a resource.
func times(share []ir.Amount, res string, n int) resource.Quantity {
	for _, a := range share {
		if a.Resource != res {
			continue
		}
		q := a.Quantity.DeepCopy()
		q.Mul(int64(n))
		return q
	}
	return count(0)
}
