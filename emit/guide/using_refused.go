package guide

import (
	"slices"

	"github.com/batchwright/batchwright/compiler/ir"
)

// listRefused lists what is refused, and what to do instead. A test looks the messages
// up in the admission policies.
func listRefused(d *document, p *ir.Platform) {
	d.Heading(2, refusedHeading)
	d.Para("The API server checks every job. If it refuses one, `kubectl` prints why:")
	instead := markup("use `emptyDir`")
	if p.HasBuckets() {
		instead = "use your team's bucket or `emptyDir`"
	}
	rows := slices.Concat([][]markup{
		{"`must name a queue of namespace`", "set the label " + codeSpan(p.QueueLabel()) + " of the job to a queue " +
			"of " +
			"your team"},
		{"`the priorityClassName of pods in queue`", "set `priorityClassName` of the pods to a name in the message"},
		{"`quota counts cpu and memory`", "set `resources.requests` of cpu and memory in every container"},
		{"`pods must run on the nodes of their queue`", "remove the fields in the message, such as `nodeName` or " +
			"`runtimeClassName`"},
		{"`has no node for a pod of this job`", "request less for each pod: the message says what each kind of node " +
			"offers. If the pods have a `nodeSelector`, request less than the node that it selects offers"},
		{"`no node offers`", "remove the resource in the message from the requests and limits of the pods"},
		{"`must not tolerate`, `must not select`", "remove the toleration or the selector: it leads to nodes of " +
			"other " +
			"queues"},
		{"`must select only pods of its own namespace`", "remove `namespaces` and `namespaceSelector` from the " +
			"affinity of the pods: a term without them means pods of your team's namespace"},
		{"`topologyKey`", "use a key in the message, such as `kubernetes.io/hostname`"},
		{"`exclusive-topology`", exclusiveCure(p)},
		{"`remove the labels of jobset.sigs.k8s.io`", "remove these labels from the pods of the job: JobSet sets them"},
		{"`no quota counts volume`", instead + " instead of claims, disks, file servers, folders of the node or " +
			"other buckets"},
		{"`no quota counts the volumes of spec.volumeClaimPolicies`", instead},
		{"`seconds to end: lower`", "lower `terminationGracePeriodSeconds` of the pods, and of their probes, to the " +
			"limit in the message"},
		{"`set podReplacementPolicy of the Job`", "set `podReplacementPolicy: Failed` in the `spec` of the Job: a " +
			"pod is replaced when it has ended"},
		{"`remove the finalizers`, `remove managedBy`, `remove schedulingGates`", "remove the fields in the message"},
		{"`delete the job together with its pods`", "delete the job without `--cascade=orphan`; a client of the API " +
			"sets `propagationPolicy` to `Background`"},
		{"`only headless Services are allowed here`", "set `clusterIP: None` in the Service"},
		{"`network endpoint groups are not allowed here`", "remove the annotation from the Service"},
		{"`metadata.ownerReferences must not name a controller`", "submit the Job itself; a CronJob cannot create " +
			"Jobs"},
	}, sharesRefused(p), schedulerOf(p).refused, [][]markup{
		{"`exceeded quota: " + ir.TeamQuota + "`", "for jobs and other objects: delete some that have ended, or set " +
			"`ttlSecondsAfterFinished` so that Kubernetes deletes them. For pods with accelerators: wait, because " +
			"your team's terminating pods still hold them; the job retries by itself"},
		{"`field is immutable`", "delete the job and submit it again"},
		{"`cannot create resource`, `cannot patch resource`", "you may not create this: see below"},
		{"`violates PodSecurity`", "the Job exists, but its pods are refused: " +
			"`kubectl describe jobs -n \"$NAMESPACE\"` has the message. Remove the settings that it names. Lines " +
			"that begin with `Warning` are informational"},
	})
	if _, onTheNode := nodeAccess(p); onTheNode {
		rows = append(rows, []markup{codeSpan(p.ClusterScopedName("pods-keep-off-the-node")),
			"the same: remove the settings that the message names"})
	}
	d.Table([]markup{"Part of the message", "What to do"}, rows)
	d.Para("The policies also apply to administrators. An administrator can allow some of the refused fields to ",
		"your team with `allow` in the blueprint.")
	d.Para("Members of a team also have no right to create Secrets, PersistentVolumeClaims, or pods without a job, ",
		"and no right to run `kubectl exec`. Administrators have these rights: ask one of them.")
}

