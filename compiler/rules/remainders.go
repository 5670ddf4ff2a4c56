package rules

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// quotaPool is the quota of one capacity that queues exchange with each other: the
// queues of a cohort's tree, or one queue alone.
type quotaPool struct {
	queues     int
	holder     []string // path of the first queue's quota
	guaranteed int64    // sum of the nominal quotas, in accelerators
	unused     bool     // sliceQuota reports one of the queues
	// step is the greatest common divisor of what the pods of the workloads use; 0 if
	// there is no workload.
	step int64
	// jobless holds the teams that have quota and no workload, by tier.
	jobless map[[2]string]bool
	// least are the lowest requests of cpu (in thousandths) and of memory (in bytes)
	// for each GPU, among all workloads; {0, 0} without any.
	least [2]int64
	// templates are the names of the first few workloads.
	templates []string
}

// poolName identifies a pool: the cohort at the root, or a ClusterQueue without one.
type poolName struct{ group, capacity string }

// unusableQuota reports guarantees and borrowing limits of accelerators that no job can
// use.
func unusableQuota(r *report) {
	quotaRemainders(r)
	uselessLimits(r)
}

// quotaRemainders reports guarantees of accelerators of which a part can never be
// used, even if queues borrow from each other. On TPUs every workload uses whole
// slices. On GPUs the workloads of the blueprint decide: if the pods of all of them use
// a multiple of a number, nothing can use the remainder. A team without workloads can
// run anything, so its pool is not reported. sliceQuota reports single queues on TPUs.
func quotaRemainders(r *report) {
	capacities := capacitiesByName(r.Plan)
	found, order := remainderPools(r.Plan, capacities)
	guarantees, room, refused := r.guaranteesOf(), r.newPodRoom(), r.refusedCapacities()
	for _, name := range order {
		pool, c := found[name], capacities[name.capacity]
		if c.HasGPUs() && len(pool.jobless) == 0 && !lacksSize(c) && !refused[c.Name] &&
			r.reportShortShare(pool, c, room) {
			continue
		}
		step, cause := pool.remainderStep(c)
		if step == 0 {
			continue
		}
		path, related := at("capacity", c.Name), guarantees[c.Name]
		if pool.queues == 1 {
			path, related = pool.holder, nil
		}
		r.addKey(path, fmt.Sprintf("%d of the %d %s guaranteed on %q can never be used, because %s %d",
			pool.guaranteed%step, pool.guaranteed, c.CountedIn(), c.Name, cause, step),
			append(related, withHelp("change the guarantees so that their sum is a multiple of %d; if this is "+
				"intended, add %s", step, acceptSource(r.rule.Code, path)))...)
	}
}

// queueUse holds what the pods of a queue's workloads use of one capacity.
type queueUse struct {
	step    int64           // the greatest common divisor, in accelerators
	teams   map[string]bool // teams with such a workload
	waiting bool            // copyFitsQuota reports one of the workloads
}

// uselessLimits reports limits up to which a queue borrows accelerators, and which are
// too low for one more pod. On TPUs a workload uses whole slices; on GPUs the workloads
// of the queue decide. If a team of the queue has no workload there, its jobs can have
// any size. Other rules report a queue that can borrow nothing, or less than its limit.
func uselessLimits(r *report) {
	pool, uses, teams := r.lent(), r.queueUses(), queueTeams(r.Plan)
	r.eachBorrower(func(b borrower) {
		c := b.capacity
		i := slices.IndexFunc(b.quotas, func(q ir.ResourceQuota) bool { return q.Resource == c.CountedIn() })
		if i < 0 || b.quotas[i].Borrowing == nil || !c.HasAccelerators() {
			return
		}
		step, cause := int64(0), "every pod of its workloads there uses a multiple of"
		if use := uses[[2]string{b.queue, c.Name}]; use != nil && !use.waiting && len(use.teams) == teams[b.queue] {
			step = use.step
		}
		own, more := b.quotas[i].Nominal.Value(), b.quotas[i].Borrowing.Value()
		if c.HasTPUs() && c.Machine.Slice != nil {
			step, cause = int64(c.Machine.Slice.Chips), "a slice has"
			if own+more < step {
				return // sliceQuota reports it
			}
		}
		others := pool.ByOthers(b.cohort, c.Name, b.quotas[i])
		if step < 2 || more > others.Value() || (own+more)/step > own/step {
			return
		}
		cure := "remove borrow"
		if enough := step - own%step; enough <= others.Value() {
			cure = fmt.Sprintf("write borrow: %d, or remove it", enough)
		}
		r.add(b.path, fmt.Sprintf("no job of %s can use the %d %s that it may borrow on %q, because %s %d", b.who, more,
			c.CountedIn(), c.Name, cause, step),
			withLabel("beside a guarantee of %d", own),
			withHelp("%s; if this is intended, add %s", cure, acceptSource(r.rule.Code, b.path)))
	})
}

