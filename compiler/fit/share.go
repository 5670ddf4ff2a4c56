package fit

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
)

// The cpu and memory that pods can request. A pod must fit its part of a node, beside
// GKE's own pods, and its part of the quota. Otherwise the help of one finding would lead
// to the next.

// PerPod returns the most cpu and memory that each pod of a workload can request, so
// that perNode pods fit a node of a capacity and the quotas of all submissions of the
// workload admit a copy.
func (p *Platform) PerPod(all []Submission, c ir.Capacity, perNode int) []ir.Amount {
	return lower(ShareBeside(c, c.SystemPods, perNode), all, func(s Submission, name string) (resource.Quantity, bool) {
		return p.quotaOfPod(s, c.Name, name)
	})
}

// lower lowers a share of cpu and memory to the parts that submissions have of their
// quotas, if these are known.
func lower(share []ir.Amount, all []Submission, part func(Submission, string) (resource.Quantity, bool)) []ir.Amount {
	for i, a := range share {
		for _, s := range all {
			if most, known := part(s, a.Resource); known && most.Cmp(share[i].Quantity) < 0 {
				share[i].Quantity = Floor(a.Resource, most)
			}
		}
	}
	return share
}

// LimitsPods reports whether the quota of a capacity limits the cpu of each pod of a copy.
func (p *Platform) LimitsPods(s Submission, capacity string) bool {
	_, known := p.quotaOfPod(s, capacity, ir.CPU)
	return known
}

// quotaOfPod returns the part of each pod of a copy in the quota of a capacity: the
// part of its accelerators, so that a queue can use all of them, or otherwise an equal
// part. It reports false if the quota does not limit the resource, and if the quota of
// accelerators is too small in the first place.
func (p *Platform) quotaOfPod(s Submission, capacity, name string) (resource.Quantity, bool) {
	quota, found := s.QuotaOn(capacity)
	if !p.perCapacity() || !found || !slices.Contains(s.Workload.Capacities, capacity) {
		return resource.Quantity{}, false
	}
	reachable, requests := p.reachable(s, quota), s.Workload.Requests
	if n := len(requests); n > 2 { // cpu, memory and accelerators
		if _, ok := within(requests[2:], s.Workload.Pods, reachable); !ok {
			return resource.Quantity{}, false
		}
		part := p.PerUnit(s, quota, name, requests[2].Resource)
		part.Mul(requests[2].Quantity.Value())
		return part, true
	}
	most, known := reachable(name)
	return divide(most, int64(s.Workload.Pods)), known
}

// PerGPU returns the most cpu and memory for each GPU of a pod, so that pods use all
// GPUs of a node, and all GPUs of the quotas of these submissions.
func (p *Platform) PerGPU(all []Submission, c ir.Capacity) []ir.Amount {
	node := ShareBeside(c, c.SystemPods, c.Machine.AcceleratorCount)
	return lower(node, all, func(s Submission, name string) (resource.Quantity, bool) {
		quota, found := s.QuotaOn(c.Name)
		if !p.perCapacity() || !found {
			return resource.Quantity{}, false
		}
		most := p.PerUnit(s, quota, name, c.Machine.Resource)
		return most, most.Sign() > 0
	})
}

// EvenGPUs returns the numbers of GPUs of a pod that divide the GPUs of a node. If the
// nodes and the quotas hold all submissions with some of these numbers and unchanged cpu
// and memory, it returns only these numbers and true.
func (p *Platform) EvenGPUs(all []Submission, c ir.Capacity) (numbers []int, enough bool) {
	var held []int
	for n := 1; n <= c.Machine.AcceleratorCount; n++ {
		if c.Machine.AcceleratorCount%n != 0 {
			continue
		}
		numbers = append(numbers, n)
		if !slices.ContainsFunc(all, func(s Submission) bool { return !p.holdsWith(s, c, n) }) {
			held = append(held, n)
		}
	}
	if len(held) == 0 {
		return numbers, false
	}
	return held, true
}

// holdsWith reports whether a capacity and its quota hold a copy if each pod requests
// another number of GPUs.
func (p *Platform) holdsWith(s Submission, c ir.Capacity, gpus int) bool {
	perNode := c.Machine.AcceleratorCount / gpus
	if Exceeds(s.Workload.Requests, ShareBeside(c, c.SystemPods, perNode)) ||
		s.Workload.NodesPerCopy(perNode) > c.MaxNodes {
		return false
	}
	quota, found := s.QuotaOn(c.Name)
	if !p.perCapacity() || !found {
		return true
	}
	requests := slices.Clone(s.Workload.Requests)
	for j, a := range requests {
		if a.Resource == c.Machine.Resource {
			requests[j].Quantity = *resource.NewQuantity(int64(gpus), resource.DecimalSI)
		}
	}
	_, ok := within(requests, s.Workload.Pods, p.reachable(s, quota))
	return ok
}

// Larger is a share of cpu and memory for each accelerator of quota with which pods fit.
type Larger struct {
	Share []ir.Amount
	// PerPod is the most that each pod can then request. Shrinks reports whether the pods
	// request more.
	PerPod  []ir.Amount
	Shrinks bool
}

// LargerShare returns the share that gives pods with these requests, of which a node
// holds perNode, enough cpu and memory. share is the present share. It reports false if a
// node does not have so much for each accelerator.
func LargerShare(requests []ir.Amount, c ir.Capacity, perNode int, share []ir.Amount) (Larger, bool) {
	most := ShareBeside(c, c.SystemPods, perNode)
	units := ir.AmountOf(requests, c.Machine.Resource)
	if units.IsZero() {
		return Larger{}, false
	}
	shrinks := Exceeds(requests, most)
	for i, a := range most {
		total := ir.AmountOf(requests, a.Resource)
		if total.Cmp(a.Quantity) > 0 {
			total = a.Quantity.DeepCopy()
		}
		limit := divide(ir.AmountOf(c.PerNode, a.Resource), int64(c.Machine.AcceleratorCount))
		if needed := ceil(a.Resource, total, units.Value(), limit); needed.Cmp(share[i].Quantity) > 0 {
			share[i].Quantity = needed
		}
		if share[i].Quantity.Cmp(limit) > 0 {
			return Larger{}, false
		}
		of := share[i].Quantity.DeepCopy()
		if of.Mul(units.Value()); of.Cmp(a.Quantity) < 0 {
			most[i].Quantity = Floor(a.Resource, of)
		}
	}
	return Larger{share, most, shrinks}, true
}
