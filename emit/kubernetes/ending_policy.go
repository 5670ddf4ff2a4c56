package kubernetes

import (
	"strconv"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/batchwright/batchwright/compiler/ir"
	"github.com/batchwright/batchwright/compiler/kinds"
)

// shortGrace is the time in seconds that pods may take to end after their replacements have
// started. It is the default of terminationGracePeriodSeconds.
const shortGrace = 30

// jobsEndWithTheirPods returns the policy that refuses a job whose pods would keep nodes
// after their quota has been given to others:
//
//   - deleting a Job with propagation policy Orphan, which is the API's default for Jobs, or
//     the finalizer orphan, leaves pods that belong to no Workload;
//   - another finalizer keeps the job, or its pods, until somebody removes it;
//   - Kueue gives quota to a job whose controller this cluster does not run, and to pods
//     with scheduling gates, which nobody removes;
//   - Kueue frees the quota of a job as soon as its pods begin to end, and by default a Job
//     creates replacements at that moment. If pods may take long, the Job must wait until
//     they have ended.
//
// Source: Kubernetes 1.36, pkg/registry/batch/job/strategy.go; Kueue 0.19,
// pkg/controller/jobs/job; the controllers of the kinds.
func jobsEndWithTheirPods(p *ir.Platform, s scheduler) *admissionv1.ValidatingAdmissionPolicy {
	policy := jobPolicy(p, s, boundsOf(p), "jobs-end-with-their-pods")
	rules := policy.Spec.MatchConstraints.ResourceRules
	for i := range rules {
		rules[i].Operations = append(rules[i].Operations, admissionv1.Delete)
	}
	policy.Spec.MatchConditions = append(policy.Spec.MatchConditions, admissionv1.MatchCondition{
		Name:       "not-by-kubernetes",
		Expression: "!request.userInfo.username.startsWith('system:serviceaccount:kube-system:')",
	})
	specs := func(object string) string { return kinds.JobSpecs("dyn(" + object + ").spec") }
	finalizers := func(object string) string {
		return "([dyn(" + object + ")] + " + podTemplates(object) + ")\n" +
			".map(o, o.?metadata.finalizers.orValue([]).join(' ')).join(' ').split(' ').filter(f, f != '')\n"
	}
	managers := func(object string) string {
		own := kinds.ByKind("dyn("+object+").spec", " ", func(kinds.Kind) string {
			return "[dyn(" + object + ").spec.?managedBy.orValue('')]"
		}, "[]")
		return specs(object) + ".map(s, s.?managedBy.orValue(''))\n" +
			".filter(m, !(m in ['', 'kubernetes.io/job-controller']))\n" +
			"+ " + own + "\n.filter(m, !(m in " + celList(ownManagers()) + "))\n"
	}
	// Jobs that replace slow pods before they have ended. With a podFailurePolicy, the API
	// allows only Failed.
	hasty := func(object string) string {
		return specs(object) + "\n.filter(j, j.?template.spec.terminationGracePeriodSeconds.orValue(" +
			strconv.Itoa(shortGrace) + ") > " + strconv.Itoa(shortGrace) + "\n&& !has(j.podFailurePolicy) " +
			"&& j.?podReplacementPolicy.orValue('') != 'Failed')\n"
	}
	policy.Spec.Variables = append(policy.Spec.Variables, []admissionv1.Variable{
		{Name: "finalizers", Expression: finalizers("object")},
		{Name: "managers", Expression: managers("object")},
		{Name: "hasty", Expression: hasty("object")},
		{Name: "options", Expression: "has(request.options) && request.options != null ? request.options : dyn({})\n"},
		{Name: "propagation", Expression: "variables.options.?orphanDependents.hasValue()\n" +
			"? (variables.options.orphanDependents ? 'Orphan' : 'Background')\n" +
			": variables.options.?propagationPolicy.orValue(request.kind.kind == 'Job' ? 'Orphan' : 'Background')\n"},
	}...)
	add := func(expression, message, computed string) { refuseUnless(policy, expression, message, computed) }
	add("request.operation != 'DELETE' || variables.propagation != 'Orphan'",
		"delete the job together with its pods, which would run on without quota: "+
			"leave out --cascade=orphan, or set propagationPolicy to Background", "")
	kept := "request.operation == 'DELETE' || request.operation == 'UPDATE' && "
	add(kept+"variables.finalizers.all(f, f in "+finalizers("oldObject")+")\n|| variables.finalizers == []\n",
		"remove the finalizers", "'remove the finalizers ' + variables.finalizers.join(', ')\n"+
			"+ ': they would keep the job or its pods after somebody deletes them'\n")
	add(kept+"variables.managers.all(m, m in ("+managers("oldObject")+"))\n|| variables.managers == []\n",
		"remove managedBy", "'remove managedBy: no controller ' + variables.managers.join(', ')\n"+
			"+ ' starts pods here, and the job would keep its quota'\n")
	// Kueue adds a gate to a job that asks to grow while it runs; jobsAreQueued refuses that.
	gates := ir.Choose(p.Scheduler, ".filter(g, g.name != 'kueue.x-k8s.io/elastic-job'\n"+
		"|| !object.metadata.?annotations[?'kueue.x-k8s.io/elastic-job'].hasValue())", "")
	add("request.operation == 'DELETE' || variables.kept\n"+
		"|| variables.pods.all(p, p.?schedulingGates.orValue([])"+gates+" == [])\n",
		"remove schedulingGates: the job would keep its quota while its pods wait", "")
	add(kept+"variables.hasty.size() <= ("+hasty("oldObject")+").size()\n|| variables.hasty == []\n",
		"pods may take more than "+strconv.Itoa(shortGrace)+
			" seconds to end, and their replacements would start meanwhile: "+
			"set podReplacementPolicy of the Job to Failed, or lower terminationGracePeriodSeconds", "")
	return policy
}

// ownManagers returns the values of spec.managedBy that mean a kind's own controller.
func ownManagers() []string {
	out := []string{""}
	for _, k := range kinds.All() {
		if k.Manager != "" {
			out = append(out, k.Manager)
		}
	}
	return out
}