// queueUses returns the use of each capacity with accelerators, by ClusterQueue and
// capacity.
func (r *report) queueUses() map[[2]string]*queueUse {
	out := map[[2]string]*queueUse{}
	capacities, pool := capacitiesByName(r.Plan), r.lent()
	all := r.firstCopies()
	for _, name := range sortedKeys(all) {
		for _, s := range all[name] {
			_, admitted := canAdmit(s, capacities, pool)
			for _, capacity := range s.workload.Capacities {
				c := capacities[capacity]
				if !c.HasAccelerators() {
					continue
				}
				key := [2]string{s.queue.ClusterQueue, capacity}
				if out[key] == nil {
					out[key] = &queueUse{teams: map[string]bool{}}
				}
				needed := ir.AmountOf(s.workload.Requests, c.CountedIn())
				out[key].step = commonDivisor(out[key].step, needed.Value())
				out[key].teams[s.team.Name] = true
				out[key].waiting = out[key].waiting || !admitted
			}
		}
	}
	return out
}

// queueTeams returns the number of teams that use each ClusterQueue.
func queueTeams(p *ir.Platform) map[string]int {
	out := map[string]int{}
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			out[q.ClusterQueue]++
		}
	}
	return out
}

// remainderStep returns the number that divides what every job uses of a capacity, and
// the beginning of the sentence that says why. It returns 0 if it divides the guarantees
// too, or if the jobs or the number are unknown.
func (pool *quotaPool) remainderStep(c ir.Capacity) (step int64, cause string) {
	step, cause = pool.step, "every pod of the workloads there uses a multiple of"
	if c.HasTPUs() {
		step, cause = int64(c.Machine.Slice.Chips), "a slice has"
	}
	switch {
	case step < 2, pool.guaranteed < step, pool.guaranteed%step == 0, lacksSize(c):
		return 0, ""
	case c.HasTPUs() && (pool.queues == 1 || pool.unused):
		return 0, ""
	case !c.HasTPUs() && (len(pool.jobless) > 0 || int64(c.Machine.AcceleratorCount)%step != 0):
		return 0, "" // the pods leave a part of each node unused anyway
	}
	return step, cause
}

// remainderCapacities returns the capacities that quotaRemainders reports.
func (r *report) remainderCapacities() map[string]bool {
	capacities, out := capacitiesByName(r.Plan), map[string]bool{}
	found, order := remainderPools(r.Plan, capacities)
	for _, name := range order {
		if step, _ := found[name].remainderStep(capacities[name.capacity]); step > 0 {
			out[name.capacity] = true
		}
	}
	return out
}

// reportShortShare reports a pool whose cpu or memory runs out before its GPUs, and
// reports whether it is such a pool: every pod requests more for each GPU than the
// quota has for each GPU. If the nodes have no more either, idleAccelerators reports
// them.
func (r *report) reportShortShare(pool *quotaPool, c ir.Capacity, room podRoom) bool {
	node, count := shareBeside(c, room.taken(c), c.Machine.AcceleratorCount), int64(c.Machine.AcceleratorCount)
	gpus := ir.AmountOf(c.Guaranteed, c.Machine.Resource)
	if gpus.IsZero() || pool.guaranteed == 0 || pool.step == 0 {
		return false
	}
	var share, needed []ir.Amount
	used := pool.guaranteed
	for i, a := range node {
		of := divideAmount(ir.AmountOf(c.Guaranteed, a.Resource), gpus.Value())
		need := *resource.NewMilliQuantity(pool.least[i], resource.DecimalSI)
		if a.Resource == ir.Memory {
			need = *resource.NewQuantity(pool.least[i], resource.BinarySI)
		}
		free := ir.AmountOf(c.PerNode, a.Resource)
		free.Sub(ir.AmountOf(room.taken(c), a.Resource))
		if need.Cmp(divideAmount(free, count)) > 0 {
			return false
		}
		if need.Cmp(of) > 0 {
			total := of.DeepCopy()
			total.Mul(pool.guaranteed)
			used = min(used, int64(ir.TimesWithin([]ir.Amount{{Resource: a.Resource, Quantity: total}},
				[]ir.Amount{{Resource: a.Resource, Quantity: need}})))
		}
		limit := divideAmount(ir.AmountOf(c.PerNode, a.Resource), count)
		if need = ceilShare(a.Resource, need, 1, limit); need.Cmp(of) < 0 {
			need = of
		}
		if of.Cmp(a.Quantity) > 0 {
			of = a.Quantity
		}
		share = append(share, ir.Amount{Resource: a.Resource, Quantity: floorAmount(a.Resource, of)})
		needed = append(needed, ir.Amount{Resource: a.Resource, Quantity: need})
	}
	if used = used / pool.step * pool.step; pool.guaranteed-used < pool.step {
		return false
	}
	path := at("capacity", c.Name)
	if pool.queues == 1 {
		path = pool.holder
	}
	options := []option{withHelp("request at most %s for each GPU, or write hardware: %q: perAccelerator: {cpu: %s, "+
		"memory: %q}; if this is intended, add %s", printAmounts(share), c.Hardware,
		words.Decimal(needed[0].Quantity), needed[1].Quantity.String(), acceptSource(r.rule.Code, path))}
	for _, w := range pool.templates {
		options = append(options, withRelated(at("workloads", w, "perPod"), "the requests of each pod"))
	}
	r.addKey(path, fmt.Sprintf("%d of the %d %s guaranteed on %q can never be used, because every pod requests more "+
		"cpu or memory for each GPU than the quota has", pool.guaranteed-used, pool.guaranteed, c.CountedIn(), c.Name),
		options...)
	return true
}

