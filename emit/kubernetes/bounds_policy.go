package kubernetes

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
)

const (
	// allowAnnotation of a team's namespace lists the pod fields that
	// jobsStayInBounds refuses by default but admits in the team's jobs: "csi, nfs".
	allowAnnotation = "allow"
	allowSeparator  = ", "
	// bucketAnnotation of a team's namespace is the name of the team's bucket.
	bucketAnnotation = "bucket"

	// bucketDriver mounts Cloud Storage buckets. Source: GKE documentation, "Access
	// Cloud Storage buckets with the Cloud Storage FUSE CSI driver".
	bucketDriver = "gcsfuse.csi.storage.gke.io"
)

// freeVolumes lists the kinds of volumes that use nothing outside the pod's node and
// namespace.
var freeVolumes = []string{"configMap", "downwardAPI", "emptyDir", "image", "projected", "secret"}

// foreignLabels are node labels with which a pod asks GKE for nodes that belong to
// no capacity of the platform. Source: GKE documentation, "About custom compute
// classes" and "Consume reserved zonal resources".
var foreignLabels = []string{"cloud.google.com/compute-class", "cloud.google.com/reservation-name"}

// bounds limits the nodes that pods in one tier's queues may ask for, and the time
// that these pods may take to end.
type bounds struct {
	tier   string
	labels []string // of its capacities' nodes, KEY=VALUE, sorted
	taints []string // of its capacities' nodes, KEY=VALUE, or KEY= for any value; sorted
	grace  int      // seconds
	slices bool     // a capacity has multi-host TPU slices
	nodes  []ir.Capacity
}

// boundsOf returns the bounds of every tier that has a queue, sorted by tier.
func boundsOf(p *ir.Platform) []bounds {
	capacities := p.NamedCapacities()
	byTier := map[string]*bounds{}
	for _, t := range p.OwnTeams() {
		for _, q := range t.Queues {
			b := byTier[q.Tier]
			if b == nil {
				b = &bounds{tier: q.Tier, grace: q.MaxGraceSeconds}
				byTier[q.Tier] = b
			}
			for _, f := range q.Flavors {
				b.allowCapacity(*capacities[f.Flavor])
			}
		}
	}
	var out []bounds
	for _, tier := range slices.Sorted(maps.Keys(byTier)) {
		b := byTier[tier]
		slices.Sort(b.labels)
		slices.Sort(b.taints)
		b.labels, b.taints = slices.Compact(b.labels), slices.Compact(b.taints)
		out = append(out, *b)
	}
	return out
}

// allowCapacity adds the labels and taints of a capacity's nodes to the bounds.
func (b *bounds) allowCapacity(c ir.Capacity) {
	b.slices = b.slices || c.Sliced()
	if !slices.ContainsFunc(b.nodes, func(n ir.Capacity) bool { return n.Name == c.Name }) {
		b.nodes = append(b.nodes, c)
	}
	for _, l := range c.NodeLabels {
		b.labels = append(b.labels, l.Key+"="+l.Value)
	}
	for _, t := range c.NodeTaints {
		b.taints = append(b.taints, t.Key+"="+t.Value)
	}
	if c.AutoProvisioned && c.Compact {
		// Each job has a placement group of its own; see ir.Workload.
		b.taints = append(b.taints, ir.LabelPlacementGroup+"=")
	}
}

