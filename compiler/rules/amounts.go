package rules

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Amounts of cpu and memory in the words of findings.

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

// writePerAccelerator returns the advice to write amounts of cpu and memory for each
// accelerator of a capacity.
func writePerAccelerator(c ir.Capacity, share []ir.Amount) string {
	return fmt.Sprintf("write hardware: %q: perAccelerator: {cpu: %s, memory: %q}", c.Hardware,
		words.Decimal(share[0].Quantity), share[1].Quantity.String())
}

// relatedPods adds references to the requests of workloads.
func relatedPods(templates []string) option {
	var out []option
	for _, name := range templates {
		out = append(out, see(at("workloads", name, "perPod"), "the requests of each pod"))
	}
	return together(out...)
}