// refusedCapacities returns the capacities whose quota does not admit some workload.
// copyFitsQuota reports most of these workloads.
func (r *report) refusedCapacities() map[string]bool {
	refused, pool := map[string]bool{}, r.lent()
	for _, copies := range r.firstCopies() {
		for _, s := range copies {
			for _, f := range s.usableQuotas() {
				_, ok := fitsAmounts(s.workload.Requests, int64(s.workload.Pods), reachableQuota(s, f, pool))
				refused[f.Flavor] = refused[f.Flavor] || !ok
			}
		}
	}
	return refused
}

// remainderPools returns the pools of all capacities with accelerators, and their
// names in the order of the queues.
func remainderPools(p *ir.Platform, capacities map[string]ir.Capacity) (map[poolName]*quotaPool, []poolName) {
	root := p.RootCohorts()
	found, order := map[poolName]*quotaPool{}, []poolName(nil)
	groups := map[string]string{} // by ClusterQueue
	for q, teams := range p.ClusterQueues() {
		group := "queue " + q.ClusterQueue
		if q.Cohort != "" {
			group = "cohort " + root[q.Cohort]
		}
		groups[q.ClusterQueue] = group
		for _, f := range q.Flavors {
			c := capacities[f.Flavor]
			if !c.HasAccelerators() || c.HasTPUs() && c.Machine.Slice == nil {
				continue
			}
			name := poolName{group, f.Flavor}
			if found[name] == nil {
				found[name] = &quotaPool{jobless: map[[2]string]bool{}}
				order = append(order, name)
			}
			if found[name].addQuota(f, c, pathBelow(queueQuota(q, teams), f.Flavor)) {
				for _, team := range teams {
					found[name].jobless[[2]string{team.Name, q.Tier}] = true
				}
			}
		}
	}
	queues := map[[2]string]ir.Queue{} // by team and LocalQueue
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			queues[[2]string{t.Name, q.LocalQueue}] = q
		}
	}
	for _, w := range p.Workloads {
		queue := queues[[2]string{w.Team, w.Queue}]
		for _, capacity := range w.Capacities {
			if pool := found[poolName{groups[queue.ClusterQueue], capacity}]; pool != nil {
				delete(pool.jobless, [2]string{w.Team, queue.Tier})
				needed := ir.AmountOf(w.Requests, capacities[capacity].CountedIn())
				pool.step = commonDivisor(pool.step, needed.Value())
				pool.addRequests(w, needed.Value())
			}
		}
	}
	return found, order
}

// addRequests adds the requests of a workload whose pods have a number of
// accelerators.
func (pool *quotaPool) addRequests(w ir.Workload, accelerators int64) {
	if accelerators == 0 {
		return
	}
	cpu, memory := ir.AmountOf(w.Requests, ir.CPU), ir.AmountOf(w.Requests, ir.Memory)
	now := [2]int64{cpu.MilliValue() / accelerators, memory.Value() / accelerators}
	if len(pool.templates) > 0 {
		now = [2]int64{min(now[0], pool.least[0]), min(now[1], pool.least[1])}
	}
	pool.least = now
	const most = 3
	if len(pool.templates) < most && !slices.Contains(pool.templates, w.Template) {
		pool.templates = append(pool.templates, w.Template)
	}
}

// addQuota adds the quota of one more queue, and reports whether the queue has any.
func (pool *quotaPool) addQuota(f ir.FlavorQuota, c ir.Capacity, path []string) bool {
	added := false
	for _, q := range f.Quotas {
		if q.Resource != c.CountedIn() {
			continue
		}
		own := q.Nominal.Value()
		if own == 0 && !q.Borrows() {
			continue
		}
		if pool.queues++; pool.queues == 1 {
			pool.holder = path
		}
		added = true
		pool.guaranteed += own
		if c.HasTPUs() && !q.BorrowsAll {
			chips, most := int64(c.Machine.Slice.Chips), own
			if q.Borrowing != nil {
				most += q.Borrowing.Value()
			}
			pool.unused = pool.unused || most < chips || !q.Borrows() && own%chips != 0
		}
	}
	return added
}

// commonDivisor returns the greatest common divisor of two numbers.
func commonDivisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