// jobsStayInBounds returns the policy that refuses a job whose pods would use resources
// that no quota counts, run on nodes of other queues, or keep nodes that they have lost:
//
//   - containers that request no cpu or memory are charged nothing for them;
//   - nodeName, another scheduler, a RuntimeClass, tolerations of taints and
//     selectors of labels that only other capacities have lead to other nodes;
//   - a long grace period keeps the nodes after an eviction;
//   - volumes that are bought for the pod, or that exist elsewhere, are storage that
//     nobody has given the team.
//
// Controllers write templates of their own: Kueue adds the labels and taints of the flavor,
// and controllers of composite jobs copy templates that this policy has admitted.
func jobsStayInBounds(p *ir.Platform, s scheduler) *admissionv1.ValidatingAdmissionPolicy {
	tiers := boundsOf(p)
	policy := jobPolicy(p, s, tiers, "jobs-stay-in-bounds")
	// By default, the limit of a container is also its request.
	orLimit := ".or(c.?resources.limits[?r])"
	if p.HasDefect(ir.LimitsUncounted) {
		orLimit = ""
	}
	policy.Spec.Variables = append(policy.Spec.Variables, []admissionv1.Variable{
		{Name: "allow", Expression: fmt.Sprintf("namespaceObject.metadata.?annotations[?'%s'].orValue('').split('%s')",
			allowAnnotation, allowSeparator)},
		{Name: "grace", Expression: tierTable(tiers, func(b bounds) string { return strconv.Itoa(b.grace) }, "0")},
		{Name: "labels", Expression: tierTable(tiers, func(b bounds) string { return celList(b.labels) }, "[]")},
		{Name: "taints", Expression: tierTable(tiers, func(b bounds) string { return celList(b.taints) }, "[]")},
		// An amount can be a number. Without dyn, CEL would expect only
		// strings.
		{Name: "uncounted",
			Expression: flattenCEL("p.containers.filter(c, ['cpu', 'memory'].exists(r, !quantity(string(\n" +
				"c.?resources.requests[?r]" + orLimit + ".orValue(dyn('0'))))" +
				".isGreaterThan(quantity('0'))))\n" +
				".map(c, c.name)")},
		{Name: "elsewhere",
			Expression: flattenCEL(
				"['nodeName', 'runtimeClassName'].filter(f, p[?f].orValue('') != '' && !(f in variables.allow))" +
					s.otherScheduler + claimsCEL(p))},
		// A pod that tolerates an unresponsive node for a while does not thereby get
		// to other nodes.
		{Name: "tolerated",
			Expression: flattenCEL("p.?tolerations.orValue([]).filter(t, t.?effect.orValue('') != 'NoExecute'\n" +
				"|| !(t.?key.orValue('') in ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']))\n" +
				".filter(t, !variables.taints.exists(x,\n" +
				"x == t.?key.orValue('') + '=' + t.?value.orValue('') || x == t.?key.orValue('') + '='\n" +
				"|| t.?operator.orValue('') == 'Exists' && x.startsWith(t.?key.orValue('') + '=')))\n" +
				".map(t, t.?key.orValue('everything'))")},
		{Name: "selected", Expression: flattenCEL("(p.?nodeSelector.orValue({}).map(k, k + '=' + p.nodeSelector[k])\n" +
			"+ p.?affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution" +
			".nodeSelectorTerms.orValue([])\n" +
			".map(t, t.?matchExpressions.orValue([]).filter(e, e.operator == 'In')\n" +
			".map(e, e.values.map(v, e.key + '=' + v).join('\\n')).join('\\n')).join('\\n').split('\\n'))\n" +
			".filter(l, " + celList(guardedLabels(tiers, p)) +
			".exists(k, l.startsWith(k + '=')) && !(l in variables.labels))")},
		{Name: "volumes", Expression: flattenCEL("p.?volumes.orValue([]).filter(v, v.exists(k,\n" +
			"!(k in " + celList(append([]string{"name"}, freeVolumes...)) + " || k in variables.allow" +
			nodeFolders(p) + "\n" +
			"|| k == 'csi' && v.csi.driver == '" + bucketDriver +
			"' && v.csi.?volumeAttributes.bucketName.orValue('')\n" +
			"== namespaceObject.metadata.?annotations[?'" + bucketAnnotation + "'].orValue('-'))))\n" +
			".map(v, v.name + ' (' + v.filter(k, k != 'name').join('') + ')')")},
	}...)
	add := func(expression, message, computed string) { refuseUnless(policy, expression, message, computed) }
	add("variables.kept || variables.uncounted == []", "",
		"'quota counts cpu and memory: set resources.requests.cpu and resources.requests.memory of container '\n"+
			"+ variables.uncounted.join(', ')\n")
	add("variables.kept || variables.elsewhere == []", "",
		"'pods must run on the nodes of their queue: remove ' + variables.elsewhere.join(', ')\n"+
			"+ ', or ask an administrator to allow it in the blueprint'\n")
	add("variables.kept || variables.pods.all(p, p.?terminationGracePeriodSeconds.orValue(30) <= variables.grace\n"+
		"&& (p.containers + p.?initContainers.orValue([])).all(c, ['livenessProbe', 'startupProbe'].all(k,\n"+
		"c[?k].terminationGracePeriodSeconds.orValue(0) <= variables.grace)))\n",
		"lower terminationGracePeriodSeconds of the pods and of their probes",
		"'pods of queue ' + variables.queue + ' may take at most ' + string(variables.grace)\n"+
			"+ ' seconds to end: lower terminationGracePeriodSeconds of the pods and of their probes'\n")
	add("variables.kept || variables.tolerated == [] || 'tolerations' in variables.allow", "",
		"'pods of queue ' + variables.queue + ' must not tolerate ' + variables.tolerated.join(', ')\n"+
			"+ ': remove the toleration; the nodes of the queue have the taints ' + variables.taints.join(', ')\n")
	add("variables.kept || variables.selected == [] || 'nodeSelector' in variables.allow", "",
		"'pods of queue ' + variables.queue + ' must not select ' + variables.selected.join(', ')\n"+
			"+ ': remove the selector, or select labels of the nodes of the queue: ' + variables.labels.join(', ')\n")
	add("variables.kept || variables.volumes == []", "",
		"'no quota counts volume ' + variables.volumes.join(', ')\n"+
			"+ ': use the bucket of the team or emptyDir, or ask an administrator to allow '\n"+
			"+ 'this kind of volume in the blueprint'\n")
	add("'volumeClaimPolicies' in variables.allow || dyn(object).spec.?volumeClaimPolicies.orValue([]) == []\n"+
		"|| request.operation == 'UPDATE'\n"+
		"&& dyn(object).spec.?volumeClaimPolicies == dyn(oldObject).spec.?volumeClaimPolicies\n",
		"no quota counts the volumes of spec.volumeClaimPolicies: "+
			"use the bucket of the team or emptyDir, or ask an administrator to allow them in the blueprint", "")
	if p.HasDefect(ir.LimitsUncounted) {
		requireRequests(policy, slices.Contains(p.QuotaResources(), ir.EphemeralStorage))
	}
	return policy
}