// sharesRefused returns the messages about jobs that take more of the nodes than quota counts.
func sharesRefused(p *ir.Platform) [][]markup {
	var rows [][]markup
	if p.AnyCapacity(func(c ir.Capacity) bool { return !c.Static }) {
		rows = append(rows,
			[]markup{"`pods that cannot share a node`", "request at least half of a node for each pod, or let the " +
				"pods share nodes: use `preferredDuringScheduling` affinity, or `whenUnsatisfiable: ScheduleAnyway`"},
			[]markup{"`the share of ephemeral-storage`", "request less `ephemeral-storage` for each pod, or write to " +
				"another volume"})
	}
	if p.AnyCapacity(ir.Capacity.NodesPerJob) {
		rows = append(rows, []markup{"`each job has nodes of its own`", "request accelerators, or at least half of " +
			"the vCPUs of a node without any. The pods of a job count together. For a smaller job, choose a tier " +
			"whose jobs share nodes"})
	}
	if ir.Choose(p.Scheduler, p.HasMixedTier(), false) {
		rows = append(rows, []markup{"`pods without accelerators must select`", "set `nodeSelector` of the pods to " +
			"the labels in the message"})
	}
	if p.AnyCapacity(ir.Capacity.HasTPUs) {
		rows = append(rows, []markup{"`a Job that has a TPU slice for itself`", "request all chips of a slice in the " +
			"pods of the Job, or remove the annotation `exclusive-topology` from its template"})
	}
	return rows
}

// exclusiveCure returns what to do about JobSet's annotation for an exclusive topology.
func exclusiveCure(p *ir.Platform) markup {
	if p.AnyCapacity(ir.Capacity.Sliced) {
		return "for a job on whole TPU slices, set the annotation to " + codeSpan(ir.LabelNodePool) +
			"; for every other job, remove it"
	}
	return "remove the annotation; to get whole nodes, request all that a node offers"
}

// kueueRefused returns the messages of the policies for Kueue.
func kueueRefused(p *ir.Platform) [][]markup {
	rows := [][]markup{
		{"`the job exceeds what queue`", "request less, submit several smaller jobs, or choose another tier: the " +
			"message says what your queue can get"},
		{"`only Kueue may start or stop a job`", "leave `suspend` as it is: Kueue starts the job when quota is free. " +
			"To stop a job, delete it"},
		{"`the pods of a running job cannot become`", "delete the job and submit it with another number of pods"},
		{"`this Job belongs to a JobSet`", "change the JobSet, or delete it and submit another one"},
		{"`Kueue would take the quota or the priority of the job from them`", "remove the labels and annotations in " +
			"the " +
			"message"},
	}
	if p.HasDefect(ir.LimitsUncounted) {
		rows = append(rows, []markup{"`quota counts requests`", "for each resource in the message, set " +
			"`resources.requests` to the value in `resources.limits`"})
	}
	negative := func(c ir.PriorityClass) bool { return c.Value < 0 }
	if p.HasDefect(ir.NegativePriority) && slices.ContainsFunc(p.PriorityClasses, negative) {
		rows = append(rows, []markup{"`starts no pods with a negative priority`", "submit Jobs instead of the " +
			"JobSet, or choose a queue or `priorityClassName` of 0 or more"})
	}
	if p.HasDefect(ir.ReclaimedTooMuch) {
		rows = append(rows, []markup{"`parallelism must not exceed completions`", "lower `parallelism` of the Job to " +
			"`completions`"})
	}
	return rows
}

// kaiRefused returns the messages of the policies for KAI Scheduler.
func kaiRefused() [][]markup {
	return [][]markup{
		{"`set schedulerName of the pods to`", "set `schedulerName` of the pods to " + codeSpan(ir.KAISchedulerName)},
		{"`pods must select the nodes of a capacity`", "set the node selector of a capacity, as in " +
			linkHere(ownHeading)},
		{"`do not add or change the label priorityClassName`", "remove the label; set the field `priorityClassName` " +
			"of " +
			"the pods"},
	}
}
