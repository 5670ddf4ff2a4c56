package fit

import (
	"fmt"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
)

// reachable offers the most of each resource that a queue can ever have of one capacity,
// including everything that it could borrow.
func (p *Platform) reachable(s Submission, f ir.FlavorQuota) offer {
	return func(name string) (resource.Quantity, bool) {
		i := slices.IndexFunc(f.Quotas, func(q ir.ResourceQuota) bool { return q.Resource == name })
		if i < 0 {
			return resource.Quantity{}, false
		}
		return p.lent().Most(s.Queue.Cohort, f.Flavor, f.Quotas[i]), true
	}
}

// Admits reports whether a copy fits a quota, including everything that the queue could
// borrow. If not, short names the resource that is too scarce.
func (p *Platform) Admits(s Submission, f ir.FlavorQuota) (short string, ok bool) {
	return within(s.Workload.Requests, s.Workload.Pods, p.reachable(s, f))
}

// PerUnit returns the amount of a resource in one unit of quota that a submission can use.
func (p *Platform) PerUnit(s Submission, f ir.FlavorQuota, name, unit string) resource.Quantity {
	reachable := p.reachable(s, f)
	total, _ := reachable(name)
	units, _ := reachable(unit)
	return divide(total, max(1, units.Value()))
}

// CanAdmit reports whether a copy fits its quota on a capacity whose nodes can run its
// pods. It also reports true for a capacity that has been emptied, for which the copy
// waits, and if no node can run a pod. short says, for each capacity, what is missing.
func (p *Platform) CanAdmit(s Submission) (short []string, ok bool) {
	anyNode := false
	for _, f := range s.Quotas() {
		if _, ok := OnNode(s.Workload.Requests, p.Named[f.Flavor]); !ok {
			continue
		}
		anyNode = true
		if waits(p.Named[f.Flavor]) {
			return nil, true
		}
		lack, ok := p.Admits(s, f)
		if ok {
			return nil, true
		}
		short = append(short, fmt.Sprintf("%s: %s", f.Flavor, lack))
	}
	return short, !anyNode
}

// CanStart reports whether a copy of a workload can ever start with a scheduler that
// counts the GPUs of all capacities together: all its GPUs must be available at the same
// time, within the limit of its queue and within the platform's total. If not, short says
// what is missing. A capacity without nodes or without a valid size counts as startable.
func (p *Platform) CanStart(s Submission) (short []string, ok bool) {
	var most, all resource.Quantity
	unlimited := false
	for _, f := range s.Queue.Flavors {
		for _, q := range f.Quotas {
			if q.Resource != ir.GPU {
				continue
			}
			most.Add(q.Nominal)
			if p.NonPreemptible(s.Workload.PriorityClass) {
				continue // a non-preemptible job never gets more than the guarantee
			}
			unlimited = unlimited || q.BorrowsAll
			if q.Borrowing != nil {
				most.Add(*q.Borrowing)
			}
		}
	}
	for _, name := range s.Workload.Capacities {
		c := p.Named[name]
		if waits(c) {
			return nil, true
		}
		all.Add(*resource.NewQuantity(int64(c.MaxNodes*c.Machine.AcceleratorCount), resource.DecimalSI))
	}
	if unlimited || all.Cmp(most) < 0 {
		most = all
	}
	gpus := slices.DeleteFunc(slices.Clone(s.Workload.Requests), func(a ir.Amount) bool { return a.Resource != ir.GPU })
	lack, ok := within(gpus, s.Workload.Pods, func(string) (resource.Quantity, bool) { return most, true })
	return []string{lack}, ok
}

// WithinTotals reports whether a scheduler that counts GPUs in total finds enough of them.
func (p *Platform) WithinTotals(s Submission) bool {
	if p.perCapacity() {
		return true
	}
	_, ok := p.CanStart(s)
	return ok
}

// RefusingCapacities returns the capacities whose quota does not admit some workload.
func (p *Platform) RefusingCapacities() map[string]bool {
	refusing := map[string]bool{}
	for s := range p.Submissions().Each() {
		for _, f := range s.Quotas() {
			_, ok := p.Admits(s, f)
			refusing[f.Flavor] = refusing[f.Flavor] || !ok
		}
	}
	return refusing
}

// Excess is a resource of which a capacity guarantees more than it ever holds.
type Excess struct {
	Resource         string
	Guaranteed, Held resource.Quantity
}

// FirstExcess returns the first resource of which a capacity guarantees more than it
// ever holds, and reports whether there is one. Accelerators come first, because
// people count in them.
func FirstExcess(c ir.Capacity) (Excess, bool) {
	order := slices.Clone(c.PerNode)
	if n := len(order); c.HasAccelerators() {
		order = append(order[n-1:n:n], order[:n-1]...)
	}
	for _, perNode := range order {
		held := c.OfferedBy(c.MaxNodes, perNode.Resource)
		if guaranteed := ir.AmountOf(c.Guaranteed, perNode.Resource); guaranteed.Cmp(held) > 0 {
			return Excess{perNode.Resource, guaranteed, held}, true
		}
	}
	return Excess{}, false
}

// exceedsNodes reports whether a copy of a workload requests more of a resource than
// all nodes of a capacity have together, so that the quota exceeds the nodes too.
func exceedsNodes(c ir.Capacity, w ir.Workload) bool {
	if _, over := FirstExcess(c); !over {
		return false
	}
	_, ok := within(w.Requests, w.Pods, func(name string) (resource.Quantity, bool) {
		return c.OfferedBy(c.MaxNodes, name), true
	})
	return !ok
}

// Borrower is a queue's quota on a capacity with a borrowing limit above 0.
type Borrower struct {
	Queue    *ir.Queue
	Teams    []ir.SharingTeam // that use the queue
	Capacity ir.Capacity
	Quotas   []ir.ResourceQuota
}

// Borrowers yields every quota that can borrow. It omits capacities without nodes for
// the time being.
func (p *Platform) Borrowers() iter.Seq[Borrower] {
	return func(yield func(Borrower) bool) {
		for q, teams := range p.ClusterQueues() {
			for _, f := range q.Flavors {
				if c := p.Named[f.Flavor]; f.Borrows() && !c.Emptied() && !yield(Borrower{q, teams, c, f.Quotas}) {
					return
				}
			}
		}
	}
}

// Counted returns the quota of the resource in which quota of the capacity is counted, and
// reports whether it has a borrowing limit.
func (b Borrower) Counted() (own ir.ResourceQuota, limited bool) {
	for _, q := range b.Quotas {
		if q.Resource == b.Capacity.CountedIn() {
			return q, q.Borrowing != nil
		}
	}
	return ir.ResourceQuota{}, false
}

// LentBy returns what the other queues under the root of the cohort lend of a resource.
func (p *Platform) LentBy(b Borrower, own ir.ResourceQuota) resource.Quantity {
	return p.lent().ByOthers(b.Queue.Cohort, b.Capacity.Name, own)
}
