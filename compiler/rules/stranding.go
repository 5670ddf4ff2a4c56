package rules

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/batchwright/batchwright/compiler/fit"
	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// Nodes without accelerators of which the pods leave a part idle. Jobs of many sizes
// fill a node well enough, so a part that is idle is reported only if every workload
// leaves it, and only if it is large: a third of a node, or a quarter of the guarantees.

// idleParts reports nodes of which no workload can use a part.
func idleParts(r *report) {
	idleAccelerators(r)
	idleCPUs(r)
}

// idleCPUs reports capacities without accelerators whose nodes hold so few pods of the
// workloads that a large part of each node is idle, or that Kueue admits many more pods
// than the nodes hold.
func idleCPUs(r *report) {
	if !r.Plan.Scheduler.Facts().QuotaPerCapacity {
		return
	}
	uses := r.fit.CPUUses()
	unknown := r.fit.UnknownJobs(uses)
	for _, name := range sortedKeys(uses) {
		c, use := r.fit.Named[name], uses[name]
		if _, over := fit.FirstExcess(c); use.Unclear || unknown[name] || over || c.Emptied() || fit.LacksSize(c) {
			continue
		}
		free := fit.Free(c, c.SystemPods)
		perNode := c.PodsPerNode(use.Least, c.SystemPods...)
		admitted, held := use.Admitted(), perNode*c.MaxNodes
		message := ""
		switch {
		case 4*held <= 3*admitted:
			message = say("the guarantees on %q admit %s at once, but its %s at most %d",
				name, words.Count(admitted, "pod"), holdNodes(c.MaxNodes), held)
		case perNode == 1 && leavesThird(use.Most, free):
			message = say("each node of %q holds only one pod, and at least a third of the "+
				"node stays idle", name)
		default:
			continue
		}
		r.addKey(at("capacity", name), message, relatedPods(use.Templates),
			label("each node has %s for pods; a pod requests at most %s", printAmounts(free), printAmounts(use.Most)),
			helpOrAccept("if jobs outside the blueprint use the rest",
				"request at most %s for each pod, so that %d fit a node, or choose another machine type",
				printAmounts(fit.ShareBeside(c, c.SystemPods, perNode+1)), perNode+1))
	}
}

// holdNodes returns a number of nodes with the verb "hold".
func holdNodes(n int) string {
	if n == 1 {
		return "node holds"
	}
	return fmt.Sprintf("%d nodes hold", n)
}

// leavesThird reports whether requests leave a third or more of each free amount.
func leavesThird(requests, free []ir.Amount) bool {
	return !slices.ContainsFunc(free, func(a ir.Amount) bool {
		used := ir.AmountOf(requests, a.Resource)
		used.Mul(3)
		most := a.Quantity.DeepCopy()
		most.Mul(2)
		return used.Cmp(most) > 0
	})
}

// idleAccelerators reports capacities of which each node has GPUs that no pod of any
// workload can use. It reports none if a tier of the capacity has no workload with
// GPUs in the blueprint, because the jobs of this tier are unknown.
func idleAccelerators(r *report) {
	uses := r.fit.GPUUses()
	for tier, t := range r.Blueprint.Tiers {
		for _, c := range t.Capacity {
			if use := uses[c]; use != nil && !use.InTier(tier) {
				delete(uses, c)
			}
		}
	}
	for _, name := range sortedKeys(uses) {
		c, use := r.fit.Named[name], uses[name]
		count, used := c.Machine.AcceleratorCount, use.MostOn(c)
		if used == 0 || used == count {
			continue
		}
		perGPU := fmt.Sprintf("at most %s for each GPU", printAmounts(r.fit.PerGPU(use.Submissions, c)))
		cure := "request " + perGPU
		if !use.Divides(count) {
			numbers, enough := r.fit.EvenGPUs(use.Submissions, c)
			cure = fmt.Sprintf("request %s for each pod", printNumbers(numbers))
			if !enough {
				cure += ", and " + perGPU
			}
			cure += ", or choose a machine type with another number of GPUs"
		}
		r.addKey(at("capacity", name),
			say("each node of %q has %d GPUs, but the pods of its workloads use at most %d of them", name, count, used),
			relatedPods(use.Templates), helpOrAccept("if jobs outside the blueprint use the other GPUs", "%s", cure))
	}
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
