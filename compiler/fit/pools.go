package fit

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
)

// Pool is the quota of one capacity with accelerators that queues exchange with each
// other: the queues of a cohort's tree, or one queue alone.
type Pool struct {
	Capacity   *ir.Capacity
	Queues     int
	Queue      *ir.Queue        // the first queue
	Teams      []ir.SharingTeam // that use it
	Guaranteed int64            // sum of the nominal quotas, in accelerators, also of cohorts
	// Step is the greatest common divisor of what the pods of the workloads use; 0 if
	// there is no workload.
	Step      int64
	Templates templates
	unused    bool // the quota of one of the queues does not fit whole slices
	// jobless holds the teams that have quota and no workload, by tier.
	jobless map[[2]string]bool
	// least are the lowest requests of cpu (in thousandths) and of memory (in bytes)
	// for each GPU, among all workloads; {0, 0} without any.
	least [2]int64
}

// Jobless reports whether a team has quota and no workload, so that it can run anything.
func (pool *Pool) Jobless() bool { return len(pool.jobless) > 0 }

// Pools returns the pools of all capacities with accelerators, in the order of the queues.
func (p *Platform) Pools() []*Pool {
	type key struct{ group, capacity string } // the cohort at the root, or a ClusterQueue without one
	root, capacities := p.RootCohorts(), p.NamedCapacities()
	var out []*Pool
	found, groups := map[key]*Pool{}, map[string]string{} // groups are by ClusterQueue
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
			pool := found[key{group, f.Flavor}]
			if pool == nil {
				pool = &Pool{Capacity: c, jobless: map[[2]string]bool{}}
				found[key{group, f.Flavor}] = pool
				out = append(out, pool)
			}
			if pool.addQuota(f, q, teams) {
				for _, team := range teams {
					pool.jobless[[2]string{team.Name, q.Tier}] = true
				}
			}
		}
	}
	for _, c := range p.Cohorts {
		for _, f := range c.Flavors {
			if pool := found[key{"cohort " + root[c.Name], f.Flavor}]; pool != nil {
				pool.addOwn(f)
			}
		}
	}
	queues := p.LocalQueues()
	for _, w := range p.Workloads {
		queue := queues[[2]string{w.Team, w.Queue}]
		for _, capacity := range w.Capacities {
			if pool := found[key{groups[queue.ClusterQueue], capacity}]; pool != nil {
				delete(pool.jobless, [2]string{w.Team, queue.Tier})
				pool.addRequests(w)
			}
		}
	}
	return out
}