// requireRequests makes a policy refuse pods with limits without requests, except for
// ephemeral storage if no quota counts it.
func requireRequests(policy *admissionv1.ValidatingAdmissionPolicy, countsStorage bool) {
	uncounted := "r != '" + ir.EphemeralStorage + "' && "
	if countsStorage {
		uncounted = ""
	}
	policy.Spec.Variables = append(policy.Spec.Variables, admissionv1.Variable{
		Name: "limited",
		Expression: flattenCEL("([dyn(p)] + p.containers + p.?initContainers.orValue([]))" +
			".map(c, c.?resources.limits.orValue({})\n" +
			".filter(r, " + uncounted + "!c.?resources.requests[?r].hasValue())\n" +
			".map(r, r + ' of ' + c.?name.orValue('the pod')).join('\\n')).join('\\n').split('\\n')"),
	})
	refuseUnless(policy, "variables.kept || variables.limited == []", "",
		"'quota counts requests: set resources.requests to the value of resources.limits for '\n"+
			"+ variables.limited.join(', ')\n")
}

// jobPolicy returns a policy on the pods of jobs in the queues of tiers. Its variables are
// queue, tier, unqueued, pods, a list of pod specs, and kept: a pod template that the API
// server has admitted before stays valid, unless a waiting job changes its queue. A job
// without a queue of its team is unqueued: jobsAreQueued refuses it, and a second reason
// would hide that one.
func jobPolicy(p *ir.Platform, s scheduler, tiers []bounds, name string) *admissionv1.ValidatingAdmissionPolicy {
	names := make([]string, len(tiers))
	for i, b := range tiers {
		names[i] = b.tier
	}
	policy := teamPolicy(p, name, kindRules()...)
	controllers := slices.Concat(controllersOfJobs(p), s.controllers)
	policy.Spec.MatchConditions = []admissionv1.MatchCondition{{
		Name:       "not-by-a-controller",
		Expression: "!(request.userInfo.username in " + celList(controllers) + ")",
	}}
	policy.Spec.Variables = []admissionv1.Variable{
		{Name: "queue", Expression: fmt.Sprintf("object.metadata.?labels[?'%s'].orValue('')", p.QueueLabel())},
		{Name: "tier", Expression: s.tier(p)},
		{Name: "pods", Expression: podSpecs("object")},
		{Name: "unqueued", Expression: "!(variables.tier in " + celList(names) + ")\n"},
		{Name: "kept", Expression: "variables.unqueued || request.operation == 'UPDATE'\n" +
			fmt.Sprintf("&& (!oldObject.spec.?suspend.orValue(false)\n"+
				"|| variables.queue == oldObject.metadata.?labels[?'%s'].orValue(''))\n", p.QueueLabel()) +
			"&& variables.pods == (" + podSpecs("oldObject") + ")\n"},
	}
	return policy
}

