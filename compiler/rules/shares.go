package rules

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// The cpu and memory that findings tell a user to request. A pod must fit its part of
// a node and its part of the quota, so each help respects both. Otherwise the help of
// one finding would lead to the next.

// podRoom finds the cpu and memory that pods can request.
type podRoom struct {
	pool  ir.Lent
	taken takenFunc // by GKE's own pods
	// limited reports whether quota limits cpu and memory.
	limited bool
}

// newPodRoom returns the podRoom of the platform.
func (r *report) newPodRoom() podRoom {
	return podRoom{r.lent(), systemPods, r.Plan.Scheduler.Facts().QuotaPerCapacity}
}

// ofPods returns the most cpu and memory that each pod of a workload can request, so
// that perNode pods fit a node of a capacity and the quotas of all submissions of the
// workload admit a copy.
func (p podRoom) ofPods(all []submission, c ir.Capacity, perNode int) []ir.Amount {
	room := shareBeside(c, p.taken(c), perNode)
	for i, a := range room {
		for _, s := range all {
			if most, known := p.quotaOfPod(s, c.Name, a.Resource); known && most.Cmp(room[i].Quantity) < 0 {
				room[i].Quantity = floorAmount(a.Resource, most)
			}
		}
	}
	return room
}

// cureBeside returns the help for a workload that fits its nodes only without GKE's own
// pods. all holds the submissions of the workload.
func (p podRoom) cureBeside(all []submission, fit nodeFit) string {
	c := fit.capacity
	most, beside := p.ofPods(all, c, fit.perNode), shareBeside(c, p.taken(c), fit.perNode)
	cure := fmt.Sprintf("request at most %s for each pod, because GKE's pods start first", printAmounts(most))
	if exceedsShare(beside, most) {
		cure += ", and the quota has no more"
	}
	return cure
}

// quotaOfPod returns the part of each pod of a copy in the quota of a capacity: the
// part of its accelerators, so that a queue can use all of them, or otherwise an equal
// part. It reports false if the quota does not limit the resource, and if the quota of
// accelerators is too small in the first place.
func (p podRoom) quotaOfPod(s submission, capacity, res string) (resource.Quantity, bool) {
	quota, found := s.quotaOn(capacity)
	if !p.limited || !found || !slices.Contains(s.workload.Capacities, capacity) {
		return resource.Quantity{}, false
	}
	reachable, requests := reachableQuota(s, quota, p.pool), s.workload.Requests
	if n := len(requests); n > 2 { // cpu, memory and accelerators
		if _, ok := fitsAmounts(requests[2:], int64(s.workload.Pods), reachable); !ok {
			return resource.Quantity{}, false
		}
		part := divideQuota(s, quota, p.pool, res, requests[2].Resource)
		part.Mul(requests[2].Quantity.Value())
		return part, true
	}
	most, known := reachable(res)
	return divideAmount(most, int64(s.workload.Pods)), known
}

// ofGPUs returns the most cpu and memory for each GPU of a pod, so that pods use all
// GPUs of a node, and all GPUs of the quotas of these copies.
func (p podRoom) ofGPUs(copies []submission, c ir.Capacity) []ir.Amount {
	room := shareBeside(c, p.taken(c), c.Machine.AcceleratorCount)
	for i, a := range room {
		for _, s := range copies {
			quota, found := s.quotaOn(c.Name)
			if !p.limited || !found {
				continue
			}
			most := divideQuota(s, quota, p.pool, a.Resource, c.Machine.Resource)
			if most.Sign() > 0 && most.Cmp(room[i].Quantity) < 0 {
				room[i].Quantity = floorAmount(a.Resource, most)
			}
		}
	}
	return room
}

// evenGPUs returns the numbers of GPUs of a pod that divide the GPUs of a node, for a
// sentence. If the nodes and the quotas hold all copies with some of these numbers and
// unchanged cpu and memory, it returns only these numbers and true.
func (p podRoom) evenGPUs(copies []submission, c ir.Capacity) (numbers string, enough bool) {
	var all, held []int
	for n := 1; n <= c.Machine.AcceleratorCount; n++ {
		if c.Machine.AcceleratorCount%n != 0 {
			continue
		}
		all = append(all, n)
		if !slices.ContainsFunc(copies, func(s submission) bool { return !p.holdsWith(s, c, n) }) {
			held = append(held, n)
		}
	}
	if len(held) == 0 {
		return printNumbers(all), false
	}
	return printNumbers(held), true
}

