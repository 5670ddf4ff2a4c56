package report

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/words"
)

// mostWhy is the largest number of characters of a message that Reason returns unchanged.
const mostWhy = 240

// Reason says in one line why a job waited. message is the scheduler's last message about the
// wait, and by the job that preempted the job, "" for none. Reason returns a message that it
// does not know as it is.
func Reason(message, by string) string {
	switch {
	case message == "":
		return "it waited behind other jobs of its queue"
	case strings.HasPrefix(message, "Preempted to accommodate") && by != "":
		return "it was preempted for job " + by + ", and waited again"
	case strings.HasPrefix(message, "Preempted to accommodate"):
		return "it was preempted, and waited again"
	case strings.HasPrefix(message, "Exceeded the PodsReady timeout"):
		return "it lost its quota because its pods did not start in time, and waited again"
	}
	if plain, ok := quotaReason(message); ok {
		return plain
	}
	return words.Truncate(words.OneLine(message), mostWhy)
}

// The reasons for which Kueue assigns no flavor to a pod set. Source: Kueue 0.19.2,
// pkg/scheduler/flavorassigner.
var (
	lackReason = regexp.MustCompile(
		`^insufficient unused quota for (\S+) in flavor (\S+), (\d\S*) more needed(?:, |$)`)
	limitReason = regexp.MustCompile(`^insufficient quota for (\S+) in flavor (\S+), previously considered podsets ` +
		`requests \((\S+)\) \+ current podset request \((\S+)\) > maximum capacity \((\S+)\)(?:, |$)`)
	pendingPreemption = regexp.MustCompile(`\. Pending the preemption of (\d+) workload\(s\)$`)
)

// shortage is a capacity with the amounts that its quota lacks, accelerators first.
type shortage struct {
	capacity string
	lacks    []string
}

// quotaReason says in plain words what quota Kueue's message misses, and reports whether it
// knows every part of the message.
func quotaReason(message string) (plain string, ok bool) {
	preempted := ""
	if found := pendingPreemption.FindStringSubmatch(message); found != nil {
		message = strings.TrimSuffix(message, found[0])
		preempted = "; it waited for the end of jobs that it preempts"
	}
	podSets := strings.Split(message, "; ")
	var out []string
	for _, podSet := range podSets {
		assigned, ok := strings.CutPrefix(podSet, "couldn't assign flavors to pod set ")
		name, reasons, found := strings.Cut(assigned, ": ")
		plain, known := podSetReason(reasons)
		if !ok || !found || !known {
			return "", false
		}
		if len(podSets) > 1 {
			plain = "pods " + name + ": " + plain
		}
		out = append(out, plain)
	}
	return strings.Join(out, "; ") + preempted, true
}

// podSetReason says in plain words what quota the reasons of a pod set miss, and reports whether
// it knows all of them. Flavors are alternatives.
func podSetReason(reasons string) (plain string, ok bool) {
	var shortages []shortage
	var limits []string
	for reasons != "" {
		if found := lackReason.FindStringSubmatch(reasons); found != nil {
			i := slices.IndexFunc(shortages, func(s shortage) bool { return s.capacity == found[2] })
			if i < 0 {
				i, shortages = len(shortages), append(shortages, shortage{capacity: found[2]})
			}
			lacks, at := &shortages[i].lacks, len(shortages[i].lacks)
			if isAccelerator(found[1]) {
				at = 0
			}
			*lacks = slices.Insert(*lacks, at, amountWords(found[1], found[3], "more "))
			reasons = reasons[len(found[0]):]
			continue
		}
		found := limitReason.FindStringSubmatch(reasons)
		if found == nil {
			return "", false
		}
		requested, requestErr := resource.ParseQuantity(found[4])
		others, othersErr := resource.ParseQuantity(found[3])
		if requestErr != nil || othersErr != nil {
			return "", false
		}
		requested.Add(others)
		limits = append(limits, "its queue can have at most "+amountWords(found[1], found[5], "")+" of capacity "+
			found[2]+", and the job requests "+requested.String())
		reasons = reasons[len(found[0]):]
	}
	var short, parts []string
	for _, s := range shortages {
		short = append(short, strings.Join(s.lacks, " and ")+" of capacity "+s.capacity)
	}
	if len(short) > 0 {
		parts = append(parts, "too little quota was unused: the job needed "+strings.Join(short, ", or "))
	}
	return strings.Join(append(parts, limits...), "; "), true
}

func isAccelerator(name string) bool { return name == ir.GPU || name == ir.TPU }

// amountWords returns an amount of a resource, such as "2 more GPUs".
func amountWords(name, amount, more string) string {
	unit := ir.Unit(name)
	if name == ir.CPU {
		unit = "vCPU"
	}
	if (isAccelerator(name) || name == ir.CPU) && amount != "1" {
		unit += "s"
	}
	return amount + " " + more + unit
}
