package kubernetes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
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
func mostLines(lent ir.Lent, t ir.Team) string {
	var lines []string
	for _, q := range t.Queues {
		all := lent.MostPerJob(q)
		for _, name := range q.LocalQueueNames() {
			for _, most := range all {
				lines = append(lines, name+" "+amountsLine(most.Flavor, most.Amounts)+"\n")
			}
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

// jobsFitNodes returns the policy that refuses a job that can never run, and would wait for
// ever, at worst at the head of a StrictFIFO queue:
//
//   - a pod that is larger than every node that its nodeSelector leaves. What pods of GKE
//     take on each node does not count, because it is not certain;
//   - pods of one kind that together exceed what the queue can get of every flavor, and pods
//     of all kinds that exceed the sum. Kueue assigns pods of one kind to one flavor. A Job
//     can let Kueue start it with fewer pods;
//   - a resource that no node offers.
//
// It also refuses pods that take more of the nodes than quota counts: see addShares.
//
// A waiting job stays valid with the same pods in the same queue, also when the queue has
// become smaller. Guard refuses a running Job that changes its number of pods, and the
// webhooks of other kinds their running jobs.
func jobsFitNodes(p *ir.Platform, s scheduler) *admissionv1.ValidatingAdmissionPolicy {
	tiers := boundsOf(p)
	policy := jobPolicy(p, s, tiers, "jobs-fit-nodes")
	r := resourcesOf(p)
	known := append([]string{disk}, r...)
	for _, name := range p.QuotaResources() { // also what device plugins of others offer
		if !slices.Contains(known, name) && name != ir.Pods {
			known = append(known, name)
		}
	}
	nodes := tierTable(tiers, r.nodeTable, "[]")
	if s.fewestPods != "" {
		policy.Spec.Variables = append(policy.Spec.Variables, admissionv1.Variable{
			Name: "most", Expression: fmt.Sprintf("namespaceObject.metadata.?annotations[?'%s'].orValue('')"+
				".split('\\n')\n.map(l, l.split(' ')).filter(l, l[0] == variables.queue)\n", mostAnnotation)})
		// A team can lack quota of a capacity of the tier.
		nodes += ".filter(n, variables.most == [] || variables.most.exists(m, m[1] == n.name))\n"
	}
	policy.Spec.Variables = append(policy.Spec.Variables, []admissionv1.Variable{
		{Name: "nodes", Expression: nodes},
		{Name: "sets", Expression: podSets("object")},
		{Name: "needs", Expression: r.podNeeds(s.fewestPods)},
		{Name: "unknown", Expression: flattenCEL("([dyn(p)] + p.containers + p.?initContainers.orValue([])).map(c,\n" +
			"[c.?resources.requests.orValue({})" +
			".filter(r, quantity(string(c.resources.requests[r])).isGreaterThan(quantity('0'))),\n" +
			"c.?resources.limits.orValue({}).filter(r, !c.?resources.requests[?r].hasValue()\n" +
			"&& quantity(string(c.resources.limits[r])).isGreaterThan(quantity('0')))]\n" +
			".map(l, l.filter(r, !r.startsWith('" + networkResources + "') && !(r in " +
			celList(known) + ")).join('\\n'))" +
			".join('\\n')).join('\\n').split('\\n')")},
	}...)
	refuseUnless(policy, "variables.kept || variables.unknown == []", "",
		"'no node offers ' + variables.unknown.join(', ') + ': remove this resource from the pods'\n")
	refuseUnless(policy, "variables.kept || variables.needs.all(a, a.on != [])",
		"no node of the queue holds a pod of this job: request less for each pod",
		"'queue ' + variables.queue + ' has no node for a pod of this job: request at most '\n"+
			"+ variables.nodes.map(n, "+offerCEL+").join(' or ')\n"+
			"+ (variables.pods.exists(p, has(p.nodeSelector)) ? ', and select the labels of one kind of node' : '')\n")
	r.addShares(policy, p, tiers)
	if s.fewestPods != "" {
		r.addMost(policy, s, everyQueueCountsPods(p))
	}
	return policy
}

// everyQueueCountsPods reports whether all queues have quota of pods.
func everyQueueCountsPods(p *ir.Platform) bool {
	for q := range p.ClusterQueues() {
		if len(q.Flavors) > 0 && !q.CountsPods() {
			return false
		}
	}
	return true
}

// addMost makes a policy refuse jobs that exceed what their queue can get.
func (r resources) addMost(policy *admissionv1.ValidatingAdmissionPolicy, s scheduler, countsPods bool) {
	pods := fmt.Sprintf("a.pods <= m[%d]", len(r))
	if !countsPods { // a queue without quota of pods has 0 of them in its list
		pods = fmt.Sprintf("(m[%d] == 0.0 || a.pods <= m[%d])", len(r), len(r))
	}
	const counts = "s, [s.jobs, s.spec.?parallelism.orValue(dyn(-1)), s.spec.?completions.orValue(dyn(-1))]"
	policy.Spec.Variables = append(policy.Spec.Variables, []admissionv1.Variable{
		{Name: "keptSets", Expression: "variables.unqueued || request.operation == 'UPDATE'\n" +
			"&& " + s.fewestPods + " == " + strings.ReplaceAll(s.fewestPods, "object.", "oldObject.") + "\n" +
			"&& (!oldObject.spec.?suspend.orValue(false)\n" +
			"|| variables.kept && variables.sets.map(" + counts + ") == (" + podSets("oldObject") + ").map(" + counts +
			"))\n"},
		{Name: "mostSizes", Expression: "variables.most.map(l, " + celList(append(slices.Clone(r), ir.Pods)) +
			".map(r,\nl.filter(x, x.startsWith(r + '='))" +
			".map(x, quantity(x.split('=')[1]).asApproximateFloat()).sum()))\n"},
	}...)
	refuseUnless(policy, "variables.keptSets || variables.most == []\n"+
		"|| variables.needs.all(a, variables.mostSizes.exists(m,\n"+
		r.each("a.amounts[i] * a.pods <= m[i]"+slack, " && ")+" && "+pods+"))\n"+
		"&& "+r.each("variables.needs.map(a, double(a.amounts[i]) * double(a.pods)).sum()\n"+
		"<= variables.mostSizes.map(m, m[i]).sum()"+slack, "\n&& ")+"\n",
		"the job exceeds what its queue can get: request less, or submit smaller jobs",
		"'the job exceeds what queue ' + variables.queue + ' can get. Request at most '\n"+
			"+ variables.most.map(m, m.filter(x, x.contains('=')).join(', ') + ' (' + m[1] + ')').join(' or ')\n"+
			"+ ', or submit smaller jobs'\n")
}

// slack lets CEL terms compare sums of floating-point numbers, which are not exact.
const slack = " * 1.000001"

// resources are the resources that the platform's nodes offer, in the order of the numbers
// in CEL: cpu, memory, and accelerators. In lists of what nodes offer and pods request, the
// node's disk follows.
type resources []string

func resourcesOf(p *ir.Platform) resources {
	out := resources{ir.CPU, ir.Memory}
	for _, name := range []string{ir.GPU, ir.TPU} {
		if p.AnyCapacity(func(c ir.Capacity) bool { return c.Machine.Resource == name }) {
			out = append(out, name)
		}
	}
	return out
}

// each joins a CEL term for each resource. In the term, [i] stands for the resource's index,
// and [disk] for the disk's.
func (r resources) each(term, operator string) string { return r.eachFrom(0, term, operator) }

// eachFrom does the same from an index on: 2 is the first accelerator's.
func (r resources) eachFrom(first int, term, operator string) string {
	var terms []string
	for i := first; i < len(r); i++ {
		terms = append(terms, strings.ReplaceAll(r.disk(term), "[i]", fmt.Sprintf("[%d]", i)))
	}
	return strings.Join(terms, operator)
}

// disk returns a CEL term with the index of the disk for [disk].
func (r resources) disk(term string) string {
	return strings.ReplaceAll(term, "[disk]", fmt.Sprintf("[%d]", len(r)))
}

// offerCEL is a CEL expression for what a node n offers, as people read it.
const offerCEL = "n.offers + ' (' + n.name + ')'"

// nodeTable returns a CEL list with the nodes of each capacity of a tier. Values of different
// types in one map have to be dyn:
//
//	name     of the capacity
//	offers   what a node offers, as people read it
//	sizes    the same as numbers
//	counted  index of the resource in which quota is counted
//	slice    TPU chips of a slice with several nodes, 0.0 for other nodes
//	scales   whether the number of nodes follows the pods
//	least    amount of this resource that a job must request, see ir.Capacity.LeastPerJob
//	apart    whether it has no accelerators, and pods can select it
//	labels   labels of the nodes that other nodes of the tier lack
func (r resources) nodeTable(b bounds) string {
	var rows []string
	for _, c := range b.nodes {
		amounts := append(slices.Clone(c.PerNode), ir.Amount{Resource: disk, Quantity: localDisk(c)})
		offers, sizes := make([]string, len(amounts)), make([]string, len(r)+1)
		for i, a := range amounts {
			quantity := kubeyaml.Canonical(a.Quantity)
			offers[i] = a.Resource + "=" + quantity.String()
		}
		for i, name := range append(slices.Clone(r), disk) {
			amount := ir.AmountOf(amounts, name)
			sizes[i] = celDouble(amount.AsApproximateFloat64())
		}
		slice, least := 0, c.LeastPerJob()
		if c.Sliced() {
			slice = c.Machine.Slice.Hosts * c.Machine.AcceleratorCount
		}
		var labels []string
		for _, l := range c.NodeLabels {
			if slices.ContainsFunc(b.nodes, func(o ir.Capacity) bool { return !slices.Contains(o.NodeLabels, l) }) {
				labels = append(labels, "'"+l.Key+"': '"+l.Value+"'")
			}
		}
		rows = append(rows, fmt.Sprintf("{'name': dyn('%s'), 'offers': dyn('%s'),\n'sizes': dyn([%s]), "+
			"'counted': dyn(%d), 'least': dyn(%s), 'slice': dyn(%s),\n'scales': dyn(%t), 'apart': dyn(%t), "+
			"'labels': dyn({%s})}", c.Name, strings.Join(offers, ", "),
			strings.Join(sizes, ", "), slices.Index(r, c.CountedIn()), celDouble(least.AsApproximateFloat64()),
			celDouble(float64(slice)), !c.Static, c.IsApart(b.nodes), strings.Join(labels, ", ")))
	}
	return "[" + strings.Join(rows, ",\n") + "]"
}

// localDisk returns the size of the disk of which pods get ephemeral storage. Pods get less,
// because the node itself uses a part.
func localDisk(c ir.Capacity) resource.Quantity {
	bytes := int64(c.DiskSizeGiB) << 30
	if c.SSDs() > 0 {
		bytes = int64(c.SSDs()) * int64(c.Machine.SSDSizeGB) * 1e9
	}
	return *resource.NewQuantity(bytes, resource.BinarySI)
}

// celDouble returns a CEL number: "24.0".
func celDouble(x float64) string {
	out := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(out, ".") {
		out += ".0"
	}
	return out
}

// podSets returns a CEL expression for the kinds of pods of a job: each has the Job's spec,
// how many such Jobs there are, and whether each has a topology domain for itself.
func podSets(object string) string {
	spec := "dyn(" + object + ").spec"
	set := func(jobs, spec, space, exclusive string) string {
		return "{'jobs': " + jobs + ", 'spec': " + spec + "," + space + "'exclusive': dyn(" + exclusive + ")}"
	}
	return kinds.ByKind(spec, "\n", func(k kinds.Kind) string {
		return k.EachSet(spec, func(s kinds.PodSet, at string) string {
			jobs, exclusive, with := "dyn(1)", "false", kinds.Below(at, s.Spec)
			if s.Count != "" {
				jobs = at + ".?" + s.Count + ".orValue(dyn(1))"
			}
			if k.Exclusive != "" {
				exclusive = "[dyn(" + object + "), " + kinds.Below(at, s.Meta) + ", " + with +
					".?template.orValue(dyn({}))].exists(o, o.?metadata.annotations[?'" + k.Exclusive + "'].hasValue())"
			}
			return set(jobs, with, "\n", exclusive)
		})
	}, "["+set("dyn(1)", spec, " ", "false")+"]") + ".filter(s, has(s.spec.template))\n"
}

// selectsCEL is a CEL term for whether a list l of values of label k includes the node n. A
// list of values that no node of the tier has does not count: jobsStayInBounds refuses it,
// and a second reason would hide that one.
const selectsCEL = "n.labels[k] in l || !l.exists(v, variables.nodes.exists(m, m.labels[?k].orValue('') == v))"

// podNeeds returns a CEL expression for what each kind of pods needs:
//
//	amounts    what a pod requests of each resource, then of the disk. A pod's own request
//	           takes precedence over the sum of its containers. Containers that only prepare
//	           the pod run one after the other
//	each       number of pods of a Job that must start together
//	pods       the same, for all Jobs of this kind
//	alone      whether a pod can take a node for itself
//	exclusive  whether each Job has a topology domain for itself
//	on         the nodes that hold a pod and have the labels that it selects. Kueue compares
//	           a label only with flavors that have its key
//
// fewest is a CEL expression for the number of pods with which the scheduler may start a
// job, as a string.
func (r resources) podNeeds(fewest string) string {
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
	return "variables.sets.map(s, [[" + count + "].min()].map(each, [" +
		celList(append(slices.Clone(r), disk)) + ".map(r,\n" +
		"s.spec.template.spec.?resources.requests[?r].hasValue()\n" +
		"? quantity(string(s.spec.template.spec.resources.requests[r])).asApproximateFloat()\n" +
		": ([(s.spec.template.spec.containers + " + inits + ".filter(c, " + alongside + "))\n" +
		".map(c, " + amount + ".asApproximateFloat()).sum()]\n" +
		"+ " + inits + ".map(c, " + amount + ".asApproximateFloat())).max())].map(amounts, {\n" +
		"'amounts': dyn(amounts), 'each': dyn(each), 'pods': dyn(double(s.jobs) * each), 'exclusive': s.exclusive,\n" +
		"'alone': dyn(" + strings.ReplaceAll(alonePod, "POD", "s.spec.template.spec") + "),\n" +
		"'on': dyn(variables.nodes.filter(n, n.labels.all(k,\n" +
		"[[s.spec.template.spec.?nodeSelector[?k].orValue(n.labels[k])]].all(l, " + selectsCEL + "))\n" +
		"&& [s.spec.template.spec.?affinity.nodeAffinity." +
		"requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.orValue([])]\n" +
		".all(t, t == [] || t.exists(x, n.labels.all(k, x.?matchExpressions.orValue([])" +
		".filter(e, e.key == k && e.operator == 'In')\n" +
		".map(e, e.values).all(l, " + selectsCEL + "))))\n" +
		"&& " + r.each("amounts[i] <= n.sizes[i]"+slack, " && ") + "\n" +
		r.disk("&& amounts[disk] <= n.sizes[disk]") + "))})[0])[0])\n"
}
