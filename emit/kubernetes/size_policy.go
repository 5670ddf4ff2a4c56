package kubernetes

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

const (
	// mostAnnotation of a team's namespace has a line for each flavor of each LocalQueue,
	// with the most that one job can get: "lq-a-lp l4-spot cpu=56 memory=360Gi pods=880".
	mostAnnotation = "most-per-job"

	// networkResources begin the resources that GKE's own webhooks add to pods. Source: GKE
	// documentation, "Set up multi-network support for Pods".
	networkResources = "networking.gke.io"
)

// mostLines returns the value of a team's mostAnnotation, "" with KAI Scheduler.
func mostLines(p *ir.Platform, t ir.Team) string {
	var lines []string
	for _, q := range t.Queues {
		for _, most := range p.MostOf(q) {
			lines = append(lines, q.LocalQueue+" "+amountsLine(most.Flavor, most.Amounts)+"\n")
		}
	}
	return strings.Join(lines, "")
}

// amountsLine returns a name and the amounts that are not 0: "l4-spot cpu=56 memory=360Gi".
func amountsLine(name string, amounts []ir.Amount) string {
	words := []string{name}
	for _, a := range amounts {
		if amount := kubeyaml.Canonical(a.Quantity); !amount.IsZero() {
			words = append(words, a.Resource+"="+amount.String())
		}
	}
	return strings.Join(words, " ")
}

// jobsFitNodes returns the policy that refuses a Job or JobSet that can never run, and would
// wait for ever, at worst at the head of a StrictFIFO queue:
//
//   - a pod that is larger than every node of its queue's capacities. What pods of GKE take
//     on each node does not count, because it is not certain;
//   - pods of one kind that together exceed what the queue can get of every flavor, and pods
//     of all kinds that exceed the sum. Kueue assigns pods of one kind to one flavor. A Job
//     can let Kueue start it with fewer pods;
//   - a resource that no node offers.
//
// It also refuses pods that are too small for the nodes that they start: see addShares.
//
// A waiting job stays valid with the same pods in the same queue, also when the queue has
// become smaller. Guard refuses a running Job that changes its number of pods, and JobSet's
// webhook a running JobSet.
func jobsFitNodes(p *ir.Platform, s scheduler) *admissionv1.ValidatingAdmissionPolicy {
	tiers := boundsOf(p)
	policy := jobPolicy(p, s, tiers, "jobs-fit-nodes")
	resources := resourcesOf(p)
	pods := len(resources) + 1 // index of the number of pods
	policy.Spec.Variables = append(policy.Spec.Variables, []admissionv1.Variable{
		{Name: "sets", Expression: podSets("object")},
		{Name: "needs", Expression: podNeeds(resources, s.fewestPods)},
		{Name: "nodes", Expression: tierTable(tiers, nodeLines, "[]") + ".map(l, l.split(' '))\n"},
		{Name: "nodeSizes", Expression: numbersCEL("nodes", resources)},
		{Name: "unknown", Expression: flattenCEL("([dyn(p)] + p.containers + p.?initContainers.orValue([])).map(c,\n" +
			"[c.?resources.requests.orValue({})" +
			".filter(r, quantity(string(c.resources.requests[r])).isGreaterThan(quantity('0'))),\n" +
			"c.?resources.limits.orValue({}).filter(r, !c.?resources.requests[?r].hasValue()\n" +
			"&& quantity(string(c.resources.limits[r])).isGreaterThan(quantity('0')))]\n" +
			".map(l, l.filter(r, !r.startsWith('" + networkResources + "') && !(r in " +
			celList(append([]string{disk}, resources...)) + ")).join('\\n'))" +
			".join('\\n')).join('\\n').split('\\n')")},
	}...)
	add := func(expression, message, messageExpression string) {
		policy.Spec.Validations = append(policy.Spec.Validations, admissionv1.Validation{
			Expression: expression, Message: message, MessageExpression: messageExpression,
		})
	}
	add("variables.kept || variables.unknown == []", "",
		"'no node offers ' + variables.unknown.join(', ') + ': remove this resource from the pods'\n")
	add("variables.kept || variables.nodes == [] || variables.needs.all(a, variables.nodeSizes.exists(n,\n"+
		withinCEL("a[%[1]d] <= n[%[1]d]", " && ", resources)+"))\n",
		"no node of the queue holds a pod of this job: request less for each pod",
		"'no node of queue ' + variables.queue + ' holds a pod of this job: request at most '\n"+
			"+ variables.nodes.map(n, "+lineCEL("n", 1)+").join(' or ')\n")
	addShares(policy, tiers, resources)
	if s.fewestPods == "" {
		return policy
	}
	const counts = "s, [s.jobs, s.spec.?parallelism.orValue(dyn(-1)), s.spec.?completions.orValue(dyn(-1))]"
	policy.Spec.Variables = append(policy.Spec.Variables, []admissionv1.Variable{
		{Name: "keptSets", Expression: "variables.unqueued || request.operation == 'UPDATE'\n" +
			"&& " + s.fewestPods + " == " + strings.ReplaceAll(s.fewestPods, "object.", "oldObject.") + "\n" +
			"&& (!oldObject.spec.?suspend.orValue(false)\n" +
			"|| variables.kept && variables.sets.map(" + counts + ") == (" + podSets("oldObject") + ").map(" + counts +
			"))\n"},
		{Name: "most", Expression: fmt.Sprintf("namespaceObject.metadata.?annotations[?'%s'].orValue('')"+
			".split('\\n')\n.map(l, l.split(' ')).filter(l, l[0] == variables.queue)\n", mostAnnotation)},
		{Name: "mostSizes", Expression: numbersCEL("most", append(slices.Clone(resources), ir.Pods))},
	}...)
	add("variables.keptSets || variables.most == []\n"+
		"|| variables.needs.all(a, variables.mostSizes.exists(m,\n"+
		withinCEL("a[%[1]d] * a[%[3]d] <= m[%[1]d]", " && ", resources)+
		fmt.Sprintf(" && a[%d] <= m[%d]))\n", pods, len(resources))+
		"&& "+withinCEL("variables.needs.map(a, a[%[1]d] * a[%[3]d]).sum() <= variables.mostSizes"+
		".map(m, m[%[1]d]).sum()\n", "&& ", resources),
		"the job exceeds what its queue can get: request less, or submit smaller jobs",
		"'the job exceeds what queue ' + variables.queue + ' can get. Request at most '\n"+
			"+ variables.most.map(m, "+lineCEL("m", 2)+").join(' or ') + ', or submit smaller jobs'\n")
	return policy
}