// addQuota adds the quota of one more queue, and reports whether the queue has any.
func (pool *Pool) addQuota(f ir.FlavorQuota, queue *ir.Queue, teams []ir.SharingTeam) bool {
	added, c := false, pool.Capacity
	for _, q := range f.Quotas {
		if q.Resource != c.CountedIn() {
			continue
		}
		own := q.Nominal.Value()
		if own == 0 && !q.Borrows() {
			continue
		}
		if pool.Queues++; pool.Queues == 1 {
			pool.Queue, pool.Teams = queue, teams
		}
		added = true
		pool.Guaranteed += own
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

// addOwn adds the quota of a cohort.
func (pool *Pool) addOwn(f ir.FlavorQuota) {
	for _, q := range f.Quotas {
		if q.Resource == pool.Capacity.CountedIn() {
			pool.Guaranteed += q.Nominal.Value()
		}
	}
}

// addRequests adds the requests of a workload.
func (pool *Pool) addRequests(w ir.Workload) {
	needed := ir.AmountOf(w.Requests, pool.Capacity.CountedIn())
	accelerators := needed.Value()
	pool.Step = commonDivisor(pool.Step, accelerators)
	if accelerators == 0 {
		return
	}
	cpu, memory := ir.AmountOf(w.Requests, ir.CPU), ir.AmountOf(w.Requests, ir.Memory)
	now := [2]int64{cpu.MilliValue() / accelerators, memory.Value() / accelerators}
	if len(pool.Templates) > 0 {
		now = [2]int64{min(now[0], pool.least[0]), min(now[1], pool.least[1])}
	}
	pool.least = now
	pool.Templates.add(w.Template)
}

// RemainderStep returns the number that divides what every job uses of the pool. It
// returns 0 if it divides the guarantees too, or if the jobs or the number are unknown.
func (pool *Pool) RemainderStep() int64 {
	c, step := pool.Capacity, pool.Step
	if c.HasTPUs() {
		step = int64(c.Machine.Slice.Chips)
	}
	switch {
	case step < 2, pool.Guaranteed < step, pool.Guaranteed%step == 0, LacksSize(*c):
		return 0
	case c.HasTPUs() && (pool.Queues == 1 || pool.unused):
		return 0
	case !c.HasTPUs() && (pool.Jobless() || int64(c.Machine.AcceleratorCount)%step != 0):
		return 0 // the pods leave a part of each node unused anyway
	}
	return step
}

// ShortShare says that the cpu or memory of a pool of GPUs runs out before its GPUs.
type ShortShare struct {
	Unused int64       // number of GPUs that no pod can use
	Share  []ir.Amount // of the quota, and of a node, for each GPU
	Needed []ir.Amount // share of the quota with which pods can use all GPUs
}

// ShortShare reports whether every pod requests more cpu or memory for each GPU than the
// quota has, although the nodes have enough.
func (pool *Pool) ShortShare() (short ShortShare, found bool) {
	c := pool.Capacity
	count, gpus := int64(c.Machine.AcceleratorCount), ir.AmountOf(c.Guaranteed, c.Machine.Resource)
	if gpus.IsZero() || pool.Guaranteed == 0 || pool.Step == 0 {
		return short, false
	}
	used, free := pool.Guaranteed, Free(*c, c.SystemPods)
	for i, a := range ShareBeside(*c, c.SystemPods, c.Machine.AcceleratorCount) {
		of := divide(ir.AmountOf(c.Guaranteed, a.Resource), gpus.Value())
		need := *resource.NewMilliQuantity(pool.least[i], resource.DecimalSI)
		if a.Resource == ir.Memory {
			need = *resource.NewQuantity(pool.least[i], resource.BinarySI)
		}
		if need.Cmp(divide(ir.AmountOf(free, a.Resource), count)) > 0 {
			return short, false
		}
		if need.Cmp(of) > 0 {
			total := of.DeepCopy()
			total.Mul(pool.Guaranteed)
			used = min(used, int64(ir.TimesWithin([]ir.Amount{{Resource: a.Resource, Quantity: total}},
				[]ir.Amount{{Resource: a.Resource, Quantity: need}})))
		}
		limit := divide(ir.AmountOf(c.PerNode, a.Resource), count)
		if need = ceil(a.Resource, need, 1, limit); need.Cmp(of) < 0 {
			need = of
		}
		if of.Cmp(a.Quantity) > 0 {
			of = a.Quantity
		}
		short.Share = append(short.Share, ir.Amount{Resource: a.Resource, Quantity: Floor(a.Resource, of)})
		short.Needed = append(short.Needed, ir.Amount{Resource: a.Resource, Quantity: need})
	}
	short.Unused = pool.Guaranteed - used/pool.Step*pool.Step
	return short, short.Unused >= pool.Step
}

// queueUse holds what the pods of a queue's workloads use of one capacity.
type queueUse struct {
	step    int64           // the greatest common divisor, in accelerators
	teams   map[string]bool // teams with such a workload
	waiting bool            // the queue cannot admit one of the workloads
}

// QueueSteps returns, by ClusterQueue and capacity with accelerators, the greatest common
// divisor of what the pods of the workloads use. It omits a queue if one of its teams has
// no workload there, whose jobs can have any size, or a workload that the queue cannot
// admit.
func (p *Platform) QueueSteps() map[[2]string]int64 {
	uses, teams := map[[2]string]*queueUse{}, map[string]int{}
	for s := range p.Submissions().Each() {
		_, admitted := p.CanAdmit(s)
		for _, capacity := range s.Workload.Capacities {
			c := p.Named[capacity]
			if !c.HasAccelerators() {
				continue
			}
			key := [2]string{s.Queue.ClusterQueue, capacity}
			if uses[key] == nil {
				uses[key] = &queueUse{teams: map[string]bool{}}
			}
			needed := ir.AmountOf(s.Workload.Requests, c.CountedIn())
			uses[key].step = commonDivisor(uses[key].step, needed.Value())
			uses[key].teams[s.Team.Name] = true
			uses[key].waiting = uses[key].waiting || !admitted
		}
	}
	for _, t := range p.Teams {
		for _, q := range t.Queues {
			teams[q.ClusterQueue]++
		}
	}
	out := map[[2]string]int64{}
	for key, use := range uses {
		if !use.waiting && len(use.teams) == teams[key[0]] {
			out[key] = use.step
		}
	}
	return out
}

// UnreachedGPUs returns the number of GPUs of a fixed number of nodes that no quota
// reaches, although every node is reached.
func UnreachedGPUs(c ir.Capacity, n ir.NodeCount) int64 {
	if !c.HasGPUs() || !c.Static || n.Standing < c.MaxNodes {
		return 0
	}
	guaranteed := ir.AmountOf(c.Guaranteed, c.CountedIn())
	return max(0, int64(c.Machine.AcceleratorCount)*int64(c.MaxNodes)-guaranteed.Value())
}

// Remainders returns the capacities with a pool whose guarantees leave a remainder.
func (p *Platform) Remainders() map[string]bool {
	out := map[string]bool{}
	for _, pool := range p.Pools() {
		if pool.RemainderStep() > 0 {
			out[pool.Capacity.Name] = true
		}
	}
	return out
}

// commonDivisor returns the greatest common divisor of two numbers.
func commonDivisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
