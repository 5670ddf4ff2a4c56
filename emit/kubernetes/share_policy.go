package kubernetes

import (
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
)

// disk is the resource of a node's own storage, of which no queue has quota.
const disk = string(corev1.ResourceEphemeralStorage)

// apart are the domains that can contain a single node, and so make pods start many.
var apart = slices.DeleteFunc(slices.Clone(domains), func(d string) bool { return d == corev1.LabelTopologyZone })

// singleNodes are the node labels with which a pod asks for one node, or a few.
var singleNodes = slices.DeleteFunc(slices.Clone(domains), func(d string) bool {
	return d == corev1.LabelTopologyZone || d == ir.LabelNodePool
})

// alonePod is a CEL expression for whether pods of a job cannot share a node with each other,
// or choose their nodes by name. Such pods can start a node each, however little they
// request. POD stands for the pod's spec. Terms that jobsBlockNobody refuses do not count: a
// second reason would hide that one.
var alonePod = "((POD.?affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.orValue([])" +
	".filter(t, !has(t.namespaceSelector) && t.?namespaces.orValue([]) == []).map(t, t.topologyKey)\n" +
	"+ POD.?topologySpreadConstraints.orValue([]).filter(c, c.?whenUnsatisfiable.orValue('') != 'ScheduleAnyway')" +
	".map(c, c.topologyKey))\n.exists(k, k in " + celList(apart) + ")\n" +
	"|| POD.?nodeSelector.orValue({}).exists(k, k in " + celList(singleNodes) + ")\n" +
	"|| POD.?affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.orValue([])\n" +
	".exists(t, t.?matchFields.orValue([]) != [] || t.?matchExpressions.orValue([]).exists(e, e.key in " +
	celList(singleNodes) + "\n|| e.key == '" + ir.LabelNodePool + "' && e.operator != 'In'))\n" +
	"|| POD.?hostNetwork.orValue(false) || (POD.containers + POD.?initContainers.orValue([]))\n" +
	".exists(c, c.?ports.orValue([]).exists(o, o.?hostPort.orValue(0) != 0)))"

// addShares makes a policy refuse pods that take nodes and leave them empty. Quota counts
// what pods request, and not nodes.
//
// Where the number of nodes follows the pods:
//
//   - pods that cannot share a node request at least half of one resource that it offers, so
//     that for each resource a team starts at most twice the nodes of its quota in this way;
//   - a pod requests at most twice the share of the disk that it requests of another
//     resource, or that it has of the pods of a node.
//
// Where each job has nodes of its own, it requests an accelerator, or half of the vCPUs of a
// node without any. Sets of pods that can run on the same nodes count together. Pods without
// accelerators keep off nodes with accelerators if other nodes of their queue hold them, and
// labels distinguish these. A Job that takes TPU slices for itself requests all chips of a slice.
func (r resources) addShares(policy *admissionv1.ValidatingAdmissionPolicy, p *ir.Platform, tiers []bounds) {
	some := func(is func(ir.Capacity) bool) bool {
		return slices.ContainsFunc(tiers, func(b bounds) bool { return slices.ContainsFunc(b.nodes, is) })
	}
	const offers = "' + variables.nodes.map(n, " + offerCEL + ").join(' or ')\n"
	if some(func(c ir.Capacity) bool { return !c.Static }) {
		refuseUnless(policy, "variables.kept || variables.needs.all(a, !a.alone || a.on.all(n, !n.scales\n|| "+
			r.each("n.sizes[i] > 0.0 && a.amounts[i] * 2.00001 >= n.sizes[i]", " || ")+"))\n",
			"pods that cannot share a node must request at least half of it",
			"'pods that cannot share a node must request at least half of it: request more, '\n"+
				"+ 'or remove the node names, host ports, required anti-affinity or spread with DoNotSchedule. '\n"+
				"+ 'A node offers "+offers)
		refuseUnless(policy, "variables.kept || variables.needs.all(a, a.on.all(n, !n.scales\n"+
			r.disk("|| a.amounts[disk] * "+celDouble(ir.PodsPerUnit)+" <= 2.0 * n.sizes[disk] || ")+
			r.each("n.sizes[i] > 0.0 && a.amounts[disk] * n.sizes[i] <= 2.00001 * a.amounts[i] * n.sizes[disk]",
				" || ")+
			"))\n",
			"request less ephemeral-storage, or more of another resource",
			"'the share of ephemeral-storage that a pod requests can be at most twice its share of cpu, memory '\n"+
				"+ 'or accelerators: request less ephemeral-storage. A node offers "+offers)
	}
	if some(ir.Capacity.NodesPerJob) {
		refuseUnless(policy, "variables.keptSets || variables.needs.all(a, a.on.filter(n, n.least > 0.0).all(n,\n"+
			"variables.needs.filter(b, b.on.map(m, m.name) == a.on.map(m, m.name))\n"+
			".map(b, double(b.amounts[n.counted]) * double(b.pods)).sum()"+slack+" >= n.least))\n",
			"each job has nodes of its own, so it must request accelerators, or half of the vCPUs of a node",
			"'each job has nodes of its own, so it must request accelerators, or half of the vCPUs of a node '\n"+
				"+ 'without any: request more, or select other nodes with nodeSelector. A node offers "+offers)
	}
	// With KAI Scheduler, a pod can have a share of a GPU without requesting any.
	if ir.Choose(p.Scheduler, p.HasMixedTier(), false) {
		without := r.eachFrom(2, "a.amounts[i] == 0.0", " && ")
		refuseUnless(policy, "variables.kept || variables.needs.all(a, !("+without+")\n"+
			"|| a.on.all(n, n.counted == 0) || !variables.nodes.exists(n, n.apart\n&& "+
			r[:2].each("a.amounts[i] <= n.sizes[i]"+slack, " && ")+
			r.disk(" && a.amounts[disk] <= n.sizes[disk]")+"))\n",
			"pods without accelerators must select nodes without accelerators",
			"'pods without accelerators must select nodes without accelerators: set nodeSelector to the labels '\n"+
				"+ variables.nodes.filter(n, n.apart)"+
				".map(n, n.labels.map(k, k + '=' + n.labels[k]).join(', ')).join(' or ')\n")
	}
	if chips := slices.Index(r, ir.TPU); chips >= 0 {
		policy.Spec.Variables = append(policy.Spec.Variables, admissionv1.Variable{
			Name: "keptSlices", Expression: "variables.kept && (variables.unqueued\n" +
				"|| variables.sets.map(s, s.exclusive) == (" + podSets("oldObject") + ").map(s, s.exclusive))\n",
		})
		chip := fmt.Sprintf("a.amounts[%d]", chips)
		refuseUnless(policy, "variables.keptSlices || !variables.nodes.exists(n, n.slice > 0.0)\n"+
			"|| variables.needs.all(a, !a.exclusive\n"+
			"|| "+chip+" > 0.0 && a.on.all(n, a.each * "+chip+slack+" >= n.slice))\n",
			"a Job that has TPU slices for itself must request "+ir.TPU+" in its pods: set the annotation "+
				kinds.Composite().Exclusive+" only in the templates of such Jobs",
			"'a Job that has a TPU slice for itself must request all of its chips: set the annotation "+
				kinds.Composite().Exclusive+" only in the templates of such Jobs. A slice has '\n"+
				"+ variables.nodes.filter(n, n.slice > 0.0)"+
				".map(n, string(int(n.slice)) + ' chips (' + n.name + ')').join(' or ')\n"+
				"+ '. If there are several kinds, select one with nodeSelector'\n")
	}
}