// resourcesOf returns the resources that a node of the platform offers: cpu, memory, and
// accelerators.
func resourcesOf(p *ir.Platform) []string {
	out := []string{ir.CPU, ir.Memory}
	for _, name := range []string{ir.GPU, ir.TPU} {
		if p.AnyCapacity(func(c ir.Capacity) bool { return c.Machine.Resource == name }) {
			out = append(out, name)
		}
	}
	return out
}

// nodeLines returns a CEL list with a line for each capacity of a tier: its name, and what
// a node offers. The list is empty if that is not known of a capacity.
func nodeLines(b bounds) string {
	lines := make([]string, len(b.nodes))
	for i, c := range b.nodes {
		if c.PerNode == nil {
			return "[]"
		}
		lines[i] = amountsLine(c.Name, c.PerNode)
	}
	return celList(lines)
}

// podSets returns a CEL expression for the kinds of pods of a job: each has the Job's spec,
// how many such Jobs there are, and whether each has a topology domain for itself.
func podSets(object string) string {
	return fmt.Sprintf("(has(dyn(%[1]s).spec.replicatedJobs)\n"+
		"? dyn(%[1]s).spec.replicatedJobs.map(j, {'jobs': j.?replicas.orValue(dyn(1)), 'spec': j.template.spec,\n"+
		"'exclusive': dyn([dyn(%[1]s), j.template, j.template.spec.?template.orValue(dyn({}))]"+
		".exists(o, o.?metadata.annotations[?'%[2]s'].hasValue()))})\n"+
		": [{'jobs': dyn(1), 'spec': dyn(%[1]s).spec, 'exclusive': dyn(false)}]).filter(s, has(s.spec.template))\n",
		object, exclusiveAnnotation)
}

// podNeeds returns a CEL expression for a list of numbers for each kind of pods: what a pod
// requests of each resource and of the node's disk, the number of pods that must start
// together, and whether a pod takes a node, or its job a slice, for itself (1.0 or 0.0). A
// pod's own request takes precedence over the sum of its containers. Containers that only prepare the
// pod run one after the other. fewest is a CEL expression for the number of pods with which
// the scheduler may start a job, as a string.
func podNeeds(resources []string, fewest string) string {
	const (
		amount    = "quantity(string(c.?resources.requests[?r].or(c.?resources.limits[?r]).orValue(dyn('0'))))"
		inits     = "s.spec.template.spec.?initContainers.orValue([])"
		alongside = "c.?restartPolicy.orValue('') == 'Always'"
		parallel  = "s.spec.?parallelism.orValue(1)"
	)
	count := "double(" + parallel + "), double(s.spec.?completions.orValue(" + parallel + "))"
	if fewest != "" {
		count += ",\ndouble(" + fewest + ".matches('^[0-9]{1,9}$')\n? " + fewest + " : '1000000000')"
	}
	return "variables.sets.map(s, " + celList(append(slices.Clone(resources), disk)) + ".map(r,\n" +
		"s.spec.template.spec.?resources.requests[?r].hasValue()\n" +
		"? quantity(string(s.spec.template.spec.resources.requests[r])).asApproximateFloat()\n" +
		": ([(s.spec.template.spec.containers + " + inits + ".filter(c, " + alongside + "))\n" +
		".map(c, " + amount + ".asApproximateFloat()).sum()]\n" +
		"+ " + inits + ".map(c, " + amount + ".asApproximateFloat())).max())\n" +
		"+ [double(s.jobs) * [" + count + "].min(),\n" + strings.ReplaceAll(alonePod, "POD", "s.spec.template.spec") +
		" ? 1.0 : 0.0,\ns.exclusive ? 1.0 : 0.0])\n"
}

// numbersCEL returns a CEL expression for the numbers in a variable with lines, in the order
// of the resources. It adds a millionth, because sums of such numbers are not exact.
func numbersCEL(variable string, resources []string) string {
	return "variables." + variable + ".map(l, " + celList(resources) + ".map(r,\n" +
		"l.filter(x, x.startsWith(r + '=')).map(x, quantity(x.split('=')[1]).asApproximateFloat()).sum() * 1.000001))\n"
}

// withinCEL joins a term for each resource. In the term, argument 1 is the index of the
// resource, 2 the index of the disk, and 3 the index of the number of pods in podNeeds.
func withinCEL(term, operator string, resources []string) string {
	terms := make([]string, len(resources))
	for i := range resources {
		terms[i] = fmt.Sprintf(term, i, len(resources), len(resources)+1)
	}
	return strings.Join(terms, operator)
}

// lineCEL returns a CEL expression for a line as people read it: the amounts, and the name
// of the capacity in parentheses. amounts is the index of the first amount.
func lineCEL(line string, amounts int) string {
	return fmt.Sprintf("%[1]s.filter(x, x.contains('=')).join(', ') + ' (' + %[1]s[%[2]d] + ')'", line, amounts-1)
}
