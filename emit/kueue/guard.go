package kueue

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
)

// Controller is the service account of Kueue's controller, which suspends and starts
// jobs (Kueue: config/default of the release).
const Controller = "system:serviceaccount:" + ir.KueueNamespace + ":kueue-controller-manager"

// OtherScheduler is a CEL term that lists schedulerName if a pod p names a scheduler
// other than the cluster's own. Another scheduler may ignore taints and scheduling
// gates.
const OtherScheduler = "\n+ (p.?schedulerName.orValue('') in ['', 'default-scheduler']" +
	" || 'schedulerName' in variables.allow\n? [] : ['schedulerName'])"

// FewestPods is a CEL expression for the annotation that lets Kueue start a Job with fewer
// pods than its parallelism, "" without it. Kueue does not read it of other kinds. Source: Kueue
// 0.19, pkg/controller/jobs/job.
const FewestPods = "(request.kind.kind == 'Job' " +
	"? object.metadata.?annotations[?'kueue.x-k8s.io/job-min-parallelism'].orValue('') : '')"

// TierOfQueue returns a CEL expression for the tier of variables.queue, which is a
// LocalQueue of the namespace. A name that the blueprint gives is looked up together with
// its namespace; every other name ends in the tier.
func TierOfQueue(p *ir.Platform) string {
	byName := fmt.Sprintf(
		"variables.queue.replace('%s' + namespaceObject.metadata.?labels[?'%s'].orValue('') + '-', '')",
		ir.LocalQueuePrefix, ir.LabelTeam)
	var named []string
	for _, t := range p.OwnTeams() { // the policies hold in their namespaces only
		for _, q := range t.Queues {
			if !t.NamesLocalQueue(q) {
				continue
			}
			for _, name := range q.LocalQueueNames() {
				named = append(named, fmt.Sprintf("'%s/%s': '%s'", t.Namespace, name, q.Tier))
			}
		}
	}
	if named == nil {
		return byName
	}
	return "{" + strings.Join(named, ",\n") + "}\n" +
		"[?namespaceObject.metadata.name + '/' + variables.queue].orValue(" + byName + ")\n"
}

// reservedNames are labels and annotations with which a job would take a priority
// other than its pods', take the quota of another Workload, or grow while it runs.
// Pods for which a growing job has no quota yet are held back only by a gate in its
// template, which can be removed until the job starts. Source: Kueue 0.19,
// pkg/controller/constants, pkg/controller/jobs/job and apis/kueue/v1beta2.
var reservedNames = []string{
	"kueue.x-k8s.io/elastic-job", "kueue.x-k8s.io/multikueue-origin", "kueue.x-k8s.io/prebuilt-workload-name",
	ir.LabelWorkloadPriority,
}

