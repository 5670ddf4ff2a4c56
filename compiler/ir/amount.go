package ir

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/words"
)

// Unit returns the name of one unit of a resource: "CPU", "GPU" or "TPU chip".
// Any other resource is its own unit.
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

// PrintQuantity returns a quantity of a resource without its unit: memory as
// Kubernetes writes it, and anything else as a decimal number.
func PrintQuantity(resourceName string, q resource.Quantity) string {
	if resourceName == Memory {
		return q.String()
	}
	return words.Decimal(q)
}

// PrintAmount returns a quantity of a resource with its unit: "4 GPUs",
// "10Gi of memory". A resource without a unit follows as it is named.
func PrintAmount(resourceName string, q resource.Quantity) string {
	switch resourceName {
	case Memory:
		return PrintQuantity(resourceName, q) + " of memory"
	case CPU, GPU, TPU:
		return words.Amount(q, Unit(resourceName))
	}
	return PrintQuantity(resourceName, q) + " " + resourceName
}
