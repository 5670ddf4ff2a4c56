package rules

import (
	"fmt"
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Nodes without accelerators of which the pods leave a part idle. Jobs of many sizes
// fill a node well enough, so a part that is idle is reported only if every workload
// leaves it, and only if it is large: a third of a node, or a quarter of the guarantees.

// podRange holds the lowest and the highest requests of pods, by resource.
type podRange struct{ least, most []ir.Amount }

// addPod records the requests of a pod.
func (p *podRange) addPod(requests []ir.Amount) {
	if p.least == nil {
		p.least, p.most = slices.Clone(requests), slices.Clone(requests)
		return
	}
	for i, a := range p.least {
		if q := ir.AmountOf(requests, a.Resource); q.Cmp(a.Quantity) < 0 {
			p.least[i].Quantity = q
		}
	}
	for i, a := range p.most {
		if q := ir.AmountOf(requests, a.Resource); q.Cmp(a.Quantity) > 0 {
			p.most[i].Quantity = q
		}
	}
}

// plainUse holds what the workloads of the blueprint request of a capacity without
// accelerators.
type plainUse struct {
	podRange
	workloads []string // the first few, sorted
	// admitted holds, by ClusterQueue, the number of pods that the guarantee admits at
	// once: the lowest number among the workloads of the queue.
	admitted map[string]int
	// submitting holds the teams and the tiers of the workloads.
	submitting map[[2]string]bool
	unclear    bool // another rule reports a workload, whose requests must change
}

// plainUses returns the use of each capacity without accelerators that a workload uses.
func (r *report) plainUses(capacities map[string]ir.Capacity, taken takenFunc) map[string]*plainUse {
	out, pool, limits := map[string]*plainUse{}, r.lent(), r.bindingLimits()
	all := r.firstCopies()
	for _, name := range sortedKeys(all) {
		for _, s := range all[name] {
			fits := limitFits(r.nodeFits(s, capacities, pool, taken), limits)
			runs := r.canRun(s.workload, fits)
			reported := !runs || slices.ContainsFunc(fits, func(f nodeFit) bool { return !f.fits() }) ||
				r.isCrowded(s, fits, capacities, pool, taken)
			for _, f := range s.usableQuotas() {
				c := capacities[f.Flavor]
				if c.HasAccelerators() || runs && c.PodsPerNode(s.workload.Requests, taken(c)...) == 0 {
					continue
				}
				if out[c.Name] == nil {
					out[c.Name] = &plainUse{admitted: map[string]int{}, submitting: map[[2]string]bool{}}
				}
				out[c.Name].addWorkload(s, f)
				out[c.Name].unclear = out[c.Name].unclear || reported
			}
		}
	}
	r.eachAuxiliary(func(s submission, a ir.Auxiliary, c ir.Capacity) {
		if use := out[c.Name]; use != nil {
			use.addPod(a.Requests)
			use.submitting[[2]string{s.team.Name, s.queue.Tier}] = true
		}
	})
	return out
}

// addWorkload records a workload of a queue with the given quota.
func (u *plainUse) addWorkload(s submission, f ir.FlavorQuota) {
	u.addPod(s.workload.Requests)
	if name := s.workload.Template; !slices.Contains(u.workloads, name) && len(u.workloads) < 3 {
		u.workloads = append(u.workloads, name)
	}
	u.submitting[[2]string{s.team.Name, s.queue.Tier}] = true
	var guarantee []ir.Amount
	for _, q := range f.Quotas {
		guarantee = append(guarantee, ir.Amount{Resource: q.Resource, Quantity: q.Nominal})
	}
	copies := ir.TimesWithin(guarantee, multiplyAmounts(s.workload.Requests, s.workload.Pods))
	pods := copies * s.workload.Pods
	if least, known := u.admitted[s.queue.ClusterQueue]; !known || pods < least {
		u.admitted[s.queue.ClusterQueue] = pods
	}
}

// multiplyAmounts returns amounts times n.
func multiplyAmounts(amounts []ir.Amount, n int) []ir.Amount {
	out := ir.SumAmounts(nil, amounts)
	for i := range out {
		out[i].Quantity.Mul(int64(n))
	}
	return out
}

// capacitiesOfUnknownJobs returns the capacities on which a team has quota and no
// workload in the blueprint, so that nobody knows the sizes of its jobs.
func (r *report) capacitiesOfUnknownJobs(uses map[string]*plainUse) map[string]bool {
	out := map[string]bool{}
	visit := func(q ir.Queue, team string) {
		for _, f := range q.Flavors {
			gives := func(q ir.ResourceQuota) bool { return q.Nominal.Sign() > 0 || q.Borrows() }
			use := uses[f.Flavor]
			if use != nil && slices.ContainsFunc(f.Quotas, gives) && !use.submitting[[2]string{team, q.Tier}] {
				out[f.Flavor] = true
			}
		}
	}
	for _, t := range r.Plan.Teams {
		for _, q := range t.Queues {
			visit(q, t.Name)
		}
	}
	return out
}

// idleParts reports nodes of which no workload can use a part.
func idleParts(r *report) {
	idleAccelerators(r)
	idleCPUs(r)
}

// idleCPUs reports capacities without accelerators whose nodes hold so few pods of the
// workloads that a large part of each node is idle, or that Kueue admits many more pods
// than the nodes hold.
func idleCPUs(r *report) {
	if !r.Plan.Scheduler.Facts().QuotaPerCapacity {
		return
	}
	capacities, taken := capacitiesByName(r.Plan), systemPods
	uses := r.plainUses(capacities, taken)
	unknown := r.capacitiesOfUnknownJobs(uses)
	for _, name := range sortedKeys(uses) {
		c, use := capacities[name], uses[name]
		if _, over := firstExcess(c); use.unclear || unknown[name] || over || c.Emptied() || lacksSize(c) {
			continue
		}
		free := freeAmounts(c, taken(c))
		perNode := c.PodsPerNode(use.least, taken(c)...)
		admitted, held := 0, perNode*c.MaxNodes
		for _, pods := range use.admitted {
			admitted += pods
		}
		message := ""
		switch {
		case 4*held <= 3*admitted:
			message = fmt.Sprintf("the guarantees on %q admit %s at once, but its %s at most %d",
				name, words.Count(admitted, "pod"), holdNodes(c.MaxNodes), held)
		case perNode == 1 && leavesThird(use.most, free):
			message = fmt.Sprintf("each node of %q holds only one pod, and at least a third of the "+
				"node stays idle", name)
		default:
			continue
		}
		options := []option{
			withLabel("each node has %s for pods; a pod requests at most %s", printAmounts(free),
				printAmounts(use.most)),
			withHelp("request at most %s for each pod, so that %d fit a node, or choose another machine type; "+
				"if jobs outside the blueprint use the rest, add %s", printAmounts(shareBeside(c, taken(c), perNode+1)),
				perNode+1, acceptSource(r.rule.Code, at("capacity", name))),
		}
		for _, w := range use.workloads {
			options = append(options, withRelated(at("workloads", w, "perPod"), "the requests of each pod"))
		}
		r.addKey(at("capacity", name), message, options...)
	}
}

// holdNodes returns a number of nodes with the verb "hold".
func holdNodes(n int) string {
	if n == 1 {
		return "node holds"
	}
	return fmt.Sprintf("%d nodes hold", n)
}

// freeAmounts returns the cpu and memory of a node beside the amounts that are taken.
func freeAmounts(c ir.Capacity, taken []ir.Amount) []ir.Amount {
	out := ir.SumAmounts(nil, c.PerNode)
	for i := range out {
		out[i].Quantity.Sub(ir.AmountOf(taken, out[i].Resource))
	}
	return out
}

// leavesThird reports whether requests leave a third or more of each free amount.
func leavesThird(requests, free []ir.Amount) bool {
	return !slices.ContainsFunc(free, func(a ir.Amount) bool {
		used := ir.AmountOf(requests, a.Resource)
		used.Mul(3)
		most := a.Quantity.DeepCopy()
		most.Mul(2)
		return used.Cmp(most) > 0
	})
}
