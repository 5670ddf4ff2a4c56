package rules

import (
	"fmt"

	"github.com/batchwright/batchwright/compiler/ir"
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
}

// poolName identifies a pool: the cohort at the root, or a ClusterQueue without one.
type poolName struct{ group, capacity string }

// quotaRemainders reports guarantees of accelerators of which a part can never be
// used, even if queues borrow from each other. On TPUs every workload uses whole
// slices. On GPUs the workloads of the blueprint decide: if the pods of all of them use
// a multiple of a number, nothing can use the remainder. A team without workloads can
// run anything, so its pool is not reported. sliceQuota reports single queues on TPUs.
func quotaRemainders(r *report) {
	capacities := capacitiesByName(r.Plan)
	found, order := remainderPools(r.Plan, capacities)
	guarantees := r.guaranteesOf()
	for _, name := range order {
		pool, c := found[name], capacities[name.capacity]
		step, cause := pool.step, "every pod of the workloads there uses a multiple of"
		if c.HasTPUs() {
			step, cause = int64(c.Machine.Slice.Chips), "a slice has"
		}
		switch {
		case step < 2, pool.guaranteed < step, pool.guaranteed%step == 0, lacksSize(c):
			continue
		case c.HasTPUs() && (pool.queues == 1 || pool.unused):
			continue
		case !c.HasTPUs() && (len(pool.jobless) > 0 || int64(c.Machine.AcceleratorCount)%step != 0):
			continue // the pods leave a part of each node unused anyway
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
			}
		}
	}
	return found, order
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
