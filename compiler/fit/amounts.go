package fit

import (
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
)

// offer returns the amount of a resource that something offers, and reports whether it
// offers the resource.
type offer func(resourceName string) (resource.Quantity, bool)

// within reports whether times copies of the requests are within an offer. If not, short
// names the resource that is too scarce.
func within(requests []ir.Amount, times int, offered offer) (short string, ok bool) {
	for _, a := range slices.Backward(requests) {
		need := a.Quantity.DeepCopy()
		need.Mul(int64(times))
		have, known := offered(a.Resource)
		if !known || need.Cmp(have) > 0 {
			printed := ir.PrintAlike(a.Resource, need, have)
			return fmt.Sprintf("need %s %s, have %s", printed[0], a.Resource, printed[1]), false
		}
	}
	return "", true
}

// OnNode reports whether a pod fits an empty node of a capacity. If not, short names the
// resource that is too scarce.
func OnNode(requests []ir.Amount, c ir.Capacity) (short string, ok bool) {
	return within(requests, 1, func(name string) (resource.Quantity, bool) {
		offers := slices.ContainsFunc(c.PerNode, func(a ir.Amount) bool { return a.Resource == name })
		return ir.AmountOf(c.PerNode, name), offers
	})
}

// Taken returns the amounts that other pods take on each node of a capacity.
type Taken func(ir.Capacity) []ir.Amount

// Nothing is taken on an empty node.
func Nothing(ir.Capacity) []ir.Amount { return nil }

// SystemPods are the amounts that GKE's own pods take.
func SystemPods(c ir.Capacity) []ir.Amount { return c.SystemPods }

// CPUAndMemory returns amounts of cpu and memory.
func CPUAndMemory(milliCPU, memoryMiB int64) []ir.Amount {
	return []ir.Amount{
		{Resource: ir.CPU, Quantity: *resource.NewMilliQuantity(milliCPU, resource.DecimalSI)},
		{Resource: ir.Memory, Quantity: *resource.NewQuantity(memoryMiB<<20, resource.BinarySI)},
	}
}

// Free returns the amounts of a node beside the amounts that are taken.
func Free(c ir.Capacity, taken []ir.Amount) []ir.Amount {
	out := ir.SumAmounts(nil, c.PerNode)
	for i := range out {
		out[i].Quantity.Sub(ir.AmountOf(taken, out[i].Resource))
	}
	return out
}

// ShareBeside returns the cpu and memory that each of a number of pods can request
// on a node beside the amounts that are taken. It rounds down, which leaves a margin.
func ShareBeside(c ir.Capacity, taken []ir.Amount, pods int) []ir.Amount {
	free := Free(c, taken)
	var out []ir.Amount
	for _, name := range []string{ir.CPU, ir.Memory} {
		share := divide(ir.AmountOf(free, name), int64(pods))
		out = append(out, ir.Amount{Resource: name, Quantity: Floor(name, share)})
	}
	return out
}

// Exceeds reports whether requests of cpu and memory are above a share of them.
func Exceeds(requests, share []ir.Amount) bool {
	return slices.ContainsFunc(share, func(a ir.Amount) bool {
		requested := ir.AmountOf(requests, a.Resource)
		return requested.Cmp(a.Quantity) > 0
	})
}

// multiply returns amounts times n.
func multiply(amounts []ir.Amount, n int) []ir.Amount {
	out := ir.SumAmounts(nil, amounts)
	for i := range out {
		out[i].Quantity.Mul(int64(n))
	}
	return out
}

// divide returns a part of a quantity, rounded down to thousandths.
func divide(q resource.Quantity, parts int64) resource.Quantity {
	if q.Value() > math.MaxInt64/1000 { // MilliValue overflows above 9 PB, which the memory of a large quota exceeds
		return *resource.NewQuantity(q.Value()/parts, q.Format)
	}
	return *resource.NewMilliQuantity(q.MilliValue()/parts, q.Format)
}

// Floor rounds cpu and memory down to amounts that people write: tenths of a vCPU and
// whole GiB. It rounds smaller amounts down to thousandths and whole MiB.
func Floor(resourceName string, q resource.Quantity) resource.Quantity {
	if resourceName == ir.Memory {
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

// ceil divides cpu or memory into parts and rounds up to an amount that people write, or
// as little as possible if the amount would exceed the limit.
func ceil(resourceName string, total resource.Quantity, parts int64, limit resource.Quantity) resource.Quantity {
	up := func(n, unit int64) int64 { return (n + unit*parts - 1) / (unit * parts) * unit }
	milli := func(unit int64) resource.Quantity {
		return *resource.NewMilliQuantity(up(total.MilliValue(), unit), resource.DecimalSI)
	}
	round, exact := milli(100), milli(1)
	if resourceName == ir.Memory {
		round = *resource.NewQuantity(up(total.Value(), 1<<30), resource.BinarySI)
		exact = *resource.NewQuantity(up(total.Value(), 1<<20), resource.BinarySI)
	}
	if round.Cmp(limit) > 0 {
		return exact
	}
	return round
}
