package kubernetes

import (
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
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

// addShares makes a policy refuse pods that start nodes and leave them empty. Quota counts
// what pods request, and not nodes. Where the number of nodes follows the pods:
//
//   - pods that cannot share a node request at least half of one resource that it offers, so
//     that for each resource a team starts at most twice the nodes of its quota in this way;
//   - a pod requests at most twice the share of the disk that it requests of another
//     resource, or that it has of the pods of a node. The size of the disk is the one in the
//     blueprint: pods get less of it.
//
// A job that takes whole TPU slices for itself requests chips in all of its pods.
func addShares(policy *admissionv1.ValidatingAdmissionPolicy, tiers []bounds, resources []string) {
	policy.Spec.Variables = append(policy.Spec.Variables, []admissionv1.Variable{
		{Name: "scaling", Expression: tierTable(tiers, scalingLines, "[]") + ".map(l, l.split(' '))\n"},
		{Name: "scalingSizes", Expression: numbersCEL("scaling", append(slices.Clone(resources), disk))},
	}...)
	unfit := "!(" + withinCEL("a[%[1]d] <= n[%[1]d]", " && ", resources) + ")"
	lines := "variables.scaling.map(n, " + lineCEL("n", 1) + ").join(' or ')"
	policy.Spec.Validations = append(policy.Spec.Validations,
		admissionv1.Validation{
			Expression: fmt.Sprintf("variables.kept || variables.needs.all(a, a[%d] == 0.0 "+
				"|| variables.scalingSizes.all(n,\n%s\n|| %s))\n", len(resources)+2, unfit,
				withinCEL("n[%[1]d] > 0.0 && a[%[1]d] * 2.00001 >= n[%[1]d]", " || ", resources)),
			Message: "pods that cannot share a node must request at least half of it",
			MessageExpression: "'pods that cannot share a node must request at least half of it: request more, " +
				"or remove the node names, host ports, required anti-affinity or spread with DoNotSchedule. '\n" +
				"+ 'A node offers ' + " + lines + "\n",
		},
		admissionv1.Validation{
			Expression: fmt.Sprintf("variables.kept || variables.needs.all(a, a[%d] == 0.0 "+
				"|| variables.scalingSizes.all(n,\n%s\n|| %s))\n", len(resources), unfit,
				withinCEL("n[%[1]d] > 0.0 && a[%[2]d] * n[%[1]d] <= 2.00001 * a[%[1]d] * n[%[2]d]", " || ", resources)+
					fmt.Sprintf(" || a[%[1]d] * %[2]d.0 <= 2.0 * n[%[1]d]", len(resources), ir.PodsPerUnit)),
			Message: "request less ephemeral-storage, or more of another resource",
			MessageExpression: "'a pod can request at most twice the share of ephemeral-storage that it requests of " +
				"another resource: request less of it. A node offers ' + " + lines + "\n",
		})
	if i := slices.Index(resources, ir.TPU); i >= 0 {
		policy.Spec.Variables = append(policy.Spec.Variables, admissionv1.Variable{
			Name: "keptSlices", Expression: "variables.kept && (variables.unqueued\n" +
				"|| variables.sets.map(s, s.exclusive) == (" + podSets("oldObject") + ").map(s, s.exclusive))\n",
		})
		policy.Spec.Validations = append(policy.Spec.Validations, admissionv1.Validation{
			Expression: fmt.Sprintf("variables.keptSlices || variables.needs.all(a, a[%d] == 0.0 || a[%d] > 0.0)",
				len(resources)+3, i),
			Message: "a Job that has TPU slices for itself must request " + ir.TPU + " in its pods: set the " +
				"annotation " + exclusiveAnnotation + " only in the templates of such Jobs",
		})
	}
}

// scalingLines returns a CEL list with a line for each capacity of a tier whose number of
// nodes follows the pods.
func scalingLines(b bounds) string {
	var lines []string
	for _, c := range b.nodes {
		if c.Static || c.PerNode == nil {
			continue
		}
		bytes := int64(c.DiskSizeGiB) << 30
		if c.SSDs() > 0 {
			bytes = int64(c.SSDs()) * int64(c.Machine.SSDSizeGB) * 1e9
		}
		lines = append(lines, amountsLine(c.Name, append(slices.Clone(c.PerNode),
			ir.Amount{Resource: disk, Quantity: *resource.NewQuantity(bytes, resource.BinarySI)})))
	}
	return celList(lines)
}
