package kubernetes

import (
	"slices"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
	"github.com/batchwright/batchwright/emit/kubeyaml"
)

// domains are the node labels that affinity and topology spread constraints can name: a
// node, a zone, a node pool, and the levels of Compute Engine's topology. Source: GKE
// documentation, "Schedule GKE workloads with Topology Aware Scheduling".
var domains = []string{
	corev1.LabelHostname, corev1.LabelTopologyZone, ir.LabelNodePool, "cloud.google.com/gce-topology-block",
	"cloud.google.com/gce-topology-subblock", "cloud.google.com/gce-topology-host",
}

// jobsBlockNobody returns the policy that refuses a job whose pods would keep the pods of
// other teams away from nodes:
//
//   - kube-scheduler honors the anti-affinity of a running pod for every pod that comes
//     later, in all namespaces that the term names. The ResourceQuota of affinityQuota
//     refuses pods with such a list, even if it names their own namespace only;
//   - a topology domain such as a region, or the operating system, contains all nodes. In
//     its own namespace it blocks nobody else: this is a second guard;
//   - the exclusive topology of composite jobs is anti-affinity to all namespaces. It is right
//     for the slices of multi-host TPUs only, which a Job takes whole;
//   - pods with the labels of composite jobs count as their pods in those terms.
func jobsBlockNobody(p *ir.Platform, s scheduler) *admissionv1.ValidatingAdmissionPolicy {
	tiers := boundsOf(p)
	policy := jobPolicy(p, s, tiers, "jobs-block-nobody")
	const (
		affinities = "['podAffinity', 'podAntiAffinity']"
		terms      = "(p.?affinity[?k].requiredDuringSchedulingIgnoredDuringExecution.orValue([])\n" +
			"+ p.?affinity[?k].preferredDuringSchedulingIgnoredDuringExecution.orValue([])" +
			".map(w, w.podAffinityTerm))"
	)
	exclusiveAnnotation, labels := kinds.Composite().Exclusive, kinds.Composite().Labels
	// The values of the annotation, where the controller reads it.
	exclusive := func(object string) string {
		spec := "dyn(" + object + ").spec"
		jobs := kinds.ByKind(spec, " ", func(k kinds.Kind) string {
			return k.EachSet(spec, func(s kinds.PodSet, object string) string { return kinds.Below(object, s.Meta) })
		}, "[]")
		return "([dyn(" + object + ")] + " + jobs + "\n+ " + podTemplates(object) + ")\n" +
			".filter(o, o.?metadata.annotations[?'" + exclusiveAnnotation + "'].hasValue())\n" +
			".map(o, o.metadata.annotations['" + exclusiveAnnotation + "'])\n"
	}
	// The labels of pod templates with labels that the controller sets.
	marked := func(object string) string {
		return podTemplates(object) + "\n.map(t, t.?metadata.labels.orValue({}))\n" +
			".filter(l, l.exists(k, k.startsWith('" + labels + "')))"
	}
	policy.Spec.Variables = append(policy.Spec.Variables, []admissionv1.Variable{
		{Name: "others", Expression: affinities + ".filter(k, variables.pods.exists(p, " + terms + "\n" +
			".exists(t, has(t.namespaceSelector) || t.?namespaces.orValue([]) != [])))\n"},
		{Name: "domains", Expression: flattenCEL("(" + affinities + ".map(k, " + terms + "\n" +
			".map(t, t.topologyKey).join('\\n')).join('\\n').split('\\n')\n" +
			"+ p.?topologySpreadConstraints.orValue([]).map(c, c.topologyKey))\n" +
			".filter(k, k != '' && !(k in " + celList(domains) + "))")},
		{Name: "exclusive", Expression: exclusive("object")},
		{Name: "slices", Expression: tierTable(tiers, func(b bounds) string { return strconv.FormatBool(b.slices) },
			"false")},
		{Name: "keptExclusive", Expression: "variables.unqueued\n" +
			"|| request.operation == 'UPDATE' && variables.exclusive == (" +
			exclusive("oldObject") + ")\n"},
		{Name: "marked", Expression: marked("object") + "\n"},
		{Name: "keptMarked", Expression: "variables.unqueued\n" +
			"|| request.operation == 'UPDATE' && variables.marked == (" +
			marked("oldObject") + ")\n"},
	}...)
	add := func(expression, message, computed string) { refuseUnless(policy, expression, message, computed) }
	add("variables.kept || variables.others == []", "",
		"variables.others.join(' and ') + ' must select only pods of its own namespace: '\n"+
			"+ 'remove namespaces and namespaceSelector'\n")
	add("variables.kept || variables.domains == []", "",
		"'topologyKey ' + variables.domains.join(', ')\n"+
			"+ ' is not allowed in affinity and topologySpreadConstraints: '\n"+
			"+ 'use "+strings.Join(domains, ", ")+"'\n")
	add("variables.keptExclusive || variables.exclusive.all(k, variables.slices && k == '"+ir.LabelNodePool+"')\n",
		"remove the annotation "+exclusiveAnnotation,
		"variables.slices\n"+
			"? 'set the annotation "+exclusiveAnnotation+" to "+ir.LabelNodePool+": '\n"+
			"+ 'a job can have whole TPU slices for itself, and nothing else'\n"+
			": 'a job of queue ' + variables.queue + ' must not take nodes for itself, which blocks other teams: '\n"+
			"+ 'remove the annotation "+exclusiveAnnotation+"'\n")
	add("variables.keptMarked || variables.marked == []",
		"remove the labels of "+strings.TrimSuffix(labels, "/")+" from the pod template: "+kinds.Composite().Name+
			" itself sets them", "")
	return policy
}

// affinityQuota returns the quota that refuses pods with affinity to pods of other
// namespaces, behind the policy jobsBlockNobody. It returns nil for a team whose jobs can
// have TPU slices for themselves, in the tiers sliced: their pods get such terms.
func affinityQuota(p *ir.Platform, sliced map[string]bool, t ir.Team) *corev1.ResourceQuota {
	if slices.ContainsFunc(t.Queues, func(q ir.Queue) bool { return sliced[q.Tier] }) {
		return nil
	}
	return &corev1.ResourceQuota{
		TypeMeta:   kubeyaml.Kind(corev1.SchemeGroupVersion, "ResourceQuota"),
		ObjectMeta: kubeyaml.Meta(p.Name, t.Namespace, "no-affinity-to-other-namespaces"),
		Spec: corev1.ResourceQuotaSpec{
			Hard:   corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(0, resource.DecimalSI)},
			Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeCrossNamespacePodAffinity},
		},
	}
}