// holdsWith reports whether a capacity and its quota hold a copy if each pod requests
// another number of GPUs.
func (p podRoom) holdsWith(s submission, c ir.Capacity, gpus int) bool {
	perNode := c.Machine.AcceleratorCount / gpus
	if exceedsShare(s.workload.Requests, shareBeside(c, p.taken(c), perNode)) ||
		s.workload.NodesPerCopy(perNode) > c.MaxNodes {
		return false
	}
	quota, found := s.quotaOn(c.Name)
	if !p.limited || !found {
		return true
	}
	requests := slices.Clone(s.workload.Requests)
	for j, a := range requests {
		if a.Resource == c.Machine.Resource {
			requests[j].Quantity = *resource.NewQuantity(int64(gpus), resource.DecimalSI)
		}
	}
	_, ok := fitsAmounts(requests, int64(s.workload.Pods), reachableQuota(s, quota, p.pool))
	return ok
}

// printNumbers returns numbers of GPUs for a sentence: "1, 2 or 4 GPUs".
func printNumbers(numbers []int) string {
	var out []string
	for _, n := range numbers {
		out = append(out, strconv.Itoa(n))
	}
	if len(numbers) == 1 {
		return words.Count(numbers[0], "GPU")
	}
	return words.Or(out) + " GPUs"
}

// divideAmount returns a part of a quantity, rounded down to thousandths.
func divideAmount(q resource.Quantity, parts int64) resource.Quantity {
	if q.Value() > math.MaxInt64/1000 { // MilliValue overflows above 9 PB, which the memory of a large quota exceeds
		return *resource.NewQuantity(q.Value()/parts, q.Format)
	}
	return *resource.NewMilliQuantity(q.MilliValue()/parts, q.Format)
}

// floorAmount rounds cpu and memory down to amounts that people write: tenths of a
// vCPU and whole GiB. It rounds smaller amounts down to thousandths and whole MiB.
func floorAmount(res string, q resource.Quantity) resource.Quantity {
	if res == ir.Memory {
		return *resource.NewQuantity(floorTo(q.Value(), 1<<30, 1<<20), resource.BinarySI)
	}
	return *resource.NewMilliQuantity(floorTo(q.MilliValue(), 100, 1), resource.DecimalSI)
}

// floorTo rounds n down to a multiple of large, or of small if n is less than large.
// It returns 0 for a negative n.
func floorTo(n, large, small int64) int64 {
	unit := large
	if n < large {
		unit = small
	}
	return max(0, n/unit*unit)
}

// shareBeside returns the cpu and memory that each of a number of pods can request
// on a node beside the amounts that are taken. It rounds down, which leaves a margin.
func shareBeside(c ir.Capacity, taken []ir.Amount, pods int) []ir.Amount {
	var out []ir.Amount
	for _, name := range []string{ir.CPU, ir.Memory} {
		free := ir.AmountOf(c.PerNode, name)
		free.Sub(ir.AmountOf(taken, name))
		out = append(out, ir.Amount{Resource: name, Quantity: floorAmount(name, divideAmount(free, int64(pods)))})
	}
	return out
}

// exceedsShare reports whether requests of cpu and memory are above a share of them.
func exceedsShare(requests, share []ir.Amount) bool {
	return slices.ContainsFunc(share, func(a ir.Amount) bool {
		requested := ir.AmountOf(requests, a.Resource)
		return requested.Cmp(a.Quantity) > 0
	})
}

// shareCure returns the help for a workload that has enough accelerators in the quotas
// of these submissions, which are of one workload and cannot be admitted, but too
// little cpu or memory. It returns "" if this is not so.
func (p podRoom) shareCure(stuck []submission, capacities map[string]ir.Capacity) string {
	first := stuck[0]
	for _, f := range first.usableQuotas() {
		c := capacities[f.Flavor]
		perNode := c.PodsPerNode(first.workload.Requests)
		if _, known := p.quotaOfPod(first, c.Name, ir.CPU); perNode == 0 || !known {
			continue
		}
		most := p.ofPods(stuck, c, perNode)
		if most[0].Quantity.IsZero() || most[1].Quantity.IsZero() {
			continue
		}
		if !c.HasAccelerators() {
			memory := []ir.Amount{
				{Resource: ir.Memory, Quantity: divideQuota(first, f, p.pool, ir.Memory, ir.CPU)},
			}
			printed := printAlike(most, memory)
			return fmt.Sprintf("request at most %s for each pod, because the quota has %s for each CPU; "+
				"or raise the quota or the borrowing limit", printed[0], printed[1])
		}
		share := []ir.Amount{
			{Resource: ir.CPU, Quantity: divideQuota(first, f, p.pool, ir.CPU, c.Machine.Resource)},
			{Resource: ir.Memory, Quantity: divideQuota(first, f, p.pool, ir.Memory, c.Machine.Resource)},
		}
		printed := printAlike(most, share)
		cure := fmt.Sprintf("request at most %s for each pod, because the quota has %s for each %s; ", printed[0],
			printed[1], ir.Unit(c.Machine.Resource))
		if larger := p.largerShare(stuck, c, perNode, share); larger != "" {
			return cure + larger
		}
		return cure + "or raise the quota or the borrowing limit"
	}
	return ""
}