// Guard adds rules to the policy on jobs. The policy then also refuses:
//
//   - a start by hand: until Kueue stops the job, its pods run on any node;
//   - a stop by hand: Kueue starts the job again at once, with new pods while the old ones
//     still end. It does the same to a running Job that changes its number of pods;
//   - a change to a Job of a composite job: Kueue charges the whole job once, and does
//     not count the pods of its Jobs again;
//   - the reservedNames: Kueue gives them precedence over the queue that the job
//     names.
func Guard(p *ir.Platform, policy *admissionv1.ValidatingAdmissionPolicy) {
	names := slices.Clone(reservedNames)
	if p.WorkloadPriorities != nil {
		names = slices.DeleteFunc(names, func(name string) bool { return name == ir.LabelWorkloadPriority })
		guardPriorities(p, policy)
	}
	reserved := "['" + strings.Join(names, "', '") + "']"
	policy.Spec.Variables = append(policy.Spec.Variables, admissionv1.Variable{
		Name: "byController",
		Expression: "request.userInfo.username == '" + Controller + "'\n" +
			"|| request.userInfo.username.startsWith('system:serviceaccount:kube-system:')\n",
	})
	refuse := func(unless, message string) {
		policy.Spec.Validations = append(policy.Spec.Validations,
			admissionv1.Validation{Expression: unless, Message: message})
	}
	refuse("variables.byController || request.operation != 'UPDATE'\n"+
		"|| oldObject.spec.?suspend.orValue(false) == object.spec.?suspend.orValue(false)\n",
		"only Kueue may start or stop a job: leave out spec.suspend, and delete the job to stop it")
	refuse("variables.byController || request.operation != 'UPDATE'\n"+
		"|| !oldObject.metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false))\n"+
		"|| object.spec == oldObject.spec && object.metadata.?labels == oldObject.metadata.?labels\n"+
		"&& object.metadata.?ownerReferences == oldObject.metadata.?ownerReferences\n",
		strings.ReplaceAll("this Job belongs to a KIND: change the KIND, or delete the KIND and submit another one",
			"KIND", kinds.Composite().Name))
	refuse("variables.byController || request.operation != 'UPDATE' || request.kind.kind != 'Job'\n"+
		"|| oldObject.spec.?suspend.orValue(false)\n"+
		"|| dyn(object).spec.?parallelism == dyn(oldObject).spec.?parallelism\n"+
		"&& dyn(object).spec.?completions == dyn(oldObject).spec.?completions\n",
		"the pods of a running job cannot become more or fewer: delete the job, and submit it again")
	const unchanged = "request.operation == 'UPDATE'\n" +
		"&& object.metadata.?labels[?n] == oldObject.metadata.?labels[?n]\n" +
		"&& object.metadata.?annotations[?n] == oldObject.metadata.?annotations[?n]\n" +
		"|| !(n in object.metadata.?labels.orValue({})) && !(n in object.metadata.?annotations.orValue({}))"
	const remove = "remove the labels and annotations "
	const because = ": Kueue would take the quota or the priority of the job from them"
	refuse(reserved+".all(n, "+unchanged+")\n", remove+strings.Join(names, ", ")+because)
	validations := policy.Spec.Validations
	validations[len(validations)-1].MessageExpression = "'" + remove + "' + " + reserved + ".filter(n, !(" + unchanged +
		")).join(', ') + '" + because + "'"
	if p.HasDefect(ir.ReclaimedTooMuch) {
		refuse("variables.byController || request.kind.kind != 'Job'\n"+
			"|| request.operation == 'UPDATE' && object.spec == oldObject.spec\n"+
			"|| !has(dyn(object).spec.completions)\n"+
			"|| dyn(object).spec.?parallelism.orValue(1) <= dyn(object).spec.completions\n",
			"parallelism must not exceed completions: Kueue would free quota of running pods")
	}
}

// guardPriorities makes the policy on jobs refuse a WorkloadPriorityClass that the tier of the
// job's queue does not have. Kueue reads it from a label.
func guardPriorities(p *ir.Platform, policy *admissionv1.ValidatingAdmissionPolicy) {
	byTier := map[string][]string{}
	for q := range p.ClusterQueues() {
		byTier[q.Tier] = nil
		for _, c := range q.WorkloadPriorities {
			byTier[q.Tier] = append(byTier[q.Tier], "'"+c.Name+"'")
		}
	}
	var tiers []string
	for _, tier := range slices.Sorted(maps.Keys(byTier)) {
		if names := byTier[tier]; names != nil {
			tiers = append(tiers, "'"+tier+"': ["+strings.Join(names, ", ")+"]")
		}
	}
	if tiers == nil { // no queue has such a tier
		tiers = append(tiers, "'': ['']")
	}
	policy.Spec.Variables = append(policy.Spec.Variables,
		admissionv1.Variable{
			Name:       "priorities",
			Expression: "{" + strings.Join(tiers, ",\n") + "}\n[?(" + TierOfQueue(p) + ")].orValue([])\n",
		},
		admissionv1.Variable{
			Name:       "priority",
			Expression: "object.metadata.?labels[?'" + ir.LabelWorkloadPriority + "'].orValue('')\n",
		})
	const annotated = "'" + ir.LabelWorkloadPriority + "' in object.metadata.?annotations.orValue({})"
	policy.Spec.Validations = append(policy.Spec.Validations, admissionv1.Validation{
		Expression: "variables.kept\n" +
			"&& object.metadata.?labels[?'" + ir.LabelWorkloadPriority + "'] == oldObject.metadata.?labels[?'" +
			ir.LabelWorkloadPriority + "']\n" +
			"&& object.metadata.?annotations[?'" + ir.LabelWorkloadPriority +
			"'] == oldObject.metadata.?annotations[?'" + ir.LabelWorkloadPriority + "']\n" +
			"|| !(" + annotated + ") && (variables.priority == '' || variables.priority in variables.priorities)\n",
		Message: "the label " + ir.LabelWorkloadPriority + " must name a workload priority of the queue",
		MessageExpression: "'the label " + ir.LabelWorkloadPriority + " of a job in queue ' + variables.queue\n" +
			"+ (variables.priorities == [] ? ' must be removed' : ' must be ' + variables.priorities.join(' or '))\n",
	})
}
