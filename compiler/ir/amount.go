package ir

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/words"
)

// AmountOf returns a copy of the quantity of a resource, or 0 if the list does not have
// the resource.
func AmountOf(amounts []Amount, resourceName string) resource.Quantity {
	for _, a := range amounts {
		if a.Resource == resourceName {
			return a.Quantity.DeepCopy()
		}
	}
	return resource.Quantity{}
}

// Unit returns the name of one unit of a resource: "CPU", "GPU" or "TPU chip". For
// any other resource it returns the resource's own name.
func Unit(resourceName string) string {
	switch resourceName {
	case CPU:
		return "CPU"
	case GPU:
		return "GPU"
	case TPU:
		return "TPU chip"
	}
	return resourceName
}

// PrintQuantity returns a quantity of a resource without its unit: memory, and what is written
// in powers of two, in the notation of Kubernetes, any other resource as a decimal number.
func PrintQuantity(resourceName string, q resource.Quantity) string {
	if resourceName == Memory || q.Format == resource.BinarySI {
		return q.String()
	}
	return words.Decimal(q)
}

// PrintAmount returns a quantity of a resource with its unit: "4 GPUs", "10Gi of
// memory". A resource without a unit is printed with the resource's name after the
// number.
func PrintAmount(resourceName string, q resource.Quantity) string {
	switch resourceName {
	case Memory:
		return PrintQuantity(resourceName, q) + " of memory"
	case CPU, GPU, TPU:
		return words.Amount(q, Unit(resourceName))
	}
	return PrintQuantity(resourceName, q) + " " + resourceName
}

// SumAmounts returns the sums of two lists of amounts, by resource.
func SumAmounts(a, b []Amount) []Amount {
	out := slices.Clone(a)
	for _, add := range b {
		i := slices.IndexFunc(out, func(have Amount) bool { return have.Resource == add.Resource })
		if i < 0 {
			out = append(out, Amount{Resource: add.Resource})
			i = len(out) - 1
		}
		quantity := out[i].Quantity.DeepCopy()
		quantity.Add(add.Quantity)
		out[i].Quantity = quantity
	}
	return out
}

// PrintAlike returns quantities of a resource as PrintQuantity does, but all in one
// unit, so that a reader can compare them. It converts memory in different units to
// GiB, with as few decimals as distinguish the quantities.
func PrintAlike(resourceName string, quantities ...resource.Quantity) []string {
	var out, units []string
	for _, q := range quantities {
		printed := PrintQuantity(resourceName, q)
		out = append(out, printed)
		if unit := strings.TrimLeft(printed, "-.0123456789"); !q.IsZero() && !slices.Contains(units, unit) {
			units = append(units, unit)
		}
	}
	if resourceName != Memory || len(units) < 2 {
		return out
	}
	const most = 6 // decimals, which distinguish kilobytes
	for decimals := 1; decimals <= most; decimals++ {
		for i, q := range quantities {
			out[i] = printGiB(q, decimals)
		}
		if areDistinct(quantities, out) {
			break
		}
	}
	return out
}

// printGiB returns a quantity of memory in GiB, with at most the given number of
// decimals.
func printGiB(q resource.Quantity, decimals int) string {
	gib := strconv.FormatFloat(q.AsApproximateFloat64()/(1<<30), 'f', decimals, 64)
	return strings.TrimSuffix(strings.TrimRight(gib, "0"), ".") + "Gi"
}

// areDistinct reports whether unequal quantities are printed differently, and no
// quantity is printed as 0 if it is not 0.
func areDistinct(quantities []resource.Quantity, printed []string) bool {
	for i, q := range quantities {
		if !q.IsZero() && printed[i] == "0Gi" {
			return false
		}
		for j := range i {
			if printed[j] == printed[i] && quantities[j].Cmp(q) != 0 {
				return false
			}
		}
	}
	return true
}