// divideQuota returns the amount of a resource in one unit of quota that a submission
// can use.
func divideQuota(s submission, f ir.FlavorQuota, pool ir.Lent, res, unit string) resource.Quantity {
	reachable := reachableQuota(s, f, pool)
	total, _ := reachable(res)
	units, _ := reachable(unit)
	return divideAmount(total, max(1, units.Value()))
}

// largerShare returns the clause of a help that gives each accelerator of quota enough
// cpu and memory, "" if a node does not have so much for each accelerator. share is
// the present share.
func (p podRoom) largerShare(stuck []submission, c ir.Capacity, perNode int, share []ir.Amount) string {
	most, requests := shareBeside(c, p.taken(c), perNode), stuck[0].workload.Requests
	units := ir.AmountOf(requests, c.Machine.Resource)
	if units.IsZero() {
		return ""
	}
	shrinks := exceedsShare(requests, most)
	for i, a := range most {
		total := ir.AmountOf(requests, a.Resource)
		if total.Cmp(a.Quantity) > 0 {
			total = a.Quantity.DeepCopy()
		}
		limit := divideAmount(ir.AmountOf(c.PerNode, a.Resource), int64(c.Machine.AcceleratorCount))
		if needed := ceilShare(a.Resource, total, units.Value(), limit); needed.Cmp(share[i].Quantity) > 0 {
			share[i].Quantity = needed
		}
		if share[i].Quantity.Cmp(limit) > 0 {
			return ""
		}
		of := share[i].Quantity.DeepCopy()
		if of.Mul(units.Value()); of.Cmp(a.Quantity) < 0 {
			most[i].Quantity = floorAmount(a.Resource, of)
		}
	}
	cure := fmt.Sprintf("or write hardware: %q: perAccelerator: {cpu: %s, memory: %q}", c.Hardware,
		words.Decimal(share[0].Quantity), share[1].Quantity.String())
	if shrinks {
		cure += fmt.Sprintf(" and request at most %s for each pod", printAmounts(most))
	}
	return cure
}

// ceilShare divides cpu or memory into parts and rounds up to an amount that people
// write, or as little as possible if the amount would exceed the limit.
func ceilShare(res string, total resource.Quantity, parts int64, limit resource.Quantity) resource.Quantity {
	ceil := func(n, unit int64) int64 { return (n + unit*parts - 1) / (unit * parts) * unit }
	milli := func(unit int64) resource.Quantity {
		return *resource.NewMilliQuantity(ceil(total.MilliValue(), unit), resource.DecimalSI)
	}
	round, exact := milli(100), milli(1)
	if res == ir.Memory {
		round = *resource.NewQuantity(ceil(total.Value(), 1<<30), resource.BinarySI)
		exact = *resource.NewQuantity(ceil(total.Value(), 1<<20), resource.BinarySI)
	}
	if round.Cmp(limit) > 0 {
		return exact
	}
	return round
}

// printAmounts prints cpu and memory in a sentence.
func printAmounts(amounts []ir.Amount) string { return printAlike(amounts)[0] }

// printAlike prints several lists of cpu and memory for one sentence. Memory has the
// same unit in all of them.
func printAlike(lists ...[]ir.Amount) []string {
	var memory []resource.Quantity
	for _, amounts := range lists {
		memory = append(memory, ir.AmountOf(amounts, ir.Memory))
	}
	printed := ir.PrintAlike(ir.Memory, memory...)
	var out []string
	for i, amounts := range lists {
		var parts []string
		for _, a := range amounts {
			switch a.Resource {
			case ir.CPU:
				parts = append(parts, ir.PrintAmount(a.Resource, a.Quantity))
			case ir.Memory:
				parts = append(parts, printed[i]+" of memory")
			}
		}
		out = append(out, words.And(parts))
	}
	return out
}