// podTemplates returns a CEL expression for the list of pod templates.
func podTemplates(object string) string {
	return kinds.JobSpecs("dyn("+object+").spec") + "\n.filter(j, has(j.template)).map(j, j.template)"
}

// podSpecs returns a CEL expression for the list of pod specs.
func podSpecs(object string) string { return podTemplates(object) + ".map(t, t.spec)\n" }

// flattenCEL returns a CEL expression that joins the lists of strings that perPod
// yields for each pod p. CEL has no other way to join lists.
func flattenCEL(perPod string) string {
	return "variables.pods.map(p, (" + perPod +
		").join('\\n')).filter(s, s != '').join('\\n').split('\\n').filter(s, s != '')\n"
}

// tierTable returns a CEL expression that looks up the job's tier. It yields the
// result of has for the tier, or otherwise if the tier has no bounds.
func tierTable(tiers []bounds, has func(bounds) string, otherwise string) string {
	rows := make([]string, len(tiers))
	for i, b := range tiers {
		rows[i] = "'" + b.tier + "': " + has(b)
	}
	return "{" + strings.Join(rows, ",\n") + "}\n[?variables.tier].orValue(" + otherwise + ")\n"
}

// guardedLabels returns the keys of the labels that distinguish nodes, sorted.
func guardedLabels(tiers []bounds, p *ir.Platform) []string {
	keys := slices.Clone(foreignLabels)
	for _, b := range tiers {
		for _, l := range b.labels {
			key, _, _ := strings.Cut(l, "=")
			keys = append(keys, key)
		}
	}
	for _, c := range p.Capacities {
		for _, l := range c.NodeLabels {
			keys = append(keys, l.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// nodeFolders returns the CEL alternative that admits volumes with folders of the
// node, if GPUDirect needs such folders. It returns "" otherwise. podsKeepOffTheNode
// restricts how pods may mount them.
func nodeFolders(p *ir.Platform) string {
	r := reachOf(p)
	folders := slices.Concat(r.libraries, r.devices, r.kernel)
	if folders == nil {
		return ""
	}
	return "\n|| k == 'hostPath' && v.hostPath.path in " + celList(folders)
}

// claimsCEL returns the CEL term that lists resourceClaims, which Kueue does not
// count. It returns "" if pods claim the networks of their GPUs.
func claimsCEL(p *ir.Platform) string {
	if p.AnyCapacity(ir.Capacity.HasAcceleratorNetworks) {
		return ""
	}
	return "\n+ (p.?resourceClaims.orValue([]) != [] && !('resourceClaims' in variables.allow) ? " +
		"['resourceClaims'] : [])"
}
